"""Regularised kernel learning under linear constraints (Jain, Kulis & Dhillon 2010).

    min over A >= 0, s of  f(A) + (gamma/2) |s|^2   s.t.  sg_c <C_c, A> <= b_c + s_c

for a spectral f. With X(z) = -sum_c z_c sg_c C_c its dual is one smooth problem
whatever f and the constraints are:

    max over z >= 0 of  inf_A [f(A) - <X(z), A>] - z'b - |z|^2 / (2 gamma)

with the gradient sg_c <C_c, A(z)> - b_c - z_c / gamma; the primal value of A(z)
gives the gap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from kernel_learn.criteria.constraints import LinearConstraints, Terms
from kernel_learn.criteria.regularizers import Regularizer
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import row_blocks
from kernel_learn.representations.base import Array, Rows
from kernel_learn.representations.entries import own_values, paired_values, summed_values

# Newton's method solves systems of this size: 0.1 s for a Cholesky factorisation of 2000.
NEWTON_SIZE = 2000
NEWTON_BLOCK = 512
# Percentiles of the base kernel are taken over the pairs of so many distinct rows.
REFERENCE_ROWS = 1000


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
        self, regularizer: Regularizer, constraints: LinearConstraints, gamma: float
    ) -> None:
        self.regularizer = regularizer
        self.constraints = constraints
        self.gamma = gamma
        self.n = constraints.n
        self.sign, self.bound = constraints.sign, constraints.bound

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
        if M * (M + 1) // 2 > NEWTON_SIZE or not hasattr(self.regularizer, "minimizer"):
            return None
        x, U = linalg.eigh(-self.constraints.combine(z * self.sign), check_finite=False)
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

    def zero_threshold(self) -> float:
        """The tau from which on A = 0 is optimal for the trace norm.

        At A = 0 the slack is max(-b, 0), its multipliers gamma times that, and
        A = (X(z) - tau I)_+ vanishes as soon as tau reaches the top eigenvalue of X(z).
        """
        z = self.gamma * np.maximum(-self.bound, 0)
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


class BaseReference:
    """Percentiles of squared distances and values of the base kernel between distinct rows."""

    def __init__(self, K: Array) -> None:  # (m, m)
        K = K[:REFERENCE_ROWS, :REFERENCE_ROWS]
        upper = [K[i, i + 1 :] for i in range(len(K))]
        d = np.diagonal(K)
        self.values = np.concatenate([*upper, np.empty(0)])
        apart = [d[i] + d[i + 1 :] - 2 * row for i, row in enumerate(upper)]
        self.distances = np.maximum(np.concatenate([*apart, np.empty(0)]), 0.0)
        self.mean_diagonal = float(np.mean(d))

    @property
    def scale(self) -> float:
        """The size of a squared distance; slack is measured in it."""
        return float(np.mean(self.distances)) if len(self.distances) else 0.0

    def distance(self, q: float) -> float:
        return float(np.percentile(self.distances, q))

    def similarity(self, q: float) -> float:
        return float(np.percentile(self.values, q))


class Measured(NamedTuple):
    """Constraints on A, and the bounds as they stand on the learned kernel."""

    constraints: LinearConstraints
    kernel_bound: Array  # (m,)


def measure_constraints(
    terms: Terms,  # points are rows or sums of them
    features_of: Callable[[Array], Array],  # of rows, by their indices
    alpha: float,
    base_values: Callable[[Terms], Array] | None,  # None: the features reproduce the base kernel
) -> Measured:
    """The constraints in the features of their points, with the bounds corrected.

    The learned kernel is alpha (k - z'z) + z'A z, so a constraint on it is one
    on A with b_c - alpha sg_c <C_c, K - Z Z'> in place of b_c (Jain et al., Theorem 2).
    """
    n_sums = len(terms.sums)
    ids = np.unique(np.concatenate([terms.left, terms.right]))
    rows = ids[ids >= 0]
    Z = features_of(rows)
    if n_sums:
        sums = zip(terms.sums, terms.sum_weights, strict=True)
        Z = np.vstack([*(w * features_of(members).sum(axis=0) for members, w in sums), Z])
    number = terms._replace(
        left=number_points(terms.left, rows, n_sums), right=number_points(terms.right, rows, n_sums)
    )
    constraints = LinearConstraints(Z, number, terms.bound)
    if base_values is None and not terms.base_share.any():
        return Measured(constraints, terms.bound)
    in_features = constraints.inner(np.eye(Z.shape[1]))
    base = in_features if base_values is None else base_values(terms)
    bound = terms.bound + terms.base_share * np.maximum(base, 0.0)
    constraints.bound = bound - alpha * terms.sign * (base - in_features)
    return Measured(constraints, bound)


def number_points(points: Array, rows: Array, n_sums: int) -> Array:
    """Rows of X and sums (negative) as positions in [sums, rows]."""
    return np.where(points < 0, -1 - points, n_sums + np.searchsorted(rows, points))


def kernel_values(terms: Terms, kernel: Kernel, X: Rows) -> Array:
    """<C_c, K> under the base kernel itself, from single entries of K."""
    total = np.zeros(len(terms.left))
    for a in range(2):
        for b in range(2):
            coef = terms.left_coef[:, a] * terms.right_coef[:, b]
            total += coef * point_products(terms, kernel, X, terms.left[:, a], terms.right[:, b])
    return np.bincount(terms.owner, terms.weight * total, len(terms.sign))


def point_products(terms: Terms, kernel: Kernel, X: Rows, left: Array, right: Array) -> Array:
    """K between points; the left ones are rows."""
    values = np.empty(len(left))
    plain = right >= 0
    same = plain & (left == right)
    if same.any():
        rows, inverse = np.unique(left[same], return_inverse=True)
        values[same] = own_values(kernel, X, rows)[inverse]
    other = plain & ~same
    values[other] = paired_values(kernel, X, left[other], right[other])
    for a, (members, weight) in enumerate(zip(terms.sums, terms.sum_weights, strict=True)):
        own = right == -1 - a
        if own.any():
            values[own] = weight * summed_values(kernel, X, left[own], members)
    return values
