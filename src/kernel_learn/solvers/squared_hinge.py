"""Linear support vector machines with squared hinge loss: Newton's method in the primal."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result


def solve_squared_hinge(
    F: Array,  # (n, m) features
    y: Array,  # (n,) signs
    C: Array,  # (n,) prices
    *,
    start: Array | None = None,  # (m + 1,)
    tol: float = 1e-9,
    max_iter: int = 100,
) -> Result:
    """min over w, b of 1/2 |w|^2 + 1/2 sum_i C_i max(0, 1 - y_i (w'f_i + b))^2.

    The point is (w, b). With S the rows of positive slack, X = [F, 1] and
    D = diag(1, ..., 1, 0): gradient D v - X_S'C (y - Xv)_S, generalised
    Hessian D + X_S'C X_S; a few m^3 steps with backtracking, n m^2 each.
    alpha = C max(0, slack) is feasible in the dual once the gradient is zero,
    which gives the gap.
    """
    n, m = F.shape
    X = np.hstack([F, np.ones((n, 1))])
    ridge = np.append(np.ones(m), 1e-10)  # a free intercept on separated rows is not unique
    v = np.zeros(m + 1) if start is None else start.copy()
    value, slack = _value(X, y, C, v, ridge)
    history = []
    for _ in range(max_iter):
        active = slack > 0
        X_S, C_S = X[active], C[active]
        gradient = ridge * v - X_S.T @ (C_S * y[active] * slack[active])
        history.append({"value": value, "grad_norm": float(np.linalg.norm(gradient))})
        if history[-1]["grad_norm"] <= tol * max(1.0, value):
            break
        H = np.diag(ridge) + X_S.T @ (C_S[:, None] * X_S)
        step = linalg.solve(H, -gradient, assume_a="pos", check_finite=False)
        t, slope = 1.0, float(gradient @ step)
        while True:
            value_new, slack_new = _value(X, y, C, v + t * step, ridge)
            if value_new <= value + 1e-4 * t * slope or t < 1e-10:
                break
            t /= 2
        if t < 1e-10:
            break
        v, value, slack = v + t * step, value_new, slack_new
    alpha = C * np.maximum(slack, 0)
    dual = alpha.sum() - 0.5 * np.sum((F.T @ (y * alpha)) ** 2) - 0.5 * np.sum(alpha**2 / C)
    return Result(
        point=v,
        value=value,
        gap=float(value - dual),
        n_iter=len(history),
        status="optimal" if history[-1]["grad_norm"] <= tol * max(1.0, value) else "stopped",
        grad_norm=history[-1]["grad_norm"],
        history=tuple(history),
    )


def _value(X: Array, y: Array, C: Array, v: Array, ridge: Array) -> tuple[float, Array]:
    slack = 1 - y * (X @ v)
    loss = C @ np.maximum(slack, 0) ** 2
    return float(0.5 * (ridge * v) @ v + 0.5 * loss), slack
