"""Rows of several named columns as arrays: what is kept of a data frame."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_plain, is_sparse
from kernel_learn.rows.coerce import as_numbers
from kernel_learn.rows.frames import (
    FrameColumn,
    Picked,
    column_numbers,
    column_objects,
    frame_column,
    frame_names,
    is_frame,
    is_pandas,
)
from kernel_learn.rows.kinds import column_kind


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers side by side in one array, columns of anything else in another.

    Column c is ``numbers[:, place[c]]`` if ``place[c] >= 0``, else
    ``others[:, -1 - place[c]]``; both keep the order of the columns. Kernels
    trust a table: what they use of it was checked when it was made.
    """

    names: tuple[str, ...] | None  # of the columns, if they have any
    numbers: Rows  # (n, m) float32 or float64, dense or CSR
    others: Array  # (n, d - m) objects, or codes of categories
    place: Array  # (d,)

    @classmethod
    def of(cls, X: Rows, numeric: Iterable[int] = ()) -> Self:
        """The columns of a frame, array or sparse matrix; ``numeric`` ones are to be numbers."""
        if isinstance(X, cls):
            return X
        if is_sparse(X) or is_plain(X):
            X = X.tocsr() if is_sparse(X) else X
            numbers = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
            return cls(None, numbers, np.empty((X.shape[0], 0), object), np.arange(X.shape[1]))
        names, columns = split_columns(X)
        wanted = set(numeric)
        is_number = [c in wanted or column.dtype.kind in "biuf" for c, column in enumerate(columns)]
        numbers = [
            as_numbers(columns[c], f"Column {names[c] if names else c!r} of X")
            for c in np.flatnonzero(is_number)
        ]
        single = bool(numbers) and all(
            columns[c].dtype == np.float32 for c in np.flatnonzero(is_number)
        )
        n = len(columns[0]) if columns else 0
        table = np.empty((n, len(numbers)), np.float32 if single else np.float64)
        for position, values in enumerate(numbers):
            table[:, position] = values
        others = np.empty((n, len(columns) - len(numbers)), object)
        for position, c in enumerate(np.flatnonzero(np.logical_not(is_number))):
            others[:, position] = columns[c]
        return cls(names, table, others, places(np.array(is_number, dtype=bool)))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self.place)

    @property
    def dtype(self) -> np.dtype:
        return self.numbers.dtype

    @property
    def nbytes(self) -> int:
        own = self.numbers.data if is_sparse(self.numbers) else self.numbers
        return int(own.nbytes) + int(self.others.nbytes)

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    def __getitem__(self, rows: Picked | str) -> Rows:
        """Some of the rows; the values of one column if its name is given."""
        if isinstance(rows, str):
            assert self.names is not None, "the columns of this table have no names"
            return self.column(self.names.index(rows))
        return replace(self, numbers=self.numbers[rows], others=self.others[rows])

    def column(self, c: int) -> Array:
        place = int(self.place[c])
        if place < 0:
            return self.others[:, -1 - place]
        values = self.numbers[:, [place]]
        return np.asarray(values.toarray() if is_sparse(values) else values)[:, 0]

    def select(self, columns: Picked) -> "Table":
        """Some of the columns, by position."""
        place = self.place[columns]
        kept, left = place[place >= 0], -1 - place[place < 0]
        names = None if self.names is None else tuple(np.array(self.names, object)[columns])
        all_of_them = np.array_equal(kept, np.arange(self.numbers.shape[1]))
        numbers = self.numbers if all_of_them else self.numbers[:, kept]
        return Table(names, numbers, self.others[:, left], places(place >= 0))

    def matrix(self) -> Rows:
        """All columns as numbers, (n, d)."""
        if self.others.shape[1] == 0:
            return self.numbers
        columns = [np.asarray(self.column(c), np.float64) for c in range(len(self.place))]
        return np.column_stack(columns)

    def cells(self) -> Array:
        """All columns as they are, (n, d): objects if any holds others than numbers."""
        if self.others.shape[1] == 0:
            return np.asarray(self.numbers)
        return np.column_stack([self.column(c).astype(object) for c in range(len(self.place))])

    def texts(self) -> Array:
        """The values of the only column."""
        return np.asarray(self.column(0), dtype=object)

    def astype(self, dtype: DTypeLike) -> "Table":
        return replace(self, numbers=self.numbers.astype(dtype))


def vectors_of(X: Rows) -> Rows:
    """Rows of numbers as one array or sparse matrix, (n, d); of a table all columns are numbers."""
    return X.matrix() if isinstance(X, Table) else X


def as_in(X: Rows, vectors: Rows) -> Rows:
    """Vectors (m, d) as rows of the kind of X: in its table, under the names of its columns."""
    if not isinstance(X, Table):
        return vectors
    return Table(X.names, vectors, np.empty((vectors.shape[0], 0), object), np.arange(X.shape[1]))


def places(is_number: Array) -> Array:
    """``place`` of columns of which these are numbers, each kind in the order of the columns."""
    return np.where(is_number, np.cumsum(is_number) - 1, -np.cumsum(~is_number))


def column_names(X: Rows) -> list[str]:
    """Names of the columns of a table or frame; none for what has no names."""
    if isinstance(X, Table):
        return list(X.names or ())
    return frame_names(X) if is_frame(X) else []


def column_values(values: FrameColumn) -> Array:
    """A frame's column as an array: of its own type if pandas', else numbers or objects."""
    if is_pandas(values):
        return np.asarray(values.to_numpy())
    return column_numbers(values) if column_kind(values) == "number" else column_objects(values)


def split_columns(X: Rows) -> tuple[tuple[str, ...] | None, list[Array]]:
    """Names and values of the columns of a frame or an array of objects."""
    if is_frame(X):
        columns = [column_values(frame_column(X, c)) for c in range(X.shape[1])]
        return tuple(column_names(X)), columns
    values = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    return None, list(values.T)
