"""Steps of scikit-learn that learn from the values of each column: fitted to rows that stand in.

RobustScaler, QuantileTransformer, SimpleImputer, OneHotEncoder and OrdinalEncoder look at one
column at a time, at its values and how often they come. One pass over a source gives these, and the
step is fitted to a table in memory that has the same: that of the rows where they are few.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from kernel_learn.arrays import Rows
from kernel_learn.fitting.block_results import numbered
from kernel_learn.rows.block import Block
from kernel_learn.rows.cells import read_columns
from kernel_learn.rows.exact_sums import exact_value
from kernel_learn.rows.keys import is_missing
from kernel_learn.streams.blocks import NoRowsError, RowSource
from kernel_learn.streams.checked_blocks import checked_weights
from kernel_learn.streams.column_summaries import TableSummary
from kernel_learn.streams.column_values import CollectValues, TableValues, rows_like
from kernel_learn.streams.dask_rows import SpreadRows
from kernel_learn.streams.sources import spread_source

EPS = float(np.finfo(np.float64).eps)
QUANTILES = (RobustScaler, QuantileTransformer)


def learns_columns(step: Any) -> bool:
    """Whether a step needs no more than the values of each column."""
    return isinstance(step, (*QUANTILES, SimpleImputer, OneHotEncoder, OrdinalEncoder))


@dataclass(frozen=True)
class StandIn:
    """The columns of a source as the steps before have left them, for the steps that follow."""

    rows: Rows  # columns with the values of the source's, as often as they come there
    is_exact: bool  # as often, and all of them: else a sample of many
    values: TableValues | None = None  # None where a step has changed them

    @classmethod
    def of(cls, source: RowSource) -> "StandIn":
        """One pass."""
        source, collect = spread_source(source), CollectValues()
        add_up = getattr(source, "add_up", None)
        found = collect(numbered(source)) if add_up is None else add_up(collect)
        if found is None:
            raise NoRowsError
        return cls(found.spread(), found.n_exact is not None, found)

    def serves(self, step: BaseEstimator) -> bool:
        """Whether a step needs no other pass."""
        return self.is_exact or self.values is not None or needs_quantiles(step)

    def fit(self, step: Any) -> "StandIn":
        """Fit a step, and give the columns as it leaves them."""
        step.fit(self._rows_for(step))
        return StandIn(step.transform(self.rows), self.is_exact)

    def _rows_for(self, step: Any) -> Rows:
        if needs_means(step) and self.values is not None:
            return self.values.means()
        if self.is_exact or needs_quantiles(step):
            return self.rows
        assert self.values is not None
        if isinstance(step, SimpleImputer):
            if not is_missing(step.missing_values):
                raise ValueError(
                    f"SimpleImputer(missing_values={step.missing_values!r}): in a source of so "
                    "many rows missing cells are None or NaN."
                )
            return self.values.modes()
        for name in ("min_frequency", "max_categories"):
            if getattr(step, name) is not None:
                raise ValueError(
                    f"{type(step).__name__}({name}={getattr(step, name)!r}) counts levels, and "
                    "this source has too many rows. TableEncoder(max_levels=) puts levels together."
                )
        return self.values.levels()


def needs_quantiles(step: Any) -> bool:
    """Whether a sample of the values of each column is enough."""
    if isinstance(step, SimpleImputer):
        return step.strategy not in ("mean", "most_frequent")
    return isinstance(step, QUANTILES)


# -- means and deviations by exact sums --------------------------------------------------


def needs_means(step: Any) -> bool:
    """Whether a step needs the means of columns, which rounding in another order would change."""
    if isinstance(step, SimpleImputer):
        return step.strategy == "mean" and is_missing(step.missing_values)
    return type(step) is StandardScaler


@dataclass(frozen=True)
class SumColumns:
    """The sums of the columns of some blocks, here or on a worker."""

    def __call__(self, blocks: Iterable[tuple[int, int | None, Block]]) -> TableSummary | None:
        total: TableSummary | None = None
        for _, _, block in blocks:
            if block.n_rows:
                weight = checked_weights(block.weight, block.n_rows)
                own = TableSummary.of(read_columns(block.X), weight, 2)
                total = own if total is None else total + own
        return total


def fit_means(step: Any, source: RowSource, blocks: Iterable[Block]) -> Any:
    """StandardScaler or SimpleImputer by the sums of all blocks of a source, which are opened.

    Landmarks are chosen by a hash of the scaled rows: with sums that are rounded block by block
    other blocks would give other landmarks.
    """
    blocks = iter(blocks)
    first = next(blocks)
    is_scaler = isinstance(step, StandardScaler)
    (step.partial_fit if is_scaler else step.fit)(first.X)  # it refuses what are no numbers
    spread = spread_source(source)
    if isinstance(spread, SpreadRows):
        found = spread.add_up(SumColumns())
    else:
        found = SumColumns()((0, None, own) for own in chain([first], blocks))
    return store_scales(step, found) if is_scaler else step.fit(rows_of_means(found, first.X))


def rows_of_means(summary: TableSummary, like: Rows) -> Rows:
    """Two rows with the means of the columns, and missing cells where these have some."""
    columns = []
    for own in summary.columns:
        mean = own.parts[0].mean if own.parts else np.nan
        columns.append(np.array([mean, np.nan if own.missing else mean]))
    return rows_like(like, columns)


def store_scales(step: Any, summary: TableSummary) -> Any:
    """The fitted attributes of StandardScaler."""
    parts = [own.parts[0] if own.parts else None for own in summary.columns]
    seen = np.array([0.0 if own is None else float(exact_value(own.weight)) for own in parts])
    mean = np.array([np.nan if own is None else own.mean for own in parts])
    variance = np.array([np.nan if own is None else own.variance for own in parts])
    same = bool(np.all(seen == seen[0]))
    step.n_samples_seen_ = (int(seen[0]) if seen[0] % 1 == 0 else seen[0]) if same else seen
    step.mean_ = mean
    if step.with_std:
        # as scikit-learn has it: what may be rounding alone is a constant, and not scaled
        constant = variance <= seen * EPS * variance + (seen * mean * EPS) ** 2
        step.var_, step.scale_ = variance, np.where(constant, 1.0, np.sqrt(variance))
    return step
