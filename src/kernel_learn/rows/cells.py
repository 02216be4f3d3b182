"""The cells of a column in one form, whatever holds them: numbers, times, or levels.

An array of objects, a frame of pandas, polars or Arrow, and a block of any of them give the same
cells. What a column is shows in its type or, where it has none, in its entries: all of them are
of one kind, and a column of several kinds is refused unless it is called a category.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from numbers import Real
from typing import Literal

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.rows.access import is_plain, is_sparse
from kernel_learn.rows.codes import ColumnChoice, entry_text
from kernel_learn.rows.coerce import Entry, as_array
from kernel_learn.rows.columns import Column, finite, named_columns, warn_of_written_numbers
from kernel_learn.rows.frames import FrameColumn, frame_columns, is_frame, is_pandas
from kernel_learn.rows.keys import hash_texts, is_missing, row_keys
from kernel_learn.rows.table import Table, places

# "empty": nothing but missing cells, so that other rows say what the column is.
CellKind = Literal["number", "date", "category", "empty"]
WORDS = {"number": "numbers", "date": "dates", "category": "texts"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: numbers (of a date seconds since 1970, NaN if missing), or levels and codes."""

    name: str | int
    kind: CellKind
    numbers: Array | None = None  # (n,)
    levels: tuple[str, ...] = ()
    codes: Array | None = None  # (n,) places among the levels, -1 if missing

    def __len__(self) -> int:
        values = self.codes if self.numbers is None else self.numbers
        assert values is not None
        return len(values)

    @property
    def missing(self) -> Array:
        """(n,) where cells are missing."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.codes is not None
        return np.asarray(self.codes < 0)

    @property
    def hashes(self) -> Keys:
        """(n,) 64 bits for each cell of a category; zero if it is missing."""
        known = np.append(hash_texts(level.encode() for level in self.levels), np.uint64(0))
        return known[self.codes]


def read_columns(
    X: Rows, categorical: ColumnChoice = "auto", *, fitting: bool = False
) -> list[Cells]:
    """The columns of an array or frame; those that ``categorical`` names are categories.

    ``fitting``: warn of texts that are numbers.
    """
    X = as_columns(X)
    chosen = named_columns(categorical, X)
    columns = Column.of(X, np.arange(X.shape[1]))
    cells = [read_cells(column, named=c in chosen) for c, column in enumerate(columns)]
    if fitting:
        for c, (column, own) in enumerate(zip(columns, cells, strict=True)):
            if own.kind == "category" and column.kind != "category" and c not in chosen:
                warn_of_written_numbers(own.name, [level[1:] for level in own.levels])
    return cells


def as_columns(X: Rows) -> Rows:
    """Lists as arrays; refuses sparse rows and what has no columns."""
    if is_sparse(X):
        raise TypeError(
            "X is a sparse matrix, and its columns are read one by one here. Sparse data are "
            "scaled by MaxAbsScaler, and X.toarray() is dense."
        )
    X = X if is_frame(X) else as_array(X, "X")
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(X.shape)}D array instead: rows have several columns. "
            "Reshape your data using array.reshape(-1, 1) if it has one."
        )
    if is_frame(X) or is_plain(X) or X.dtype.kind in "OUSmM":
        return X
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers.")
    raise ValueError(f"X is an array of {X.dtype}; rows are numbers, texts, dates or objects.")


def read_cells(column: Column, *, named: bool = False) -> Cells:
    """One column; ``named``: the user calls it a category."""
    kind, values = column.kind, column.values
    if kind == "category" or named:
        return _levels(column.name, *distinct_entries(values))
    if kind in ("number", "boolean"):
        return _number_cells(column.name, _plain_numbers(column))
    if kind in ("date", "duration") and (times := _clock_array(values)) is not None:
        return _dated(column.name, times)
    if kind in ("list", "complex"):
        raise ValueError(
            f"Column {column.name!r} holds {kind}s; an entry must be a number, a text or a date. "
            "Make several columns of it, or leave it out."
        )
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return _dated(column.name, values)
    return _by_entries(column.name, *distinct_entries(values))


def _by_entries(name: str | int, entries: list[Entry], codes: Array) -> Cells:
    """A column without a type: all that are not missing are of one kind."""
    kinds = {_entry_kind(name, entry) for entry in entries}
    if not kinds:
        return Cells(name, "empty", np.full(len(codes), np.nan))
    if len(kinds) > 1:
        found = " and ".join(sorted(WORDS[kind] for kind in kinds))
        raise ValueError(
            f"Column {name!r} holds {found}. Make them all alike, or name the column in "
            "categorical= if its entries are levels."
        )
    kind = kinds.pop()
    if kind == "category":
        return _levels(name, entries, codes)
    numbers = np.array([_as_number(entry) for entry in entries] + [np.nan])
    return Cells(name, kind, finite(numbers)[codes])


def _entry_kind(name: str | int, entry: Entry) -> CellKind:
    if isinstance(entry, str | bytes):
        return "category"
    if isinstance(entry, date | time | np.datetime64):  # a datetime is a date
        return "date"
    if isinstance(entry, Real | timedelta | np.timedelta64 | np.bool_):
        return "number"
    try:
        float(entry)  # Decimal and its kin
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {name!r} holds a {type(entry).__name__}; an entry must be a number, a text or "
            "a date. Make several columns of it, or leave it out."
        ) from error
    return "number"


def _as_number(entry: Entry) -> float:
    """A number, or the seconds of a date or a duration."""
    if isinstance(entry, datetime):
        return (entry.replace(tzinfo=entry.tzinfo or UTC) - EPOCH).total_seconds()
    if isinstance(entry, date):
        return float((entry - EPOCH.date()).days) * 86400.0
    if isinstance(entry, time):
        return entry.hour * 3600.0 + entry.minute * 60.0 + entry.second + entry.microsecond / 1e6
    if isinstance(entry, timedelta):
        return entry.total_seconds()
    if isinstance(entry, np.datetime64 | np.timedelta64):
        return float(_seconds(np.array([entry]))[0])
    return float(entry)


def _levels(name: str | int, entries: list[Entry], codes: Array) -> Cells:
    texts = [entry_text(entry) for entry in entries]
    levels = sorted(set(texts))
    place = {level: c for c, level in enumerate(levels)}
    recode = np.array([place[text] for text in texts] + [-1])
    return Cells(name, "category", None, tuple(levels), recode[codes])


def _number_cells(name: str | int, values: Array) -> Cells:
    return Cells(name, "number", finite(values))


def _plain_numbers(column: Column) -> Array:
    values = column.values
    if column.kind == "boolean" and not isinstance(values, np.ndarray) and not is_pandas(values):
        options = {"zero_copy_only": False} if hasattr(values, "to_pylist") else {}  # Arrow's
        return np.array(values.to_numpy(**options), dtype=np.float64)
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    return column.numbers()


def _dated(name: str | int, times: Array) -> Cells:
    return Cells(name, "date" if times.dtype.kind == "M" else "number", _seconds(times))


def _seconds(times: Array) -> Array:
    """Dates as seconds since 1970, or durations as seconds; NaN where there is none."""
    unit = "datetime64[us]" if times.dtype.kind == "M" else "timedelta64[us]"
    found = times.astype(unit)
    return np.where(np.isnat(found), np.nan, found.astype(np.int64) / 1e6)


def _clock_array(values: FrameColumn) -> Array | None:
    """A frame's column of dates or durations as an array, in UTC; None if it is objects."""
    if is_pandas(values):
        if hasattr(values.dtype, "freq"):  # periods, which begin somewhere
            values = values.dt.to_timestamp()
        if getattr(values.dtype, "tz", None) is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        found = np.asarray(values.to_numpy())
    else:
        options = {"zero_copy_only": False} if hasattr(values, "to_pylist") else {}  # Arrow's
        found = np.asarray(values.to_numpy(**options))
    return found if found.dtype.kind in "mM" else None


def distinct_entries(values: FrameColumn) -> tuple[list[Entry], Array]:
    """(entries, codes): each entry once, in any order, and where it stands; missing is -1."""
    if hasattr(values, "dictionary_encode"):  # Arrow's
        return _arrow_entries(values)
    if is_pandas(values):
        import pandas

        codes, entries = pandas.factorize(values, use_na_sentinel=True)
        return _without_missing(entries.tolist(), codes)
    found: dict[Entry, int] = {}
    items = values.tolist() if hasattr(values, "tolist") else values.to_list()
    codes = np.fromiter((found.setdefault(one, len(found)) for one in items), int, len(items))
    return _without_missing(list(found), codes)


def _arrow_entries(values: FrameColumn) -> tuple[list[Entry], Array]:
    entries: dict[Entry, int] = {}
    parts = []
    for chunk in getattr(values, "chunks", [values]):
        coded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        own = [entries.setdefault(one, len(entries)) for one in coded.dictionary.to_pylist()]
        place = np.array([*own, -1])
        parts.append(place[np.asarray(coded.indices.fill_null(len(own)))])
    codes = np.concatenate(parts) if parts else np.empty(0, int)
    return _without_missing(list(entries), codes)


def _without_missing(entries: Iterable[Entry], codes: Array) -> tuple[list[Entry], Array]:
    """The same with the code -1 for all marks of a missing cell."""
    kept: list[Entry] = []
    place: list[int] = []
    for entry in entries:
        gone = is_missing(entry) or (isinstance(entry, np.datetime64) and np.isnat(entry))
        place.append(-1 if gone else len(kept))
        if not gone:
            kept.append(entry)
    return kept, np.array([*place, -1])[codes]


def content_keys(X: Rows) -> Keys:
    """A 64-bit key of each row's cells: the same for arrays and frames of every library.

    A missing cell counts as zero: whether its column is one of numbers or of texts may show in
    other blocks alone.
    """
    if is_sparse(X):
        return row_keys(X)
    if is_plain(X):
        return row_keys(np.nan_to_num(X, nan=0.0, posinf=np.inf, neginf=-np.inf))
    columns = read_columns(X)
    is_number = np.array([own.codes is None for own in columns], dtype=bool)
    n = X.shape[0]
    numbers = np.empty((n, int(is_number.sum())))
    hashes = np.empty((n, len(columns) - numbers.shape[1]), dtype=np.uint64)
    place = places(is_number)
    for p, own in zip(place.tolist(), columns, strict=True):
        if own.numbers is not None:
            numbers[:, p] = np.where(np.isnan(own.numbers), 0.0, own.numbers)
        else:
            hashes[:, -1 - p] = own.hashes
    return row_keys(Table(None, numbers, hashes, place))


def column_keys(X: Rows, c: int) -> Keys:
    """A 64-bit key of each row's cell of column c alone."""
    return content_keys(X[:, c : c + 1] if is_plain(X) else _one_column(X, c))


def _one_column(X: Rows, c: int) -> Rows:
    return frame_columns(X, [c]) if is_frame(X) else as_array(X, "X")[:, c : c + 1]
