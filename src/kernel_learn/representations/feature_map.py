"""Landmark feature maps z(x) of one kernel or several."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import blas, lapack

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.bank import Combination, StackedSubspaceKernel, evaluate_bank
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.linalg import eigh_positive, rounding
from kernel_learn.representations.moments import Moments
from kernel_learn.rows.access import n_rows, row_blocks, take_rows
from kernel_learn.rows.block import Block
from kernel_learn.rows.keys import row_keys

# Eigenvalues of the landmarks' kernel matrix below this share of the largest are cut
# where rows are float32: its entries are float64, so it is their rounding in k(x, landmarks)
# that 1/sqrt of an eigenvalue magnifies. A cut at n eps of float32 kept half of the
# features on covtype, and cost 2.5 points of error.
SINGLE_CUT = 1e-8
# Below this condition number the inverse of a Cholesky factor whitens as well as eigenvectors do.
WELL_CONDITIONED = 1e6


class TargetSource(Protocol):
    """Rows in blocks, with labels that can be turned into targets."""

    def blocks(self, rows: int) -> Iterator[Block]:
        """Rows, labels and weights, at most ``rows`` at a time."""

    def targets(self, labels: Array) -> Array:
        """Labels as columns of numbers."""


class FeatureMap:
    """z_i(x) = T_i'k_i(x, landmarks) with T_i'K_i T_i = I for K_i = K_i(landmarks, landmarks).

    T_i is R^{-1} of K_i = R'R, a triangle and half the products, where K_i is well conditioned,
    else U w^{-1/2} of K_i = U w U'. Then z_i(x)'z_i(y) is the Nystroem approximation of
    k_i(x, y), exact if x or y lies in the span of the landmarks. Eigenvalues that are rounding
    are cut: 1/sqrt of them would be noise. ``None`` in the place of T_i stands for the
    identity (landmarks orthonormal already). ``residual`` is the share of the
    trace of the (summed) kernel matrix that the landmarks leave out, if the rule
    that chose them measured it.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        landmarks: Rows,  # (n_landmarks, ...)
        whiten: Sequence[Array | None],  # (n_landmarks, M_i) each
        residual: float | None = None,
    ) -> None:
        self.kernels = list(kernels)
        self.landmarks = landmarks
        self.whiten = list(whiten)
        self.residual = residual
        self.triangular = [W is not None and is_triangular(W) for W in self.whiten]

    @classmethod
    def whitened(
        cls,
        kernels: Sequence[Kernel],
        landmarks: Rows,
        landmark_rows: Rows | None = None,
        residual: float | None = None,
    ) -> "FeatureMap":
        """The map whose T_i whiten the landmarks' kernel matrices.

        ``landmark_rows`` are the landmarks as rows that the kernels can be
        evaluated on, if they are kept in another form (precomputed kernels).
        """
        rows = landmarks if landmark_rows is None else landmark_rows
        reference = to_double(landmarks) if kernels[0].input == "matrix" else None
        whiten: list[Array | None] = [None] * len(kernels)
        for i, K in evaluate_bank(kernels, to_double(rows), reference):
            dtype = getattr(rows, "dtype", None)
            W = triangular_whitening(K, dtype)
            whiten[i] = whitening(K, dtype)[1] if W is None else W
        return cls(kernels, landmarks, whiten, residual)

    @classmethod
    def combined(
        cls,
        kernel: Kernel,
        landmarks: Rows,
        J: Array,  # (n_landmarks, r)
        landmark_rows: Rows | None = None,
    ) -> "FeatureMap":
        """The whitened map of the r combinations J'phi: W = J U w^{-1/2}, J'KJ = U w U'."""
        rows = to_double(landmarks if landmark_rows is None else landmark_rows)
        K_J = np.empty(J.shape)
        for part in row_blocks(n_rows(rows), max(1, 2**20 // len(J))):
            K_J[part] = kernel(take_rows(rows, part), to_double(landmarks)) @ J
        JT_K_J = J.T @ K_J
        w, U = eigh_positive((JT_K_J + JT_K_J.T) / 2, cut=rounding(len(J), 1.0))
        return cls([kernel], landmarks, [J @ (U / np.sqrt(w))])

    @property
    def sizes(self) -> list[int]:
        """M_i of each kernel."""
        count = n_rows(self.landmarks)
        return [count if W is None else int(W.shape[1]) for W in self.whiten]

    @property
    def dimension(self) -> int:
        """M, the number of features of all kernels together."""
        return sum(self.sizes)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Of the features: that of W."""
        W = self.whiten[0]
        return np.dtype(np.float64) if W is None else W.dtype

    def equals(self, other: "FeatureMap | None") -> bool:
        """Whether both give the same features to every row."""
        if self is other or other is None:
            return self is other
        return (
            repr(self.kernels) == repr(other.kernels)
            and np.array_equal(row_keys(self.landmarks), row_keys(other.landmarks))
            and all(same_array(T, S) for T, S in zip(self.whiten, other.whiten, strict=True))
        )

    def parts(self, X: Rows) -> list[Array]:
        """[Z_1 ... Z_p]; kernels of one distance share it."""
        Ks = dict(evaluate_bank(self.kernels, X, self.landmarks))
        return [self._whitened(i, Ks.pop(i)) for i in range(len(self.kernels))]

    def _whitened(self, i: int, K: Array) -> Array:
        """K T_i."""
        W = self.whiten[i]
        if W is None or not self.triangular[i] or K.dtype != W.dtype:
            return K if W is None else K @ W
        trmm = blas.strmm if W.dtype == np.float32 else blas.dtrmm
        return np.asarray(trmm(1.0, W.T, K.T, lower=1).T)  # arrays of C are transposed ones there

    def __call__(self, X: Rows) -> Array:
        """Z = [Z_1 ... Z_p], (n_rows, M)."""
        Zs = self.parts(X)
        return Zs[0] if len(Zs) == 1 else np.hstack(Zs)

    def block_moments(
        self,
        X: Rows,
        T: Array,
        weight: Array | None = None,
        held: list[Array] | None = None,  # takes z, if given
    ) -> Moments:
        """Moments of [z(x), t] over some rows; z is written where it is needed."""
        M = self.dimension
        V = np.empty((n_rows(X), M + T.shape[1]), dtype=self.dtype)
        V[:, M:] = T
        ends = np.cumsum(self.sizes)
        with np.errstate(over="ignore", invalid="ignore"):  # values are looked at in their sums
            for i, K in evaluate_bank(self.kernels, X, self.landmarks):
                part, own = V[:, ends[i] - self.sizes[i] : ends[i]], self.whiten[i]
                if own is None or self.triangular[i]:
                    part[:] = self._whitened(i, K)
                else:
                    np.matmul(K, own, out=part, casting="same_kind")
            if held is not None:
                held.append(V[:, :M].copy())
            return Moments.of_joint(V, M, weight)

    def moments(
        self,
        source: TargetSource,
        block_rows: int,
        held: list[Array] | None = None,  # takes z of each block, if given
    ) -> Moments:
        """Moments of [z(x), t] over all rows, one pass in blocks."""
        return merge_all(
            self.block_moments(X, source.targets(labels), weight, held)
            for X, labels, weight in source.blocks(block_rows)
        )

    def expand(self, V: Array, mean: Array, weights: Array | None = None) -> SubspaceKernel:
        """The features V'(z(x) - mean) on any rows, z = [weights_i^{1/2} z_i(x)].

        Kernels of weight zero have no rows in V and ``mean``.
        """
        theta = np.ones(len(self.kernels)) if weights is None else weights
        active = [int(i) for i in np.flatnonzero(theta)]
        kernels = [self.kernels[i] for i in active]
        ends = np.cumsum([self.sizes[i] for i in active])[:-1]
        coefs = [
            V_i if W is None else W @ V_i
            for W, V_i in zip([self.whiten[i] for i in active], np.split(V, ends), strict=True)
        ]
        offset = (mean @ V).astype(self.dtype)
        if len(self.kernels) == 1:
            return SubspaceKernel(kernels[0], self.landmarks, coefs[0].astype(self.dtype), offset)
        coefs = [np.sqrt(theta[i]) * coef for i, coef in zip(active, coefs, strict=True)]
        coef = np.concatenate(coefs).astype(self.dtype)
        return StackedSubspaceKernel(
            Combination(kernels, theta[active]), self.landmarks, coef, offset
        )


def same_array(A: Array | None, B: Array | None) -> bool:
    """Whether both are None or equal."""
    return A is B or (A is not None and B is not None and np.array_equal(A, B))


def is_triangular(W: Array) -> bool:
    """Whether nothing stands below the diagonal."""
    return W.shape[0] == W.shape[1] and not np.tril(W, -1).any()


def triangular_whitening(K: Array, dtype: DTypeLike | None) -> Array | None:
    """R^{-1} of a kernel matrix K = R'R; None if it is not well conditioned."""
    K = (K.astype(np.float64, copy=False) + K.T) / 2
    R, failed = lapack.dpotrf(K, lower=0, clean=1)
    if failed or lapack.dpocon(R, np.abs(K).sum(axis=0).max())[0] * WELL_CONDITIONED < 1:
        return None
    W, failed = lapack.dtrtri(R, lower=0, overwrite_c=1)
    return np.ascontiguousarray(W, dtype=np.float32 if dtype == np.float32 else np.float64)


def whitening(K: Array, dtype: DTypeLike | None) -> tuple[Array, Array]:
    """(w, W): eigenvalues of a kernel matrix above the cut, and W = U w^{-1/2}."""
    single = dtype == np.float32
    K = K.astype(np.float64, copy=False)
    K += K.T.copy()
    K /= 2
    w, U = eigh_positive(K, cut=SINGLE_CUT if single else rounding(len(K), 1.0))
    return w, (U / np.sqrt(w)).astype(np.float32 if single else np.float64)


def merge_all(moments: Iterable[Moments]) -> Moments:
    """The moments of all blocks."""
    return reduce(Moments.merge, moments)
