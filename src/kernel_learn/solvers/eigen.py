"""Closed forms: the top eigenvectors of a small symmetric matrix."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.solvers.result import Result

# A direction whose eigenvalue is this much smaller than the largest is rounding
# (the k-th direction of k centred classes always is): it is never divided by.
RANK_TOLERANCE = 1e-10
# An eigenvalue of a learned metric below this share of the largest is zero.
METRIC_RANK = 1e-9


def solve_top_eigen(
    M: Array,  # (r, r) symmetric positive semidefinite
    n_components: int,
    tolerance: float = RANK_TOLERANCE,
) -> Result:
    """max over R with R'MR diagonal of the sum of l eigenvalues; the point is R E^{-1/2}.

    Returns at most n_components columns (r, l), fewer if M has lower rank.
    Signs follow ``fix_signs``.
    """
    E, R = linalg.eigh((M + M.T) / 2, check_finite=False)
    E, R = E[::-1], R[:, ::-1]
    rank = int(np.sum(tolerance * max(E[0], 0.0) < E)) if len(E) else 0
    E, R = E[: min(rank, n_components)], R[:, : min(rank, n_components)]
    return Result(point=fix_signs(R) / np.sqrt(E), value=float(E.sum()), values=E)


def fix_signs(R: Array) -> Array:
    """Flip columns so that the first entry of notable size is positive.

    The largest entry would not do: two classes give (a, -a), where rounding decides.
    """
    notable = np.abs(R) > 0.3 * np.abs(R).max(axis=0, initial=0.0)
    first = np.argmax(notable, axis=0)
    signs = np.sign(R[first, np.arange(R.shape[1])])
    return np.asarray(R * np.where(signs == 0, 1.0, signs))


def solve_centroid_discriminant(
    C: Array,  # (M, M) total scatter of the features
    Z_centroids: Array,  # (k, M) features of the class centroids
    counts: Array,  # (k,)
    mu: float,
    n_components: int,
) -> tuple[Array, Array]:
    """Directions V with V'(C + mu I)V = I that maximise tr V'S_b V (AKDA/QR; Xiong et al. 2004).

    S_b = sum_j n_j (c_j - c)(c_j - c)' with c_j the features of centroid j
    (not the mean of the features of class j), c their weighted mean.
    Returns V and its eigenvalues, largest first.
    """
    D = np.sqrt(counts)[:, None] * (Z_centroids - counts @ Z_centroids / counts.sum())
    e, V = linalg.eigh(D.T @ D, C + mu * np.eye(len(C)))
    return fix_signs(V[:, ::-1][:, :n_components]), e[::-1][:n_components]


def learned_directions(w: Array, V: Array, ZT_Z: Array) -> Array:
    """F with A = F F' and F'(Z'Z)F diagonal, descending: the learned kernel's principal axes."""
    kept = w > METRIC_RANK * max(float(w[-1]), 0.0)
    root = V[:, kept] * np.sqrt(w[kept])
    _, R = linalg.eigh(root.T @ ZT_Z @ root)
    F = root @ R[:, ::-1]
    top = np.argmax(np.abs(F), axis=0)
    signs = np.sign(F[top, np.arange(F.shape[1])])
    return np.asarray(F * np.where(signs == 0, 1.0, signs))
