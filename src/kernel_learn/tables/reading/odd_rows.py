"""Rows of a file that are none of its table: names again, units, empty ones, sums and notes."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.rows.short_names import shorten
from kernel_learn.streams.readers import TableError
from kernel_learn.streams.readers.layout import SEPARATORS
from kernel_learn.tables.columns import is_sparse_type
from kernel_learn.tables.reading.numbers import SPELT_AS, plain_unit, split_cell

TOTAL = re.compile(
    r"(grand |sub|overall )?(total|totals|sum|summe|gesamt|average|mean|mittelwert|count)s?\s*:?",
    re.IGNORECASE,
)
MOST = 10  # rows at the end that are looked at
LEAST_COLUMNS = 3  # of a table in which a row of one cell is a note
BLANK_OF_SUMS = 1 / 3  # of the cells of a row of sums between others
LEAST_ROWS, LEAST_SUMS, NEAR_SUM = 5, 2, 1e-3  # that show a row of sums that does not say so
LOOKED_AT, HALF = 50, 0.5  # cells below a unit, and how many of them are numbers
MOST_NOTES = 2  # rows of one cell that holds separators
Dropped = Counter[str]  # what rows are, and how many


@dataclass
class Sums:
    """Of the columns of the rows so far: how many cells they have, their sums and maxima."""

    rows: int = 0
    columns: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def add(self, frame: Frame) -> None:
        """Count more rows."""
        self.columns = {name: self.of(frame[name]) for name in frame.columns}
        self.rows += len(frame)

    def of(self, column: FrameColumn) -> tuple[int, float, float]:
        """Cells, sum and maximum of a column with these rows too; of words the first alone."""
        n, total, most = self.columns.get(str(column.name), (0, 0.0, -np.inf))
        n += int(column.notna().sum())
        if column_kind(column) == "number" and not is_sparse_type(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            total += float(np.nansum(values))
            most = max(most, float(np.fmax.reduce(values, initial=-np.inf)))
        return n, total, most


def find_odd_rows(
    frame: Frame, before: Sums | None = None, *, is_last: bool = True
) -> tuple[Array, Dropped]:
    """Which rows are none of the table, (n,) booleans, and what they are.

    ``before``: of the rows of earlier blocks; ``is_last``: no block comes after this one.
    """
    before = Sums() if before is None else before
    check_separators(frame)
    found: dict[int, str] = {}
    if before.rows == 0 and len(frame) > 1 and (words := units_below_names(frame)):
        found[0] = words
    found |= dict.fromkeys(rows_where(frame, repeats_name), "with the names of the columns again")
    found |= dict.fromkeys(rows_where(frame, is_blank), "without cells")
    found |= find_sums(frame)
    last = len(frame) - 1
    while is_last and last > 0 and len(frame) - last <= MOST:
        if (what := what_is_last(frame, last, found, before)) is None:
            break
        found[last] = f"{what} at the end"
        last -= 1
    mask = np.zeros(len(frame), dtype=bool)
    mask[list(found)] = True
    return mask, Counter(found[i] for i in sorted(found))


def say_dropped(dropped: Dropped) -> list[str]:
    """``1 row of sums ('Total') at the end dropped``, and so on."""
    return [f"{n} row{'s' * (n > 1)} {words} dropped" for words, n in dropped.items()]


def drop_rows(frame: Frame, odd: Array) -> Frame:
    """The frame without some rows; whole numbers are so again where only these had holes."""
    kept = frame.loc[~odd]
    holes = frame.loc[odd].isna().all()
    floats = [name for name in kept.select_dtypes("float64").columns if holes[name]]
    whole = [c for c in floats if bool((kept[c] % 1 == 0).all())]  # false where cells are missing
    return kept.astype(dict.fromkeys(whole, "int64"))


def rows_where(
    frame: Frame,
    holds: Callable[[FrameColumn], FrameColumn],
    columns: Collection[str] | None = None,
) -> list[int]:
    """Rows of which all cells are so; columns are looked at only while some are left."""
    left = np.arange(len(frame))
    for name in frame.columns if columns is None else columns:
        if not len(left):
            break
        left = left[holds(frame[name].iloc[left]).to_numpy(dtype=bool)]
    return [int(i) for i in left]


def is_blank(cells: FrameColumn) -> FrameColumn:
    """Which cells hold nothing."""
    empty = cells.isna()
    if column_kind(cells) == "object":
        empty |= cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).astype(bool)
    return empty


def repeats_name(cells: FrameColumn) -> FrameColumn:
    """Which cells are the name of their column."""
    if column_kind(cells) != "object":
        return cells.isna() & False
    return cells.map(str).str.strip() == str(cells.name)


def check_separators(frame: Frame) -> None:
    """Refuse a file in which cells are parted by one sign in some rows, by another in others."""
    wide = frame.shape[1]
    if wide < LEAST_COLUMNS or column_kind(frame[frame.columns[0]]) != "object":
        return
    alone = rows_where(frame, is_blank, frame.columns[:0:-1])
    texts = {i: str(frame.iloc[i, 0]) for i in alone}
    packed = [i for i, text in texts.items() if max(map(text.count, SEPARATORS)) >= wide - 1]
    if len(packed) > MOST_NOTES:
        raise TableError(
            f"{len(packed)} rows are one cell each, the first of them {texts[packed[0]]!r} in row "
            f"{packed[0] + 1}: the sign between cells changes in the file. Part all cells by the "
            "same sign."
        )


def units_below_names(frame: Frame) -> str:
    """What the first row is, if it has the units of the columns."""
    cells = [(name, cell) for name, cell in frame.iloc[0].items() if isinstance(cell, str)]
    filled = [(name, cell.strip(" ()[]")) for name, cell in cells if cell.strip()]
    others = frame.iloc[0].notna().sum() - len(cells)
    if others or any(split_cell(cell) is not None for _, cell in filled):
        return ""
    below = frame.iloc[1 : LOOKED_AT + 1]
    units = [
        cell
        for name, cell in filled
        if plain_unit(cell) in SPELT_AS
        and below[name].dropna().map(lambda text: split_cell(str(text)) is not None).mean() > HALF
    ]
    return f"of units ({', '.join(map(repr, units[:3]))})" if units else ""


def find_sums(frame: Frame) -> dict[int, str]:
    """Rows between others that say that they are sums, and lack cells: {row: what it is}."""
    found: dict[int, str] = {}
    for name in frame.columns:
        if column_kind(frame[name]) != "object":
            continue
        words = [text for text in frame[name].dropna().unique() if says_total(text)]
        for i in np.flatnonzero(frame[name].isin(words)) if words else []:
            if is_blank(frame.iloc[i].astype(object)).mean() >= BLANK_OF_SUMS:
                found[int(i)] = f"of sums ({frame[name].iloc[i].strip()!r})"
    return found


def says_total(cell: object) -> bool:
    """Whether a cell is a word for a sum."""
    return isinstance(cell, str) and TOTAL.fullmatch(cell.strip()) is not None


def what_is_last(frame: Frame, i: int, odd: Iterable[int], before: Sums) -> str | None:
    """Why the last row of those that are left is none; None: it is one."""
    cells = frame.iloc[i]
    filled = cells[~is_blank(cells.astype(object))]
    if not len(filled):
        return "without cells"
    for name, cell in filled.items():
        if says_total(cell):
            others = frame[name].iloc[:i].astype(str).str.strip().str.casefold()
            if i in set(odd) or not (others == cell.strip().casefold()).any():
                return f"of sums ({cell.strip()!r})"
    if len(filled) == 1 and frame.shape[1] >= LEAST_COLUMNS and isinstance(filled.iloc[0], str):
        return f"of a note ({shorten(str(filled.iloc[0]), 30)!r})"
    if any(column_kind(frame[name]) != "number" for name in filled.index):
        return None
    left_out = [j for j in odd if j < i]
    above = frame.iloc[:i].drop(index=frame.index[left_out]) if left_out else frame.iloc[:i]
    return what_was_added(above, filled, before)


def what_was_added(above: Frame, last: FrameColumn, before: Sums) -> str | None:
    """Whether a row without words has the sums, or the means, of all numbers above it.

    It lacks cells that others have, or its sums are larger than every number above.
    """
    rows, names = before.rows + len(above), list(last.index)
    if rows < LEAST_ROWS or len(names) < LEAST_SUMS:
        return None
    empty = [name for name in above.columns if name not in last]
    lacks = any(before.of(above[name])[0] > HALF * rows for name in empty)
    left = {"sums", "means"} if lacks else {"sums"}
    for name in names:
        n, total, most = before.of(above[name])
        value, near = float(last[name]), {"sums": total, "means": total / max(1, n)}
        left = {way for way in left if abs(value - near[way]) < NEAR_SUM * abs(near[way])}
        if not left or not (lacks or value > most):
            return None
    return f"of {left.pop()}"
