"""Kernels that are products or sums over columns, taken apart.

    product:  k(x, y) = prod_j p_j(x, y),    sum: sum_j p_j(x, y),    pairs: sum_{j != l} p_j p_l,

p_j of the columns of block j alone (one column, or all that come of one category).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from kernel_learn.arrays import Array
from kernel_learn.kernels.additive import Additive, PairwiseAnova
from kernel_learn.kernels.bank import Combination
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.categorical import Hamming, Matching
from kernel_learn.kernels.columns import ColumnKernel, find_columns
from kernel_learn.kernels.dot_product import Linear
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.kernels.scaled import ScaledKernel
from kernel_learn.kernels.stationary import Gaussian, Laplacian
from kernel_learn.rows.codes import categorical_positions
from kernel_learn.rows.table import Table

Form = Literal["product", "sum", "pairs"]
Factor = Callable[[Array, Array, Array], Array]  # rows, reference rows, columns: (n, n_ref)


@dataclass(frozen=True)
class ColumnTerm:
    """weight * the product, sum or sum over pairs of factors of blocks of columns."""

    form: Form
    factor: Factor
    weight: float = 1.0
    columns: Array | None = None  # that it sees, None for all

    def factors(self, X: Array, X_ref: Array, blocks: Sequence[Array]) -> Array:
        """p_j of every block of columns, (n_blocks, n, n_ref); of columns not seen the neutral."""
        neutral = 1.0 if self.form == "product" else 0.0
        found = np.full((len(blocks), len(X), len(X_ref)), neutral)
        for j, block in enumerate(blocks):
            own = block if self.columns is None else block[np.isin(block, self.columns)]
            if len(own):
                found[j] = self.factor(X, X_ref, own)
        return found


def column_terms(
    kernel: Kernel,
    n_columns: int,
    codes: Sequence[int] = (),  # columns that hold codes
) -> list[ColumnTerm] | None:
    """The terms whose sum a kernel is, or None if it cannot be taken apart."""
    kind = type(kernel)  # a subclass may be anything
    if isinstance(kernel, Combination) and kind is Combination:
        return _weighed([column_terms(own, n_columns, codes) for own in kernel.kernels], kernel)
    if isinstance(kernel, ColumnKernel) and kind is ColumnKernel:
        columns = np.asarray(kernel.columns)
        inner = column_terms(as_kernel(kernel.kernel), len(columns), ())
        if inner is None or columns.dtype.kind not in "iu" or len(codes):
            return None
        return [replace(term, columns=columns) for term in inner if term.columns is None]
    if isinstance(kernel, ScaledKernel) and kind is ScaledKernel:
        kept = np.flatnonzero(kernel.scales)
        inner = column_terms(kernel.kernel, len(kept), ())
        if inner is None or len(codes) or any(term.columns is not None for term in inner):
            return None
        scales = np.asarray(kernel.scales)
        return [replace(t, factor=_on_scaled(t.factor, scales), columns=kept) for t in inner]
    if kind is Gaussian:
        return [ColumnTerm("product", _falling(float(kernel.gamma), "sqeuclidean"))]
    if kind is Laplacian:
        return [ColumnTerm("product", _falling(float(kernel.gamma), "cityblock"))]
    if kind is Linear:
        return [ColumnTerm("sum", lambda X, Y, c: np.asarray(X[:, c] @ Y[:, c].T))]
    if isinstance(kernel, Hamming) and kind is Hamming:
        return [ColumnTerm("product", _hamming(float(kernel.gamma), kernel.weight, codes))]
    if kind is Matching:
        return [ColumnTerm("sum", _unit_columns(codes), 1.0 / max(n_columns, 1))]
    if kind is Additive:
        return [ColumnTerm("sum", _unit_columns(codes), 1.0 / max(n_columns, 1))]
    if kind is PairwiseAnova:
        weight = 1.0 / (n_columns * (n_columns - 1)) if n_columns > 1 else 0.0
        pairs = ColumnTerm("pairs", _unit_columns(codes), weight)
        return [pairs, ColumnTerm("sum", _pairs_within(codes), weight)]
    return None


def table_terms(kernel: Kernel, table: Table) -> list[ColumnTerm] | None:
    """The same of rows of a table, as ``TableCodes`` has them."""
    if isinstance(kernel, Combination) and type(kernel) is Combination:
        return _weighed([table_terms(own, table) for own in kernel.kernels], kernel)
    columns, base = np.arange(table.shape[1]), kernel
    if isinstance(kernel, ColumnKernel) and type(kernel) is ColumnKernel:
        columns, base = columns[find_columns(table, kernel.columns)], kernel.base
    some = table.select(columns)
    categorical = "all" if type(base) is Matching else getattr(base, "categorical", None)
    coded = [] if categorical is None else categorical_positions(categorical, some)
    terms = column_terms(base, len(columns), tuple(columns[coded].tolist()))
    if terms is None or any(term.columns is not None for term in terms):
        return None
    return [replace(term, columns=columns) for term in terms]


def _weighed(
    parts: Sequence[list[ColumnTerm] | None], kernel: Combination
) -> list[ColumnTerm] | None:
    """Terms of all kernels of a sum by their weights."""
    if any(part is None for part in parts):
        return None
    return [
        replace(term, weight=float(weight) * term.weight)
        for part, weight in zip(parts, kernel.weights, strict=True)
        for term in part or ()
    ]


def _on_scaled(factor: Factor, scales: Array) -> Factor:
    return lambda X, Y, c: factor(X * scales, Y * scales, c)


def _falling(gamma: float, distance: Literal["sqeuclidean", "cityblock"]) -> Factor:
    return lambda X, Y, c: np.asarray(np.exp(-gamma * cdist(X[:, c], Y[:, c], distance)))


def _mismatches(X: Array, Y: Array, columns: Array) -> Array:
    return np.asarray(cdist(X[:, columns], Y[:, columns], "hamming") * len(columns))


def _split(columns: Array, codes: Sequence[int]) -> tuple[Array, Array]:
    coded = np.isin(columns, list(codes))
    return columns[coded], columns[~coded]


def _hamming(gamma: float, weight: float, codes: Sequence[int]) -> Factor:
    def factor(X: Array, Y: Array, columns: Array) -> Array:
        coded, numbers = _split(columns, codes)
        H = np.zeros((len(X), len(Y)))
        if len(coded):
            H += _mismatches(X, Y, coded)
        if len(numbers):
            H += weight * cdist(X[:, numbers], Y[:, numbers], "cityblock")
        return np.asarray(np.exp(-gamma * H))

    return factor


def _pairs_within(codes: Sequence[int]) -> Factor:
    """The sum over pairs of different columns of a block: (sum k_c)^2 - sum k_c^2."""
    one = _unit_columns(codes)

    def factor(X: Array, Y: Array, columns: Array) -> Array:
        if len(columns) == 1:
            return np.zeros((len(X), len(Y)))
        return one(X, Y, columns) ** 2 - sum(one(X, Y, np.array([c])) ** 2 for c in columns)

    return factor


def _unit_columns(codes: Sequence[int]) -> Factor:
    """sum over the columns of 1 - |x_c - y_c|, or whether codes are equal."""

    def factor(X: Array, Y: Array, columns: Array) -> Array:
        coded, numbers = _split(columns, codes)
        k = np.full((len(X), len(Y)), float(len(columns)))
        if len(coded):
            k -= _mismatches(X, Y, coded)
        if len(numbers):
            k -= cdist(X[:, numbers], Y[:, numbers], "cityblock")
        return k

    return factor
