"""The views of a table: numbers in several ways, categories beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.ensemble.views import (
    BlockOneHot,
    ClippedScores,
    ColumnView,
    NormalScores,
    UniformScores,
    UnitRows,
    ZScores,
)
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

DENSE_VIEWS: dict[str, type[ColumnView]] = {
    "z": ZScores,
    "q": NormalScores,
    "u": UniformScores,
    "c": ClippedScores,
}
SPARSE_VIEWS: dict[str, Callable[[], UnitRows]] = {
    "z": UnitRows,
    "q": lambda: UnitRows(power=0.5),
    "c": lambda: UnitRows(scale=True),
}


@dataclass(frozen=True, eq=False)
class TableView:
    """A fitted view of some columns of a table."""

    numbers: Array  # positions among the table's numbers
    categories: Array  # positions among its categories
    of_numbers: ColumnView | UnitRows | None  # fitted; None without numbers
    of_codes: BlockOneHot | None  # fitted; None where codes stay codes or there are none
    owner: Array  # (columns of the view,) the table's own column behind each

    def rows(self, table: Table) -> Rows:
        """The table's rows in this view."""
        parts: list[Rows] = []
        if self.of_numbers is not None:
            parts.append(self.of_numbers.transform(_columns(table.numbers, self.numbers)))
        if len(self.categories):
            codes = table.others[:, self.categories]
            parts.append(codes if self.of_codes is None else self.of_codes.transform(codes))
        if len(parts) == 1:
            return parts[0]
        return sparse.hstack(parts, format="csr") if is_sparse(parts[0]) else np.hstack(parts)

    @property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the view's columns that hold codes."""
        if self.of_codes is not None or not len(self.categories):
            return ()
        return tuple(range(len(self.owner) - len(self.categories), len(self.owner)))

    @property
    def blocks(self) -> Array | None:
        """Which columns share a learned scale; None if each has its own."""
        blocks = np.unique(self.owner, return_inverse=True)[1]
        return None if len(set(blocks.tolist())) == len(blocks) else blocks


@dataclass(frozen=True, eq=False)
class RawView:
    """From rows as the user gives them to a view's rows, with its scales."""

    reader: TableReader
    view: TableView
    scales: Array | None

    def __deepcopy__(self, memo: Any) -> "RawView":
        return self  # nothing in it changes

    def transform(self, X: Any) -> Rows:
        return scale_columns(self.view.rows(self.reader.read(X)), self.scales)


def fit_view(
    kind: str, table: Table, reader: TableReader, weight: Array, columns: Array | None = None
) -> TableView:
    """Fit one view ("z", "q", "u" or "c") on some of the table's own columns, or on all."""
    numbers, categories = np.arange(len(reader.numbers)), np.arange(len(reader.categories))
    if columns is not None:
        numbers = numbers[np.isin(reader.numbers, columns)]
        categories = categories[np.isin(reader.categories, columns)]
    make = SPARSE_VIEWS[kind] if is_sparse(table.numbers) else DENSE_VIEWS[kind]
    of_numbers, of_codes = None, None
    owner = [reader.numbers[numbers]]
    if len(numbers):
        of_numbers = make().fit(_columns(table.numbers, numbers), sample_weight=weight)
    if len(categories) and kind == "u":
        owner.append(reader.categories[categories])
    elif len(categories):
        of_codes = BlockOneHot().fit(table.others[:, categories], sample_weight=weight)
        owner.append(reader.categories[categories][of_codes.blocks_])
    return TableView(numbers, categories, of_numbers, of_codes, np.concatenate(owner))


def _columns(numbers: Rows, positions: Array) -> Rows:
    return numbers if len(positions) == numbers.shape[1] else numbers[:, positions]
