"""Maximisation over subspaces: limited-memory BFGS on the Grassmann manifold."""

from collections import deque
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.quasi_newton import two_loop
from kernel_learn.solvers.result import Result

MEMORY = 10  # curvature pairs


class SubspaceCriterion(Protocol):
    """A function of span(V), V'V = I, and its Euclidean gradient."""

    def value_and_gradient(self, V: Array) -> tuple[float, Array]: ...


def solve_grassmann(
    criterion: SubspaceCriterion,
    V0: Array,  # (m, l)
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
) -> Result:
    """max f(V) over V'V = I for f that depends on span(V) only, from V0; ends no lower.

    Tangent vectors at V are D with V'D = 0. Each step: direction H grad by the
    two-loop recursion, curvature pairs carried along by projection; retraction
    qf(V + t D); Armijo backtracking, so that f never falls. Stops when the
    Riemannian gradient (I - VV')df is at most ``tol``; ``gap`` is not known
    (the problem is not convex), ``grad_norm`` is.
    """
    V = orthonormal(V0)
    f, grad = _tangent(criterion, V)
    pairs: deque[tuple[Array, Array]] = deque(maxlen=MEMORY)
    history = [{"value": f, "grad_norm": float(np.linalg.norm(grad))}]
    for _ in range(max_iter):
        if np.linalg.norm(grad) <= tol:
            break
        direction = two_loop(grad, [(_project(V, s), _project(V, y)) for s, y in pairs])
        slope = float(np.vdot(direction, grad))
        if not slope > 1e-12 * np.linalg.norm(direction) * np.linalg.norm(grad):
            direction, slope = grad, float(np.vdot(grad, grad))
            pairs.clear()
        first = 1.0 if pairs else min(1.0, 0.1 / float(np.linalg.norm(grad)))
        step = _backtrack(criterion, V, f, direction, slope, first)
        if step is None:
            if not pairs:
                break  # no ascent along the gradient itself: rounding
            pairs.clear()
            continue
        t, V_new, f, grad_new = step
        pairs.append((t * direction, grad - _project(V, grad_new)))
        if not np.vdot(*pairs[-1]) > 1e-12 * np.linalg.norm(pairs[-1][0]) * np.linalg.norm(
            pairs[-1][1]
        ):
            pairs.pop()
        V, grad = V_new, grad_new
        history.append({"value": f, "grad_norm": float(np.linalg.norm(grad))})
    grad_norm = float(np.linalg.norm(grad))
    return Result(
        point=V,
        value=f,
        gap=np.nan,
        n_iter=len(history) - 1,
        status="optimal" if grad_norm <= tol else "stopped",
        grad_norm=grad_norm,
        history=tuple(history),
    )


def orthonormal(V: Array) -> Array:
    """qf(V): the Q of V = QR with a positive diagonal of R, which depends on V smoothly."""
    Q, R = linalg.qr(V, mode="economic", check_finite=False)
    signs = np.sign(np.diagonal(R))
    return np.asarray(Q * np.where(signs == 0, 1.0, signs))


def _tangent(criterion: SubspaceCriterion, V: Array) -> tuple[float, Array]:
    f, df = criterion.value_and_gradient(V)
    return f, _project(V, df)


def _project(V: Array, D: Array) -> Array:
    return np.asarray(D - V @ (V.T @ D))


def _backtrack(
    criterion: SubspaceCriterion, V: Array, f: float, direction: Array, slope: float, t: float
) -> tuple[float, Array, float, Array] | None:
    """The first t, t/2, t/4, ... with sufficient increase; None if there is none."""
    for _ in range(40):
        V_new = orthonormal(V + t * direction)
        f_new, grad_new = _tangent(criterion, V_new)
        if f_new >= f + 1e-4 * t * slope:
            return t, V_new, f_new, grad_new
        t /= 2
    return None
