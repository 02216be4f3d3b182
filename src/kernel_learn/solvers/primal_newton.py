"""Newton's method on the metric itself, for LogDet at a moderate price of slack.

    min over A > 0 of  P(A) = tr A - log det A + (gamma/2) sum_c max(e_c(A), 0)^2,
    e_c = sg_c <C_c, A> - b_c

in M (M+1)/2 unknowns, however many constraints there are. With z = gamma max(e, 0) the gradient
is G = I - A^{-1} + sum_c z_c sg_c C_c and the Hessian V -> A^{-1} V A^{-1} + gamma sum over
e_c > 0 of <C_c, V> C_c. z is a point of the dual where A^{-1} + G > 0, and what is missing to the
optimum is then at most

    P(A) - D(z) = <G, A> - log det (I + A^{1/2} G A^{1/2}).
"""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.metric_system import MetricConstraints, prepare_system
from kernel_learn.solvers.result import Result

# A step may shrink an eigenvalue of A to this part of itself: one that is far too small comes
# back by a factor of two per step only (satimage: 15 steps with 0.4, 35 with 0.01).
LEAST_SHARE = 0.4


def solve_primal_newton(
    constraints: MetricConstraints,
    sign: Array,
    bound: Array,
    gamma: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Result:
    """A of the problem above to a relative gap of ``tol``."""
    identity = np.eye(constraints.dimension)
    A, excess = identity, sign * constraints.inner(identity) - bound
    lower = float(constraints.dimension)  # tr A - log det A of the identity: z = 0
    history: list[dict[str, float]] = []
    for _ in range(max_iter):
        L = linalg.cholesky(A, lower=True, check_finite=False)
        violation = np.maximum(excess, 0.0)
        z = gamma * violation
        G = identity - linalg.cho_solve((L, True), identity) + constraints.combine(sign * z)
        log_det = 2 * float(np.sum(np.log(np.diagonal(L))))
        value = float(np.trace(A)) - log_det + gamma / 2 * float(violation @ violation)
        g = linalg.eigvalsh(L.T @ G @ L, check_finite=False)
        if g[0] > -1:
            lower = max(lower, value - float(np.sum(g - np.log1p(g))))
        gap = max(value - lower, 0.0)
        size = float(np.linalg.norm(g))
        history.append({"value": value, "lower": lower, "grad_norm": size})
        optimal = gap <= tol * abs(value)
        if optimal:
            break
        # the closer, the more exactly: the last steps converge faster than linearly
        solve = prepare_system(
            constraints,
            L,
            np.where(excess > 0, gamma, 0.0),
            direct=False,
            accuracy=min(0.1, size),
        )
        V = solve(-G)
        change = sign * constraints.inner(V)
        step = search_line(L, V, excess, change, gamma, slope=float(np.sum(G * V)))
        if step == 0.0:
            break
        A, excess = A + step * V, excess + step * change
    return Result(
        point=A,
        value=value,
        gap=gap,
        n_iter=len(history),
        status="optimal" if optimal else "stopped",
        grad_norm=size,
        history=tuple(history),
    )


def search_line(
    L: Array,  # A = L L'
    V: Array,
    excess: Array,  # (m,) e_c
    change: Array,  # (m,) along V
    gamma: float,
    slope: float,
) -> float:
    """About argmin over t of P(A + t V), short of the boundary; 0 where nothing descends.

    P along a line costs m operations: with mu the eigenvalues of L^{-1} V L^{-T} it is
    t tr V - sum log(1 + t mu) + gamma/2 |max(excess + t change, 0)|^2, so Newton's method finds it.
    """
    if slope >= 0:
        return 0.0
    scaled = linalg.solve_triangular(L, V, lower=True, check_finite=False)
    scaled = linalg.solve_triangular(L, scaled.T, lower=True, check_finite=False)
    mu = linalg.eigvalsh((scaled + scaled.T) / 2, check_finite=False)
    trace = float(np.trace(V))
    low, high = 0.0, (1 - LEAST_SHARE) / -mu[0] if mu[0] < 0 else np.inf
    t = min(1.0, high)
    for _ in range(50):
        violation = np.maximum(excess + t * change, 0.0)
        ratio = mu / (1 + t * mu)
        at_t = trace - float(np.sum(ratio)) + gamma * float(violation @ change)
        if abs(at_t) <= 1e-3 * -slope or (t == high and at_t < 0):
            break
        low, high = (low, t) if at_t > 0 else (t, high)
        active = change[violation > 0]
        t_new = t - at_t / float(np.sum(ratio**2) + gamma * (active @ active))
        if not low < t_new < high:
            t_new = (low + high) / 2 if np.isfinite(high) else 2 * t
        t = t_new
    return t
