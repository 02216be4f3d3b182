"""Minimise a smooth convex function over positive semidefinite matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kernel_learn.solvers.result import Result

Array = NDArray[Any]
Function = Callable[[Array], tuple[float, Array]]
# (value, <G, A>, the most negative eigenvalue of the gradient G) -> bound on value - optimum
Bound = Callable[[float, float, float], float]


def project_psd(A: Array) -> Array:
    w, U = linalg.eigh((A + A.T) / 2, check_finite=False)
    kept = w > 0
    return np.asarray((U[:, kept] * w[kept]) @ U[:, kept].T)


def solve_psd(
    function: Function,  # A -> (value, gradient)
    A: Array,  # where to start
    bound: Bound,
    *,
    tol: float = 1e-4,
    max_iter: int = 500,
) -> Result:
    """Accelerated projected gradient with backtracking and restart; stops on a certified gap.

    For convex F and any A* >= 0, F(A) - F(A*) <= <G, A> - <G, A*> <= <G, A> + lam tr A*
    with lam = max(0, -smallest eigenvalue of G); ``bound`` turns that into a
    number with what it knows of tr A*.
    """
    value, G = function(A)
    V, value_V, G_V, t, L = A, value, G, 1.0, float(np.linalg.norm(G)) + 1e-12
    history: list[dict[str, float]] = []
    gap = np.inf
    for i in range(max_iter):
        while True:
            A_new = project_psd(V - G_V / L)
            step = A_new - V
            value_new, G_new = function(A_new)
            model = value_V + float(np.sum(G_V * step)) + L / 2 * float(np.sum(step**2))
            if value_new <= model + 1e-12 * abs(model) or L > 1e15:
                break
            L *= 2
        if value_new > value:  # momentum overshot: start anew from the best point
            if t == 1.0:
                break
            V, value_V, G_V, t = A, value, G, 1.0
            continue
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V = A_new + (t - 1) / t_new * (A_new - A)
        A, value, G, t = A_new, value_new, G_new, t_new
        value_V, G_V = function(V)
        L *= 0.9
        if i % 5 == 0:
            gap = bound(value, float(np.sum(G * A)), smallest_eigenvalue(G))
            history.append({"value": value, "lower": value - gap})
            if gap <= tol * abs(value):
                break
    gap = bound(value, float(np.sum(G * A)), smallest_eigenvalue(G))
    history.append({"value": value, "lower": value - gap})
    return Result(
        point=A,
        value=value,
        gap=gap,
        n_iter=i + 1,
        status="optimal" if gap <= tol * abs(value) else "stopped",
        grad_norm=float(np.linalg.norm(A - project_psd(A - G))),
        history=tuple(history),
    )


def smallest_eigenvalue(G: Array) -> float:
    w = linalg.eigvalsh((G + G.T) / 2, subset_by_index=(0, 0))
    return float(w[0])
