"""The papers' semidefinite programs by CVXPY and Clarabel: the oracle and the teaching version."""

import warnings
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, SimplexProblem

# Rows of a matrix inequality: 30 took 0.4 s, 40 took 5 s, 60 took 242 s (ten kernels).
LARGEST_MATRIX = 50
Expression = Any  # an expression or constraint of CVXPY, which types them anew in each version


@runtime_checkable
class SemidefiniteProblem(SimplexProblem, Protocol):
    """A problem on the simplex that can also be written with linear matrix inequalities."""

    def semidefinite(self, cp: ModuleType, d: Expression) -> tuple[Expression, list[Expression]]:
        """(objective to minimise, constraints) in CVXPY, given the variable d."""
        ...


def solve_sdp(
    problem: SemidefiniteProblem | Search, *, tol: float = 1e-6, max_iter: int = 100
) -> Result:
    """min J(d) over the simplex as the papers write it; certified like every other solver.

    The cost grows as the fourth power of n or worse: for n in the tens, and refused above
    ``LARGEST_MATRIX``.
    ``max_iter`` counts interior-point steps.
    """
    cp = import_cvxpy()
    search = problem if isinstance(problem, Search) else Search(problem)
    if not isinstance(search.problem, SemidefiniteProblem):
        raise ValueError(f"{type(search.problem).__name__} has no semidefinite form.")
    d = cp.Variable(search.problem.size, nonneg=True)
    objective, constraints = search.problem.semidefinite(cp, d)
    rows = max((constraint.args[0].shape or (1,))[0] for constraint in constraints)
    if rows > LARGEST_MATRIX:
        raise ValueError(
            f'solver="sdp" writes matrix inequalities of the size of the sample, here {rows} x '
            f"{rows}, which take minutes from about 60 rows on and cannot be interrupted: at most "
            f'{LARGEST_MATRIX} are taken. Use solver="newton" or "auto", which reach the same '
            "optimum."
        )
    # in units of the value at the start: absolute tolerances mean relative ones then
    unit = abs(search.evaluate(search.problem.start()).value)
    program = cp.Problem(cp.Minimize(objective / unit), [cp.sum(d) == 1, *constraints])
    accuracy = min(1e-3 * tol, 1e-9)
    with warnings.catch_warnings():
        # what Clarabel calls inaccurate is measured below by the certificate
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        program.solve(
            solver=cp.CLARABEL,
            max_iter=max_iter,
            tol_gap_abs=accuracy,
            tol_gap_rel=accuracy,
            tol_feas=accuracy,
        )
    if d.value is None:
        raise RuntimeError(
            f"Clarabel found no point of the semidefinite program: {program.status}."
        )
    point: Array = np.maximum(d.value, 0.0)
    search.evaluate(point / point.sum())
    return search.finish(int(program.solver_stats.num_iters), tol)


def import_cvxpy() -> ModuleType:
    """CVXPY, or an error that names the extra."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            'solver="sdp" needs CVXPY and Clarabel: pip install "kernel-learn[sdp]".'
        ) from error
    return cvxpy
