"""Columns of categories as numbers that are equal where the entries are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_plain, is_sparse, n_rows
from kernel_learn.rows.coerce import Entry
from kernel_learn.rows.frames import FrameColumn, column_objects, column_type
from kernel_learn.rows.keys import entry_number, is_missing
from kernel_learn.rows.kinds import Kind, column_kind, is_number_cell
from kernel_learn.rows.table import Table, column_names, places, split_columns

MISSING = -1.0
LOWEST = np.finfo(np.float64).min  # a missing number among categories
ColumnChoice = Any  # "all", "auto", or names or positions of columns


def categorical_positions(
    categorical: ColumnChoice, X: Rows, argument: str = "categorical"
) -> list[int]:
    """Positions of the columns that are named, numbered, or all; ``argument`` names them."""
    d = X.shape[1] if hasattr(X, "shape") else np.asarray(X, dtype=object).shape[1]
    if isinstance(categorical, str) and categorical == "all":
        return list(range(d))
    names = column_names(X)
    wanted = np.ravel(np.asarray(categorical, dtype=object)).tolist()
    missing = [c for c in wanted if isinstance(c, str) and c not in names]
    outside = [c for c in wanted if not isinstance(c, str) and not _is_position(c, d)]
    if missing or outside:
        raise ValueError(
            f"{argument} names the columns {missing + outside!r}, and X has {d} columns"
            + (f": {names!r}." if names else " without names.")
        )
    return [names.index(c) if isinstance(c, str) else int(c) % d for c in wanted]


def _is_position(column: object, d: int) -> bool:
    return isinstance(column, Integral) and not isinstance(column, bool) and -d <= int(column) < d


def encode_columns(
    X: Rows, X_ref: Rows | None, categorical: Sequence[int]
) -> tuple[Array, Array | None]:
    """Both sides as float64, categories as codes: equal codes for equal entries.

    A missing category is a level of its own, equal to itself.
    """
    sides = [X] if X_ref is None else [X, X_ref]
    if all(is_plain(side) for side in sides):
        encoded = [np.array(side, dtype=np.float64) for side in sides]
        for A in encoded:
            part = A[:, list(categorical)]
            part[np.isnan(part)] = LOWEST
            A[:, list(categorical)] = part
        return encoded[0], None if X_ref is None else encoded[1]
    counts = [n_rows(side) for side in sides]
    d = len(columns_of(sides[0]))
    both = np.empty((sum(counts), d))
    pairs = [list(side) for side in zip(*(columns_of(side) for side in sides), strict=True)]
    for c, parts in enumerate(pairs):
        values = np.concatenate([np.asarray(part, dtype=object) for part in parts])
        both[:, c] = level_codes(values)[1] if c in categorical else values.astype(np.float64)
    return both[: counts[0]], None if X_ref is None else both[counts[0] :]


def level_codes(values: Array) -> tuple[Array, Array]:
    """(levels, codes): sorted distinct entries as text, and each entry's; missing is -1."""
    missing = missing_entries(values)
    texts = np.array([entry_text(value) for value in values[~missing]], dtype=object)
    levels, codes = np.unique(texts.astype(str), return_inverse=True)
    found = np.full(len(values), MISSING)
    found[~missing] = codes
    return levels, found


@dataclass(frozen=True, eq=False)
class TableCodes:
    """Rows of a table as numbers, and back: other cells are codes, equal where the cells are.

    A column is one of numbers where all tables hold it so: one of them may hold it as objects.
    """

    names: tuple[str, ...] | None  # of the columns
    is_number: Array  # (d,)
    cells: tuple[Array, ...]  # of each column of others, by codes

    @classmethod
    def of(cls, *tables: Table) -> "tuple[TableCodes, list[Array]]":
        """And the rows of tables with the same columns, (n, d) each, in their order."""
        is_number = np.all([own.place >= 0 for own in tables], axis=0)
        ends, cells = np.cumsum([len(own) for own in tables]), []
        rows = np.empty((ends[-1], len(is_number)))
        for c, parts in enumerate(zip(*map(columns_of, tables), strict=True)):
            column = np.concatenate(parts)
            if is_number[c]:
                rows[:, c] = column
                continue
            codes = level_codes(column)[1]
            _, first, rows[:, c] = np.unique(codes, return_index=True, return_inverse=True)
            cells.append(column[first])
        rows[np.isnan(rows)] = LOWEST
        return cls(tables[0].names, is_number, tuple(cells)), np.split(rows, ends[:-1])

    def table(self, rows: Array) -> Table:
        """Such rows as they were."""
        numbers, codes = rows[:, self.is_number], rows[:, ~self.is_number].astype(int)
        others = np.empty(codes.shape, object)
        for j, cells in enumerate(self.cells):
            others[:, j] = cells[codes[:, j]]
        numbers = np.where(numbers == LOWEST, np.nan, numbers)
        return Table(self.names, numbers, others, places(self.is_number))


def with_one_zero(table: Table, categorical: Array) -> Table:
    """The table with 0.0 for -0.0 in columns of categories; as it is where there is none."""
    if is_sparse(table.numbers):
        return table
    held = [p for p in table.place[categorical] if p >= 0]
    odd = [p for p in held if negative_zeros(table.numbers[:, p]).any()]
    if not odd:
        return table
    numbers = np.array(table.numbers)
    numbers[:, odd] += 0.0
    return replace(table, numbers=numbers)


def negative_zeros(numbers: Array) -> Array:
    """Where a number is -0.0."""
    return np.asarray((numbers == 0) & np.signbit(numbers))


def missing_entries(values: Array) -> Array:
    """Where an entry is None, NaN or a frame's own mark for missing."""
    return np.array([is_missing(value) for value in values], bool)


def cell_kind(values: FrameColumn) -> Kind:
    """The kind of a column, of Python's objects by its cells.

    Frames from databases hold numbers and None as objects: as categories, no two of them would be
    near each other.
    """
    kind = column_kind(values)
    if kind != "object" or str(column_type(values)).lower() != "object":
        return kind
    filled = (value for value in column_objects(values) if not is_missing(value))
    first = next(filled, None)
    return "number" if is_number_cell(first) and all(map(is_number_cell, filled)) else kind


def columns_of(X: Rows) -> list[Array]:
    """The columns of a table, frame, array or list of records, each as an object array."""
    if isinstance(X, Table):
        return [X.column(c).astype(object) for c in range(X.shape[1])]
    return [column.astype(object) for column in split_columns(X)[1]]


def entry_text(value: Entry) -> str:
    """1, 1.0 and True are one level, '1' another."""
    if isinstance(value, str):
        return "s" + value
    number = entry_number(value)
    return "o" + repr(value) if number is None else "n" + repr(number)
