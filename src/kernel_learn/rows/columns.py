"""Any table as numbers and codes: arrays, sparse matrices, pandas, polars and Arrow frames."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_plain, is_sparse
from kernel_learn.rows.check_rows import check_magnitude
from kernel_learn.rows.codes import (
    MISSING,
    ColumnChoice,
    categorical_positions,
    cell_kind,
    level_codes,
    missing_entries,
)
from kernel_learn.rows.coerce import Entry, as_array, check_numbers, reads_as_number
from kernel_learn.rows.frames import (
    FrameColumn,
    column_numbers,
    column_objects,
    frame_column,
    frame_columns,
    frame_types,
    is_frame,
    is_pandas,
)
from kernel_learn.rows.kinds import (
    FEW_TEXTS,
    Kind,
    is_free_text,
    is_number_cell,
    type_kind,
)
from kernel_learn.rows.table import Table, column_names
from kernel_learn.warn import warn_user

UNSEEN = -2.0
ZERO_LEVELS = "n0.0", "n-0.0"  # the level of zero, and one that earlier files may have for it
SKRUB = (
    "Turn the column into numbers first, by a step of a pipeline before the estimator: "
    "kernel_learn.TableEncoder() does that for dates, skrub.TableVectorizer() for text, too."
)


@dataclass(frozen=True, eq=False)
class TableReader:
    """Which columns are numbers, which are categories, and the levels of those."""

    numbers: Array  # positions
    categories: Array  # positions
    levels: tuple[Array, ...]  # sorted texts, one array per category

    @property
    def n_columns(self) -> int:
        return len(self.numbers) + len(self.categories)

    def read(self, X: Rows) -> Table:
        """A table of numbers (NaN where missing), then codes: -1 missing, -2 not seen at fit."""
        if isinstance(X, Table) and not X.others.shape[1]:
            X = X.numbers
        if is_sparse(X):
            return coded(X)
        if not len(self.categories) and is_plain(X):
            return coded(finite(np.asarray(X, dtype=np.float64)))
        codes = [
            known_codes(column.objects(), levels)
            for column, levels in zip(Column.of(X, self.categories), self.levels, strict=True)
        ]
        numbers = finite(number_columns(X, self.numbers))
        return coded(numbers, np.column_stack(codes) if codes else None)

    def without_others(self, table: Table) -> "TableReader":
        """The same codes, without the words of levels that no row of a table has.

        In the place of such a word stands the level before it, or nothing: levels stay sorted,
        and no cell is found there.
        """
        levels = []
        for codes, own in zip(table.others.T, self.levels, strict=True):
            used = np.isin(np.arange(len(own)), codes)
            last = np.maximum.accumulate(np.where(used, np.arange(len(own)), -1))
            levels.append(np.append(own, "")[last].astype(str))
        return replace(self, levels=tuple(levels))


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Rows as they were read: a fit to some of them needs no cells any more."""

    reader: TableReader
    table: Table
    groups: dict[str, Array]  # named groups of columns, by positions

    @property
    def shape(self) -> tuple[int, int]:
        """Of the rows as they were given."""
        return (self.table.numbers.shape[0], self.reader.n_columns)

    def __getitem__(self, rows: Array) -> "ReadRows":
        return replace(self, table=self.table[rows])

    def without_others(self) -> "ReadRows":
        """The same codes, without the words of levels that no row has."""
        return replace(self, reader=self.reader.without_others(self.table))

    def read_again(self) -> "ReadRows":
        """As if these rows alone had been read: levels are those that they have."""
        codes, levels = np.array(self.table.others), []
        for j, (c, own) in enumerate(zip(self.reader.categories, self.reader.levels, strict=True)):
            used = np.unique(codes[:, j][codes[:, j] >= 0]).astype(int)
            if not _are_words(own[used]) and _are_words(own):
                raise ValueError(
                    f"Column {c} holds no text any more, and may not be a category where the "
                    "remaining rows are read alone. Fit these rows, or use choices='keep'."
                )
            known = codes[:, j] >= 0
            codes[known, j] = np.searchsorted(used, codes[known, j])
            levels.append(own[used])
        reader = replace(self.reader, levels=tuple(levels))
        return replace(self, reader=reader, table=replace(self.table, others=codes))


def _are_words(levels: Array) -> bool:
    """Whether some levels are no numbers."""
    return any(level and not level.startswith("n") for level in levels.tolist())


@dataclass(frozen=True)
class CellLayout:
    """From cells to a table of numbers and codes, as the reader gives it for rows."""

    reader: TableReader
    recode: tuple[Array, ...]  # of each category

    def table(self, cells: Rows) -> Table:
        if not len(self.reader.categories):
            return coded(cells)
        codes = cells[:, self.reader.categories]
        codes[np.isnan(codes)] = MISSING  # read before the column had a level
        for j, place in enumerate(self.recode):
            codes[:, j] = place[codes[:, j].astype(int)]
        return coded(cells[:, self.reader.numbers], codes)


def learn_table(X: Rows, categorical: ColumnChoice) -> TableReader:
    """Find out what the columns are."""
    everything = np.arange(X.shape[1])
    chosen = named_columns(categorical, X)
    if is_sparse(X) or (not len(chosen) and (is_plain(X) or is_numeric_frame(X))):
        if len(chosen):
            raise ValueError(
                "categorical names columns of a sparse matrix, whose columns are all numbers. "
                "Pass a data frame with category columns, or encode them before."
            )
        return TableReader(everything, everything[:0], ())
    columns = Column.of(X, everything)
    is_category = np.array(
        [c in chosen or column.is_category() for c, column in enumerate(columns)]
    )
    numbers, categories = everything[~is_category], everything[is_category]
    for c in numbers:
        columns[c].check_number()
    for c in categories:
        columns[c].check_category(named=c in chosen)
    levels = tuple(level_codes(columns[c].objects())[0] for c in categories)
    return TableReader(numbers, categories, levels)


def named_columns(categorical: ColumnChoice, X: Rows) -> list[int]:
    """Positions of the columns that the user calls categories."""
    if isinstance(categorical, str) or categorical is None:  # "auto"
        return []
    return categorical_positions(categorical, X)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a frame, of a table or of an array."""

    name: str | int
    kind: Kind | None  # None: an array of objects has no type, and its entries tell
    values: FrameColumn  # or an array

    @staticmethod
    def of(X: Rows, positions: Array) -> "list[Column]":
        names = column_names(X)  # once: a frame of thousands of columns takes its time
        if is_frame(X):
            found = [(names[c], frame_column(X, int(c))) for c in positions]
            return [Column(name, cell_kind(values), values) for name, values in found]
        A = X if isinstance(X, Table) else np.asarray(X)
        arrays = [A.column(c) if isinstance(A, Table) else A[:, c] for c in positions]
        return [
            Column(names[c] if names else int(c), "number" if is_plain(own) else None, own)
            for c, own in zip(positions, arrays, strict=True)
        ]

    def objects(self) -> Array:
        """The entries as Python objects."""
        return column_objects(self.values)

    def numbers(self) -> Array:
        """The entries as float64, NaN where missing."""
        if is_plain(self.values):
            return np.asarray(self.values, dtype=np.float64)
        if is_pandas(self.values):
            try:
                return self.values.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError):
                pass
        elif self.kind == "number" and hasattr(self.values, "to_numpy"):
            return column_numbers(self.values).astype(np.float64)
        try:
            return np.array([np.nan if m else float(v) for v, m in self._entries()])
        except (TypeError, ValueError, OverflowError) as error:
            bad = next(v for v, m in self._entries() if not m and not reads_as_number(v))
            raise ValueError(
                f"Column {self.name!r} is a column of numbers, and has {str(bad)[:60]!r}, which "
                "no floating-point number can be. Rows for predict need the kinds of columns of "
                "fit."
            ) from error

    def is_category(self) -> bool:
        """Strings, booleans, categories; objects of an array unless all are numbers."""
        if self.kind is None:
            return not all(m or isinstance(v, Real) for v, m in self._entries())
        return self.kind not in ("number", "date", "duration")

    def check_number(self) -> None:
        if self.kind in ("date", "duration"):
            raise ValueError(f"Column {self.name!r} holds dates. {SKRUB}")

    def check_category(self, *, named: bool) -> None:
        if named:
            return
        texts = [v for v, m in self._entries() if not m]
        if not all(isinstance(v, str | Real | np.generic) for v in texts):
            kinds = sorted({type(v).__name__ for v in texts})
            raise ValueError(
                f"Column {self.name!r} holds {', '.join(kinds)}; an entry must be a string or a "
                f"number. {SKRUB}"
            )
        if is_free_text(texts):
            raise ValueError(f"Column {self.name!r} holds free text. {SKRUB}")
        self._warn_if_mixed(texts)
        if self.kind != "category":
            warn_of_written_numbers(self.name, set(texts))

    def _warn_if_mixed(self, entries: list[Entry]) -> None:
        """A number that is a category is as far from the next number as from any other."""
        text = next((v for v in entries if isinstance(v, str)), None)
        if text is not None and any(map(is_number_cell, entries)):
            warn_user(
                f"Column {self.name!r} holds numbers and texts, such as {text[:60]!r}, and is "
                "taken for a category, in which no two numbers are near each other. If it is "
                "numbers, put None in place of the texts; if it is a category, say so: "
                f"categorical=[{self.name!r}]."
            )

    def _entries(self) -> list[tuple[Entry, bool]]:
        values = self.objects()
        return list(zip(values, missing_entries(values), strict=True))


def are_written_numbers(levels: Collection[object]) -> bool:
    """Whether levels are texts of numbers, and too many to be codes of a few groups."""
    if len(levels) <= FEW_TEXTS:
        return False
    return all(isinstance(level, str) and reads_as_number(level) for level in levels)


def warn_of_written_numbers(name: str | int, levels: Collection[object]) -> None:
    """Say it of a column of many texts that are numbers all of them."""
    if are_written_numbers(levels):
        warn_user(
            f"Column {name!r} holds numbers as texts, such as {min(levels, key=str)!r}, and is "
            f"taken for a category of {len(levels)} levels, of which no two are near each other. "
            "If it is numbers, pass it so, by .astype(float) say; if it is a category, say so: "
            f"categorical=[{name!r}]."
        )


def number_columns(X: Rows, positions: Array) -> Array:
    """(n_rows, n_positions): columns as float64, NaN where missing."""
    if not len(positions):
        return np.empty((X.shape[0], 0))
    if is_pandas(X) and is_numeric_frame(some := frame_columns(X, positions)):
        return np.asarray(some.to_numpy(np.float64, na_value=np.nan))  # at once, not one by one
    return np.column_stack([column.numbers() for column in Column.of(X, positions)])


def known_codes(values: Array, levels: Array) -> Array:
    """Codes among the levels seen at fit."""
    fresh, codes = level_codes(values)
    zero, earlier = ZERO_LEVELS
    if earlier in levels and zero not in levels:
        fresh = np.where(fresh == zero, earlier, fresh)
    place = np.searchsorted(levels, fresh) if len(levels) else np.zeros(len(fresh), dtype=int)
    place = np.minimum(place, max(len(levels) - 1, 0))
    known = levels[place] == fresh if len(levels) else np.zeros(len(fresh), bool)
    table = np.append(np.where(known, place, UNSEEN), MISSING)  # code -1 is the last entry
    return table[codes.astype(int)]


def is_numeric_frame(X: Rows) -> bool:
    """Whether X is a pandas frame of numbers, which become an array at once."""
    return is_pandas(X) and all(type_kind(dtype) == "number" for dtype in set(frame_types(X)))


def finite(numbers: Array) -> Array:
    """Numbers without infinite ones, missing ones all alike to the bit."""
    if np.isinf(numbers).any():
        raise ValueError(
            "X has infinite numbers (inf). Replace them by NaN, which stands for a missing number, "
            "or by a large number."
        )
    check_magnitude(numbers)
    missing = np.isnan(numbers)  # of which there are many to the bit, and rows are keyed by bits
    return np.where(missing, np.nan, numbers) if missing.any() else numbers


def coded(numbers: Rows, codes: Array | None = None) -> Table:
    """Columns of numbers, then columns of codes."""
    codes = np.empty((numbers.shape[0], 0)) if codes is None else codes
    m = numbers.shape[1]
    return Table(None, numbers, codes, np.r_[np.arange(m), -1 - np.arange(codes.shape[1])])


def as_rectangle(X: Rows) -> Rows:
    """Lists and object arrays as arrays; frames, arrays and sparse matrices as they are."""
    if is_sparse(X) or is_frame(X) or isinstance(X, Table):
        return X
    A = as_array(X, "X")
    if A.dtype.kind in "OUS":
        return _as_numbers_or_objects(A)
    check_numbers(A, "X")
    return A


def _as_numbers_or_objects(A: Array) -> Array:
    """An array of objects or strings as numbers if all of them are, else as objects."""
    try:
        return A.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return A.astype(object)
