"""The types that all layers speak of: arrays, and what users may give for rows, labels, weights.

Names that end in ``Like`` are what a user may pass; a function that takes one reads it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Keys = NDArray[np.uint64]  # one per row, of its content
Rows = Any  # dense (n, d), CSR (n, d), a sequence of strings, a Table, or a data frame


class SparseLike(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self) -> object:
        """The same by rows."""


class FrameLike(Protocol):
    """A table of pandas, polars or Arrow."""

    @property
    def columns(self) -> object:
        """Its columns, or their names."""


class SourceLike(Protocol):
    """Rows that can be read in blocks, once or as often as needed."""

    @property
    def rewinds(self) -> bool:
        """Whether it can be read again from its start."""

    def read(self, rows: int) -> Iterable[object]:
        """All rows from the start, about ``rows`` at a time."""


RowsLike = ArrayLike | SparseLike | FrameLike
BlocksLike = SourceLike | Iterator[object] | Callable[[], Iterable[object]]
DataLike = RowsLike | BlocksLike
LabelsLike = ArrayLike  # one class for each row: strings or numbers
TargetsLike = ArrayLike  # numbers, one or several for each row
WeightsLike = ArrayLike | None  # what each row counts; None: all alike
ClassWeight = Mapping[Any, float] | str | None  # "balanced", or what each class counts
Seed = int | np.random.RandomState | None
MemoryBudget = float | str | None  # bytes, or "2GB"
PathLike = str | os.PathLike[str]
