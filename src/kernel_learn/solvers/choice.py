"""Which solver for a convex problem on the simplex."""

from collections.abc import Callable
from dataclasses import replace

from kernel_learn.solvers.bundle import solve_bundle
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.sdp import solve_sdp
from kernel_learn.solvers.silp import solve_silp
from kernel_learn.solvers.simplex import Search, SimplexProblem
from kernel_learn.solvers.simplex_newton import solve_simplex_newton

SOLVERS: dict[str, Callable[..., Result]] = {
    "newton": solve_simplex_newton,
    "silp": solve_silp,
    "bundle": solve_bundle,
    "sdp": solve_sdp,
}


def solve_simplex(
    problem: SimplexProblem | Search,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Result:
    """min J(d) over the simplex by the solver of that name.

    "auto" is Newton's method, and a bundle method from where it stops if it
    does not reach ``tol`` (a machine's J need not be twice differentiable).
    """
    search = problem if isinstance(problem, Search) else Search(problem)
    if search.problem.size == 1:  # one point: the gap is what its evaluation left
        search.evaluate(search.point)
        return search.finish(1, tol)
    if solver == "auto" and not getattr(search.problem, "has_hessian", True):
        solver = "bundle"
    if solver != "auto":
        return SOLVERS[solver](search, tol=tol, max_iter=max_iter)
    result = solve_simplex_newton(search, tol=tol, max_iter=max_iter)
    left = max_iter - result.n_iter
    if result.status == "optimal" or left < 1:
        return result
    more = solve_bundle(search, tol=tol, max_iter=left)
    return replace(more, n_iter=result.n_iter + more.n_iter)
