"""Regularised kernel learning by CVXPY and by definition; nothing of the package is used."""

import numpy as np

from extras import optional
from oracles.conic import solve_accurately

cp = optional("cvxpy")

# with its own scaling of rows and columns the solver ends short of these on some features
ACCURATE = {"equilibrate_enable": False} | dict.fromkeys(
    ("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-8
)


def constraint_matrix(Z, kind, t):
    """C with q = <C, A>, for rows Z of features."""

    def sym(u, v):
        return (np.outer(u, v) + np.outer(v, u)) / 2

    if kind == "pair":
        return sym(Z[t[0]] - Z[t[1]], Z[t[0]] - Z[t[1]])
    if kind == "triplet":
        a, p, n = Z[list(t)]
        return sym(a - n, a - n) - sym(a - p, a - p)
    if kind == "similarity":
        return sym(Z[t[0]], Z[t[1]])
    raise ValueError(kind)


def class_matrix(Z, labels, i, c, p):
    """(1/n) (sum over the class of K(i, j) - p sum over all of K(i, j))."""
    v = (Z[labels == c].sum(axis=0) - p * Z[labels >= 0].sum(axis=0)) / np.sum(labels >= 0)
    return (np.outer(Z[i], v) + np.outer(v, Z[i])) / 2


def objective(name, A, tau):
    M = A.shape[0]
    return {
        "logdet": lambda: cp.trace(A) - cp.log_det(A),
        "frobenius": lambda: cp.sum_squares(A - np.eye(M)) / 2,
        "pola": lambda: cp.sum_squares(A) / 2,
        "trace": lambda: tau * cp.trace(A) + cp.sum_squares(A) / 2,
        "trace_norm": lambda: tau * cp.trace(A),
    }[name]()


def solve(name, Cs, signs, bounds, gamma, tau=0.0):
    """min f(A) + gamma/2 |s|^2 s.t. sg <C, A> <= b + s, A >= 0; returns (value, A)."""
    M = len(Cs[0])
    A = cp.Variable((M, M), PSD=True)
    s = cp.Variable(len(Cs), nonneg=True)
    q = np.array([sg * C.ravel() for sg, C in zip(signs, Cs, strict=True)]) @ cp.vec(A, order="C")
    goal = objective(name, A, tau) + gamma / 2 * cp.sum_squares(s)
    problem = cp.Problem(cp.Minimize(goal), [q <= bounds + s])
    return solve_accurately(problem, **ACCURATE), A.value


def solve_penalized(name, penalty, Cs, signs, bounds, price, unit, tau=0.0):
    """min f(A) + price sum p((sg <C, A> - b) / unit), A >= 0; returns (value, A)."""
    M = len(Cs[0])
    A = cp.Variable((M, M), PSD=True)
    q = np.array([sg * C.ravel() for sg, C in zip(signs, Cs, strict=True)]) @ cp.vec(A, order="C")
    t = (q - bounds) / unit
    paid = {
        "squared_hinge": lambda: cp.sum_squares(cp.pos(t)) / 2,
        "hinge": lambda: cp.sum(cp.pos(t)),
        "squared": lambda: cp.sum_squares(t) / 2,
        "absolute": lambda: cp.norm1(t),
    }[penalty]()
    problem = cp.Problem(cp.Minimize(objective(name, A, tau) + price * paid))
    return solve_accurately(problem, **ACCURATE), A.value


def solve_hard(name, Cs, signs, bounds):
    """min f(A) s.t. sg <C, A> <= b, A >= 0; returns (value, A)."""
    M = len(Cs[0])
    A = cp.Variable((M, M), PSD=True)
    q = np.array([sg * C.ravel() for sg, C in zip(signs, Cs, strict=True)]) @ cp.vec(A, order="C")
    problem = cp.Problem(cp.Minimize(objective(name, A, 0.0)), [q <= bounds])
    return solve_accurately(problem, **ACCURATE), A.value


def planted_logdet(Cs, signs, z, room):
    """(A, bounds) such that A is optimal under hard constraints with multipliers z.

    A^{-1} = I + sum z sg C; bounds are met with equality where z > 0, else with some room.
    """
    A = np.linalg.inv(np.eye(len(Cs[0])) + np.einsum("c,cij->ij", z * signs, Cs))
    q = signs * np.einsum("cij,ij->c", Cs, A)
    return A, np.where(z > 0, q, q + room)


def reduced(name, K, J, Cs, signs, bounds, gamma, tau=0.0):
    """Jain's problem (6): f(alpha I + K^{1/2} J L J' K^{1/2}), constraints on alpha K + K J L J' K.

    Here C_c are n x n matrices on the learned kernel. Returns (value, learned kernel matrix).
    """
    n, r = J.shape
    alpha = 1.0 if name in ("logdet", "frobenius") else 0.0
    w, U = np.linalg.eigh(K)
    root = (U * np.sqrt(np.maximum(w, 0))) @ U.T
    L = cp.Variable((r, r), symmetric=True)
    A = alpha * np.eye(n) + root @ J @ L @ J.T @ root
    K_W = alpha * K + K @ J @ L @ J.T @ K
    s = cp.Variable(len(Cs), nonneg=True)
    q = [
        sg * cp.sum(cp.multiply(C, K_W)) <= b + s_c
        for sg, C, b, s_c in zip(signs, Cs, bounds, s, strict=True)
    ]
    sym = (A + A.T) / 2
    goal = objective(name, sym, tau) + gamma / 2 * cp.sum_squares(s)
    # with alpha = 0 the matrix has rank r at most: say the same of L, or there is no interior
    positive = sym if alpha else L
    problem = cp.Problem(cp.Minimize(goal), [*q, positive >> 0])
    value = solve_accurately(problem, tol_gap_abs=1e-7, tol_gap_rel=1e-7, tol_feas=1e-7)
    return value, K_W.value
