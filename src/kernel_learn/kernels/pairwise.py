"""Pairwise statistics of rows, block by block: dot products and distances.

A statistic is built once for (X, X_ref) and then asked for blocks; what does
not depend on the block (centring, norms) is done once. ``X_ref=None`` means X
itself: then only blocks on and below the diagonal are listed, and the caller
mirrors them (half the products, and an exactly symmetric result).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import blas
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances
from sklearn.utils.extmath import safe_sparse_dot

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, writeable
from kernel_learn.rows.coerce import as_vectors

StatisticName = Literal["dot", "cosine", "sqeuclidean", "euclidean", "manhattan", "chi2"]

# One panel of a statistic, in numbers (8 MB of float64) and in rows. Smaller
# panels pay for repeated packing in GEMM; larger ones leave the cache before
# the profile has been applied, and waste more products above the diagonal.
PANEL_SIZE = 2**20
PANEL_ROWS = 192
# Columns for each stored entry of two rows, up to which sparse rows are compared as dense ones: a
# difference takes .5 ns there, and an entry 3 ns.
DENSE_COLUMNS = 6
SPARSE_PANEL_ROWS = 512  # a panel begins by transposing the other side
# From so many columns on a symmetric product is taken whole, by SYRK: panels pack the rows
# again and again. Its panels are only passed over.
WHOLE_COLUMNS, WHOLE_PANEL_ROWS = 128, 64

CLIP_ABOVE = 1e-12
# Squared lengths, times gamma, up to which distances of float32 rows are float32 products. Their
# rounding grows with the number of products added up, so it is so many at a time.
SINGLE_REACH, SINGLE_COLUMNS = 8.0, 128


class Statistic(ABC):
    """scale * s(x_i, y_j) for all pairs of rows.

    ``scale`` is the sharpest factor that a kernel puts on s; it says how many
    digits of s will be seen.
    """

    begun = False

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        self.X = as_vectors(X)
        self.X_ref = self.X if X_ref is None else as_vectors(X_ref)
        self.symmetric = X_ref is None
        self.scale = scale
        self.shape = (n_rows(self.X), n_rows(self.X_ref))
        self.dtype = result_dtype(self.X, self.X_ref)
        if self.X.shape[1] != self.X_ref.shape[1]:
            raise ValueError(
                f"X has {self.X.shape[1]} columns and X_ref has {self.X_ref.shape[1]}; "
                "a kernel compares rows of the same columns."
            )

    @abstractmethod
    def block(self, rows: slice, columns: slice, out: Array) -> None:
        """Write scale * s(x_i, y_j) for i in rows, j in columns into ``out``."""

    def begin(self) -> Array | None:
        """A new matrix whose panels ``block`` will finish, if that is faster than without it."""
        return None

    def panels(self) -> Iterator[tuple[slice, slice]]:
        """Panels of rows that cover all pairs (the lower triangle if symmetric).

        Of the lower triangle, because then a new matrix is first touched row
        by row: what the system has just cleared is still in the cache.
        """
        n, n_ref = self.shape
        most = WHOLE_PANEL_ROWS if self.begun else PANEL_ROWS
        most = SPARSE_PANEL_ROWS if is_sparse(self.X_ref) else most
        size = min(most, max(1, PANEL_SIZE // max(n_ref, 1)))
        for rows in row_blocks(n if n_ref else 0, size):
            yield rows, slice(0, rows.stop if self.symmetric else n_ref)


class DotProduct(Statistic):
    """s(x, y) = x'y; sparse rows stay sparse."""

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(X, X_ref, scale)
        self.A = self.X if scale == 1.0 else self.X * scale

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        dot_product(self.A[rows], self.X_ref[columns], out)


class CosineSimilarity(DotProduct):
    """s(x, y) = x'y / (|x| |y|), zero where a row is zero."""

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(unit_rows(X), None if X_ref is None else unit_rows(X_ref), scale)


class SquaredEuclidean(Statistic):
    """s(x, y) = |x - y|^2 as one matrix product; where there are few columns, of augmented rows,

        scale |x - y|^2 = [x, scale |x|^2, 1] . [-2 scale y, 1, scale |y|^2].

    Dense columns are centred first, so that an offset in the data costs no
    digits. Rounding may leave -1e-16 scale |x|^2 where the distance is zero; it is
    clipped where that could be seen.
    float32 rows are multiplied in float64 if scale |x|^2 is so large that
    exp(scale s) would lose more than 1e-6.
    """

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(X, X_ref, scale)
        self.has_sparse = is_sparse(self.X) or is_sparse(self.X_ref)
        self.is_wide = not self.has_sparse and self.X.shape[1] >= WHOLE_COLUMNS
        largest = self._center(self.dtype)
        if self.dtype == np.float32 and largest >= SINGLE_REACH:
            largest = self._center(np.dtype(np.float64))
        # where rounding of a zero distance would show in exp(scale s): 4.5 in place of 1 was seen
        self.clips = largest * float(np.finfo(self.x2.dtype).eps) > CLIP_ABOVE

    def _center(self, dtype: np.dtype[Any]) -> float:
        """A and B, the rows less one common row, with x2 and y2; the largest x2 + y2."""
        A, B = self.X, self.X_ref
        if self.has_sparse or not len(B):
            A, B = A.astype(dtype, copy=False), B.astype(dtype, copy=False)
        else:
            shift = np.mean(B, axis=0, dtype=np.float64).astype(dtype)
            A, B = np.subtract(A, shift, dtype=dtype), None if self.symmetric else B
            B = A if B is None else np.subtract(B, shift, dtype=dtype)
        x2 = squared_norms(A)
        y2 = x2 if self.symmetric else squared_norms(B)
        self.A, self.B = A, B
        self.x2: Array = (self.scale * x2).astype(dtype)
        self.y2: Array = (self.scale * y2).astype(dtype)
        largest = x2.max(initial=0.0) + y2.max(initial=0.0)
        if np.isinf(largest):
            raise ValueError(
                "The squared lengths of rows are infinite in floating point. Bring their columns "
                "to a common scale, with StandardScaler say."
            )
        return float(abs(self.scale) * largest)

    def begin(self) -> Array | None:
        if not (self.is_wide and len(self.A) and self.symmetric and self.dtype == self.x2.dtype):
            return None
        self.begun = True
        syrk = blas.dsyrk if self.dtype == np.float64 else blas.ssyrk
        # either order of the rows in memory, without a copy; the lower triangle of AA'
        by_columns = self.A.flags.f_contiguous
        side = self.A if by_columns else self.A.T
        return np.asarray(syrk(-2.0 * self.scale, side, trans=not by_columns).T)

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """The two sides of the one product; many columns are not copied to be augmented."""
        (n, d), exact = self.A.shape, self.x2.dtype
        if self.is_wide:
            return self.A, np.multiply(self.B.T, -2.0 * self.scale, dtype=exact)
        A, B = np.empty((n, d + 2), dtype=exact), np.empty((d + 2, len(self.B)), dtype=exact)
        A[:, :d], A[:, d], A[:, d + 1] = self.A, self.x2, 1.0
        np.multiply(self.B.T, -2.0 * self.scale, out=B[:d], casting="same_kind")
        B[d], B[d + 1] = 1.0, self.y2
        return A, B

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        S = out if out.dtype == self.x2.dtype else np.empty(out.shape, self.x2.dtype)
        if self.has_sparse:
            dot_product(self.A[rows], self.B[columns], S)
            S *= -2.0 * self.scale
        elif not self.begun:
            A, B = self.sides
            multiply_in_parts(A[rows], B[:, columns], S)
        if self.has_sparse or self.is_wide:
            S += self.x2[rows, None]
            S += self.y2[columns]
        if self.symmetric and columns.start == 0:
            np.fill_diagonal(S[:, rows], 0.0)
        if self.clips:
            (np.minimum if self.scale < 0 else np.maximum)(S, 0.0, out=S)
        if S is not out:
            out[...] = S


class Euclidean(Statistic):
    """s(x, y) = |x - y|.

    Where |x - y|^2 is a small rest of |x|^2 + |y|^2 its root has lost digits
    (of a rounded zero, half of them); such entries are taken again from the
    difference of the rows.
    """

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(X, X_ref, scale)
        # in float64 throughout: a root doubles the relative error of small distances
        X = self.X.astype(np.float64, copy=False)
        self.squared = SquaredEuclidean(
            X, None if X_ref is None else self.X_ref.astype(np.float64, copy=False)
        )

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        D2 = out if out.dtype == np.float64 else np.empty(out.shape)
        self.squared.block(rows, columns, D2)
        # elsewhere the root is off by at most eps |x|^2 / (1e-3 |x|) = 2e-13 |x|
        small = 1e-6 * (self.squared.x2[rows, None] + self.squared.y2[columns])
        i, j = np.nonzero(small > D2)
        D2[i, j] = squared_differences(
            self.squared.X, self.squared.X_ref, rows.start + i, columns.start + j
        )
        np.sqrt(D2, out=D2)
        np.multiply(D2, self.scale, out=out, casting="same_kind")


class Manhattan(Statistic):
    """s(x, y) = sum_c |x_c - y_c|."""

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        A, B = self.X[rows], self.X_ref[columns]
        if is_sparse(A) or is_sparse(B):
            D = _sparse_manhattan(_short_csr(A), _short_csr(B))
        else:
            D = cdist(A, B, metric="cityblock")
        np.multiply(D, self.scale, out=out, casting="same_kind")


class ChiSquaredDistance(Statistic):
    """s(x, y) = sum_c (x_c - y_c)^2 / (x_c + y_c), for non-negative rows."""

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        A, B = writeable(self.X[rows]), writeable(self.X_ref[columns])
        np.multiply(additive_chi2_kernel(A, B), -self.scale, out=out, casting="same_kind")


def _sparse_manhattan(A: Any, B: Any) -> Array:
    """Where the rows of A have few columns between them, |a - b| there and |b| everywhere else."""
    used = np.unique(A.indices)
    n_entries = A.nnz / max(A.shape[0], 1) + B.nnz / max(B.shape[0], 1)
    if len(used) > DENSE_COLUMNS * n_entries or not len(used):
        return np.asarray(manhattan_distances(A, B))
    others = np.ones(B.shape[1])
    others[used] = 0.0
    inside = cdist(A[:, used].toarray(), B[:, used].toarray(), metric="cityblock")
    return np.asarray(inside + abs(B) @ others)


def _short_csr(X: Rows) -> Rows:
    """CSR with 32-bit indices, the only ones that manhattan_distances takes."""
    X = sparse.csr_matrix(X)
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_matrix((X.data, indices, indptr), shape=X.shape)


STATISTICS: dict[StatisticName, type[Statistic]] = {
    "dot": DotProduct,
    "cosine": CosineSimilarity,
    "sqeuclidean": SquaredEuclidean,
    "euclidean": Euclidean,
    "manhattan": Manhattan,
    "chi2": ChiSquaredDistance,
}

# Copies of the rows that a statistic makes: centred and augmented ones, scaled ones.
ROW_COPIES: dict[StatisticName, float] = {
    "dot": 0.5,
    "cosine": 1.0,
    "sqeuclidean": 2.0,
    "euclidean": 3.0,
    "manhattan": 0.0,
    "chi2": 1.0,
}


def result_dtype(*sides: Rows) -> np.dtype[Any]:
    """float32 if all sides are, else float64."""
    single = all(getattr(X, "dtype", None) == np.float32 for X in sides)
    return np.dtype(np.float32 if single else np.float64)


def dot_product(A: Rows, B: Rows, out: Array) -> None:
    """out = A B', dense or sparse on either side."""
    if is_sparse(A) or is_sparse(B):
        # of two sparse matrices scikit-learn fills a dense product; SciPy builds a sparse one first
        out[...] = safe_sparse_dot(A, B.T, dense_output=True)
    else:
        np.matmul(A, B.T, out=out, casting="same_kind")


def multiply_in_parts(A: Array, B: Array, out: Array) -> None:
    """out = A B; in float32 some columns of A at a time, for the digits of the sums."""
    width = SINGLE_COLUMNS if A.dtype == np.float32 else max(1, A.shape[1])
    np.matmul(A[:, :width], B[:width], out=out)
    for start in range(width, A.shape[1], width):
        out += A[:, start : start + width] @ B[start : start + width]


def squared_norms(X: Rows) -> Array:
    """|x_i|^2 in float64, (n_rows,)."""
    if is_sparse(X):
        X = X.astype(np.float64, copy=False)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def squared_differences(X: Rows, X_ref: Rows, i: Array, j: Array) -> Array:
    """|x_i - y_j|^2 for pairs of indices, from the differences of the rows."""
    D2 = np.empty(len(i))
    for part in row_blocks(len(i), 4096):
        D2[part] = squared_norms(X[i[part]] - X_ref[j[part]])
    return D2


def unit_rows(X: Rows) -> Rows:
    """x / |x|; a row of zeros stays as it is."""
    X = as_vectors(X)
    norms = np.sqrt(squared_norms(X))
    inverse = (1.0 / np.where(norms > 0, norms, 1.0)).astype(X.dtype)
    return X.multiply(inverse[:, None]).tocsr() if is_sparse(X) else X * inverse[:, None]


def to_double(X: Rows) -> Rows:
    """float32 rows as float64; everything else as it is."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
