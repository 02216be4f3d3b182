"""Results for rows that come in blocks: an iterator of blocks, a file, or one figure."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array
from kernel_learn.atomic_write import atomic_write
from kernel_learn.kernels.pool import ColumnSums
from kernel_learn.streams.blocks import (
    READ_ROWS,
    ArrayRows,
    NoRowsError,
    RawBlock,
    RowSource,
    raw_length,
)
from kernel_learn.streams.checked_blocks import bad_block, bad_row
from kernel_learn.streams.dask_rows import SpreadRows
from kernel_learn.streams.sources import as_source

Method = TypeVar("Method", bound=Callable[..., Any])

# Bytes of the header of a .npy file that is written before its length is known.
HEADER = 128


def on_sources(method: Method) -> Method:
    """A method of rows ``f(self, X)`` that takes a source too: ``f(self, source, out=None)``.

    Of a source it gives an iterator with an array for each of its blocks; or, of any rows, it
    writes them to the .npy file ``out`` and gives its path. A block at a time is in memory.
    """

    @wraps(method)
    def of_rows_or_source(self: Any, X: Any, *, out: Any = None) -> Any:
        source: Any = as_source(X)
        if source is None and out is None:
            return method(self, X)
        check_is_fitted(self)
        if out is None and hasattr(source, "map"):  # a Dask collection of a Dask collection
            return source.map(self, method.__name__)
        source = ArrayRows(X) if source is None else source
        blocks = (found for *_, found in _results(self, method, numbered(source)))
        return blocks if out is None else write_blocks(blocks, out, self)

    return of_rows_or_source  # type: ignore[return-value]


def numbered(source: RowSource) -> Iterator[tuple[int, int, RawBlock]]:
    """(number, first row, block) of each block of a source."""
    start = 0
    for number, raw in enumerate(source.read(READ_ROWS)):
        yield number, start, raw
        start += raw_length(raw)


def _results(
    estimator: Any,
    method: Callable[..., Any],
    blocks: Iterable[tuple[int, int | None, RawBlock]],
) -> Iterator[tuple[int, RawBlock, Array]]:
    for number, start, raw in blocks:
        if raw_length(raw) == 0:
            continue
        try:
            yield number, raw, method(estimator, raw.X)
        except ValueError as error:
            raise bad_block(error, number, bad_row(raw.X), start) from error


def write_blocks(blocks: Iterator[Array], out: Any, estimator: Any) -> Path:
    """Write arrays one below the other into a .npy file, which appears when it is whole."""
    target = Path(os.fspath(out))
    n, first = 0, None
    with atomic_write(target) as part, part.open("wb") as file:
        file.write(b" " * HEADER)
        for block in blocks:
            if block.dtype == object:  # labels that are texts
                block = block.astype(np.asarray(estimator.classes_.tolist()).dtype)
            first = block[:0] if first is None else first
            file.write(np.ascontiguousarray(block, dtype=first.dtype).tobytes())
            n += len(block)
        if first is None:
            raise NoRowsError
        file.seek(0)
        look = {"descr": np.lib.format.dtype_to_descr(first.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, look | {"shape": (n, *first.shape[1:])})
    return target


class ScoredOnSources:
    """A mixin before scikit-learn's: ``score(source)``, with the labels that the source has."""

    _score_sums: Callable[[Array, Array, Array], Any]  # of one block
    _score_of: Callable[[Any], float]  # of the sum of them

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, or R^2 for real targets; of a source by its own labels and weights."""
        source: Any = as_source(X, y, sample_weight)
        if source is None:
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        check_is_fitted(self)
        sums = BlockScores(self)
        total = source.add_up(sums) if isinstance(source, SpreadRows) else sums(numbered(source))
        if total is None:
            raise NoRowsError
        return self._score_of(total)


@dataclass(frozen=True)
class BlockScores:
    """The sums that a score is made of, over some blocks ``(number, first row, block)``."""

    estimator: Any

    def __call__(self, blocks: Iterable[tuple[int, int | None, RawBlock]]) -> Any:
        model, total = self.estimator, None
        for number, raw, found in _results(model, type(model).predict, blocks):
            if raw.y is None or len(raw.y) != len(found):
                what = "no labels" if raw.y is None else f"{len(raw.y)} labels"
                raise bad_block(f"it has {len(found)} rows and {what}.", number, None, None)
            weight = np.ones(len(found)) if raw.weight is None else np.asarray(raw.weight, float)
            part = model._score_sums(np.asarray(raw.y), found, weight)
            total = part if total is None else total + part
        return total


class ScoredClassifier(ScoredOnSources, ClassifierMixin):
    """Accuracy over blocks."""

    def _score_sums(self, y: Array, found: Array, weight: Array) -> Array:
        return np.array([weight @ (y == found), weight.sum()])

    def _score_of(self, total: Array) -> float:
        return float(total[0] / total[1])


class ScoredRegressor(ScoredOnSources, RegressorMixin):
    """R^2 over blocks: the mean over the targets of 1 - residual / spread."""

    def _score_sums(self, y: Array, found: Array, weight: Array) -> "SquaredErrors":
        y, found = y.reshape(len(y), -1), found.reshape(len(y), -1)
        return SquaredErrors(ColumnSums.of(y, weight), weight @ (y - found) ** 2)

    def _score_of(self, total: "SquaredErrors") -> float:
        return total.r2()


@dataclass(frozen=True)
class SquaredErrors:
    """Sums of targets and of squared residuals, which add up."""

    targets: ColumnSums
    residuals: Array  # (q,)

    def __add__(self, other: "SquaredErrors") -> "SquaredErrors":
        return SquaredErrors(self.targets.merge(other.targets), self.residuals + other.residuals)

    def r2(self) -> float:
        flat = self.targets.squares <= 0
        share = 1 - self.residuals / np.where(flat, 1.0, self.targets.squares)
        # as in scikit-learn: a target without spread counts 1 if it is met, else 0
        return float(np.mean(np.where(flat, self.residuals <= 0, share)))
