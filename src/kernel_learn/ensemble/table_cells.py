"""Rows of a table of any kind as cells: numbers, and codes of categories as they arrive."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.ensemble.ingest import column_groups, read_rows
from kernel_learn.rows.access import is_plain, is_sparse
from kernel_learn.rows.block import Given
from kernel_learn.rows.codes import MISSING, level_codes
from kernel_learn.rows.columns import (
    CellLayout,
    Column,
    TableReader,
    finite,
    is_numeric_frame,
    named_columns,
)
from kernel_learn.rows.keys import hash_texts, row_keys
from kernel_learn.rows.table import Table
from kernel_learn.streams.checked_blocks import bad_row


@dataclass
class LevelsFound:
    """The levels of one column that were found so far, numbered as they came."""

    name: object
    named: bool  # called a category by the user
    is_category: bool = False
    has_numbers: bool = False
    codes: dict[str, int] = field(default_factory=dict)
    hashes: list[int] = field(default_factory=list)

    def cells(self, column: Column) -> Array:
        """Numbers, or codes of the levels; missing is NaN, or the code of a missing category."""
        if not self.is_category and (self.named or column.is_category()):
            self._becomes_category()
        if not self.is_category:
            column.check_number()
            numbers = column.numbers()
            self.has_numbers = self.has_numbers or not np.isnan(numbers).all()
            return numbers
        column.check_category(named=self.named)
        levels, codes = level_codes(column.objects())
        for level in levels.tolist():
            if level not in self.codes:
                self.codes[level] = len(self.codes)
                self.hashes += hash_texts([level.encode()]).tolist()
        place = np.array([self.codes[level] for level in levels.tolist()] + [MISSING])
        return place[codes.astype(int)]  # code -1 is the last entry

    def _becomes_category(self) -> None:
        if self.has_numbers:
            raise ValueError(
                f"column {self.name!r} holds texts, and in the blocks before it held numbers. Name "
                "it in categorical= if it is a category."
            )
        self.is_category = True

    @property
    def sorted_levels(self) -> Array:
        return np.unique(np.array(list(self.codes), dtype=str))

    @property
    def recode(self) -> Array:
        """The place among the sorted levels of each code; the last one is that of missing."""
        place = np.searchsorted(self.sorted_levels, np.array(list(self.codes), dtype=str))
        return np.append(place.astype(np.float64), MISSING)


class TableCells:
    """The reader of tables as cells, see ``RowReader``.

    Columns are numbers or categories as in :func:`learn_table`, and levels are gathered as they
    come; keys of rows do not depend on the order in which they came.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator
        self.columns: list[LevelsFound] | None = None  # None: numbers only
        self.n_columns = 0
        self.groups: dict[str, Array] = {}
        self.reset = True

    def read(self, X: Given) -> Rows:
        is_first = self.reset
        if is_first:
            self.groups = column_groups(self.estimator.column_groups, X)
        X = read_rows(self.estimator, X, reset=self.reset, least=1)
        self.reset = False
        if is_first:
            self._begin(X)
        return self._cells(X)

    def kind(self, rows: Rows) -> str:
        return "sparse" if is_sparse(rows) else "dense"

    def bad_row(self, X: Given) -> int | None:
        """The first row with an infinite number; NaN is a missing cell."""
        return bad_row(X, may_miss=True)

    def rewind(self) -> None:
        """Before another pass: what a column is shows again as it came, and gives the same keys."""
        for one in self.columns or []:
            one.is_category = one.has_numbers = False

    def _begin(self, X: Given) -> None:
        self.n_columns = int(X.shape[1])
        chosen = named_columns(self.estimator.categorical, X)
        if is_sparse(X) and len(chosen):
            raise ValueError("categorical names columns of a sparse matrix, which are numbers.")
        if is_sparse(X) or (is_plain(X) and not len(chosen)):
            return
        columns = Column.of(X, np.arange(self.n_columns))
        self.columns = [LevelsFound(one.name, c in chosen) for c, one in enumerate(columns)]

    def _cells(self, X: Given) -> Rows:
        if is_sparse(X):
            return X.tocsr()
        if self.columns is None:
            return finite(np.asarray(X, dtype=np.float64))
        if is_numeric_frame(X) and not any(one.is_category or one.named for one in self.columns):
            cells = finite(X.to_numpy(np.float64, na_value=np.nan))
            for c, one in enumerate(self.columns):
                one.has_numbers = one.has_numbers or not np.isnan(cells[:, c]).all()
            return cells
        columns = Column.of(X, np.arange(self.n_columns))
        found = [one.cells(own) for one, own in zip(self.columns, columns, strict=True)]
        return finite(np.column_stack(found))

    @property
    def is_category(self) -> Array:
        """(n_columns,)"""
        if self.columns is None:
            return np.zeros(self.n_columns, dtype=bool)
        return np.array([one.is_category for one in self.columns], dtype=bool)

    def keys(self, cells: Rows) -> Keys | None:
        """Of the rows' contents: of a category the hash of its level, not its code."""
        if not self.is_category.any():
            return None
        assert self.columns is not None
        categories = np.flatnonzero(self.is_category)
        hashes = np.empty((len(cells), len(categories)), dtype=np.uint64)
        for j, c in enumerate(categories):
            known = np.array([*self.columns[c].hashes, 0], dtype=np.uint64)  # 0: missing
            hashes[:, j] = known[cells[:, c].astype(int)]
        numbers = np.flatnonzero(~self.is_category)
        place = np.empty(self.n_columns, dtype=int)
        place[numbers], place[categories] = np.arange(len(numbers)), -1 - np.arange(len(categories))
        return row_keys(Table(None, cells[:, numbers], hashes, place))

    def layout(self) -> CellLayout:
        """What the cells mean, once all blocks were read."""
        is_category = self.is_category
        found = [one for one in self.columns or [] if one.is_category]
        everything = np.arange(self.n_columns)
        levels = tuple(one.sorted_levels for one in found)
        reader = TableReader(everything[~is_category], everything[is_category], levels)
        return CellLayout(reader, tuple(one.recode for one in found))
