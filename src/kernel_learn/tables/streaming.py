"""Tables that do not fit into memory: encoders from a sample of the rows, the estimator from all.

The sample holds the rows with the smallest of random keys, one drawn for each row: every row has
the same chance, whatever the blocks. A second reading gives the estimator blocks of encoded rows.
KernelClassifier knows what it says of some held-out rows, and a third reading finds these.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from kernel_learn.arrays import Array
from kernel_learn.representations.plan import format_bytes, parse_memory
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.frames import Frame, stack_frames
from kernel_learn.streams.blocks import Blocks, RawBlock
from kernel_learn.streams.readers import TableError, TableFiles, need_pandas
from kernel_learn.tables.columns import Columns
from kernel_learn.tables.model import TableModel, as_word

# A table in memory is there three times while it is encoded, and a fit needs room, too.
SHARE = 4
SAMPLE_ROWS = 20_000


def is_too_large(table: TableFiles, memory: str | float | None) -> bool:
    """Whether the table takes more than its share of the memory; refuses what has no blocks."""
    budget, need = parse_memory(memory), table.nbytes
    if need * SHARE <= budget:
        return False
    for file in table.come_whole:
        raise TableError(
            f"{file} takes about {format_bytes(need)} in memory, and the budget is "
            f"{format_bytes(budget)}. Only CSV, TSV, JSON lines, LIBSVM and Parquet files are read "
            "in blocks; convert it, or raise --memory."
        )
    return True


def sample_rows(table: TableFiles, rows: int = SAMPLE_ROWS, seed: int = 0) -> tuple[Frame, int]:
    """So many rows of a table in their order, each with the same chance, and how many there are."""
    pandas, rng = need_pandas(), np.random.default_rng(seed)
    kept, keys, n = None, np.empty(0), 0
    for block in table.blocks():
        n += len(block)
        both = block if kept is None else pandas.concat([kept, block])
        keys = np.concatenate([keys, rng.random(len(block))])
        chosen = np.sort(np.argsort(keys, kind="stable")[:rows])
        kept, keys = both.iloc[chosen], keys[chosen]
    assert kept is not None
    return kept.reset_index(drop=True), n


def reads_blocks(estimator: type[BaseEstimator]) -> bool:
    """Whether estimators of a class say that they are fitted to rows in blocks."""
    return bool(getattr(estimator, "streams", False))


def fit_in_blocks(
    model: TableModel,
    table: TableFiles,
    sample: Frame,  # of some rows, the target in it
    columns: Columns,
) -> tuple[Frame, Array, Array | None]:
    """Fit the estimator to all rows, in blocks.

    Some rows for the report, else the sample: their frame without the target, their labels as
    words, and what the estimator says of them left out, if it knows.
    """
    target = model.target
    encoded = model.fit_encoder(sample, columns)
    keeps_type = model.encoding == "light"

    def blocks() -> Iterator[RawBlock]:
        for block in labelled_blocks(table, target):
            rows = model.encode(block)
            is_kept = keeps_type or is_sparse(rows)
            yield RawBlock(rows if is_kept else np.asarray(rows), words(block[target]))

    fitted = clone(model.estimator)
    if isinstance(fitted, Pipeline):  # what learns from all rows, and what keeps some of them
        features = fitted[0].fit(Blocks(blocks)).transform(encoded)
        fitted[-1].fit(features, words(sample[target]))
    else:
        fitted.fit(Blocks(blocks))
    model.estimator_ = fitted
    proba = getattr(fitted, "loo_proba_", None)
    if proba is not None:
        positions = getattr(fitted, "loo_rows_", np.arange(len(proba)))
        some = np.linspace(0, len(proba) - 1, min(len(proba), SAMPLE_ROWS)).astype(int)
        proba = proba[some]
        sample = rows_at(labelled_blocks(table, target), positions[some])
    y = words(sample[target])
    model.classes_ = fitted.classes_
    model.labels_ = np.searchsorted(model.classes_, y)
    return sample.drop(columns=target), y, proba


def labelled_blocks(table: TableFiles, target: str) -> Iterator[Frame]:
    """Blocks of a table without the rows that have no label."""
    for block in table.blocks():
        labelled = block.loc[block[target].notna()]
        if len(labelled):
            yield labelled


def rows_at(blocks: Iterator[Frame], positions: Array) -> Frame:
    """The rows at increasing positions, counted over all blocks, as one frame."""
    found, start = [], 0
    for block in blocks:
        inside = positions[(positions >= start) & (positions < start + len(block))] - start
        found.append(block.iloc[inside])
        start += len(block)
    return stack_frames(found)


def words(column: Frame) -> Array:
    """Labels as strings: a block of whole numbers and one with a hole in it agree."""
    return as_word(column, None).to_numpy(dtype=object).astype(str)
