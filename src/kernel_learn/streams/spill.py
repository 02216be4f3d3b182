"""Rows on disk: cells written once as they come, then mapped into memory."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse

# Rows may take this share of what is free on the disk.
DISK_SHARE = 0.5


class DiskIsShort(Exception):
    """There is no room for the rows: something else must be done than to write them."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone at the end; there may be no place for one."""
    try:
        made = tempfile.TemporaryDirectory(prefix="kernel-learn-")
    except OSError as error:
        raise DiskIsShort(f"no temporary folder can be made: {error.strerror}") from error
    with made as folder:
        yield Path(folder)


class Spill:
    """Cells of rows in files of a folder; dense ones in one file, sparse ones in two."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.room = DISK_SHARE * shutil.disk_usage(folder).free
        self.n_rows = self.n_bytes = self.n_columns = 0
        self.is_sparse = False
        self._ends = [np.zeros(1, dtype=np.int64)]  # of sparse rows

    def ask_for(self, n_bytes: float) -> None:
        """Refuse more than the disk has room for."""
        if n_bytes > self.room:
            raise DiskIsShort(f"{n_bytes:.3g} bytes, and {self.room:.3g} may be taken")

    def add(self, cells: Rows) -> None:
        """Write some rows below those that are there."""
        self.is_sparse, self.n_columns = is_sparse(cells), int(cells.shape[1])
        parts: dict[str, Array] = {"cells": cells}
        if self.is_sparse:
            self._ends.append(self._ends[-1][-1] + cells.indptr[1:].astype(np.int64))
            parts = {"data": cells.data, "columns": cells.indices.astype(np.int32)}
        for name, values in parts.items():
            content = np.ascontiguousarray(values).tobytes()
            self.ask_for(self.n_bytes + len(content))
            try:
                with (self.folder / f"{name}.bin").open("ab") as file:
                    file.write(content)
            except OSError as error:
                raise DiskIsShort(str(error)) from error
            self.n_bytes += len(content)
        self.n_rows += int(cells.shape[0])

    def rows(self) -> Rows:
        """All rows, mapped into memory."""
        if not self.is_sparse:
            shape = (self.n_rows, self.n_columns)
            return np.memmap(self.folder / "cells.bin", np.float64, "r", shape=shape)
        ends = np.concatenate(self._ends)
        if ends[-1] >= 2**31:
            raise DiskIsShort(f"{ends[-1]} entries of sparse rows are more than SciPy indexes")
        data, columns = (
            np.memmap(self.folder / f"{name}.bin", dtype, "r", shape=(int(ends[-1]),))
            for name, dtype in (("data", np.float64), ("columns", np.int32))
        )
        found = sparse.csr_matrix((self.n_rows, self.n_columns))
        found.data, found.indices, found.indptr = data, columns, ends.astype(np.int32)
        return found
