"""Smooth minimisation, within bounds or without, by SciPy's L-BFGS: the one place that calls it."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result

Bounds = Sequence[tuple[float, float]]


def solve_smooth(
    function: Callable[[Array], tuple[float, Array]],  # point -> (f, its gradient)
    start: Array,
    *,
    bounds: Bounds | None = None,  # of every entry
    tol: float = 1e-5,
    ftol: float = 0.0,
    max_iter: int = 100,
    memory: int = 20,  # pairs of steps and gradients that are kept
    maximize: bool = False,
) -> Result:
    """min (or max) f from ``start``, until the largest entry of the gradient is at most ``tol``.

    Within bounds that is the gradient's share which does not point out of them. With ``ftol``
    a step that gains no more than this share of f ends the search too. The problem need not
    be convex: ``gap`` is not known. f never ends above (below) f(start).
    """
    sign = -1.0 if maximize else 1.0
    low, high = (-np.inf, np.inf) if bounds is None else np.array(bounds, dtype=float).T
    latest: dict[str, float] = {}  # of the last evaluation: every iterate is one
    history: list[dict[str, float]] = []

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = function(x.reshape(start.shape))
        downhill = sign * gradient.ravel()
        step = np.clip(x - downhill, low, high) - x
        latest.update(value=float(value), grad_norm=float(np.abs(step).max(initial=0.0)))
        if not history:
            history.append(dict(latest))
        return sign * value, downhill

    found = optimize.minimize(
        flat,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=lambda x: history.append(dict(latest)),
        options={"maxiter": max_iter, "gtol": tol, "ftol": ftol, "maxcor": memory},
    )
    step = np.clip(found.x - found.jac, low, high) - found.x
    grad_norm = float(np.abs(step).max(initial=0.0))
    ended = grad_norm <= tol or (ftol > 0 and int(found.nit) < max_iter)
    return Result(
        point=found.x.reshape(start.shape),
        value=sign * float(found.fun),
        gap=np.nan,
        n_iter=max(1, int(found.nit)),  # a start that is optimal was still looked at
        status="optimal" if ended else "stopped",
        grad_norm=grad_norm,
        history=tuple(history),
    )
