"""What comes in, checked once: rows, labels, weights, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length, validate_data

from kernel_learn.arrays import Array, Rows
from kernel_learn.fitting.labels import check_labels
from kernel_learn.kernels.bank import Combination, resolve_bank
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.columns import ColumnKernel, as_rows
from kernel_learn.kernels.resolve import as_bank, as_kernel
from kernel_learn.representations import ArraySource, Combined
from kernel_learn.representations.base import has_variance
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import is_sparse, n_rows, take_rows
from kernel_learn.rows.check_rows import (
    LARGEST,
    check_column_names,
    check_magnitude,
    check_readable,
)
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import Table
from kernel_learn.warn import warn_user

# The largest entry of a kernel matrix lies between this and its inverse.
MATRIX_RANGE = 1e-30
# Rows that together count for less than one row, or on average for more than so many, are
# brought there: a penalty of 1 beside them is infinite, or below rounding.
LEAST_TOTAL, LARGEST_MEAN, LEAST_SHARE = 1.0, 1e8, 1e-12


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


def validate_labelled(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Labelled:
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


def validate_unlabelled(estimator: Any, X: Any) -> Training:
    """Check rows that come without labels; constraints say what is known of them."""
    kernel = as_kernel(estimator.kernel)
    given, X = X, validate_rows(estimator, kernel, X, reset=True)
    n, is_matrix = n_rows(X), kernel.input == "matrix"
    copied = copied_bytes(X, given)
    source = ArraySource(X, np.empty((n, 0)), is_matrix=is_matrix, copied_bytes=copied)
    return Training([kernel], source, None, None, n)


def validate_valued(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Valued:
    """Check rows, real targets and weights for fit; rows of weight zero are left out."""
    given = X
    kernels, names, X = _fit_rows(estimator, X, y)
    y = check_values(y)
    n, is_matrix = len(y), kernels[0].input == "matrix"
    X, y, weight, kept = _weigh(is_matrix, X, y, sample_weight)
    copied = copied_bytes(X, given)
    source = ArraySource(X, y.reshape(len(y), -1), weight, is_matrix=is_matrix, copied_bytes=copied)
    estimator._rows_digest = source.digest
    return Valued(kernels, source, names, kept, n, y.ndim == 1)


def copied_bytes(X: Rows, given: Any) -> float:
    """What the checked rows take beside the rows that were given: nothing if they are the same."""

    def numbers(A: Any) -> Any:
        A = A.numbers if isinstance(A, Table) else A
        return getattr(A, "data", None) if hasattr(A, "tocsr") else A  # some have no data array

    own, other = numbers(X), numbers(given)
    arrays = isinstance(own, np.ndarray) and isinstance(other, np.ndarray)
    if X is given or (arrays and np.may_share_memory(own, other)):
        return 0.0
    return n_rows(X) * row_bytes(X)


def stream_kernels(estimator: Any) -> tuple[list[Kernel], list[str] | None, Kernel]:
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


def _fit_rows(estimator: Any, X: Any, y: Any) -> tuple[list[Kernel], list[str] | None, Rows]:
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


def as_views(X: Any, count: int | None = None) -> list[Any] | None:
    """The views if X is a list or tuple of 2-D arrays (``count`` of them); else None: X is rows.

    This is the rule wherever X may be views: in a bank of ``count`` kernels, one per
    view, and in KernelClassifier. Any other list is a list of rows.
    """
    if not isinstance(X, list | tuple) or not len(X) or count not in (None, len(X)):
        return None
    return list(X) if all(len(getattr(view, "shape", ())) == 2 for view in X) else None


def side_by_side(views: Sequence[Any]) -> tuple[Any, list[slice]]:
    """All views as one array, and the columns of each."""
    if len({view.shape[0] for view in views}) > 1:
        shapes = [tuple(view.shape) for view in views]
        raise ValueError(f"X is a list of arrays of the shapes {shapes}; they need the same rows.")
    ends = np.cumsum([0, *(view.shape[1] for view in views)]).tolist()
    spans = [slice(start, stop) for start, stop in pairwise(ends)]
    if any(is_sparse(view) for view in views):
        return sparse.hstack(views, format="csr"), spans
    return np.hstack([np.asarray(view) for view in views]), spans


def _like_views(kernel: Kernel, X: Any) -> Any:
    """New rows given as views, side by side; they need the views' columns of fit."""
    views = as_views(X, len(kernel.kernels)) if isinstance(kernel, Combination) else None
    if views is None:
        return X
    X, spans = side_by_side(views)
    members = kernel.kernels  # type: ignore[attr-defined]
    known = [k.columns for k in members if isinstance(k, ColumnKernel)]
    known = [own for own in known if isinstance(own, slice)]
    if len(known) == len(spans) and known != spans:
        raise ValueError(
            f"X is a list of views with {[view.shape[1] for view in views]} columns, and at fit "
            f"they had {[own.stop - own.start for own in known]}."
        )
    return X


def _weigh(
    is_matrix: bool, X: Rows, y: Array, sample_weight: Any
) -> tuple[Rows, Array, Array | None, Array | None]:
    """Rows, targets, weights and indices of the rows that count (all, in a kernel matrix)."""
    check_consistent_length(X, y)
    weight = count_rows(sample_weight, len(y))
    if weight is None or is_matrix or weight.all():
        return X, y, weight, None
    kept = np.flatnonzero(weight)
    return take_rows(X, kept), y[kept], weight[kept], kept


def validate_rows(
    estimator: Any, kernel: Kernel, X: Any, *, reset: bool, least: int | None = None
) -> Rows:
    """The rows in the form that the kernel takes, checked against those seen at fit.

    Here every entry that a kernel will use is looked at once; kernels trust what
    they are given.
    """
    least = (2 if reset else 1) if least is None else least
    X = X if reset else _like_views(kernel, X)
    if kernel.input == "strings":
        rows = as_rows(X, "strings", "X")
        if len(rows) < least:
            raise ValueError(f"Found {len(rows)} strings, and at least {least} are required.")
        return rows
    if kernel.input == "columns":
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        X = X if is_frame(X) or hasattr(X, "tocsr") else np.asarray(X)
        if len(X.shape) != 2:
            raise ValueError(
                f"Expected 2D array, got {len(X.shape)}D array instead: a ColumnKernel takes rows "
                "of several columns. Reshape your data."
            )
        if X.shape[0] < least:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) (shape={X.shape}) while a minimum of "
                f"{least} is required."
            )
        if is_frame(X):
            check_column_names(X, "X")
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return _table(kernel, X)
    check_readable(X)
    rows = validate_data(
        estimator,
        X,
        accept_sparse=kernel.input == "vectors" and "csr",
        dtype=(np.float64, np.float32),
        allow_nd=kernel.input == "matrix",  # a stack of kernel matrices
        ensure_min_samples=least,
        reset=reset,
    )
    if kernel.input == "vectors":
        check_magnitude(rows, fitting=reset)
    else:
        check_layers(estimator, rows, reset=reset)
        check_matrix_scale(rows, fitting=reset)
    return rows


def check_matrix_scale(K: Rows, *, fitting: bool) -> None:
    """Refuse a kernel matrix so small or large that products of its entries are lost."""
    top = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if top > 1 / MATRIX_RANGE or (fitting and 0 < top < MATRIX_RANGE):
        raise ValueError(
            f"The largest entry of the kernel matrix X is {top:.3g} in size, and products of such "
            "numbers are lost in floating point. Divide the matrix by the mean of its diagonal."
        )


def check_layers(estimator: Any, X: Rows, *, reset: bool) -> None:
    """Refuse a stack of kernel matrices with other layers than that of fit, or kernels first."""
    layers = X.shape[2] if X.ndim == 3 else None
    if reset and layers is not None and X.shape[0] != X.shape[1] == layers:
        raise ValueError(
            f"X is a stack of the shape {X.shape} with the kernels first, and they are the last "
            "axis of a stack, (n, n, p): pass np.moveaxis(X, 0, -1)."
        )
    if reset:
        estimator._n_layers = layers
        return
    known = getattr(estimator, "_n_layers", None)
    if layers is not None and known is not None and layers != known:
        raise ValueError(
            f"X is a stack of {layers} kernel matrices, and at fit there were {known}: pass "
            "K(X_new, X_train) of each kernel, in the same order."
        )


def _table(kernel: Kernel, X: Any) -> Table:
    """Columns as arrays; those that must be numbers are numbers, and finite."""
    numeric = np.unique(kernel.numeric_columns(X)).astype(int)
    table = Table.of(X, numeric)
    used = table.numbers[:, table.place[numeric]] if len(numeric) < X.shape[1] else table.numbers
    names = numeric.tolist() if table.names is None else [table.names[c] for c in numeric]
    check_finite_columns(used, names)
    check_magnitude(used)
    return table


def check_finite_columns(numbers: Array, names: list[Any]) -> None:
    """Refuse missing and infinite numbers, and say in which columns they are."""
    rows, columns, values = _not_finite(numbers)
    if not len(rows):
        return
    bad = np.unique(columns)
    mine = np.flatnonzero(columns == bad[0])
    first = mine[rows[mine].argmin()]
    row, what = int(rows[first]), "NaN" if np.isnan(values[first]) else "infinity"
    shown = ", ".join(repr(names[c]) for c in bad[:5])
    more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
    raise ValueError(
        f"Input X contains {what}: {'column' if len(bad) == 1 else 'columns'} {shown}{more}, first "
        f"in row {row}. Fill or leave out such entries (sklearn.impute), or take KernelClassifier, "
        "for which NaN is a missing number."
    )


def _not_finite(numbers: Any) -> tuple[Array, Array, Array]:
    """Rows, columns and values of the entries that are not finite."""
    if is_sparse(numbers):
        entries = numbers.tocoo()
        off = ~np.isfinite(entries.data)
        return entries.row[off], entries.col[off], entries.data[off]
    rows, columns = np.nonzero(~np.isfinite(numbers))
    return rows, columns, numbers[rows, columns]


def check_values(y: Any) -> Array:
    """Real targets, one or several for each row, as float64."""
    check_readable(y, "y")
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_magnitude(y, "y")
    return y


def encode_labels(y: Array, weight: Array | None) -> tuple[Array, Array]:
    """(classes, indices); classes are those of positive weight."""
    classes = np.unique(y if weight is None else y[weight > 0])
    if len(classes) < 2:
        raise ValueError(
            f"y has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 classes are "
            "needed to learn what tells them apart."
        )
    return classes, np.minimum(np.searchsorted(classes, y), len(classes) - 1)


def class_prices(class_weight: Any, data: Labelled) -> Array:
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


def check_weights(sample_weight: Any, n: int) -> Array | None:
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


def count_rows(sample_weight: Any, n: int) -> Array | None:
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
    """Weights are counts: say so where someone has normalised them."""
    if total < n_counted * (1 - 1e-9):
        warn_user(
            f"sample_weight counts rows (a weight of 2 is two rows), and the weights of "
            f"{n_counted} rows sum to {total:.3g}: so few rows are regularised more. If they were "
            "normalised, pass w * n / w.sum(), n the number of rows.",
        )


def check_positive(name: str, value: Any, owner: Any) -> float:
    """A positive finite number as a float."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf:
        return float(value)
    raise ValueError(
        f"{type(owner).__name__}({name}={value!r}): {name} must be a positive finite number."
    )


def check_regs(regs: Any, owner: Any, name: str = "reg") -> list[float]:
    """The values of a parameter along a path: positive numbers, one at least."""
    values = as_array(regs, f"{name}s").ravel().tolist()
    if not values:
        raise ValueError(f"{name}s is empty; a path needs at least one {name}.")
    return [check_positive(name, value, owner) for value in values]


def check_count(name: str, value: Any, owner: Any) -> int:
    """A positive integer."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(
        f"{type(owner).__name__}({name}={value!r}): {name} must be a positive integer."
    )


def check_n_components(value: Any, default: int, owner: Any) -> int:
    """The number of components, ``default`` for None."""
    if value is None:
        return default
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(
        f"{type(owner).__name__}(n_components={value!r}): n_components must be a positive "
        "integer, or None."
    )


def check_distinct(source: Any) -> None:
    """Refuse rows that are all the same, whatever a method would make of them."""
    if np.ptp(source.X) == 0 if source.is_matrix else source.n_distinct < 2:
        what = "entries of the kernel matrix" if source.is_matrix else "rows"
        raise all_the_same(what, tuple(source.X.shape))


def all_the_same(what: str, shape: tuple[int, ...]) -> ValueError:
    """What is wrong with rows of which nothing can be learned."""
    return ValueError(
        f"X has zero variance: all its {what} are the same (shape {shape}), "
        "and nothing tells one row from another. Check where the columns come from."
    )


def check_variance(sample: Combined, n_features: int | None) -> None:
    """Refuse a kernel that takes one value on all rows: there is nothing to learn from."""
    check_spread(sample.kernel, sample.trace / sample.n, sample.mean_diagonal, n_features)


def check_spread(
    kernel: Kernel, variance: float, mean_diagonal: float, n_features: int | None
) -> None:
    """Refuse a kernel whose variance is rounding or not a number."""
    if not (np.isfinite(variance) and np.isfinite(mean_diagonal)):
        raise ValueError(f"{kernel!r} gives values that are not finite on these rows.")
    if not has_variance(variance, mean_diagonal):
        raise ValueError(
            f"{kernel!r} has zero variance on these rows: all of them look the same to it "
            f"(n_features={n_features}). "
            "Check that X is not constant and that the kernel's width suits its scale."
        )
