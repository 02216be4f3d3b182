"""Probabilities from scores by one temperature."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
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


def fit_sharpness(scores: Array, labels: Array, weight: Array) -> float:
    """The factor on held-out scores with the smallest log loss.

    The targets give one row in n + 1 to chance, so that scores without a
    single error do not ask for an infinite factor.
    """
    logits = scaled(scores, 1.0)
    n, k = float(weight.sum()), logits.shape[1]
    target = np.eye(k)[labels] * (n / (n + 1)) + 1.0 / (k * (n + 1))

    def loss(log_sharpness: float) -> float:
        logs = log_softmax(np.exp(log_sharpness) * logits, axis=1)
        return -float(weight @ np.sum(target * logs, axis=1))

    return float(np.exp(minimize_scalar(loss, bounds=(-7.0, 7.0), method="bounded").x))
