"""Projected Newton's method on the simplex."""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.qp import solve_simplex_qp
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, SimplexProblem, Tangent


def solve_simplex_newton(
    problem: SimplexProblem | Search, *, tol: float = 1e-6, max_iter: int = 100
) -> Result:
    """min J(d) s.t. d >= 0, sum d = 1, for J with a Hessian.

    Each step minimises J(d) + g's + 1/2 s'Hs over the simplex (p unknowns; the
    price is in g and H) and searches along s. Stops when the certified gap is
    at most ``tol`` times the value.
    """
    search = problem if isinstance(problem, Search) else Search(problem)
    d = search.problem.start()
    tangent = search.evaluate(d)
    if tangent.hessian is None:
        raise ValueError(
            f"{type(search.problem).__name__} has no Hessian, and Newton's method needs one. "
            'Use solver="bundle" or "silp".'
        )
    n_iter = 0
    while not search.converged(tol) and n_iter < max_iter:
        n_iter += 1
        H = tangent.hessian()
        s = solve_simplex_qp(H, tangent.gradient - H @ d, d) - d
        found = _search(search, d, tangent, s)
        if found is None:
            break
        d, tangent = found
        assert tangent.hessian is not None
    return search.finish(n_iter, tol)


def _search(search: Search, d: Array, tangent: Tangent, s: Array) -> tuple[Array, Tangent] | None:
    """The first of ever shorter steps along s with enough descent; None if there is none.

    Steps shrink by the factor of the parabola through what is known, kept in [0.1, 0.5].
    """
    slope = float(tangent.gradient @ s)
    if slope >= 0:
        return None
    step, rounding = 1.0, 1e-13 * abs(tangent.value)
    for _ in range(30):
        new = np.maximum(d + step * s, 0.0)
        new /= new.sum()
        found = search.evaluate(new)
        if found.value <= tangent.value + 1e-4 * step * slope + rounding:
            return new, found
        excess = found.value - tangent.value - step * slope
        factor = -0.5 * step * slope / excess if np.isfinite(excess) else 0.1
        step *= min(max(factor, 0.1), 0.5)
    return None
