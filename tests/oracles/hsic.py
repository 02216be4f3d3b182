"""HSIC and uHSIC by the eigenproblems of Chen et al. (2008), n x n and naive."""

import numpy as np
from scipy import linalg


def center(K, weight=None):
    n = len(K)
    s = np.ones(n) / n if weight is None else weight / weight.sum()
    P = np.eye(n) - np.outer(np.ones(n), s)
    return P @ K @ P.T


def label_kernel(y, kind):
    classes = np.unique(y)
    Y = (y[:, None] == classes).astype(float)
    if kind == "normalized":
        Y = Y / np.sqrt(Y.sum(axis=0))
    P = np.eye(len(y)) - 1 / len(y)
    return P @ Y @ Y.T @ P


def subspace(G, H, lam, n_components, uncorrelated):
    """(W, value): top eigenvectors of (G + lam)^{-1} G H G or (G G + lam G)^+ G H G."""
    n = len(G)
    left = G @ G + lam * G if uncorrelated else G + lam * np.eye(n)
    w, V = linalg.eig(np.linalg.pinv(left, rcond=1e-12) @ G @ H @ G)
    order = np.argsort(-w.real)[:n_components]
    return V[:, order].real, w.real[order].sum()


def subspace_kernel(G, W, lam, uncorrelated):
    """K_w on the training rows (Eq. 6, and Eq. 18 with its constraint)."""
    middle = W.T @ (G @ G + lam * G if uncorrelated else G + lam * np.eye(len(G))) @ W
    return G @ W @ np.linalg.inv(middle) @ W.T @ G
