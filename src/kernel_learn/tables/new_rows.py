"""What of new rows a model does not know: levels, spellings, ranges, cells that are no numbers.

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
from kernel_learn.tables.reading.recipe import ColumnRecipe, count_texts, how_written
from kernel_learn.tables.reading.table_reading import TableReading

MOST_LEVELS = 1000  # of a column with more, new ones are the rule
MARGIN = 0.1  # of the width of a range
OTHER_UNIT = 50.0  # so many times as large or as small is another unit
SHOWN = 3


def describe_seen(frame: Frame, columns: Columns) -> str:
    """Ranges of numbers, levels of categories and what had no holes, as JSON for a model."""
    ranges, levels = {}, {}
    complete = []
    for name, kind in columns.kinds.items():
        column = frame[name]
        if is_sparse_type(column.dtype):
            continue
        if not column.isna().any():
            complete.append(name)
        if kind == "number":
            values = finite_values(column)
            if len(values):
                middle = float(np.median(np.abs(values)))
                ranges[name] = [float(values.min()), float(values.max()), middle]
        elif kind == "category":
            found = as_word(column, None).dropna().unique().tolist()
            if len(found) <= MOST_LEVELS:
                levels[name] = sorted(map(str, found))
    seen = {"ranges": ranges, "levels": levels, "dates": columns.of("date"), "complete": complete}
    return json.dumps(seen)


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
    absent: Counter[str] = field(default_factory=Counter)  # words for missing
    written: list[str] = field(default_factory=list)  # how cells are, where that is new
    outside: int = 0
    filled: int = 0
    missing: int = 0  # where none was in training
    sizes: list[float] = field(default_factory=list)  # medians of the sizes of blocks


Found = list[tuple[Array, str]]  # which rows, (n,) booleans, and what is said of them


class NewRows:
    """New rows beside what a model was fitted to, block by block."""

    def __init__(self, seen: str | None, reading: TableReading) -> None:
        found = {"ranges": {}, "levels": {}} if seen is None else json.loads(seen)
        self.ranges: dict[str, list[float]] = found["ranges"]
        self.levels = {name: set(own) for name, own in found["levels"].items()}
        self.dates: list[str] = found.get("dates", [])
        self.complete = set(found.get("complete", []))
        self.reading = reading
        self.columns: dict[str, NewCells] = {}

    def look(self, given: Frame, clean: Frame) -> Array:
        """Count what is new in a block, as it stands and as it is meant; a note for each row."""
        notes: list[list[str]] = [[] for _ in range(len(clean))]
        for name in [*self.ranges, *self.levels, *self.dates]:
            if name not in clean.columns:
                continue
            own = self.columns.setdefault(name, NewCells())
            find = self._look_at_levels if name in self.levels else self._look_at_values
            found = find(name, own, given[name], clean[name])
            for rows, words in [*found, self._look_at_holes(name, own, given[name], clean[name])]:
                for i in np.flatnonzero(rows):
                    notes[i].append(f"{name} {words}")
        return np.array(["; ".join(own) for own in notes], dtype=object)

    def _look_at_values(
        self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn
    ) -> Found:
        outside = np.zeros(len(clean), dtype=bool)
        if name in self.ranges and column_kind(clean) == "number":
            low, high, _ = self.ranges[name]
            values = clean.to_numpy(dtype=float, na_value=np.nan)
            reach = MARGIN * (high - low)
            outside = (values < low - reach) | (values > high + reach)
            own.outside += int(outside.sum())
            if len(sizes := finite_values(clean)):
                own.sizes.append(float(np.median(np.abs(sizes))))
        unread = self._unread(name, own, given, clean)
        own.unread.update(map(str, given[unread]))
        own.filled += int((clean.notna() & ~unread).sum())
        what = "number" if name in self.ranges else "date"
        return [(outside, "outside its range"), (unread, f"is not a {what}")]

    def _unread(self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn) -> Array:
        """Which cells are neither a value nor a word for missing, (n,) booleans."""
        recipe = self.reading.columns.get(name, ColumnRecipe())
        if column_kind(given) != "object":
            return np.zeros(len(given), dtype=bool)
        lost = given.notna() & clean.isna()
        if column_kind(clean) == "object" and recipe.date.forms:
            lost = given.notna() & given.map(lambda text: recipe.date.value(str(text))).isna()
        if name in self.ranges and (counts := count_texts(given)):
            form = recipe.number_form(counts, name)
            words = [] if form == recipe.number else how_written(form, counts)
            own.written += [text for text in words if text not in own.written]
        return np.asarray(lost & ~is_absent(given, recipe))

    def _look_at_holes(
        self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn
    ) -> tuple[Array, str]:
        """Cells that are missing, by a word or empty, where none was in training."""
        missing = given.isna() & (name in self.complete)
        if name in self.complete and column_kind(given) == "object":
            said = is_absent(given, self.reading.columns.get(name, ColumnRecipe())) & clean.isna()
            own.absent.update(str(text).strip() for text in given[said])
            missing |= said
        own.missing += int(missing.sum())
        return missing.to_numpy(), "is missing"

    def _look_at_levels(
        self, name: str, own: NewCells, given: FrameColumn, clean: FrameColumn
    ) -> Found:
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
        return [(unseen, "new to the model")]

    def sentences(self) -> list[str]:
        """What is new, column by column."""
        found = []
        for name, own in self.columns.items():
            cells = own.filled + own.unread.total()
            if own.written:
                found.append(
                    f"The cells of {name!r} are written differently than in training: "
                    f"{'; '.join(own.written)}."
                )
            if own.unseen:
                found.append(
                    f"{how_many(own.unseen.total(), own.filled)} of {name!r} hold levels that the "
                    f"model does not know: {most(own.unseen)}."
                )
            if own.respelt:
                found.append(
                    f"{how_many(own.respelt.total(), own.filled)} of {name!r} are spelled "
                    f"differently than in training, and read alike: {most(own.respelt)}."
                )
            if own.unread:
                found.append(
                    f"{how_many(own.unread.total(), cells)} of {name!r} are not "
                    f"{'numbers' if name in self.ranges else 'dates'} and count as missing: "
                    f"{most(own.unread)}."
                )
            if own.missing:
                words = f" ({most(own.absent)})" if own.absent else ""
                found.append(
                    f"{how_many(own.missing, cells + own.missing)} of {name!r} are missing{words}, "
                    "and none was in training."
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


def is_absent(column: FrameColumn, recipe: ColumnRecipe) -> FrameColumn:
    """Which texts of a column stand for missing."""
    words = recipe.missing | {f"{value:g}" for value in recipe.sentinels}
    return column.notna() & column.map(str).map(level_key).isin(words)


def how_many(n: int, total: int) -> str:
    """``All 120 cells``, ``3 of 120 cells``."""
    return f"All {n} cells" if n == total else f"{n} of {total} cells"


def most(counts: Counter[str]) -> str:
    """The most frequent of what was met."""
    order = sorted(counts, key=lambda text: (-counts[text], text))
    more = f" and {len(order) - SHOWN} more" if len(order) > SHOWN else ""
    return ", ".join(repr(text[:30]) for text in order[:SHOWN]) + more
