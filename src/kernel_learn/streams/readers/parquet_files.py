"""Parquet: batches of rows, for sources as they are, for tables as pandas frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from kernel_learn.rows.frames import Frame
from kernel_learn.rows.kinds import type_kind
from kernel_learn.streams.readers.input_files import InputFile, ScannedFiles, TableError, described

MAGIC = (b"PAR1", b"PARE")


@dataclass
class ParquetFiles(ScannedFiles[set[str]]):
    """Files that are one table."""

    def blocks(
        self, rows: int | None, columns: Sequence[str] | None = None
    ) -> Iterator[tuple[InputFile, Frame]]:
        """Frames of at most so many rows of one file each; None: of all of them."""
        for file in self.files:
            with described(file), open_parquet(file) as content:
                if rows is None:
                    batches = [content.read(columns=None if columns is None else list(columns))]
                else:
                    batches = content.iter_batches(rows, columns=columns and list(columns))
                for batch in batches:
                    yield file, self._frame(batch)

    def _frame(self, batch: Frame) -> Frame:
        """Whole numbers and booleans with holes are what they are in the table with its holes."""
        frame = batch.to_pandas()
        for column in batch.schema:
            if column.name not in frame.columns:
                continue  # the index of the frame that was written
            own = frame[column.name].dtype
            if str(column.type).startswith("decimal"):
                frame[column.name] = frame[column.name].astype(np.float64)
            elif column.name in self.found and isinstance(own, np.dtype) and own.kind in "iub":
                wider = object if own.kind == "b" else np.float64
                frame[column.name] = frame[column.name].astype(wider)
        return frame

    def scan(self) -> set[str]:
        """Columns of whole numbers or booleans with a missing value anywhere."""
        found: set[str] = set()
        for file in self.files:
            with described(file), open_parquet(file) as content:
                for column in content.schema_arrow:
                    kind = type_kind(column.type)
                    if kind in ("number", "boolean") and has_holes(content, column.name):
                        found.add(column.name)
        return found


def has_holes(content: Frame, name: str) -> bool:
    """Whether a column has missing values, by the file's table of contents if that says it."""
    place = content.schema_arrow.names.index(name)
    table = content.metadata
    if table.num_columns == len(content.schema_arrow.names):
        groups = range(table.num_row_groups)
        stats = [table.row_group(group).column(place).statistics for group in groups]
        if all(own is not None and own.has_null_count for own in stats):
            return any(own.null_count for own in stats)
    return bool(content.read(columns=[name]).column(0).null_count)


def open_parquet(file: InputFile) -> Frame:
    """A Parquet file, or a sentence."""
    parquet = need_parquet()
    if file.head(4) not in MAGIC:
        raise TableError(f"{file} is not a Parquet file: it does not begin like one.")
    return parquet.ParquetFile(file.open() if file.is_stdin else file.name)


def need_parquet() -> ModuleType:
    """pyarrow.parquet, or an error that names the extra."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files are read by pyarrow. Install it: pip install kernel-learn[parquet]"
        ) from error
    return pyarrow.parquet
