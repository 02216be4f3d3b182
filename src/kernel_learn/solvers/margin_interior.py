"""One support vector machine by interior points, in double precision."""

from functools import partial

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.predictor_corrector import (
    QuadraticProgram,
    Residuals,
    Solve,
    inner_point,
    solve_predictor_corrector,
)

TOL, MAX_ITER = 1e-10, 60  # complementarity as a share of the value


def solve_interior(
    K: Array,  # (n, n)
    y: Array,  # (n,) signs
    uppers: Array,  # (n,) boxes
) -> Array:
    """min 1/2 a'Qa - sum a s.t. 0 <= a <= C, y'a = 0, with Q = y K y, by interior points.

    One Cholesky factorisation of Q + diag per step. For singular kernel
    matrices, where LIBSVM's single precision and active sets leave 1e-6.
    Returns a inside its box; y'a = 0 to rounding.
    """
    Q = y[:, None] * K * y

    def factorise(D: Array) -> Solve:
        factor = linalg.cho_factor(Q + np.diag(D), lower=True, overwrite_a=True, check_finite=False)
        return partial(linalg.cho_solve, factor, check_finite=False)

    def is_optimal(a: Array, left: Residuals) -> bool:
        value = abs(float(a.sum()) - 0.5 * float(a @ (Q @ a)))
        small = left.complementarity <= TOL * max(value, 1e-300)
        return bool(small and np.abs(left.dual).max() <= 1e-9)

    program = QuadraticProgram(lambda a: Q @ a - 1, factorise, y[None, :], np.zeros(1), uppers)
    # alpha has the size of 1/K_ii; boxes of the squared hinge loss are far beyond it
    size = len(K) / max(float(np.trace(K)), np.finfo(float).tiny)
    start = inner_point(program, size)
    found = solve_predictor_corrector(program, *start, is_optimal, MAX_ITER)
    return np.clip(found, 0.0, uppers)
