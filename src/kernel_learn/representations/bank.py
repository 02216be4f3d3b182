"""A sample seen through several kernels at once: what learning their weights needs.

Every kernel is scaled so that its (centred) Gram matrix has trace n, so a
combination is a point d of the simplex {d >= 0, sum d = 1} and its Gram matrix
G(d) = sum_i d_i G_i has trace n too; ``weights(d)`` turns d into weights of the
kernels as they were given. With M = G(d) + shift I and B = M^{-1} L the two
forms answer the same questions:

- ``GramBank``: n x n matrices, cached as far as the memory budget allows;
- ``MomentBank``: G_i = Z_i Z_i' from features of landmarks, so moments of
  Z = [Z_1 ... Z_p] suffice, cross-kernel blocks included, and n is gone.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg.blas import daxpy

from kernel_learn.kernels.bank import Combination, evaluate_bank, rows_for
from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows, row_blocks
from kernel_learn.representations.base import Array, Rows
from kernel_learn.representations.features import (
    Features,
    StackedFeatures,
    evaluate_features,
    merge_all,
    n_features,
)
from kernel_learn.representations.gram import center_and_weigh, to_double
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import format_bytes, parse_memory

# Matrices that a step holds beside the cache: the sum that is factorised, the
# kernel matrix that is added to it, and the panels it is made from.
WORKING_MATRICES = 3


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


class KernelBank(ABC):
    """p kernels on one sample, each scaled to trace n."""

    kernels: Sequence[Kernel]
    n: float  # sum of the sample weights
    traces: Array  # (p,) of the kernels as given, centred if the bank is
    LT_L: Array  # (r, r) inner products of the targets

    @property
    def p(self) -> int:
        return len(self.kernels)

    @property
    def alive(self) -> Array:
        """Which kernels tell rows apart at all."""
        return np.asarray(self.traces > 0)

    @property
    def scales(self) -> Array:
        """n / trace; 0 for a kernel without variance, which then adds nothing."""
        return np.where(self.alive, self.n / np.where(self.alive, self.traces, 1.0), 0.0)

    def weights(self, d: Array) -> Array:
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

    @abstractmethod
    def resolvent(self, d: Array, shift: float) -> Resolvent:
        """M = G(d) + shift I, factorised. LinAlgError if that is not positive definite."""

    @abstractmethod
    def inner_products(self) -> Array:
        """<G_i, G_j>, (p, p)."""

    @abstractmethod
    def target_forms(self) -> Array:
        """L'G_i L, (p, r, r)."""


class GramBank(KernelBank):
    """Centred Gram matrices, evaluated when needed and kept while memory lasts.

    ``memory_budget`` less ``WORKING_MATRICES`` matrices is the cache; what does
    not fit is evaluated again at every use (a weighted sum of such kernels in
    one sweep over their shared distances). ``weigh_rows=False``: weights enter
    means and traces, and the rows of G stay as they are (machines weigh losses).
    ``scale=False`` leaves the kernels as they are: sum d = 1 on kernels as given.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Rows,  # (n, ...)
        L: Array,  # (n, r)
        weight: Array | None = None,  # (n,)
        *,
        center: bool = True,
        scale: bool = True,
        weigh_rows: bool = True,
        memory_budget: float | str | None = None,
    ) -> None:
        self.kernels = list(kernels)
        self.X = to_double(X)
        n = n_rows(X)
        self.weight = np.ones(n) if weight is None else np.asarray(weight, np.float64)
        self.n, self.center = float(self.weight.sum()), center
        self.root_weight = np.sqrt(self.weight) if weigh_rows else np.ones(n)
        L = L - (self.weight / self.n) @ L if center else L
        self.L = self.root_weight[:, None] * L
        self.LT_L = self.L.T @ self.L
        self._fill(cache_size(len(self.kernels), n, memory_budget))
        if not scale:
            self.traces = np.where(self.alive, self.n, 0.0)

    def _fill(self, n_cached: int) -> None:
        """Evaluate every kernel once, keep the first ``n_cached``, take traces of all."""
        self.cache: dict[int, Array] = {}
        self.traces = np.zeros(self.p)
        for i, K in evaluate_bank(self.kernels[:n_cached], self.X):
            self.cache[i] = self._centred(K, self.kernels[i])
            self.traces[i] = self._trace(self.cache[i], self.kernels[i])
        for i in range(n_cached, self.p):
            self.traces[i] = self._trace(self.gram(i), self.kernels[i])

    def _centred(self, K: Array, kernel: Kernel | None = None) -> Array:
        K = K.astype(np.float64, copy=False)
        mean = K @ (self.weight / self.n)
        if kernel is not None:
            self._diagonal = float(self.weight @ np.diagonal(K)) / self.n
        center_and_weigh(K, mean, self.weight, self.root_weight, center=self.center)
        return K

    def _trace(self, G: Array, kernel: Kernel) -> float:
        trace = float(np.diagonal(G) @ (self.weight / self.root_weight**2))
        if not np.isfinite(trace):
            raise ValueError(f"{kernel!r} gives values that are not finite on these rows.")
        # below that what centring leaves is rounding: the kernel is constant
        return trace if trace / self.n > 1e-14 * abs(self._diagonal) and trace > 0 else 0.0

    def gram(self, i: int) -> Array:
        """G_i of the kernel as given, (n, n); not to be written to."""
        if i in self.cache:
            return self.cache[i]
        kernel = self.kernels[i]
        return self._centred(kernel(rows_for(kernel, self.X)), kernel)

    def combine(self, d: Array) -> Array:
        """G(d), (n, n), a new array."""
        theta = self.weights(d)
        active = [int(i) for i in np.flatnonzero(theta)]
        missing = [i for i in active if i not in self.cache]
        if missing:
            K = Combination([self.kernels[i] for i in missing], theta[missing])(self.X)
            total = self._centred(K)
        else:
            total = np.zeros((len(self.L), len(self.L)))
        kept = [(theta[i], self.cache[i]) for i in active if i in self.cache]
        for rows in row_blocks(len(total), 32):  # the block of the sum stays in the cache
            block = total[rows].reshape(-1)
            for weight, G in kept:
                daxpy(G[rows].reshape(-1), block, a=weight)
        return total

    def products(self, B: Array) -> Array:
        """G_i B for all i, (p, n, r), each kernel scaled."""
        return np.stack([scale * (self.gram(i) @ B) for i, scale in enumerate(self.scales)])

    def resolvent(self, d: Array, shift: float) -> "GramResolvent":
        return GramResolvent(self, d, shift)

    def inner_products(self) -> Array:
        products = np.empty((self.p, self.p))
        for i in range(self.p):
            G_i = self.gram(i)
            for j in range(i, self.p):
                products[i, j] = products[j, i] = np.vdot(G_i, G_i if i == j else self.gram(j))
        return np.asarray(products * np.outer(self.scales, self.scales))

    def target_forms(self) -> Array:
        return np.asarray(self.L.T @ self.products(self.L))


class GramResolvent(Resolvent):
    """One Cholesky factorisation of M (n, n)."""

    def __init__(self, bank: GramBank, d: Array, shift: float) -> None:
        M = bank.combine(d)
        M[np.diag_indices(len(M))] += shift
        if bank.center:
            # M has the eigenvector root_weight with eigenvalue shift alone, and L is orthogonal
            # to it: lifting that eigenvalue changes nothing but the condition (theta_0 -> 0)
            u = bank.root_weight / np.sqrt(bank.n)
            for rows in row_blocks(len(M), 64):
                M[rows] += np.outer(u[rows], u)
        self.factor = linalg.cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
        self.B = self.solve(bank.L)
        self.V = bank.L.T @ self.B
        self.G_B = np.concatenate([self.B[None], bank.products(self.B)])  # (p + 1, n, r)
        self.forms = self.B.T @ self.G_B

    def solve(self, B: Array) -> Array:
        return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))

    def hessian(self, X: Array) -> Array:
        q, n, r = self.G_B.shape
        stacked = self.G_B.transpose(1, 0, 2).reshape(n, q * r)
        Minv_G_B = self.solve(stacked).reshape(n, q, r)
        left = (self.G_B @ X).transpose(0, 2, 1).reshape(q, r * n)
        right = Minv_G_B.transpose(1, 2, 0).reshape(q, r * n)
        return np.asarray(2.0 * left @ right.T)


class MomentBank(KernelBank):
    """C = Z'PZ and S = Z'PL for Z = [Z_1 ... Z_p], the features scaled to trace n each."""

    features: list[Features]

    def __init__(
        self,
        kernels: Sequence[Kernel],
        moments: Moments,
        blocks: Sequence[slice],  # the columns of each kernel
        mixing: Array,  # (q, r): L = T mixing
        *,
        scale: bool = True,
    ) -> None:
        self.kernels = list(kernels)
        self.blocks, self.n = list(blocks), moments.n
        diagonal = np.diagonal(moments.C)
        self.traces = np.array([float(diagonal[block].sum()) for block in blocks])
        raw = np.diagonal(moments.C) + self.n * moments.feature_mean**2
        for i, block in enumerate(blocks):
            if not np.isfinite(self.traces[i]):
                raise ValueError(f"{kernels[i]!r} gives values that are not finite on these rows.")
            if self.traces[i] <= 1e-14 * float(raw[block].sum()):
                self.traces[i] = 0.0
        if not scale:
            self.traces = np.where(self.alive, self.n, 0.0)
        root = np.sqrt(self.spread(self.scales))
        self.C = root[:, None] * moments.C * root
        self.S = root[:, None] * (moments.S @ mixing)
        self.LT_L = mixing.T @ moments.R @ mixing

    @classmethod
    def of(
        cls,
        features: Sequence[Features],
        X: Rows,
        T: Array,
        weight: Array | None,
        block_rows: int,
        mixing: Array,
        **options: Any,
    ) -> "MomentBank":
        """One pass over the rows of X in blocks."""
        moments = merge_all(
            Moments.of(
                np.hstack(evaluate_features(features, take_rows(X, rows))),
                T[rows],
                None if weight is None else weight[rows],
            )
            for rows in row_blocks(n_rows(X), block_rows)
        )
        sizes = [n_features(feature) for feature in features]
        ends = np.cumsum(sizes)
        blocks = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]
        bank = cls([feature.kernel for feature in features], moments, blocks, mixing, **options)
        bank.features = list(features)
        return bank

    def stacked(self, weights: Array) -> StackedFeatures:
        """The feature map of the combination with these weights of the kernels as given."""
        return StackedFeatures(self.features, weights)

    def spread(self, values: Array) -> Array:
        """One value per kernel -> one per column of Z."""
        return np.repeat(values, [block.stop - block.start for block in self.blocks])

    def resolvent(self, d: Array, shift: float) -> "MomentResolvent":
        return MomentResolvent(self, d, shift)

    def inner_products(self) -> Array:
        """<Z_i Z_i', Z_j Z_j'> = |C_ij|_F^2."""
        squares = self.C**2
        starts = [block.start for block in self.blocks]
        return np.asarray(np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1))

    def target_forms(self) -> Array:
        return np.stack([self.S[block].T @ self.S[block] for block in self.blocks])


class MomentResolvent(Resolvent):
    """M^{-1} = (I - Z R A^{-1} R Z') / shift with A = shift I + R C R, R = diag(d)^{1/2}."""

    def __init__(self, bank: MomentBank, d: Array, shift: float) -> None:
        self.bank, self.shift = bank, shift
        self.R = np.sqrt(bank.spread(d))[:, None]
        A = self.R * bank.C * self.R.T
        A[np.diag_indices(len(A))] += shift
        self.factor = linalg.cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        Q = self._inner(self.R * bank.S)
        self.V = (bank.LT_L - (self.R * bank.S).T @ Q) / shift
        self.ZT_B = (bank.S - bank.C @ (self.R * Q)) / shift  # (M, r)
        parts = [self.ZT_B[block] for block in bank.blocks]
        self.forms = np.stack([(self.V - Q.T @ Q) / shift, *(part.T @ part for part in parts)])

    def _inner(self, B: Array) -> Array:
        return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))

    def _through(self, ZT_U: Array) -> Array:
        """Z'M^{-1}U, given Z'U."""
        right = self.R * self._inner(self.R * ZT_U)
        return np.asarray((ZT_U - self.bank.C @ right) / self.shift)

    def hessian(self, X: Array) -> Array:
        bank, r = self.bank, self.ZT_B.shape[1]
        G_B = np.zeros((len(self.ZT_B), bank.p * r))  # Z_j Z_j'B in columns, before Z
        for j, block in enumerate(bank.blocks):
            G_B[block, j * r : (j + 1) * r] = self.ZT_B[block]
        ZT_Minv = self._through(np.hstack([self.ZT_B, bank.C @ G_B]))  # of B, G_1 B, ..., G_p B
        H = np.empty((bank.p + 1, bank.p + 1))
        BT_Minv_B = (
            self.forms[0] - (self.R * self.ZT_B).T @ self._inner(self.R * self.ZT_B)
        ) / self.shift
        H[0, 0] = np.sum(X * BT_Minv_B)
        for i, block in enumerate(bank.blocks):
            rows = (self.ZT_B[block] @ X).T @ ZT_Minv[block]  # (r, (p + 1) r)
            H[i + 1] = [np.trace(rows[:, j * r : (j + 1) * r]) for j in range(bank.p + 1)]
        H[0] = H[:, 0]
        return 2.0 * H


def cache_size(p: int, n: int, memory_budget: float | str | None) -> int:
    """How many of p matrices (n, n) can be kept; refuses if not even the working ones fit."""
    budget, matrix = parse_memory(memory_budget), 8 * n**2
    if budget < WORKING_MATRICES * matrix:
        raise ValueError(
            f"Learning kernel weights on {n} rows holds {WORKING_MATRICES} Gram matrices, "
            f"{format_bytes(WORKING_MATRICES * matrix)}, and the memory budget is "
            f"{format_bytes(budget)}. Raise memory_budget, or pass fewer landmarks."
        )
    return int(min(p, budget // matrix - WORKING_MATRICES))
