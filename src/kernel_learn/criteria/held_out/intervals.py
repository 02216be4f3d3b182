"""Intervals that hold a new number as often as was asked for, and how sure a root mean square is.

Jackknife+ (Barber et al. 2021), locally scaled: a value's size is |y_i - f_{-i}(x_i)| / s_i, held
out, and f_{-i}(x) what the model without its row (its group) says of a new row. The interval runs
from the floor((1 - coverage) (N + 1))-th smallest of f_{-i}(x) - s(x) size_i to the
ceil(coverage (N + 1))-th smallest of f_{-i}(x) + s(x) size_i. For exchangeable rows and choices
that saw none of them the coverage is at least 1 - 2 (1 - coverage), in practice the one asked for.
A group counts one, and its values share it; the coverage is then that of a row of a new group.
CV+ is the same with models that lack a fold each.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.conformal import row_thresholds
from kernel_learn.criteria.held_out.number_targets import NumberTargets


def value_masses(
    count: Array,  # (m,) how often each value was seen
    row: Array,  # (m,) its distinct row
    groups: Sequence[Array],  # rows of one group, two or more each
) -> Array:
    """What each value counts, (m,): as often as it was seen; with groups, each of them one."""
    if not groups:
        return np.asarray(count, dtype=np.float64)
    owner = np.arange(int(row[-1]) + 1)  # a row without a group is one of its own
    for rows in groups:
        owner[rows] = rows[0]
    own = owner[row]
    return np.asarray(count / np.bincount(own, count)[own])


def jackknife_intervals(
    centres: Array,  # (n, m) what the model without each value's row says of new rows
    reach: Array,  # (n, m) its size in units of the new row
    mass: Array,  # (m,)
    coverage: float,
) -> Array:
    """Both ends, (n, 2); infinite where there are too few values."""
    low = -row_thresholds(reach - centres, mass, coverage)
    return np.stack([low, row_thresholds(reach + centres, mass, coverage)], axis=1)


def rmse_interval(
    held: Array,  # (n, q) held-out predictions
    targets: NumberTargets,
    level: float,
    factor: float,  # of the variance, for rows that share a fit
) -> Array:
    """Of the root mean squared error of every target, (q, 2).

    The mean square m is a mean over rows, or groups, of sums of count * e^2; on the scale of its
    logarithm the interval is m's own size times e to the +- t times its relative standard error.
    """
    squares = (targets.values - held[targets.row]) ** 2
    mean = targets.count @ squares / targets.total
    parts = np.stack([np.bincount(targets.row, s) for s in (targets.count * (squares - mean).T)])
    for rows in targets.groups:
        parts[:, rows[0]] = parts[:, rows].sum(axis=1)
        parts[:, rows[1:]] = 0.0
    n_units = targets.n - sum(len(rows) - 1 for rows in targets.groups)
    error = np.sqrt(factor * np.sum(parts**2, axis=1)) / targets.total
    relative = np.divide(error, mean, out=np.zeros_like(mean), where=mean > 0)
    reach = stats.t.ppf(0.5 + level / 2, max(n_units - 1, 1)) * relative / 2
    root = np.sqrt(mean)
    return np.stack([root * np.exp(-reach), root * np.exp(reach)], axis=1)
