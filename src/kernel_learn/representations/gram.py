"""Exact, centred Gram matrices of one kernel or several."""

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from scipy import linalg
from scipy.linalg.blas import daxpy

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.bank import Combination, evaluate_bank, rows_for
from kernel_learn.kernels.base import Kernel, check_kernel_values
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.base import (
    UNIT_ROWS,
    Combined,
    Eigenpairs,
    Representation,
    Resolvent,
    SpectralBlock,
    UnitBlock,
)
from kernel_learn.representations.linalg import center_and_weigh, is_rounding, leave_out
from kernel_learn.rows.access import n_rows, row_blocks
from kernel_learn.rows.groups import by_groups, shared_places, whole_groups


class Gram(Combined):
    """G = S^{1/2} P K P' S^{1/2} with S = diag(weight), P = I - 1 s' / (s'1).

    Targets are centred alike, L = S^{1/2} P T. With unit weights G = PKP and
    L = PT; a row of weight 2 gives what two rows give.
    """

    residual = 0.0
    groups: Array | None = None

    def __init__(
        self,
        kernel: Kernel,
        form: "GramForm",
        operator: Array,  # (n, n)
        kernel_mean: Array,  # (n,) K weight / n
        mean_diagonal: float,
    ) -> None:
        self.kernel, self.operator = kernel, operator
        self.kernel_mean, self.mean_diagonal = kernel_mean, mean_diagonal
        self.n, self.targets, self.weight = form.n, form.targets, form.weight
        self.target_square = float(np.sum(self.targets**2))
        self.root_weight, self.center = form.root_weight, form.center
        self.landmarks, self.dtype = form.landmarks, form.dtype
        self.target_mean, self.order, self.groups = form.target_mean, form.order, form.groups
        self._factor: tuple[float, Array] | None = None  # lam and L, see _factorise

    def pairing(self, A: Array, O_A: Array) -> Array:
        return O_A

    def inner(self, A: Array, B: Array) -> Array:
        return np.asarray((self.operator @ A).T @ B)

    def spectral_inner(self, w: Array) -> Array:
        return w

    def spectral_rows(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[SpectralBlock]:
        root, share = np.sqrt(spectrum.w), self.weight / self.n
        for rows in row_blocks(len(share), 1024):
            yield spectrum.U[rows] * root, self.targets[rows], share[rows]

    def spectral_units(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[UnitBlock]:
        assert self.groups is not None
        root, share, start = np.sqrt(spectrum.w), self.weight / self.n, 0
        for end in whole_groups(self.order, self.groups, UNIT_ROWS):
            rows, start = self.order[start:end], end
            yield spectrum.U[rows] * root, self.targets[rows], share[rows], self.groups[rows]

    def first_rows(self, count: int) -> Array:
        """The first ``count`` rows by their keys; with groups to the end of the last one."""
        if self.groups is None or count >= len(self.order):
            return self.order[:count]
        return self.order[: int(whole_groups(self.order, self.groups, count)[0])]

    def sketched(self, size: int) -> "Gram":
        """The sample of the first rows by their keys."""
        few = self.first_rows(size)
        part = copy(self)
        part.__dict__.pop("spectrum", None)  # that of the whole
        part._factor = None
        part.operator = self.operator[np.ix_(few, few)]
        part.targets, part.weight = self.targets[few], self.weight[few]
        part.n, part.order = float(part.weight.sum()), np.arange(len(few))
        part.groups = None if self.groups is None else self.groups[few]
        return part

    def solve(self, lam: float, B: Array) -> Array:
        """As of every sample; the factor is kept for ``left_out``."""
        if is_rounding(self.operator, lam):
            return super().solve(lam, B)
        try:
            L = self._factorise(lam)
        except linalg.LinAlgError:
            return super().solve(lam, B)
        solution = np.empty(B.shape)
        solution[self._backwards] = linalg.cho_solve((L, True), B[self._backwards])
        return solution

    @property
    def _backwards(self) -> Array:
        """The rows by decreasing keys: those with the smallest come last in a factorisation."""
        return self.order[::-1]

    def _factorise(self, lam: float) -> Array:
        """L with L L' = G + lam I, rows backwards; the last one is kept."""
        if self._factor is None or self._factor[0] != lam:
            self._factor = None
            M = self.operator[np.ix_(self._backwards, self._backwards)].T  # it is symmetric
            M[np.diag_indices(len(M))] += lam
            L = linalg.cholesky(M, lower=True, overwrite_a=True, check_finite=False)
            self._factor = lam, L
        return self._factor[1]

    def left_out(self, lam: float, count: int) -> tuple[Array, Array, Array]:
        """Of the first ``count`` rows by key: residuals left out, leverages, shares of the weight.

        With Q = (G + lam I)^{-1} the residuals of a ridge regression with intercept are
        lam Q T, and 1 - h_i = lam Q_ii - s_i/n. As these rows come last, their block
        of Q is that of the factor's last block, and one factorisation is all it costs. Groups
        are whole and left out as such: I - H_gg = lam Q_gg - s_g^{1/2} s_g^{1/2}'/n.
        """
        rows = self.first_rows(count)
        L = self._factorise(lam)
        Q_T = self.solve(lam, self.targets)[rows]
        self._factor = None
        inverse = linalg.lapack.dtrtri(L[-len(rows) :, -len(rows) :], lower=1)[0]
        share = self.weight[rows] / self.n
        left = lam * np.einsum("ij,ij->j", inverse, inverse)[::-1] - share
        if self.groups is not None:
            units = shared_places(self.groups[rows])
            columns, root = inverse[:, ::-1], np.sqrt(share)
            blocks = [
                lam * columns[:, g].T @ columns[:, g] - np.outer(root[g], root[g]) for g in units
            ]
            residual, least = leave_out(units, lam * Q_T, left, blocks)
            return residual, np.full(len(rows), 1 - least), share
        return lam * Q_T / np.maximum(left, 1e-12)[:, None], 1 - left, share

    def expand(self, B: Array) -> SubspaceKernel:
        """f(x) = sum_i b_i <phi(x) - m, root_i (phi(x_i) - m)>, with the means moved into b."""
        coef = self.root_weight[:, None] * B
        if self.center:
            coef = coef - np.outer(self.weight / self.n, coef.sum(axis=0))
        offset = self.kernel_mean @ coef if self.center else np.zeros(coef.shape[1])
        dtype = np.float32 if self.dtype == np.float32 else np.float64
        return SubspaceKernel(self.kernel, self.landmarks, coef.astype(dtype), offset.astype(dtype))


class GramForm(Representation):
    """Centred Gram matrices, evaluated once and kept as far as the planned memory allows.

    The first ``n_kept`` matrices are kept; the others are evaluated again at
    every use (a weighted sum of such kernels in one sweep over their shared
    distances). ``weigh_rows=False``: weights enter means and traces, and the rows
    of G stay as they are (machines weigh losses). ``scale=False`` leaves the
    kernels as they are: sum d = 1 on kernels as given.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Rows,  # (n, ...)
        T: Array,  # (n, q)
        weight: Array | None = None,  # (n,)
        *,
        mixing: Array | None = None,  # (q, r): L = T mixing, None for the identity
        center: bool = True,
        scale: bool = True,
        weigh_rows: bool = True,
        n_kept: int | None = None,  # None for all
        order: Array | None = None,  # the rows in the order of their keys
        groups: Array | None = None,  # (n,) numbers of groups whose rows are left out together
    ) -> None:
        self.kernels, self.X = list(kernels), X
        n = n_rows(X)
        self.dtype = getattr(X, "dtype", None)
        self.weight = np.ones(n) if weight is None else np.asarray(weight, np.float64)
        self.n, self.center, self.weigh_rows = float(self.weight.sum()), center, weigh_rows
        self.root_weight = np.sqrt(self.weight) if weigh_rows else np.ones(n)
        self.order, self.groups = np.arange(n) if order is None else order, groups
        if groups is not None:
            self.order = by_groups(self.order, groups)
        self.target_mean = (self.weight / self.n) @ T if center else np.zeros(T.shape[1])
        self.targets = T - self.target_mean
        self.targets *= self.root_weight[:, None]
        self.L = self.targets if mixing is None else self.targets @ mixing
        self.LT_L = self.L.T @ self.L
        self._fill(self.p if n_kept is None else min(n_kept, self.p))
        if not scale:
            self.traces = np.where(self.alive, self.n, 0.0)

    @property
    def landmarks(self) -> Rows:
        """A copy of the rows for a model to keep; made when no evaluation holds others."""
        return self.kernels[0].reference(self.X, np.arange(n_rows(self.X)))

    def _fill(self, n_kept: int) -> None:
        """Evaluate every kernel once, keep the first ``n_kept``, take traces of all."""
        self.kept: dict[int, Array] = {}
        self.means = np.zeros((self.p, len(self.weight)))
        self.mean_diagonals, traces = np.zeros(self.p), np.zeros(self.p)
        # float64 throughout: G + lam I of a float32 matrix is not positive definite at lam ~ 1e-7
        for i, K in evaluate_bank(self.kernels[:n_kept], to_double(self.X)):
            self.kept[i] = self._centred(K, i)
            traces[i] = self._trace(self.kept[i])
        for i in range(n_kept, self.p):
            traces[i] = self._trace(self._centred(self._evaluate(i), i))
        self.traces = self._check_traces(traces, self.mean_diagonals)

    def _evaluate(self, i: int) -> Array:
        kernel = self.kernels[i]
        return kernel(rows_for(kernel, to_double(self.X)))

    def _centred(self, K: Array, i: int | None = None) -> Array:
        """G from K in its place; the means of kernel i are kept."""
        K = K.astype(np.float64, copy=False)
        mean = K @ (self.weight / self.n)
        if i is not None:
            self.means[i] = mean
            self.mean_diagonals[i] = float(self.weight @ np.diagonal(K)) / self.n
            if self.dtype == np.float32:  # new rows are compared in single precision
                with np.errstate(over="ignore"):
                    check_kernel_values(np.diagonal(K).astype(np.float32), self.kernels[i], self.X)
        center_and_weigh(K, mean, self.weight, self.root_weight, center=self.center)
        return K

    def _trace(self, G: Array) -> float:
        diagonal = np.diagonal(G)
        return float(diagonal.sum() if self.weigh_rows else diagonal @ self.weight)

    def gram(self, i: int) -> Array:
        """G_i of the kernel as given, (n, n); not to be written to."""
        return self.kept[i] if i in self.kept else self._centred(self._evaluate(i))

    def combine(self, d: Array) -> Array:
        """G(d), (n, n), a new array."""
        return self._sum(self.theta_at(d))

    def _sum(self, theta: Array) -> Array:
        """sum_i theta_i G_i, a new array."""
        active = [int(i) for i in np.flatnonzero(theta)]
        missing = [i for i in active if i not in self.kept]
        if missing:
            kernel = Combination([self.kernels[i] for i in missing], theta[missing])
            total = self._centred(kernel(to_double(self.X)))
        else:
            total = np.zeros((len(self.L), len(self.L)))
        kept = [(theta[i], self.kept[i]) for i in active if i in self.kept]
        for rows in row_blocks(len(total), 32):  # the block of the sum stays in the cache
            block = total[rows].reshape(-1)
            for weight, G in kept:
                daxpy(G[rows].reshape(-1), block, a=weight)
        return total

    def at(self, theta: Array) -> Gram:
        """One kernel with weight one is not copied."""
        alone = self.p == 1 and theta[0] == 1.0
        operator = self.gram(0) if alone else self._sum(theta)
        kernel = self.combination(theta)
        mean_diagonal = float(theta @ self.mean_diagonals)
        return Gram(kernel, self, operator, theta @ self.means, mean_diagonal)

    def release(self) -> None:
        self.kept = {}

    def centred(self) -> "GramForm":
        return self if self.center else _CentredForm(self)

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


class _CentredForm(GramForm):
    """The matrices of an uncentred form, centred one at a time; no kernel is evaluated."""

    def __init__(self, form: GramForm) -> None:
        self.__dict__.update(form.__dict__)
        self.kept, self.whole, self.center = {}, form, True
        self.L = form.L - (self.weight / self.n) @ form.L
        self.LT_L = self.L.T @ self.L
        traces = np.array([self._trace(self.gram(i)) for i in range(self.p)])
        self.traces = self._check_traces(traces, self.mean_diagonals)

    def _evaluate(self, i: int) -> Array:
        return np.array(self.whole.gram(i))

    def _sum(self, theta: Array) -> Array:
        return self._centred(self.whole._sum(theta))


class GramResolvent(Resolvent):
    """One Cholesky factorisation of M (n, n)."""

    def __init__(self, form: GramForm, d: Array, shift: float) -> None:
        M = form.combine(d)
        M[np.diag_indices(len(M))] += shift
        if form.center:
            # M has the eigenvector root_weight with eigenvalue shift alone, and L is orthogonal
            # to it: lifting that eigenvalue changes nothing but the condition (theta_0 -> 0)
            u = form.root_weight / np.sqrt(form.n)
            for rows in row_blocks(len(M), 64):
                M[rows] += np.outer(u[rows], u)
        self.factor = linalg.cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
        self.B = self.solve(form.L)
        self.V = form.L.T @ self.B
        self.G_B = np.concatenate([self.B[None], form.products(self.B)])  # (p + 1, n, r)
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
