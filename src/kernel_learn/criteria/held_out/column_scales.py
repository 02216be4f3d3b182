"""Scales of columns by the mean squared gradient of a ridge fit.

Repeated twice, from s = 1: Z = X diag(s), R_il = |z_i - z_l|, h = median R,
K = exp(-R / h), A the ridge coefficients at reg = 0.1, and

    grad_j f_c(z_i) = -(1/h) sum_{l != i} A_lc K_il (z_ij - z_lj) / R_il,
    M_j = s_j^2 sum_c mean_i [grad_j f_c(z_i)]^2,     s = sqrt(M / max M + 1e-6) / rms.

s_j^2 leads back to the columns as given. A row has no gradient through its
own kernel. The scales have seen the labels: what is validated with them must be
held out of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import RidgeSolves
from kernel_learn.criteria.held_out.targets import RowTargets
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.kernels.shared import SharedStatistics
from kernel_learn.rows.access import is_sparse, row_blocks

ROUNDS = 2
REG = 0.1
FLOOR = 1e-6
# The fitted values have rank below k; of more classes so many directions are followed.
MOST_DIRECTIONS = 10
GRADIENT_ENTRIES = 2**21  # of a block of columns of V Z


@dataclass(frozen=True)
class ColumnScales:
    """Scales s (d,) of mean square one, and the mean squared gradients M (d,) behind them."""

    scales: Array
    relevance: Array


def learn_scales(
    X: Rows,  # (n, d), dense or CSR
    targets: RowTargets,
    blocks: Array | None = None,  # (d,) columns of one number share one scale
    rounds: int = ROUNDS,
) -> ColumnScales:
    """Scales of the columns in the sense above."""
    s = np.ones(X.shape[1])
    M = s
    for _ in range(rounds):
        Z = scale_columns(X, s)
        M = s**2 * squared_gradients(Z, targets)
        if blocks is not None:  # each column gets the mean over its block
            M = (np.bincount(blocks, M) / np.bincount(blocks))[blocks]
        s = _scales(M)
        if not M.any():  # nothing depends on any column
            break
    return ColumnScales(s, M)


def pool_scales(found: Sequence[ColumnScales]) -> ColumnScales:
    """Scales of the mean squared gradients over several samples."""
    M = np.mean([one.relevance for one in found], axis=0)
    return ColumnScales(_scales(M), M)


def _scales(M: Array) -> Array:
    """sqrt(M / max M + floor) of mean square one; all alike if M = 0."""
    top = float(M.max())
    if not top > 0:
        return np.ones_like(M)
    s = np.sqrt(M / top + FLOOR)
    return np.asarray(s / np.sqrt(np.mean(s**2)))


def squared_gradients(Z: Rows, targets: RowTargets) -> Array:
    """sum_c mean_i [grad_j f_c(z_i)]^2 for every column j, (d,)."""
    S = SharedStatistics(Z)
    R = S["euclidean"]
    h = S.median("euclidean", targets.weight)
    K = np.exp(R / -h)
    W = np.divide(K, h * R, out=np.zeros_like(K), where=R > 1e-9)
    A = _directions(K, targets)
    p = targets.weight / targets.total
    M = np.zeros(Z.shape[1])
    size = max(1, GRADIENT_ENTRIES // max(len(K), 1))
    for a in A.T:
        V = W * a
        own = V.sum(axis=1)
        for columns in row_blocks(Z.shape[1], size):
            M[columns] += _mean_squares(Z[:, columns], V, own, p)
    return M


def _mean_squares(Z: Rows, V: Array, own: Array, p: Array) -> Array:
    """sum_i p_i (own_i z_ij - [VZ]_ij)^2 for every column; of sparse rows term by term."""
    if not is_sparse(Z):
        return np.asarray(p @ (own[:, None] * Z - V @ Z) ** 2)
    VZ = (Z.T @ V.T).T
    crossed = Z.multiply((p * own)[:, None]).multiply(VZ).sum(axis=0)
    squared = Z.multiply(Z).multiply((p * own**2)[:, None]).sum(axis=0)
    total = p @ VZ**2 - 2 * np.asarray(crossed).ravel() + np.asarray(squared).ravel()
    return np.asarray(np.maximum(total, 0.0))


def _directions(K: Array, targets: RowTargets) -> Array:
    """Ridge coefficients A; of many classes those along which the fitted values vary most.

    The sum over classes does not change under rotation of the outputs. K is overwritten.
    """
    ridge = RidgeSolves(K, targets)
    if ridge.centred.unit <= 0:
        return np.zeros((len(K), 1))
    A = ridge.dual(REG).coef
    if A.shape[1] <= MOST_DIRECTIONS:
        sizes, V = np.linalg.eigh(A.T @ A)  # labels sum to one: one direction is empty
        return np.asarray(A @ V[:, sizes > 1e-10 * sizes[-1]])
    root = ridge.centred.root[:, None]
    fitted = ridge.centred.labels - REG * ridge.centred.unit * A / root
    return np.asarray(A @ np.linalg.svd(fitted, full_matrices=False)[2][:MOST_DIRECTIONS].T)
