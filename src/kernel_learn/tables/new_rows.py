"""What of new rows a model has not met: levels, spellings, ranges, cells that are no numbers.

A number is outside where it lies beyond the training range by more than a tenth of its width:
the next row of the same kind is beyond by a little once in a while.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.tables.columns import Columns, as_word, is_sparse_type
from kernel_learn.tables.reading.levels import level_key
from kernel_learn.tables.reading.recipe import ColumnRecipe
from kernel_learn.tables.reading.table_reading import TableReading

MOST_LEVELS = 1000  # of a column with more, new ones are the rule
MARGIN = 0.1  # of the width of a range
OTHER_UNIT = 50.0  # so many times as large or as small is another unit
SHOWN = 3


def describe_seen(frame: Frame, columns: Columns) -> str:
    """Ranges of numbers and levels of categories of training rows, as JSON for a model."""
    ranges, levels = {}, {}
    for name, kind in columns.kinds.items():
        column = frame[name]
        if is_sparse_type(column.dtype):
            continue
        if kind == "number":
            values = finite_values(column)
            if len(values):
                middle = float(np.median(np.abs(values)))
                ranges[name] = [float(values.min()), float(values.max()), middle]
        elif kind == "category":
            found = as_word(column, None).dropna().unique().tolist()
            if len(found) <= MOST_LEVELS:
                levels[name] = sorted(map(str, found))
    return json.dumps({"ranges": ranges, "levels": levels})


def finite_values(column: FrameColumn) -> Array:
    """The numbers of a column that are some."""
    if column_kind(column) != "number":
        return np.empty(0)
    values = column.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(values[np.isfinite(values)])


@dataclass
class NewCells:
    """What was met in one column, counted over all rows."""

    unseen: Counter[str] = field(default_factory=Counter)
    respelt: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    filled: int = 0
    sizes: list[float] = field(default_factory=list)  # medians of the sizes of blocks


class NewRows:
    """New rows beside what a model was fitted to, block by block."""

    def __init__(self, seen: str | None, reading: TableReading) -> None:
        found = {"ranges": {}, "levels": {}} if seen is None else json.loads(seen)
        self.ranges: dict[str, list[float]] = found["ranges"]
        self.levels = {name: set(own) for name, own in found["levels"].items()}
        self.reading = reading
        self.columns: dict[str, NewCells] = {}

    def look(self, given: Frame, clean: Frame) -> Array:
        """Count what is new in a block, as it stands and as it is meant; a note for each row."""
        notes: list[list[str]] = [[] for _ in range(len(clean))]
        for name in [*self.ranges, *self.levels]:
            if name not in clean.columns:
                continue
            own = self.columns.setdefault(name, NewCells())
            find = self._look_at_numbers if name in self.ranges else self._look_at_levels
            for rows, words in find(name, own, given[name], clean[name]):
                for i in np.flatnonzero(rows):
                    notes[i].append(f"{name} {words}")
        return np.array(["; ".join(own) for own in notes], dtype=object)

    def _look_at_numbers(
        self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn
    ) -> list[tuple[Array, str]]:
        low, high, _ = self.ranges[name]
        if column_kind(clean) != "number":
            return []
        values = clean.to_numpy(dtype=float, na_value=np.nan)
        reach = MARGIN * (high - low)
        outside = (values < low - reach) | (values > high + reach)
        own.outside += int(outside.sum())
        own.filled += int(np.isfinite(values).sum())
        if len(sizes := finite_values(clean)):
            own.sizes.append(float(np.median(np.abs(sizes))))
        unread = np.zeros(len(values), dtype=bool)
        if column_kind(given) == "object":
            recipe = self.reading.columns.get(name, ColumnRecipe())
            words = recipe.missing | {f"{value:g}" for value in recipe.sentinels}
            lost = given.notna() & clean.isna()
            unread = (lost & ~given.map(str).map(level_key).isin(words)).to_numpy()
            own.unread.update(map(str, given[unread]))
        return [(outside, "outside its range"), (unread, "is no number")]

    def _look_at_levels(
        self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn
    ) -> list[tuple[Array, str]]:
        meant = as_word(clean, None)
        filled = meant.notna()
        unseen = (filled & ~meant.isin(self.levels[name])).to_numpy()
        own.filled += int(filled.sum())
        own.unseen.update(map(str, meant[unseen]))
        if column_kind(given) == "object":
            stands = given.map(str, na_action="ignore").str.strip()
            other = filled & (stands != meant) & ~unseen
            pairs = zip(stands[other], meant[other], strict=True)
            own.respelt.update(f"{a} = {b}" for a, b in pairs)
        return [(unseen, "not met before")]

    def sentences(self) -> list[str]:
        """What is new, column by column."""
        found = []
        for name, own in self.columns.items():
            if own.unseen:
                found.append(
                    f"{how_many(own.unseen.total(), own.filled)} of {name!r} hold levels that the "
                    f"model has not met: {most(own.unseen)}."
                )
            if own.respelt:
                found.append(
                    f"{how_many(own.respelt.total(), own.filled)} of {name!r} are spelt otherwise "
                    f"than in training, and read alike: {most(own.respelt)}."
                )
            if own.unread:
                found.append(
                    f"{how_many(own.unread.total(), own.unread.total() + own.filled)} of {name!r} "
                    f"are no numbers, and taken as missing: {most(own.unread)}."
                )
            if own.outside:
                found.append(self._outside(name, own))
        return found

    def _outside(self, name: str, own: NewCells) -> str:
        low, high, middle = self.ranges[name]
        text = (
            f"{how_many(own.outside, own.filled)} of {name!r} lie outside the training range, "
            f"{low:.6g} to {high:.6g}"
        )
        ratio = float(np.median(own.sizes)) / middle if middle else 1.0
        if ratio >= OTHER_UNIT or ratio <= 1 / OTHER_UNIT:
            by = float(f"{max(ratio, 1 / ratio):.2g}")
            times = f"about {by:,.0f} times {'as large' if ratio > 1 else 'smaller'}"
            return f"{text}, and are {times}: is it another unit?"
        return f"{text}."


def how_many(n: int, total: int) -> str:
    """``All 120 cells``, ``3 of 120 cells``."""
    return f"All {n} cells" if n == total else f"{n} of {total} cells"


def most(counts: Counter[str]) -> str:
    """The most frequent of what was met."""
    order = sorted(counts, key=lambda text: (-counts[text], text))
    more = f" and {len(order) - SHOWN} more" if len(order) > SHOWN else ""
    return ", ".join(repr(text[:30]) for text in order[:SHOWN]) + more
