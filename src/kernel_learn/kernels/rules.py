"""Rules that stand for a kernel width until the training rows are known."""

import re
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.kernels import pairwise
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.coerce import as_vectors

if TYPE_CHECKING:
    from kernel_learn.kernels.pool import Pool

GAMMA_RULES = ("median", "scale", "auto")
# Pairs among this many distinct rows decide a median: 1e6 distances, and a
# relative standard error of the median below one per cent.
MEDIAN_ROWS = 1000


# Rules of the stationary kernels alone: a multiple of the median's gamma, and a choice by
# leave-one-out, which is for the estimators that can carry it out.
MULTIPLE = re.compile(r"\s*(\d*\.?\d+(?:[eE][+-]?\d+)?)\s*\*\s*median\s*")
WIDTH_RULES = (*GAMMA_RULES, "2 * median", "loo")


def check_gamma(kernel: object, gamma: object, rules: tuple[str, ...] = GAMMA_RULES) -> None:
    """Refuse a gamma that is neither a positive number nor a rule."""
    if isinstance(gamma, str) and (gamma in rules or (rules is WIDTH_RULES and multiple_of(gamma))):
        return
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and 0 < float(gamma) < np.inf:
        return
    raise ValueError(
        f"{type(kernel).__name__}(gamma={gamma!r}): gamma must be a positive number "
        f"or one of the rules {', '.join(map(repr, rules))}."
    )


def multiple_of(rule: object) -> float | None:
    """The factor c of "c * median", 1 for "median"; None for any other rule."""
    if rule == "median":
        return 1.0
    found = MULTIPLE.fullmatch(rule) if isinstance(rule, str) else None
    factor = float(found.group(1)) if found else 0.0
    return factor if 0 < factor < np.inf else None


def resolve_gamma(rule: str, pool: "Pool", statistic: pairwise.StatisticName) -> float:
    """The width that a rule stands for on a pool; a row of weight 2 counts as two rows."""
    if rule == "loo":
        raise ValueError(
            "gamma='loo' is chosen with the labels, by KernelDiscriminant, HSICSubspace and "
            "SubspaceSVC with this kernel alone. Elsewhere give gamma='median' or a number, or "
            "a bank, gaussian_bank(relative=True), with weights='loo'."
        )
    n_features = int(pool.X.shape[1])
    if rule == "auto":
        return 1.0 / n_features
    if rule == "scale":
        variance = pool.variance()
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    if statistic not in pool.medians:
        pool.medians[statistic] = median_gamma(pool, statistic)
    return (multiple_of(rule) or 1.0) * pool.medians[statistic]


def median_gamma(pool: "Pool", statistic: pairwise.StatisticName) -> float:
    """1 / median distance over all pairs (i, j), i = j included, pair weights w_i w_j.

    Of more than ``MEDIAN_ROWS`` rows the first of the pool are taken. Where more
    than half of the pairs coincide the median is zero and says nothing; then
    the mean takes its place, and 1 if all rows are the same.
    """
    few = pool.head(MEDIAN_ROWS)  # rows that repeat each other weigh what one row would
    X, w = as_vectors(few.rows), few.weight
    n = len(w)
    # every pair twice, and the n zeros of i = j
    values = np.zeros(n * (n + 1) // 2)
    distances, end = pairwise.STATISTICS[statistic](X, None), n
    for rows in row_blocks(n, 128):
        D = np.empty((rows.stop - rows.start, n))
        distances.block(rows, slice(0, n), D)
        for i, row in zip(range(rows.start, rows.stop), D, strict=True):
            values[end : end + n - 1 - i] = row[i + 1 :]
            end += n - 1 - i
    np.maximum(values, 0.0, out=values)
    if np.all(w == w[0]):
        mean = 2 * float(values.sum()) / n**2
        value = repeated_median(values, n)
    else:
        pairs = np.concatenate([w**2, *(2 * w[i] * w[i + 1 :] for i in range(n))])
        value = weighted_median(values, pairs)
        mean = float(values @ pairs) / float(pairs.sum())
    value = value if value > 0 else mean
    return 1.0 / value if value > 0 else 1.0


def repeated_median(values: Array, n: int) -> float:
    """The median of n zeros at the start and of all other values, each twice; reorders them."""
    total = 2 * len(values) - n
    # the p-th smallest of the long list is the zeros', or the value at n + (p - n) // 2
    places = [p if p < n else n + (p - n) // 2 for p in ((total - 1) // 2, total // 2)]
    values.partition(places)
    return float((values[places[0]] + values[places[1]]) / 2)


def median_bytes(n: int, is_weighted: bool) -> int:
    """The distances of all pairs, and if weights differ their weights, order and sums."""
    return (22 if is_weighted else 6) * min(n, MEDIAN_ROWS) ** 2


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
