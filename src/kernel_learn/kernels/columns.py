"""A kernel on some of the columns."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_array

from kernel_learn.kernels.base import Array, InputKind, Kernel, Rows
from kernel_learn.kernels.resolve import as_kernel


class ColumnKernel(Kernel):
    """k applied to the columns ``columns`` of each row.

    ``columns`` is a name or a list of names (data frames), an index or a list
    of indices, or a slice (of positions, or of names as in ``df.loc``). Wraps
    any kernel, string kernels too: then it is one column.
    """

    input: ClassVar[InputKind] = "columns"

    def __init__(self, kernel: Any, columns: Any) -> None:
        self.kernel = kernel
        self.columns = columns

    @property
    def base(self) -> Kernel:
        """The wrapped kernel as an object (``kernel`` may be its name)."""
        return as_kernel(self.kernel)

    def select(self, X: Rows) -> Rows:
        """The rows that the wrapped kernel sees."""
        part = select_columns(X, self.columns)
        return as_rows(part, self.base.input, f"columns {self.columns!r}")

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        return self.base(self.select(X), None if X_ref is None else self.select(X_ref))

    def diag(self, X: Rows) -> Array:
        return self.base.diag(self.select(X))

    @property
    def is_resolved(self) -> bool:
        return self.base.is_resolved

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        kernel = self.base.resolve(self.select(X), sample_weight)
        return type(self)(kernel, self.columns)


def select_columns(X: Rows, columns: Any) -> Rows:
    """Columns of a frame, array or sparse matrix, always two-dimensional."""
    by_name = _holds_names(columns)
    if not isinstance(columns, slice):
        columns = np.ravel(columns).tolist()
    if by_name:
        _check_names(X, columns)
        return X.loc[:, columns]
    X = X if hasattr(X, "shape") else np.asarray(X)
    _check_positions(X, columns)
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def _holds_names(columns: Any) -> bool:
    if isinstance(columns, slice):
        return isinstance(columns.start, str) or isinstance(columns.stop, str)
    return any(isinstance(column, str) for column in np.ravel(columns))


def _check_names(X: Rows, columns: Any) -> None:
    if not hasattr(X, "iloc"):
        raise ValueError(
            f"ColumnKernel selects the columns {columns!r} by name, and X is a "
            f"{type(X).__name__} without column names. Pass a data frame, or positions."
        )
    ends = [columns.start, columns.stop] if isinstance(columns, slice) else columns
    missing = [name for name in ends if name is not None and name not in X.columns]
    if missing:
        raise ValueError(f"ColumnKernel: X has no columns {missing!r}; it has {list(X.columns)!r}.")


def _check_positions(X: Rows, columns: Any) -> None:
    try:
        np.arange(X.shape[1])[columns]
    except IndexError as error:
        raise ValueError(
            f"ColumnKernel selects the columns {columns!r}, and X has {X.shape[1]} columns."
        ) from error


def as_rows(X: Rows, kind: InputKind, where: str) -> Rows:
    """Selected columns as the kind of rows that a kernel takes."""
    if kind == "strings":
        values = np.asarray(X, dtype=object)
        if values.ndim == 2 and values.shape[1] != 1:
            raise ValueError(
                f"A string kernel takes one column, and {where} are {values.shape[1]}."
            )
        return values.ravel()
    if kind == "vectors":
        return check_array(
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_min_samples=0,
            input_name=where,
        )
    return X
