"""Rows of a source at once, as many as memory holds: of any kind, as they are."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.rows.frames import frame_bytes, is_frame, stack_frames
from kernel_learn.streams.blocks import RawBlock, RowSource, raw_length

# Rows asked for at a time.
READ_ROWS = 4096


def gather_blocks(
    source: RowSource, most_bytes: float
) -> tuple[list[RawBlock], Iterator[RawBlock] | None]:
    """The first blocks, until they take more than ``most_bytes``, and the others; None if none."""
    blocks: list[RawBlock] = []
    taken, rest = 0.0, iter(source.read(READ_ROWS))
    for block in rest:
        raw_length(block)  # or its sentence: what has no rows has no bytes
        blocks.append(block)
        taken += block_bytes(block.X)
        if taken > most_bytes:
            return blocks, rest
    return blocks, None


def join_blocks(blocks: Sequence[RawBlock]) -> tuple[Any, Any, Any]:
    """(X, y, weight) of all blocks, which were checked; None if no block has weights."""
    blocks = [block for block in blocks if raw_length(block)]
    if not blocks:
        raise ValueError("The source has no rows.")
    y = np.concatenate([np.asarray(block.y) for block in blocks])
    weight = None
    if any(block.weight is not None for block in blocks):
        weight = np.concatenate(
            [
                np.ones(raw_length(block)) if block.weight is None else np.asarray(block.weight)
                for block in blocks
            ]
        )
    return stack_raw([block.X for block in blocks]), y, weight


def block_bytes(X: Any) -> float:
    """Bytes of rows of any kind, about."""
    if is_frame(X):
        return frame_bytes(X)
    if hasattr(X, "tocsr"):
        return 1.5 * float(X.tocsr().data.nbytes)
    return float(getattr(X, "nbytes", 64 * len(X)))


def stack_raw(parts: list[Any]) -> Any:
    """Rows of one kind, one below the other: arrays, sparse matrices, frames, lists."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if is_frame(first):
        return stack_frames(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return [row for part in parts for row in part]
