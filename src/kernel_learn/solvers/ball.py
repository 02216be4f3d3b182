"""The smallest ball around rows."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array

TOL, MAX_ITER = 1e-10, 500  # gap as a share of the largest diagonal entry


def smallest_ball(
    F: Array,  # (n, l)
    lam: float,
    weight: Array,  # (n,)
) -> tuple[Array, float]:
    """(beta, R^2): max of beta'diag(K) - beta'K beta on the simplex, K = FF' + lam I.

    Active sets: rows join where the gradient diag(K) - 2 K beta is largest,
    leave where their share would turn negative; the gap of Frank and Wolfe,
    max_i g_i - beta'g >= optimum - value, ends it.
    """
    d = np.einsum("ij,ij->i", F, F) + lam
    ridge = lam / weight
    active = [int(np.argmax(d))]
    beta = np.zeros(len(F))
    beta[active] = 1.0
    for _ in range(MAX_ITER):
        g = d - 2 * (F @ (F.T @ beta) + ridge * beta)
        if g.max() - beta @ g <= TOL * d.max():
            break
        joined = int(np.argmax(g))
        if joined not in active:
            active.append(joined)
        beta, active = _equalise(F, d, ridge, beta, active)
    value = float(beta @ d - np.sum((F.T @ beta) ** 2) - (ridge * beta) @ beta)
    return beta, value


def _equalise(
    F: Array, d: Array, ridge: Array, beta: Array, active: list[int]
) -> tuple[Array, list[int]]:
    """The maximiser with support in ``active``, reached by steps that stay in the simplex."""
    while True:
        K = F[active] @ F[active].T + np.diag(ridge[active])
        factor = linalg.cho_factor(2 * K)
        free, ones = linalg.cho_solve(factor, np.stack([d[active], np.ones(len(active))], 1)).T
        target = free - ones * (free.sum() - 1) / ones.sum()
        current = beta[active]
        if target.min() >= 0:
            beta = np.zeros_like(beta)
            beta[active] = target
            return beta, active
        shrinking = target < 0
        steps = current[shrinking] / (current[shrinking] - target[shrinking])
        t = float(min(1.0, steps.min()))
        moved = current + t * (target - current)
        keep = moved > 1e-15
        if keep.all():  # the row that blocks leaves, whatever rounding says
            keep[np.flatnonzero(shrinking)[np.argmin(steps)]] = False
        beta = np.zeros_like(beta)
        active = [i for i, kept in zip(active, keep, strict=True) if kept]
        beta[active] = moved[keep] / moved[keep].sum()
