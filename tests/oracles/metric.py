"""Metric learners by their definitions: loops and CVXPY on rows Z, nothing of the package."""

import numpy as np

from extras import optional

cp = optional("cvxpy")


def scaled(X):
    """Rows in units of the root mean squared distance."""
    n = len(X)
    D = [np.sum((X[i] - X[j]) ** 2) for i in range(n) for j in range(n) if i != j]
    return X / np.sqrt(np.mean(D))


def distance(A, z):
    return cp.sum(cp.multiply(np.outer(z, z), A))


def targets(Z, y, k):
    for i in range(len(Z)):
        own = [j for j in range(len(Z)) if j != i and y[j] == y[i]]
        for j in sorted(own, key=lambda j: np.sum((Z[i] - Z[j]) ** 2))[:k]:
            yield i, j


def lmnn(Z, y, k, mu, reg):
    A = cp.Variable((Z.shape[1],) * 2, PSD=True)
    n, total = len(Z), 0
    for i, j in targets(Z, y, k):
        d = distance(A, Z[i] - Z[j])
        total += (1 - mu) * d
        for other in np.flatnonzero(y != y[i]):
            total += mu * cp.pos(1 + d - distance(A, Z[i] - Z[other]))
    problem = cp.Problem(cp.Minimize(total / n + reg * cp.trace(A)))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, A.value


def lmnn_value(Z, y, A, k, mu, reg, width):
    """The same at A, by loops, the hinge rounded over ``width``."""
    n, total = len(Z), 0.0

    def d(i, j):
        return (Z[i] - Z[j]) @ A @ (Z[i] - Z[j])

    for i, j in targets(Z, y, k):
        total += (1 - mu) * d(i, j)
        for other in np.flatnonzero(y != y[i]):
            t = max(1 + d(i, j) - d(i, other), 0.0)
            total += mu * (t * t / (2 * width) if t < width else t - width / 2)
    return total / n + reg * np.trace(A)


def mcml(Z, y, reg):
    A = cp.Variable((Z.shape[1],) * 2, PSD=True)
    n, total = len(Z), 0
    for i in range(n):
        d = [distance(A, Z[i] - Z[j]) for j in range(n) if j != i]
        own = [
            d_j for d_j, j in zip(d, [j for j in range(n) if j != i], strict=True) if y[j] == y[i]
        ]
        total += sum(own) / len(own) + cp.log_sum_exp(cp.hstack([-d_j for d_j in d]))
    problem = cp.Problem(cp.Minimize(total / n + reg * cp.trace(A)))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, A.value


def mmc(Z, y, reg):
    M = Z.shape[1]
    A = cp.Variable((M, M), PSD=True)
    pairs = [(i, j) for i in range(len(Z)) for j in range(i)]
    similar = [Z[i] - Z[j] for i, j in pairs if y[i] == y[j]]
    different = [Z[i] - Z[j] for i, j in pairs if y[i] != y[j]]
    C = sum(np.outer(u, u) for u in similar) / len(similar)
    C = C + reg * np.trace(C) / M * np.eye(M)
    goal = sum(cp.sqrt(distance(A, u)) for u in different) / len(different)
    problem = cp.Problem(cp.Maximize(goal), [cp.sum(cp.multiply(C, A)) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value, A.value


def rca(Z, y, reg):
    M = Z.shape[1]
    C = np.zeros((M, M))
    for i in range(len(Z)):
        u = Z[i] - Z[y == y[i]].mean(axis=0)
        C += np.outer(u, u) / len(Z)
    return np.linalg.inv(C + reg * np.trace(C) / M * np.eye(M))


def nca(Z, y, L, reg):
    total = 0.0
    for i in range(len(Z)):
        d = {j: np.sum((L @ (Z[i] - Z[j])) ** 2) for j in range(len(Z)) if j != i}
        least = min(d.values())
        weights = {j: np.exp(least - d_j) for j, d_j in d.items()}
        total += sum(w for j, w in weights.items() if y[j] == y[i]) / sum(weights.values())
    return total / len(Z) - reg * np.sum(L**2)


def mmc_pairs(Z, similar, dissimilar, reg):
    """max mean sqrt(d) over dissimilar pairs s.t. mean d (+ ridge) over similar ones <= 1."""
    M = Z.shape[1]
    A = cp.Variable((M, M), PSD=True)
    C = sum(np.outer(Z[i] - Z[j], Z[i] - Z[j]) for i, j in similar) / len(similar)
    C = C + reg * np.trace(C) / M * np.eye(M)
    total = sum(cp.sqrt(distance(A, Z[i] - Z[j])) for i, j in dissimilar) / len(dissimilar)
    problem = cp.Problem(cp.Maximize(total), [cp.sum(cp.multiply(C, A)) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value, A.value


def lmnn_triplets(Z, triplets, mu, reg, margin=1.0):
    A = cp.Variable((Z.shape[1],) * 2, PSD=True)
    total = 0
    for i, j, other in triplets:
        d = distance(A, Z[i] - Z[j])
        total += (1 - mu) * d + mu * cp.pos(margin + d - distance(A, Z[i] - Z[other]))
    problem = cp.Problem(cp.Minimize(total / len(triplets) + reg * cp.trace(A)))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, A.value
