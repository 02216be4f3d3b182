"""The exact, centred Gram matrix."""

from collections.abc import Iterator

import numpy as np

from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import n_rows, row_blocks
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.base import (
    Array,
    Representation,
    Rows,
    SpectralBlock,
    Spectrum,
)
from kernel_learn.representations.linalg import eigh_positive, solve_shifted


class Gram(Representation):
    """G = S^{1/2} P K P' S^{1/2} with S = diag(weight), P = I - 1 s' / (s'1).

    Targets are centred alike, L = S^{1/2} P T. With unit weights G = PKP and
    L = PT; a row of weight 2 gives what two rows give. At its peak it holds
    2 n^2 numbers: G, and the copy that is factorised.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,  # (n, ...)
        T: Array,  # (n, r)
        weight: Array | None = None,  # (n,)
        *,
        center: bool = True,
    ) -> None:
        self.kernel = kernel
        self.residual = 0.0
        self.landmarks = kernel.reference(X, np.arange(n_rows(X)))
        self.dtype = getattr(X, "dtype", None)
        self.weight = np.ones(n_rows(X)) if weight is None else np.asarray(weight, np.float64)
        self.center = center
        self.n = float(self.weight.sum())
        self.root_weight = np.sqrt(self.weight)
        # float64 throughout: G + lam I of a float32 matrix is not positive definite at lam ~ 1e-7
        K = kernel(to_double(X)).astype(np.float64, copy=False)
        self.mean_diagonal = float(self.weight @ np.diagonal(K)) / self.n
        self.kernel_mean = K @ (self.weight / self.n) if center else np.zeros(len(K))
        center_and_weigh(K, self.kernel_mean, self.weight, self.root_weight, center=center)
        self.operator = K
        T = T - (self.weight / self.n) @ T if center else T
        self.targets = self.root_weight[:, None] * T

    def pairing(self, A: Array, O_A: Array) -> Array:
        return O_A

    def inner(self, A: Array, B: Array) -> Array:
        return np.asarray((self.operator @ A).T @ B)

    def solve(self, lam: float, B: Array) -> Array:
        return solve_shifted(self.operator, lam, B)

    def spectrum(self) -> Spectrum:
        return Spectrum(*eigh_positive(self.operator))

    def spectral_inner(self, w: Array) -> Array:
        return w

    def spectral_rows(self, spectrum: Spectrum) -> Iterator[SpectralBlock]:
        yield spectrum.U * np.sqrt(spectrum.w), self.targets, self.weight / self.n

    def expand(self, B: Array) -> SubspaceKernel:
        """f(x) = sum_i b_i <phi(x) - m, root_i (phi(x_i) - m)>, with the means moved into b."""
        coef = self.root_weight[:, None] * B
        if self.center:
            coef = coef - np.outer(self.weight / self.n, coef.sum(axis=0))
        offset = self.kernel_mean @ coef
        dtype = np.float32 if self.dtype == np.float32 else np.float64
        return SubspaceKernel(self.kernel, self.landmarks, coef.astype(dtype), offset.astype(dtype))


def center_and_weigh(
    K: Array,  # (n, n), replaced
    mean: Array,  # (n,) K weight / n
    weight: Array,  # (n,)
    root: Array,  # (n,) S^{1/2}, or ones to centre alone
    *,
    center: bool = True,
) -> None:
    """K <- S^{1/2} P K P' S^{1/2} in place, a block of rows at a time."""
    column = mean - float(weight @ mean) / float(weight.sum())
    unit = bool(np.all(root == 1.0))
    for rows in row_blocks(len(K), 16):  # so few that the block is still in the cache
        if center:
            K[rows] -= mean[rows, None] + column
        if not unit:
            K[rows] *= root[rows, None]
            K[rows] *= root


def to_double(X: Rows) -> Rows:
    """float32 rows as float64; everything else as it is."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
