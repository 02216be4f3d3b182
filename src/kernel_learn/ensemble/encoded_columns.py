"""How the cells of one column are encoded, as its summary says."""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.views import block_factor
from kernel_learn.rows.cells import WORDS, CellKind, Cells
from kernel_learn.streams.column_summaries import (
    CYCLES,
    ColumnSummary,
    level_buckets,
    number_parts,
)


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """One column of the table and the columns that it becomes, ``width`` of them.

    Numbers and dates: (part - shift) * factor for each part, missing cells at zero, and a last
    column of ones where cells are missing, if some were at fit. Categories: a block of ones and
    zeros times one factor, for levels or buckets, the last column of missing cells.
    """

    name: str
    kind: CellKind
    has_missing: bool
    shift: Array  # (q,) of numbers and dates
    factor: Array  # (q,), or (1,) of a category
    levels: tuple[str, ...]  # of a category that is not hashed
    n_buckets: int  # of one that is, else 0

    @classmethod
    def of(cls, summary: ColumnSummary, name: str) -> "EncodedColumn":
        """What the summary of all rows says."""
        none = np.empty(0)
        has_missing = summary.missing > 0
        if summary.kind == "category":
            levels = tuple(sorted(summary.levels or ()))
            known = summary.levels
            weights = summary.buckets if known is None else [known[level] for level in levels]
            factor = np.array([block_factor(summary.shares(weights))])
            n_buckets = summary.limit if summary.levels is None else 0
            return cls(name, "category", has_missing, none, factor, levels, n_buckets)
        if not summary.parts:  # nothing is known of it: its cells are zero
            return cls(name, summary.kind, has_missing, np.zeros(1), np.zeros(1), (), 0)
        shift = np.array([part.mean for part in summary.parts])
        return cls(name, summary.kind, has_missing, shift, part_factors(summary), (), 0)

    @property
    def n_parts(self) -> int:
        """Columns without that of missing cells."""
        return (self.n_buckets or len(self.levels)) if self.kind == "category" else len(self.shift)

    @property
    def width(self) -> int:
        """The number of its columns."""
        return self.n_parts + self.has_missing

    def names(self) -> list[str]:
        """The names of its columns."""
        if self.kind == "category":
            parts = [f"{self.name}={text}" for text in level_names(self.levels)]
            parts += [f"{self.name}#{i}" for i in range(self.n_buckets)]
        elif len(self.shift) == 1:
            parts = [self.name]
        else:
            circles = [f"{cycle}_{part}" for cycle in CYCLES for part in ("sin", "cos")]
            parts = [f"{self.name}:{part}" for part in ("time", *circles)]
        return parts + [f"{self.name}:missing"] * self.has_missing

    def write(self, cells: Cells, out: Array) -> None:
        """The encoded cells into ``out`` (n, width), which is zero."""
        if cells.kind not in (self.kind, "empty") and self.kind != "empty":
            raise ValueError(
                f"Column {self.name!r} holds {WORDS[cells.kind]}, and at fit it held "
                f"{WORDS[self.kind]}. Rows for transform need the kinds of columns of fit."
            )
        missing = cells.missing
        if self.has_missing:
            scale = self.factor[0] if self.kind == "category" else 1.0
            out[missing, -1] = scale
        if cells.kind == "empty" or self.kind == "empty":
            return
        if self.kind == "category":
            self._write_levels(cells, out)
            return
        assert cells.numbers is not None
        parts = (number_parts(self.kind, cells.numbers) - self.shift) * self.factor
        parts[missing] = 0.0
        out[:, : self.n_parts] = parts

    def _write_levels(self, cells: Cells, out: Array) -> None:
        assert cells.codes is not None
        if self.n_buckets:
            places = level_buckets(cells.levels, self.n_buckets)
        else:
            known = {level: i for i, level in enumerate(self.levels)}
            places = np.array([known.get(level, -1) for level in cells.levels], dtype=np.int64)
        column = np.append(places, -1)[cells.codes]  # -1: missing, or not seen at fit
        rows = np.flatnonzero(column >= 0)
        out[rows, column[rows]] = self.factor[0]


def part_factors(summary: ColumnSummary) -> Array:
    """1 / standard deviation, one for each cycle of a date; zero of what is constant."""
    variance = np.array([part.variance for part in summary.parts])
    for first in range(1, len(variance), 2):  # sine and cosine: the circle stays round
        variance[first : first + 2] = variance[first : first + 2].sum()
    return np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)


def level_names(levels: tuple[str, ...]) -> list[str]:
    """Levels as they are written, or with their types where two are written alike."""
    plain = [level[1:] for level in levels]
    if len(set(plain)) == len(plain):
        return plain
    return [repr(level[1:]) if level[0] == "s" else level[1:] for level in levels]
