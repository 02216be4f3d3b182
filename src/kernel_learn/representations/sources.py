"""Where rows come from: blocks of training rows with their targets and weights."""

from collections.abc import Iterator

import numpy as np

from kernel_learn.kernels.base import Kernel, take_rows
from kernel_learn.kernels.pairwise import n_rows, row_blocks
from kernel_learn.kernels.rows import distinct_rows
from kernel_learn.representations.base import Array, Rows

Block = tuple[Rows, Array, Array]  # rows, targets, weights


class Sample:
    """Training rows with their targets and weights, and which of the rows are distinct."""

    def __init__(self, kernel: Kernel, X: Rows, T: Array, weight: Array | None = None) -> None:
        n = n_rows(X)
        self.X, self.T = X, T
        self.weight = np.ones(n) if weight is None else weight
        if kernel.input == "matrix":
            self.first = self.inverse = np.arange(n)
        else:
            self.first, self.inverse = distinct_rows(X)
        self.distinct_weight = np.bincount(self.inverse, self.weight, len(self.first))

    @property
    def n_distinct(self) -> int:
        return len(self.first)

    def merged(self) -> tuple[Rows, Array, Array]:
        """Distinct rows in their first order, with averaged targets and summed weights."""
        if self.n_distinct == n_rows(self.X):
            return self.X, self.T, self.weight
        order = np.argsort(self.first)
        w = self.distinct_weight
        T = np.stack(
            [np.bincount(self.inverse, self.weight * column, len(w)) for column in self.T.T],
            axis=1,
        )
        return take_rows(self.X, self.first[order]), (T / w[:, None])[order], w[order]


def iterate_blocks(X: Rows, T: Array, weight: Array, block_rows: int) -> Iterator[Block]:
    """Blocks of at most ``block_rows`` rows; arrays, sparse matrices, frames and memory maps."""
    for rows in row_blocks(n_rows(X), block_rows):
        yield take_rows(X, rows), T[rows], weight[rows]
