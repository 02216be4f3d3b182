"""One support vector machine by interior points, in double precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[Any]


def solve_interior(
    K: Array,  # (n, n)
    y: Array,  # (n,) signs
    uppers: Array,  # (n,) boxes
    tol: float = 1e-10,
    max_iter: int = 60,
) -> Array:
    """min 1/2 a'Qa - sum a s.t. 0 <= a <= C, y'a = 0, with Q = y K y: Mehrotra's method.

    One Cholesky factorisation of Q + diag per step. For singular kernel
    matrices, where LIBSVM's single precision and active sets leave 1e-6.
    Returns a inside its box; y'a = 0 to rounding.
    """
    n = len(y)
    Q = y[:, None] * K * y
    # alpha has the size of 1/K_ii; boxes of the squared hinge loss are far beyond it
    a = np.minimum(uppers / 2, 1.0 / max(float(np.trace(K)) / n, np.finfo(float).tiny))
    s = uppers - a
    mu = float(a.mean()) * (1.0 + float(np.abs(Q @ a - 1).mean()))
    z, w, b = mu / a, mu / s, 0.0
    for _ in range(max_iter):
        dual, balance = Q @ a - 1 + b * y - z + w, float(y @ a)
        mu = float(a @ z + s @ w) / (2 * n)
        value = abs(float(a.sum()) - 0.5 * float(a @ (Q @ a)))
        if 2 * n * mu <= tol * max(value, 1e-300) and np.abs(dual).max() <= 1e-9:
            break
        M = Q + np.diag(z / a + w / s)
        try:
            factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            break
        M_y = linalg.cho_solve(factor, y, check_finite=False)

        def step(
            az: Array, sw: Array, state: Any = (a, s, z, w, dual, balance, factor, M_y)
        ) -> tuple[Array, float, Array, Array]:
            """Newton step towards a z = a z + az and s w = s w + sw."""
            a, s, z, w, dual, balance, factor, M_y = state
            right = -dual + az / a - sw / s
            M_r = linalg.cho_solve(factor, right, check_finite=False)
            db = (float(y @ M_r) + balance) / float(y @ M_y)
            da = M_r - db * M_y
            return da, db, (az - z * da) / a, (sw + w * da) / s

        da, db, dz, dw = step(-a * z, -s * w)
        affine = float(
            (a + _length(a, s, da) * da) @ (z + _reach(z, dz) * dz)
            + (s - _length(a, s, da) * da) @ (w + _reach(w, dw) * dw)
        ) / (2 * n)
        target = (affine / mu) ** 3 * mu
        da, db, dz, dw = step(target - a * z - da * dz, target - s * w + da * dw)
        length = 0.995 * min(_length(a, s, da), _reach(z, dz), _reach(w, dw))
        a, s, b = a + length * da, s - length * da, b + length * db
        z, w = z + length * dz, w + length * dw
    return np.clip(a, 0.0, uppers)


def _reach(x: Array, dx: Array) -> float:
    falling = dx < 0
    return float(min(1.0, np.min(-x[falling] / dx[falling], initial=1.0)))


def _length(a: Array, s: Array, da: Array) -> float:
    return min(_reach(a, da), _reach(s, -da))
