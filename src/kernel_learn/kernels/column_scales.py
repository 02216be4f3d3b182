"""Columns that a distance hardly sees, as others beside them are so much wider."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.kernels.pool import ColumnSums, Pool
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.table import Table

# Standard deviations that differ by more make the narrower column a ten-thousandth of a distance.
LARGEST_RATIO = 100.0
# A column that varies by less than this share of its mean is constant but for rounding.
CONSTANT = 1e-9
# Rows and entries of them that are looked at to tell ones, zeros and counts from measures.
LOOK_ROWS, LOOK_ENTRIES = 1000, 2**18


@dataclass(frozen=True)
class UnevenColumns:
    """The widest and the narrowest column of a distance, and how their widths compare."""

    wide: int
    narrow: int
    ratio: float


def find_uneven(kernels: Iterable[Kernel], pool: Pool) -> UnevenColumns | None:
    """The first distance among columns of very different standard deviations, if there is one.

    Constant columns, columns of two values (ones and zeros of a category) and columns that are
    zero in most rows are not compared: their width says how rare something is.
    """
    X, sums = pool.X, pool.columns
    if sums is None or is_sparse(X) or (isinstance(X, Table) and is_sparse(X.numbers)):
        return None
    width, few = column_widths(sums), pool.head(1).rows
    looked_at: Array | None = None
    for kernel in kernels:
        for columns in kernel.distance_columns(few):
            if not differ_widely(width[columns]):
                continue
            looked_at = measures(pool) if looked_at is None else looked_at
            own = columns[looked_at[columns]]
            if differ_widely(width[own]):
                own = own[width[own] > 0]
                wide, narrow = own[width[own].argmax()], own[width[own].argmin()]
                return UnevenColumns(int(wide), int(narrow), float(width[wide] / width[narrow]))
    return None


def column_widths(sums: ColumnSums) -> Array:
    """Standard deviations, (d,); zero for constant columns and those that are no numbers."""
    with np.errstate(invalid="ignore", over="ignore"):
        width = np.sqrt(sums.squares / sums.n)
        return np.where(width > CONSTANT * np.abs(sums.mean), width, 0.0)


def differ_widely(width: Array) -> bool:
    """Whether positive widths differ by more than ``LARGEST_RATIO``."""
    width = width[width > 0]
    return bool(len(width) and width.max() > LARGEST_RATIO * width.min())


def measures(pool: Pool) -> Array:
    """Columns, (d,), with more than two values, and fewer zeros than others, in some rows."""
    d = int(pool.X.shape[1])
    rows = pool.head(min(LOOK_ROWS, max(20, LOOK_ENTRIES // d))).rows
    numbers, place = numbers_of(rows)
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    is_between = np.any((numbers > low) & (numbers < high), axis=0)
    found = is_between & (2 * np.count_nonzero(numbers, axis=0) > len(numbers))
    return np.asarray((place >= 0) & found[place])


def numbers_of(rows: Rows) -> tuple[Array, Array]:
    """Columns of numbers, and which of them each column is; -1 for others."""
    if isinstance(rows, Table):
        return rows.numbers, rows.place
    return np.asarray(rows), np.arange(rows.shape[1])
