"""Ridge regression with an intercept, fitted again without some rows: one linear system each."""

import numpy as np


def fit_ridge(K, Y, weight, lam):
    """a, b of min sum w |y - b - f|^2 + lam |f|^2."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K + lam * np.diag(1 / weight)
    A[:n, n] = A[n, :n] = 1.0
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return solution[:n], solution[n]


def predict_without(K, K_new, Y, weight, lam, gone):
    """Predictions of new rows by the fit to all rows but those ``gone``."""
    left = np.setdiff1d(np.arange(len(K)), gone)
    a, b = fit_ridge(K[np.ix_(left, left)], Y[left], weight[left], lam)
    return K_new[:, left] @ a + b


def row_values(K, Y, weight, lam, units, loss):
    """What all others lose without each row: n refits for every unit that is left out."""
    n = len(K)
    values = np.zeros(n)
    for unit in units:
        before = loss(Y[unit] - predict_without(K, K[unit], Y, weight, lam, unit))
        for j in np.setdiff1d(np.arange(n), unit):
            gone = np.append(unit, j)
            after = loss(Y[unit] - predict_without(K, K[unit], Y, weight, lam, gone))
            values[j] += weight[unit] @ (after - before)
    return values
