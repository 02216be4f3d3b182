"""Kernel ridge regression on class labels, and what it would say of rows it had not seen.

    min over f, b of  sum_i w_i |y_i - b - f(x_i)|^2 + lam |f|^2,

y_i the mean one-hot label of row i. With p = w / N, m = K p,
Kc = K - 1m' - m1' + p'm, S = diag(w) and G = S^{1/2} Kc S^{1/2}:

    f(x_i) + b = mu + [Kc A]_i,   A = S^{1/2} (G + lam)^{-1} S^{1/2} (Y - mu),   mu = Y'p,

and 1'A = 0, so that a new row's scores are k(x)'A + (mu - m'A). The hat matrix
in the metric of the weights is H = G (G + lam)^{-1} + S^{1/2} 11' S^{1/2} / N. A row
(with all its weight), or a group g of rows, left out has the residual

    (I - H_gg)^{-1} S_g^{1/2} (y_g - f_g),

exactly, for fixed lam. lam = reg tr(G) / N. A weight is a repetition: all
of this is the same on rows that are written w_i times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.representations.linalg import center_and_weigh

# The path along which regularisers are chosen.
RIDGE_REGS = 10.0 ** np.arange(-6, 1.51, 0.5)
# Directions of G below this share of the largest are rounding.
RANK_TOL = 1e-10
# Where 1 - H_ii is smaller, a row decides about itself alone: its residual without itself
# is a quotient of two roundings.
LEAST_SLACK = 1e-5
# One eigendecomposition costs as much as about so many Cholesky inverses (n = 1000: 0.19 s
# against 0.034 s each).
PATH_REGS = 5


@dataclass(frozen=True)
class Dual:
    """scores(x) = k(x)'coef + intercept."""

    coef: Array  # (n, q)
    intercept: Array  # (q,)

    def scores(self, K_cross: Array) -> Array:
        """Scores of new rows from k(x, training rows), (n_new, q)."""
        return np.asarray(K_cross @ self.coef + self.intercept)


@dataclass(frozen=True)
class Centred:
    """G = S^{1/2} Kc S^{1/2} and what is needed to come back from it."""

    G: Array  # (n, n)
    m: Array  # (n,) K p
    unit: float  # tr(G) / N: lam = reg * unit
    targets: Targets

    @property
    def root(self) -> Array:
        return np.asarray(np.sqrt(self.targets.weight))

    @property
    def labels(self) -> Array:
        """S^{1/2} (Y - mu)."""
        return np.asarray(self.root[:, None] * (self.targets.Y - self.targets.mean))

    def dual(self, B: Array) -> Dual:
        """The model of A = S^{1/2} B, whose rounding of 1'A = 0 is taken out of it.

        Where all kernel values are near one, k(x)'A is a sum of large terms that cancel, and a
        sum 1'A of 1e-12 of their size is an error of the scores of new rows (500 rows, a Gaussian
        ten medians wide, reg 1e-6: up to 120 where scores are within one).
        """
        A = self.root[:, None] * B
        A -= np.outer(self.targets.weight / self.targets.total, A.sum(axis=0))
        return Dual(A, self.targets.mean - self.m @ A)


def centre(K: Array, targets: Targets) -> Centred:
    """Centre and weigh a Gram matrix; K is overwritten."""
    m = K @ (targets.weight / targets.total)
    center_and_weigh(K, m, targets.weight, np.sqrt(targets.weight))
    return Centred(K, m, float(np.trace(K)) / targets.total, targets)


class RidgePath:
    """All lam from one eigendecomposition G = U diag(w) U'. K is overwritten."""

    def __init__(self, K: Array, targets: Targets) -> None:
        self.centred = centre(K, targets)
        w, U = linalg.eigh(self.centred.G, driver="evd", overwrite_a=True, check_finite=False)
        kept = w > RANK_TOL * max(float(w[-1]), 0.0)
        self.w, self.U = w[kept], U[:, kept]
        self.UT_Y = self.U.T @ self.centred.labels
        self._U2 = self.U * self.U

    def held_out(self, regs: Array) -> tuple[Array, Array]:
        """Scores (R, n, k) of rows left out, and the least eigenvalue of all I - H_gg, (R,).

        Below ``LEAST_SLACK`` the scores are rounding and must not be used.
        """
        T = self.centred.targets
        scores, least = np.empty((len(regs), *T.counts.shape)), np.empty(len(regs))
        for r, reg in enumerate(regs):
            share = self.w / (self.w + reg * self.centred.unit)
            residual = self.centred.labels - self.U @ (share[:, None] * self.UT_Y)
            scores[r], least[r] = left_out(T, self.centred.root, residual, *self.slack(reg))
        return scores, least

    def slack(self, reg: float) -> tuple[Array, list[Array]]:
        """1 - H_ii of every row, (n,), and I - H_gg of every group."""
        T, root = self.centred.targets, self.centred.root
        share = self.w / (self.w + reg * self.centred.unit)
        blocks = [
            np.eye(len(g))
            - (self.U[g] * share) @ self.U[g].T
            - np.outer(root[g], root[g]) / T.total
            for g in T.groups
        ]
        return 1.0 - T.weight / T.total - self._U2 @ share, blocks

    def dual(self, reg: float) -> Dual:
        """The model at one reg."""
        lam = reg * self.centred.unit
        return self.centred.dual(self.U @ (self.UT_Y / (self.w + lam)[:, None]))

    def new_scores(self, K_cross: Array, regs: Array) -> Array:
        """Scores of new rows at every reg, (R, n_new, k)."""
        T, p = self.centred.targets, self.centred.targets.weight / self.centred.targets.total
        # k - (k'p) 1 in the place of k, as in Centred.dual: U'S^{1/2}1 = 0 but for rounding
        K_centred = K_cross - self.centred.m - (K_cross @ p - self.centred.m @ p)[:, None]
        KU = (K_centred * self.centred.root) @ self.U
        lams = np.asarray(regs) * self.centred.unit
        return np.array([KU @ (self.UT_Y / (self.w + lam)[:, None]) + T.mean for lam in lams])


class RidgeSolves:
    """One Cholesky factorisation per lam: cheaper for a few of them. K is overwritten."""

    def __init__(self, K: Array, targets: Targets) -> None:
        self.centred = centre(K, targets)
        self._solutions: dict[float, Array] = {}

    def held_out(self, regs: Array) -> tuple[Array, Array]:
        """As ``RidgePath.held_out``, by Q = (G + lam)^{-1}: the residuals are lam B, and
        I - H = lam Q - S^{1/2} 11' S^{1/2} / N.
        """
        T, root = self.centred.targets, self.centred.root
        scores, least = np.empty((len(regs), *T.counts.shape)), np.empty(len(regs))
        for r, reg in enumerate(regs):
            try:
                lam, B, C = self._solve(float(reg))
            except np.linalg.LinAlgError:
                scores[r], least[r] = T.mean, -np.inf
                continue
            Q = lapack.dpotri(C, lower=1, overwrite_c=1)[0]
            slack = lam * np.diagonal(Q) - T.weight / T.total
            blocks = [
                lam * _symmetric(Q[np.ix_(g, g)]) - np.outer(root[g], root[g]) / T.total
                for g in T.groups
            ]
            scores[r], least[r] = left_out(T, root, lam * B, slack, blocks)
        return scores, least

    def dual(self, reg: float) -> Dual:
        if float(reg) not in self._solutions:
            self._solve(float(reg))
        return self.centred.dual(self._solutions[float(reg)])

    def new_scores(self, K_cross: Array, regs: Array) -> Array:
        """Scores of new rows at every reg, (R, n_new, k)."""
        return np.array([self.dual(reg).scores(K_cross) for reg in regs])

    def _solve(self, reg: float) -> tuple[float, Array, Array]:
        lam = reg * self.centred.unit
        C = self.centred.G.copy()
        C[np.diag_indices(len(C))] += lam
        C, info = lapack.dpotrf(C, lower=1, overwrite_a=1)
        if info:  # rounding has made G + lam indefinite: the path drops such directions
            raise np.linalg.LinAlgError(f"G + {lam:.3g} is not positive definite.")
        B = linalg.cho_solve((C, True), self.centred.labels, check_finite=False)
        self._solutions[reg] = B
        return lam, B, C


def solve_ridge(K: Array, targets: Targets, n_regs: int) -> RidgePath | RidgeSolves:
    """The cheaper way for this many regs. K is overwritten."""
    return (RidgePath if n_regs > PATH_REGS else RidgeSolves)(K, targets)


def try_ridge(K: Array, targets: Targets, n_regs: int) -> RidgePath | RidgeSolves | None:
    """As ``solve_ridge``; None if all rows look the same to the kernel."""
    size = float(np.abs(K).max(initial=0.0))
    ridge = solve_ridge(K, targets, n_regs)
    if not np.isfinite(ridge.centred.unit) or ridge.centred.unit <= 1e-12 * size:
        return None
    return ridge


def ridge_at_lam(K: Array, targets: Targets, lam: float) -> tuple[Array, Dual]:
    """Held-out scores (n, k) and the model at an absolute lam, or at more if rows stand alone.

    At the smallest of 1, 10, 100, ... times lam at which every row depends on others; the
    shares of the classes if there is none. K is overwritten.
    """
    solves = RidgeSolves(K, targets)
    unit = solves.centred.unit
    if unit > 1e-12 * float(np.abs(solves.centred.m).max()):  # else all rows look the same
        for power in range(12):
            reg = 10.0**power * (lam / unit)
            scores, least = solves.held_out(np.array([reg]))
            if least[0] >= LEAST_SLACK:
                return with_all_shares(scores[0], targets), solves.dual(reg)
    shares = np.tile(targets.mean, (targets.n, 1))
    return shares, Dual(np.zeros(targets.counts.shape), targets.mean)


def with_all_shares(scores: Array, targets: Targets) -> Array:
    """Held-out scores moved from the class shares without the row to those of all rows.

    A row left out takes its label out of the shares mu, to which scores
    shrink: at a large lam its scores are mu_{-i} = (N mu - w_i y_i) / (N - w_i),
    which give its label away by being below mu. Stacking reads that:
    on 50 rows with labels by chance its held-out error was 14 %. A new row
    sees mu. So mu - mu_{-i} = w_i (y_i - mu) / (N - w_i) is added; for a group
    the sums over it.
    """
    moved = targets.weight[:, None] * (targets.Y - targets.mean)
    weight = targets.weight.copy()
    for rows in targets.groups:
        moved[rows], weight[rows] = moved[rows].sum(axis=0), weight[rows].sum()
    return np.asarray(scores + share_of(moved, weight, targets.total))


def share_of(moved: Array, weight: Array, total: float) -> Array:
    """What rows take from the mean of all when they leave: w_i (y_i - mu) / (N - w_i)."""
    return np.asarray(moved / np.maximum(total - weight, 1e-12 * total)[:, None])


def left_out(
    targets: Targets,
    root: Array,  # (n,) S^{1/2}
    residual: Array,  # (n, k) S^{1/2} (y - f)
    slack: Array,  # (n,) 1 - H_ii
    blocks: Sequence[Array],  # I - H_gg of each group
) -> tuple[Array, float]:
    """Scores y_g - S_g^{-1/2} (I - H_gg)^{-1} residual_g, and how far I - H_gg is from singular."""
    without, least = leave_out(targets.groups, residual, slack, blocks)
    return targets.Y - without / root[:, None], least


def leave_out(
    groups: Sequence[Array],  # rows of each
    residual: Array,
    slack: Array,
    blocks: Sequence[Array],
) -> tuple[Array, float]:
    """(I - H_gg)^{-1} residual_g of every group and row, and the least eigenvalue of I - H_gg."""
    without = residual / np.maximum(slack, 0.1 * LEAST_SLACK)[:, None]
    single = np.ones(len(slack), dtype=bool)
    least = np.inf
    for rows, block in zip(groups, blocks, strict=True):
        single[rows] = False
        values, V = np.linalg.eigh(block)
        least = min(least, float(values[0]))
        values = np.maximum(values, 0.1 * LEAST_SLACK)
        without[rows] = V @ ((V.T @ residual[rows]) / values[:, None])
    return without, min(least, float(slack[single].min(initial=np.inf)))


def _symmetric(lower: Array) -> Array:
    return np.tril(lower) + np.tril(lower, -1).T
