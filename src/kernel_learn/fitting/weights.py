"""How much rows count: weights as counts, at a scale at which one can compute."""

from numbers import Real

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, WeightsLike
from kernel_learn.rows.check_rows import LARGEST, check_readable
from kernel_learn.warn import warn_user

# Rows that together count for less than one row, or on average for more than so many, are
# brought there: a penalty of 1 beside them is infinite, or below rounding.
LEAST_TOTAL, LARGEST_MEAN, LEAST_SHARE = 1.0, 1e8, 1e-12


def check_weights(sample_weight: WeightsLike, n: int) -> Array | None:
    """Weights as float64, or None; they must be finite, not negative, and not all zero."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    check_readable(sample_weight, "sample_weight")
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; one weight per row is {(n,)}.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight has negative weights, {weight.min():.3g} the smallest.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least two rows must count.")
    return weight


def row_weights(sample_weight: WeightsLike, n: int) -> Array:
    """Checked weights of n rows, ones where none are given."""
    weight = check_weights(sample_weight, n)
    return np.ones(n) if weight is None else weight


def training_weights(sample_weight: WeightsLike, n: int) -> Array | None:
    """Checked weights of n rows for a fit: counts, at a scale at which one can compute."""
    weight = check_weights(sample_weight, n)
    if weight is None:
        return None
    total = float(weight.sum()) if weight.max() < LARGEST else np.inf
    warn_of_normalised(int(np.count_nonzero(weight)), total)
    return at_safe_scale(weight)


def at_safe_scale(weight: Array) -> Array:
    """The weights, or c times them where their sum leaves what a penalty can be compared with.

    c L(w) + lam |f|^2 has the minimiser of L(w) + (lam/c) |f|^2: lam is scaled alike. Rows that
    count for nothing beside others count for 1e-12 of the heaviest: their square is a number.
    """
    share = weight / weight.max()  # the sum of weights of 1e308 is not a number
    share = np.where(weight > 0, np.maximum(share, LEAST_SHARE), 0.0)
    total = float(share.sum())
    least, largest = LEAST_TOTAL / total, LARGEST_MEAN * np.count_nonzero(weight) / total
    scale = np.clip(weight.max(), least, largest)
    if scale == weight.max() and np.all(share * scale <= weight * (1 + 1e-9)):
        return weight
    return np.asarray(share * scale)


def warn_of_normalised(n_counted: int, total: float) -> None:
    """Weights are counts: say so where someone has normalised them.

    Weights that were meant, such as those of surveys or of rows that fade, halve a sum at the most.
    """
    if total < n_counted / 2:
        warn_user(
            f"sample_weight counts rows (a weight of 2 is two rows), and the weights of "
            f"{n_counted} rows sum to {total:.3g}: so few rows are regularised more. If they were "
            "normalised, pass w * n / w.sum(), n the number of rows.",
        )
