"""Column generation for the semi-infinite linear program (Chen et al. 2008, 5.3-5.4)."""

import numpy as np
from scipy.optimize import linprog

from kernel_learn.arrays import Array
from kernel_learn.solvers.level import solve_level
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, SimplexProblem


def solve_silp(
    problem: SimplexProblem | Search, *, tol: float = 1e-6, max_iter: int = 100
) -> Result:
    """min t s.t. c_j + g_j'd <= t for all tangents j of J, d on the simplex.

    Every constraint of Chen's Eq. 35 is a tangent of J, and the column that
    violates most is the tangent at the current point. Linear programs only
    (HiGHS): the bound, and the next point, nearest in the 1-norm to the last
    among those below the level.
    """
    return solve_level(problem, project_in_one_norm, tol=tol, max_iter=max_iter)


def project_in_one_norm(center: Array, slopes: Array, heights: Array) -> Array:
    """min sum (u + v) s.t. d = center + u - v on the simplex, slopes @ d <= heights."""
    p = slopes.shape[1]
    scale = max(float(np.ptp(slopes)), np.finfo(float).tiny)
    A = slopes / scale
    program = linprog(
        np.ones(2 * p),
        A_ub=np.hstack([A, -A]),
        b_ub=heights / scale - A @ center,
        A_eq=np.append(np.ones(p), -np.ones(p))[None, :],
        b_eq=[0.0],
        bounds=[(0, None)] * p + [(0, float(x)) for x in center],
        method="highs",
        options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
    )
    if (
        program.status != 0 or program.x is None
    ):  # rounding at the level: the tangents' own minimiser
        return _minimiser(slopes, heights)
    return np.asarray(center + program.x[:p] - program.x[p:])


def _minimiser(slopes: Array, heights: Array) -> Array:
    m, p = slopes.shape
    program = linprog(
        np.append(np.zeros(p), 1.0),
        A_ub=np.hstack([slopes, -np.ones((m, 1))]),
        b_ub=heights,
        A_eq=np.append(np.ones(p), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * p + [(None, None)],
        method="highs",
    )
    assert program.x is not None
    return np.asarray(program.x[:p])
