"""Squared-hinge machines of the joint problem with one row left out, without a refit.

On rows F the machine u = [v; b] is the minimum of

    J = 1/2 |v|^2 + 1/2 sum_j C_j max(0, 1 - y_j (v'F_j + b))^2,

with the Hessian H. The penalty depends on the rows, too: with their centred scores z on the
principal axes, whose squares sum to diag(w), F = z / sqrt(w + lam) (``uncorrelated``) or
z sqrt(w / (w + lam)). Without row i of weight w_i among N in all diag(w) becomes
diag(w) - g z_i z_i', g = w_i N / (N - w_i), and 1/2 |v|^2 changes by 1/2 s (a'v)^2,

    a = F_i, s = -g    or    a = F_i / w, s = lam g / (1 - g z_i'diag(w)^{-1} z_i).

So the gradient of J without i is M t at u, M = [[a; 0], e], e = [F_i; 1], t = (s a'v, C y xi), xi
the row's slack, and the Hessian H + M D M', D = diag(s, -C [xi > 0]): one step of Newton, exact
while all other rows stay on their side of the margin, changes the score of row i by

    -[S_21, S_22] (I + D S)^{-1} t,    S = M'H^{-1} M   (2, 2).

A row that was seen with several classes is left out with all of them: C, C y xi are sums.

Of a group S of rows g becomes the matrix Gamma = diag(w_S) + w_S w_S' / (N - sum w_S), and the
step is the same with blocks of the group's size in the place of numbers: s is -Gamma, or
lam (I - Gamma Lam)^{-1} Gamma, Lam = z_S diag(w)^{-1} z_S'.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array


@dataclass(frozen=True)
class PenaltyWithout:
    """alpha + beta S_11 in the place of 1 + s S_11, s = beta / alpha, which may be infinite."""

    a: Array  # (m, r)
    alpha: Array  # (m,)
    beta: Array  # (m,)


def penalty_without(
    F: Array,  # (m, r)
    weight: Array,  # (m,) of the rows
    total: float,  # weight of all rows that were learned from
    w: Array,  # (r,) eigenvalues
    lam: float,
    uncorrelated: bool,
) -> PenaltyWithout:
    """How the penalty changes without each row."""
    g = weight * total / np.maximum(total - weight, np.finfo(float).tiny)
    if uncorrelated:
        return PenaltyWithout(F, np.ones(len(F)), -g)
    leverage = (F**2) @ ((w + lam) / w**2)
    return PenaltyWithout(F / w, np.maximum(1.0 - g * leverage, 0.0), lam * g)


def scores_without(
    F: Array,  # (m, r) some of the rows
    prices: Array,  # (m, q, 2) C of each row for its machines: where it is on their side, and not
    U: Array,  # (r + 1, q) machines
    factors: list[Array],  # (r + 1, r + 1) lower Cholesky factors of their Hessians
    penalty: PenaltyWithout,
) -> Array:
    """Scores of rows by machines that were not shown them, (m, q)."""
    scores = F @ U[:-1] + U[-1]
    bordered = np.vstack([penalty.a.T, np.zeros(len(F))])
    step = np.append(np.zeros(len(U) - 1), 1.0)
    same = penalty.a is F
    for j, (factor, u) in enumerate(zip(factors, U.T, strict=True)):
        R_a = linalg.solve_triangular(factor, bordered, lower=True)
        R_1 = linalg.solve_triangular(factor, step, lower=True)[:, None]
        R_e = R_a + R_1 if same else _lowered(factor, F)
        S_11, S_12, S_22 = (
            np.einsum("ij,ij->j", *pair) for pair in ((R_a, R_a), (R_a, R_e), (R_e, R_e))
        )
        slack = np.maximum(1.0 - np.array([[1.0], [-1.0]]) * scores[:, j], 0.0).T  # (m, 2)
        C = (prices[:, j] * (slack > 0)).sum(axis=1)
        t_1 = penalty.beta * (penalty.a @ u[:-1])
        t_2 = (prices[:, j] * slack) @ np.array([1.0, -1.0])
        p, q = penalty.alpha + penalty.beta * S_11, penalty.beta * S_12
        least = np.finfo(float).eps * (1.0 + np.abs(p) * (1.0 + C * S_22))
        determinant = np.maximum(p * (1.0 - C * S_22) + q * C * S_12, least)
        x_1 = ((1.0 - C * S_22) * t_1 - q * t_2) / determinant
        x_2 = (C * S_12 * t_1 + p * t_2) / determinant
        scores[:, j] -= S_12 * x_1 + S_22 * x_2
    return np.asarray(scores)


def group_scores_without(
    F: Array,  # (g, r) the rows of a group
    weight: Array,  # (g,)
    prices: Array,  # (g, q, 2) as of ``scores_without``
    U: Array,  # (r + 1, q) machines
    factors: list[Array],
    total: float,  # weight of all rows that were learned from
    w: Array,  # (r,) eigenvalues
    lam: float,
    uncorrelated: bool,
) -> Array:
    """Scores of rows by machines that were not shown any of them, (g, q)."""
    rest = max(total - float(weight.sum()), np.finfo(float).tiny)
    gamma = np.diag(weight) + np.outer(weight, weight) / rest
    a, alpha, beta = F, np.eye(len(F)), -gamma
    if not uncorrelated:
        a, beta = F / w, lam * gamma
        alpha = np.eye(len(F)) - gamma @ (F * ((w + lam) / w**2)) @ F.T
    scores = F @ U[:-1] + U[-1]
    bordered = np.vstack([a.T, np.zeros(len(F))])
    for j, (factor, u) in enumerate(zip(factors, U.T, strict=True)):
        R_a = linalg.solve_triangular(factor, bordered, lower=True)
        R_e = _lowered(factor, F)
        S_11, S_12, S_22 = R_a.T @ R_a, R_a.T @ R_e, R_e.T @ R_e
        slack = np.maximum(1.0 - np.array([[1.0], [-1.0]]) * scores[:, j], 0.0).T  # (g, 2)
        C = (prices[:, j] * (slack > 0)).sum(axis=1)[:, None]
        M = np.block([[alpha + beta @ S_11, beta @ S_12], [-C * S_12.T, np.eye(len(F)) - C * S_22]])
        t = np.concatenate([beta @ (a @ u[:-1]), (prices[:, j] * slack) @ np.array([1.0, -1.0])])
        x = np.linalg.lstsq(M, t, rcond=None)[0]
        scores[:, j] -= np.hstack([S_12.T, S_22]) @ x
    return np.asarray(scores)


def _lowered(factor: Array, F: Array) -> Array:
    e = np.vstack([F.T, np.ones(len(F))])
    return np.asarray(linalg.solve_triangular(factor, e, lower=True))
