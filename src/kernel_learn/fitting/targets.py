"""What rows are to be told by: class labels as numbers, real values, and rows without a label."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, LabelsLike, TargetsLike
from kernel_learn.criteria.constraints import is_unlabeled
from kernel_learn.rows.check_rows import check_magnitude, check_readable
from kernel_learn.rows.codes import missing_entries
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.labels import LEARN_UNLABELLED, check_labels, label_column
from kernel_learn.rows.targets import (
    CLASSES_OR_LABELS,
    TARGET_TYPES,
    TargetType,
    are_too_many,
    binarise,
    tell_targets,
)
from kernel_learn.warn import warn_user


class Told(NamedTuple):
    """What each row is to be told by, checked.

    Of classes ``values`` are the labels (n,); of sets of labels which of ``names`` a row has and of
    numbers the numbers, (n, q).
    """

    kind: TargetType
    values: Array
    single: bool = False  # numbers: whether y was one-dimensional
    names: Array | None = None  # (L,)


def read_targets(y: TargetsLike | None, target_type: str = "auto") -> Told:
    """The targets as what ``target_type`` says; "auto" by the rule of :mod:`rows.targets`."""
    kind = choose_kind(y, target_type)
    if kind == "classes":
        return Told(kind, check_labels(y))
    if kind == "labels":
        names, Y = binarise(y)  # type: ignore[arg-type]
        if not (Y.any() and (Y[0] != Y).any()):
            raise ValueError(
                "All rows of y have the same set of labels, and there is nothing to learn."
            )
        return Told(kind, Y, names=names)
    values = check_real_targets(y)
    return Told(kind, values.reshape(len(values), -1), single=values.ndim == 1)


def choose_kind(y: TargetsLike | None, target_type: str = "auto") -> TargetType:
    """What y is taken for; a guess is said."""
    if target_type == CLASSES_OR_LABELS:
        return "labels" if tell_targets(y).kind == "labels" else "classes"
    if target_type not in TARGET_TYPES:
        words = ", ".join(map(repr, TARGET_TYPES))
        raise ValueError(f"target_type={target_type!r}: target_type must be one of {words}.")
    if target_type != "auto":
        return target_type  # type: ignore[return-value]
    found = tell_targets(y)
    if found.is_guess:
        warn_user(
            f"y is taken as numbers: {found.reason}. If that is right pass target_type='numbers', "
            "if they are classes target_type='classes'."
        )
    return found.kind


def warn_of_many_classes(classes: Array, n_rows: int) -> None:
    """Say that whole numbers which look like a measurement are kept as classes."""
    if classes.dtype.kind in "iuf" and are_too_many(len(classes), n_rows):
        warn_user(
            f"y is taken as classes: it has {len(classes)} different whole numbers in {n_rows} "
            "rows. If they are a measurement, take a regression; if they are classes, make them "
            "strings."
        )


def check_real_targets(y: LabelsLike | None) -> Array:
    """Real targets, one or several for each row, as float64."""
    check_readable(y, "y")
    y = as_array(y, "y")
    gone: Array = np.zeros(1, dtype=bool)
    if y.ndim in (1, 2) and y.size:
        columns = y.reshape(len(y), -1).T
        gone = np.asarray(np.any([are_missing(column) for column in columns], axis=0))
    if gone.any():
        raise ValueError(
            f"Input y contains NaN: the target of row {int(gone.argmax())} is missing. Leave out "
            "the rows without a target, or learn from them by KernelPLSRegressor(unlabeled=None)."
        )
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


def warn_of_marks(classes: Array, owner: str) -> None:
    """Say that -1 beside two or more labels is taken for a class, where it may mean "no label"."""
    if len(classes) > 2 and is_unlabeled(classes, -1).any():
        warn_user(
            f"y holds -1 beside {len(classes) - 1} other labels, and {owner} takes it for a class. "
            "If it marks rows without label, leave these out, or learn from them by unlabeled=-1 "
            f"({LEARN_UNLABELLED})."
        )


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
    if isinstance(unlabeled, str) and known.dtype.kind not in "USO":
        raise ValueError(
            f"unlabeled={unlabeled!r} is a text, and the labels are numbers, so that it marks no "
            "row: give the number that does, None, or 'raise'."
        )
    kept = ~is_unlabeled(known, unlabeled)
    return rows[kept], known[kept]


def told_rows(y: TargetsLike | None, unlabeled: object, n: int) -> Array:
    """Indices of the rows with a target: not None, not NaN, not ``unlabeled``."""
    targets = as_array(y, "y")
    if targets.ndim == 0 or len(targets) != n:
        return np.arange(n)  # which is refused, as it always is
    columns = targets.reshape(n, -1).T
    unknown = np.any([are_missing(column) for column in columns], axis=0)
    if targets.ndim == 1:
        unknown |= is_unlabeled(targets, unlabeled)
    if unknown.all():
        raise ValueError("All rows are unlabelled, so there is nothing to learn from: label some.")
    return np.flatnonzero(~unknown)


def are_missing(y: Array) -> Array:
    """Which entries are None or NaN (of any library)."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype != object:
        return np.zeros(len(y), dtype=bool)
    return missing_entries(y)
