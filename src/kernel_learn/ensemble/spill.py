"""Rows on disk: cells written once as they come, then any of them read as a table."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.views import TableView
from kernel_learn.rows.access import is_sparse, row_blocks
from kernel_learn.rows.columns import CellLayout
from kernel_learn.rows.table import Table

# Rows may take this share of what is free on the disk.
DISK_SHARE = 0.5
BLOCK_ENTRIES = 2**20


class DiskIsShort(Exception):
    """There is no room for the rows: something else must be done than to write them."""


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


@dataclass(frozen=True, eq=False)
class SpilledTable:
    """Distinct rows of a table, read from the disk when they are asked for."""

    cells: Rows  # mapped into memory
    first: Array  # (n,) where among them each distinct row stands
    layout: CellLayout

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.first), int(self.cells.shape[1])

    def __getitem__(self, rows: Any) -> Table:
        at = self.first[rows]
        order = np.argsort(at, kind="stable")  # a disk is read in its order
        found = self.cells[at[order]]
        found = found if is_sparse(found) else np.asarray(found)
        return self.layout.table(found[np.argsort(order)])


@dataclass(frozen=True, eq=False)
class SpilledView:
    """The rows of such a table in a view, in float32 as the model will hold them."""

    view: TableView
    table: SpilledTable

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape[0], len(self.view.owner)

    def __getitem__(self, rows: Any) -> Rows:
        return self.single(rows).astype(np.float64)

    def single(self, rows: Any) -> Rows:
        """Some rows in float32."""
        return self.view.rows(self.table[rows]).astype(np.float32)

    def in_memory(self) -> Rows:
        """All rows, in float32."""
        n, d = self.shape
        blocks = row_blocks(n, max(1, BLOCK_ENTRIES // max(d, 1)))
        if is_sparse(self.table.cells):
            return sparse.vstack([self.single(rows) for rows in blocks], format="csr")
        found = np.empty((n, d), dtype=np.float32)
        for rows in blocks:
            found[rows] = self.single(rows)
        return found


def in_memory(views: Mapping[str, Rows]) -> dict[str, Rows]:
    """Rows of views, those on disk read."""
    return {
        name: rows.in_memory() if isinstance(rows, SpilledView) else rows
        for name, rows in views.items()
    }
