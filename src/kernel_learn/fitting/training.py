"""Checked training data: kernels, rows, labels or values, and how much each row counts."""

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length, column_or_1d

from kernel_learn.arrays import (
    Array,
    ClassWeight,
    DataLike,
    LabelsLike,
    Rows,
    RowsLike,
    TargetsLike,
    WeightsLike,
)
from kernel_learn.fitting.row_validation import as_views, side_by_side, validate_rows
from kernel_learn.fitting.targets import (
    encode_labels,
    read_targets,
    told_rows,
    warn_of_many_classes,
    warn_of_marks,
)
from kernel_learn.fitting.weights import training_weights
from kernel_learn.kernels.bank import Combination, as_bank, resolve_bank
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.columns import ColumnKernel
from kernel_learn.kernels.deformed import GRAPH_ROWS, GraphDeformed
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.state import StreamState
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import is_sparse, n_rows, take_rows
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.keys import is_missing
from kernel_learn.rows.table import Table
from kernel_learn.rows.targets import CLASSES_OR_LABELS, TargetType
from kernel_learn.streams.sources import as_source, is_collection

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
    def kind(self) -> TargetType:
        """What the targets are."""
        return "classes"

    @property
    def X(self) -> Rows:
        return self.source.X

    @property
    def weight(self) -> Array:
        return self.source.weight

    @property
    def kernel(self) -> Kernel:
        """The kernel, or the bank as a combination still to be weighted."""
        return _as_one(self.kernels, self.names)

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
    def label_names(self) -> Array:
        """(k,)."""
        return self.classes

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
    """Training rows with real targets, or with zeros and ones for sets of labels."""

    single: bool  # whether y was one-dimensional
    kind: TargetType = "numbers"
    label_names: Array | None = None  # (L,) of sets of labels


def wanted_targets(estimator: BaseEstimator) -> str | None:
    """The ``target_type`` of an estimator; None if it learns from class labels and nothing else."""
    if getattr(estimator, "learns_values", False):
        return "numbers"
    found: str | None = getattr(estimator, "target_type", None)
    return CLASSES_OR_LABELS if found == "auto" and is_classifier(estimator) else found


def validate_targets(
    estimator: BaseEstimator,
    X: Rows,
    y: TargetsLike | None,
    sample_weight: WeightsLike = None,
    groups: ArrayLike | None = None,
) -> Labelled | Valued:
    """Check rows, targets, weights and groups for fit; rows of weight zero are left out."""
    check_rows_at_once(estimator, X)
    kernels, names, rows = _fit_rows(estimator, X, y)
    known = None
    if reads_unlabelled(estimator):
        n = n_rows(rows)
        known = told_rows(y, estimator.unlabeled, n)
        if len(known) == n:
            known = None
        else:
            kernels = deform(kernels, rows)
            rows, y = take_rows(rows, known), take_rows(as_array(y, "y"), known)
            sample_weight = _part(sample_weight, known, n)
    wanted = wanted_targets(estimator)
    told = read_targets(y, wanted or "classes")
    rows, values, weight, kept = _weigh(kernels, rows, told.values, sample_weight)
    if known is not None:
        kept = known if kept is None else known[kept]
    n, classes = len(told.values) if known is None else n, None
    groups = check_groups(groups, n, np.arange(n) if kept is None else kept)
    if told.kind == "classes":
        classes, values = encode_labels(values, weight)
        warn_of_marks(classes, type(estimator).__name__)
        if wanted != "classes":
            warn_of_many_classes(classes, n)
    source = _source(X, kernels, rows, values, weight, None if classes is None else len(classes))
    source.groups = groups
    estimator._rows_digest = source.digest
    if classes is None:
        return Valued(kernels, source, names, kept, n, told.single, told.kind, told.names)
    return Labelled(kernels, source, names, kept, n, classes)


def check_groups(groups: ArrayLike | None, n: int, kept: Array) -> Array | None:
    """Numbers of the groups of the rows that are kept, (n_kept,)."""
    if groups is None:
        return None
    given: Array = column_or_1d(as_array(groups, "groups"))
    if given.dtype.kind in "fO" and any(map(is_missing, given.tolist())):
        raise ValueError("groups has rows without a group (NaN or None); give each row one.")
    if len(given) != n:
        raise ValueError(f"groups has {len(given)} entries, and there are {n} rows.")
    found = np.unique(given, return_inverse=True)[1][kept]
    if len(np.unique(found)) < 2:
        raise ValueError("All rows are of one group, and nothing can be left out of it.")
    return found


def reads_unlabelled(estimator: BaseEstimator) -> bool:
    """Whether rows without a target are to be learned from."""
    mark = getattr(estimator, "unlabeled", "raise")
    learns = getattr(estimator, "learns_unlabelled", False)
    return learns and not (isinstance(mark, str) and mark == "raise")


def is_of_vectors(data: Training) -> bool:
    """Whether rows are vectors of numbers, in a table too, so that they have means."""
    X = data.X
    if not data.kernel.takes_vectors or not isinstance(X, Table):
        return data.kernel.takes_vectors
    if isinstance(data.source, PooledSource) or X.others.shape[1]:
        return False
    entries = X.numbers.data if is_sparse(X.numbers) else X.numbers
    return bool(np.isfinite(entries).all())  # of columns that no kernel sees, too


def deform(kernels: list[Kernel], X: Rows) -> list[Kernel]:
    """Each kernel deformed by the graph of all rows X, where it has no graph of its own."""
    source = _source(X, kernels, X, np.empty((n_rows(X), 0)))
    graph = source.summary.pool(X).distinct().head(GRAPH_ROWS).rows
    own = [k if isinstance(k, GraphDeformed) else GraphDeformed(k) for k in kernels]
    return [k if k.X_graph is not None else clone(k).set_params(X_graph=graph) for k in own]


def _part(sample_weight: WeightsLike, rows: Array, n: int) -> WeightsLike:
    """The weights of some rows; one for each is taken, others are refused as they always are."""
    if sample_weight is None:
        return None
    weight = as_array(sample_weight, "sample_weight")
    return weight[rows] if weight.shape[:1] == (n,) else weight


def check_rows_at_once(estimator: BaseEstimator, X: Rows) -> None:
    """Refuse a source of blocks where all rows are needed at once."""
    if is_collection(X) or as_source(X) is not None:
        name = type(estimator).__name__
        raise ValueError(
            f"{name} learns from all rows at once, and X is a {type(X).__name__}, which comes in "
            "blocks. Give an array or a frame: X.compute() of a Dask collection, some rows of "
            "what does not fit into memory."
        )


def validate_labelled(
    estimator: BaseEstimator, X: Rows, y: LabelsLike | None, sample_weight: WeightsLike = None
) -> Labelled:
    """The same for an estimator that learns from class labels and nothing else."""
    data = validate_targets(estimator, X, y, sample_weight)
    assert isinstance(data, Labelled)
    return data


def store_targets(estimator: BaseEstimator, data: Labelled | Valued) -> None:
    """``target_type_``, what y was taken for, and ``classes_`` of what has names."""
    estimator.target_type_ = data.kind
    if data.label_names is not None:
        estimator.classes_ = data.label_names


def validate_unlabelled(estimator: BaseEstimator, X: Rows) -> Training:
    """Check rows that come without labels; constraints say what is known of them."""
    kernel = as_kernel(estimator.kernel)
    rows = validate_rows(estimator, kernel, X, reset=True)
    n = n_rows(rows)
    return Training([kernel], _source(X, [kernel], rows, np.empty((n, 0))), None, None, n)


def _source(
    given: RowsLike,
    kernels: list[Kernel],
    X: Rows,  # those given, checked
    labels: Array,
    weight: Array | None = None,
    n_classes: int | None = None,
) -> ArraySource:
    is_matrix, copied = kernels[0].input == "matrix", copied_bytes(X, given)
    return ArraySource(
        X, labels, weight, n_classes=n_classes, is_matrix=is_matrix, copied_bytes=copied
    )


def copied_bytes(X: Rows, given: RowsLike | None) -> float:
    """What the checked rows take beside the rows that were given: nothing if they are the same."""

    def numbers(A: Rows) -> object:
        A = A.numbers if isinstance(A, Table) else A
        return getattr(A, "data", None) if is_sparse(A) else A  # some have no data array

    own, other = numbers(X), numbers(given)
    arrays = isinstance(own, np.ndarray) and isinstance(other, np.ndarray)
    if X is given or (arrays and np.may_share_memory(own, other)):
        return 0.0
    return n_rows(X) * row_bytes(X)


def stream_kernels(estimator: BaseEstimator) -> tuple[list[Kernel], list[str] | None, Kernel]:
    """Kernels, names and the kernel that says what a row is, for rows that come in blocks."""
    kernels, names = _kernels_of(estimator)
    kernel = _as_one(kernels, names)
    if kernel.input == "matrix":
        raise ValueError(
            "Rows of a precomputed kernel matrix cannot come in blocks: a column belongs to each. "
            "Pass the matrix."
        )
    return kernels, names, kernel


def _kernels_of(estimator: BaseEstimator, X: Rows = None) -> tuple[list[Kernel], list[str] | None]:
    """The kernels of an estimator, and their names if they are a bank."""
    bank = as_bank(estimator.kernel, X) if getattr(estimator, "accepts_banks", False) else None
    return (bank[1], bank[0]) if bank else ([as_kernel(estimator.kernel)], None)


def _as_one(kernels: list[Kernel], names: list[str] | None) -> Kernel:
    """The kernel, or the bank as a combination still to be weighted."""
    return kernels[0] if names is None else Combination(kernels, np.ones(len(kernels)))


def _fit_rows(
    estimator: BaseEstimator, X: Rows, y: ArrayLike | None
) -> tuple[list[Kernel], list[str] | None, Rows]:
    kernels, names = _kernels_of(estimator, X)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    views = None if names is None else as_views(X, len(kernels))
    if views is not None:
        X, spans = side_by_side(views)
        kernels = [ColumnKernel(k, span) for k, span in zip(kernels, spans, strict=True)]
    return kernels, names, validate_rows(estimator, _as_one(kernels, names), X, reset=True)


def _weigh(
    kernels: list[Kernel], X: Rows, y: Array, sample_weight: WeightsLike
) -> tuple[Rows, Array, Array | None, Array | None]:
    """Rows, targets, weights and indices of the rows that count (all, in a kernel matrix)."""
    check_consistent_length(X, y)
    weight = training_weights(sample_weight, len(y))
    if weight is None or kernels[0].input == "matrix" or weight.all():
        return X, y, weight, None
    kept = np.flatnonzero(weight)
    return take_rows(X, kept), y[kept], weight[kept], kept


def class_prices(class_weight: ClassWeight, data: Labelled) -> Array:
    """Factors per class, (k,), from ``class_weight`` as in scikit-learn; rows count by weight."""
    is_pooled = isinstance(data.source, PooledSource)  # the labels are gone
    y = data.classes if is_pooled else data.classes[data.labels]
    return weigh_classes(class_weight, data.classes, data.counts, y)


def weigh_classes(
    class_weight: ClassWeight,
    classes: Array,
    counts: Array,  # (k,) the weight of each class
    y: Array,  # labels, each class among them
) -> Array:
    """The factor of each class, (k,)."""
    if isinstance(class_weight, str):  # "balanced"
        factor = counts.sum() / (len(classes) * counts)
    else:
        factor = compute_class_weight(class_weight, classes=classes, y=y)
    if not (np.all(np.isfinite(factor)) and np.all(factor > 0)):
        raise ValueError(
            f"class_weight gives the classes {list(classes)} the factors "
            f"{[float(f) for f in factor]}; each must be positive and finite. "
            "To leave a class out, leave out its rows."
        )
    return np.asarray(factor, dtype=np.float64)
