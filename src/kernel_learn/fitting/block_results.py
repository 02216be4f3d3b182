"""Results for rows that come in blocks: an iterator of blocks, a file, or one figure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array
from kernel_learn.kernels.pool import ColumnSums
from kernel_learn.rows.block import Block
from kernel_learn.rows.named_columns import take_named
from kernel_learn.rows.targets import indicator_of, label_rows
from kernel_learn.streams.blocks import READ_ROWS, ArrayRows, NoRowsError, RowSource
from kernel_learn.streams.checked_blocks import bad_block, bad_row
from kernel_learn.streams.dask_rows import SpreadRows
from kernel_learn.streams.result_files import result_names, write_results
from kernel_learn.streams.sources import as_source, is_collection

Method = TypeVar("Method", bound=Callable[..., Any])


def on_sources(method: Method) -> Method:
    """A method of rows ``f(self, X, ...)`` that takes a source too, and ``out=None``.

    Of a source it gives an iterator with an array for each of its blocks; or, of any rows, it
    writes them to the file ``out`` (.npy, .csv or .parquet) and gives its path. A block at a time
    is in memory.
    """

    @wraps(method)
    def of_rows_or_source(self: Any, X: Any, *args: Any, out: Any = None, **options: Any) -> Any:
        if out is None and is_collection(X):
            from kernel_learn.streams.dask import lazy_results

            check_is_fitted(self)
            return lazy_results(X, self, method.__name__, *args, **options)
        source: Any = as_source(X)
        if source is None and out is None:
            return method(self, X, *args, **options)
        check_is_fitted(self)
        source = ArrayRows(X) if source is None else source

        def of_block(self: Any, rows: Any) -> Any:
            return method(self, rows, *args, **options)

        blocks = (found for *_, found in _results(self, of_block, numbered(source)))
        return (
            blocks
            if out is None
            else write_results(blocks, out, result_names(self, method.__name__))
        )

    return of_rows_or_source  # type: ignore[return-value]


def numbered(source: RowSource) -> Iterator[tuple[int, int, Block]]:
    """(number, first row, block) of each block of a source."""
    start = 0
    for number, raw in enumerate(source.read(READ_ROWS)):
        yield number, start, raw
        start += raw.n_rows


def _results(
    estimator: Any,
    method: Callable[..., Any],
    blocks: Iterable[tuple[int, int | None, Block]],
) -> Iterator[tuple[int, Block, Array]]:
    for number, start, raw in blocks:
        if raw.n_rows == 0:
            continue
        try:
            yield number, raw, method(estimator, raw.X)
        except ValueError as error:
            raise bad_block(error, number, bad_row(raw.X), start) from error


class ScoredOnSources:
    """A mixin before scikit-learn's: ``score(source)``, with the labels that the source has."""

    _score_sums: Callable[[Array, Array, Array], Any]  # of one block
    _score_of: Callable[[Any], float]  # of the sum of them

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, or R^2 for real targets; of a source by its own labels and weights."""
        X, y, sample_weight = take_named({"X": X, "y": y, "sample_weight": sample_weight}).values()
        check_is_fitted(self)
        y = self._scored(y)
        source: Any = as_source(X, y, sample_weight)
        if source is None:
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        sums = BlockScores(self)
        total = source.add_up(sums) if isinstance(source, SpreadRows) else sums(numbered(source))
        if total is None:
            raise NoRowsError
        return self._score_of(total)

    def _scored(self, y: Any) -> Any:
        """Targets as ``predict`` gives them."""
        return y


@dataclass(frozen=True)
class BlockScores:
    """The sums that a score is made of, over some blocks ``(number, first row, block)``."""

    estimator: Any

    def __call__(self, blocks: Iterable[tuple[int, int | None, Block]]) -> Any:
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
    """Accuracy over blocks; several labels of a row are all right, or it is wrong."""

    def _scored(self, y: Any) -> Any:
        named = None if y is None or is_collection(y) else label_rows(y)
        return y if named is None else indicator_of(named, self.classes_).astype(int)  # type: ignore[attr-defined]

    def _score_sums(self, y: Array, found: Array, weight: Array) -> Array:
        right = np.all((y == found).reshape(len(found), -1), axis=1)
        return np.array([weight @ right, weight.sum()])

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
