"""Rules that stand for a kernel width until the training rows are known."""

from numbers import Real
from typing import Any

import numpy as np

from kernel_learn.kernels import pairwise
from kernel_learn.kernels.pairwise import Array, Rows
from kernel_learn.kernels.rows import distinct_rows

GAMMA_RULES = ("median", "scale", "auto")
# Pairs among this many distinct rows decide a median: 1e6 distances, and a
# relative standard error of the median below one per cent.
MEDIAN_ROWS = 1000


def check_gamma(kernel: Any, gamma: Any) -> None:
    if isinstance(gamma, str) and gamma in GAMMA_RULES:
        return
    if isinstance(gamma, Real) and 0 < float(gamma) < np.inf:
        return
    raise ValueError(
        f"{type(kernel).__name__}(gamma={gamma!r}): gamma must be a positive number "
        f"or one of the rules {', '.join(map(repr, GAMMA_RULES))}."
    )


def resolve_gamma(
    rule: str, X: Rows, sample_weight: Array | None, statistic: pairwise.StatisticName
) -> float:
    """The width that a rule stands for on X; a row of weight 2 counts as two rows."""
    X = pairwise.as_vectors(X)
    n_features = int(X.shape[1])
    if rule == "auto":
        return 1.0 / n_features
    if rule == "scale":
        variance = weighted_variance(X, sample_weight)
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    return median_gamma(X, sample_weight, statistic)


def weighted_variance(X: Rows, sample_weight: Array | None) -> float:
    """Variance over all entries of X, rows weighted; zero if it is but rounding."""
    w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    w = w / (w.sum() * X.shape[1])
    mean, eps = float(np.sum(w @ X)), float(np.finfo(np.float64).eps)
    if pairwise.is_sparse(X):
        variance, rounding = float(np.sum(w @ X.multiply(X))) - mean**2, eps * mean**2
    else:
        variance, rounding = float(np.sum(w @ (X - mean) ** 2)), (eps * mean) ** 2
    return variance if variance > 100 * rounding else 0.0


def median_gamma(X: Rows, sample_weight: Array | None, statistic: pairwise.StatisticName) -> float:
    """1 / median distance over all pairs (i, j), i = j included, pair weights w_i w_j.

    More than ``MEDIAN_ROWS`` distinct rows are thinned by content. Where more
    than half of the pairs coincide the median is zero and says nothing; then
    the mean takes its place, and 1 if all rows are the same.
    """
    first, inverse = distinct_rows(X)
    w = np.bincount(inverse, weights=sample_weight, minlength=len(first))
    first, w = first[:MEDIAN_ROWS], w[:MEDIAN_ROWS]
    X = X[first]
    D = np.empty((len(first), len(first)))
    pairwise.STATISTICS[statistic](X, X).block(slice(0, len(first)), slice(0, len(first)), D)
    np.fill_diagonal(D, 0.0)
    np.maximum(D, 0.0, out=D)
    pair_weight = np.outer(w, w)
    value = weighted_median(D.ravel(), pair_weight.ravel())
    if value <= 0:
        value = float(np.average(D, weights=pair_weight))
    return 1.0 / value if value > 0 else 1.0


def weighted_median(values: Array, weights: Array) -> float:
    """The median of ``values`` with each repeated ``weights`` times, for real weights too."""
    if np.all(weights == weights[0]):
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    half = cumulative[-1] / 2
    slack = 1e-12 * half  # a tie of the two halves must survive rounding
    low = np.searchsorted(cumulative, half - slack, side="left")
    high = np.searchsorted(cumulative, half + slack, side="right")
    high = min(high, len(values) - 1)
    return float((values[order[low]] + values[order[high]]) / 2)
