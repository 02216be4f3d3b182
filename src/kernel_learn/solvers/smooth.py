"""Unconstrained smooth minimisation by SciPy's L-BFGS, reported as everything else is."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from kernel_learn.solvers.result import Result

Array = NDArray[Any]


class SmoothCriterion(Protocol):
    """A differentiable function of an array."""

    def value_and_gradient(self, point: Array) -> tuple[float, Array]: ...


def solve_smooth(
    criterion: SmoothCriterion,
    start: Array,
    *,
    tol: float = 1e-5,
    max_iter: int = 100,
    maximize: bool = False,
) -> Result:
    """min (or max) f from ``start``, until the largest entry of the gradient is at most ``tol``.

    The problem need not be convex: ``gap`` is not known. f never ends above (below) f(start).
    """
    sign = -1.0 if maximize else 1.0
    history: list[dict[str, float]] = []

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = criterion.value_and_gradient(x.reshape(start.shape))
        return sign * value, sign * gradient.ravel()

    def record(intermediate_result: Any) -> None:
        history.append({"value": sign * float(intermediate_result.fun)})

    history.append({"value": sign * flat(start.ravel())[0]})
    found = optimize.minimize(
        flat,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=record,
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxcor": 20},
    )
    grad_norm = float(np.abs(found.jac).max(initial=0.0))
    return Result(
        point=found.x.reshape(start.shape),
        value=sign * float(found.fun),
        gap=np.nan,
        n_iter=max(1, int(found.nit)),  # a start that is optimal was still looked at
        status="optimal" if grad_norm <= tol else "stopped",
        grad_norm=grad_norm,
        history=tuple(history),
    )
