"""Rows without a label among rows with one."""

from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.constraints import is_unlabeled
from kernel_learn.rows.labels import check_labels, label_column


def labelled_rows(y: Any, unlabeled: Any) -> tuple[Array, Array]:
    """Indices of the rows with a label, and the labels.

    None and NaN never are a label. ``unlabeled`` is one more mark, None for no other, or
    "raise": a -1 may be a mark or a class, so that among other labels it is refused.
    """
    y = label_column(y)
    rows = np.flatnonzero(~is_missing(y))
    known = y[rows]
    known = check_labels(known) if len(known) else known
    if isinstance(unlabeled, str) and unlabeled == "raise":
        marks = is_unlabeled(known, -1)
        if marks.any() and not marks.all():
            raise ValueError(
                "y holds -1 among other labels, which may be a class or mean that the label is not "
                "known. Pass InductiveKernel(unlabeled=-1) for rows without label, or "
                "InductiveKernel(unlabeled=None) if -1 is a class."
            )
        return rows, known
    kept = ~is_unlabeled(known, unlabeled)
    return rows[kept], known[kept]


def is_missing(y: Array) -> Array:
    """Which entries are None or NaN (of any library)."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype != object:
        return np.zeros(len(y), dtype=bool)
    return np.array([_is_missing(value) for value in y], dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal nor different
        return True
