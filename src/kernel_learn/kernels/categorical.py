"""Kernels of categories: only equal or not counts, and a missing entry is a level.

Rows are arrays (numbers as codes, or objects) or frames. Columns of numbers
may stand beside the categories; they enter by sum |x_c - y_c|.
"""

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import InputKind
from kernel_learn.kernels.rules import check_gamma
from kernel_learn.kernels.shared import SharedStatistics, StatisticsKernel, pair_median
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.codes import categorical_positions, encode_columns


class Matching(StatisticsKernel):
    """k(x, y) = share of the columns in which x and y are equal.

    Examples
    --------
    >>> from kernel_learn.kernels import Matching
    >>> Matching()([["red", "round"], ["red", "square"], [None, "square"]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    input: ClassVar[InputKind] = "columns"

    def encode(self, X: Rows, X_ref: Rows | None) -> tuple[Rows, Rows | None, Sequence[int]]:
        positions = categorical_positions("all", X)
        return (*encode_columns(X, X_ref, positions), positions)

    def combine(self, S: SharedStatistics) -> Array:
        return np.asarray(1.0 - S["mismatches"] / max(S.n_columns, 1))

    def diag(self, X: Rows) -> Array:
        return np.ones(n_rows(X), dtype=pairwise.result_dtype(X))


class Hamming(StatisticsKernel):
    """k(x, y) = exp(-gamma H), H = number of categories that differ + weight sum |x_c - y_c|.

    The sum runs over the columns that are not categorical; as ranks within
    [0, 1] they weigh as much as a category at a ``weight`` between 1 and 2.

    Parameters
    ----------
    gamma : float, "median" or "auto"
        ``"median"``: 1 / median of H over all pairs; ``"auto"``: 1 / n_columns.
    categorical : "all" or sequence of names or positions
        The columns in which only equal or not counts.
    weight : float
        The factor on the other columns.
    """

    input: ClassVar[InputKind] = "columns"

    def __init__(
        self,
        gamma: float | str = "median",
        categorical: str | Sequence[int] | Array = "all",
        weight: float = 1.5,
    ) -> None:
        self.gamma = gamma
        self.categorical = categorical
        self.weight = weight

    def numeric_columns(self, X: Rows) -> Array:
        own = categorical_positions(self.categorical, X)
        return np.setdiff1d(np.arange(X.shape[1]), own)

    @property
    def is_resolved(self) -> bool:
        check_gamma(self, self.gamma)
        if self.gamma == "scale":
            raise ValueError("Hamming(gamma='scale'): categories have no variance; use 'median'.")
        if not (isinstance(self.weight, Real) and 0 <= float(self.weight) < np.inf):
            raise ValueError(f"Hamming(weight={self.weight!r}): weight must not be negative.")
        return isinstance(self.gamma, Real)

    def encode(self, X: Rows, X_ref: Rows | None) -> tuple[Rows, Rows | None, Sequence[int]]:
        positions = categorical_positions(self.categorical, X)
        return (*encode_columns(X, X_ref, positions), positions)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        rows, _, positions = self.encode(X, None)
        if self.gamma == "auto":
            return type(self)(1.0 / rows.shape[1], self.categorical, self.weight)
        H = hamming(SharedStatistics(rows, None, positions), self.weight)
        return type(self)(1.0 / pair_median(H, sample_weight), self.categorical, self.weight)

    def combine(self, S: SharedStatistics) -> Array:
        K = hamming(S, self.weight)
        K *= -float(self.gamma)
        return np.asarray(np.exp(K, out=K))

    def diag(self, X: Rows) -> Array:
        return np.ones(n_rows(X), dtype=pairwise.result_dtype(X))


def hamming(S: SharedStatistics, weight: float) -> Array:
    """H = mismatches + weight * L1 of the numbers, a new matrix."""
    if not S.X.shape[1]:
        return S["mismatches"].copy()
    return S["mismatches"] + weight * S["manhattan"]
