"""Rows by content: keys that do not depend on where a row stands."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]
Rows = Any

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd: multiplying permutes 64-bit words


def row_keys(X: Rows) -> NDArray[np.uint64]:
    """A 64-bit key of each row's content; equal rows have equal keys.

    Choices that must not depend on the order of the rows (landmarks, pairs for
    a width rule) are made in the order of the keys, which is as good as random.
    """
    if hasattr(X, "iloc"):
        return _frame_keys(X)
    if sparse.issparse(X):
        return _sparse_keys(X)
    X = np.asarray(X)
    if X.dtype.kind in "OUS":
        return _object_keys(X)
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in range(X.shape[1]):
        keys = _mix(keys ^ _words(X[:, column]) ^ np.uint64(column))
    return keys


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = words * _MIX
    return words ^ (words >> np.uint64(29))


def _words(values: Array) -> NDArray[np.uint64]:
    # + 0.0 turns -0.0 into 0.0, which are equal numbers with different bits
    return _mix((values.astype(np.float64) + 0.0).view(np.uint64))


def _sparse_keys(X: Rows) -> NDArray[np.uint64]:
    """Sum over the stored non-zeros, so that their order within a row is free."""
    X = sparse.csr_matrix(X)
    terms = _mix(_words(X.data) ^ _mix(X.indices.astype(np.uint64)))
    terms[X.data == 0] = 0
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return _mix(total[X.indptr[1:]] - total[X.indptr[:-1]])


def _object_keys(X: Array) -> NDArray[np.uint64]:
    """Keys of strings: the order of their distinct values, mixed."""
    values, inverse = np.unique(X.reshape(len(X), -1)[:, 0].astype(str), return_inverse=True)
    return _mix(np.arange(1, len(values) + 1, dtype=np.uint64))[inverse]


def _frame_keys(X: Rows) -> NDArray[np.uint64]:
    from pandas.util import hash_pandas_object

    return np.asarray(hash_pandas_object(X, index=False), dtype=np.uint64)


def distinct_rows(X: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(first, inverse): one index per distinct row in key order, and each row's distinct row.

    ``X[first][inverse]`` equals X, up to the chance 2^-64 per pair that two
    different rows have one key.
    """
    _, first, inverse = np.unique(row_keys(X), return_index=True, return_inverse=True)
    return first, inverse
