"""Weights of kernels by the margin of support vector machines (Lanckriet et al. 2004; Chen 5.5)."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.evaluation import Evaluation, IdentityVertex, WeightCriterion
from kernel_learn.representations.gram import GramForm
from kernel_learn.solvers.margin import (
    Loss,
    MarginSolution,
    balance,
    certify,
    check_boxes,
    solve_margin,
)
from kernel_learn.solvers.margin_interior import solve_interior
from kernel_learn.solvers.sdp import Expression

# The least weight of the identity when C is learned: C <= 1e6 on kernels of trace n.
LEAST_RIDGE = 1e-6
# Machines are solved to this share of the gap that is asked for.
INNER_TOL = 1e-7
# Steps of LIBSVM for one machine: on singular kernel matrices the last digits can take ten
# million (30 s for 20 rows). Up to so many rows interior points give them instead, one
# factorisation a step.
MACHINE_STEPS = 50_000
WARM_STEPS = 2000
INTERIOR_ROWS = 3000


class MarginWeights(WeightCriterion):
    """min over d of J(d) = sum over machines of the optimum of an SVM with kernel K(d).

    K(d) = sum_i d_i K_i, d on the simplex, kernels of trace n (not centred); one machine per
    class against the rest, one for two classes, all with the same weights.

    - ``loss="hinge"``: SM1. max over 0 <= alpha <= C, y'alpha = 0 of sum alpha - 1/2 A'K(d)A.
    - ``loss="squared_hinge"``: SM2. The same with K(d) + I/C and alpha >= 0.
    - ``loss="squared_hinge", C="learn"``: SM2_C. The identity is one more kernel,
      d = (d_0, d_1, ..., d_p), and C = (d_1 + ... + d_p) / d_0.

    For any feasible alpha the dual value is linear in d and below J: gradient -1/2 A'K_i A, a
    tangent wherever the machine stops; the primal value is the upper bound. With the rows F
    strictly inside their box, the Hessian is D_i,F' [K_FF^{-1}] D_j,F, D_i = K_i A, with K_FF
    bordered by the constraint on alpha.
    """

    bank: GramForm

    def __init__(
        self,
        bank: GramForm,
        signs: Array,  # (n, m)
        C: float | str,  # number, "learn"
        *,
        loss: Loss = "hinge",
        prices: Array | None = None,  # (n,), factors on C
    ) -> None:
        if C == "learn" and loss != "squared_hinge":
            raise ValueError('C="learn" needs loss="squared_hinge": 1/C is the weight of I there.')
        self.bank, self.signs, self.loss, self.C = bank, signs, loss, C
        self.prices = np.ones(len(signs)) if prices is None else prices
        self.identity = IdentityVertex(bank.uniform(), LEAST_RIDGE)
        self.alpha: Array | None = None
        # a row of weight zero (in a kernel matrix they stay) has a box that is all but closed
        self.row_weight = np.maximum(bank.weight, 1e-12 * bank.weight.max())

    @property
    def learns_C(self) -> bool:
        """Whether 1/C is one more weight."""
        return isinstance(self.C, str)

    @property
    def size(self) -> int:
        return self.bank.p + self.learns_C

    def start(self) -> Array:
        d = self.bank.uniform()
        return np.concatenate([[0.5], d / 2]) if self.learns_C else d

    def shares(self, d: Array) -> Array:
        return self.identity.shares(d) if self.learns_C else d

    def learned_C(self, d: Array) -> float:
        """The C of d."""
        return 1.0 / self.identity.ratio(d) if self.learns_C else float(self.C)

    def boxes(self, C: float) -> Array:
        """C per row, times the row's weight."""
        return np.asarray(C * self.prices * self.row_weight)

    def evaluate(self, d: Array) -> Evaluation:
        weights, ridge = self.identity.split(d) if self.learns_C else (d, 1.0 / float(self.C))
        K, C = self.bank.combine(weights), 1.0 / ridge
        solution = self._solve(K, C)
        D = self.bank.products(solution.A)
        if self.learns_C:
            # the ridge of a row is 1 / (C price weight)
            own = solution.A / (self.prices * self.row_weight)[:, None]
            D = np.concatenate([own[None], D])
            D = np.tensordot(self.identity.M.T, D, 1)
        return self._evaluation(K, solution, C, D)

    def _solve(self, K: Array, C: float) -> MarginSolution:
        solution = self.machines(K, C, self.alpha)
        self.alpha = solution.alpha
        return solution

    def machines(self, K: Array, C: float, start: Array | None = None) -> MarginSolution:
        """The machines on the kernel matrix K; interior points where LIBSVM leaves too much."""
        boxes, small = self.boxes(C), len(K) <= INTERIOR_ROWS
        solution = solve_margin(
            K,
            self.signs,
            boxes,
            loss=self.loss,
            tol=INNER_TOL,
            max_iter=(MACHINE_STEPS if start is None else WARM_STEPS) if small else -1,
            start=start,
        )
        left = (solution.primal - solution.dual) > INNER_TOL * np.abs(solution.primal)
        if not small or not left.any():
            return solution
        squared = self.loss == "squared_hinge"
        uppers = 2.0 * np.sqrt(boxes * boxes.sum()) if squared else boxes
        K = K + np.diag(1.0 / boxes) if squared else K
        alpha = solution.alpha.copy()
        for j in np.flatnonzero(left):
            y = self.signs[:, j]
            alpha[:, j] = balance(solve_interior(K, y, uppers), y)
        found = certify(K, alpha, self.signs, boxes, self.loss, 1.0 / boxes if squared else None)
        return found if found.gap < solution.gap else solution

    def _evaluation(
        self,
        K: Array,
        solution: MarginSolution,
        C: float,
        D: Array,
        curvature: Callable[[], Array] | None = None,
    ) -> Evaluation:
        """D is dK/dd_i A, (q, n, m)."""

        def hessian() -> Array:
            H = movement(K, solution, self.boxes(C), self.loss, D)
            return H if curvature is None else H + curvature()

        return Evaluation(
            float(solution.primal.sum()),
            -0.5 * np.einsum("nm,inm->i", solution.A, D),
            float(solution.dual.sum()),
            hessian,
        )

    def semidefinite(self, cp: ModuleType, d: Expression) -> tuple[Expression, list[Expression]]:
        """Each machine in the primal: f'K(d)^{-1}f <= t as a linear matrix inequality."""
        K = _weighted_sum(self.bank, d[1:] if self.learns_C else d)
        if self.learns_C:
            K = K + (d[0] + LEAST_RIDGE) * np.diag(1.0 / (self.prices * self.row_weight))
        objective, constraints = 0.0, []
        for y in self.signs.T:
            f, b, t = cp.Variable((len(y), 1)), cp.Variable(), cp.Variable((1, 1))
            constraints.append(cp.bmat([[K, f], [f.T, t]]) >> 0)
            margins = cp.multiply(y, f[:, 0] + b)
            objective += 0.5 * t[0, 0]
            if self.learns_C:
                constraints.append(margins >= 1)
            else:
                objective += _loss(cp, margins, self.boxes(float(self.C)), self.loss)
        return objective, constraints


class SubspaceMarginWeights(MarginWeights):
    """SVM_mkl (Chen, Eq. 39): the same with the kernel G (G + reg I)^{-1}, G = G(d) centred.

    That is the kernel of the uncorrelated subspace learned jointly with the machines, for at
    least as many features as machines; it is operator concave in G, so J is convex. With
    M = G + reg I: Khat = I - reg M^{-1}, D_i = reg M^{-1} G_i M^{-1} A, and the Hessian has one
    more term, reg A'M^{-1} G_i M^{-1} G_j M^{-1} A. Rows that stand for several have G scaled by
    the roots of their weights, S^{1/2} G S^{1/2}, and Khat scaled back.
    """

    def __init__(
        self,
        bank: GramForm,
        signs: Array,
        C: float,
        *,
        reg: float,
        loss: Loss = "hinge",
        prices: Array | None = None,  # (n,), factors on C
    ) -> None:
        super().__init__(bank, signs, C, loss=loss, prices=prices)
        self.reg = reg

    def evaluate(self, d: Array) -> Evaluation:
        M = self.bank.combine(d)
        M[np.diag_indices(len(M))] += self.reg
        factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        Khat = -self.reg * linalg.cho_solve(factor, np.eye(len(M)), check_finite=False)
        Khat[np.diag_indices(len(M))] += 1.0
        back = 1.0 / self.bank.root_weight
        Khat = back[:, None] * ((Khat + Khat.T) / 2) * back
        solution = self._solve(Khat, float(self.C))
        Minv_A = linalg.cho_solve(factor, back[:, None] * solution.A, check_finite=False)
        E = self.bank.products(Minv_A)  # G_i M^{-1} A, (p, n, m)
        p, n, m = E.shape
        stacked = E.transpose(1, 0, 2).reshape(n, p * m)
        D = self.reg * linalg.cho_solve(factor, stacked, check_finite=False)
        D = D.reshape(n, p, m).transpose(1, 0, 2)

        def curvature() -> Array:
            return np.asarray(E.reshape(p, -1) @ D.reshape(p, -1).T)

        return self._evaluation(Khat, solution, float(self.C), back[:, None] * D, curvature)

    def semidefinite(self, cp: ModuleType, d: Expression) -> tuple[Expression, list[Expression]]:
        """f'Khat^{-1}f = |f|^2 + reg f'G^{-1}f on the range of G (rows of weight one)."""
        G = _weighted_sum(self.bank, d)
        objective, constraints = 0.0, []
        for y in self.signs.T:
            f, b, t = cp.Variable((len(y), 1)), cp.Variable(), cp.Variable((1, 1))
            constraints.append(cp.bmat([[G, f], [f.T, t]]) >> 0)
            margins = cp.multiply(y, f[:, 0] + b)
            objective += 0.5 * cp.sum_squares(f) + 0.5 * self.reg * t[0, 0]
            objective += _loss(cp, margins, self.boxes(float(self.C)), self.loss)
        return objective, constraints


class ProjectedMarginWeights(SubspaceMarginWeights):
    """The same with G (G + reg I)^{-1} G, the kernel of the projected subspace (SVM_joint).

    Khat = G - reg I + reg^2 M^{-1} is operator convex in G, and J neither convex nor concave in d:
    no tangent is a bound. dKhat A = dG A - reg^2 M^{-1} dG M^{-1} A.
    """

    convex = False
    has_hessian = False

    def evaluate(self, d: Array) -> Evaluation:
        back = 1.0 / self.bank.root_weight
        Khat, factor = project_gram(self.bank.combine(d), self.reg, back)
        solution = self._solve(Khat, float(self.C))
        A = back[:, None] * solution.A
        Minv_A = linalg.cho_solve(factor, A, check_finite=False)
        inner = np.einsum("nm,inm->i", A, self.bank.products(A))
        shrunk = np.einsum("nm,inm->i", Minv_A, self.bank.products(Minv_A))
        gradient = -0.5 * (inner - self.reg**2 * shrunk)
        return Evaluation(float(solution.primal.sum()), gradient, -np.inf)


class ProjectedForm(GramForm):
    """Khat_i of each kernel alone, G_i of trace n: a convex problem below the projected one.

    Khat is operator convex, Khat(sum_i d_i G_i) <= sum_i d_i Khat_i, and more kernel lowers the
    value of a machine. So the optimum over d of ``MarginWeights`` on these is a lower bound
    of J(d) for every d, and meets it where one kernel alone is best. It takes the matrices
    that the form keeps, and writes to them when it is first asked for one.
    """

    def __init__(self, form: GramForm, reg: float) -> None:
        self.__dict__.update(form.__dict__)
        self.kept, self.given, self.reg = {}, dict(form.kept), reg
        self.trace_n = form.scales
        self.traces = np.where(form.alive, form.n, 0.0)

    def gram(self, i: int) -> Array:
        if i in self.kept:
            return self.kept[i]
        is_kept = i in self.given
        G = self.given.pop(i) if is_kept else self._centred(self._evaluate(i))
        G *= self.trace_n[i]
        Khat, _ = project_gram(G, self.reg, 1.0 / self.root_weight)
        if is_kept:
            self.kept[i] = Khat
        return Khat

    def _sum(self, theta: Array) -> Array:
        total = np.zeros((len(self.weight), len(self.weight)))
        for i in np.flatnonzero(theta):
            total += theta[i] * self.gram(int(i))
        return total


def project_gram(G: Array, reg: float, back: Array) -> tuple[Array, tuple[Array, bool]]:
    """(S^{-1/2} G M^{-1} G S^{-1/2} in the place of G, the factor of M = G + reg I)."""
    M = G.copy()
    M[np.diag_indices(len(M))] += reg
    factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    inverse = linalg.cho_solve(factor, np.eye(len(M)), check_finite=False)
    inverse *= reg**2
    G += (inverse + inverse.T) / 2
    G[np.diag_indices(len(G))] -= reg
    G *= back
    G *= back[:, None]
    return G, factor


def movement(K: Array, solution: MarginSolution, boxes: Array, loss: Loss, D: Array) -> Array:
    """sum over machines of D_i,F' B D_j,F with B = K_FF^{-1} - K_FF^{-1} 1 1'K_FF^{-1} / (1'..1).

    How the machines' alpha moves with the kernel: rows at 0 or C stay.
    """
    boxes = check_boxes(boxes, len(K))
    H = np.zeros((len(D), len(D)))
    for j, alpha in enumerate(solution.alpha.T):
        inside = alpha > 1e-8 * alpha.max(initial=0.0)
        if loss == "hinge":
            inside &= alpha < (1 - 1e-8) * boxes
        F = np.flatnonzero(inside)
        if not len(F):
            continue
        K_FF = K[np.ix_(F, F)]
        ridge = 1e-10 * float(np.trace(K_FF)) / len(F) + np.finfo(float).tiny
        K_FF[np.diag_indices(len(F))] += ridge if loss == "hinge" else 1.0 / boxes[F]
        try:
            factor = linalg.cho_factor(K_FF, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        D_F = D[:, F, j].T  # (F, q)
        solved = linalg.cho_solve(
            factor, np.hstack([D_F, np.ones((len(F), 1))]), check_finite=False
        )
        Kinv_D, Kinv_1 = solved[:, :-1], solved[:, -1]
        column = D_F.T @ Kinv_1
        H += D_F.T @ Kinv_D - np.outer(column, column) / float(Kinv_1.sum())
    return H


def _weighted_sum(bank: GramForm, d: Expression) -> Expression:
    return sum(d[i] * (scale * bank.gram(i)) for i, scale in enumerate(bank.scales))


def _loss(cp: ModuleType, margins: Expression, boxes: Array, loss: Loss) -> Expression:
    slack = cp.pos(1 - margins)
    return boxes @ slack if loss == "hinge" else 0.5 * (boxes @ cp.square(slack))
