"""Rows of a source at once, as many as memory holds: of any kind, as they are."""

from collections.abc import Iterator, Sequence

import numpy as np

from kernel_learn.representations.plan import parse_memory
from kernel_learn.representations.summary import CAPACITY, CAPACITY_BYTES, stack_rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.block import Block, Given
from kernel_learn.rows.frames import frame_bytes, is_frame, stack_frames
from kernel_learn.streams.blocks import READ_ROWS, NoRowsError, RowSource

# The share of the budget that rows may take which are held until it is known how many there are.
HEAD_SHARE = 8


class Room:
    """For rows that are held until it is known how many there are.

    ``is_few``: they stand for themselves in the place of a summary, and are no more than its rows.
    """

    def __init__(self, memory_budget: float | str | None, *, is_few: bool = True) -> None:
        budget = parse_memory(memory_budget) / HEAD_SHARE
        self.most_rows = CAPACITY if is_few else np.inf
        self.most_bytes = min(CAPACITY_BYTES, budget) if is_few else budget
        self.n, self.n_bytes = 0, 0.0

    def holds(self, n: float, n_bytes: float) -> bool:
        """Whether so many rows of so many bytes may be held."""
        return n <= self.most_rows and n_bytes <= self.most_bytes

    def take(self, n: int, n_bytes: float) -> bool:
        """Whether these may be held beside those that were taken before."""
        self.n, self.n_bytes = self.n + n, self.n_bytes + n_bytes
        return self.holds(self.n, self.n_bytes)


def gather_blocks(source: RowSource, room: Room) -> tuple[list[Block], Iterator[Block] | None]:
    """The first blocks, until there is no more room, and the others; None if there are none."""
    blocks: list[Block] = []
    rest = iter(source.read(READ_ROWS))
    for block in rest:
        n = block.n_rows  # or its sentence: what has no rows has no bytes
        blocks.append(block)
        if not room.take(n, rows_bytes(block.X)):
            return blocks, rest
    return blocks, None


def drain(head: list[Block], rest: Iterator[Block] | None) -> Iterator[Block]:
    """The blocks that were gathered, each given up as it is read, and then the others."""
    while head:
        yield head.pop(0)
    yield from rest or ()


def join_blocks(blocks: Sequence[Block]) -> Block:
    """(X, y, weight) of all blocks, which were checked; None if no block has weights."""
    blocks = [block for block in blocks if block.n_rows]
    if not blocks:
        raise NoRowsError
    y = np.concatenate([np.asarray(block.y) for block in blocks])
    weight = None
    if any(block.weight is not None for block in blocks):
        given = (np.ones(one.n_rows) if one.weight is None else one.weight for one in blocks)
        weight = np.concatenate([np.asarray(own) for own in given])
    return Block(stack_raw([block.X for block in blocks]), y, weight)


def rows_bytes(X: Given) -> float:
    """Bytes of rows of any kind, about."""
    if is_frame(X):
        return frame_bytes(X)
    if is_sparse(X):
        return 1.5 * float(X.tocsr().data.nbytes)
    return float(getattr(X, "nbytes", 64 * len(X)))


def stack_raw(parts: list[Given]) -> Given:
    """Rows of one kind, one below the other: arrays, sparse matrices, frames, lists."""
    if len(parts) > 1 and is_frame(parts[0]):
        return stack_frames(parts)
    if len(parts) == 1 or is_sparse(parts[0]) or isinstance(parts[0], np.ndarray):
        return stack_rows(*parts)
    return [row for part in parts for row in part]
