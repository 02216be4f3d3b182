"""What the columns of a table are, in brief: sums that merge over blocks in any order.

Of numbers and dates exact sums of what they are encoded as, and whether they are constant; of
categories the weight of each level, until there are more than a limit: from then on levels fall
into buckets by their hash, and the weights of buckets are kept. What two parts have together does
not depend on which came first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.cells import WORDS, CellKind, Cells
from kernel_learn.rows.exact_sums import UNIT, exact_moments, exact_sum
from kernel_learn.rows.keys import hash_texts

DAY = 86400.0
# The cycles of a date: their names, and how many seconds each takes.
CYCLES = {"year": 365.2425 * DAY, "week": 7 * DAY, "day": DAY}


@dataclass(frozen=True)
class PartSums:
    """Exact sums of w, w x and w x^2 over one part of a column, with its smallest and largest x."""

    weight: int  # in the unit of exact sums, as the others
    first: int
    second: int
    low: float
    high: float

    @classmethod
    def of(cls, values: Array, weight: Array) -> "PartSums":
        """Of one block."""
        first, second = exact_moments(values, weight)
        return cls(exact_sum(weight), first, second, float(values.min()), float(values.max()))

    def __add__(self, other: "PartSums") -> "PartSums":
        return PartSums(
            self.weight + other.weight,
            self.first + other.first,
            self.second + other.second,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def mean(self) -> float:
        return float(Fraction(self.first, self.weight))

    @property
    def variance(self) -> float:
        """Zero if all values are one, whatever is rounded."""
        if self.low == self.high:
            return 0.0
        return max(
            float(Fraction(self.second, self.weight) - Fraction(self.first, self.weight) ** 2), 0.0
        )


@dataclass(frozen=True)
class ColumnSummary:
    """One column of some rows; ``a + b`` is that of the rows of both. Weights are exact sums."""

    name: str | int
    kind: CellKind
    limit: int  # levels, above which they are hashed
    missing: int = 0  # weight of the missing cells
    parts: tuple[PartSums, ...] = ()  # of numbers and dates; none if no cell was seen
    levels: Mapping[str, int] | None = None  # weight of each; None: numbers, or buckets
    buckets: tuple[int, ...] = ()  # their weights, ``limit`` of them

    @classmethod
    def of(cls, cells: Cells, weight: Array, limit: int) -> "ColumnSummary":
        """The summary of the cells of one block."""
        if cells.codes is not None:
            missing, *counted = sums_by_code(cells.codes + 1, weight, len(cells.levels) + 1)
            pairs = zip(cells.levels, counted, strict=True)
            known = {level: own for level, own in pairs if own}
            return cls(cells.name, cells.kind, limit, missing, levels=known)._within_limit()
        assert cells.numbers is not None
        gone = np.isnan(cells.numbers)
        seen = ~gone & (weight > 0)
        empty = cls(cells.name, cells.kind, limit, exact_sum(weight[gone]))
        if not seen.any():
            return empty
        parts = number_parts(cells.kind, cells.numbers[seen])
        return replace(empty, parts=tuple(PartSums.of(part, weight[seen]) for part in parts.T))

    def __add__(self, other: "ColumnSummary") -> "ColumnSummary":
        a, b = (self, other) if other.kind == "empty" else (other, self)
        if b.kind not in (a.kind, "empty"):
            found = " and ".join(sorted({WORDS[a.kind], WORDS[b.kind]}))
            raise ValueError(
                f"Column {self.name!r} holds {found} in different blocks. Make them all alike, or "
                "name the column in categorical= if its entries are levels."
            )
        both = replace(a, missing=a.missing + b.missing)
        if a.kind == "category" and b.kind == "category":
            return both._with_levels(b)
        if not a.parts or not b.parts:
            return replace(both, parts=a.parts or b.parts)
        return replace(both, parts=tuple(x + y for x, y in zip(a.parts, b.parts, strict=True)))

    def _with_levels(self, other: "ColumnSummary") -> "ColumnSummary":
        if self.levels is None or other.levels is None:
            pairs = zip(self.in_buckets(), other.in_buckets(), strict=True)
            return replace(self, levels=None, buckets=tuple(a + b for a, b in pairs))
        both = dict(self.levels)
        for level, own in other.levels.items():
            both[level] = both.get(level, 0) + own
        return replace(self, levels=both)._within_limit()

    def _within_limit(self) -> "ColumnSummary":
        if self.levels is None or len(self.levels) <= self.limit:
            return self
        return replace(self, levels=None, buckets=self.in_buckets())

    def in_buckets(self) -> tuple[int, ...]:
        """The weight of each bucket."""
        if self.levels is None:
            return self.buckets
        found = [0] * self.limit
        places = level_buckets(self.levels, self.limit).tolist()
        for place, own in zip(places, self.levels.values(), strict=True):
            found[place] += own
        return tuple(found)

    def shares(self, weights: Sequence[int]) -> Array:
        """Weights of levels and, last, of missing cells as shares of all."""
        total = sum(weights) + self.missing
        return np.array([own / total if total else 0.0 for own in (*weights, self.missing)])


def sums_by_code(codes: Array, weight: Array, n_codes: int) -> list[int]:
    """The exact sum of the weights of each code."""
    if np.all(weight == np.floor(weight)) and weight.sum() < 2.0**52:
        return [int(own) << UNIT for own in np.bincount(codes, weight, n_codes)]
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(n_codes + 1))
    return [exact_sum(weight[order[a:b]]) for a, b in pairwise(ends.tolist())]


def level_buckets(levels: Sequence[str] | Mapping[str, int], limit: int) -> Array:
    """The bucket of each level, by its hash."""
    hashes = hash_texts(level.encode() for level in levels)
    return (hashes % np.uint64(limit)).astype(np.int64)


def number_parts(kind: CellKind, numbers: Array) -> Array:
    """(n, q): a number itself; of a date the time, and where in each cycle it stands."""
    if kind != "date":
        return numbers[:, None]
    angles = [2 * np.pi * np.mod(numbers / length, 1.0) for length in CYCLES.values()]
    circles = [part for angle in angles for part in (np.sin(angle), np.cos(angle))]
    return np.column_stack([numbers, *circles])


@dataclass(frozen=True)
class TableSummary:
    """All columns of some rows; ``a + b`` is that of the rows of both."""

    columns: tuple[ColumnSummary, ...]
    n_rows: int  # that count

    @classmethod
    def of(cls, cells: Sequence[Cells], weight: Array, limit: int) -> "TableSummary":
        """The summary of one block."""
        columns = tuple(ColumnSummary.of(own, weight, limit) for own in cells)
        return cls(columns, int(np.count_nonzero(weight)))

    def __add__(self, other: "TableSummary") -> "TableSummary":
        pairs = zip(self.columns, other.columns, strict=True)
        columns = tuple(a + b for a, b in pairs)
        return TableSummary(columns, self.n_rows + other.n_rows)
