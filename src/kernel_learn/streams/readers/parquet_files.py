"""Parquet: batches of rows, for sources as they are, for tables as pandas frames."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers.input_files import (
    InputFile,
    ScannedFiles,
    TableError,
    described,
    need_pandas,
)

MAGIC = (b"PAR1", b"PARE")


@dataclass
class ParquetFiles(ScannedFiles[dict[str, type]]):
    """Files that are one table."""

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        widened, names = self.found, None if columns is None else list(columns)
        with open_parquet(file) as content:
            if rows is None:
                batches = [content.read(columns=names)]
            else:
                batches = content.iter_batches(rows, columns=names)
            for batch in batches:
                frame = widen_columns(batch.to_pandas(), widened)
                yield keep_cells(frame, batch, self.as_written)

    def scan(self) -> dict[str, type]:
        """What decimals become, and whole numbers and booleans with a missing value anywhere."""
        found: dict[str, type] = {}
        for file in self.files:
            with described(file), open_parquet(file) as content:
                for place, column in enumerate(content.schema_arrow):
                    kind = str(column.type)
                    is_narrow = kind.startswith(("int", "uint", "bool"))
                    if kind.startswith("decimal") or (is_narrow and has_holes(content, place)):
                        found[column.name] = object if kind == "bool" else float
        return found


def widen_columns(frame: Frame, types: dict[str, type]) -> Frame:
    """A block without holes as the table with its holes; pandas' own types have room for them."""
    for name, own in types.items():
        if name in frame.columns and isinstance(frame[name].dtype, np.dtype):
            frame[name] = frame[name].astype(own)
    return frame


def keep_cells(frame: Frame, table: Frame, names: Container[str]) -> Frame:
    """The frame with these columns of Arrow's types, in which a missing cell alters no other."""
    own = [name for name in frame.columns if name in names]
    if not own:
        return frame
    return frame.assign(**table.select(own).to_pandas(types_mapper=need_pandas().ArrowDtype))


def has_holes(content: Frame, place: int) -> bool:
    """Whether a column has missing values, by the file's table of contents if that says it."""
    table = content.metadata
    if table.num_columns == len(content.schema_arrow.names):
        groups = range(table.num_row_groups)
        stats = [table.row_group(group).column(place).statistics for group in groups]
        if all(own is not None and own.has_null_count for own in stats):
            return any(own.null_count for own in stats)
    return bool(content.read(columns=[content.schema_arrow.names[place]]).column(0).null_count)


def open_parquet(file: InputFile) -> Frame:
    """A Parquet file, or a sentence."""
    parquet = need_parquet()
    if file.head(4) not in MAGIC:
        raise TableError(f"{file} is not a Parquet file: it does not begin like one.")
    with described(file):
        return parquet.ParquetFile(file.open() if file.is_stdin else file.name)


def read_batches(file: InputFile, batches: Iterator[Frame]) -> Iterator[Frame]:
    """The same; what pyarrow says of a damaged one names the file."""
    with described(file):
        yield from batches


def need_parquet() -> ModuleType:
    """pyarrow.parquet, or an error that names the extra."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "Parquet files are read by pyarrow. Install it: pip install kernel-learn[parquet]"
        ) from error
    return pyarrow.parquet
