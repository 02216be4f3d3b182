"""A kernel on some of the columns."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
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

    def select(self, X: Rows) -> Rows:
        """The rows that the wrapped kernel sees."""
        part = select_columns(X, self.columns)
        return as_rows(part, self._kernel().input, f"columns {self.columns!r}")

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        return self._kernel()(self.select(X), None if X_ref is None else self.select(X_ref))

    def diag(self, X: Rows) -> Array:
        return self._kernel().diag(self.select(X))

    @property
    def is_resolved(self) -> bool:
        return self._kernel().is_resolved

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        kernel = self._kernel().resolve(self.select(X), sample_weight)
        return type(self)(kernel, self.columns)

    def _kernel(self) -> Kernel:
        return as_kernel(self.kernel)


def select_columns(X: Rows, columns: Any) -> Rows:
    """Columns of a frame, array or sparse matrix, always two-dimensional."""
    named = _holds_names(columns)
    if isinstance(columns, slice):
        if hasattr(X, "iloc"):
            return X.loc[:, columns] if named else X.iloc[:, columns]
    elif np.ndim(columns) == 0:
        columns = [columns]
    if not hasattr(X, "iloc"):
        if named:
            raise ValueError(
                f"ColumnKernel selects the columns {columns!r} by name, and X is a "
                f"{type(X).__name__} without column names. Pass a data frame, or positions."
            )
        return X[:, columns]
    if not named:
        return X.iloc[:, columns]
    missing = [name for name in columns if name not in X.columns]
    if missing:
        raise ValueError(f"ColumnKernel: X has no columns {missing!r}; it has {list(X.columns)!r}.")
    return X[list(columns)]


def _holds_names(columns: Any) -> bool:
    if isinstance(columns, slice):
        return isinstance(columns.start, str) or isinstance(columns.stop, str)
    if isinstance(columns, str):
        return True
    return np.ndim(columns) == 1 and len(columns) > 0 and isinstance(next(iter(columns)), str)


def as_rows(X: Rows, kind: InputKind, where: str) -> Rows:
    """Selected columns as the kind of rows that a kernel takes."""
    if kind == "strings":
        values = np.asarray(X, dtype=object)
        if values.ndim == 2 and values.shape[1] != 1:
            raise ValueError(f"A string kernel takes one column, and {where} are {values.shape[1]}.")
        return values.ravel()
    if kind == "vectors":
        dtype = X.dtype if getattr(X, "dtype", None) in (np.float32, np.float64) else np.float64
        X = X.to_numpy() if hasattr(X, "iloc") else X
        if sparse.issparse(X) or X.dtype == dtype:
            return X
        return check_array(X, dtype=dtype, input_name=where)
    return X
