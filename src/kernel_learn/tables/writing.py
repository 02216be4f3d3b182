"""Files that are whole or not there, and tables to files."""

import io
import os
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.atomic_write import atomic_write
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.streams.readers import TableError, need_pandas

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl")
# What spreadsheets take a cell for a formula by; some skip a tab or the end of a line before it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def check_output(path: str | None, *suffixes: str) -> None:
    """Refuse, before any work, what could not be written at its end."""
    if path is None or path == "-":
        return
    file = Path(path)
    if suffixes and file.suffix.lower() not in suffixes:
        raise TableError(f"{path!r}: the name must end in {' or '.join(suffixes)}.")
    if file.is_dir():
        raise TableError(f"{path!r} is a folder; give the name of a file.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"The folder of {path!r} cannot be made: {error.strerror}.") from error
    if not os.access(file.parent, os.W_OK):
        raise TableError(f"{path!r} cannot be written: its folder is not writable.")


def write_table(blocks: Iterator[Frame], path: str, exact: Container[str] = ()) -> int:
    """Blocks of a table to a file by its suffix, or as CSV to ``-``; how many rows.

    Figures have ten digits as text; the cells of ``exact`` columns are written as they are.
    """
    if path == "-":
        return _write_text(blocks, sys.stdout, ".csv", exact)
    suffix = Path(path).suffix.lower()
    with atomic_write(path) as part:
        if suffix == ".parquet":
            return _write_parquet(blocks, part)
        with part.open("w", encoding="utf-8", newline="") as file:
            return _write_text(blocks, file, suffix, exact)


def _write_text(blocks: Iterator[Frame], file: IO[str], suffix: str, exact: Container[str]) -> int:
    rows = 0
    for block in blocks:
        if suffix == ".jsonl":
            text = block.to_json(
                orient="records", lines=True, force_ascii=False, double_precision=15
            )
            file.write(text if text.endswith("\n") else text + "\n")
        else:
            block = block.assign(**{name: as_text(block[name]) for name in block if name in exact})
            out = io.StringIO()
            sep = "\t" if suffix == ".tsv" else ","
            look = {"sep": sep, "lineterminator": "\n", "float_format": "%.10g"}
            block.to_csv(out, index=False, header=rows == 0, **look)
            file.write(out.getvalue())
        rows += len(block)
    return rows


def as_text(column: FrameColumn) -> FrameColumn:
    """Floats as the shortest text that reads as they do, whole ones without a point.

    A file of text that rounds them makes two identifiers one.
    """
    if column.dtype.kind != "f":
        return column
    return column.astype(object).map(_float_text, na_action="ignore")


def _float_text(value: float) -> str:
    return str(int(value)) if value % 1 == 0 and abs(value) < 2**53 else repr(float(value))


def without_formulas(column: Array | list[object]) -> Array | list[object]:
    """A column in which texts that a spreadsheet would run have an apostrophe in front."""
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OUT":
        return column
    return [
        f"'{own}" if isinstance(own, str) and own.startswith(FORMULA) else own for own in column
    ]


def _write_parquet(blocks: Iterator[Frame], path: Path) -> int:
    need_pandas()
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rows, writer = 0, None
    try:
        for block in blocks:
            table = pa.Table.from_pandas(block, preserve_index=False)
            if writer is None:
                writer = ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
            rows += len(block)
    finally:
        if writer is not None:
            writer.close()
    return rows
