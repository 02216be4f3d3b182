"""Kernels, widths and weights by definition: double loops, no import of the package."""

import math

import numpy as np
from scipy import special


def gram(kernel, X, X_ref=None, **parameters):
    """[k(x, y)] in float64, one pair of rows at a time."""
    X = np.asarray(X, dtype=np.float64)
    X_ref = X if X_ref is None else np.asarray(X_ref, dtype=np.float64)
    return np.array([[kernel(x, y, **parameters) for y in X_ref] for x in X]).reshape(
        len(X), len(X_ref)
    )


def gaussian(x, y, gamma):
    return math.exp(-gamma * squared_distance(x, y))


def laplacian(x, y, gamma):
    return math.exp(-gamma * manhattan(x, y))


def exponential(x, y, gamma):
    return math.exp(-gamma * distance(x, y))


def matern(x, y, gamma, nu):
    """By the Bessel function, as defined for every nu."""
    t = math.sqrt(2 * nu) * gamma * distance(x, y)
    if t == 0:
        return 1.0
    return 2 ** (1 - nu) / special.gamma(nu) * t**nu * special.kv(nu, t)


def chi_squared(x, y, gamma):
    return math.exp(-gamma * chi_squared_distance(x, y))


def linear(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def polynomial(x, y, degree, gamma, coef0):
    return (gamma * linear(x, y) + coef0) ** degree


def cosine(x, y):
    norms = math.sqrt(linear(x, x)) * math.sqrt(linear(y, y))
    return linear(x, y) / norms if norms > 0 else 0.0


def squared_distance(x, y):
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def distance(x, y):
    return math.sqrt(squared_distance(x, y))


def manhattan(x, y):
    return math.fsum(abs(a - b) for a, b in zip(x, y, strict=True))


def chi_squared_distance(x, y):
    return math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def median_gamma(X, distance, counts=None):
    """1 / median distance of all ordered pairs, a row and itself included; rows repeated."""
    rows = X if counts is None else np.repeat(X, counts, axis=0)
    return 1 / np.median([distance(x, y) for x in rows for y in rows])


def weighted_median(values, weights):
    """The middle of the interval of medians: both halves hold at least half of the weight."""
    half = sum(weights) / 2
    kept = [(v, w) for v, w in zip(values, weights, strict=True) if w > 0]
    medians = [
        v
        for v, _ in kept
        if sum(w for u, w in kept if u <= v) >= half and sum(w for u, w in kept if u >= v) >= half
    ]
    return (min(medians) + max(medians)) / 2


def positive_part(K):
    """K without its negative eigenvalues, one eigenvector at a time."""
    w, V = np.linalg.eigh(K)
    return sum(value * np.outer(v, v) for value, v in zip(w, V.T, strict=True) if value > 0)


def positive_projector(K):
    w, V = np.linalg.eigh(K)
    return sum(np.outer(v, v) for value, v in zip(w, V.T, strict=True) if value > 0)
