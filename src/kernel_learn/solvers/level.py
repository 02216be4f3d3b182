"""Cutting planes with a level: the loop that column generation and bundle methods share."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, SimplexProblem

# Where in [lower bound, best value] the next point must lie, by the tangents.
LEVEL = 0.3

Projection = Callable[[Array, Array, Array], Array]
"""(centre, slopes, heights) -> the point of the simplex nearest to the centre with
slopes @ d <= heights."""


def solve_level(
    problem: SimplexProblem | Search, project: Projection, *, tol: float, max_iter: int
) -> Result:
    """min J(d) s.t. d >= 0, sum d = 1, from values and tangents alone.

    The tangents c_j + g_j'd <= J(d) give a lower bound by a linear program,

        max over multipliers m of sum m_j c_j + min_i (sum m_j g_j)_i.

    Its minimiser is a bad next point: far from where J is known, it zig-zags.
    The next point is the one nearest to the last with all tangents below the
    level lower + LEVEL (best - lower) (Lemarechal, Nemirovskii, Nesterov 1995).
    """
    search = problem if isinstance(problem, Search) else Search(problem)
    d = search.point
    if not search.history:
        search.evaluate(d)
    n_iter = 0
    while not search.converged(tol) and n_iter < max_iter:
        n_iter += 1
        c, g = np.array(search.intercepts), np.array(search.slopes)
        search.raise_lower(lower_bound(c, g))
        if search.converged(tol):
            break
        heights = search.lower + LEVEL * search.gap - c
        d = np.maximum(project(d, g, heights), 0.0)
        d /= d.sum()
        search.evaluate(d)
    return search.finish(n_iter, tol)


def lower_bound(intercepts: Array, slopes: Array) -> float:
    """min over the simplex of the largest tangent, rigorous whatever the solver's tolerance."""
    scale = max(float(np.ptp(slopes)), float(np.ptp(intercepts)), np.finfo(float).tiny)
    scale = max(scale, np.finfo(float).eps * float(np.abs(slopes).max()))  # all slopes alike
    m, p = slopes.shape
    c = np.append(np.zeros(p), 1.0)
    program = linprog(
        c,
        A_ub=np.hstack([slopes / scale, -np.ones((m, 1))]),
        b_ub=-(intercepts - intercepts[0]) / scale,
        A_eq=np.append(np.ones(p), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * p + [(None, None)],
        method="highs",
        options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
    )
    if program.status != 0:
        return -np.inf
    multipliers = np.maximum(-program.ineqlin.marginals, 0.0)
    multipliers /= multipliers.sum()
    return float(multipliers @ intercepts + (multipliers @ slopes).min())
