"""Support vector machines and joint subspaces as CVXPY problems, and textbook certificates."""

import numpy as np

from extras import optional

cp = optional("cvxpy")


def dual_value(K, y, C, loss="hinge"):
    """The optimum of one machine, from the dual quadratic programme."""
    n = len(K)
    C = np.broadcast_to(np.asarray(C, float), (n,))
    if loss == "squared_hinge":
        K = K + np.diag(1 / C)
    w, V = np.linalg.eigh(K)
    root = V * np.sqrt(np.maximum(w, 0))
    alpha = cp.Variable(n, nonneg=True)
    constraints = [y @ alpha == 0]
    if loss == "hinge":
        constraints.append(alpha <= C)
    objective = cp.sum(alpha) - 0.5 * cp.sum_squares(root.T @ cp.multiply(y, alpha))
    problem = cp.Problem(cp.Maximize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def objectives(K, y, C, alpha, b, loss="hinge"):
    """(primal, dual) at alpha and b, by loops over the rows."""
    n = len(K)
    C = np.broadcast_to(np.asarray(C, float), (n,))
    A = y * alpha
    quadratic = sum(A[i] * A[j] * K[i, j] for i in range(n) for j in range(n))
    losses = 0.0
    for i in range(n):
        slack = max(0.0, 1 - y[i] * (sum(K[i, j] * A[j] for j in range(n)) + b))
        losses += C[i] * slack if loss == "hinge" else 0.5 * C[i] * slack**2
    ridge = 0.0 if loss == "hinge" else float(np.sum(A**2 / C))
    return 0.5 * quadratic + losses, alpha.sum() - 0.5 * (quadratic + ridge)


def kkt_residual(K, y, C, alpha, b):
    """The largest violation of the optimality conditions of a hinge machine, in margins."""
    C = np.broadcast_to(np.asarray(C, float), y.shape)
    slack = 1 - y * (K @ (y * alpha) + b)
    at_zero, at_box = alpha <= 1e-7 * C, alpha >= (1 - 1e-7) * C
    residual = np.where(at_zero, np.maximum(slack, 0), np.where(at_box, -slack, np.abs(slack)))
    return max(residual.max(), abs(y @ alpha) / C.max())


def joint_kernel(G, lam, uncorrelated):
    """Khat by its definition."""
    inverse = np.linalg.inv(G + lam * np.eye(len(G)))
    Khat = G @ inverse if uncorrelated else G @ inverse @ G
    return (Khat + Khat.T) / 2


def joint_value(Khat, signs, C, n_components):
    """The optimum of the relaxed joint problem as a semidefinite programme in the primal.

    min 1/2 tr(V X^{-1} V') + C sum hinge, 0 <= X <= I, tr X = l, V the machines' weights.
    """
    m = signs.shape[1]
    w, U = np.linalg.eigh(Khat)
    F = U[:, w > 1e-10 * w[-1]] * np.sqrt(w[w > 1e-10 * w[-1]])
    V = cp.Variable((F.shape[1], m))
    b = cp.Variable((1, m))
    hinge = cp.sum(cp.pos(1 - cp.multiply(signs, F @ V + np.ones((len(F), 1)) @ b)))
    if n_components >= m:
        norm, constraints = cp.sum_squares(V), []
    else:
        X = cp.Variable((m, m), symmetric=True)
        norm = cp.matrix_frac(V.T, X)
        constraints = [X << np.eye(m), X >> 0, cp.trace(X) == n_components]
    problem = cp.Problem(cp.Minimize(0.5 * norm + C * hinge), constraints)
    problem.solve(solver=cp.CLARABEL)
    return problem.value
