"""Rows of any form, asked the same questions: how many, which of them, dense or sparse."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.frames import Picked, frame_rows, is_frame


def is_sparse(X: Rows) -> bool:
    """Whether rows are a sparse matrix."""
    return bool(sparse.issparse(X))


def is_plain(X: Rows) -> bool:
    """Whether X is an array of numbers."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "fiub"


def n_rows(X: Rows) -> int:
    """The number of rows, of any form of them."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def n_columns(X: Rows) -> int:
    """The number of columns; one of rows that are strings or other objects."""
    return int(X.shape[1]) if len(getattr(X, "shape", ())) == 2 else 1


def take_rows(X: Rows, indices: Picked) -> Rows:
    """Rows of an array, sparse matrix, table, data frame or sequence."""
    if is_frame(X):
        return frame_rows(X, indices)
    return X[indices] if hasattr(X, "shape") else np.asarray(X, dtype=object)[indices]


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` rows that cover 0..n."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def dense(X: Rows) -> Array:
    """Rows as a dense array."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


def writeable(X: Rows) -> Array:
    """Dense rows, copied if they are read-only: compiled code may refuse to read such."""
    return np.require(dense(X), requirements="W")
