"""Landmark feature maps z(x) = T'k(x, landmarks), and a sample seen through one."""

from collections.abc import Iterable
from functools import reduce

import numpy as np

from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows, row_blocks
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.base import Array, Representation, Rows, Spectrum
from kernel_learn.representations.gram import to_double
from kernel_learn.representations.linalg import eigh_positive, rounding, solve_shifted
from kernel_learn.representations.moments import Moments


class Features:
    """z(x) = T'k(x, landmarks) with T = U w^{-1/2} of K(landmarks, landmarks) = U w U'.

    Then z(x)'z(y) is the Nystroem approximation of k(x, y), exact if x or y
    lies in the span of the landmarks. Eigenvalues below n eps of the dtype of
    the rows are cut: they are rounding, and 1/sqrt of them would be noise.
    ``T=None`` stands for the identity (landmarks orthonormal already).
    ``residual`` is the share of the trace of the kernel matrix that the
    landmarks leave out, if the rule that chose them measured it.
    """

    def __init__(
        self,
        kernel: Kernel,
        landmarks: Rows,  # (n_landmarks, ...)
        T: Array | None,  # (n_landmarks, M)
        residual: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.T = T
        self.residual = residual

    @classmethod
    def whitened(
        cls,
        kernel: Kernel,
        landmarks: Rows,
        landmark_rows: Rows | None = None,
        residual: float | None = None,
    ) -> "Features":
        """The map whose T whitens the landmarks' kernel matrix.

        ``landmark_rows`` are the landmarks as rows that the kernel can be
        evaluated on, if they are kept in another form (precomputed kernels).
        """
        rows = landmarks if landmark_rows is None else landmark_rows
        K = kernel(to_double(rows), to_double(landmarks)).astype(np.float64, copy=False)
        dtype = np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64
        w, U = eigh_positive((K + K.T) / 2, cut=rounding(len(K), 1.0, dtype))
        return cls(kernel, landmarks, (U / np.sqrt(w)).astype(dtype), residual)

    @classmethod
    def combined(
        cls,
        kernel: Kernel,
        landmarks: Rows,
        J: Array,  # (n_landmarks, r)
        landmark_rows: Rows | None = None,
    ) -> "Features":
        """The whitened map of the r combinations J'phi: T = J U w^{-1/2}, J'KJ = U w U'."""
        rows = to_double(landmarks if landmark_rows is None else landmark_rows)
        K_J = np.empty(J.shape)
        for part in row_blocks(n_rows(rows), max(1, 2**23 // len(J))):
            K_J[part] = kernel(take_rows(rows, part), to_double(landmarks)) @ J
        JT_K_J = J.T @ K_J
        w, U = eigh_positive((JT_K_J + JT_K_J.T) / 2, cut=rounding(len(J), 1.0))
        return cls(kernel, landmarks, J @ (U / np.sqrt(w)))

    @property
    def dimension(self) -> int:
        """M."""
        return n_rows(self.landmarks) if self.T is None else int(self.T.shape[1])

    def __call__(self, X: Rows) -> Array:
        K = self.kernel(X, self.landmarks)
        return K if self.T is None else K @ self.T

    def moments(self, X: Rows, T: Array, weight: Array | None, block_rows: int) -> Moments:
        """Moments of [z(x), t] over the rows of X, one pass in blocks."""
        return merge_all(
            Moments.of(self(take_rows(X, rows)), T[rows], None if weight is None else weight[rows])
            for rows in row_blocks(n_rows(X), block_rows)
        )

    def expand(self, V: Array, mean: Array) -> SubspaceKernel:
        """The features V'(z(x) - mean) on any rows."""
        coef = V if self.T is None else self.T @ V
        dtype = np.float64 if self.T is None else self.T.dtype
        return SubspaceKernel(
            self.kernel, self.landmarks, coef.astype(dtype), (mean @ V).astype(dtype)
        )


class FeatureSample(Representation):
    """operator C = Z'PZ, targets S = Z'PT: the sample's moments under a feature map."""

    def __init__(self, features: Features, moments: Moments, *, center: bool = True) -> None:
        self.features = features
        self.kernel = features.kernel
        self.moments = moments
        self.n = moments.n
        m, t = moments.feature_mean, moments.target_mean
        self.mean = m if center else np.zeros_like(m)
        self.operator = moments.C if center else moments.C + self.n * np.outer(m, m)
        self.targets = moments.S if center else moments.S + self.n * np.outer(m, t)
        self.mean_diagonal = float(np.trace(moments.C)) / self.n + float(m @ m)

    def inner(self, A: Array, B: Array) -> Array:
        return np.asarray(A.T @ B)

    def solve(self, lam: float, B: Array) -> Array:
        return solve_shifted(self.operator, lam, B)

    def spectrum(self) -> Spectrum:
        return Spectrum(*eigh_positive(self.operator))

    def spectral_inner(self, w: Array) -> Array:
        return np.ones_like(w)

    def expand(self, B: Array) -> SubspaceKernel:
        return self.features.expand(B, self.mean)


def merge_all(moments: Iterable[Moments]) -> Moments:
    return reduce(Moments.merge, moments)
