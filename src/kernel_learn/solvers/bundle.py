"""A bundle method: cutting planes with Euclidean steps."""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.level import solve_level
from kernel_learn.solvers.qp import solve_qp
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.simplex import Search, SimplexProblem


def solve_bundle(
    problem: SimplexProblem | Search, *, tol: float = 1e-6, max_iter: int = 100
) -> Result:
    """min J(d) over the simplex from tangents, J convex and not necessarily smooth.

    As ``solve_silp``, with the next point nearest in the Euclidean norm: a
    quadratic program of the size of the bank and the bundle.
    """
    return solve_level(problem, project_euclidean, tol=tol, max_iter=max_iter)


def project_euclidean(center: Array, slopes: Array, heights: Array) -> Array:
    """min 1/2 |d - center|^2 s.t. slopes @ d + slack = heights, sum d = 1, d, slack >= 0."""
    m, p = slopes.shape
    least = np.maximum(np.finfo(float).eps * np.abs(slopes).max(axis=1), np.finfo(float).tiny)
    scale = np.maximum(np.ptp(slopes, axis=1), least)[:, None]
    # on the simplex a slope may be shifted: sum d = 1
    shift = slopes.mean(axis=1, keepdims=True)
    A = np.vstack(
        [
            np.append(np.ones(p), np.zeros(m))[None, :],
            np.hstack([(slopes - shift) / scale, np.eye(m)]),
        ]
    )
    b = np.append(1.0, (heights - shift[:, 0]) / scale[:, 0])
    x = solve_qp(np.append(np.ones(p), np.zeros(m)), np.append(-center, np.zeros(m)), A, b)
    return np.asarray(x[:p])
