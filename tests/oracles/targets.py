"""Label kernels and measures of dependence for numbers and sets of labels, by their definitions."""

import numpy as np


def standard(y, weight=None):
    """Columns of (weighted) mean zero and variance one."""
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    w = np.ones(len(y)) if weight is None else weight
    centred = y - w @ y / w.sum()
    return centred / np.sqrt(w @ centred**2 / w.sum())


def number_kernel(y, kind, gamma=None):
    n = len(y)
    y = np.asarray(y, dtype=float).reshape(n, -1)
    if kind == "normalized":
        return standard(y) @ standard(y).T / n
    if kind == "linear":
        return (y - y.mean(axis=0)) @ (y - y.mean(axis=0)).T
    return np.array([[np.exp(-gamma * np.sum((a - b) ** 2)) for b in y] for a in y])


def set_kernel(sets, kind):
    """Of sets of labels, one pair at a time."""
    counts = {label: sum(label in own for own in sets) for own in sets for label in own}
    pairs = {
        "normalized": lambda a, b: sum(1 / counts[label] for label in a & b),
        "linear": lambda a, b: len(a & b),
        "jaccard": lambda a, b: len(a & b) / len(a | b) if a | b else 1.0,
    }
    return np.array([[float(pairs[kind](a, b)) for b in sets] for a in sets])


def median_gamma(y):
    """1 / the median squared distance of two targets, each with itself too."""
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    return 1 / np.median([[np.sum((a - b) ** 2) for b in y] for a in y])


def pls(K, Y, K_new, n_components):
    """Kernel partial least squares by NIPALS, K and Y deflated; predictions for new rows."""
    n = len(K)
    mean = Y.mean(axis=0)
    P = np.eye(n) - 1 / n
    G, G_new = P @ K @ P, (K_new - K.mean(axis=0)) @ P
    left, rest, T, U = G.copy(), Y - mean, [], []
    for _ in range(n_components):
        c = np.linalg.eigh(rest.T @ left @ rest)[1][:, -1]
        u = rest @ c
        t = left @ u
        if np.linalg.norm(t) < 1e-12:
            break
        t /= np.linalg.norm(t)
        D = np.eye(n) - np.outer(t, t)
        left, rest = D @ left @ D, D @ rest
        T.append(t)
        U.append(u)
    T, U = np.array(T).T, np.array(U).T
    return mean + G_new @ U @ np.linalg.solve(T.T @ G @ U, T.T @ (Y - mean))
