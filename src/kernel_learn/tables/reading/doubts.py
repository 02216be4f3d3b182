"""What may have been meant otherwise: columns of words that are mostly numbers, odd classes."""

import re
from collections.abc import Callable, Mapping

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.tables.columns import is_sparse_type
from kernel_learn.tables.reading.dates import match_date
from kernel_learn.tables.reading.levels import level_key
from kernel_learn.tables.reading.missing import NO_NUMBER
from kernel_learn.tables.reading.numbers import CODE, MULTIPLES, SPELT_AS, plain_unit, split_cell
from kernel_learn.tables.reading.recipe import ColumnRecipe, count_texts, quoted
from kernel_learn.tables.reading.table_reading import Remarks, TableReading

HALF = 0.5  # of the cells
BEGINS_WITH_DIGIT = re.compile(r"[<>~(+-]?\s*\d(?!\d{3}-\d\d-\d\d)")
MOST_LETTERS = 16  # of a cell that could be a quantity
LEAST_LEVELS, LEVELS_OF_CELLS = 20, 0.1  # of a column that could be one


def find_doubts(frame: Frame, reading: TableReading, target: str | None) -> Remarks:
    """What is to be said of columns that nobody has said the type of, as they are read."""
    found: Remarks = {}
    for name in frame.columns if reading.clean else []:
        column = frame[name]
        if name in reading.types or is_sparse_type(column.dtype):
            continue
        if name == target:
            doubts = doubt_labels(column)
        elif reading.columns.get(name, ColumnRecipe()).date.forms:
            doubts = []
        else:
            doubts = doubt_words(str(name), count_texts(column))
        if doubts:
            found[name] = doubts
    return found


def doubt_words(name: str, counts: Mapping[str, int]) -> list[str]:
    """Of texts: whether most are numbers, dates or other quantities."""
    total = sum(counts.values())
    if any(CODE.fullmatch(text.strip()) for text in counts):
        return []
    kinds: dict[str, Callable[[str], bool]] = {"date": is_dated, "number": is_plain_text}
    for kind, holds in kinds.items():
        others = {text: n for text, n in counts.items() if not holds(text)}
        like = total - sum(others.values())
        if others and like >= HALF * total:
            return [
                f"{like} of {total} cells are {kind}s, and {quoted(others)} not: "
                f"--types {name}={kind}"
            ]
    begin = {text: n for text, n in counts.items() if BEGINS_WITH_DIGIT.match(text)}
    are_short = np.mean([len(text) for text in counts] or [0]) <= MOST_LETTERS
    are_many = len(counts) > max(LEAST_LEVELS, LEVELS_OF_CELLS * total)
    if are_short and are_many and sum(begin.values()) >= HALF * total:
        return [f'cells such as "{next(iter(begin))}" are not known as numbers']
    return []


def is_plain_text(text: str) -> bool:
    """Whether a cell is a number, with a unit that is one or none."""
    parts = split_cell(text)
    if parts is None:
        return False
    unit = parts["unit"]
    return not unit or unit in MULTIPLES or plain_unit(unit) in SPELT_AS


def is_dated(text: str) -> bool:
    """Whether a cell is a date."""
    return match_date(text)[1] is not None


def doubt_labels(column: FrameColumn) -> list[str]:
    """Of classes: those that may stand for missing."""
    if column_kind(column) == "number":
        values = np.unique(column.dropna().to_numpy(dtype=float))
        odd = [f"{value:g}" for value in values if is_odd_code(value, values)]
    else:
        odd = [text for text in count_texts(column) if level_key(text) in NO_NUMBER]
    return [
        f"{word!r} is taken as a class; if it means missing: --na {word}" for word in sorted(odd)
    ]


def is_odd_code(value: float, values: Array) -> bool:
    """Whether a code is nines, apart from the other codes by no less than these span."""
    others = values[values != value]
    if set(f"{abs(value):g}") != {"9"} or not len(others):
        return False
    gap = float(np.abs(others - value).min())
    return gap > 1 and gap >= float(others.max() - others.min())
