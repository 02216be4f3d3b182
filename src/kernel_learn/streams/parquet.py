"""Rows in Parquet files, read by row groups."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kernel_learn.streams.blocks import RawBlock, file_identity
from kernel_learn.streams.files import check_target, choose_columns


class ParquetSource:
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
        self._parquet = need_parquet()
        self.path = Path(path)
        self.files = [self.path] if self.path.is_file() else sorted(self.path.rglob("*.parquet"))
        if not self.files:
            raise FileNotFoundError(f"There is no Parquet file in {os.fspath(path)!r}.")
        self.targets = [target] if isinstance(target, str) else list(target or [])
        self.is_single, self.weight = isinstance(target, str), weight
        check_parquet(self.files[0])
        names = self._parquet.read_schema(self.files[0]).names
        wanted = choose_columns(names, columns, None, weight, self.files[0])
        choose_columns(names, self.targets, None, None, self.files[0])
        if columns is not None:
            for name in self.targets:
                check_target(wanted, name)
        self.columns = [name for name in wanted if name not in self.targets]

    @property
    def row_bytes(self) -> float:
        """Bytes of a row of numbers, about."""
        return 8.0 * len(self.columns)

    @cached_property
    def n_rows(self) -> int:
        """Rows of all files, from their footers."""
        return sum(self._parquet.read_metadata(file).num_rows for file in self.files)

    def read(self, rows: int) -> Iterator[RawBlock]:
        """All rows from the start, about ``rows`` at a time."""
        for number in range(len(self.files)):
            yield from self.read_file(number, rows)

    @property
    def seeks(self) -> bool:
        """Rows of weight zero are not counted, so there must be no weights."""
        return self.weight is None

    def read_from(self, start: int, rows: int) -> Iterator[RawBlock]:
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
                    yield RawBlock(*(None if part is None else part[passed:] for part in block))

    def row_groups(self) -> list[tuple[int, int, int]]:
        """(file, row group, rows) of each row group, in order."""
        tables = [self._parquet.read_metadata(file) for file in self.files]
        return [
            (number, group, table.row_group(group).num_rows)
            for number, table in enumerate(tables)
            for group in range(table.num_row_groups)
        ]

    def read_file(
        self,
        number: int,
        rows: int,
        groups: list[int] | None = None,  # row groups, None for all
    ) -> Iterator[RawBlock]:
        """The rows of one of the files."""
        extra = [*self.targets, *([self.weight] if self.weight else [])]
        wanted = list(dict.fromkeys([*self.columns, *extra]))
        path = self.files[number]
        check_parquet(path)
        with self._parquet.ParquetFile(path) as file:
            choose_columns(file.schema_arrow.names, wanted, None, None, path)
            options = {} if groups is None else {"row_groups": groups}
            for batch in file.iter_batches(batch_size=rows, columns=wanted, **options):
                yield self._block(batch)

    def _block(self, batch: Any) -> RawBlock:
        y = None
        if self.targets:
            values = [column_array(batch.column(name)) for name in self.targets]
            y = values[0] if self.is_single else np.column_stack(values)
        weight = None if self.weight is None else column_array(batch.column(self.weight))
        return RawBlock(self._rows(batch), y, weight)

    def _rows(self, batch: Any) -> Any:
        columns = [batch.column(name) for name in self.columns]
        kinds = {str(column.type) for column in columns}
        if not all(is_number(kind) for kind in kinds):
            import pyarrow

            return pyarrow.Table.from_batches([batch.select(self.columns)])  # which has names
        dtype = np.float32 if kinds == {"float"} else np.float64
        X = np.empty((batch.num_rows, len(columns)), dtype=dtype)
        for j, column in enumerate(columns):
            X[:, j] = column_array(column)
        return X

    def identity(self) -> dict[str, Any]:
        """What tells this source from another."""
        return {
            **file_identity(self.files),
            "columns": self.columns,
            "target": self.targets,
            "weight": self.weight,
        }


def is_number(kind: str) -> bool:
    """Whether Arrow's name of a type is one of a number."""
    return kind.startswith(("int", "uint", "float", "double", "halffloat", "bool"))


def column_array(column: Any) -> Any:
    """Numbers with NaN, or objects with None, where a value is missing."""
    if is_number(str(column.type)) and str(column.type) != "bool":
        return column.to_numpy(zero_copy_only=False)
    if str(column.type) == "bool" and column.null_count == 0:
        return column.to_numpy(zero_copy_only=False)
    if str(column.type).startswith("dictionary"):
        column = column.dictionary_decode()
    return np.array(column.to_pylist(), dtype=object)


def check_parquet(path: Path) -> None:
    """Refuse a file that does not begin as Parquet files do."""
    with path.open("rb") as file:
        if file.read(4) not in (b"PAR1", b"PARE"):
            raise ValueError(f"{path} is not a Parquet file: it does not begin like one.")


def need_parquet() -> Any:
    """pyarrow.parquet, or an error that names the extra."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files are read by pyarrow. Install it: pip install kernel-learn[parquet]"
        ) from error
    return pyarrow.parquet
