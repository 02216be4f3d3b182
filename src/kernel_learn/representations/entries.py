"""Single entries of a kernel matrix, where the whole of it would be too much."""

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.rows.access import row_blocks, take_rows

# A block of b pairs costs b^2 kernel values of which b are wanted: at 64 the
# matrix product still runs at its speed and the waste is small beside it.
BLOCK_PAIRS = 64


def paired_values(kernel: Kernel, X: Rows, i: Array, j: Array) -> Array:
    """k(x_i, x_j) for each pair of rows of X, in float64."""
    values = np.empty(len(i))
    for part in row_blocks(len(i), BLOCK_PAIRS):
        K = kernel(to_double(take_rows(X, i[part])), to_double(kernel.reference(X, j[part])))
        values[part] = np.diagonal(K)
    return values


def own_values(kernel: Kernel, X: Rows, i: Array) -> Array:
    """k(x_i, x_i) for some rows of X; a row of a kernel matrix knows its place in it."""
    if kernel.input == "matrix":
        return np.asarray(kernel.diag(to_double(X))[i])
    return np.asarray(kernel.diag(to_double(take_rows(X, i))), dtype=np.float64)


def summed_values(kernel: Kernel, X: Rows, i: Array, members: Array) -> Array:
    """sum over j in members of k(x_i, x_j), for each i."""
    values = np.empty(len(i))
    columns = to_double(kernel.reference(X, members))
    for part in row_blocks(len(i), max(1, 2**21 // max(1, len(members)))):
        values[part] = kernel(to_double(take_rows(X, i[part])), columns).sum(axis=1)
    return values
