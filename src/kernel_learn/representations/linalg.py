"""Factorisations of symmetric matrices that never fail with a bare LinAlgError."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.rows.access import row_blocks

# Where 1 - H_ii is smaller, a row decides about itself alone: its residual without itself
# is a quotient of two roundings.
LEAST_SLACK = 1e-5
MIRROR_ROWS = 128  # of a symmetric matrix that are copied at a time


def rounding(n: int, largest: float, dtype: DTypeLike = np.float64) -> float:
    """The size below which an eigenvalue of an n x n matrix is rounding."""
    return n * float(np.finfo(dtype).eps) * largest


def is_rounding(A: Array, lam: float) -> bool:
    """Whether A + lam I may not be positive definite in floating point."""
    return lam <= 10 * rounding(len(A), float(np.max(np.diagonal(A), initial=0.0)))


def eigh_positive(A: Array, cut: float | None = None) -> tuple[Array, Array]:
    """Eigenvalues above the cut (default: rounding), ascending, and their eigenvectors."""
    w, U = linalg.eigh(A, driver="evd", check_finite=False)
    largest = float(max(w[-1], 0.0)) if len(w) else 0.0
    # ascending: what is kept is a slice, and a slice is not copied
    first = int(
        np.searchsorted(w, rounding(len(A), largest) if cut is None else cut * largest, "right")
    )
    return w[first:], U[:, first:]


def solve_shifted(A: Array, lam: float, B: Array) -> Array:
    """(A + lam I)^{-1} B for symmetric A, positive semidefinite up to rounding.

    One Cholesky factorisation; if lam is so small that A + lam I is not
    positive definite in floating point, one eigendecomposition, with the
    solution kept in the range of A.
    """
    n = len(A)
    if not is_rounding(A, lam):
        shifted = np.array(A.T, order="F")  # a symmetric C array is its own Fortran array
        shifted[np.diag_indices(n)] += lam
        try:
            factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
            return np.asarray(linalg.cho_solve(factor, B, check_finite=False))
        except linalg.LinAlgError:
            del shifted
    w, U = eigh_positive(A)
    return np.asarray(U @ ((U.T @ B) / (w + lam)[:, None]))


def invert_shifted(A: Array, lam: float) -> Array | None:
    """(A + lam I)^{-1} for symmetric A, positive semidefinite up to rounding, as a new array.

    A Cholesky factorisation and the inverse from it, n^3 operations, in one array; None
    if lam is so small that A + lam I is not positive definite in floating point.
    """
    n = len(A)
    if is_rounding(A, lam):
        return None
    inverse = np.array(A.T, order="F")  # a symmetric C array is its own Fortran array
    inverse[np.diag_indices(n)] += lam
    inverse, failed = linalg.lapack.dpotrf(inverse, lower=1, overwrite_a=1)
    if not failed:
        inverse, failed = linalg.lapack.dpotri(inverse, lower=1, overwrite_c=1)
    if failed:
        return None
    inverse = inverse.T  # C order, its upper triangle is there
    for start in range(0, n, MIRROR_ROWS):
        stop = min(start + MIRROR_ROWS, n)
        corner = np.triu(inverse[start:stop, start:stop])
        inverse[start:stop, start:stop] = corner + np.triu(corner, 1).T
        inverse[stop:, start:stop] = inverse[start:stop, stop:].T
    return np.asarray(inverse)


def center_and_weigh(
    K: Array,  # (n, n), replaced
    mean: Array,  # (n,) K weight / n
    weight: Array,  # (n,)
    root: Array,  # (n,) S^{1/2}, or ones to centre alone
    *,
    center: bool = True,
) -> None:
    """K <- S^{1/2} P K P' S^{1/2} in place, a block of rows at a time."""
    column = mean - float(weight @ mean) / float(weight.sum())
    unit = bool(np.all(root == 1.0))
    for rows in row_blocks(len(K), 16):  # so few that the block is still in the cache
        if center:
            K[rows] -= mean[rows, None] + column
        if not unit:
            K[rows] *= root[rows, None]
            K[rows] *= root


def leave_out(
    groups: Sequence[Array],  # rows of each
    residual: Array,
    slack: Array,
    blocks: Sequence[Array],
) -> tuple[Array, float]:
    """(I - H_gg)^{-1} residual_g of every group and row, and the least eigenvalue of I - H_gg."""
    without = residual / np.maximum(slack, 0.1 * LEAST_SLACK)[:, None]
    single = np.ones(len(slack), dtype=bool)
    least = np.inf
    for rows, block in zip(groups, blocks, strict=True):
        single[rows] = False
        values, V = np.linalg.eigh(block)
        least = min(least, float(values[0]))
        values = np.maximum(values, 0.1 * LEAST_SLACK)
        without[rows] = V @ ((V.T @ residual[rows]) / values[:, None])
    return without, min(least, float(slack[single].min(initial=np.inf)))
