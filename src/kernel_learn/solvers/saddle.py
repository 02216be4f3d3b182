"""Accelerated ascent on a concave function with kinks, between two true bounds."""

from typing import Protocol

import numpy as np
from scipy import optimize

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result

CHECK_EVERY = 10
ENOUGH = 0.05  # of the distance that remains whatever is done here
WIDTHS = (1.0, 0.3, 0.1, 0.03, 0.01)  # of a hinge that is rounded less and less
FACTOR_STEPS = 50  # at each of them
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


def descend_factors(
    F: Array,  # (n, r)
    signs: Array,  # (n, m)
    boxes: Array,  # (n,)
    E: Array,  # (r, l), orthonormal
    coef: Array,  # (m, l), weights of machines on F E
    intercept: Array,  # (m,)
    widths: tuple[float, ...] = WIDTHS,
) -> Result:
    """Local descent over subspaces and machines together, from a subspace and its machines:

        min over U (r, l), c (m, l), b of  1/2 |U c'|_F^2 + sum_ij box_i h(1 - y_ij (F U c' + b)_ij)

    Any weights of rank l are U c', so this is the problem of the best subspace; h is the
    hinge, rounded over a width that falls. The point is the span of U, orthonormal (r, l); its
    value that of the least width, below the hinge's by at most half of it times the boxes.
    """
    (r, l), m = E.shape, signs.shape[1]  # noqa: E741
    n_U, n_c = r * l, m * l

    def evaluate(x: Array, width: float) -> tuple[float, Array]:
        U, c = x[:n_U].reshape(r, l), x[n_U : n_U + n_c].reshape(m, l)
        FU = F @ U
        T = 1 - signs * (FU @ c.T + x[n_U + n_c :])
        slope = np.clip(T / width, 0.0, 1.0)
        loss = boxes @ (slope * (T - slope * width / 2))
        D = -signs * boxes[:, None] * slope  # derivative in the scores
        UT_U, cT_c = U.T @ U, c.T @ c
        value = 0.5 * float(np.sum(UT_U * cT_c)) + float(loss.sum())
        parts = [U @ cT_c + F.T @ (D @ c), c @ UT_U + D.T @ FU, D.sum(axis=0)]
        return value, np.concatenate([part.ravel() for part in parts])

    x = np.concatenate([E.ravel(), coef.ravel(), intercept])
    options = {"maxiter": FACTOR_STEPS, "maxcor": 20}
    n_iter, history = 0, []
    for width in widths:
        found = optimize.minimize(  # type: ignore[call-overload]
            evaluate, x, args=(width,), jac=True, method="L-BFGS-B", options=options
        )
        x, n_iter = found.x, n_iter + int(found.nit)
        history.append({"value": float(found.fun)})
    U = x[:n_U].reshape(r, l)
    return Result(
        point=np.linalg.qr(U)[0],
        value=float(found.fun),
        gap=np.nan,
        n_iter=n_iter,
        status="stopped",
        history=tuple(history),
    )
