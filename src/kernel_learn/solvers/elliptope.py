"""The largest trace over correlation matrices, a k x k semidefinite program."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array

# The duality gap at which the path is left, relative to the value.
RELATIVE_GAP = 1e-10


@dataclass(frozen=True)
class Correlation:
    """X feasible in the primal, t in the dual; S = diag(t) - V, X ~ mu S^{-1}."""

    X: Array  # (k, k), X_ii = 1
    t: Array  # (k,)
    S_inv: Array  # (k, k)
    mu: float


def solve_elliptope(V: Array) -> Correlation:
    """max tr(X V) s.t. X >= 0, X_ii = 1;  dual: min sum t s.t. diag(t) >= V.

    Follows the central path of the dual: Newton's method on
    sum t - mu log det(diag(t) - V), whose gradient is 1 - mu diag(S^{-1}) and
    whose Hessian is mu S^{-1} * S^{-1} (entrywise), for mu -> 0. On the path
    X = mu S^{-1} and the gap is k mu.
    """
    k = len(V)
    V = (V + V.T) / 2
    size = max(float(np.trace(V)), np.finfo(float).tiny)
    V = V / size
    t = np.abs(V).sum(axis=1) + 1.0 / k
    mu = float(t.sum()) / k
    target = RELATIVE_GAP * float(np.trace(V)) / k
    while True:
        t, S_inv = _newton(V, t, mu)
        if mu <= target:
            break
        mu = max(0.2 * mu, target)
    X = mu * S_inv
    root = np.sqrt(np.diagonal(X))
    return Correlation(X / np.outer(root, root), size * t, S_inv / size, size * mu)


def _newton(V: Array, t: Array, mu: float) -> tuple[Array, Array]:
    """Newton steps to the centre for mu; t stays feasible."""
    S_inv = _inverse_if_positive(np.diag(t) - V)
    assert S_inv is not None
    for _ in range(50):
        gradient = 1.0 - mu * np.diagonal(S_inv)
        step = -np.asarray(linalg.solve(mu * S_inv * S_inv, gradient, assume_a="pos"))
        decrement = -float(gradient @ step) / mu
        length = 1.0 if decrement < 0.05 else 1.0 / (1.0 + np.sqrt(decrement))
        new = _inverse_if_positive(np.diag(t + length * step) - V)
        if new is None:  # rounding at the edge: the path ends here
            break
        t, S_inv = t + length * step, new
        if decrement < 1e-12:
            break
    return t, S_inv


def _inverse_if_positive(S: Array) -> Array | None:
    try:
        factor = linalg.cho_factor(S, lower=True)
    except linalg.LinAlgError:
        return None
    return np.asarray(linalg.cho_solve(factor, np.eye(len(S))))


def value_hessian(correlation: Correlation, dVs: Array) -> Array:
    """tr(dV_i dX_j): how the best X moves with V along the directions dVs (q, k, k).

    From mu diag(S^{-1}) = 1: (S^{-1} * S^{-1}) dt = diag(S^{-1} dV S^{-1}) and
    dX = mu S^{-1} (dV - diag(dt)) S^{-1}.
    """
    S_inv, mu = correlation.S_inv, correlation.mu
    inner = S_inv @ dVs @ S_inv
    right = np.diagonal(inner, axis1=1, axis2=2).T
    dts = linalg.solve(S_inv * S_inv, right, assume_a="pos").T  # (q, k)
    dXs = mu * (inner - (S_inv * dts[:, None, :]) @ S_inv)
    q = len(dVs)
    H = dVs.reshape(q, -1) @ dXs.reshape(q, -1).T
    return np.asarray((H + H.T) / 2)
