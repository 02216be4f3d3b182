"""CVXPY's answer to a problem, as accurate as the solver has it."""

import warnings

from extras import optional

cp = optional("cvxpy")


def solve_accurately(problem, **tolerances):
    with warnings.catch_warnings():
        # asked for more digits than it has on every processor; comparisons are to fewer
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, **tolerances)
    return problem.value
