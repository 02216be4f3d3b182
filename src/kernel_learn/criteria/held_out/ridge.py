"""Kernel ridge regression on labels or values, and what it would say of rows it had not seen.

    min over f, b of  sum_i w_i |y_i - b - f(x_i)|^2 + lam |f|^2,

y_i the mean one-hot label, or the mean value, of row i. With p = w / N, m = K p,
Kc = K - 1m' - m1' + p'm, S = diag(w) and G = S^{1/2} Kc S^{1/2}:

    f(x_i) + b = mu + [Kc A]_i,   A = S^{1/2} (G + lam)^{-1} S^{1/2} (Y - mu),   mu = Y'p,

and 1'A = 0, so that a new row's scores are k(x)'A + (mu - m'A). The hat matrix
in the metric of the weights is H = G (G + lam)^{-1} + S^{1/2} 11' S^{1/2} / N. A row
(with all its weight), or a group g of rows, left out has the residual

    (I - H_gg)^{-1} S_g^{1/2} (y_g - f_g),

exactly, for fixed lam. lam = reg tr(G) / N. A weight is a repetition: all
of this is the same on rows that are written w_i times.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import each_fold
from kernel_learn.criteria.held_out.targets import RowTargets, cut_groups, positions
from kernel_learn.kernels.base import mirror_panel
from kernel_learn.kernels.pairwise import PANEL_ROWS
from kernel_learn.representations.lapack import (
    factorise,
    invert_factor,
    invert_triangle,
    solve_factor,
)
from kernel_learn.representations.linalg import LEAST_SLACK, center_and_weigh, leave_out
from kernel_learn.rows.access import row_blocks

# The path along which regularisers are chosen.
RIDGE_REGS = 10.0 ** np.arange(-6, 1.51, 0.5)
# Directions of G below this share of the largest are rounding. At 500 rows the smallest lam is
# about 1e-9 of the largest: 1e-10 left out directions that count (scores were off by up to .46).
RANK_TOL = 1e-14
# Shares of the largest pivot: below the first one is rounding, and above the second surely none.
NO_PIVOT, LEAST_PIVOT = 1e-13, 1e-8
MOST_DIRECTIONS = 100  # that are looked for: columns of a linear kernel
MOST_POWERS = 12  # of ten, by which a regulariser is raised for that
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

    def reordered(self, order: Array) -> "Dual":
        """The same of rows as they were before they were taken in this order."""
        coef = np.empty_like(self.coef)
        coef[order] = self.coef
        return Dual(coef, self.intercept)


@dataclass(frozen=True)
class Centred:
    """G = S^{1/2} Kc S^{1/2} and what is needed to come back from it."""

    G: Array  # (n, n)
    m: Array  # (n,) K p
    unit: float  # tr(G) / N: lam = reg * unit
    targets: RowTargets

    @property
    def root(self) -> Array:
        return np.asarray(np.sqrt(self.targets.weight))

    @property
    def labels(self) -> Array:
        """S^{1/2} (Y - mu)."""
        return np.asarray(self.root[:, None] * (self.targets.Y - self.targets.mean))

    @property
    def is_flat(self) -> bool:
        """Whether all rows look the same to the kernel."""
        return not self.unit > 1e-12 * float(np.abs(self.m).max())

    def dual_along(self, w: Array, U: Array, lam: float | Array) -> Dual:
        """The model by the directions U (n, r) with G = U diag(w) U'."""
        return self.dual(U @ ((U.T @ self.labels) / (w[:, None] + lam)))

    def dual(self, B: Array) -> Dual:
        """The model of A = S^{1/2} B, whose rounding of 1'A = 0 is taken out of it.

        Where all kernel values are near one, k(x)'A is a sum of large terms that cancel, and a
        sum 1'A of 1e-12 of their size is an error of the scores of new rows (500 rows, a Gaussian
        ten medians wide, reg 1e-6: up to 120 where scores are within one).
        """
        A = self.root[:, None] * B
        A -= np.outer(self.targets.weight / self.targets.total, A.sum(axis=0))
        return Dual(A, self.targets.mean - self.m @ A)


def centre(K: Array, targets: RowTargets) -> Centred:
    """Centre and weigh a Gram matrix; K is overwritten."""
    m = K @ (targets.weight / targets.total)
    center_and_weigh(K, m, targets.weight, np.sqrt(targets.weight))
    return Centred(K, m, float(np.trace(K)) / targets.total, targets)


def dual_of_few(K: Array, targets: RowTargets, lam: float | Array) -> tuple[Dual, Array] | None:
    """The model by the directions that k sees, and these, U (n, r) of G; None if they are not few.

    G + lam is near lam in all others, where coefficients are residuals / lam: they change no score
    but by rounding, and hide what rows add. K is overwritten.
    """
    centred = centre(K, targets)
    few = few_directions(np.diagonal(centred.G), lambda j: centred.G[:, j])
    if few is None:
        return None
    return centred.dual_along(*few, lam), few[1]


def few_directions(
    diagonal: Array,  # (n,) of G
    column: Callable[[int], Array],  # of G, (n,)
) -> tuple[Array, Array] | None:
    """G = U diag(w) U' by pivoted Cholesky, where it ends clearly after a few directions.

    A spectrum that falls to rounding little by little has no end.
    """
    left, largest = np.array(diagonal), float(diagonal.max())
    most = min(MOST_DIRECTIONS, len(left) // 2)
    L, r = np.empty((len(left), most)), 0
    while (pivot := float(left.max())) > NO_PIVOT * largest:
        if r == most or pivot < LEAST_PIVOT * largest:
            return None
        j = int(left.argmax())
        L[:, r] = (column(j) - L[:, :r] @ L[j, :r]) / np.sqrt(pivot)
        left -= L[:, r] ** 2
        left[j] = 0.0
        r += 1
    if not r:
        return None
    U, size, _ = np.linalg.svd(L[:, :r], full_matrices=False)
    return size**2, U


class RidgePath:
    """All lam from one eigendecomposition G = U diag(w) U'. K is overwritten."""

    def __init__(self, K: Array, targets: RowTargets) -> None:
        self.centred = centre(K, targets)
        w, U = np.linalg.eigh(self.centred.G)  # as SciPy's, but other threads run meanwhile
        kept = w > RANK_TOL * max(float(w[-1]), 0.0)
        self.w, self.U = w[kept], U[:, kept]
        self.UT_Y = self.U.T @ self.centred.labels
        self._U2 = self.U * self.U

    def held_out(self, regs: Array) -> tuple[Array, Array]:
        """Scores (R, n, k) of rows left out, and the least eigenvalue of all I - H_gg, (R,).

        Below ``LEAST_SLACK`` the scores are rounding and must not be used.
        """
        T = self.centred.targets
        scores, least = np.empty((len(regs), *T.Y.shape)), np.empty(len(regs))
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

    def dual(self, reg: float | Array) -> Dual:
        """The model at one reg, or at one for each target, (q,)."""
        lam = np.asarray(reg) * self.centred.unit
        return self.centred.dual(self.U @ (self.UT_Y / (self.w[:, None] + lam)))

    seen_dual = dual  # directions of rounding are not among U

    def new_scores(self, K_cross: Array, regs: Array) -> Array:
        """Scores of new rows at every reg, (R, n_new, k)."""
        T, p = self.centred.targets, self.centred.targets.weight / self.centred.targets.total
        # k - (k'p) 1 in the place of k, as in Centred.dual: U'S^{1/2}1 = 0 but for rounding
        K_centred = K_cross - self.centred.m - (K_cross @ p - self.centred.m @ p)[:, None]
        KU = (K_centred * self.centred.root) @ self.U
        lams = np.asarray(regs) * self.centred.unit
        return np.array([KU @ (self.UT_Y / (self.w + lam)[:, None]) + T.mean for lam in lams])


class RidgeSolves:
    """One Cholesky factorisation per lam: cheaper for a few of them. K is overwritten.

    One matrix is held: G stays below the diagonal of K, the factor L of G + lam and its inverse
    are worked out above it (LAPACK counts rows as columns here, so for it they are below).
    """

    def __init__(self, K: Array, targets: RowTargets) -> None:
        self.centred = centre(K, targets)
        self._diagonal = np.diagonal(self.centred.G).copy()
        self._solutions: dict[float, Array] = {}

    def held_out(self, regs: Array, first: int = 0) -> tuple[Array, Array]:
        """As ``RidgePath.held_out`` of the rows from ``first`` on, by Q = (G + lam)^{-1}: the
        residuals are lam B, and I - H = lam Q - S^{1/2} 11' S^{1/2} / N.

        Q_ij = sum_l [L^{-1}]_li [L^{-1}]_lj. For the last rows that asks for the inverse of the
        last block of L only: what they say of each other is a factorisation and little more. No
        group may have rows on both sides.
        """
        T = self.centred.targets.take(np.arange(first, self.centred.targets.n))
        total = self.centred.targets.total
        root = self.centred.root[first:]
        scores, least = np.empty((len(regs), *T.Y.shape)), np.empty(len(regs))
        for r, reg in enumerate(regs):
            try:
                lam, B, L = self._solve(float(reg))
            except np.linalg.LinAlgError:
                scores[r], least[r] = self.centred.targets.mean, -np.inf
                continue
            diagonal, products = _inverse_products(L[first:, first:], T.groups)
            slack = lam * diagonal - T.weight / total
            blocks = [
                lam * Q_gg - np.outer(root[g], root[g]) / total
                for g, Q_gg in zip(T.groups, products, strict=True)
            ]
            scores[r], least[r] = left_out(T, root, lam * B[first:], slack, blocks)
        return scores, least

    def held_out_safely(self, regs: Array, first: int = 0) -> tuple[Array, Array] | None:
        """The regs at which every row depends on others, and the scores of rows left out there.

        All regs are raised by a power of ten until there is one; None where nothing helps. 1 - H
        is concave in lam: a power that falls short by this proportion need not be tried.
        """
        power = MOST_POWERS if self.centred.is_flat else 0
        while power < MOST_POWERS:
            raised = 10.0**power * np.asarray(regs)
            scores, least = self.held_out(raised, first)
            safe = least >= LEAST_SLACK
            if safe.any():
                return raised[safe], scores[safe]
            most = float(least.max())
            power += max(1, int(np.ceil(np.log10(LEAST_SLACK / most)))) if most > 0 else 1
        return None

    def without_folds(self, reg: float, folds: Array) -> Iterator[Array]:
        """Scores (n, k) without each fold: of its rows by the others, of these without each row.

        With R = I - H = lam Q - S^{1/2} 11' S^{1/2} / N and the residuals e, rows S that are left
        out leave R_II - R_IS R_SS^{-1} R_SI and e_I - R_IS R_SS^{-1} e_S to the rest, and have
        the residuals R_SS^{-1} e_S: one inverse for all folds. It takes the place of K. A fold has
        all rows of a group, or none.
        """
        T, root = self.centred.targets, self.centred.root
        lam, B, R = self._solve(reg)
        invert_factor(R)
        for rows in row_blocks(len(R), PANEL_ROWS):
            mirror_panel(R, rows)
        R *= lam
        for rows in row_blocks(len(R), PANEL_ROWS):
            R[:, rows] -= np.outer(root, root[rows] / T.total)
        e, scores = lam * B, np.empty(T.Y.shape)
        for inside, outside in each_fold(folds):
            R_SI = R[np.ix_(outside, inside)]
            solved = np.linalg.solve(R[np.ix_(outside, outside)], np.hstack([R_SI, e[outside]]))
            U, gone = solved[:, : len(inside)], solved[:, len(inside) :]
            slack = R[inside, inside] - np.einsum("si,si->i", R_SI, U)
            groups = cut_groups(T.groups, positions(inside, T.n))
            blocks = [R[np.ix_(inside[g], inside[g])] - R_SI[:, g].T @ U[:, g] for g in groups]
            rest = leave_out(groups, e[inside] - R_SI.T @ gone, slack, blocks)[0]
            scores[outside] = T.Y[outside] - gone / root[outside, None]
            scores[inside] = T.Y[inside] - rest / root[inside, None]
            yield scores

    def seen_dual(self, reg: float | Array) -> Dual:
        """As ``dual``, without what a kernel of few directions does not see; not after folds."""
        few = few_directions(self._diagonal, self._column)
        if few is None:
            return self.dual(reg)
        return self.centred.dual_along(*few, np.asarray(reg) * self.centred.unit)

    def _column(self, j: int) -> Array:
        """Of G, from below the diagonal."""
        G = self.centred.G
        return np.concatenate([G[j, :j], self._diagonal[[j]], G[j + 1 :, j]])

    def dual(self, reg: float | Array) -> Dual:
        """The model at one reg, or at one for each target, (q,)."""
        regs = np.atleast_1d(np.asarray(reg, dtype=np.float64))
        for own in np.unique(regs).tolist():
            if own not in self._solutions:
                self._solve(own)
        columns = [self._solutions[own] for own in regs.tolist()]
        if len(columns) == 1:
            return self.centred.dual(columns[0])
        return self.centred.dual(np.stack([B[:, j] for j, B in enumerate(columns)], axis=1))

    def new_scores(self, K_cross: Array, regs: Array) -> Array:
        """Scores of new rows at every reg, (R, n_new, k)."""
        return np.array([self.dual(reg).scores(K_cross) for reg in regs])

    def _solve(self, reg: float) -> tuple[float, Array, Array]:
        """lam, B and the factor L, lower, which is the next one's place too."""
        lam, G = reg * self.centred.unit, self.centred.G
        for rows in row_blocks(len(G), PANEL_ROWS):  # G back above the diagonal
            mirror_panel(G, rows)
        G[np.diag_indices(len(G))] = self._diagonal + lam
        L = G.T
        if not factorise(L):  # by rounding: the path drops such directions
            raise np.linalg.LinAlgError(f"G + {lam:.3g} is not positive definite.")
        B = solve_factor(L, self.centred.labels)
        self._solutions[reg] = B
        return lam, B, L


def _inverse_products(L: Array, groups: Sequence[Array]) -> tuple[Array, list[Array]]:
    """The diagonal of Q = (L L')^{-1} and its blocks Q_gg, L lower and overwritten.

    By L^{-1} alone, n^3/3 operations; Q itself would take as many again.
    """
    invert_triangle(L)
    inverse = L
    diagonal = np.empty(len(L))
    for columns in row_blocks(len(L), PANEL_ROWS):
        below = inverse[columns.start :, columns]
        corner = np.tril(below[: below.shape[1]])
        rest = below[below.shape[1] :]
        diagonal[columns] = np.einsum("ij,ij->j", corner, corner)
        diagonal[columns] += np.einsum("ij,ij->j", rest, rest)
    products = []
    for g in groups:
        own = np.where(np.arange(len(L))[:, None] >= g, inverse[:, g], 0.0)
        products.append(own.T @ own)
    return diagonal, products


def solve_ridge(K: Array, targets: RowTargets, n_regs: int) -> RidgePath | RidgeSolves:
    """The cheaper way for this many regs. K is overwritten."""
    return (RidgePath if n_regs > PATH_REGS else RidgeSolves)(K, targets)


def try_ridge(K: Array, targets: RowTargets, n_regs: int) -> RidgePath | RidgeSolves | None:
    """As ``solve_ridge``; None if all rows look the same to the kernel."""
    size = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    ridge = solve_ridge(K, targets, n_regs)
    if not np.isfinite(ridge.centred.unit) or ridge.centred.unit <= 1e-12 * size:
        return None
    return ridge


def solve_at_lam(K: Array, targets: RowTargets, lam: float | Array) -> tuple[Dual, Array]:
    """The model at an absolute lam, or one for each target, and what is left of its equations."""
    few = dual_of_few(K.copy(), targets, lam)
    if few is not None:
        model, U = few
    else:
        ridge = RidgeSolves(K.copy(), targets)
        reg = lam / ridge.centred.unit
        try:
            model = ridge.dual(reg)
        except np.linalg.LinAlgError:
            model = RidgePath(K.copy(), targets).dual(reg)
    left = targets.Y - model.scores(K) - lam * model.coef / targets.weight[:, None]
    if few is not None:
        root = np.sqrt(targets.weight)[:, None]
        left = U @ (U.T @ (root * left)) / root
    return model, np.asarray(left)


def ridge_at_lam(
    K: Array,  # overwritten
    targets: RowTargets,
    lam: float,
    moved: Callable[[Array], Array] | None = None,  # None for classes
) -> tuple[Array, Dual]:
    """Held-out scores (n, k) and the model at an absolute lam, or at more if rows stand alone.

    At the smallest of 1, 10, 100, ... times lam at which every row depends on others; the
    shares of the classes if there is none. Scores are those that new rows would have, by
    ``moved`` or ``with_all_shares``.
    """
    solves = RidgeSolves(K, targets)
    found = solves.held_out_safely(np.array([lam / (solves.centred.unit or 1.0)]))
    if found is None:
        shares = np.tile(targets.mean, (targets.n, 1))
        return shares, Dual(np.zeros(targets.Y.shape), targets.mean)
    (reg,), (scores,) = found
    held = with_all_shares(scores, targets) if moved is None else moved(scores)
    return held, solves.seen_dual(reg)


def with_all_shares(scores: Array, targets: RowTargets) -> Array:
    """Held-out scores moved from the class shares without the row to those of all rows.

    A row left out takes its label out of the shares mu, to which scores
    shrink: at a large lam its scores are mu_{-i} = (N mu - w_i y_i) / (N - w_i),
    which give its label away by being below mu. Stacking reads that:
    on 50 rows with labels by chance its held-out error was 14 %. A new row
    sees mu. So mu - mu_{-i} = w_i (y_i - mu) / (N - w_i) is added; for a group
    the sums over it.
    """
    moved = targets.weight[:, None] * (targets.Y - targets.mean)
    return np.asarray(scores + gone_shares(moved, targets.weight, targets.groups, targets.total))


def gone_shares(
    moved: Array,  # (n, q) w_i (y_i - mu), overwritten
    weight: Array,  # (n,)
    groups: Sequence[Array],
    total: float,  # N
) -> Array:
    """What rows take from the mean of all when they leave: w_i (y_i - mu) / (N - w_i)."""
    weight = np.array(weight)
    for rows in groups:
        moved[rows], weight[rows] = moved[rows].sum(axis=0), weight[rows].sum()
    return np.asarray(moved / np.maximum(total - weight, 1e-12 * total)[:, None])


def left_out(
    targets: RowTargets,
    root: Array,  # (n,) S^{1/2}
    residual: Array,  # (n, k) S^{1/2} (y - f)
    slack: Array,  # (n,) 1 - H_ii
    blocks: Sequence[Array],  # I - H_gg of each group
) -> tuple[Array, float]:
    """Scores y_g - S_g^{-1/2} (I - H_gg)^{-1} residual_g, and how far I - H_gg is from singular."""
    without, least = leave_out(targets.groups, residual, slack, blocks)
    return targets.Y - without / root[:, None], least
