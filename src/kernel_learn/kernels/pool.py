"""What a rule may look at: rows chosen by content, and sums over the columns of all rows."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, take_rows
from kernel_learn.rows.keys import distinct_rows
from kernel_learn.rows.table import Table

# Entries summed at a time: their deviations stay in the cache.
BLOCK_ENTRIES = 2**15


@dataclass(frozen=True)
class ColumnSums:
    """n, means and centred sums of squares of the columns; two samples merge exactly."""

    n: float  # sum of weights
    mean: Array  # (d,)
    squares: Array  # (d,) sum of weight * (x - mean)^2

    @classmethod
    def of(cls, X: Rows, weight: Array | None = None) -> Self:
        """Sums over dense or sparse rows of numbers, in blocks."""
        w = np.ones(n_rows(X)) if weight is None else weight
        if is_sparse(X):
            return cls._of_sparse(X.tocsr(), w)
        total = cls(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        for rows in row_blocks(len(X), max(1, BLOCK_ENTRIES // max(1, X.shape[1]))):
            total = total.merge(cls._of_block(X[rows], w[rows]))
        return total

    @classmethod
    def _of_block(cls, X: Array, w: Array) -> Self:
        n = float(w.sum())
        mean = (w @ X) / n if n > 0 else np.zeros(X.shape[1])
        D = X - mean
        return cls(n, mean, np.einsum("i,ij,ij->j", w, D, D, optimize=False))

    @classmethod
    def _of_sparse(cls, X: Rows, w: Array) -> Self:
        n = float(w.sum())
        mean = np.asarray(w @ X) / n
        return cls(n, mean, np.maximum(np.asarray(w @ X.multiply(X)) - n * mean**2, 0.0))

    def merge(self, other: Self) -> Self:
        n = self.n + other.n
        if n == 0:
            return self
        d = other.mean - self.mean
        squares = self.squares + other.squares + (self.n * other.n / n) * d**2
        return type(self)(n, self.mean + (other.n / n) * d, squares)

    def select(self, columns: list[int] | slice | Array) -> Self:
        return type(self)(self.n, self.mean[columns], self.squares[columns])

    def variance(self) -> float:
        """Variance over all entries; zero if it is but rounding."""
        mean = float(self.mean.mean())
        spread = float(np.sum(self.squares + self.n * (self.mean - mean) ** 2))
        variance = spread / (self.n * len(self.mean))
        return variance if variance > 100 * (np.finfo(np.float64).eps * mean) ** 2 else 0.0


@dataclass(frozen=True)
class Pool:
    """Distinct rows in the order of their keys, with their weights: a bottom-k sample.

    The rows are ``X[index]``, taken when they are asked for. ``columns`` are the
    sums over all rows, not only those of the pool, if they are numbers.
    ``is_distinct`` is False for some columns of such rows, which may repeat each other.
    """

    X: Rows
    index: Array | None  # (m,), None for all rows of X as they stand
    weight: Array  # (m,)
    columns: ColumnSums | None = None
    is_distinct: bool = True
    # 1 / median of a statistic, once it was asked for: kernels of one distance share it
    medians: dict[str, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, X: Rows, weight: Array | None = None) -> Self:
        first, inverse = distinct_rows(X)
        weights = np.bincount(inverse, weight, len(first)).astype(np.float64)
        return cls(X, first, weights, column_sums(X, weight))

    @property
    def rows(self) -> Rows:
        """(m, ...)."""
        return self.X if self.index is None else take_rows(self.X, self.index)

    def head(self, count: int | None) -> Self:
        """The first ``count`` rows; all of them for None."""
        if count is None or count >= len(self.weight):
            return self
        index = np.arange(count) if self.index is None else self.index[:count]
        return replace(self, index=index, weight=self.weight[:count])

    def distinct(self) -> Self:
        return self if self.is_distinct else type(self).of(self.rows, self.weight)

    def variance(self) -> float:
        """Over all entries of all rows, or of the pool's if the sums were not taken."""
        columns = ColumnSums.of(self.rows, self.weight) if self.columns is None else self.columns
        return columns.variance()


def column_sums(X: Rows, weight: Array | None) -> ColumnSums | None:
    """Sums of the columns of numbers, in the place of their columns; None if there are none.

    A column that is no number has the sum nan, which no rule for numbers asks for.
    """
    if isinstance(X, Table):
        with np.errstate(invalid="ignore", over="ignore"):  # in columns that no kernel looks at
            sums = ColumnSums.of(X.numbers, weight)
        mean, squares = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
        numeric = X.place >= 0
        mean[numeric] = sums.mean[X.place[numeric]]
        squares[numeric] = sums.squares[X.place[numeric]]
        return ColumnSums(sums.n, mean, squares)
    is_numeric = is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")
    return ColumnSums.of(X, weight) if is_numeric and X.ndim == 2 else None
