"""Pairwise statistics of rows, block by block: dot products and distances.

A statistic is built once for (X, X_ref) and then asked for blocks; what does
not depend on the block (centring, norms) is done once. ``X_ref=None`` means X
itself: then only blocks on and above the diagonal are listed, and the caller
mirrors them (half the products, and an exactly symmetric result).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances
from sklearn.preprocessing import normalize

Array = NDArray[Any]
Rows = Any
StatisticName = Literal["dot", "cosine", "sqeuclidean", "euclidean", "manhattan", "chi2"]

# One panel of a statistic, in numbers: 8 MB of float64. Smaller panels pay for
# repeated packing in GEMM, larger ones leave the cache before the profile has
# been applied (n = 4000: 32 rows 1.77x, 256 rows 1.94x the speed of rbf_kernel).
PANEL_SIZE = 2**20


class Statistic(ABC):
    """scale * s(x_i, y_j) for all pairs of rows."""

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        self.X, self.X_ref = X, X if X_ref is None else X_ref
        self.symmetric = X_ref is None
        self.scale = scale
        self.shape = (n_rows(self.X), n_rows(self.X_ref))
        self.dtype = result_dtype(self.X, self.X_ref)

    @abstractmethod
    def block(self, rows: slice, columns: slice, out: Array) -> None:
        """Write scale * s(x_i, y_j) for i in rows, j in columns into ``out``."""

    def panels(self) -> Iterator[tuple[slice, slice]]:
        """Panels of rows that cover all pairs (the upper triangle if symmetric)."""
        n, n_ref = self.shape
        for rows in row_blocks(n, max(1, PANEL_SIZE // max(n_ref, 1))):
            yield rows, slice(rows.start if self.symmetric else 0, n_ref)


class DotProduct(Statistic):
    """s(x, y) = x'y; sparse rows stay sparse."""

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        dot_product(self.X[rows], self.X_ref[columns], out)
        if self.scale != 1.0:
            out *= self.scale


class CosineSimilarity(DotProduct):
    """s(x, y) = x'y / (|x| |y|), zero where a row is zero."""

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(X, X_ref, scale)
        self.X = normalize(self.X)
        self.X_ref = self.X if self.symmetric else normalize(self.X_ref)


class SquaredEuclidean(Statistic):
    """s(x, y) = |x - y|^2 as one matrix product of augmented rows,

        scale |x - y|^2 = [-2 scale x, scale |x|^2, 1] . [y, 1, scale |y|^2].

    Dense columns are centred first, so that an offset in the data costs no
    digits. Rounding may leave -1e-16 |x|^2 where the distance is zero.
    ``sharpness`` is the largest gamma the block will be multiplied with: in
    float32 the products are taken in float64 if gamma |x|^2 is so large that
    the kernel value would lose more than 5e-7.
    """

    def __init__(
        self, X: Rows, X_ref: Rows | None, scale: float = 1.0, sharpness: float = 1.0
    ) -> None:
        super().__init__(X, X_ref, scale)
        X, X_ref = self.X, self.X_ref
        self.is_sparse = sparse.issparse(X) or sparse.issparse(X_ref)
        if not self.is_sparse:
            shift = np.mean(X_ref, axis=0, dtype=np.float64).astype(self.dtype)
            X = np.subtract(X, shift, dtype=self.dtype)
            X_ref = X if self.symmetric else np.subtract(X_ref, shift, dtype=self.dtype)
        x2 = squared_norms(X)
        y2 = x2 if self.symmetric else squared_norms(X_ref)
        largest = sharpness * (x2.max(initial=0.0) + y2.max(initial=0.0))
        exact = np.float32 if self.dtype == np.float32 and largest < 4.0 else np.float64
        self.x2, self.y2 = (scale * x2).astype(exact), (scale * y2).astype(exact)
        if self.is_sparse:
            self.A, self.B = X, X_ref
            return
        n, d = X.shape
        self.A = np.empty((n, d + 2), dtype=exact)
        np.multiply(X, -2.0 * scale, out=self.A[:, :d])
        self.A[:, d], self.A[:, d + 1] = self.x2, 1.0
        self.B = np.empty((d + 2, len(X_ref)), dtype=exact)
        self.B[:d], self.B[d], self.B[d + 1] = X_ref.T, 1.0, self.y2

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        if self.is_sparse:
            dot_product(self.A[rows], self.B[columns], out)
            out *= -2.0 * self.scale
            out += self.x2[rows, None]
            out += self.y2[columns]
        elif out.dtype == self.A.dtype:
            np.matmul(self.A[rows], self.B[:, columns], out=out)
        else:
            out[...] = self.A[rows] @ self.B[:, columns]
        if self.symmetric:
            np.fill_diagonal(out, 0.0)


class Euclidean(Statistic):
    """s(x, y) = |x - y|.

    The square root of a rounded zero is 1e-8 |x|, not zero; entries that small
    are taken again from the difference of the rows.
    """

    def __init__(self, X: Rows, X_ref: Rows | None, scale: float = 1.0) -> None:
        super().__init__(X, X_ref, scale)
        # in float64 throughout: a root doubles the relative error of small distances
        self.squared = SquaredEuclidean(X, X_ref, 1.0, sharpness=np.inf)

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        D2 = np.empty(out.shape)
        self.squared.block(rows, columns, D2)
        x2, y2 = self.squared.x2[rows], self.squared.y2[columns]
        i, j = np.nonzero(D2 < 1e-9 * (x2[:, None] + y2))
        D2[i, j] = self._exact(rows.start + i, columns.start + j)
        np.sqrt(D2, out=D2)
        np.multiply(D2, self.scale, out=out, casting="same_kind")

    def _exact(self, i: Array, j: Array) -> Array:
        result = np.empty(len(i))
        for part in row_blocks(len(i), 4096):
            difference = self.X[i[part]] - self.X_ref[j[part]]
            result[part] = squared_norms(difference)
        return result


class Manhattan(Statistic):
    """s(x, y) = sum_c |x_c - y_c|."""

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        A, B = self.X[rows], self.X_ref[columns]
        if sparse.issparse(A) or sparse.issparse(B):
            out[...] = manhattan_distances(_small_csr(A), _small_csr(B))
        else:
            out[...] = cdist(A, B, metric="cityblock")
        if self.scale != 1.0:
            out *= self.scale


class ChiSquaredDistance(Statistic):
    """s(x, y) = sum_c (x_c - y_c)^2 / (x_c + y_c), for non-negative rows."""

    def block(self, rows: slice, columns: slice, out: Array) -> None:
        A, B = dense(self.X[rows]), dense(self.X_ref[columns])
        np.multiply(additive_chi2_kernel(A, B), -self.scale, out=out, casting="same_kind")


def _small_csr(X: Rows) -> Rows:
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


def n_rows(X: Rows) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` rows that cover 0..n."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def result_dtype(X: Rows, X_ref: Rows) -> np.dtype[Any]:
    """float32 if both sides are, else float64."""
    both_single = X.dtype == np.float32 and X_ref.dtype == np.float32
    return np.dtype(np.float32 if both_single else np.float64)


def dot_product(A: Rows, B: Rows, out: Array) -> None:
    """out = A B', dense or sparse on either side."""
    if sparse.issparse(A) or sparse.issparse(B):
        product = A @ B.T
        out[...] = product.toarray() if sparse.issparse(product) else product
    else:
        np.matmul(A, B.T, out=out, casting="same_kind")


def squared_norms(X: Rows) -> Array:
    """|x_i|^2 in float64, (n_rows,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def dense(X: Rows) -> Array:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)

