"""The linear system of Newton's method for a metric under weighted linear constraints.

    find V = V' (M, M) with   W^{-1} V W^{-1} + sum_c d_c <C_c, V> C_c = B,   W = R R', d >= 0

In the coordinates V = R Y R' the first term is Y itself. Of the m constraints with d_c > 0 and
the M (M+1)/2 entries of V the smaller number decides what is factored; where both are above
``DIRECT_SIZE`` conjugate gradients need two products of BLAS-3 with the constraints per step.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array

DIRECT_SIZE = 2000  # 0.1 s for a Cholesky factorisation
BLOCK_SIZE = 512
MAX_PRODUCTS = 300


class MetricConstraints(Protocol):
    """What the system asks of its constraints."""

    @property
    def n(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    def inner(self, A: Array) -> Array:
        """<C_c, A>, (m,)."""
        ...

    def combine(self, y: Array) -> Array:
        """sum_c y_c C_c, (M, M)."""
        ...

    def entries(self, Q: Array, chosen: Array, i: Array, j: Array) -> Array:
        """[Q'C_c Q]_ij, (n_chosen, n_entries)."""
        ...

    def products(self, W: Array, chosen: Array) -> Array:
        """<C_c, W C_e W>, (n_chosen, n_chosen)."""
        ...

    def squares(self, Q: Array, d: Array) -> Array:
        """About sum_c d_c [Q'C_c Q]_ij^2, (M, M): exact where a constraint is one term."""
        ...


Solver = Callable[[Array], Array]


def prepare_system(
    constraints: MetricConstraints,
    R: Array,  # (M, M)
    d: Array,  # (m,)
    *,
    direct: bool,
    accuracy: float,
) -> Solver:
    """B -> V. ``direct``: factor where one of the two sizes allows it; else to ``accuracy``."""
    M, chosen = constraints.dimension, np.flatnonzero(d > 0)
    if direct and len(chosen) <= DIRECT_SIZE:
        return over_constraints(constraints, R, d, chosen)
    if direct and M * (M + 1) // 2 <= DIRECT_SIZE:
        return over_entries(constraints, R, d, chosen)
    return by_conjugate_gradients(constraints, R, d, accuracy)


def over_constraints(constraints: MetricConstraints, R: Array, d: Array, chosen: Array) -> Solver:
    """V = W (B - sum_c y_c C_c) W with (<C_c, W C_e W> + diag(1/d)) y = <C_c, W B W>."""
    W = R @ R.T
    T = constraints.products(W, chosen)
    # in y/sqrt(d) the diagonal is at least one, however far apart the weights are
    root = np.sqrt(d[chosen])
    T *= root[:, None] * root
    # constraints may depend on each other, and 1 is then below the rounding of large entries
    T[np.diag_indices(len(T))] += 1.0 + 1e-14 * float(np.max(np.diagonal(T), initial=0.0))
    factor = linalg.cho_factor(T, overwrite_a=True, check_finite=False)

    def solve(B: Array) -> Array:
        y = np.zeros(constraints.n)
        right = root * constraints.inner(W @ B @ W)[chosen]
        y[chosen] = root * linalg.cho_solve(factor, right, check_finite=False)
        return symmetric(W @ (B - constraints.combine(y)) @ W)

    return solve


def over_entries(constraints: MetricConstraints, R: Array, d: Array, chosen: Array) -> Solver:
    """(I + sum_c d_c c c') y = svec(R'BR), c = svec(R'C_c R)."""
    M = constraints.dimension
    i, j = np.triu_indices(M)
    scale = np.where(i == j, 1.0, np.sqrt(2.0))
    H = np.eye(len(i))
    for start in range(0, len(chosen), BLOCK_SIZE):
        part = chosen[start : start + BLOCK_SIZE]
        E = constraints.entries(R, part, i, j) * scale * np.sqrt(d[part, None])
        H += E.T @ E
    factor = linalg.cho_factor(H, overwrite_a=True, check_finite=False)

    def solve(B: Array) -> Array:
        y = linalg.cho_solve(factor, (R.T @ B @ R)[i, j] * scale, check_finite=False) / scale
        Y = np.zeros((M, M))
        Y[i, j] = Y[j, i] = y
        return symmetric(R @ Y @ R.T)

    return solve


def by_conjugate_gradients(
    constraints: MetricConstraints, R: Array, d: Array, accuracy: float
) -> Solver:
    """Preconditioned by the diagonal in the basis in which sum_c d_c C_c is diagonal.

    Were the C_c = u u' of normal u with covariance K the operator would be
    Y -> Y + 2 K Y K + <K, Y> K, which is diagonal there but for one rank.
    """
    _, Q = linalg.eigh(R.T @ constraints.combine(d) @ R, check_finite=False)
    R = R @ Q
    diagonal = constraints.squares(R, d)
    diagonal *= 2.0 - np.eye(len(R))  # an entry beside the diagonal stands for two
    diagonal += 1.0

    def apply(Y: Array) -> Array:
        return np.asarray(Y + R.T @ constraints.combine(d * constraints.inner(R @ Y @ R.T)) @ R)

    def solve(B: Array) -> Array:
        left = R.T @ B @ R
        Y = np.zeros_like(left)
        P = Z = left / diagonal
        size = first = float(np.sum(left * Z))
        for _ in range(MAX_PRODUCTS):
            if size <= accuracy**2 * first:
                break
            H_P = apply(P)
            step = size / float(np.sum(P * H_P))
            Y = Y + step * P
            left = left - step * H_P
            Z = left / diagonal
            size, before = float(np.sum(left * Z)), size
            P = Z + size / before * P
        return symmetric(R @ Y @ R.T)

    return solve


def symmetric(V: Array) -> Array:
    """Without what rounding makes of it."""
    return np.asarray((V + V.T) / 2)
