"""The semidefinite programs of Chen et al., Ye et al., Kim et al. and Lanckriet et al. in CVXPY.

Kernels here are scaled to trace n and weights sum to one.
"""

import numpy as np

from extras import optional
from oracles.conic import solve_accurately

cp = optional("cvxpy")

ACCURATE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def solve(objective, constraints, sense="Minimize"):
    return solve_accurately(cp.Problem(getattr(cp, sense)(objective), constraints), **ACCURATE)


def simplex(size):
    d = cp.Variable(size, nonneg=True)
    return d, [cp.sum(d) == 1]


def combine(d, Gs):
    return sum(d[i] * G for i, G in enumerate(Gs))


def exact(Gs, L, lam=None, floor=0.0):
    """Ye 34 (Chen 30); with lam=None Ye 41, whose first kernel is the identity."""
    n, k = L.shape
    d, constraints = simplex(len(Gs) + (lam is None))
    M = np.eye(n) + combine(d, Gs) / lam if lam else floored(d, Gs, n, floor)
    t = cp.Variable(k)
    for j in range(k):
        column = L[:, [j]]
        constraints.append(cp.bmat([[M, column], [column.T, cp.reshape(t[j], (1, 1), "C")]]) >> 0)
    return solve(cp.sum(t), constraints)


def approximate(Gs, L, lam=None, floor=0.0):
    """Ye 37, and its form with lam learned."""
    n, k = L.shape
    d, constraints = simplex(len(Gs) + (lam is None))
    M = np.eye(n) + combine(d, Gs) / lam if lam else floored(d, Gs, n, floor)
    t = cp.Variable(k)
    constraints.append(cp.bmat([[M, L], [L.T, cp.diag(t)]]) >> 0)
    return solve(cp.sum(t), constraints)


def floored(d, Gs, n, floor):
    return (d[0] + floor) * np.eye(n) + combine(d[1:], Gs)


def kim(Ks, y, lam):
    """Kim et al.: the ratio (m_+ - m_-)'(S_w + lam)^{-1}(m_+ - m_-), weights summing to one.

    max over theta, by the primal of the ratio: its inverse is the least of
    w'(S_w + lam)w = alpha'(G W G + lam G)alpha s.t. w'(m_+ - m_-) = 1, which in
    f = G alpha is f'W f + lam f'G(theta)^{-1}f s.t. a'f = 1: jointly convex.
    """
    n = len(y)
    d, constraints = simplex(len(Ks))
    positive = y == y.max()
    a = np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    within = np.zeros((n, n))
    for rows in (positive, ~positive):
        m = rows.sum()
        within[np.ix_(rows, rows)] = (np.eye(m) - 1 / m) / n
    root = np.linalg.cholesky(within + 1e-13 * np.eye(n)).T
    f, t = cp.Variable((n, 1)), cp.Variable((1, 1))
    constraints += [cp.bmat([[combine(d, Ks), f], [f.T, t]]) >> 0, a @ f[:, 0] == 1]
    return -1 / solve(cp.sum_squares(root @ f) + lam * t[0, 0], constraints)


def sm1(Ks, signs, C):
    """Lanckriet et al.'s QCQP: max 1'alpha - t/2 with A'K_i A <= t for every kernel."""
    return qcqp(Ks, signs, upper=C)


def sm2(Ks, signs, C):
    return qcqp([K + np.eye(len(K)) / C for K in Ks], signs)


def sm2_c(Ks, signs, floor=0.0):
    n = len(Ks[0])
    return qcqp([np.eye(n) * (1 + floor), *(K + floor * np.eye(n) for K in Ks)], signs)


def qcqp(Ks, signs, upper=None):
    n, m = signs.shape
    alpha = cp.Variable((n, m), nonneg=True)
    t = cp.Variable()
    constraints = [cp.sum(cp.multiply(signs, alpha), axis=0) == 0]
    if upper is not None:
        constraints.append(alpha <= upper)
    roots = [factor(K) for K in Ks]
    A = cp.multiply(signs, alpha)
    constraints += [cp.sum_squares(root @ A) <= t for root in roots]
    return solve(cp.sum(alpha) - t / 2, constraints, "Maximize")


def svm_mkl(Gs, signs, C, reg):
    """Chen 39 by its primal: f'Khat^{-1}f = |f|^2 + reg f'G(d)^{-1}f, jointly convex in f and d."""
    n, m = signs.shape
    d, constraints = simplex(len(Gs))
    objective = 0
    for j in range(m):
        f, b, t = cp.Variable((n, 1)), cp.Variable(), cp.Variable((1, 1))
        constraints.append(cp.bmat([[combine(d, Gs), f], [f.T, t]]) >> 0)
        objective += 0.5 * cp.sum_squares(f) + 0.5 * reg * t[0, 0]
        objective += C * cp.sum(cp.pos(1 - cp.multiply(signs[:, j], f[:, 0] + b)))
    return solve(objective, constraints)


def factor(K):
    w, V = np.linalg.eigh(K)
    return np.sqrt(np.maximum(w, 0))[:, None] * V.T


def centred_kernel(K):
    """PKP, scaled to trace n."""
    n = len(K)
    P = np.eye(n) - 1 / n
    G = P @ K @ P
    return G * n / np.trace(G)
