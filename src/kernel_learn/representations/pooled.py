"""A stream that was read: its summary in the place of its rows."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.sources import one_hot
from kernel_learn.representations.state import StreamState, class_places
from kernel_learn.representations.summary import Summary, row_bytes
from kernel_learn.rows.access import dense, n_rows
from kernel_learn.rows.block import Block

READ_ROWS = 8192  # of a stream, at a time, for sums over its targets


class PooledSource:
    """What a fit sees of a stream: the rows of its summary, and the sums over all rows.

    ``X`` are the summary's rows, in the order of their keys. Everything that is
    chosen from a summary is chosen here as from an array; the moments of all rows
    are those of the state.
    """

    is_matrix = False

    def __init__(
        self,
        state: StreamState,
        plan: Plan | None = None,
        *,
        rewinds: bool = True,
        is_open: bool = False,  # more rows will come
        # all rows once more, and the same for a sum over them by workers; other rows are refused
        read: Callable[[int], Iterator[CheckedBlock]] | None = None,
        add_up: Callable[..., Any] | None = None,
    ) -> None:
        assert state.summary is not None
        self.state, self.plan, self.rewinds, self.is_open = state, plan, rewinds, is_open
        self._read = read
        # add_up(work, n_features=, n_sums=): the sum over all rows of what work gives for some,
        # n_sums matrices of n_features rows and columns; None if no workers have the rows
        self.add_up = add_up
        self.X: Rows = state.summary.rows
        self.groups: Array | None = None  # blocks have none
        self.copied_bytes = n_rows(self.X) * row_bytes(self.X)

    @cached_property
    def summary(self) -> Summary:
        """The summary, its rows being numbers of the rows X."""
        assert self.state.summary is not None
        return replace(self.state.summary, rows=np.arange(n_rows(self.X)))

    @property
    def n_rows(self) -> int:
        """Rows of the stream."""
        return self.state.n_rows

    @property
    def n_distinct(self) -> int:
        """Distinct rows of the stream, estimated where they are many."""
        return self.summary.n_distinct

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None where targets are values."""
        return None if self.state.classes is None else len(self.state.classes)

    @property
    def n_targets(self) -> int:
        """Columns of the targets."""
        return self.state.n_targets

    @property
    def counts(self) -> Array:
        """The weight of each class, or the weighted sum of each value."""
        return self.summary.counts

    def units(self, rows: Array) -> tuple[Array, ...]:
        """Rows that are left out together: blocks have none."""
        return ()

    @property
    def keys(self) -> Keys:
        """Of the rows X."""
        return self.summary.keys

    @property
    def first(self) -> Array:
        """One index per row of X, which are distinct."""
        return np.arange(n_rows(self.X))

    @property
    def merged_place(self) -> Array:
        """Where each row, in the order of the keys, stands among the merged ones."""
        return self.first

    def with_targets_at(self, shift: Array, scale: Array) -> "PooledSource":
        """The same rows with the values (T - shift) * scale."""
        state, other = self.state, copy(self)
        assert state.summary is not None
        moments = None if state.moments is None else state.moments.with_targets_at(shift, scale)
        summary = state.summary.with_targets_at(shift, scale)
        other.state = replace(state, summary=summary, moments=moments)
        other.__dict__.pop("summary", None)
        return other

    def target_moments(self) -> Moments:
        """Of the values of all rows, which are read again if moments were not summed."""
        moments = self.state.moments
        if moments is not None:
            return Moments(moments.n, moments.target_mean, moments.R, 0)
        self.check_rewinds("This fit")
        assert self._read is not None
        parts = [
            Moments.of_joint(block.y.copy(), 0, block.weight) for block in self._read(READ_ROWS)
        ]
        return reduce(Moments.merge, parts)

    def check_rewinds(self, who: str, how_often: str = "several times") -> None:
        """Refuse a source that can be read once where it must be read again."""
        if not self.rewinds:
            raise ValueError(
                f"{who} reads its rows {how_often}, and this source can be read once. Pass a "
                "function that returns the iterator anew."
            )

    def blocks(self, rows: int) -> Iterator[Block]:
        """All rows once more, their labels as class indices; refuses if they are others."""
        self.check_rewinds("This fit")
        assert self._read is not None and self.state.classes is not None
        for block in self._read(rows):
            yield Block(block.X, class_places(self.state.classes, block.y), block.weight)

    def targets(self, labels: Array) -> Array:
        """Labels as columns of numbers: one-hot, or the values themselves."""
        return labels if self.n_classes is None else one_hot(labels, self.n_classes)

    def merged(self) -> tuple[Rows, Array, Array]:
        """The distinct rows, with averaged targets and summed weights, if all of them are here."""
        summary = self.summary
        if summary.n_known is None:
            raise ValueError(
                f"An exact fit keeps all rows, and of this stream, of about {self.n_distinct} "
                f"distinct rows, {len(summary.keys)} are kept. Pass landmarks, or the rows as an "
                "array."
            )
        return self.X, dense(summary.labels) / summary.weight[:, None], summary.weight
