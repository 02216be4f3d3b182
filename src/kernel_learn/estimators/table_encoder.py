"""Tables of mixed columns as numbers on one scale, wherever the rows live."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kernel_learn.arrays import Array, DataLike, Rows, WeightsLike
from kernel_learn.ensemble.encoded_columns import EncodedColumn
from kernel_learn.fitting.base import all_or_nothing, unchanged_if_it_fails
from kernel_learn.fitting.block_results import numbered
from kernel_learn.fitting.pages import OwnPage
from kernel_learn.fitting.parameters import (
    LIST,
    NONE,
    Condition,
    check_parameters,
    choice,
    is_whole,
)
from kernel_learn.fitting.state import PlainState
from kernel_learn.fitting.weights import row_weights
from kernel_learn.rows.block import Block
from kernel_learn.rows.cells import Cells, as_columns, read_columns
from kernel_learn.rows.check_rows import check_column_names
from kernel_learn.rows.codes import ColumnChoice
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.named_columns import take_named, without_named
from kernel_learn.streams.blocks import NoRowsError
from kernel_learn.streams.checked_blocks import Complaint, bad_block, bad_row, checked_weights
from kernel_learn.streams.column_summaries import TableSummary
from kernel_learn.streams.dask_rows import SpreadRows, first_rows
from kernel_learn.streams.derived import mapped
from kernel_learn.streams.sources import as_source, is_collection, spread_source
from kernel_learn.streams.splitting import check_rewinds

SEVERAL = Condition(("an integer of at least 2",), lambda value: is_whole(value, 2))


class TableEncoder(OwnPage, PlainState, TransformerMixin, BaseEstimator):
    """Mixed columns as numbers on one scale: for every estimator whose kernel takes distances.

    Numbers and booleans become (x - mean) / standard deviation. A category becomes a block of
    ones and zeros, one for each level, divided by sqrt(sum_l p_l (1 - p_l)) with the shares p_l
    of its levels, so that a column of many levels weighs as much as one of two, as inside
    :class:`KernelClassifier`. A date becomes its time, and its place in the year, the week
    and the day, each on a circle. All of it comes from sums that merge: one pass over a source,
    in blocks of any size and order, gives the encoder of the whole table.

    Parameters
    ----------
    categorical : "auto" or list of names or numbers of columns, default="auto"
        Columns that are categories whatever they hold; with "auto" texts and the category
        columns of frames are.
    max_levels : int, default=64
        A category with more levels is hashed into so many buckets, which share their levels.

    Attributes
    ----------
    summary_ : TableSummary
        What all rows are in brief; ``partial_fit`` adds to it.
    columns_ : tuple of EncodedColumn
        How each column is encoded.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    A missing number is at its mean, with one more column that is one where it is missing, if
    some were at fit; a missing category is a level. A level that was not seen at fit is a block
    of zeros. Constant columns are zero.

    The encoder is the same to the bit for arrays, frames of pandas, polars and Arrow, sources and
    Dask: sums are exact, whatever the blocks. So are landmarks, which are chosen by content.

    Examples
    --------
    >>> import numpy as np
    >>> from kernel_learn import TableEncoder
    >>> X = np.array([[1.0, "red"], [3.0, "blue"], [None, "red"]], dtype=object)
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['x0', 'x0:missing', 'x1=blue', 'x1=red']
    >>> encoder.transform(X).round(2)
    array([[-1. ,  0. ,  0. ,  1.5],
           [ 1. ,  0. ,  1.5,  0. ],
           [ 0. ,  1. ,  0. ,  1.5]])
    """

    fits_sources = True  # in one pass, without landmarks
    _parameters = {  # noqa: RUF012
        "categorical": choice("auto") | NONE | LIST,
        "max_levels": SEVERAL,
    }

    def __init__(self, categorical: ColumnChoice = "auto", *, max_levels: int = 64) -> None:
        self.categorical = categorical
        self.max_levels = max_levels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @all_or_nothing
    def fit(self, X: DataLike, y: object = None, sample_weight: WeightsLike = None) -> Self:
        """Learn what the columns are, in one pass.

        Parameters
        ----------
        X : array-like, data frame, or a source of blocks
            Rows, (n_samples, n_features); None, NaN and what frames have for them are missing
            cells. A Dask array or data frame stays with its workers.
        y : None
            Ignored; the name of a column of a frame leaves that out.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as two rows; a source has its own weights.

        Returns
        -------
        self
        """
        rows = without_named({"X": X, "y": y})
        return self._store(self._summarize(rows, sample_weight, reset=True))

    def partial_fit(self, X: DataLike, y: object = None, sample_weight: WeightsLike = None) -> Self:
        """Add rows: after blocks in any order the encoder is that of all their rows.

        Parameters
        ----------
        X : array-like, data frame, or a source of blocks
            Some more rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts.

        Returns
        -------
        self
        """
        named = take_named({"X": X, "y": y, "sample_weight": sample_weight})
        rows = without_named({"X": named["X"], "y": named["y"]})
        before: TableSummary | None = self.__dict__.get("summary_")
        with unchanged_if_it_fails(self):
            check_parameters(self)
            found = self._summarize(rows, named["sample_weight"], reset=before is None)
            self._store(found if before is None else before + found)
        return self

    def fit_transform(
        self, X: DataLike, y: object = None, sample_weight: WeightsLike = None
    ) -> Any:
        """``fit`` and ``transform`` of the same rows; a source is then read again."""
        source = None if is_collection(X) else as_source(X)
        if source is not None:
            check_rewinds(source, "fit_transform")
        rows = without_named({"X": X, "y": y, "sample_weight": sample_weight})
        return self.fit(X, y, sample_weight).transform(rows)

    def transform(self, X: DataLike) -> Any:
        """The encoded rows.

        Parameters
        ----------
        X : array-like, data frame, or a source of blocks
            Rows with the columns of fit.

        Returns
        -------
        encoded : ndarray of shape (n_samples, n_columns)
            Of a source the source of encoded blocks, with its labels and weights, as
            ``source.map(encoder)``; of a Dask collection a Dask array.
        """
        check_is_fitted(self)
        if is_collection(X):
            from kernel_learn.streams.dask import lazy_results

            return lazy_results(X, self, "transform")
        source = as_source(X)
        if source is not None:
            return mapped(source, self)
        return self._encode(self._read(X, reset=False))

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Names of the encoded columns: ``age``, ``city=Rome``, ``city#3`` of a bucket."""
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.names()]
        return np.array(names, dtype=object)

    # -- one block ---------------------------------------------------------------------

    def _read(self, X: Rows, *, reset: bool) -> list[Cells]:
        X = as_columns(X)
        if is_frame(X):
            check_column_names(X, "X")
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not X.shape[0] or not X.shape[1]:
            what = "sample" if X.shape[1] else "feature"
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is "
                "required."
            )
        return read_columns(X, self.categorical, fitting=reset)

    def _encode(self, cells: list[Cells]) -> Array:
        ends = np.cumsum([0, *(column.width for column in self.columns_)]).tolist()
        out = np.zeros((len(cells[0]), ends[-1]))
        for column, own, start in zip(self.columns_, cells, ends[:-1], strict=True):
            column.write(own, out[:, start : start + column.width])
        return out

    # -- all of them -------------------------------------------------------------------

    def _summarize(self, X: DataLike, sample_weight: WeightsLike, *, reset: bool) -> TableSummary:
        source = as_source(X, None, sample_weight)
        if source is None:
            cells = self._read(X, reset=reset)
            weight = row_weights(sample_weight, len(cells[0]))
            return TableSummary.of(cells, weight, self.max_levels)
        source = spread_source(source)
        if isinstance(source, SpreadRows):
            for block in source.read(1):  # the first rows say which columns there are
                self._read(first_rows(block, 1).X, reset=reset)
                break
            found = source.add_up(Summarize(self))
        else:
            found = Summarize(self, reset)(numbered(source))
        if found is None or not found.n_rows:
            raise NoRowsError
        return found

    def _store(self, summary: TableSummary) -> Self:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{c}" for c in range(len(summary.columns))]
        pairs = zip(summary.columns, names, strict=True)
        self.summary_ = summary
        self.columns_ = tuple(EncodedColumn.of(own, str(name)) for own, name in pairs)
        return self


@dataclass
class Summarize:
    """The summary of some blocks ``(number, first row, block)``, here or on a worker."""

    encoder: TableEncoder
    reset: bool = False

    def __call__(self, blocks: Iterable[tuple[int, int | None, Block]]) -> TableSummary | None:
        total: TableSummary | None = None
        reset, limit = self.reset, self.encoder.max_levels
        for number, start, raw in blocks:
            if not raw.n_rows:
                continue
            try:
                cells = self.encoder._read(raw.X, reset=reset)
                weight = checked_weights(raw.weight, raw.n_rows)
                part = TableSummary.of(cells, weight, limit)
                total, reset = part if total is None else total + part, False
            except (ValueError, Complaint) as error:
                row = getattr(error, "row", None)
                row = bad_row(raw.X, may_miss=True) if row is None else row
                raise bad_block(str(error), number, row, start) from error
        return total
