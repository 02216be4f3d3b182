"""Probabilities from scores by one temperature."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

Array = NDArray[Any]


def scaled(scores: Array, sharpness: float) -> Array:
    """Logits of all classes; one machine scores the second of two classes."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        scores = np.stack([np.zeros(len(scores)), scores.reshape(-1)], axis=1)
    return sharpness * scores


def probabilities(scores: Array, sharpness: float) -> Array:
    """softmax(sharpness * scores), (n, k); the likeliest class is the one of the best score."""
    return np.asarray(softmax(scaled(scores, sharpness), axis=1))


def log_probabilities(scores: Array, sharpness: float) -> Array:
    """Logarithms of ``probabilities``, finite where those round to zero."""
    return np.asarray(log_softmax(scaled(scores, sharpness), axis=1))
