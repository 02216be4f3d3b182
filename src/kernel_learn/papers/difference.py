"""Is one method better than another over partitions of the same rows?"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from kernel_learn.arrays import Array
from kernel_learn.model_selection.resampling import corrected_error

LEVEL = 0.05
FEWEST = 5


def corrected_p(
    ours: Sequence[float] | Array,  # (J,) errors of one method, one for each partition
    theirs: Sequence[float] | Array,  # (J,) of another on the same partitions
    ratio: float,  # test rows / training rows
) -> float:
    """Two-sided p of the corrected resampled t-test (Nadeau & Bengio 2003, section 4).

    d_j = ours_j - theirs_j,  t = mean(d) / sqrt((1/J + ratio) var(d)),  J - 1 degrees of freedom.

    Partitions share rows, so their differences are no J independent ones: the
    plain t-test has 1/J alone and finds differences where there are none. nan
    for fewer than five partitions: errors are counts, and a few of them are easily
    equally far apart, which has no variance.
    """
    d: Array = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if len(d) < FEWEST:
        return np.nan
    if np.all(d == d[0]):
        return 1.0 if d[0] == 0 else 0.0
    t = d.mean() / corrected_error(d, ratio)
    return float(2 * stats.t.sf(abs(t), len(d) - 1))


def verdict(ours: Sequence[float] | Array, theirs: Sequence[float] | Array, ratio: float) -> str:
    """ "better", "worse" (more errors) or "level", and p: "better (0.003)"."""
    p = corrected_p(ours, theirs, ratio)
    if np.isnan(p):
        return "too few"
    lower = np.mean(ours) < np.mean(theirs)
    word = "level" if p >= LEVEL else "better" if lower else "worse"
    return f"{word} ({format_p(p)})"


def format_p(p: float) -> str:
    """Three digits, or that it is smaller."""
    return "-" if np.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")
