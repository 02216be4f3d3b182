"""Accelerated ascent on a concave function with kinks, between two true bounds."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result

CHECK_EVERY = 10
ENOUGH = 0.05  # of the distance that remains whatever is done here
PATIENCE, STALL = 20, 0.97  # looks in which the gap should fall below this share


class SaddleProblem(Protocol):
    """max over alpha of D(alpha), D concave with kinks; D <= D_mu <= D + mu * const."""

    n_components: int

    def smoothed(self, alpha: Array, mu: float) -> tuple[float, Array, Array]:
        """(D_mu, its gradient, a primal point for the upper bound)."""

    def project(self, alpha: Array) -> Array:
        """The nearest feasible point."""

    def lower(self, alpha: Array) -> float:
        """D(alpha), a lower bound of the optimum for every feasible alpha."""

    def upper(self, point: Array) -> float:
        """An upper bound of the optimum from a primal point."""


def solve_saddle(
    problem: SaddleProblem,
    start: Array,
    *,
    tol: float = 1e-3,
    max_iter: int = 5000,
    value: float = np.inf,  # that of a feasible point at hand
) -> Result:
    """FISTA with restart and backtracking on D_mu; mu follows the gap, so that it ends at D.

    The point is the alpha of the best lower bound; ``value`` is the best upper
    bound, ``gap`` the distance of the two. It ends when they meet to ``tol``, when
    their distance is small beside that of the value at hand, which no step of this
    changes, or when twenty looks in a row gained next to nothing.
    """

    def is_enough() -> bool:
        known = value - lower if np.isfinite(value) else 0.0
        return bool(upper - lower <= max(tol * abs(upper), ENOUGH * known))

    alpha = problem.project(start)
    best, lower = alpha, problem.lower(alpha)
    upper = np.inf
    _, gradient, primal = problem.smoothed(alpha, 1.0)
    upper = problem.upper(primal)
    mu = _smoothing(upper - lower, problem)
    step = 1.0 / max(float(np.linalg.norm(gradient)), 1e-300) * float(np.linalg.norm(alpha) + 1.0)
    ahead, momentum = alpha, 1.0
    history = [{"lower": lower, "upper": upper}]
    n_iter, gaps = 0, [upper - lower]
    for n_iter in range(1, max_iter + 1):
        smooth, gradient, _ = problem.smoothed(ahead, mu)
        while True:
            new = problem.project(ahead + step * gradient)
            move = new - ahead
            new_value, _, primal = problem.smoothed(new, mu)
            promised = smooth + float(np.sum(gradient * move))
            if new_value >= promised - float(np.sum(move * move)) / (2 * step) - 1e-12 * abs(
                smooth
            ):
                break
            step *= 0.5
        if float(np.sum((new - alpha) * (ahead - new))) > 0:  # the momentum points back: restart
            momentum = 1.0
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = new + (momentum - 1.0) / next_momentum * (new - alpha)
        alpha, momentum = new, next_momentum
        step *= 1.05
        if n_iter % CHECK_EVERY and n_iter < max_iter:
            continue
        here = problem.lower(alpha)
        if here > lower:
            best, lower = alpha, here
        upper = min(upper, problem.upper(primal))
        history.append({"lower": lower, "upper": upper})
        gaps.append(upper - lower)
        if is_enough() or (len(gaps) > PATIENCE and gaps[-1] > STALL * gaps[-1 - PATIENCE]):
            break
        mu = min(mu, _smoothing(upper - lower, problem))
    return Result(
        point=best,
        value=upper,
        gap=upper - lower,
        n_iter=n_iter,
        status="optimal" if is_enough() else "stopped",
        history=tuple(history),
    )


def _smoothing(gap: float, problem: SaddleProblem) -> float:
    """D_mu - D is at most mu l / 4: half of the gap may be smoothing."""
    return max(gap, 1e-12) / (2.0 * problem.n_components)


def improve_subspace(
    evaluate: Callable[[Array], tuple[float, Array]], E: Array, *, max_iter: int = 10
) -> Result:
    """Local descent over subspaces: min over E (r, l) orthonormal of J(E), never above its start.

    J(E) = max over alpha of 1'alpha - 1/2 |E'V(alpha)|^2; ``evaluate`` returns
    J(E) and V at the maximiser. Steps along -grad J = (I - E E') V V'E, back
    to orthonormal columns by QR, halved until J falls.
    """
    value, V = evaluate(E)
    history = [{"value": value}]
    step, norm = 1.0, np.inf
    for _ in range(max_iter):
        ET_V = E.T @ V
        downhill = (V - E @ ET_V) @ ET_V.T
        scale = float(np.sum(ET_V * ET_V))
        norm = float(np.linalg.norm(downhill)) / max(scale, np.finfo(float).tiny)
        for _ in range(8):
            trial = np.linalg.qr(E + (step / max(scale, np.finfo(float).tiny)) * downhill)[0]
            trial_value, trial_V = evaluate(trial)
            if trial_value < value * (1 - 1e-9):
                break
            step *= 0.25
        else:
            break
        fell = value - trial_value
        E, value, V = trial, trial_value, trial_V
        history.append({"value": value})
        step *= 2.0
        if fell <= 1e-3 * abs(value):
            break
    return Result(
        point=E,
        value=value,
        gap=np.nan,
        n_iter=len(history) - 1,
        grad_norm=norm,
        history=tuple(history),
    )
