"""What rows are to be told by: class labels as numbers, real values, and rows without a label."""

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, LabelsLike
from kernel_learn.criteria.constraints import is_unlabeled
from kernel_learn.rows.check_rows import check_magnitude, check_readable
from kernel_learn.rows.codes import missing_entries
from kernel_learn.rows.labels import check_labels, label_column


def check_real_targets(y: LabelsLike | None) -> Array:
    """Real targets, one or several for each row, as float64."""
    check_readable(y, "y")
    values: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_magnitude(values, "y")
    return values


def encode_labels(y: Array, weight: Array | None) -> tuple[Array, Array]:
    """(classes, indices); classes are those of positive weight."""
    classes = np.unique(y if weight is None else y[weight > 0])
    if len(classes) < 2:
        raise ValueError(
            f"y has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 classes are "
            "needed to learn what tells them apart."
        )
    return classes, np.minimum(np.searchsorted(classes, y), len(classes) - 1)


def labelled_rows(y: LabelsLike, unlabeled: object) -> tuple[Array, Array]:
    """Indices of the rows with a label, and the labels.

    None and NaN never are a label. ``unlabeled`` is one more mark, None for no other, or
    "raise": a -1 may be a mark or a class, so that among other labels it is refused.
    """
    y = label_column(y)
    rows = np.flatnonzero(~are_missing(y))
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


def are_missing(y: Array) -> Array:
    """Which entries are None or NaN (of any library)."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype != object:
        return np.zeros(len(y), dtype=bool)
    return missing_entries(y)
