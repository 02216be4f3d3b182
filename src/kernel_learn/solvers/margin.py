"""Support vector machines on a Gram matrix, with the proof that they are solved.

Hinge loss, signs y, boxes C_i, kernel matrix K, A = y * alpha:

    primal  min over A, b of  1/2 A'KA + sum_i C_i max(0, 1 - y_i f_i),   f = KA + b
    dual    max over alpha of sum_i alpha_i - 1/2 A'KA
            s.t. 0 <= alpha_i <= C_i,  y'alpha = 0

Squared hinge loss, (C_i/2) max(0, .)^2 in the primal: the dual has the kernel
matrix K + diag(1/C_i) and no upper bound on alpha.
"""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernel_learn.arrays import Array

Loss = Literal["hinge", "squared_hinge"]

# LIBSVM's tolerance is on the violation of the optimality conditions, and the
# gap is proportional to it. It keeps kernel values in single precision: below
# 1e-8 it chases rounding, and active sets in double precision go on.
FIRST_EPS, LAST_EPS = 1e-4, 1e-8
# Rounds of active sets from a solution of LIBSVM, from a problem nearby, and
# the number of free rows up to which they cost less than another run of LIBSVM.
MENDING_ROUNDS, WARM_ROUNDS = 20, 8
CHEAP_SYSTEM = 600
SMALL_BOX = 1e-30
# LIBSVM's own limit, which scikit-learn takes away: on kernels of low rank and large C rounding can
# let it go in circles for ever, at a gap that is small enough.
MOST_STEPS = 10_000_000
EDGE = 1e-8  # a row so close to its bound, relative to its box, is at the bound


@dataclass(frozen=True)
class MarginSolution:
    """m support vector machines on one kernel matrix and both their bounds.

    ``dual`` and ``primal`` are the two objectives at ``alpha`` (feasible: in
    its box and balanced) and ``intercept`` (best for that alpha), computed
    from K in double precision, whatever found them: dual <= optimum <= primal.
    """

    alpha: Array  # (n, m)
    signs: Array  # (n, m), -1 or 1
    intercept: Array  # (m,)
    scores: Array  # (n, m), K A without the intercept
    dual: Array  # (m,)
    primal: Array  # (m,)

    @property
    def A(self) -> Array:
        """y * alpha, (n, m): decision values are K A + intercept."""
        return self.signs * self.alpha

    @property
    def gap(self) -> float:
        return float(np.sum(self.primal - self.dual))

    @property
    def relative_gap(self) -> float:
        """Total gap over the total primal value."""
        return self.gap / max(float(np.sum(self.primal)), np.finfo(float).tiny)


def one_vs_rest_signs(labels: Array, n_classes: int) -> Array:
    """Signs (n, k), +1 on the column's class; two classes need one column, +1 on the second."""
    signs = np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
    return signs[:, 1:] if n_classes == 2 else signs


def check_signs(signs: Array) -> Array:
    """Columns of -1 and 1 with both of them present."""
    signs = np.asarray(signs, dtype=np.float64)
    signs = signs[:, None] if signs.ndim == 1 else signs
    if not np.all(np.abs(signs) == 1.0):
        raise ValueError("signs of a support vector machine must be -1 or 1.")
    one_sided = np.flatnonzero(np.abs(signs.sum(axis=0)) == len(signs))
    if len(one_sided):
        j = int(one_sided[0])
        raise ValueError(
            f"Machine {j} has only rows of sign {signs[0, j]:+.0f}: one class against the rest "
            "needs rows of the class and rows of the rest."
        )
    return signs


def check_boxes(C: float | Array, n: int) -> Array:
    """Boxes (n,) from a number or one number per row; positive and finite."""
    boxes = np.broadcast_to(np.asarray(C, dtype=np.float64), (n,))
    if not (np.all(np.isfinite(boxes)) and np.all(boxes > 0)):
        raise ValueError(
            f"C must be positive and finite on every row; it runs from {boxes.min():.3g} "
            f"to {boxes.max():.3g}."
        )
    return boxes


def solve_margin(
    K: Array,  # (n, n)
    signs: Array,  # (n, m) or (n,)
    C: float | Array,  # () or (n,)
    *,
    loss: Loss = "hinge",
    tol: float = 1e-6,
    max_iter: int = -1,
    start: Array | None = None,  # (n, m), the alpha of a problem nearby
) -> MarginSolution:
    """m support vector machines on K to a relative gap of ``tol`` each.

    A start is tried by active sets first; LIBSVM runs where that does not
    reach ``tol``. Reaching ``tol`` is not promised: the solution says what was.
    """
    signs = check_signs(signs)
    boxes = check_boxes(C, len(K))
    if loss not in ("hinge", "squared_hinge"):
        raise ValueError(f"loss={loss!r} is not known: give 'hinge' or 'squared_hinge'.")
    ridge = np.zeros(len(K)) if loss == "hinge" else 1.0 / boxes
    # alpha_i = C_i xi_i and (C/2) xi^2 <= value <= (sum C)/2: this box is never touched
    uppers = boxes if loss == "hinge" else 2.0 * np.sqrt(boxes * boxes.sum())
    if loss == "squared_hinge":
        K = K + np.diag(ridge)
    alphas, eps = [], first_eps(len(K), tol)
    for j, y in enumerate(signs.T):
        given = None if start is None else np.clip(start[:, j], 0.0, uppers)
        alpha, eps = _solve_one(K, y, boxes, uppers, loss, tol, max_iter, given, eps)
        alphas.append(alpha)
    return certify(K, np.stack(alphas, axis=1), signs, boxes, loss, ridge)


def first_eps(n: int, tol: float) -> float:
    """LIBSVM's first tolerance: of many rows the last one too, as a second run is dear.

    The relative gap was .1 to .2 of LIBSVM's tolerance wherever it was measured.
    """
    return FIRST_EPS if n <= 2 * CHEAP_SYSTEM else float(np.clip(4 * tol, LAST_EPS, FIRST_EPS))


def certify(
    K: Array,  # (n, n), with the ridge of the squared hinge loss on its diagonal
    alpha: Array,  # (n, m), feasible
    signs: Array,
    boxes: Array,  # (n,)
    loss: Loss = "hinge",
    ridge: Array | None = None,  # (n,), what was added to the diagonal
) -> MarginSolution:
    """Both objectives at alpha, each machine with its best intercept."""
    A = signs * alpha
    K_A = _product(K, A)
    scores = K_A if ridge is None else K_A - ridge[:, None] * A
    dual = alpha.sum(axis=0) - 0.5 * np.einsum("ij,ij->j", A, K_A)
    lengths = np.einsum("ij,ij->j", A, scores)  # |w|^2
    return solution_from_scores(alpha, signs, scores, lengths, dual, boxes, loss)


def _product(K: Array, A: Array) -> Array:
    """K A from the rows of K that count, if they are few."""
    rows = np.flatnonzero(A.any(axis=1))
    return np.asarray(K[rows].T @ A[rows] if 3 * len(rows) < len(K) else K @ A)


def solution_from_scores(
    alpha: Array,
    signs: Array,
    scores: Array,  # (n, m), without intercept
    lengths: Array,  # (m,), |w|^2 of the machines that have these scores
    dual: Array,
    boxes: Array,
    loss: Loss = "hinge",
) -> MarginSolution:
    """Machines with these scores: best intercepts, and the primal value with them."""
    pairs = list(zip(scores.T, signs.T, strict=True))
    intercept = np.array([best_intercept(f, y, boxes, loss) for f, y in pairs])
    losses = np.array(
        [total_loss(f + b, y, boxes, loss) for (f, y), b in zip(pairs, intercept, strict=True)]
    )
    return MarginSolution(alpha, signs, intercept, scores, dual, 0.5 * lengths + losses)


def total_loss(f: Array, y: Array, boxes: Array, loss: Loss = "hinge") -> float:
    """sum_i C_i max(0, 1 - y_i f_i), or its squared form."""
    slack = np.maximum(0.0, 1.0 - y * f)
    return float(boxes @ slack) if loss == "hinge" else 0.5 * float(boxes @ slack**2)


def best_intercept(f: Array, y: Array, boxes: Array, loss: Loss = "hinge") -> float:
    """The b with the smallest total loss of f + b.

    Row i loses C_i max(0, +-(t_i - b)) with t = y - f. For the hinge loss the
    slope jumps by C_i at t_i, from -(C over y = 1) to +(C over y = -1): the
    minimiser is a weighted quantile, and the middle where it is an interval.
    """
    t = y - f
    order = np.argsort(t, kind="stable")
    t, y, c = t[order], y[order], boxes[order]
    # left of every t all positive rows lose; each t passed turns one off or on
    active = float(c @ (y > 0))
    if loss == "hinge":
        slope = np.concatenate([[-active], np.cumsum(c) - active])  # left of t_0, t_0..t_1, ...
        flat = 1e-12 * float(c.sum())
        low = int(np.searchsorted(slope, -flat))  # first piece that does not fall
        high = int(np.searchsorted(slope, flat, side="right"))  # first piece that rises
        return 0.5 * float(t[max(low - 1, 0)] + t[min(high - 1, len(t) - 1)])
    # squared: the slope is sum of c (b - t) over the rows that lose, linear between the t
    weight = active + np.concatenate([[0.0], np.cumsum(-y * c)])
    moment = float((c * t) @ (y > 0)) + np.concatenate([[0.0], np.cumsum(-y * c * t)])
    ends = np.append(t, np.inf)
    with np.errstate(invalid="ignore"):
        rising = weight * ends - moment >= 0  # the slope at the right end of each piece
    piece = int(np.argmax(rising | (np.arange(len(ends)) == len(ends) - 1)))
    return float(moment[piece] / weight[piece]) if weight[piece] > 0 else float(t[piece - 1])


def balance(alpha: Array, y: Array) -> Array:
    """Scale down the heavier side so that y'alpha = 0; boxes stay kept."""
    plus, minus = float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    lighter = min(plus, minus)
    scale = np.where(
        y > 0, lighter / plus if plus > 0 else 0.0, lighter / minus if minus > 0 else 0.0
    )
    return np.asarray(alpha * scale)


def _solve_one(
    K: Array,
    y: Array,
    boxes: Array,
    uppers: Array,
    loss: Loss,
    tol: float,
    max_iter: int,
    start: Array | None,
    eps: float,
) -> tuple[Array, float]:
    """(alpha, eps) of one machine, eps the tolerance of LIBSVM that was enough."""
    ridge = None if loss == "hinge" else 1.0 / boxes

    def gap(alpha: Array) -> float:
        return certify(K, alpha[:, None], y[:, None], boxes, loss, ridge).relative_gap

    if start is not None:
        alpha = _mend(K, y, uppers, balance(start, y), WARM_ROUNDS)
        if gap(alpha) <= tol:
            return alpha, eps
    while True:
        alpha = _libsvm(K, y, uppers, eps, max_iter)
        left = gap(alpha)
        if left <= tol:
            return alpha, eps
        last = eps <= LAST_EPS or max_iter > 0
        if last or _n_free(alpha, uppers) <= CHEAP_SYSTEM:
            mended = _mend(K, y, uppers, alpha, MENDING_ROUNDS)
            mended_gap = gap(mended)
            if last or mended_gap <= tol:
                return (mended if mended_gap < left else alpha), eps
        eps = max(0.5 * eps * tol / left, LAST_EPS)


def _libsvm(K: Array, y: Array, uppers: Array, eps: float, max_iter: int) -> Array:
    """alpha by LIBSVM; its boxes are C times a weight per row."""
    scale = float(uppers.max())
    if scale < SMALL_BOX:
        # alpha = scale * beta: LIBSVM loses boxes so small, and the problem in beta has boxes 1
        return scale * _libsvm(scale * K, y, uppers / scale, eps, max_iter)
    cache = int(min(2000.0, 200.0 + 4e-6 * K.size))
    steps = max_iter if max_iter > 0 else max(MOST_STEPS, 100 * len(y))
    machine = SVC(C=scale, kernel="precomputed", tol=eps, max_iter=steps, cache_size=cache)
    uniform = bool(np.all(uppers == scale))
    # K was made here: there is no need to look through it for what is not finite
    with warnings.catch_warnings(), config_context(assume_finite=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says it, with a number
        machine.fit(K, y, sample_weight=None if uniform else uppers / scale)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return balance(np.minimum(alpha, uppers), y)


def _n_free(alpha: Array, uppers: Array) -> int:
    return int(np.sum((alpha > EDGE * uppers) & (alpha < (1 - EDGE) * uppers)))


def _mend(K: Array, y: Array, uppers: Array, alpha: Array, rounds: int) -> Array:
    """Active sets from alpha: rows at 0, rows at C, and a linear system for those between.

    With the rows F free and U at their boxes,

        K_FF A_F + b = y_F - K_FU A_U,    1'A_F = -1'A_U.

    A free row that leaves its box is fixed at the side it left by; a fixed row
    whose margin is on the wrong side is set free. Ends when no row moves:
    alpha is then optimal. Returns what it was given where a system is singular
    or the rounds run out.
    """
    given = alpha
    free = (alpha > EDGE * uppers) & (alpha < (1 - EDGE) * uppers)
    bound = alpha >= (1 - EDGE) * uppers
    # the kernel is centred: 11' shifts b alone, and keeps K_FF regular when all rows are free
    shift = float(np.mean(np.diagonal(K)))
    for _ in range(rounds):
        F, U = np.flatnonzero(free), np.flatnonzero(bound)
        A_U = (y * uppers)[U]
        if not len(F):
            return given
        try:
            K_FF = K[np.ix_(F, F)] + shift
            K_FF[np.diag_indices(len(F))] += 1e-12 * shift  # repeated rows: any split of alpha
            factor = linalg.cho_factor(K_FF, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return given
        right = np.stack([y[F] - K[np.ix_(F, U)] @ A_U, np.ones(len(F))], axis=1)
        u, v = linalg.cho_solve(factor, right, check_finite=False).T
        b = (float(u.sum()) + float(A_U.sum())) / float(v.sum())  # with -shift * 1'A_U in it
        A = np.zeros(len(y))
        A[U], A[F] = A_U, u - b * v
        rows = np.flatnonzero(A)
        f = K[:, rows] @ A[rows] + b + shift * float(A[F].sum())
        alpha, slack = y * A, 1.0 - y * f
        falls, rises = free & (alpha < -EDGE * uppers), free & (alpha > (1 + EDGE) * uppers)
        enters = ~free & np.where(bound, slack < -EDGE, slack > EDGE)
        if not (falls | rises | enters).any():
            return balance(np.clip(alpha, 0.0, uppers), y)
        free = (free & ~falls & ~rises) | enters
        bound = (bound & ~enters) | rises
    return given


class LinearMargin:
    """One hinge machine on rows F (n, r): K = F F', w = F'A.

    The questions that an interior-point method asks; products in the dtype of
    F, bounds in double precision.
    """

    def __init__(self, F: Array, y: Array, boxes: Array) -> None:
        self.F, self.y, self.boxes = F, y, boxes

    def normal(self, alpha: Array, rows: Array | slice = slice(None)) -> Array:
        """F'A over the given rows."""
        A = (self.y * alpha)[rows].astype(self.F.dtype, copy=False)
        return np.asarray(self.F[rows].T @ A, dtype=np.float64)

    def scores(self, w: Array) -> Array:
        return np.asarray(self.F @ w.astype(self.F.dtype, copy=False), dtype=np.float64)

    def feasible(self, alpha: Array) -> Array:
        """alpha in its box and balanced."""
        return balance(np.clip(alpha, 0.0, self.boxes), self.y)

    def bounds(self, alpha: Array) -> tuple[float, float, Array]:
        """(dual value, primal value, slacks 1 - y f) of a feasible alpha."""
        w = self.normal(alpha)
        f = self.scores(w)
        b = best_intercept(f, self.y, self.boxes)
        half = 0.5 * float(w @ w)
        upper = half + total_loss(f + b, self.y, self.boxes)
        return float(alpha.sum()) - half, upper, 1.0 - self.y * (f + b)
