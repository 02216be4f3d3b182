"""Kernels of several statistics, and statistics that several kernels share.

``SharedStatistics`` holds the distances and dot products of one pair
(X, X_ref) of sets of rows; each is computed when first asked for, and all
kernels on these rows are taken from them: one matrix product and one table of
L1 distances serve every family and every width.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import Kernel, ProfileKernel, check_resolved, mirror_panel
from kernel_learn.kernels.rules import MEDIAN_ROWS, weighted_median
from kernel_learn.rows.access import dense, is_sparse, n_rows, row_blocks
from kernel_learn.rows.coerce import as_vectors

SharedName = Literal[
    "dot", "sqeuclidean", "euclidean", "manhattan", "mismatches", "gower", "gower2"
]
# Rows with fewer entries than this share are compared entry by entry: the L1
# distances of 420 texts over 7454 words took 4 s as dense rows, 0.5 s as sparse ones.
SPARSE_SHARE = 0.1


class SharedStatistics:
    """s(x_i, y_j) for all pairs of rows, one matrix per statistic asked for.

    ``categorical`` are the positions of columns that hold codes; they count
    in ``"mismatches"`` (how many of them differ) and in Gower's distances,

        gower = sum over numbers |x_c - y_c| + mismatches,
        gower2 = sum over numbers |x_c - y_c|^2 + mismatches,

    and in no other statistic. The squared distance is |x|^2 + |y|^2 - 2 x'y:
    for columns that are centred or bounded no digits are lost.

    Parameters
    ----------
    X : rows
        The one side.
    X_ref : rows, optional
        The other; None: X.
    categorical : sequence of int
        Positions of columns that hold codes.
    """

    def __init__(self, X: Rows, X_ref: Rows | None = None, categorical: Sequence[int] = ()) -> None:
        X = as_vectors(X)
        self.symmetric = X_ref is None
        X_ref = X if X_ref is None else as_vectors(X_ref)
        if X.shape[1] != X_ref.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns and X_ref has {X_ref.shape[1]}; "
                "a kernel compares rows of the same columns."
            )
        self.n_columns = int(X.shape[1])
        self.shape = (n_rows(X), n_rows(X_ref))
        self.codes, self.codes_ref = X[:, list(categorical)], X_ref[:, list(categorical)]
        numbers = np.setdiff1d(np.arange(self.n_columns), list(categorical))
        self.X = X if not len(categorical) else X[:, numbers]
        self.X_ref = X_ref if not len(categorical) else X_ref[:, numbers]
        self.x2 = pairwise.squared_norms(self.X)
        self.y2 = self.x2 if self.symmetric else pairwise.squared_norms(self.X_ref)
        self._matrices: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        """The matrix of a statistic, (n_rows, n_ref); it is shared and must not be changed."""
        if name not in self._matrices:
            self._matrices[name] = getattr(self, f"_{name}")()
        return self._matrices[name]

    def median(self, name: SharedName, weight: Array | None = None) -> float:
        """The median of a statistic of X with itself over all pairs, see ``pair_median``."""
        return pair_median(self[name], weight)

    def _dot(self) -> Array:
        if is_sparse(self.X) or is_sparse(self.X_ref):
            return np.asarray(dense(self.X @ self.X_ref.T), dtype=np.float64)
        return np.asarray(self.X @ self.X_ref.T, dtype=np.float64)

    def _sqeuclidean(self) -> Array:
        if self.symmetric or "dot" in self._matrices or is_sparse(self.X) or is_sparse(self.X_ref):
            D = -2.0 * self["dot"]
        else:  # the same to the bit, without a pass over all pairs
            D = np.asarray((-2.0 * self.X) @ self.X_ref.T, dtype=np.float64)
        D += self.x2[:, None]
        D += self.y2
        np.maximum(D, 0.0, out=D)
        if self.symmetric:
            np.fill_diagonal(D, 0.0)
        return D

    def _euclidean(self) -> Array:
        """Roots; of small rests of |x|^2 + |y|^2, which have lost digits, from differences."""
        D = self["sqeuclidean"].copy()
        if self.symmetric:  # zero on the diagonal: without it few rows are near another
            np.fill_diagonal(D, np.inf)
        least = 1e-6 * (self.x2 + self.y2.max(initial=0.0))
        near = np.flatnonzero(least > D.min(axis=1, initial=np.inf))
        i, j = np.nonzero(1e-6 * (self.x2[near, None] + self.y2) > D[near])
        i = near[i]
        D[i, j] = pairwise.squared_differences(self.X, self.X_ref, i, j)
        if self.symmetric:
            np.fill_diagonal(D, 0.0)
        return np.asarray(np.sqrt(D, out=D))

    def _manhattan(self) -> Array:
        A, B = _fewer_entries(self.X), _fewer_entries(self.X_ref)
        if is_sparse(A) or is_sparse(B):
            D = np.empty(self.shape)
            everything = (slice(0, self.shape[0]), slice(0, self.shape[1]))
            pairwise.Manhattan(A, B).block(*everything, D)
        elif self.symmetric:
            D = np.asarray(squareform(pdist(A, "cityblock")))
        else:
            D = np.asarray(cdist(A, B, "cityblock"))
        return D

    def _mismatches(self) -> Array:
        if not self.codes.shape[1]:
            return np.zeros(self.shape)
        shares = cdist(self.codes, self.codes_ref, "hamming")
        return np.asarray(shares * self.codes.shape[1])

    def _gower(self) -> Array:
        return self["manhattan"] + self._mismatches() if self.codes.size else self["manhattan"]

    def _gower2(self) -> Array:
        return self["sqeuclidean"] + self._mismatches() if self.codes.size else self["sqeuclidean"]


class StatisticsKernel(Kernel):
    """A kernel of one or several statistics of the pair and of the rows' lengths.

    To write one, give ``combine``; ``__call__`` applies it to panels of rows,
    and ``evaluate_shared`` to statistics that other kernels use too.
    """

    @abstractmethod
    def combine(self, S: SharedStatistics) -> Array:
        """Kernel values (n_rows, n_ref) in a new matrix; S is left as it is."""

    def encode(self, X: Rows, X_ref: Rows | None) -> tuple[Rows, Rows | None, Sequence[int]]:
        """Both sides as rows of numbers, and the positions of the columns that hold codes."""
        return X, X_ref, ()

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        check_resolved(self)
        dtype = pairwise.result_dtype(X, X if X_ref is None else X_ref)
        X, X_ref, categorical = self.encode(X, X_ref)
        X, symmetric = as_vectors(X), X_ref is None
        X_ref = X if X_ref is None else X_ref
        n, n_ref = n_rows(X), n_rows(X_ref)
        K = np.empty((n, n_ref))
        for rows in row_blocks(n, pairwise.PANEL_ROWS):
            columns = slice(0, rows.stop if symmetric else n_ref)
            K[rows, columns] = self.combine(SharedStatistics(X[rows], X_ref[columns], categorical))
            if symmetric:
                mirror_panel(K, rows)
        return K.astype(dtype, copy=False)


def evaluate_shared(kernel: Kernel, S: SharedStatistics) -> Array:
    """k(X, X_ref) of the statistics' rows, in a new matrix.

    Parameters
    ----------
    kernel : Kernel
        Without open rules.
    S : SharedStatistics
        Of the rows.
    """
    check_resolved(kernel)
    if isinstance(kernel, StatisticsKernel):
        return kernel.combine(S)
    if isinstance(kernel, ProfileKernel) and hasattr(S, f"_{kernel.statistic}"):
        K = S[kernel.statistic] * kernel.scale
        kernel.profile(K)
        return K
    parts: Sequence[Kernel] = getattr(kernel, "kernels", ())
    if parts and all(isinstance(part, StatisticsKernel | ProfileKernel) for part in parts):
        K = np.zeros(S.shape)
        for weight, part in zip(kernel.weights, parts, strict=True):
            K += weight * evaluate_shared(part, S)
        return K
    return kernel(S.X, None if S.symmetric else S.X_ref)


def pair_median(S: Array, weight: Array | None = None) -> float:
    """The median of S_ij over all pairs of rows, i = j included, pair weights w_i w_j.

    Of the first ``MEDIAN_ROWS`` rows; the mean where more than half of the
    pairs coincide, and 1 where all do.
    """
    S = S[:MEDIAN_ROWS, :MEDIAN_ROWS]
    w = np.ones(len(S)) if weight is None else weight[: len(S)]
    if np.all(w == w[0]):
        value = _median_of_pairs(S)
    else:
        low = np.tri(len(S), dtype=bool)
        pairs = np.where(np.eye(len(S), dtype=bool), 1.0, 2.0) * np.outer(w, w)
        value = weighted_median(S[low], pairs[low])
    if value <= 0:
        value = float(np.average(S, weights=np.outer(w, w)))
    return value if value > 0 else 1.0


def _median_of_pairs(S: Array) -> float:
    """np.median of a symmetric S; of distances from the half below the diagonal.

    In order, n x n distances are n zeros, then every pair twice.
    """
    n = len(S)
    if n < 2 or np.diagonal(S).any() or S.shape[1] != n:
        return float(np.median(S))
    pairs = S[np.tri(n, k=-1, dtype=bool)]
    places = [(k - n) // 2 for k in ((n * n - 1) // 2, n * n // 2) if k >= n]
    return float(np.sum(np.partition(pairs, places)[places]) / 2) if places else 0.0


def _fewer_entries(X: Rows) -> Any:
    """Wide rows of mostly zeros as CSR; others as they are."""
    if is_sparse(X) or X.shape[1] < 100:
        return X
    share = np.count_nonzero(X) / max(X.size, 1)
    return sparse.csr_matrix(X) if share < SPARSE_SHARE else X
