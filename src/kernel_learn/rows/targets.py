"""What rows are to be told by: classes, sets of labels, or numbers. One rule for all who ask.

- Texts, truth values and few whole numbers are classes.
- Real numbers are numbers; so are whole numbers, of any type, of more than 20 different values with
  fewer than 5 rows to a value: a count, a price, an age. That is a guess, and those who follow it
  say so.
- A matrix of zeros and ones, and a set or list of labels in each row, are sets of labels; any other
  matrix is several numbers.
"""

from collections.abc import Iterable
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np

from kernel_learn.arrays import Array, LabelsLike, Rows
from kernel_learn.rows.access import dense, is_sparse
from kernel_learn.rows.codes import missing_entries
from kernel_learn.rows.coerce import as_array
from kernel_learn.warn import warn_user

TargetType = Literal["classes", "numbers", "labels"]
TARGET_TYPES = ("auto", "classes", "numbers", "labels")
# What "auto" is to a classifier, which keeps numbers as classes.
CLASSES_OR_LABELS = "classes or labels"
# Whole numbers of more values than this, with fewer rows to a value than that, are no classes.
MOST_CLASSES, ROWS_PER_CLASS = 20, 5
WHOLE = 2.0**53  # from here on every floating-point number is whole


class TargetKind(NamedTuple):
    """What targets are taken for, and why.

    ``is_guess``: whole numbers that may be classes as well as numbers.
    """

    kind: TargetType
    reason: str
    is_guess: bool = False


def tell_targets(y: LabelsLike | None) -> TargetKind:
    """What y is by the rule above; missing values are not asked."""
    if holds_sets(y):
        return TargetKind("labels", "each row has a set of labels")
    values: Rows = dense(y) if is_sparse(y) else as_array(y, "y")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        return _tell_matrix(values)
    if values.ndim != 1 or values.dtype.kind == "b":
        return TargetKind("classes", "its values are true or false")
    numbers = _as_numbers(values)
    if numbers is None:
        return TargetKind("classes", "its values are not numbers")
    return _tell_numbers(numbers, is_float=values.dtype.kind == "f")


def _tell_matrix(values: Array) -> TargetKind:
    numbers = _as_numbers(values.reshape(-1))
    if numbers is None:
        return TargetKind("labels", "each row has several labels")
    if np.isin(numbers, (0.0, 1.0)).all():
        return TargetKind("labels", f"its {values.shape[1]} columns hold zeros and ones")
    return TargetKind("numbers", f"it has {values.shape[1]} columns of numbers")


def _tell_numbers(numbers: Array, *, is_float: bool) -> TargetKind:
    is_large = is_float and np.abs(numbers).max(initial=0.0) >= WHOLE
    if is_large or np.any(numbers != np.floor(numbers)):
        return TargetKind("numbers", "its values are real numbers")
    n, k = len(numbers), len(np.unique(numbers))
    reason = f"it has {k} different whole numbers in {n} rows"
    if are_too_many(k, n):
        return TargetKind("numbers", reason, is_guess=True)
    return TargetKind("classes", reason)


def are_too_many(n_values: int, n_rows: int) -> bool:
    """Whether so many whole numbers in so many rows are a measurement rather than classes."""
    return n_values > MOST_CLASSES and n_rows < ROWS_PER_CLASS * n_values


def _as_numbers(values: Array) -> Array | None:
    """The values that are not missing as float64, None if some are no numbers."""
    if values.dtype == object:
        values = values[~missing_entries(values)]
        if not all(isinstance(value, Real) for value in values):
            return None
        values = values.astype(np.float64)
    if values.dtype.kind not in "fiub":
        return None
    return np.asarray(values[~np.isnan(values)], dtype=np.float64)


def holds_sets(y: object) -> bool:
    """Whether y has a set, or a list of any length, of labels in each row."""
    if is_sparse(y) or getattr(y, "ndim", 1) != 1 or not isinstance(y, Iterable):
        return False
    if isinstance(y, str | bytes) or (hasattr(y, "dtype") and y.dtype != object):
        return False
    rows = list(y) if len(getattr(y, "shape", ())) < 2 else []
    if not rows or not all(isinstance(row, set | frozenset | list | tuple) for row in rows):
        return False
    if any(isinstance(row, set | frozenset) for row in rows):
        return True
    # rows of one length are a matrix, unless an array of objects keeps them as lists
    return hasattr(y, "dtype") or len({len(row) for row in rows}) > 1


def label_rows(y: LabelsLike) -> list[Iterable[object]] | None:
    """The labels of each row, if y names them: sets, lists, or a matrix of texts."""
    if holds_sets(y):
        return list(y)  # type: ignore[arg-type]
    values = np.empty(0) if is_sparse(y) else as_array(y, "y")
    if values.ndim != 2 or _as_numbers(values.reshape(-1)) is not None:
        return None
    return list(values)


def binarise(y: LabelsLike) -> tuple[Array, Array]:
    """The labels that occur, sorted, (L,), and which of them each row has, (n, L) of 0.0 and 1.0.

    A matrix of zeros and ones has its own columns as labels, those without a row too.
    """
    rows = label_rows(y)
    if rows is None:
        return _check_indicator(dense(y) if is_sparse(y) else as_array(y, "y"))
    kinds = {type(label) for row in rows for label in row}
    if not any(all(issubclass(kind, one) for kind in kinds) for one in (str, Real)):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"y has sets of labels of the types {names}. Make them all strings or all numbers."
        )
    labels = np.array(sorted({label for row in rows for label in row}))  # type: ignore[type-var]
    return labels, indicator_of(rows, labels)


def indicator_of(rows: list[Iterable[object]], labels: Array) -> Array:
    """Which of the labels each row has, (n, L) of 0.0 and 1.0; a label that is not known is left
    out, and that is said.
    """
    place = {label: j for j, label in enumerate(labels.tolist())}
    Y = np.zeros((len(rows), len(labels)))
    for i, row in enumerate(rows):
        Y[i, [place[label] for label in row if label in place]] = 1.0
    unknown = {label for row in rows for label in row} - set(place)
    if unknown:
        warn_user(f"y has labels such as {next(iter(unknown))!r} that were not seen at fit.")
    return Y


def _check_indicator(values: Array) -> tuple[Array, Array]:
    values = values[:, None] if values.ndim == 1 else values
    numbers = _as_numbers(values.reshape(-1)) if values.ndim == 2 else None
    if numbers is None or len(numbers) < values.size or not np.isin(numbers, (0.0, 1.0)).all():
        raise ValueError(
            f"y is to be sets of labels, and it has the shape {values.shape} and values other than "
            "0 and 1. Pass a matrix (n_samples, n_labels) of zeros and ones, or a list of labels "
            "for each row."
        )
    return np.arange(values.shape[1]), values.astype(np.float64)
