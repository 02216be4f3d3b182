"""Support vector machines and joint subspaces as CVXPY problems, and textbook certificates."""

import cvxpy as cp
import numpy as np


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
