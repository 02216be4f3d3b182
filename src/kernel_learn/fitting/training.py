"""Checked training data: kernels, rows, labels or values, and how much each row counts."""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length

from kernel_learn.arrays import (
    Array,
    ClassWeight,
    DataLike,
    LabelsLike,
    Rows,
    RowsLike,
    WeightsLike,
)
from kernel_learn.fitting.labels import check_labels, check_real_targets, encode_labels
from kernel_learn.fitting.row_validation import as_views, side_by_side, validate_rows
from kernel_learn.fitting.weights import training_weights
from kernel_learn.kernels.bank import Combination, as_bank, resolve_bank
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.state import StreamState
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.rows.table import Table

TrainingLike = DataLike | StreamState  # rows, blocks of them, or what was kept of a stream


@dataclass(frozen=True)
class Training:
    """Checked training data: kernels whose rules may still stand, rows, labels, weights."""

    kernels: list[Kernel]
    source: Any  # an ArraySource; a PooledSource of a stream
    names: list[str] | None  # of the kernels of a bank, None for one kernel
    # indices of the rows that count, if some had weight zero and were left out
    kept: Array | None
    n_given: int  # rows before that

    @property
    def X(self) -> Rows:
        return self.source.X

    @property
    def weight(self) -> Array:
        return self.source.weight

    @property
    def kernel(self) -> Kernel:
        """The kernel, or the bank as a combination still to be weighted."""
        if self.names is None:
            return self.kernels[0]
        return Combination(self.kernels, np.ones(len(self.kernels)))

    def resolved(self) -> Self:
        """With every rule replaced by its value on the rows."""
        pool = self.source.summary.pool(self.X)
        return replace(self, kernels=resolve_bank(self.kernels, pool))


AnyTraining = TypeVar("AnyTraining", bound=Training)


@dataclass(frozen=True)
class Labelled(Training):
    """Training rows with class labels."""

    classes: Array  # (k,)

    @property
    def labels(self) -> Array:
        """Indices into classes, (n,)."""
        return self.source.labels

    @property
    def counts(self) -> Array:
        """The weight of each class, (k,)."""
        return self.source.counts


@dataclass(frozen=True)
class Valued(Training):
    """Training rows with real targets."""

    single: bool  # whether y was one-dimensional


def validate_labelled(
    estimator: BaseEstimator,
    X: Rows,
    y: LabelsLike | None,
    sample_weight: WeightsLike | None = None,
) -> Labelled:
    """Check rows, labels and weights for fit; rows of weight zero are left out."""
    given = X
    kernels, names, X = _fit_rows(estimator, X, y)
    y = check_labels(y)
    n, is_matrix = len(y), kernels[0].input == "matrix"
    X, y, weight, kept = _weigh(is_matrix, X, y, sample_weight)
    classes, labels = encode_labels(y, weight)
    source = ArraySource(
        X,
        labels,
        weight,
        n_classes=len(classes),
        is_matrix=is_matrix,
        copied_bytes=copied_bytes(X, given),
    )
    estimator._rows_digest = source.digest
    return Labelled(kernels, source, names, kept, n, classes)


def validate_unlabelled(estimator: BaseEstimator, X: Rows) -> Training:
    """Check rows that come without labels; constraints say what is known of them."""
    kernel = as_kernel(estimator.kernel)
    given, X = X, validate_rows(estimator, kernel, X, reset=True)
    n, is_matrix = n_rows(X), kernel.input == "matrix"
    copied = copied_bytes(X, given)
    source = ArraySource(X, np.empty((n, 0)), is_matrix=is_matrix, copied_bytes=copied)
    return Training([kernel], source, None, None, n)


def validate_valued(
    estimator: BaseEstimator,
    X: Rows,
    y: LabelsLike | None,
    sample_weight: WeightsLike | None = None,
) -> Valued:
    """Check rows, real targets and weights for fit; rows of weight zero are left out."""
    given = X
    kernels, names, X = _fit_rows(estimator, X, y)
    y = check_real_targets(y)
    n, is_matrix = len(y), kernels[0].input == "matrix"
    X, y, weight, kept = _weigh(is_matrix, X, y, sample_weight)
    copied = copied_bytes(X, given)
    source = ArraySource(X, y.reshape(len(y), -1), weight, is_matrix=is_matrix, copied_bytes=copied)
    estimator._rows_digest = source.digest
    return Valued(kernels, source, names, kept, n, y.ndim == 1)


def copied_bytes(X: Rows, given: RowsLike | None) -> float:
    """What the checked rows take beside the rows that were given: nothing if they are the same."""

    def numbers(A: Rows) -> object:
        A = A.numbers if isinstance(A, Table) else A
        return getattr(A, "data", None) if hasattr(A, "tocsr") else A  # some have no data array

    own, other = numbers(X), numbers(given)
    arrays = isinstance(own, np.ndarray) and isinstance(other, np.ndarray)
    if X is given or (arrays and np.may_share_memory(own, other)):
        return 0.0
    return n_rows(X) * row_bytes(X)


def stream_kernels(estimator: BaseEstimator) -> tuple[list[Kernel], list[str] | None, Kernel]:
    """Kernels, names and the kernel that says what a row is, for rows that come in blocks."""
    bank = as_bank(estimator.kernel) if getattr(estimator, "accepts_banks", False) else None
    names, kernels = bank if bank else (None, [as_kernel(estimator.kernel)])
    kernel = Combination(kernels, np.ones(len(kernels))) if bank else kernels[0]
    if kernel.input == "matrix":
        raise ValueError(
            "Rows of a precomputed kernel matrix cannot come in blocks: a column belongs to each. "
            "Pass the matrix."
        )
    return kernels, names, kernel


def _fit_rows(
    estimator: BaseEstimator, X: Rows, y: LabelsLike | None
) -> tuple[list[Kernel], list[str] | None, Rows]:
    bank = as_bank(estimator.kernel, X) if getattr(estimator, "accepts_banks", False) else None
    names, kernels = bank if bank else (None, [as_kernel(estimator.kernel)])
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    views = as_views(X, len(kernels)) if bank else None
    if views is not None:
        X, spans = side_by_side(views)
        kernels = [ColumnKernel(k, span) for k, span in zip(kernels, spans, strict=True)]
    kernel = Combination(kernels, np.ones(len(kernels))) if bank else kernels[0]
    return kernels, names, validate_rows(estimator, kernel, X, reset=True)


def _weigh(
    is_matrix: bool, X: Rows, y: Array, sample_weight: WeightsLike | None
) -> tuple[Rows, Array, Array | None, Array | None]:
    """Rows, targets, weights and indices of the rows that count (all, in a kernel matrix)."""
    check_consistent_length(X, y)
    weight = training_weights(sample_weight, len(y))
    if weight is None or is_matrix or weight.all():
        return X, y, weight, None
    kept = np.flatnonzero(weight)
    return take_rows(X, kept), y[kept], weight[kept], kept


def class_prices(class_weight: ClassWeight, data: Labelled) -> Array:
    """Factors per class, (k,), from ``class_weight`` as in scikit-learn; rows count by weight."""
    if isinstance(class_weight, str):  # "balanced"
        price = data.counts.sum() / (len(data.classes) * data.counts)
    elif isinstance(data.source, PooledSource):  # the labels are gone
        price = compute_class_weight(class_weight, classes=data.classes, y=data.classes)
    else:
        y = data.classes[data.labels]
        price = compute_class_weight(class_weight, classes=data.classes, y=y)
    if not (np.all(np.isfinite(price)) and np.all(price > 0)):
        raise ValueError(
            f"class_weight gives the classes {list(data.classes)} the factors "
            f"{[float(p) for p in price]}; each must be positive and finite. "
            "To leave a class out, leave out its rows."
        )
    return np.asarray(price, dtype=np.float64)
