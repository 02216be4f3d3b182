"""Class labels as users give them: one for each row, all of them strings or all numbers."""

from numbers import Real

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernel_learn.arrays import Array, LabelsLike, Rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.keys import is_missing

# The whole numbers that an integer type holds: scikit-learn compares labels with their integers.
LARGEST_LABEL = 2.0**62
LEARN_UNLABELLED = "HSICSubspace, KernelDiscriminant, KernelPLS, InductiveKernel"


def label_column(y: LabelsLike | None, *, warn: bool = True) -> Array:
    """One label for each row, of any type, missing ones included; a column is flattened."""
    column: Rows = y if is_sparse(y) else as_array(y, "y")
    shape = tuple(getattr(column, "shape", ()))
    if len(shape) == 2 and shape[1] > 1 and shape[0] != 1:
        raise ValueError(
            f"y should be a 1d array, one class for each row, and it has several labels per row "
            f"(shape {shape}). For one-hot labels pass y.argmax(axis=1). KernelClassifier, "
            "KernelPLS and HSICSubspace take several labels per row as a matrix of zeros and ones, "
            "or as a list of sets; KernelRegressor takes several numbers."
        )
    labels: Array = column_or_1d(column, warn=warn)
    if labels.dtype.kind == "V":
        raise ValueError(
            f"y is a structured array with the fields {list(labels.dtype.names or ())}; pass one "
            "of them, y['name']."
        )
    return labels


def check_labels(y: LabelsLike | None) -> Array:
    """Class labels as a one-dimensional array of one type, none of them missing."""
    y = plain_labels(label_column(y))
    check_class_labels(y)
    return y


def check_class_labels(y: Array) -> None:
    """Refuse real numbers, the targets of a regression, and whatever else are no classes."""
    real = np.flatnonzero(y != np.floor(y)) if y.dtype.kind == "f" else np.arange(0)
    if len(real):
        row = int(real[0])
        raise ValueError(
            f"Unknown label type: continuous. y has {y[row]:.6g} in row {row}, a real number and "
            "no class. For a regression take KernelRegressor, or target_type='numbers' where there "
            "is such a parameter; for classes cut y into bins (numpy.digitize)."
        )
    check_classification_targets(y)


def plain_labels(y: Array) -> Array:
    """Labels that are all strings, or all numbers that can be classes; none of them missing."""
    if y.dtype == object and len(y):
        y = _without_objects(y)
    if y.dtype.kind == "S":
        raise ValueError(
            f"y holds labels of bytes such as {bytes(y[0])!r}, and a class is a string or a "
            "number. Decode them: numpy.char.decode(y)."
        )
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise missing_label(y, int(np.flatnonzero(np.isnan(y))[0]))
    if y.dtype.kind in "mM":
        raise ValueError(
            f"Unknown label type: y holds dates or times ({y.dtype}), and a class is a string or a "
            "number. Make them strings: y.astype(str)."
        )
    assert_all_finite(y, input_name="y")
    top = float(np.abs(y).max(initial=0.0)) if y.dtype.kind == "f" else 0.0
    if top >= LARGEST_LABEL:
        raise ValueError(
            f"y has values of up to {top:.3g}, which are no classes: Unknown label "
            "type. A class is a string, or a whole number that an integer can hold."
        )
    return y


def missing_label(y: Array, row: int) -> ValueError:
    """What is said of the first row without a label."""
    label = y[row].item() if isinstance(y[row], np.generic) else y[row]
    return ValueError(
        f"Input y contains NaN: the label of row {row} is missing ({label!r}). Leave out the rows "
        f"without a label, or learn from them by unlabeled=None ({LEARN_UNLABELLED})."
    )


def _without_objects(y: Array) -> Array:
    """Labels out of an array of objects: strings as they are, numbers as numbers."""
    gone = next((i for i, label in enumerate(y) if is_missing(label)), None)
    if gone is not None:
        raise missing_label(y, gone)
    if all(isinstance(label, str) for label in y):
        return y
    if all(isinstance(label, bytes) for label in y):
        return np.array(y.tolist(), dtype="S")
    numbers = np.array(y.tolist()) if all(isinstance(label, Real) for label in y) else y
    if numbers.dtype != object:
        return numbers
    kinds = sorted({type(label).__name__ for label in y})
    if len(kinds) > 1:
        raise ValueError(
            f"y mixes labels of the types {', '.join(kinds)}. Make them all strings or all numbers."
        )
    raise ValueError(
        f"Unknown label type: y holds labels of the type {kinds[0]} such as {y[0]!r}, and a class "
        "is a string or a number that an array can hold. Make them strings: [str(v) for v in y]."
    )


def check_two_classes(classes: Array) -> Array:
    """Classes of a source, two at the least."""
    if len(classes) < 2:
        raise ValueError(
            f"The source has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 "
            "classes are needed to learn what tells them apart."
        )
    return classes
