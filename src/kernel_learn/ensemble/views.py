"""Views: one table, seen in several ways, for kernels that compare columns as they come.

Transformers of columns of numbers, and of categories beside them. None looks at
labels. A row of weight 2 counts as two rows, and a missing number is filled with
its column's median. Quantiles and medians are averaged inverse distribution
functions, which weights and repetitions enter alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.target_transforms import weighted_quantiles
from kernel_learn.fitting.weights import row_weights
from kernel_learn.kernels.pairwise import unit_rows
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import is_sparse, row_blocks
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

BLOCK_CELLS = 2**16  # that are sorted at a time


class ColumnView(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the views: fill what is missing, learn the columns, map them."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Rows, y: None = None, sample_weight: Array | None = None) -> Self:
        """Learn the columns' medians and spreads.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN stands for a missing number.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weight = row_weights(sample_weight, len(X))
        kept = weight > 0
        if not kept.all():
            X, weight = X[kept], weight[kept]
        self._learn(*self._fill_medians(X, weight))
        return self

    def transform(self, X: Rows) -> Array:
        """The columns in this view, (n_samples, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self.of_checked(X)

    def of_checked(self, X: Array) -> Array:
        """The same of rows that were looked at: of a single new row looking takes as long."""
        return self._map(fill(np.asarray(X, dtype=np.float64), self.medians_))

    def _fill_medians(self, X: Array, weight: Array) -> tuple[Array, Array]:
        self.medians_ = np.zeros(X.shape[1])
        for c in np.flatnonzero(np.isnan(X).any(axis=0)):
            seen = ~np.isnan(X[:, c])
            if seen.any():
                self.medians_[c] = column_quantiles(X[seen, c : c + 1], weight[seen], (0.5,))[0, 0]
        return fill(X, self.medians_), weight

    @abstractmethod
    def _learn(self, X: Array, weight: Array) -> None:
        """What the view needs of the columns, from rows without missing cells."""

    @abstractmethod
    def _map(self, X: Array) -> Array:
        """The columns of such rows in this view."""


class ZScores(ColumnView):
    """(x - mean) / standard deviation; a constant column is zero."""

    def _learn(self, X: Array, weight: Array) -> None:
        self.mean_, self.scale_ = moments(X, weight)

    def _map(self, X: Array) -> Array:
        return (X - self.mean_) / self.scale_


class UniformScores(ColumnView):
    """Mid-ranks within (0, 1): the share of rows below plus half the share of equals.

    New values lie between those of their neighbours, and at the ends outside.
    """

    def _learn(self, X: Array, weight: Array) -> None:
        self.knots_, self.ranks_ = mid_ranks(X, weight)

    def _map(self, X: Array) -> Array:
        U = np.empty(X.shape)
        for c in range(X.shape[1]):
            U[:, c] = np.interp(X[:, c], self.knots_[:, c], self.ranks_[:, c])
        return U


class NormalScores(UniformScores):
    """The normal quantiles of the mid-ranks, then z-scores: every column looks normal."""

    def _learn(self, X: Array, weight: Array) -> None:
        super()._learn(X, weight)
        edge = 0.5 / max(float(weight.sum()), 1.0)
        self.edge_ = edge
        self.mean_, self.scale_ = moments(self._normal(X), weight)

    def _normal(self, X: Array) -> Array:
        U = super()._map(X)
        return np.asarray(ndtri(np.clip(U, self.edge_, 1 - self.edge_)))

    def _map(self, X: Array) -> Array:
        return (self._normal(X) - self.mean_) / self.scale_


class ClippedScores(ColumnView):
    """(x - median) / interquartile range, bent to stay within (-3, 3).

    x / sqrt(1 + (x/3)^2). Where the quartiles coincide half the range takes
    their place; a constant column is zero.
    """

    def _learn(self, X: Array, weight: Array) -> None:
        low, self.centre_, high = column_quantiles(X, weight, (0.25, 0.5, 0.75))
        iqr, half = high - low, np.ptp(X, axis=0) / 2
        spread = np.where(iqr > 0, iqr, half)
        self.factor_ = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)

    def _map(self, X: Array) -> Array:
        Z = (X - self.centre_) * self.factor_
        return np.asarray(Z / np.sqrt(1 + (Z / 3) ** 2))


class UnitRows(TransformerMixin, BaseEstimator):
    """Rows of length one, for sparse tables: zero stays zero, nothing becomes dense.

    Parameters
    ----------
    power : float
        Entries become sign(x) |x|^power first: 1 as they are, 0.5 their roots
        (long counts weigh less), 0 only whether they are there.
    scale : bool
        Divide each column by its root mean square first.
    """

    def __init__(self, power: float = 1.0, scale: bool = False) -> None:
        self.power = power
        self.scale = scale

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Rows, y: None = None, sample_weight: Array | None = None) -> Self:
        """Learn the columns' root mean squares."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        weight = row_weights(sample_weight, X.shape[0])
        squares = self._raised(X)
        squares = squares.multiply(squares) if is_sparse(X) else squares**2
        mean = np.asarray(weight @ squares).ravel() / weight.sum()
        factor = np.divide(1.0, np.sqrt(mean), out=np.ones_like(mean), where=mean > 0)
        self.factor_ = factor if self.scale else np.ones_like(factor)
        return self

    def transform(self, X: Rows) -> Rows:
        """Rows of length one, sparse if X is; a row of zeros stays."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        X = self._raised(X)
        if self.scale:
            X = X.multiply(self.factor_[None, :]).tocsr() if is_sparse(X) else X * self.factor_
        return unit_rows(X)

    def _raised(self, X: Rows) -> Rows:
        if self.power == 1.0:
            return X
        if is_sparse(X):
            return sparse.csr_matrix((self._raise(X.data), X.indices, X.indptr), shape=X.shape)
        return self._raise(X)

    def _raise(self, values: Array) -> Array:
        return np.sign(values) * np.abs(values) ** self.power


class BlockOneHot(TransformerMixin, BaseEstimator):
    """Codes of categories as blocks of ones and zeros of equal spread.

    The block of a column is divided by sqrt(sum_l p_l (1 - p_l)), p_l the
    shares of its levels, so that a column of many levels weighs as much as
    one of two. A missing entry (code -1) is a level if it occurs; a level
    that was not seen at fit is a block of zeros.
    """

    def fit(self, X: Rows, y: None = None, sample_weight: Array | None = None) -> Self:
        """Learn the levels and their shares; X (n, d) holds codes."""
        X = validate_data(self, X, dtype=np.float64)
        weight = row_weights(sample_weight, len(X))
        self.levels_, self.factors_, blocks = [], [], []
        for c in range(X.shape[1]):
            levels, place = np.unique(X[weight > 0, c], return_inverse=True)
            share = np.bincount(place, weight[weight > 0]) / weight.sum()
            self.levels_.append(levels)
            self.factors_.append(block_factor(share))
            blocks.append(np.full(len(levels), c))
        self.blocks_ = np.concatenate(blocks) if blocks else np.empty(0, dtype=int)
        return self

    def transform(self, X: Rows) -> Array:
        """The blocks side by side, (n_samples, number of levels)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        parts = [
            (X[:, c, None] == levels) * factor
            for c, (levels, factor) in enumerate(zip(self.levels_, self.factors_, strict=True))
        ]
        return np.hstack(parts) if parts else np.empty((len(X), 0))


def block_factor(share: Array) -> float:
    """What the ones of a category are multiplied by, so that its block has spread one."""
    spread = np.sqrt(max(float(np.sum(share * (1 - share))), 0.0))
    return float(1 / spread) if spread > 0 else 0.0


def fill(X: Array, medians: Array) -> Array:
    """X with NaN replaced by the columns' medians; X itself where nothing is missing."""
    missing = np.isnan(X)
    return np.where(missing, medians, X) if missing.any() else X


def moments(X: Array, weight: Array) -> tuple[Array, Array]:
    """Means and standard deviations of columns; 1 in place of a deviation that is rounding."""
    p = weight / weight.sum()
    mean = p @ X
    std = np.sqrt(p @ (X - mean) ** 2)
    return mean, np.where(std > 1e-12 * np.maximum(1.0, np.abs(mean)), std, 1.0)


def column_quantiles(X: Array, weight: Array, shares: tuple[float, ...]) -> Array:
    """Averaged inverse distribution function of each column, (len(shares), d)."""
    asked = np.array(shares)
    return np.stack([weighted_quantiles(column, weight, asked) for column in X.T], axis=1)


def mid_ranks(X: Array, weight: Array) -> tuple[Array, Array]:
    """(values, ranks), each (q, d): the different values of each column by size, their mid-ranks.

    q are those of the column that has most; the last is repeated in others. Columns lie in one
    piece: of one new row np.interp would copy all of them otherwise.
    """
    values, ranks = np.empty_like(X), np.empty(X.shape)
    blocks = list(row_blocks(X.shape[1], max(1, BLOCK_CELLS // len(X))))
    for some in blocks:
        values[:, some], ranks[:, some] = _mid_ranks(X[:, some], weight)
    q = 1 + int((values[1:] != values[:-1]).sum(axis=0).max(initial=0))
    packed = np.empty((2, X.shape[1], q))
    for some in blocks:
        place = np.zeros(values[:, some].shape, dtype=int)
        np.cumsum(values[1:, some] != values[:-1, some], axis=0, out=place[1:])
        for kept, columns in zip(packed[:, some], (values[:, some], ranks[:, some]), strict=True):
            kept[:] = columns[-1][:, None]
            kept[np.arange(len(kept)), place] = columns
    return packed[0].T, packed[1].T


def _mid_ranks(X: Array, weight: Array) -> tuple[Array, Array]:
    """Of a few columns: ten tables of their size are made on the way."""
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    before = np.vstack([np.zeros((1, X.shape[1])), cumulative[:-1]])
    fresh = np.vstack([np.ones((1, X.shape[1]), bool), values[1:] != values[:-1]])
    last = np.vstack([fresh[1:], np.ones((1, X.shape[1]), bool)])
    # below: carried forward from the first of equals; up to: carried back from the last
    below = np.maximum.accumulate(np.where(fresh, before, 0.0), axis=0)
    up_to = np.where(last, cumulative, np.inf)
    up_to = np.minimum.accumulate(up_to[::-1], axis=0)[::-1]
    return values, (below + up_to) / (2 * cumulative[-1])


RANKED_VIEWS = ("q", "u")  # they hold sorted columns and their ranks
DENSE_VIEWS: dict[str, type[ColumnView]] = {
    "z": ZScores,
    "q": NormalScores,
    "u": UniformScores,
    "c": ClippedScores,
}
SPARSE_VIEWS: dict[str, Callable[[], UnitRows]] = {
    "z": UnitRows,
    "q": lambda: UnitRows(power=0.5),
    "c": lambda: UnitRows(scale=True),
}


@dataclass(frozen=True, eq=False)
class TableView:
    """A fitted view of some columns of a table."""

    numbers: Array  # positions among the table's numbers
    categories: Array  # positions among its categories
    of_numbers: ColumnView | UnitRows | None  # fitted; None without numbers
    of_codes: BlockOneHot | None  # fitted; None where codes stay codes or there are none
    owner: Array  # (columns of the view,) the table's own column behind each

    def rows(self, table: Table) -> Rows:
        """The table's rows in this view."""
        parts: list[Rows] = []
        own = self.of_numbers
        if own is not None:
            numbers = _own_columns(table.numbers, self.numbers)
            is_plain = isinstance(own, ColumnView)
            parts.append(own.of_checked(numbers) if is_plain else own.transform(numbers))
        if len(self.categories):
            codes = table.others[:, self.categories]
            parts.append(codes if self.of_codes is None else self.of_codes.transform(codes))
        if len(parts) == 1:
            return parts[0]
        return sparse.hstack(parts, format="csr") if is_sparse(parts[0]) else np.hstack(parts)

    @property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the view's columns that hold codes."""
        if self.of_codes is not None or not len(self.categories):
            return ()
        return tuple(range(len(self.owner) - len(self.categories), len(self.owner)))

    @property
    def blocks(self) -> Array | None:
        """Which columns share a learned scale; None if each has its own."""
        blocks = np.unique(self.owner, return_inverse=True)[1]
        return None if len(set(blocks.tolist())) == len(blocks) else blocks


@dataclass(frozen=True, eq=False)
class RawView:
    """From rows as the user gives them to a view's rows, with its scales."""

    reader: TableReader
    view: TableView
    scales: Array | None

    def __deepcopy__(self, memo: dict[int, object]) -> "RawView":
        return self  # nothing in it changes

    def transform(self, X: Rows) -> Rows:
        return scale_columns(self.view.rows(self.reader.read(X)), self.scales)


def fit_view(
    kind: str, table: Table, reader: TableReader, weight: Array, columns: Array | None = None
) -> TableView:
    """Fit one view ("z", "q", "u" or "c") on some of the table's own columns, or on all.

    Columns that are the same in all rows are not in it, unless there are no others: a kernel of
    pairs of columns would take them for columns in which all rows agree.
    """
    numbers, categories = np.arange(len(reader.numbers)), np.arange(len(reader.categories))
    if columns is not None:
        numbers = numbers[np.isin(reader.numbers, columns)]
        categories = categories[np.isin(reader.categories, columns)]
    told = numbers[varying(table.numbers)[numbers]], categories[varying(table.others)[categories]]
    if sum(map(len, told)):
        numbers, categories = told
    make = SPARSE_VIEWS[kind] if is_sparse(table.numbers) else DENSE_VIEWS[kind]
    of_numbers, of_codes = None, None
    owner = [reader.numbers[numbers]]
    if len(numbers):
        of_numbers = make().fit(_own_columns(table.numbers, numbers), sample_weight=weight)
    if len(categories) and kind == "u":
        owner.append(reader.categories[categories])
    elif len(categories):
        of_codes = BlockOneHot().fit(table.others[:, categories], sample_weight=weight)
        owner.append(reader.categories[categories][of_codes.blocks_])
    return TableView(numbers, categories, of_numbers, of_codes, np.concatenate(owner))


def varying(X: Rows) -> Array:
    """Which columns have two different cells, (d,); those of a sparse matrix are not looked at."""
    if is_sparse(X):
        return np.ones(X.shape[1], dtype=bool)
    first = np.fmin.reduce(X, axis=0)  # missing cells are filled with the median of the others
    return np.asarray(np.any((first != X) & ~np.isnan(X), axis=0))


def _own_columns(numbers: Rows, positions: Array) -> Rows:
    return numbers if len(positions) == numbers.shape[1] else numbers[:, positions]
