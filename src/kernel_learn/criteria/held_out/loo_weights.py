"""Weights of several kernels by the held-out error of their ridge fit.

    min over theta on the simplex, lam > 0 of
        log E(theta, lam) + pull sum_m (u_m - mean u)^2,   theta = softmax(u),
    E = sum_i w_i |y_i - loo_i|^2 / N  of ridge with intercept on K = sum_m theta_m K_m.

With M = K + lam diag(1/w) and B = M^{-1} - M^{-1}11'M^{-1} / (1'M^{-1}1), v = B Y and
b = diag B the residuals left out are v_i / b_i, and with D = dE/dF (n, k), F = Y - v/b,

    dE/dK = Q = 1/2 (S v' + v S') - B diag(c) B,   S = B (D/b),   c_i = D_i'v_i / b_i^2
(of a group g left out together B_gg^{-1} v_g and B_gg^{-1} D_g are in the place of v/b and D/b,
and B_gg^{-1} D_g (B_gg^{-1} v_g)' in that of its c):

one matrix holds the derivative in everything, dE/dtheta_m = <Q, K_m> and
dE/dlam = sum_i Q_ii / w_i. The papers' criteria measure the fit to training
rows and put all weight on the narrowest kernel that separates them; rows left
out do not. The pull to equal weights keeps few rows from choosing by chance.

From moments, where the rows are gone, E is the generalised cross-validation

    E = N RSS / (N - tr H)^2,   RSS = lam^2 tr Y'M^{-2}Y,   tr H = tr G M^{-1} + 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import lapack
from scipy.special import softmax

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import RowTargets, kernel_variance
from kernel_learn.representations.base import Representation
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.groups import shared_places
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth

PULL = 0.01
FTOL = 1e-9  # of the objective: a logarithm of an error
# Rows, the first by their keys, whose errors choose the weights: a step on so many is an
# inverse and a product of their size, a second.
SEARCH_ROWS = 2000

# (d, lam) -> (E, dE/dd, dE/dlam)
HeldOutError = Callable[[Array, float], tuple[float, Array, float]]


@dataclass(frozen=True)
class LooWeights:
    """The weights, lam, the held-out error at them, and the objective at every step."""

    weights: Array  # (p,), on kernels as given
    lam: float
    error: float
    history: tuple[float, ...]


def learn_loo_weights(
    Ks: Array,  # (p, n, n)
    targets: RowTargets,
    pull: float = PULL,
) -> LooWeights:
    """Minimise the objective above from equal weights; kernels count as scaled to trace n."""
    traces = np.array([centred_trace(K, targets) for K in Ks])
    scale = np.divide(targets.total, traces, out=np.zeros_like(traces), where=traces > 0)
    scaled = Ks * scale[:, None, None]
    theta, lam, found = descend(
        lambda theta, lam: loo_error(scaled, theta, lam, targets), len(Ks), pull=pull
    )
    error = loo_error(scaled, theta, lam, targets)[0]
    history = tuple(step["value"] for step in found.history)
    return LooWeights(theta * scale, lam, error, history)


def learn_bank_weights(
    form: Representation,
    targets: Array | None = None,  # (n, q), None for those of the form
    *,
    max_iter: int = 100,
) -> tuple[Array, Result]:
    """Weights of the kernels of a bank as given, (p,), and the descent.

    The targets are one-hot labels, of a form that is exact or of moments; columns
    that differ from them by a factor and a shift give the same weights.
    """
    centred = form.centred()
    error: HeldOutError
    if isinstance(centred, MomentForm):
        if targets is not None:
            raise ValueError("Moments hold the targets of their form and no others.")
        error = GeneralisedCrossValidation(centred)
    else:
        assert isinstance(form, GramForm) and isinstance(centred, GramForm)
        T = form.targets if targets is None else form.root_weight[:, None] * targets
        error = LeaveOneOut(centred, T)
    alive = np.flatnonzero(centred.alive)

    def among_alive(d: Array, lam: float) -> tuple[float, Array, float]:
        value, by_d, by_lam = error(_place(d, alive, form.p), lam)
        return value, by_d[alive], by_lam

    theta, _, found = descend(among_alive, len(alive), max_iter=max_iter)
    return centred.theta_at(_place(theta, alive, form.p)), found


def descend(
    error: HeldOutError, p: int, *, pull: float = PULL, max_iter: int = 100
) -> tuple[Array, float, Result]:
    """(theta, lam, how they were found), from equal weights; the steps are in (u, log lam)."""
    bounds = [(-12.0, 12.0)] * p + [(np.log(1e-6), np.log(1e3))]

    def objective(x: Array) -> tuple[float, Array]:
        u, lam = x[:-1], float(np.exp(x[-1]))
        theta = softmax(u)
        value, by_theta, by_lam = error(theta, lam)
        off = u - u.mean()
        value = max(value, np.finfo(np.float64).tiny)  # zero by rounding has no logarithm
        by_u = theta * (by_theta - theta @ by_theta) / value + 2 * pull * off
        return float(np.log(value) + pull * off @ off), np.append(by_u, by_lam * lam / value)

    found = solve_smooth(
        objective, np.append(np.zeros(p), np.log(0.1)), bounds=bounds, ftol=FTOL, max_iter=max_iter
    )
    return softmax(found.point[:-1]), float(np.exp(found.point[-1])), found


class LeaveOneOut:
    """E of an exact form at (d, lam), of its first rows by key; see the module.

    Where rows carry the roots r of their weights w (G = S^{1/2} Kc S^{1/2}) M is
    G + lam, and B annihilates r; where they do not, M is Kc + lam diag(1/w), B
    annihilates ones, and the squares are weighed: M = G + lam diag(r^2/w) is both.
    """

    def __init__(
        self,
        form: GramForm,
        T: Array,  # (n, q) as the form's targets: times r, centred or not
        search_rows: int = SEARCH_ROWS,
    ) -> None:
        self.form = form
        self.searched = None if len(T) <= search_rows else np.sort(form.order[:search_rows])
        searched = slice(None) if self.searched is None else self.searched
        self.T, self.r, w = T[searched], form.root_weight[searched], form.weight[searched]
        self.w, self.N = w / self.r**2, float(w.sum())
        self.units = () if form.groups is None else shared_places(form.groups[searched])

    def __call__(self, d: Array, lam: float) -> tuple[float, Array, float]:
        M = self._cut(self.form.combine(d))
        M[np.diag_indices(len(M))] += lam / self.w
        error, Q = error_and_derivative(M, self.T, self.r, self.w, self.N, self.units)
        by_d = [
            scale * float(np.vdot(Q, self._cut(self.form.gram(i)))) if scale > 0 else 0.0
            for i, scale in enumerate(self.form.scales)
        ]
        return error, np.array(by_d), float(np.sum(np.diagonal(Q) / self.w))

    def _cut(self, G: Array) -> Array:
        return G if self.searched is None else G[np.ix_(self.searched, self.searched)]


class GeneralisedCrossValidation:
    """E = N RSS / (N - tr H)^2 of moments at (d, lam).

    With Z the features, R = diag(d)^{1/2}, C = Z'PZ, S = Z'PY, A = R C R + lam, Q = A^{-1} R S
    and P = A^{-1} Q, sums over the features of kernel i marked by i:

        RSS = tr Y'PY - tr S'R Q - lam tr Q'Q,   d_i dRSS/dd_i = -2 lam^2 tr_i Q P',
        tr H = M - lam tr A^{-1} + 1,            d_i dtrH/dd_i = lam tr_i (A^{-1} - lam A^{-2}),

    dRSS/dlam = 2 lam tr Q'P and dtrH/dlam = -tr (A^{-1} - lam A^{-2}).
    """

    def __init__(self, form: MomentForm) -> None:
        root = np.sqrt(form.spread(form.scales))
        self.form, self.N = form, form.n
        self.C = root[:, None] * form.moments.C * root
        self.S, self.YT_Y = root[:, None] * form.moments.S, float(np.trace(form.moments.R))

    def __call__(self, d: Array, lam: float) -> tuple[float, Array, float]:
        R = np.sqrt(self.form.spread(d))
        A = R[:, None] * self.C * R
        A[np.diag_indices(len(A))] += lam
        R_S, inverse = R[:, None] * self.S, _invert(A)
        Q = inverse @ R_S
        QP = np.sum(Q * (inverse @ Q), axis=1)  # (M,)
        diagonal = np.diagonal(inverse)
        moved = diagonal - lam * np.einsum("ij,ij->i", inverse, inverse)
        RSS = self.YT_Y - float(np.sum(R_S * Q) + lam * np.sum(Q * Q))
        free = self.N - 1 - float(len(Q) - lam * diagonal.sum())  # N - tr H
        by_feature = -2 * lam**2 * QP / RSS + 2 * lam * moved / free
        by_d = np.array([by_feature[block].sum() for block in self.form.columns])
        by_d = np.divide(by_d, d, out=np.zeros_like(d), where=d > 0)
        by_lam = 2 * lam * QP.sum() / RSS - 2 * moved.sum() / free
        error = self.N * RSS / free**2
        return error, error * by_d, error * float(by_lam)


def loo_error(
    Ks: Array, theta: Array, lam: float, targets: RowTargets
) -> tuple[float, Array, float]:
    """(E, dE/dtheta, dE/dlam)."""
    error, Q = loo_derivative(np.tensordot(theta, Ks, 1), lam, targets)
    by_lam = float(np.sum(np.diagonal(Q) / targets.weight))
    return error, np.einsum("pij,ij->p", Ks, Q), by_lam


def loo_derivative(K: Array, lam: float, targets: RowTargets) -> tuple[float, Array]:
    """(E, Q = dE/dK), Q symmetric; K is overwritten."""
    w = targets.weight
    K[np.diag_indices(len(K))] += lam / w
    error, Q = error_and_derivative(K, targets.Y, np.ones(targets.n), w, targets.total)
    return error, (Q + Q.T) / 2


def error_and_derivative(
    M: Array,  # (n, n), overwritten
    T: Array,  # (n, q)
    r: Array,  # (n,) what B annihilates
    w: Array,  # (n,) weights of the squares
    N: float,
    groups: Sequence[Array] = (),  # rows that are left out together
) -> tuple[float, Array]:
    """E, and Q with dE/dK = (Q + Q') / 2: enough for products with symmetric matrices."""
    B = _invert(M)
    B_r = B @ r
    total = float(r @ B_r)
    for rows in row_blocks(len(B), 64):
        B[rows] -= np.outer(B_r[rows], B_r / total)
    v, b = B @ T, np.diagonal(B)[:, None]
    residual = v / b
    D = -2 * w[:, None] * residual / N
    E, c = D / b, np.sum(D * v, axis=1) / b[:, 0] ** 2
    blocks = []
    for g in groups:  # r = B_gg^{-1} v_g, E = B_gg^{-1} D_g, and E r' in the place of c
        residual[g] = np.linalg.solve(B[np.ix_(g, g)], v[g])
        D[g] = -2 * w[g, None] * residual[g] / N
        E[g], c[g] = np.linalg.solve(B[np.ix_(g, g)], D[g]), 0.0
        blocks.append(E[g] @ residual[g].T)
    Q = (B @ E) @ v.T
    for rows in row_blocks(len(B), 256):
        left = B[rows] * c
        for g, C in zip(groups, blocks, strict=True):
            left[:, g] = B[rows][:, g] @ C
        Q[rows] -= left @ B
    return float(np.sum(w[:, None] * residual**2)) / N, Q


def centred_trace(K: Array, targets: RowTargets) -> float:
    """sum_i w_i Kc_ii."""
    return targets.total * kernel_variance(K, targets)


def _invert(M: Array) -> Array:
    """M^{-1} in the place of M, symmetric; not positive definite costs twice as much."""
    factor, info = lapack.dpotrf(M.T, lower=1, overwrite_a=0)
    if info:
        return np.asarray(linalg.inv(M, overwrite_a=True, check_finite=False))
    inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    for rows in row_blocks(len(inverse), 256):  # the upper triangle is what it was
        inverse[rows, rows.stop :] = inverse[rows.stop :, rows].T
        block = inverse[rows, rows]
        inverse[rows, rows] = np.tril(block) + np.tril(block, -1).T
    return np.asarray(inverse.T)


def _place(d: Array, alive: Array, p: int) -> Array:
    """The point of the whole simplex with zeros for kernels without variance."""
    whole = np.zeros(p)
    whole[alive] = d
    return whole
