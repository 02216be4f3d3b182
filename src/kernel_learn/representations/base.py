"""What criteria see of a sample, whatever it is made of and however many kernels there are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.bank import Combination
from kernel_learn.kernels.base import Kernel, check_kernel_values
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.linalg import eigh_positive, solve_shifted

# A variance below this share of the mean diagonal is what rounding leaves of a constant.
LEAST_VARIANCE = 1e-14


@dataclass(frozen=True)
class Eigenpairs:
    """operator = U diag(w) U' on its numerical range, w > 0 ascending."""

    w: Array  # (rank,)
    U: Array  # (m, rank)


SpectralBlock = tuple[Array, Array, Array]  # rows, targets, shares of the weight
UnitBlock = tuple[Array, Array, Array, Array]  # and the groups that they are of
UNIT_ROWS = 1024  # of whole groups at a time


class Combined(ABC):
    """A centred sample under one kernel as a symmetric operator and centred targets.

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
    target_mean: Array  # (r,), zero if the sample is not centred
    target_square: float  # the sum of the squares of the centred targets over all rows

    @property
    @abstractmethod
    def groups(self) -> Array | None:
        """Numbers of groups whose rows are left out together, (n_rows,); None: each row alone."""

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

    def solve(self, lam: float, B: Array) -> Array:
        """(operator + lam I)^{-1} B."""
        return solve_shifted(self.operator, lam, B)

    @property
    def is_decomposed(self) -> bool:
        """Whether ``spectrum`` is there already and costs nothing more."""
        return "spectrum" in self.__dict__

    @cached_property
    def spectrum(self) -> Eigenpairs:
        """The eigendecomposition of the operator, cut at rounding."""
        return Eigenpairs(*eigh_positive(self.operator))

    @abstractmethod
    def expand(self, B: Array) -> SubspaceKernel:
        """The features x -> B'(phi(x) - mean) of the directions B on any rows."""

    @abstractmethod
    def spectral_rows(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[SpectralBlock]:
        """Blocks of (A, T, share): centred rows A in the coordinates of U.

        Over all rows A'A = diag(w). A and the centred targets T carry the roots
        of the weights; ``share`` is each row's share of the total weight.
        Repeated rows are one row. ``at_most`` so many rows, those with the
        smallest keys, where they would have to be evaluated again.
        """

    @abstractmethod
    def spectral_units(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[UnitBlock]:
        """The same of whole groups, by the first key of each; about ``at_most`` rows."""

    def spectral_targets(self, spectrum: Eigenpairs) -> Array:
        """A'T over all rows, (rank, r)."""
        length = np.sqrt(self.spectral_inner(spectrum.w))[:, None]
        return np.asarray(length * (spectrum.U.T @ self.targets))

    @abstractmethod
    def spectral_inner(self, w: Array) -> Array:
        """Squared lengths in feature space of the eigenvectors U with eigenvalues w."""


class Resolvent(ABC):
    """Quantities of M = G(d) + shift I at one point, B = M^{-1} L.

    Index 0 of ``forms`` and ``hessian`` is the identity in the place of a
    kernel, 1..p are the kernels.
    """

    V: Array  # (r, r) L'M^{-1}L
    forms: Array  # (p + 1, r, r) B'B, then B'G_i B

    @abstractmethod
    def hessian(self, X: Array) -> Array:
        """2 tr(X B'G_i M^{-1} G_j B) for all i, j, (p + 1, p + 1); X is (r, r)."""


class Representation(ABC):
    """p >= 1 kernels on one sample.

    For learning weights every kernel is scaled so that its (centred) Gram matrix
    has trace n: a combination is a point d of the simplex {d >= 0, sum d = 1} and
    G(d) = sum_i d_i G_i has trace n too; ``weights(d)`` turns d into weights theta
    of the kernels as they were given, and ``at(theta)`` is the sample under
    sum_i theta_i k_i, without another pass over the rows. The two forms:

    - ``GramForm``: n x n matrices, kept as far as the memory budget allows;
    - ``MomentForm``: G_i = Z_i Z_i' from features of landmarks, so moments of
      Z = [Z_1 ... Z_p] suffice, cross-kernel blocks included, and n is gone.

    The label factor of the weights' criteria is L = targets @ mixing.
    """

    kernels: Sequence[Kernel]
    n: float  # sum of the sample weights
    traces: Array  # (p,) of the kernels as given, centred if the form is; 0: no variance
    LT_L: Array  # (r, r) inner products of the label factor
    again: Callable[[], "Representation"]  # the same anew, after ``release``

    @property
    def p(self) -> int:
        """The number of kernels."""
        return len(self.kernels)

    @property
    def alive(self) -> Array:
        """Which kernels tell rows apart at all."""
        return np.asarray(self.traces > 0)

    @property
    def scales(self) -> Array:
        """n / trace; 0 for a kernel without variance, which then adds nothing."""
        return np.where(self.alive, self.n / np.where(self.alive, self.traces, 1.0), 0.0)

    def theta_at(self, d: Array) -> Array:
        """Weights of the kernels as given, for the point d of the simplex."""
        return np.asarray(d * self.scales)

    def point(self, weights: Array) -> Array:
        """The point of the simplex for (relative) weights of the kernels as given."""
        shares = weights * np.where(self.alive, self.traces, 0.0)
        if not shares.sum() > 0:
            raise ValueError("weights give no weight to a kernel that tells the rows apart.")
        return np.asarray(shares / shares.sum())

    def uniform(self) -> Array:
        """The point at which every kernel has the same trace."""
        if not self.alive.any():
            raise ValueError(
                "Every kernel of the bank has zero variance on these rows (n_features may be 1 or "
                "X constant): all rows look the same to it."
            )
        return np.asarray(self.alive / self.alive.sum())

    def combination(self, theta: Array) -> Kernel:
        """sum_i theta_i k_i; one kernel as given is itself."""
        if self.p == 1 and theta[0] == 1.0:
            return self.kernels[0]
        return Combination(list(self.kernels), theta)

    @abstractmethod
    def at(self, theta: Array) -> Combined:
        """The sample under the kernel sum_i theta_i k_i."""

    @abstractmethod
    def resolvent(self, d: Array, shift: float) -> Resolvent:
        """M = G(d) + shift I, factorised. LinAlgError if that is not positive definite."""

    @abstractmethod
    def inner_products(self) -> Array:
        """<G_i, G_j>, (p, p)."""

    @abstractmethod
    def target_forms(self) -> Array:
        """L'G_i L, (p, r, r)."""

    @abstractmethod
    def centred(self) -> "Representation":
        """The same kernels centred, and nothing evaluated again; itself if it is."""

    @abstractmethod
    def release(self) -> None:
        """Give up what only the search for weights needed."""

    def _check_traces(self, traces: Array, mean_diagonals: Array, rows: Rows = None) -> Array:
        """Traces with zero in the place of rounding; refuses what is not finite."""
        for kernel, trace in zip(self.kernels, traces, strict=True):
            check_kernel_values(trace, kernel, rows)
        varies = [
            has_variance(trace / self.n, diagonal)
            for trace, diagonal in zip(traces, mean_diagonals, strict=True)
        ]
        return np.where(varies, traces, 0.0)


def has_variance(variance: float, mean_diagonal: float) -> bool:
    """Whether a variance is more than what rounding leaves of a constant kernel."""
    return bool(variance > 0 and variance > LEAST_VARIANCE * abs(mean_diagonal))
