"""Small dense quadratic programs."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.predictor_corrector import (
    QuadraticProgram,
    Residuals,
    Solve,
    solve_predictor_corrector,
)

TOL = 1e-11  # residuals and complementarity, as a share of the program's numbers


def solve_simplex_qp(
    H: Array,  # (p, p) positive semidefinite
    c: Array,  # (p,)
    x: Array,  # (p,) feasible start
) -> Array:
    """min 1/2 x'Hx + c'x s.t. x >= 0, sum x = 1, by active sets: zeros come out as zeros.

    A ridge of 1e-11 of the mean diagonal makes the solution unique where
    kernels are duplicates.
    """
    p = len(c)
    H = H + (1e-11 * float(np.trace(H)) / p + np.finfo(float).tiny) * np.eye(p)
    x, free = x.copy(), x > 0
    for _ in range(20 * p + 20):
        z, nu = _equality(H, c, free)
        if np.all(z[free] >= 0):
            x = z
            slack = np.where(free, np.inf, H @ x + c - nu)
            entering = int(np.argmin(slack))
            if slack[entering] >= -1e-13 * (np.abs(c).max() + abs(nu)):
                return x
            free[entering] = True
            continue
        falling = free & (z < x)
        ratio = np.full(p, np.inf)
        ratio[falling] = x[falling] / (x[falling] - z[falling])
        leaving = int(np.argmin(ratio))
        x = np.maximum(x + min(float(ratio[leaving]), 1.0) * (z - x), 0.0)
        x[leaving], free[leaving] = 0.0, False
    return np.asarray(x / x.sum())


def _equality(H: Array, c: Array, free: Array) -> tuple[Array, float]:
    """The solution with x = 0 outside ``free`` and no sign constraint; its multiplier."""
    F = np.flatnonzero(free)
    KKT = np.zeros((len(F) + 1, len(F) + 1))
    size = max(float(np.abs(np.diagonal(H)[F]).max()), np.finfo(float).tiny)
    KKT[:-1, :-1] = H[np.ix_(F, F)] / size
    KKT[-1, :-1] = KKT[:-1, -1] = 1.0
    solution = linalg.solve(KKT, np.append(-c[F] / size, 1.0), assume_a="sym")
    z = np.zeros(len(c))
    z[F] = solution[:-1]
    return z, -float(solution[-1]) * size


def solve_qp(
    Q: Array,  # (m,) diagonal of the quadratic term, not negative
    c: Array,  # (m,)
    A: Array,  # (e, m)
    b: Array,  # (e,)
) -> Array:
    """min 1/2 x'diag(Q)x + c'x s.t. Ax = b, x >= 0, by interior points."""
    m, size = len(c), 1.0 + np.abs(b).max() + np.abs(c).max()

    def factorise(D: Array) -> Solve:
        return lambda R: R / (Q + D)[:, None]

    def is_optimal(x: Array, left: Residuals) -> bool:
        largest = max(np.abs(left.dual).max(), np.abs(left.primal).max())
        return bool(max(largest, left.complementarity / m) <= TOL * size)

    program = QuadraticProgram(lambda x: Q * x + c, factorise, A, b)
    return solve_predictor_corrector(program, np.ones(m), np.ones(m), None, is_optimal, 80)
