"""Weights of several kernels by the held-out error of their ridge fit.

    min over theta on the simplex, lam > 0 of
        log E(theta, lam) + pull sum_m (u_m - mean u)^2,   theta = softmax(u),
    E = sum_i w_i |y_i - loo_i|^2 / N  of ridge with intercept on K = sum_m theta_m K_m.

With M = K + lam diag(1/w) and B = M^{-1} - M^{-1}11'M^{-1} / (1'M^{-1}1), v = B Y and
b = diag B the residuals left out are v_i / b_i, and with D = dE/dF (n, k), F = Y - v/b,

    dE/dK = Q = 1/2 (S v' + v S') - B diag(c) B,   S = B (D/b),   c_i = D_i'v_i / b_i^2:

one matrix holds the derivative in everything, dE/dtheta_m = <Q, K_m> and
dE/dlam = sum_i Q_ii / w_i. The papers' criteria measure the fit to training
rows and put all weight on the narrowest kernel that separates them; rows left
out do not. The pull to equal weights keeps few rows from choosing by chance.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from kernel_learn.criteria.targets import Targets
from kernel_learn.representations.base import Array

PULL = 0.01


@dataclass(frozen=True)
class LooWeights:
    """The weights, lam, the held-out error at them, and the objective at every step."""

    weights: Array  # (p,), on kernels as given
    lam: float
    error: float
    history: tuple[float, ...]


def learn_loo_weights(
    Ks: Array,  # (p, n, n)
    targets: Targets,
    pull: float = PULL,
    max_iter: int = 100,
) -> LooWeights:
    """Minimise the objective above from equal weights; kernels count as scaled to trace n."""
    traces = np.array([centred_trace(K, targets) for K in Ks])
    scale = np.divide(targets.total, traces, out=np.zeros_like(traces), where=traces > 0)
    scaled = Ks * scale[:, None, None]
    history: list[float] = []

    def objective(x: Array) -> tuple[float, Array]:
        u, lam = x[:-1], float(np.exp(x[-1]))
        theta = _softmax(u)
        error, by_theta, by_lam = loo_error(scaled, theta, lam, targets)
        off = u - u.mean()
        value = float(np.log(error) + pull * off @ off)
        by_u = theta * (by_theta - theta @ by_theta) / error + 2 * pull * off
        history.append(value)
        return value, np.append(by_u, by_lam * lam / error)

    start = np.append(np.zeros(len(Ks)), np.log(0.1))
    bounds = [(-12.0, 12.0)] * len(Ks) + [(np.log(1e-6), np.log(1e3))]
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_iter}
    )
    theta, lam = _softmax(found.x[:-1]), float(np.exp(found.x[-1]))
    error = loo_error(scaled, theta, lam, targets)[0]
    return LooWeights(theta * scale, lam, error, tuple(history))


def loo_error(Ks: Array, theta: Array, lam: float, targets: Targets) -> tuple[float, Array, float]:
    """(E, dE/dtheta, dE/dlam)."""
    w, N = targets.weight, targets.total
    M = np.tensordot(theta, Ks, 1)
    M[np.diag_indices(len(M))] += lam / w
    inverse = linalg.inv(M, check_finite=False, overwrite_a=True)
    ones = inverse.sum(axis=1)
    B = inverse - np.outer(ones, ones) / ones.sum()
    v, b = B @ targets.Y, np.diagonal(B)[:, None]
    residual = v / b
    error = float(np.sum(w[:, None] * residual**2) / N)
    D = -2 * w[:, None] * residual / N
    S, c = B @ (D / b), np.sum(D * v, axis=1) / b[:, 0] ** 2
    Q = S @ v.T
    Q = (Q + Q.T) / 2 - (B * c) @ B
    return error, np.einsum("pij,ij->p", Ks, Q), float(np.sum(np.diagonal(Q) / w))


def centred_trace(K: Array, targets: Targets) -> float:
    """sum_i w_i Kc_ii."""
    p = targets.weight / targets.total
    return float(targets.total * (p @ np.diagonal(K) - p @ K @ p))


def _softmax(u: Array) -> Array:
    e = np.exp(u - u.max())
    return np.asarray(e / e.sum())
