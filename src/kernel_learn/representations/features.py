"""Landmark feature maps z(x) = T'k(x, landmarks), and a sample seen through one."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import numpy as np

from kernel_learn.kernels.bank import Combination, evaluate_bank
from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows, row_blocks
from kernel_learn.kernels.subspace import StackedSubspaceKernel, SubspaceKernel
from kernel_learn.representations.base import (
    Array,
    Representation,
    Rows,
    SpectralBlock,
    Spectrum,
)
from kernel_learn.representations.gram import to_double
from kernel_learn.representations.linalg import eigh_positive, rounding, solve_shifted
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.sources import Sample, iterate_blocks


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
        weight = np.ones(n_rows(X)) if weight is None else weight
        return merge_all(
            Moments.of(self(X_block), T_block, weight_block)
            for X_block, T_block, weight_block in iterate_blocks(X, T, weight, block_rows)
        )

    def expand(self, V: Array, mean: Array) -> SubspaceKernel:
        """The features V'(z(x) - mean) on any rows."""
        coef = V if self.T is None else self.T @ V
        dtype = np.float64 if self.T is None else self.T.dtype
        return SubspaceKernel(
            self.kernel, self.landmarks, coef.astype(dtype), (mean @ V).astype(dtype)
        )


class StackedFeatures(Features):
    """z(x) = [weights_i^{1/2} z_i(x)] over kernels with common landmarks: z'z ~ sum weights_i k_i.

    More than the landmarks of the combined kernel can express: each kernel has
    features of its own. Kernels of weight zero are left out.
    """

    def __init__(self, parts: Sequence[Features], weights: Array) -> None:
        active = [int(i) for i in np.flatnonzero(weights)]
        self.parts = [parts[i] for i in active]
        self.roots = np.sqrt(weights[active])
        kernel = Combination([part.kernel for part in self.parts], weights[active])
        super().__init__(kernel, parts[0].landmarks, None)

    @property
    def size(self) -> int:
        return sum(n_features(part) for part in self.parts)

    def __call__(self, X: Rows) -> Array:
        Zs = evaluate_features(self.parts, X)
        return np.hstack([root * Z for root, Z in zip(self.roots, Zs, strict=True)])

    def expand(self, V: Array, mean: Array) -> SubspaceKernel:
        ends = np.cumsum([n_features(part) for part in self.parts])[:-1]
        coefs = [
            root * (V_i if part.T is None else part.T @ V_i)
            for part, root, V_i in zip(self.parts, self.roots, np.split(V, ends), strict=True)
        ]
        T = self.parts[0].T
        dtype = np.float64 if T is None else T.dtype
        coef = np.concatenate(coefs).astype(dtype)
        return StackedSubspaceKernel(self.kernel, self.landmarks, coef, (mean @ V).astype(dtype))


def n_features(features: Features) -> int:
    return n_rows(features.landmarks) if features.T is None else int(features.T.shape[1])


def evaluate_features(features: Sequence[Features], X: Rows) -> list[Array]:
    """z_i(x) of kernels with common landmarks, which share their distances."""
    Ks = dict(evaluate_bank([part.kernel for part in features], X, features[0].landmarks))
    return [Ks[i] if part.T is None else Ks[i] @ part.T for i, part in enumerate(features)]


class FeatureSample(Representation):
    """operator C = Z'PZ, targets S = Z'PT: the sample's moments under a feature map."""

    def __init__(
        self,
        features: Features,
        moments: Moments,
        *,
        center: bool = True,
        sample: Sample | None = None,  # the rows, for what needs a second pass
        block_rows: int = 1000,
    ) -> None:
        self.sample, self.block_rows = sample, block_rows
        self.features = features
        self.kernel = features.kernel
        self.residual = features.residual
        self.moments = moments
        self.n = moments.n
        m, t = moments.feature_mean, moments.target_mean
        self.mean = m if center else np.zeros_like(m)
        self.operator = moments.C if center else moments.C + self.n * np.outer(m, m)
        self.targets = moments.S if center else moments.S + self.n * np.outer(m, t)
        self.mean_diagonal = float(np.trace(moments.C)) / self.n + float(m @ m)

    def pairing(self, A: Array, O_A: Array) -> Array:
        return A

    def inner(self, A: Array, B: Array) -> Array:
        return np.asarray(A.T @ B)

    def solve(self, lam: float, B: Array) -> Array:
        return solve_shifted(self.operator, lam, B)

    def spectrum(self) -> Spectrum:
        return Spectrum(*eigh_positive(self.operator))

    def spectral_inner(self, w: Array) -> Array:
        return np.ones_like(w)

    def spectral_rows(self, spectrum: Spectrum) -> Iterator[SpectralBlock]:
        assert self.sample is not None, "a second pass needs the rows"
        t = self.moments.target_mean
        for X, T, weight in iterate_blocks(*self.sample.merged(), self.block_rows):
            root = np.sqrt(weight)[:, None]
            A = root * ((self.features(X) - self.mean) @ spectrum.U)
            yield A, root * (T - t), weight / self.n

    def expand(self, B: Array) -> SubspaceKernel:
        return self.features.expand(B, self.mean)


def merge_all(moments: Iterable[Moments]) -> Moments:
    return reduce(Moments.merge, moments)
