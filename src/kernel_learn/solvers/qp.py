"""Small dense quadratic programs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[Any]


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
    tol: float = 1e-11,
) -> Array:
    """min 1/2 x'diag(Q)x + c'x s.t. Ax = b, x >= 0: Mehrotra's predictor-corrector."""
    m, e = len(c), len(b)
    x, y, z = np.ones(m), np.zeros(e), np.ones(m)
    size = 1.0 + np.abs(b).max() + np.abs(c).max()
    for _ in range(80):
        dual, primal, mu = Q * x + c - A.T @ y - z, A @ x - b, float(x @ z) / m
        if max(np.abs(dual).max(), np.abs(primal).max(), mu) <= tol * size:
            break
        w = 1.0 / (Q + z / x)
        normal = (A * w) @ A.T
        normal[np.diag_indices(e)] += 1e-14 * max(float(np.trace(normal)) / e, 1e-300)
        factor = linalg.lu_factor(normal)

        def step(target: Array, state: Any = (x, z, w, factor, dual, primal)) -> Any:
            """Newton step towards x * z = x * z + target."""
            x, z, w, factor, dual, primal = state
            right = target / x - dual
            dy = linalg.lu_solve(factor, -primal - A @ (w * right))
            dx = w * (A.T @ dy + right)
            return dx, dy, (target - z * dx) / x

        dx, dy, dz = step(-x * z)
        affine = float((x + _length(x, dx) * dx) @ (z + _length(z, dz) * dz)) / m
        sigma = (affine / mu) ** 3
        dx, dy, dz = step(sigma * mu - x * z - dx * dz)
        length = 0.995 * min(_length(x, dx), _length(z, dz))
        x, y, z = x + length * dx, y + length * dy, z + length * dz
    return np.asarray(x)


def _length(x: Array, dx: Array) -> float:
    """The longest step <= 1 that keeps x + step dx >= 0."""
    falling = dx < 0
    return float(min(1.0, np.min(-x[falling] / dx[falling], initial=1.0)))
