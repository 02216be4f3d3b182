"""Rows of a source at once, as many as memory holds: of any kind, as they are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.datasets.blocks import RawBlock, RowSource, raw_length
from kernel_learn.kernels.table import column_names, is_frame

# Rows asked for at a time.
READ_ROWS = 4096


def gather_blocks(
    source: RowSource, most_bytes: float
) -> tuple[list[RawBlock], Iterator[RawBlock] | None]:
    """The first blocks, until they take more than ``most_bytes``, and the others; None if none."""
    blocks: list[RawBlock] = []
    taken, rest = 0.0, iter(source.read(READ_ROWS))
    for block in rest:
        blocks.append(block)
        taken += block_bytes(block.X)
        if taken > most_bytes:
            return blocks, rest
    return blocks, None


def join_blocks(given: Sequence[RawBlock]) -> tuple[Any, Any, Any]:
    """(X, y, weight) of all blocks, with None for no weights; refuses what does not go together."""
    blocks: list[RawBlock] = []
    for number, block in enumerate(given):
        size = raw_length(block)
        if size == 0:
            continue
        if block.y is None or len(block.y) != size:
            what = "no labels" if block.y is None else f"{len(block.y)} labels"
            raise ValueError(f"Block {number}: it has {size} rows and {what}.")
        if blocks and row_shape(block.X) != row_shape(blocks[0].X):
            raise ValueError(
                f"Block {number}: its rows are {row_shape(block.X)}, and those of the first block "
                f"are {row_shape(blocks[0].X)}."
            )
        if blocks and (block.weight is None) != (blocks[0].weight is None):
            raise ValueError(f"Block {number}: some blocks have weights and others have none.")
        blocks.append(block)
    if not blocks:
        raise ValueError("The source has no rows.")
    y = np.concatenate([np.asarray(block.y) for block in blocks])
    weight = None
    if blocks[0].weight is not None:
        weight = np.concatenate([np.asarray(block.weight) for block in blocks])
    return stack_raw([block.X for block in blocks]), y, weight


def block_bytes(X: Any) -> float:
    """Bytes of rows of any kind, about."""
    if hasattr(X, "memory_usage"):  # pandas
        return float(np.sum(X.memory_usage(index=False, deep=True)))
    if hasattr(X, "estimated_size"):  # polars
        return float(X.estimated_size())
    if hasattr(X, "tocsr"):
        return 1.5 * float(X.tocsr().data.nbytes)
    return float(getattr(X, "nbytes", 64 * len(X)))


def row_shape(X: Any) -> str:
    """What the rows of all blocks must have in common, in words."""
    if is_frame(X):
        return f"a frame of the columns {', '.join(column_names(X))}"
    kind = "sparse" if sparse.issparse(X) else type(X).__name__
    return f"{kind} of {X.shape[1]} columns" if len(getattr(X, "shape", ())) == 2 else kind


def stack_raw(parts: list[Any]) -> Any:
    """Rows of one kind, one below the other: arrays, sparse matrices, frames, lists."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if hasattr(first, "iloc"):
        import pandas

        return pandas.concat(parts, ignore_index=True)
    if hasattr(first, "get_column"):
        import polars

        return polars.concat(parts)
    if hasattr(first, "column_names"):
        import pyarrow

        return pyarrow.concat_tables(
            [p if isinstance(p, pyarrow.Table) else pyarrow.Table.from_batches([p]) for p in parts]
        )
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return [row for part in parts for row in part]
