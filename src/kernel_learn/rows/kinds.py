"""The kind of a column: one rule for every frame library, by the name of the column's type.

What is done with a kind is decided by who asks: KernelClassifier refuses dates, the command line
encodes them; both take a boolean for a category, an array of numbers takes it for a number.
"""

import re
from collections.abc import Collection
from decimal import Decimal
from numbers import Real
from typing import Literal

from kernel_learn.rows.frames import ColumnType, FrameColumn, column_type

# Objects are texts and whatever else Python has: pandas kept texts so until its version 3.
Kind = Literal["number", "boolean", "complex", "date", "duration", "category", "list", "object"]
TYPES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("number", re.compile(r"u?int\d|float|double|half|decimal")),
    ("boolean", re.compile(r"bool")),
    ("duration", re.compile(r"timedelta|duration")),
    ("date", re.compile(r"date|time|period")),
    ("category", re.compile(r"category|categorical|enum|dictionary")),
    ("list", re.compile(r"(large_|fixed_size_)?list|struct|array|map")),
    ("complex", re.compile(r"complex")),
)
# Free text: cells of several words, few of them repeated.
TEXT_WORDS, FEW_TEXTS, DISTINCT_TEXTS = 3, 20, 0.5


def type_kind(dtype: ColumnType) -> Kind:
    """The kind of a column whose type is so: pandas', polars' or Arrow's."""
    name = str(dtype).lower().removeprefix("sparse[")
    return next((kind for kind, names in TYPES if names.match(name)), "object")


def column_kind(values: FrameColumn) -> Kind:
    """The kind of a frame's column."""
    return type_kind(column_type(values))


def is_number_cell(entry: object) -> bool:
    """Whether a cell is a number; True and False are none, a database's decimals are."""
    return isinstance(entry, Real | Decimal) and not isinstance(entry, bool)


def is_free_text(cells: Collection[object]) -> bool:
    """Whether cells, none of them missing, are texts to be read rather than levels to compare."""
    if len(set(cells)) <= max(FEW_TEXTS, DISTINCT_TEXTS * len(cells)):
        return False
    return sum(len(str(cell).split()) for cell in cells) >= TEXT_WORDS * len(cells)
