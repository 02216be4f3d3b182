"""Regularised kernel learning under linear constraints (Jain, Kulis & Dhillon 2010).

    min over A >= 0, s of  f(A) + (gamma/2) |s|^2   s.t.  sg_c <C_c, A> <= b_c + s_c

for a spectral f. With X(z) = -sum_c z_c sg_c C_c its dual is one smooth problem
whatever f and the constraints are:

    max over z >= 0 of  inf_A [f(A) - <X(z), A>] - z'b - |z|^2 / (2 gamma)

with the gradient sg_c <C_c, A(z)> - b_c - z_c / gamma; the primal value of A(z)
gives the gap.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.general_forms.penalties import PricedPenalty
from kernel_learn.criteria.measure import LinearConstraints
from kernel_learn.criteria.regularizers import Regularizer
from kernel_learn.rows.access import row_blocks

# Newton's method solves systems of this size: 0.1 s for a Cholesky factorisation of 2000.
NEWTON_SIZE = 2000
NEWTON_BLOCK = 512


@dataclass(frozen=True)
class DualPoint:
    """The dual at z: value, gradient, and the primal point A(z) with its value."""

    value: float
    gradient: Array  # (m,)
    primal: float
    A: Array  # (M, M)


class RegularizedDual:
    """The dual above, for one regulariser, its constraints and the price gamma of slack."""

    def __init__(
        self,
        regularizer: Regularizer,
        constraints: LinearConstraints,
        gamma: float,
        bound: Array | None = None,  # (m,) in place of the constraints' own
    ) -> None:
        self.regularizer = regularizer
        self.constraints = constraints
        self.gamma = gamma
        self.n = constraints.n
        self.sign = constraints.sign
        self.bound = constraints.bound if bound is None else bound

    def evaluate(self, z: Array) -> DualPoint | None:
        """None where the dual is minus infinity."""
        minimum = self.regularizer.minimize(-self.constraints.combine(z * self.sign))
        if minimum is None:
            return None
        excess = self.sign * self.constraints.inner(minimum.A) - self.bound
        value = minimum.infimum - float(z @ self.bound) - float(z @ z) / (2 * self.gamma)
        slack = np.maximum(excess, 0)
        primal = minimum.value + self.gamma / 2 * float(slack @ slack)
        return DualPoint(value, excess - z / self.gamma, primal, minimum.A)

    def newton_step(self, z: Array, gradient: Array, free: Array) -> Array | None:
        """(E E' + I/gamma)^{-1} gradient on the free multipliers; None if that is too large.

        E = B H^{1/2} with the rows svec(C_c) of B in the eigenbasis of X(z), where the
        derivative H of A(X) is diagonal: the divided differences of ``minimizer``.
        By Woodbury a system of the size q <= M (M+1)/2 of the non-zero differences.
        """
        M, F = self.constraints.dimension, np.flatnonzero(free)
        if M * (M + 1) // 2 > NEWTON_SIZE:
            return None
        X = self.regularizer.shifted(-self.constraints.combine(z * self.sign))
        x, U = linalg.eigh(X, check_finite=False)
        H = divided_differences(self.regularizer, x)
        i, j = np.triu_indices(M)
        kept = H[i, j] > 0
        i, j = i[kept], j[kept]
        root = np.sqrt(H[i, j] * np.where(i == j, 1.0, 2.0))

        def rows(part: slice) -> Array:
            return np.asarray(self.constraints.entries(U, F[part], i, j) * root)

        # E has a row per free multiplier, so it is made twice in blocks and never held
        blocks = list(row_blocks(len(F), NEWTON_BLOCK))
        g = self.sign[F] * gradient[F]
        inner, ET_g = np.eye(len(i)) / self.gamma, np.zeros(len(i))
        for part in blocks:
            E = rows(part)
            inner += E.T @ E
            ET_g += E.T @ g[part]
        y = linalg.solve(inner, ET_g, assume_a="pos", overwrite_a=True, check_finite=False)
        step = np.zeros(self.n)
        for part in blocks:
            step[F[part]] = self.gamma * self.sign[F[part]] * (g[part] - rows(part) @ y)
        return step

    def curvature(self) -> float:
        """L, the largest eigenvalue of the Gram matrix <C_c, C_d>, plus 1/gamma.

        Where A(X) has Lipschitz constant 1 (all but LogDet) it bounds the
        curvature of the dual. By the power method, rounded up.
        """
        y = np.ones(self.n) / np.sqrt(max(self.n, 1))
        largest = 0.0
        for _ in range(100):
            C_y = self.constraints.combine(y)
            y = self.constraints.inner(C_y)
            before, largest = largest, float(np.linalg.norm(y))
            if largest == 0:
                break
            y /= largest
            if largest <= before * (1 + 1e-4):
                break
        return 1.05 * largest + 1 / self.gamma

    def zero_threshold(self, price: PricedPenalty | None = None) -> float:
        """The tau from which on A = 0 is optimal for the trace norm.

        At A = 0 the slack is max(-b, 0), its multipliers gamma times that (the slopes of
        another penalty), and A = (X(z) - tau I)_+ vanishes as soon as tau reaches the top
        eigenvalue of X(z).
        """
        short = np.maximum(-self.bound, 0)
        if not np.isfinite(self.gamma):  # a violation has no price: no tau is large enough
            return np.inf if short.any() else 0.0
        z = self.gamma * short if price is None else price.slope(-self.bound)
        X = -self.constraints.combine(z * self.sign)
        return float(np.linalg.eigvalsh(X)[-1])


def divided_differences(regularizer: Regularizer, x: Array) -> Array:
    """(w_i - w_j)/(x_i - x_j) of w = minimizer(x), and its derivative where x_i = x_j."""
    w = regularizer.minimizer(x)
    h = 1e-7 * (1 + np.abs(x))
    below = x - h  # towards the inside of the domain
    slope = (w - regularizer.minimizer(below)) / h
    dx, dw = x[:, None] - x, w[:, None] - w
    near = np.abs(dx) < 1e-6 * (1 + np.abs(x))
    middle = (slope[:, None] + slope) / 2
    return np.maximum(np.where(near, middle, dw / np.where(near, 1.0, dx)), 0.0)
