"""Rows that come and are forgotten, and whether new ones are as those before them."""

import logging

import numpy as np
from scipy.stats import gamma

from kernel_learn.arrays import Array
from kernel_learn.representations.state import StreamState

LOGGER = logging.getLogger("kernel_learn")
# What counts for less than this beside the newest row counts for nothing.
LEAST = 1e-60


def faded_weights(weight: Array | None, n: int, half_life: float) -> Array:
    """Weights of n rows in their order: the last one as it is, others by their age."""
    fade = 0.5 ** (np.arange(n)[::-1] / half_life)
    fade[fade < LEAST] = 0.0
    return fade if weight is None else fade * weight


def measure_drift(before: StreamState, added: StreamState) -> dict[str, float]:
    """The mean discrepancy of new rows from those before, |d|^2 with d the difference of means.

    If both have one distribution with the covariance C of features, n m / (n + m) |d|^2 is a sum
    of chi-squared variables weighted by the eigenvalues of C: of mean tr(C) and variance
    2 tr(C^2), as the gamma distribution that gives the p-value.
    """
    a, b = before.moments, added.moments
    assert a is not None and b is not None
    d = b.feature_mean - a.feature_mean
    total = a.n + b.n
    C = (a.C + b.C) / total
    mean, variance = float(np.trace(C)), 2 * float(np.sum(C**2))
    discrepancy = float(d @ d)
    value = a.n * b.n / total * discrepancy
    p_value = 1.0
    if variance > 0:
        p_value = float(gamma.sf(value, mean**2 / variance, scale=variance / mean))
    elif value > 0:  # all rows of both are one row each
        p_value = 0.0
    LOGGER.info("%d rows: discrepancy %.3g, p-value %.3g", added.n_rows, discrepancy, p_value)
    return {"discrepancy": discrepancy, "p_value": p_value}
