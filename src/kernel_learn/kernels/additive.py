"""Kernels of columns taken one by one, or two by two, on columns within [0, 1].

    one column:  k_c(x, y) = 1 - |x_c - y_c|        (or [x_c = y_c] of a category)
    additive:    mean over c of k_c
    pairs:       mean over c != c' of k_c k_c'

Both come from two distances, without a loop over columns or pairs: with
D1 = sum |x_c - y_c| and D2 = sum |x_c - y_c|^2 (a category that differs adds
one to each), S1 = sum k_c = d - D1 and S2 = sum k_c^2 = d - 2 D1 + D2, so that
the sum over all pairs is S1^2 - S2.
"""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import InputKind
from kernel_learn.kernels.shared import SharedStatistics, StatisticsKernel
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.codes import categorical_positions, encode_columns
from kernel_learn.rows.coerce import as_vectors


class UnitColumns(StatisticsKernel):
    """Base of the kernels of columns within [0, 1], some of which may be categories."""

    def __init__(self, categorical: str | Sequence[int] | Array | None = None) -> None:
        self.categorical = categorical

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return "vectors" if self.categorical is None else "columns"

    def encode(self, X: Rows, X_ref: Rows | None) -> tuple[Rows, Rows | None, Sequence[int]]:
        if self.categorical is None:
            A, B, positions = as_vectors(X), X_ref, []
        else:
            positions = categorical_positions(self.categorical, X)
            A, B = encode_columns(X, X_ref, positions)
        for rows in (A, B):
            _check_unit(rows, positions, type(self).__name__)
        return A, B, positions

    def diag(self, X: Rows) -> Array:
        n = n_rows(X)
        return np.ones(n, dtype=pairwise.result_dtype(X))


class Additive(UnitColumns):
    """k(x, y) = mean over columns of 1 - |x_c - y_c|, columns within [0, 1].

    Parameters
    ----------
    categorical : None, "all" or sequence of names or positions
        Columns in which only equal or not counts: 1 where equal, else 0.

    Examples
    --------
    >>> from kernel_learn.kernels import Additive
    >>> Additive()([[0.0, 0.5], [1.0, 0.5]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def combine(self, S: SharedStatistics) -> Array:
        return np.asarray(1.0 - S["gower"] / max(S.n_columns, 1))


class PairwiseAnova(UnitColumns):
    """k(x, y) = mean over pairs of columns c != c' of k_c(x, y) k_c'(x, y).

    k_c(x, y) = 1 - |x_c - y_c| for numbers within [0, 1], and equal or not for
    the columns ``categorical`` (None, "all", names or positions): products of
    two columns, nothing of higher order. Of one column there is no pair: zero.

    Parameters
    ----------
    categorical : None, "all" or sequence of names or positions
        Columns in which only equal or not counts.
    """

    def combine(self, S: SharedStatistics) -> Array:
        d, D1, D2 = S.n_columns, S["gower"], S["gower2"]
        if d < 2:
            return np.zeros_like(D1)  # exactly: what rounding leaves of it looks like variance
        K = d - D1
        K *= K
        K -= d - 2 * D1 + D2
        K /= d * (d - 1)
        return np.asarray(K)

    def diag(self, X: Rows) -> Array:
        n_columns = X.shape[1] if hasattr(X, "shape") else len(X[0])
        return super().diag(X) * (n_columns > 1)


def _check_unit(X: Rows | None, positions: Sequence[int], name: str) -> None:
    """Refuse numbers outside [0, 1], where 1 - |x - y| is no kernel."""
    if X is None or not n_rows(X):
        return
    X = as_vectors(X)
    numbers = np.setdiff1d(np.arange(X.shape[1]), list(positions))
    part = X[:, numbers]
    if part.shape[1] and not (part.min() >= 0.0 and part.max() <= 1.0):
        raise ValueError(
            f"{name} takes columns within [0, 1], and these run from {part.min():.3g} to "
            f"{part.max():.3g}. Turn them into ranks first, as UniformScores does."
        )
