"""Results that are written block by block: .npy, CSV or Parquet, by the name of the file."""

import csv
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kernel_learn.arrays import Array, PathLike
from kernel_learn.atomic_write import atomic_write
from kernel_learn.streams.readers.parquet_files import need_parquet
from kernel_learn.streams.row_source import NoRowsError

# Bytes of the header of a .npy file that is written before its length is known.
HEADER = 128


class Names:
    """The names of the columns of a result, and the classes of an estimator."""

    def __init__(self, stem: str, columns: list[str] | None, classes: Array | None) -> None:
        self.stem, self.columns, self.classes = stem, columns, classes

    def of(self, block: Array) -> list[str]:
        """A name for each column of an array of results."""
        width = 1 if block.ndim == 1 else block.shape[1]
        if self.columns is not None and len(self.columns) == width:
            return self.columns
        return [self.stem] if block.ndim == 1 else [f"{self.stem}{c}" for c in range(width)]


def result_names(estimator: Any, method: str) -> Names:
    """Columns are named after the classes they stand for, or after the method."""
    classes = getattr(estimator, "classes_", None)
    if method == "transform":
        return Names("feature", [str(c) for c in estimator.get_feature_names_out()], None)
    if method == "predict":
        return Names("prediction", None, classes)
    return Names(method, None if classes is None else [f"{method}_{c}" for c in classes], classes)


def write_results(blocks: Iterator[Array], out: PathLike, names: Names) -> Path:
    """Write arrays one below the other into a file, which appears when it is whole."""
    target = Path(os.fspath(out))
    write = WRITERS.get(target.suffix.lower() or ".npy")
    if write is None:
        raise ValueError(
            f"out={os.fspath(out)!r}: results are written to files that end in "
            f"{', '.join(WRITERS)}."
        )
    first = next(blocks, None)
    if first is None:
        raise NoRowsError
    with atomic_write(target) as part:
        write(part, chain([first], blocks), names)
    return target


def write_npy(path: Path, blocks: Iterator[Array], names: Names) -> None:
    """The header is written last, when the number of rows is known."""
    n, first = 0, None
    with path.open("wb") as file:
        file.write(b" " * HEADER)
        for block in blocks:
            if block.dtype == object and names.classes is not None:  # labels that are texts
                block = block.astype(np.asarray(names.classes.tolist()).dtype)
            first = block[:0] if first is None else first
            file.write(np.ascontiguousarray(block, dtype=first.dtype).tobytes())
            n += len(block)
        assert first is not None
        file.seek(0)
        look = {"descr": np.lib.format.dtype_to_descr(first.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, look | {"shape": (n, *first.shape[1:])})


def write_csv(path: Path, blocks: Iterator[Array], names: Names) -> None:
    """A header, and a line for each row; numbers as they are read back."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer, is_first = csv.writer(file), True
        for block in blocks:
            if is_first:
                writer.writerow(names.of(block))
            writer.writerows(block.reshape(len(block), -1).tolist())
            is_first = False


def write_parquet(path: Path, blocks: Iterator[Array], names: Names) -> None:
    """A row group for each block."""
    need_parquet()
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    writer = None
    try:
        for block in blocks:
            columns = block.reshape(len(block), -1).T
            arrays = [pyarrow.array(own.tolist()) for own in columns]
            table = pyarrow.table(arrays, names=names.of(block))
            writer = ParquetWriter(path, table.schema) if writer is None else writer
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


WRITERS: dict[str, Callable[[Path, Iterator[Array], Names], None]] = {
    ".npy": write_npy,
    ".csv": write_csv,
    ".parquet": write_parquet,
}
