"""Tables and views of rows on the disk: any of them read when they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.views import TableView
from kernel_learn.rows.access import is_sparse, row_blocks
from kernel_learn.rows.columns import CellLayout
from kernel_learn.rows.table import Table

BLOCK_ENTRIES = 2**20


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
