"""Convex quadratic programs by interior points: one loop, the linear algebra is the caller's."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array

# R (n, q) -> (Q + diag D)^{-1} R
Solve = Callable[[Array], Array]


class QuadraticProgram(NamedTuple):
    """min 1/2 a'Qa + c'a  s.t.  A a = b,  0 <= a <= upper (None: no upper bound)."""

    gradient: Callable[[Array], Array]  # a -> Q a + c
    factorise: Callable[[Array], Solve]  # D (n,) -> solve; LinAlgError where that is not to be had
    A: Array  # (e, n)
    b: Array  # (e,)
    upper: Array | None = None  # (n,)


class Residuals(NamedTuple):
    """How far a point is from optimal: stationarity, feasibility, z'a + v'(upper - a)."""

    dual: Array  # (n,), Q a + c - A'y - z + v
    primal: Array  # (e,), A a - b
    complementarity: float


def solve_predictor_corrector(
    program: QuadraticProgram,
    a: Array,  # (n,), inside the bounds
    z: Array,  # (n,), positive: multipliers of a >= 0
    v: Array | None,  # (n,), positive: multipliers of a <= upper
    is_optimal: Callable[[Array, Residuals], bool],
    max_iter: int,
) -> Array:
    """Mehrotra's method: a step without centring tells how much of it the step needs.

    A step solves (Q + D) da - A'dy = right, A da = -primal, with
    D = z/a + v/(upper - a). Ends where ``is_optimal`` says so, where Q + D is
    singular to double precision, or where no step can be taken.
    """
    A, upper = program.A, program.upper
    y = np.zeros(len(program.b))
    room = np.ones_like(a) if upper is None else upper - a
    v = np.zeros_like(a) if v is None else v
    n_pairs = len(a) * (1 if upper is None else 2)
    for _ in range(max_iter):
        dual = program.gradient(a) - A.T @ y - z + v
        residuals = Residuals(dual, A @ a - program.b, float(a @ z + room @ v))
        if is_optimal(a, residuals):
            break
        try:
            solve = program.factorise(z / a + v / room)
            solved_A = solve(A.T)
            inner = linalg.lapack.dgetrf(_lifted(A @ solved_A))
        except linalg.LinAlgError:
            break

        def step(
            to_a: Array,
            to_room: Array,
            state: Any = (a, room, z, v, residuals, solve, solved_A, inner),
        ) -> tuple[Array, Array, Array, Array]:
            """The Newton step that changes a z by ``to_a`` and room v by ``to_room``."""
            a, room, z, v, residuals, solve, solved_A, inner = state
            right = to_a / a - to_room / room - residuals.dual
            u = solve(right[:, None])[:, 0]
            dy = linalg.lapack.dgetrs(*inner[:2], -residuals.primal - A @ u)[0]
            da = u + solved_A @ dy
            return da, dy, (to_a - z * da) / a, (to_room + v * da) / room

        mu = residuals.complementarity / n_pairs
        sign = 0.0 if upper is None else -1.0  # the room does not change where there is no bound
        da, _, dz, dv = step(-a * z, -room * v)
        t, s = reach(a, da), reach(z, dz)
        if upper is not None:
            t, s = min(t, reach(room, -da)), min(s, reach(v, dv))
        ahead = (a + t * da) @ (z + s * dz) + (room + t * sign * da) @ (v + s * dv)
        target = mu * (float(ahead) / residuals.complementarity) ** 3
        to_room = -room * v if upper is None else target - room * v + da * dv
        da, dy, dz, dv = step(target - a * z - da * dz, to_room)
        t = 0.995 * min(reach(a, da), reach(z, dz))
        if upper is not None:
            t = min(t, 0.995 * min(reach(room, -da), reach(v, dv)))
        a, y, room = a + t * da, y + t * dy, room + t * sign * da
        z, v = z + t * dz, v + t * dv
        if t < 1e-9:
            break
    return a


def inner_point(program: QuadraticProgram, size: float = np.inf) -> tuple[Array, Array, Array]:
    """(a, z, v) between the bounds with equal products: the middle, or ``size`` if that is less."""
    assert program.upper is not None
    a = np.minimum(program.upper / 2, size)
    mu = float(a.mean()) * (1.0 + float(np.abs(program.gradient(a)).mean()))
    return a, mu / a, mu / (program.upper - a)


def reach(x: Array, dx: Array) -> float:
    """The longest step <= 1 that keeps x + step dx >= 0, for x > 0."""
    first = int(np.argmin(dx / x))
    return min(1.0, float(-x[first] / dx[first])) if dx[first] < 0 else 1.0


def factor_definite(N: Array) -> Solve:
    """R -> N^{-1} R by Cholesky; LAPACK itself, as SciPy's checks cost more than small systems."""
    factor, info = linalg.lapack.dpotrf(N, lower=1, clean=0)
    if info:
        raise linalg.LinAlgError("The matrix is not positive definite.")
    return lambda R: linalg.lapack.dpotrs(factor, R, lower=1)[0]


def _lifted(N: Array) -> Array:
    """N, a little more positive definite: constraints may depend on each other."""
    N[np.diag_indices(len(N))] += 1e-14 * max(float(np.trace(N)) / len(N), 1e-300)
    return N
