"""Checked rows of one block, with their labels and weights, and where in the source they stand."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.representations.summary import stack_rows
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.rows.digest import PassDigest, label_keys, marks
from kernel_learn.rows.keys import row_keys


@dataclass(frozen=True, eq=False)
class CheckedBlock:
    """Rows that count; ``y`` are labels as they were given (n,), or values (n, q)."""

    X: Rows
    y: Array
    weight: Array  # (n,), positive
    known_places: Array | None = None  # (n,) in the source; None: from its start on
    known_keys: Keys | None = None  # of the rows; None: by their content

    @property
    def is_valued(self) -> bool:
        """Whether targets are values, not labels."""
        return self.y.ndim == 2

    @cached_property
    def places(self) -> Array:
        """Where each row stands in the source."""
        return np.arange(len(self.weight)) if self.known_places is None else self.known_places

    @cached_property
    def keys(self) -> Keys:
        """Of the rows' contents, hashed once."""
        return row_keys(self.X) if self.known_keys is None else self.known_keys

    @cached_property
    def encoded(self) -> tuple[Array, Array]:
        """The (sorted) classes of the block, and the labels as their indices."""
        classes, labels = np.unique(self.y, return_inverse=True)
        return classes, labels

    @cached_property
    def label_keys(self) -> Keys:
        """Of the labels or values."""
        if self.is_valued:
            return row_keys(np.asarray(self.y, dtype=np.float64))
        return label_keys(*self.encoded)

    @property
    def marks(self) -> Keys:
        """Of label and weight together; True and 1 are one label."""
        labels = self.label_keys
        if self.y.dtype == bool and not self.is_valued:
            labels = label_keys(np.arange(2), self.y.astype(int))
        return marks(labels, self.weight)

    @cached_property
    def digest(self) -> PassDigest:
        """Of rows, labels and weights, each at its place."""
        return PassDigest.of(self.keys, self.label_keys, self.weight, self.places)

    def take(self, rows: slice) -> "CheckedBlock":
        """Some of the rows."""
        if rows.start == 0 and rows.stop >= len(self.weight):
            return self
        keys = self._hashed()
        return CheckedBlock(
            take_rows(self.X, rows),
            self.y[rows],
            self.weight[rows],
            self.places[rows],
            None if keys is None else keys[rows],
        )

    def cut(self, rows: int) -> Iterator["CheckedBlock"]:
        """The rows in parts of at most so many."""
        for start in range(0, len(self.weight), rows):
            yield self.take(slice(start, start + rows))

    def _hashed(self) -> Keys | None:
        return self.__dict__.get("keys", self.known_keys)


def stack_blocks(blocks: list[CheckedBlock]) -> CheckedBlock:
    """Several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    keys = [own for block in blocks if (own := block._hashed()) is not None]
    return CheckedBlock(
        stack_rows(*(block.X for block in blocks)),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.weight for block in blocks]),
        np.concatenate([block.places for block in blocks]),
        np.concatenate(keys) if len(keys) == len(blocks) else None,
    )


def rebatch(blocks: Iterable[CheckedBlock], rows: int) -> Iterator[CheckedBlock]:
    """The same rows in blocks of at least half and at most ``rows``, but for the last."""
    waiting: list[CheckedBlock] = []
    size = 0
    for block in blocks:
        n = n_rows(block.weight)
        if n == 0:
            continue
        if size and size + n > rows:
            yield stack_blocks(waiting)
            waiting, size = [], 0
        waiting.append(block)
        size += n
        if 2 * size > rows:
            yield stack_blocks(waiting)
            waiting, size = [], 0
    if waiting:
        yield stack_blocks(waiting)
