"""Cross-validation on a source: moments are kept by fold, and those of the others are merged."""

from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any, TypedDict

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from kernel_learn.arrays import Array, DataLike
from kernel_learn.estimators.pipeline import fit_steps, is_nothing
from kernel_learn.fitting.block_results import BlockScores
from kernel_learn.fitting.kernel_rows import KernelRows
from kernel_learn.fitting.parameters import is_whole
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.stream_training import block_target, start_features
from kernel_learn.fitting.training import stream_kernels
from kernel_learn.representations.state import StreamState, next_state, sum_states
from kernel_learn.rows.block import Block
from kernel_learn.rows.named_columns import take_named
from kernel_learn.streams.blocks import ArrayRows
from kernel_learn.streams.checked_blocks import CheckedBlocks
from kernel_learn.streams.derived import Transformed, take_block
from kernel_learn.streams.row_source import READ_ROWS, NoRowsError, RowSource, source_names
from kernel_learn.streams.sources import as_source
from kernel_learn.streams.splitting import (
    FOLDS,
    RowHash,
    check_rewinds,
    check_split_column,
    check_split_seed,
    count_splits,
    with_columns,
)


class SourceScores(TypedDict):
    """What :func:`cross_validate_source` gives."""

    test_score: Array  # (cv,)
    n_test: Array  # (cv,) rows
    estimator: list[BaseEstimator]  # fitted without each fold


def cross_validate_source(
    model: BaseEstimator,
    source: DataLike,
    y: Any = None,
    *,
    cv: int = 5,
    by: str | int = "key",
    seed: int = 0,
) -> SourceScores:
    """Cross-validated scores of a model on a source of any number of rows.

    Folds are by a hash of the row, or of a column, as in ``source.split``. One pass gives the
    summary, one the moments of every fold, one the scores: moments of the other folds are merged,
    so that the number of passes does not depend on ``cv``.

    Landmarks, widths of kernels and the transformers of a pipeline (an encoder, a scaler) are
    drawn once, from all rows and without labels; everything else is learned without the fold.
    As in ``partial_fit``, a list of ``reg`` is chosen from by what moments tell (``"gcv"``).

    Parameters
    ----------
    model : estimator with ``partial_fit``, or a pipeline that ends in one
        It is not fitted itself.
    source : source of blocks, arrays, frame, or Dask collection
        Rows with labels; it is read three times, and once for each transformer.
    y : array-like or str, default=None
        The labels of arrays, frames and Dask collections; of a frame the name of their column.
    cv : int, default=5
        The number of folds.
    by : str or int, default="key"
        "key", or a column as in ``source.split``: rows with one value in it are in one fold.
    seed : int, default=0
        Another number gives other folds.

    Returns
    -------
    scores : dict
        ``test_score`` and ``n_test``, (cv,), and ``estimator``, the fitted model of each fold.
    """
    if not is_whole(cv, 2):
        raise ValueError(f"cross_validate_source(cv={cv!r}): cv must be an integer of at least 2.")
    given = take_named({"X": source, "y": y})
    source, y = given["X"], given["y"]
    rows = as_source(source, y)
    rows = ArrayRows(source, y) if rows is None else rows
    check_rewinds(rows, "cross_validate_source")
    rows = with_columns(rows, by)
    steps, last = pipeline_parts(model)
    check_split_seed(seed)
    salt = FOLDS + count_splits(rows)
    folds = _Folds(rows, RowHash(by, seed, source_names(rows), salt), cv)
    check_split_column(rows, "by", by)
    steps, encoded = fit_steps(steps, rows)
    states, checked = fold_states(last, encoded, folds, steps)
    models = [fit_without(last, states, k, checked) for k in range(cv)]
    return score_folds(model, models, steps, folds)


class _Folds:
    """The blocks of a source, cut by fold."""

    def __init__(self, source: RowSource, row_hash: RowHash, n_folds: int) -> None:
        self.source, self.row_hash, self.n_folds = source, row_hash, n_folds

    def read(self, steps: list[Any]) -> Iterator[tuple[int, Block]]:
        """(fold, its rows of a block as the steps give them)."""
        for block in self.source.read(READ_ROWS):
            if not block.n_rows:
                continue
            fold = np.minimum((self.row_hash(block) * self.n_folds).astype(int), self.n_folds - 1)
            encoded = reduce(lambda rows, step: Transformed(step)(rows), steps, block)
            for k in np.unique(fold).tolist():
                yield k, take_block(encoded, np.flatnonzero(fold == k))


def pipeline_parts(model: BaseEstimator) -> tuple[list[Any], PartialFit]:
    """The transformers of a pipeline, and the estimator at its end; refuses others."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    *first, last = steps
    if not isinstance(last, PartialFit) or not hasattr(last, "partial_fit"):
        raise ValueError(
            f"{type(last).__name__} does not learn from moments, which cross_validate_source keeps "
            "for each fold. Take an estimator with partial_fit, such as KernelDiscriminant, or "
            "scikit-learn's cross_validate on rows in memory."
        )
    if not hasattr(last, "score"):
        raise ValueError(
            f"{type(last).__name__} has no score. Take a classifier or a regressor, such as "
            "KernelDiscriminant."
        )
    return [step for step in first if not is_nothing(step)], last


def fold_states(
    last: PartialFit, encoded: RowSource, folds: _Folds, steps: list[Any]
) -> tuple[list[StreamState], CheckedBlocks]:
    """The state of each fold, under features drawn from all rows: two passes."""
    estimator: Any = clone(last)
    kernels, names, kernel = stream_kernels(estimator)
    checked = CheckedBlocks(KernelRows(estimator, kernel), encoded, block_target(estimator))
    blocks = checked.read(READ_ROWS)
    first = next(blocks, None)
    if first is None:
        raise NoRowsError
    head = sum_states(blocks, sum_states([first], None))
    features = start_features(estimator, kernels, names, head)
    states: dict[int, StreamState] = {}
    for k, raw in folds.read(steps):
        rows = checked.check(0, None, raw)
        if len(rows.weight):
            own = next_state(rows, states.get(k), features)
            states[k] = states[k] + own if k in states else own
    if len(states) < folds.n_folds:
        raise ValueError(
            f"{folds.n_folds - len(states)} of {folds.n_folds} folds have no rows: there are too "
            "few different rows or groups. Take fewer folds."
        )
    return [states[k] for k in range(folds.n_folds)], checked


def fit_without(
    last: PartialFit, states: list[StreamState], fold: int, checked: CheckedBlocks
) -> BaseEstimator:
    """The estimator from the moments of all other folds."""
    model: Any = clone(last)
    model._single, model._is_set = checked.single, checked.is_set
    names = getattr(checked.reader.estimator, "feature_names_in_", None)  # type: ignore[attr-defined]
    model.fit(reduce(add, [own for k, own in enumerate(states) if k != fold]))
    if names is not None:
        model.feature_names_in_ = names
    return model


def score_folds(
    model: BaseEstimator, models: list[Any], steps: list[Any], folds: _Folds
) -> SourceScores:
    """One pass in which each row is scored by the model that has not seen it."""
    totals: list[Any] = [None] * len(models)
    counts = np.zeros(len(models), dtype=int)
    for k, block in folds.read(steps):
        found = BlockScores(models[k])([(0, None, block)])
        totals[k] = found if totals[k] is None else totals[k] + found
        counts[k] += block.n_rows
    scores = [one._score_of(total) for one, total in zip(models, totals, strict=True)]
    whole = [with_steps(model, steps, one) for one in models]
    return SourceScores(test_score=np.array(scores), n_test=counts, estimator=whole)


def with_steps(model: BaseEstimator, steps: list[Any], last: BaseEstimator) -> BaseEstimator:
    """The pipeline with fitted steps; the estimator itself if there was none."""
    if not isinstance(model, Pipeline):
        return last
    fitted, rest = clone(model), iter([*steps, last])
    fitted.steps = [(k, own if is_nothing(own) else next(rest)) for k, own in model.steps]
    return fitted
