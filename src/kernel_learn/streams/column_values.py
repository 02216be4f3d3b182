"""The values of each column and what they weigh: all that steps which scale or code columns need.

Of every column the distinct values with the smallest keys are kept, CAPACITY of them at most, with
their whole weight: a value that is kept at the end was kept since it came, so that any blocks in
any order give the same, and parts merge. A column with fewer values is known exactly; of one with
more a uniform sample of its values is, whose quantiles are off by 1 / sqrt(CAPACITY) in rank.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.representations.summary import CAPACITY, CAPACITY_BYTES
from kernel_learn.rows.block import Block
from kernel_learn.rows.cells import as_columns, distinct_entries
from kernel_learn.rows.codes import entry_text
from kernel_learn.rows.columns import Column
from kernel_learn.rows.exact_sums import exact_sum, two_product
from kernel_learn.rows.frames import (
    as_objects,
    column_numbers,
    frame_names,
    frame_of_columns,
    is_frame,
    is_pandas,
)
from kernel_learn.rows.keys import hash_texts, row_keys
from kernel_learn.streams.checked_blocks import checked_weights


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Some values of a column in the order of their keys; ``a + b`` is that of the rows of both."""

    values: Array  # (m,) numbers or objects
    keys: Keys  # (m,)
    weight: Array  # (m,)
    missing: float  # weight of the missing cells
    mark: float | None  # what stands in them
    seen: float  # weight of all others, of values that are not kept too
    total: int | None  # exact sum of weight times number; None: some are no numbers
    capacity: int
    is_whole: bool = True  # all values are kept

    @classmethod
    def of(cls, column: Column, weight: Array, capacity: int) -> "ColumnValues":
        """The values of one block."""
        numbers = typed_numbers(column)
        mark: float | None = np.nan
        if numbers is not None:
            gone = np.isnan(numbers)
            known = numbers[~gone]
            if not np.isfinite(known).all():
                raise ValueError(f"Column {column.name!r} of X contains infinity.")
            entries, codes = np.unique(known, return_inverse=True)
            keys = row_keys(entries[:, None])
        else:
            found, every = distinct_entries(column.values)
            gone = every < 0
            codes, entries = every[~gone], as_objects(found)
            keys = hash_texts(entry_text(own).encode() for own in found)
            mark = missing_mark(column, gone)
        w, total = weight[~gone], None
        sums = np.bincount(codes, w, len(entries))
        if all(isinstance(own, Real) for own in entries.tolist()):
            total = sum(map(exact_sum, two_product(entries.astype(np.float64), sums)))
        order = np.argsort(keys)
        order = order[sums[order] > 0]
        missing, seen = float(weight[gone].sum()), float(w.sum())
        own = cls(entries[order], keys[order], sums[order], missing, mark, seen, total, capacity)
        return own._cut()

    def __add__(self, other: "ColumnValues") -> "ColumnValues":
        keys, first, place = np.unique(
            np.concatenate([self.keys, other.keys]), return_index=True, return_inverse=True
        )
        return ColumnValues(
            np.concatenate([self.values, other.values])[first],
            keys,
            np.bincount(place, np.concatenate([self.weight, other.weight]), len(keys)),
            self.missing + other.missing,
            other.mark if self.mark is None else self.mark,
            self.seen + other.seen,
            None if self.total is None or other.total is None else self.total + other.total,
            min(self.capacity, other.capacity),
            self.is_whole and other.is_whole,
        )._cut()

    def _cut(self) -> "ColumnValues":
        if len(self.keys) <= self.capacity:
            return self
        kept = slice(0, self.capacity)
        own = replace(self, values=self.values[kept], keys=self.keys[kept])
        return replace(own, weight=self.weight[kept], is_whole=False)

    def mean(self) -> Array:
        """(1,), of all numbers, whichever are kept; a value where these are none."""
        if self.total is None or not len(self.values):
            return self.values[:1]
        return np.array([float(Fraction(self.total, exact_sum(np.array([self.seen]))))])

    def mode(self) -> Array:
        """(1,), the value with the largest weight, of several the smallest; none of none."""
        if not len(self.values):
            return self.values
        best = np.flatnonzero(self.weight == self.weight.max())
        return self.values[[min(best.tolist(), key=lambda i: self.values[i])]]

    def spread(self, n: int) -> Array:
        """(n,) cells with these values as often as their weights say, missing ones last."""
        order = (
            np.argsort(self.values) if self.values.dtype != object else np.arange(len(self.keys))
        )
        share = self.seen / max(self.weight.sum(), np.finfo(float).tiny)  # of those that are kept
        ends = np.cumsum(np.append(share * self.weight[order], self.missing))
        place = np.searchsorted(ends, (np.arange(n) + 0.5) / n * ends[-1], side="right")
        known = place[place < len(order)]
        return self.filled(self.values[order[known]], n)

    def filled(self, values: Array, n: int) -> Array:
        """(n,) values, and missing cells after them; the last value where none is missing."""
        more = n - len(values)
        if not more:
            return values
        if not self.missing:
            return values[np.minimum(np.arange(n), len(values) - 1)]
        if values.dtype != object and self.mark is not None:
            values = values.astype(np.float64)
        return np.append(values, as_objects([self.mark] * more).astype(values.dtype))


@dataclass(frozen=True, eq=False)
class TableValues:
    """The values of all columns of some rows; ``a + b`` is that of the rows of both."""

    columns: tuple[ColumnValues, ...]
    like: Rows  # a row as it came, which says what the rows are

    @classmethod
    def of(cls, block: Block) -> "TableValues":
        """The values of one block."""
        X = as_columns(block.X)
        weight = checked_weights(block.weight, block.n_rows)
        capacity = int(min(CAPACITY, max(2, CAPACITY_BYTES // (16 * max(1, X.shape[1])))))
        columns = Column.of(X, np.arange(X.shape[1]))
        return cls(tuple(ColumnValues.of(own, weight, capacity) for own in columns), X[:1])

    def __add__(self, other: "TableValues") -> "TableValues":
        pairs = zip(self.columns, other.columns, strict=True)
        return TableValues(tuple(a + b for a, b in pairs), self.like)

    @property
    def n_exact(self) -> int | None:
        """How many rows have exactly these columns; None: too many, or their weights are shares."""
        first = self.columns[0]
        n = first.seen + first.missing
        whole = all(own.is_whole and np.all(own.weight % 1 == 0) for own in self.columns)
        return int(n) if whole and n % 1 == 0 and n <= first.capacity else None

    def spread(self) -> Rows:
        """Rows whose columns have these values, as often as their weights say."""
        n = self.n_exact or self.columns[0].capacity
        return rows_like(self.like, [own.spread(n) for own in self.columns])

    def means(self) -> Rows:
        """Rows whose columns have the means of these, and missing cells where these have some."""
        return rows_like(self.like, [own.filled(own.mean(), 2) for own in self.columns])

    def modes(self) -> Rows:
        """The same with the most frequent values."""
        self.check_whole("the most frequent value")
        return rows_like(self.like, [own.filled(own.mode(), 2) for own in self.columns])

    def levels(self) -> Rows:
        """Rows in which every value of every column is found."""
        self.check_whole("all values")
        n = 1 + max(len(own.values) for own in self.columns)
        return rows_like(self.like, [own.filled(own.values, n) for own in self.columns])

    def check_whole(self, what: str) -> None:
        """Refuse columns that have more values than are kept."""
        for c, own in enumerate(self.columns):
            if not own.is_whole:
                raise ValueError(
                    f"Column {c} has more than {own.capacity} values, and {what} of so many are "
                    "not looked for in a source. TableEncoder takes any number of levels."
                )


@dataclass(frozen=True)
class CollectValues:
    """The values of some blocks ``(number, first row, block)``, here or on a worker."""

    def __call__(self, blocks: Iterable[tuple[int, int | None, Block]]) -> TableValues | None:
        total: TableValues | None = None
        for _, _, block in blocks:
            if block.n_rows:
                own = TableValues.of(block)
                total = own if total is None else total + own
        return total


def rows_like(like: Rows, columns: Sequence[Array]) -> Rows:
    """Rows of the kind of others, of new columns."""
    if is_frame(like):
        return frame_of_columns(like, dict(zip(frame_names(like), columns, strict=True)))
    if all(own.dtype != object for own in columns):
        return np.column_stack(columns)
    found = np.empty((len(columns[0]), len(columns)), dtype=object)
    for c, own in enumerate(columns):
        found[:, c] = own
    return found if like.dtype == object else found.astype(str)


def typed_numbers(column: Column) -> Array | None:
    """A column of numbers or booleans as an array of its type, floats where some are missing."""
    values = column.values
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "iubf" else None
    if column.kind not in ("number", "boolean"):
        return None
    own = np.asarray(values) if is_pandas(values) else column_numbers(values)
    return own if own.dtype.kind in "iubf" else column.numbers()


def missing_mark(column: Column, gone: Array) -> float | None:
    """What stands in the missing cells of a column of objects: None, or NaN."""
    if not gone.any():
        return None
    values = column.objects()[gone]
    return None if all(own is None for own in values) else np.nan
