"""The span of the class centroids in feature space (KOC; Park, Jeon & Rosen 2003)."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Combined

# A centroid that lies in the span of the others to this share of its length adds nothing.
DEPENDENT = 1e-10


def orthonormal_centroids(sample: Combined, counts: Array) -> Array:
    """W = E R^{-1} with E'KE = R'R: orthonormal directions that span the class centroids.

    E = S^{1/2} Y diag(1/n_j) are the centroids as coefficient vectors, for an
    uncentred sample whose targets are the one-hot labels. Centroids that
    depend on earlier ones are left out.
    """
    E = sample.targets / counts
    return E @ _inverse_factor(sample.inner(E, E))


def _inverse_factor(M: Array) -> Array:
    """Columns X with X'MX = I by Cholesky factorisation; dependent rows of M are left out."""
    kept: list[int] = []
    R = np.zeros_like(M)
    for j in range(len(M)):
        r = len(kept)
        column = linalg.solve_triangular(R[:r, :r], M[kept, j], trans="T") if r else M[:0, j]
        left = M[j, j] - column @ column
        if left > DEPENDENT * M[j, j]:
            R[:r, r], R[r, r] = column, np.sqrt(left)
            kept.append(j)
    r = len(kept)
    X = np.zeros((len(M), r))
    X[kept] = linalg.solve_triangular(R[:r, :r], np.eye(r))
    return X
