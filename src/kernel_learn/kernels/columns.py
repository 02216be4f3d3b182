"""A kernel on some of the columns."""

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, KernelLike, below
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.rows.check_rows import check_readable
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.frames import frame_columns, is_frame
from kernel_learn.rows.table import Table, column_names

Columns = str | int | slice | Sequence[str] | Sequence[int] | Array  # of a frame or an array


class ColumnKernel(Kernel):
    """k applied to the columns ``columns`` of each row.

    ``columns`` is a name or a list of names (data frames), an index or a list
    of indices, or a slice (of positions, or of names as in ``df.loc``). Wraps
    any kernel, string kernels too: then it is one column.

    Parameters
    ----------
    kernel : str or Kernel
        What is applied.
    columns : name, index, list of them, or slice
        To which columns.
    """

    input: ClassVar[InputKind] = "columns"

    def __init__(self, kernel: KernelLike, columns: Columns) -> None:
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

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        return self.base.rule_bytes(n, is_weighted)

    def numeric_columns(self, X: Rows) -> Array:
        own = np.arange(X.shape[1])[find_columns(X, self.columns)]
        return np.asarray(own[self.base.numeric_columns(select_columns(X, self.columns))])

    def distance_columns(self, X: Rows) -> list[Array]:
        own = np.arange(X.shape[1])[find_columns(X, self.columns)]
        return [own[part] for part in self.base.distance_columns(select_columns(X, self.columns))]

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        return self.base(self.select(X), None if X_ref is None else self.select(X_ref))

    def diag(self, X: Rows) -> Array:
        return self.base.diag(self.select(X))

    @property
    def takes_vectors(self) -> bool:
        return self.base.takes_vectors

    def reference_gradient(self, X: Rows, X_ref: Rows, A: Array) -> Array:
        gradient = np.zeros(X_ref.shape)
        own = find_columns(X_ref, self.columns)
        gradient[:, own] = self.base.reference_gradient(self.select(X), self.select(X_ref), A)
        return gradient

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        return below("kernel", self.base.log_parameters if isinstance(self.kernel, Kernel) else {})

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        return below("kernel", self.base.log_gradients(self.select(X)))

    @property
    def is_resolved(self) -> bool:
        return self.base.is_resolved

    @property
    def row_copies(self) -> float:  # type: ignore[override]
        return 1.0 + self.base.row_copies

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        return self.resolve_on(Pool.of(X, sample_weight))

    @property
    def pool_rows(self) -> int | None:  # type: ignore[override]
        """As many as the rules of its kernel look at."""
        return self.base.pool_rows

    def resolve_on(self, pool: Pool) -> Self:
        few, columns = pool.head(self.pool_rows), pool.columns
        if columns is not None:
            columns = columns.select(find_columns(pool.X, self.columns))
        part = Pool(self.select(few.rows), None, few.weight, columns, is_distinct=False)
        return type(self)(self.base.resolve_on(part), self.columns)


def select_columns(X: Rows, columns: Columns) -> Rows:
    """Columns of a table, frame, array or sparse matrix, always two-dimensional."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    found = find_columns(X, columns)
    if isinstance(X, Table):
        return X.select(found)
    return frame_columns(X, found) if is_frame(X) else X[:, found]


def find_columns(X: Rows, columns: Columns) -> list[int] | slice:
    """Positions of columns given by name or position: a list, or a slice."""
    if isinstance(columns, slice):
        return _find_slice(X, columns)
    given = as_array(columns, "columns of ColumnKernel") if _are_several(columns) else [columns]
    wanted: list[object] = np.ravel(np.asarray(given, dtype=object)).tolist()
    if any(isinstance(column, str) for column in wanted):
        names = column_names(X)
        _check_names(X, names, wanted)
        found = [names.index(str(name)) for name in wanted]
    else:
        found = _positions(X, wanted).tolist()
    twice = sorted({c for c in found if found.count(c) > 1})
    if not found or twice:
        what = f"the column {twice[0]} more than once" if twice else "no columns: 0 features"
        raise ValueError(
            f"ColumnKernel selects {what} (columns={columns!r}); name each column once, and at "
            "least one."
        )
    return found


def _are_several(columns: Columns) -> bool:
    return isinstance(columns, Sequence | np.ndarray) and not isinstance(columns, str)


def _find_slice(X: Rows, columns: slice) -> slice:
    if isinstance(columns.start, str) or isinstance(columns.stop, str):
        names = column_names(X)
        _check_names(X, names, columns)
        # both ends included, as in df.loc
        start = None if columns.start is None else names.index(columns.start)
        stop = None if columns.stop is None else names.index(columns.stop) + 1
        columns = slice(start, stop, columns.step)
    if not len(_positions(X, columns)):
        raise ValueError(
            f"ColumnKernel selects no columns: 0 features ({columns!r}) of {X.shape[1]}."
        )
    return columns


def _check_names(X: Rows, names: list[str], columns: list[object] | slice) -> None:
    if not names:
        raise ValueError(
            f"ColumnKernel selects the columns {columns!r} by name, and X is a "
            f"{'table' if isinstance(X, Table) else type(X).__name__} without column names. "
            "Pass a data frame, or positions."
        )
    ends = [columns.start, columns.stop] if isinstance(columns, slice) else columns
    missing = [name for name in ends if name is not None and name not in names]
    if missing:
        raise ValueError(f"ColumnKernel: X has no columns {missing!r}; it has {names!r}.")


def _positions(X: Rows, columns: list[object] | slice) -> Array:
    try:
        return np.asarray(np.arange(X.shape[1])[columns])  # type: ignore[index]
    except (IndexError, TypeError) as error:
        raise ValueError(
            f"ColumnKernel selects the columns {columns!r}, and X has {X.shape[1]} columns. Give "
            "names, whole numbers or a slice."
        ) from error


def as_rows(X: Rows, kind: InputKind, where: str) -> Rows:
    """Selected columns as the kind of rows that a kernel takes.

    A table was checked when it was made; what comes from elsewhere is checked here.
    """
    if kind == "strings":
        width = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 1
        if width != 1:
            raise ValueError(f"A string kernel takes one column, and there are {width} ({where}).")
        return X.texts() if isinstance(X, Table) else np.asarray(X, dtype=object).ravel()
    if kind == "vectors":
        if isinstance(X, Table):
            if not X.shape[1]:
                raise ValueError(f"Found array with 0 feature(s) in {where}.")
            return X.matrix()
        check_readable(X, where)
        return check_array(
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_min_samples=0,
            input_name=where,
        )
    return X
