"""Rows in Parquet files, read by row groups."""

import os
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.block import Block
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.kinds import column_kind, type_kind
from kernel_learn.streams.blocks import Identity, file_identity, source_text
from kernel_learn.streams.derived import Derivable, take_block
from kernel_learn.streams.files import check_target_apart, choose_columns, path_of
from kernel_learn.streams.readers.input_files import InputFile
from kernel_learn.streams.readers.parquet_files import need_parquet, open_parquet, read_batches


class ParquetSource(Derivable):
    """Rows of a Parquet file, or of all ``.parquet`` files of a folder in the order of their names.

    Only the columns that are asked for are read, a few thousand rows at a time.

    Parameters
    ----------
    path : path
        A file or a folder (its subfolders too).
    target : str or list of str, default=None
        The column of the labels, numbers or texts; of the values, several.
    columns : list of str, default=None
        Columns of the rows; None: all but the target and the weights.
    weight : str, default=None
        The column of the weights.

    Attributes
    ----------
    n_rows : int
        Number of rows, from the files' own tables of contents.

    Notes
    -----
    Where all columns are floats of one type the rows are an array of it; other numbers become
    float64; anything else gives a frame (Arrow), for kernels on named columns. A missing value
    is refused with its block and row. Needs the extra ``parquet``.
    """

    rewinds = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        target: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
    ) -> None:
        need_parquet()
        self.path = path_of(path, "Parquet file")
        self.files = [self.path] if self.path.is_file() else sorted(self.path.rglob("*.parquet"))
        if not self.files:
            raise FileNotFoundError(f"There is no Parquet file in {os.fspath(path)!r}.")
        self.targets = [target] if isinstance(target, str) else list(target or [])
        self.is_single, self.weight = isinstance(target, str), weight
        with self._open(self.files[0]) as file:
            self.names = file.schema_arrow.names
        wanted = choose_columns(self.names, columns, None, weight, self.files[0])
        choose_columns(self.names, self.targets, None, None, self.files[0])
        if columns is not None:
            for name in self.targets:
                check_target_apart(wanted, name)
        self.columns = [name for name in wanted if name not in self.targets]
        self.beside: tuple[str, ...] = ()

    def with_beside(self, name: str) -> Self:
        """The same with a column of the files beside the rows."""
        own = copy(self)
        own.beside = (*self.beside, name)
        return own

    def __repr__(self) -> str:
        target = self.targets[0] if self.is_single else self.targets
        return source_text(self, self.path, self.n_rows, len(self.columns), target)

    @property
    def row_bytes(self) -> float:
        """Bytes of a row of numbers, about."""
        return 8.0 * len(self.columns)

    @cached_property
    def n_rows(self) -> int:
        """Rows of all files, from their footers."""
        return sum(table.num_rows for table in self._contents())

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        for number in range(len(self.files)):
            yield from self.read_file(number, rows)

    @property
    def seeks(self) -> bool:
        """Rows of weight zero are not counted, so there must be no weights."""
        return self.weight is None

    def read_from(self, start: int, rows: int) -> Iterator[Block]:
        """The rows from number ``start`` on: row groups before it are not read."""
        groups: dict[int, list[int]] = {}
        for number, group, size in self.row_groups():
            if not groups and start >= size:
                start -= size
            else:
                groups.setdefault(number, []).append(group)
        for number, own in groups.items():
            for block in self.read_file(number, rows, own):
                passed = min(start, len(block.X))  # of the first row group
                start -= passed
                if passed < len(block.X):
                    yield take_block(block, np.arange(passed, len(block.X)))

    def _contents(self) -> Iterator[Frame]:
        """The tables of contents of the files."""
        for path in self.files:
            with self._open(path) as file:
                yield file.metadata

    @staticmethod
    def _open(path: Path) -> Frame:
        return open_parquet(InputFile(str(path)))

    def row_groups(self) -> list[tuple[int, int, int]]:
        """(file, row group, rows) of each row group, in order."""
        return [
            (number, group, table.row_group(group).num_rows)
            for number, table in enumerate(self._contents())
            for group in range(table.num_row_groups)
        ]

    def count_groups(self, number: int) -> int:
        """How many row groups one of the files has now."""
        with self._open(self.files[number]) as file:
            return int(file.metadata.num_row_groups)

    def read_file(
        self,
        number: int,
        rows: int,
        groups: list[int] | None = None,  # row groups, None for all
    ) -> Iterator[Block]:
        """The rows of one of the files."""
        extra = [*self.targets, *([self.weight] if self.weight else [])]
        wanted = list(dict.fromkeys([*self.columns, *extra, *self.beside]))
        path = self.files[number]
        with self._open(path) as file:
            choose_columns(file.schema_arrow.names, wanted, None, None, path)
            options = {} if groups is None else {"row_groups": groups}
            batches = file.iter_batches(batch_size=rows, columns=wanted, **options)
            for batch in read_batches(InputFile(str(path)), batches):
                yield self._block(batch)

    def _block(self, batch: Frame) -> Block:
        y = None
        if self.targets:
            values = [column_array(batch.column(name)) for name in self.targets]
            y = values[0] if self.is_single else np.column_stack(values)
        weight = None if self.weight is None else column_array(batch.column(self.weight))
        beside = {name: column_array(batch.column(name)) for name in self.beside}
        return Block(self._rows(batch), y, weight).put_beside(beside)

    def _rows(self, batch: Frame) -> Rows:
        columns = [batch.column(name) for name in self.columns]
        types = {str(column.type) for column in columns}
        if not all(type_kind(own) in ("number", "boolean") for own in types):
            import pyarrow

            return pyarrow.Table.from_batches([batch.select(self.columns)])  # which has names
        dtype = np.float32 if types == {"float"} else np.float64
        X = np.empty((batch.num_rows, len(columns)), dtype=dtype)
        for j, column in enumerate(columns):
            X[:, j] = column_array(column)
        return X

    def identity(self) -> Identity:
        """What tells this source from another."""
        return {
            **file_identity(self.files),
            "columns": self.columns,
            "target": self.targets,
            "weight": self.weight,
        }


def column_array(column: FrameColumn) -> Array:
    """Numbers with NaN, or objects with None, where a value is missing."""
    kind = column_kind(column)
    if str(column.type).startswith("decimal"):
        column = column.cast("float64")
    if kind == "number" or (kind == "boolean" and column.null_count == 0):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if kind == "category":
        column = column.dictionary_decode()
    return np.array(column.to_pylist(), dtype=object)
