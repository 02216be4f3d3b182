"""Rows in the form that a kernel takes, every entry looked at once."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from kernel_learn.arrays import Array, Rows, RowsLike
from kernel_learn.kernels.bank import Combination
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.columns import ColumnKernel, as_rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.check_rows import (
    check_column_names,
    check_magnitude,
    check_not_flat,
    check_readable,
)
from kernel_learn.rows.codes import with_one_zero
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import Table

# The largest entry of a kernel matrix lies between this and its inverse.
MATRIX_RANGE = 1e-30


def validate_rows(
    estimator: BaseEstimator, kernel: Kernel, X: Rows, *, reset: bool, least: int | None = None
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
        is_read = is_frame(X) or isinstance(X, Table)
        X = X.tocsr() if is_sparse(X) else X if is_read else np.asarray(X)
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
    check_not_flat(X)
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


def as_views(X: RowsLike, count: int | None = None) -> list[Rows] | None:
    """The views if X is a list or tuple of 2-D arrays (``count`` of them); else None: X is rows.

    This is the rule wherever X may be views: in a bank of ``count`` kernels, one per
    view, and in KernelClassifier. Any other list is a list of rows.
    """
    if not isinstance(X, list | tuple) or not len(X) or count not in (None, len(X)):
        return None
    return list(X) if all(len(getattr(view, "shape", ())) == 2 for view in X) else None


def side_by_side(views: Sequence[Rows]) -> tuple[Rows, list[slice]]:
    """All views as one array, and the columns of each."""
    if len({view.shape[0] for view in views}) > 1:
        shapes = [tuple(view.shape) for view in views]
        raise ValueError(f"X is a list of arrays of the shapes {shapes}; they need the same rows.")
    ends = np.cumsum([0, *(view.shape[1] for view in views)]).tolist()
    spans = [slice(start, stop) for start, stop in pairwise(ends)]
    if any(is_sparse(view) for view in views):
        return sparse.hstack(views, format="csr"), spans
    return np.hstack([np.asarray(view) for view in views]), spans


def _like_views(kernel: Kernel, X: Rows) -> Rows:
    """New rows given as views, side by side; they need the views' columns of fit."""
    views = as_views(X, len(kernel.kernels)) if isinstance(kernel, Combination) else None
    if views is None:
        return X
    X, spans = side_by_side(views)
    members = kernel.kernels  # type: ignore[attr-defined]
    columns = [k.columns for k in members if isinstance(k, ColumnKernel)]
    known = [own for own in columns if isinstance(own, slice)]
    if len(known) == len(spans) and known != spans:
        raise ValueError(
            f"X is a list of views with {[view.shape[1] for view in views]} columns, and at fit "
            f"they had {[own.stop - own.start for own in known]}."
        )
    return X


def check_matrix_scale(K: Rows, *, fitting: bool) -> None:
    """Refuse a kernel matrix so small or large that products of its entries are lost."""
    top = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if top > 1 / MATRIX_RANGE or (fitting and 0 < top < MATRIX_RANGE):
        raise ValueError(
            f"The largest entry of the kernel matrix X is {top:.3g} in size, and products of such "
            "numbers are lost in floating point. Divide the matrix by the mean of its diagonal."
        )


def check_layers(estimator: BaseEstimator, X: Rows, *, reset: bool) -> None:
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


def _table(kernel: Kernel, X: Rows) -> Table:
    """Columns as arrays; those that must be numbers are numbers, and finite; others have one zero.

    So no row that is kept has -0.0 for a category, and in a file it is of an earlier version.
    """
    numeric = np.unique(kernel.numeric_columns(X)).astype(int)
    table = Table.of(X, numeric)
    used = table.numbers[:, table.place[numeric]] if len(numeric) < X.shape[1] else table.numbers
    names = numeric.tolist() if table.names is None else [table.names[c] for c in numeric]
    check_finite_columns(used, names)
    check_magnitude(used)
    return with_one_zero(table, np.setdiff1d(np.arange(X.shape[1]), numeric))


def check_finite_columns(numbers: Array, names: Sequence[str | int]) -> None:
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


def _not_finite(numbers: Rows) -> tuple[Array, Array, Array]:
    """Rows, columns and values of the entries that are not finite."""
    if is_sparse(numbers):
        entries = numbers.tocoo()
        off = ~np.isfinite(entries.data)
        return entries.row[off], entries.col[off], entries.data[off]
    rows, columns = np.nonzero(~np.isfinite(numbers))
    return rows, columns, numbers[rows, columns]
