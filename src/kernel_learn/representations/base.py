"""What criteria see of a sample, whatever it is made of."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.subspace import SubspaceKernel

Array = NDArray[Any]
Rows = Any


@dataclass(frozen=True)
class Spectrum:
    """operator = U diag(w) U' on its numerical range, w > 0 ascending."""

    w: Array  # (rank,)
    U: Array  # (m, rank)


SpectralBlock = tuple[Array, Array, Array]  # rows, targets, shares of the weight


class Representation(ABC):
    """A centred sample as a symmetric operator and centred targets.

    Written in feature space with centred rows Phi (n, M), the two forms are

    - ``Gram``: operator G = Phi Phi' (n, n), targets L (n, r), a coefficient
      vector b stands for the direction Phi'b;
    - ``FeatureSample``: operator C = Phi'Phi (M, M), targets S = Phi'L (M, r),
      a coefficient vector b is the direction itself.

    For a function f of the operator, Phi' f(G) L = f(C) S: a criterion written
    with ``operator``, ``targets`` and ``inner`` gives the same directions in both.
    """

    kernel: Kernel
    n: float  # sum of the sample weights
    mean_diagonal: float  # weighted mean of k(x, x), before centring
    residual: float | None  # share of the kernel's trace that is left out, None if not measured
    operator: Array  # (m, m)
    targets: Array  # (m, r)

    @property
    def trace(self) -> float:
        """tr(G) = tr(C)."""
        return float(np.trace(self.operator))

    @abstractmethod
    def pairing(self, A: Array, O_A: Array) -> Array:
        """P with P'B = <A, B> in feature space for all directions B, given O_A = operator A."""

    @abstractmethod
    def inner(self, A: Array, B: Array) -> Array:
        """Inner products in feature space of the directions A and B."""

    @abstractmethod
    def solve(self, lam: float, B: Array) -> Array:
        """(operator + lam I)^{-1} B."""

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """The eigendecomposition of the operator, cut at rounding."""

    @abstractmethod
    def expand(self, B: Array) -> SubspaceKernel:
        """The features x -> B'(phi(x) - mean) of the directions B on any rows."""

    @abstractmethod
    def spectral_rows(self, spectrum: Spectrum) -> Iterator[SpectralBlock]:
        """Blocks of (A, T, share): centred rows A in the coordinates of U, with A'A = diag(w).

        A and the centred targets T carry the roots of the weights; ``share``
        is each row's share of the total weight. Repeated rows are one row.
        """

    def spectral_targets(self, spectrum: Spectrum) -> Array:
        """A'T over all rows, (rank, r)."""
        length = np.sqrt(self.spectral_inner(spectrum.w))[:, None]
        return np.asarray(length * (spectrum.U.T @ self.targets))

    @abstractmethod
    def spectral_inner(self, w: Array) -> Array:
        """Squared lengths in feature space of the eigenvectors U with eigenvalues w."""
