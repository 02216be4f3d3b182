"""Tables that do not fit into memory: encoders from a sample of the rows, the estimator from all.

The sample holds the rows with the smallest of random keys, one drawn for each row: every row has
the same chance, whatever the blocks. A second reading gives the estimator blocks of encoded rows.
KernelClassifier knows what it says of some rows left out, and a third reading finds these.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from kernel_learn.arrays import Array
from kernel_learn.representations.plan import format_bytes, parse_memory
from kernel_learn.streams.readers import (
    BLOCKS,
    TableError,
    find_files,
    format_of,
    pandas,
    read_blocks,
    table_bytes,
)
from kernel_learn.tables.columns import Columns
from kernel_learn.tables.model import TableModel, as_word

# A table in memory is there three times while it is encoded, and a fit needs room, too.
SHARE = 4
SAMPLE_ROWS = 20_000
# What is fitted in blocks, beside KernelClassifier.
STREAMED = ("KernelDiscriminant", "HSICSubspace", "KernelPLS", "AlignmentSubspace")


def is_too_large(data: Sequence[str], format: str | None, memory: Any) -> bool:
    """Whether the table takes more than its share of the memory; refuses what has no blocks."""
    budget, need = parse_memory(memory), table_bytes(data, format)
    if need * SHARE <= budget:
        return False
    for name in find_files(data):
        if name == "-" or format_of(name, format) not in BLOCKS:
            raise TableError(
                f"{name!r} takes about {format_bytes(need)} in memory, and the budget is "
                f"{format_bytes(budget)}. Only CSV, TSV, JSON lines and Parquet files are read in "
                "blocks; convert it, or raise --memory."
            )
    return True


def sample_rows(
    data: Sequence[str], format: str | None, rows: int = SAMPLE_ROWS, seed: int = 0
) -> tuple[Any, int]:
    """So many rows of a table in their order, each with the same chance, and how many there are."""
    pd, rng = pandas(), np.random.default_rng(seed)
    kept, keys, n = None, np.empty(0), 0
    for block in read_blocks(data, format):
        n += len(block)
        both = block if kept is None else pd.concat([kept, block])
        keys = np.concatenate([keys, rng.random(len(block))])
        chosen = np.sort(np.argsort(keys, kind="stable")[:rows])
        kept, keys = both.iloc[chosen], keys[chosen]
    assert kept is not None
    return kept.reset_index(drop=True), n


def fit_in_blocks(
    model: TableModel,
    data: Sequence[str],
    format: str | None,
    sample: Any,  # frame of some rows, the target in it
    columns: Columns,
) -> tuple[Any, Array, Array | None]:
    """Fit the estimator to all rows, in blocks.

    Returns some rows without the target, their labels as words, and what the estimator says of
    them left out, if it knows: else they are the sample.
    """
    target = model.target
    model.fit_encoder(sample, columns)
    takes_frames = model.encoding == "light"

    def blocks() -> Iterator[tuple[Any, Array]]:
        for block in labelled_blocks(data, format, target):
            rows = model.encode(block)
            yield rows if takes_frames else np.asarray(rows), words(block[target])

    model.estimator_ = clone(model.estimator).fit(blocks)
    proba = getattr(model.estimator_, "loo_proba_", None)
    if proba is not None:
        positions = getattr(model.estimator_, "loo_rows_", np.arange(len(proba)))
        some = np.linspace(0, len(proba) - 1, min(len(proba), SAMPLE_ROWS)).astype(int)
        proba = proba[some]
        sample = rows_at(labelled_blocks(data, format, target), positions[some])
    y = words(sample[target])
    model.classes_ = model.estimator_.classes_
    model.labels_ = np.searchsorted(model.classes_, y)
    return sample.drop(columns=target), y, proba


def labelled_blocks(data: Sequence[str], format: str | None, target: str) -> Iterator[Any]:
    """Blocks of a table without the rows that have no label."""
    for block in read_blocks(data, format):
        labelled = block.loc[block[target].notna()]
        if len(labelled):
            yield labelled


def rows_at(blocks: Iterator[Any], positions: Array) -> Any:
    """The rows at increasing positions, counted over all blocks, as one frame."""
    found, start = [], 0
    for block in blocks:
        inside = positions[(positions >= start) & (positions < start + len(block))] - start
        found.append(block.iloc[inside])
        start += len(block)
    return pandas().concat(found, ignore_index=True)


def words(column: Any) -> Array:
    """Labels as strings: a block of whole numbers and one with a hole in it agree."""
    return as_word(column, None).to_numpy(dtype=object).astype(str)
