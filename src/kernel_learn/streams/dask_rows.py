"""Fits and results on Dask: workers add up over their blocks, and a tree adds up their sums.

A fit is the two passes of a stream. In each of them a task takes some blocks,
checks them and gives their state; states are added four by four. What a task needs
(how rows look, the landmarks) is a task of the same graph: a worker that is lost
takes nothing with it that cannot be computed again. Needs the extra ``dask``.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.representations.block import CheckedBlock, rebatch
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.plan import BLOCK_BYTES, Plan
from kernel_learn.representations.state import PassSum, StreamState
from kernel_learn.representations.summary import capacity_of, row_bytes
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.block import Block
from kernel_learn.streams.blocks import READ_ROWS, ArrayRows, Identity
from kernel_learn.streams.checked_blocks import BadBlockError, CheckedBlocks, bad_block
from kernel_learn.streams.dask_tree import ARITY, Graph, TaskTree, check_workers, count_threads
from kernel_learn.streams.derived import SpreadDerivable
from kernel_learn.streams.progress import Progress

# Work that a task does at the least, in seconds of a fast core; its overhead is about 1 ms.
TASK_SECONDS = 0.1
# What a fast core takes: for a row whatever it holds, an entry of eight bytes that is hashed,
# and an operation of a matrix product.
ROW_SECONDS, ENTRY_SECONDS, OPERATION_SECONDS = 2e-7, 1e-8, 1e-11
# Bytes of rows that blocks are put together to at the most.
TASK_BYTES = 64 * 10**6
# Where a pass is cut into waves, to be kept on the way, the first has so many tasks per thread.
WAVE_TASKS = 8
# Of the rows with the smallest keys so many times what a summary keeps are sent up the tree.
SPARE = 2
# A row stands at so many times the number of its block, and its number within: that is known to
# every worker, whatever the sizes of the other blocks.
BLOCK_PLACES = 2**40

Part = Any  # a block as the graph computes it
Opened = Iterator[tuple[int, int, Block]]  # block, its row at which this part begins, the part


class SpreadRows(SpreadDerivable):
    """A source whose blocks are read, checked and added up by the workers.

    ``graph`` computes ``parts``, one per block; ``open_part`` makes raw blocks of one.
    """

    rewinds = True

    def __init__(
        self,
        graph: Graph,
        parts: Sequence[Part],
        open_part: Callable[[Part], Iterator[Block]],
        sizes: Sequence[int] | None,  # rows of each block, if they are known
        identity: Identity,
        part_bytes: float = 0.0,  # of the largest block, if it is known
    ) -> None:
        self.graph, self.parts, self.open_part = graph, list(parts), open_part
        self.sizes = None if sizes is None else [int(size) for size in sizes]
        self.n_rows = None if self.sizes is None else sum(self.sizes)
        self.part_bytes = part_bytes
        self._identity = identity
        self.text = f"{type(self).__name__}({len(self.parts):,} blocks)"
        self.bytes_each, self._typical, self._capacity = 0.0, 0, 0  # known once it was looked at

    def __repr__(self) -> str:
        return self.text

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.parts)

    def identity(self) -> Identity:
        return self._identity

    def read(self, rows: int) -> Iterator[Block]:
        """The blocks one after the other, brought to this process."""
        for number in range(len(self.parts)):
            yield from self._bring(number)

    def read_here(self, blocks: CheckedBlocks, rows: int) -> Iterator[CheckedBlock]:
        """The same looked at, with rows at the places that workers give them."""
        count = start = 0
        for number in range(len(self.parts)):
            place = number * BLOCK_PLACES
            for raw in self._bring(number):
                yield from blocks.check(count, start, raw, place).cut(rows)
                n = raw.n_rows
                count, start, place = count + 1, start + n, place + n

    def _bring(self, number: int) -> list[Block]:
        return self._add_up("read", _bring, [[number]]) or []

    def look(self, blocks: CheckedBlocks) -> None:
        """The first rows say what all rows look like."""
        self._check_memory(self.part_bytes)
        for number in range(len(self.parts)):
            head = self._add_up("look", _look, [[number]])
            if head is not None:
                self._typical, raw = head
                rows = blocks.check(number, 0, raw).X
                self.bytes_each, self._capacity = row_bytes(rows), capacity_of(rows)
                return

    def summaries(
        self, blocks: CheckedBlocks, class_sums: bool, passed: "Pass", *, bounded: bool = True
    ) -> "Waves":
        """The states of all rows without moments; of small keys only, if they are ``bounded``."""
        last = self._last_key() if bounded else None
        work = _Summarize(blocks.detached(), last, class_sums)
        groups = self._groups(ROW_SECONDS + ENTRY_SECONDS * self.bytes_each / 8)
        kept = min(self._capacity, self._n_expected())
        held = (ARITY + 1) * kept * self.bytes_each
        return Waves(self, "summary", work, groups if self.bytes_each else [], held, passed)

    def lacks_keys(self, state: StreamState) -> bool:
        """Whether so many rows repeat that fewer than are kept had keys that small."""
        summary = state.summary
        assert summary is not None
        return self._last_key() is not None and len(summary.keys) < summary.capacity

    def _n_expected(self) -> int:
        return self._typical * len(self.parts) if self.n_rows is None else self.n_rows

    def _last_key(self) -> np.uint64 | None:
        """The keys that a block's rows may have to be sent up, if not all are."""
        share = SPARE * self._capacity / max(1, self._n_expected())
        return np.uint64(share * 2.0**64) if share < 1 else None

    def check(self, plan: Plan) -> None:
        """Refuse landmarks whose sums a worker cannot hold, before they are chosen."""
        self._check_memory(self._block_bytes + moment_bytes(plan.n_landmarks * plan.n_kernels))

    def moments(
        self,
        blocks: CheckedBlocks,
        features: FeatureMap,
        classes: Array | None,
        block_rows: int,
        passed: "Pass",
    ) -> "Waves":
        """The states of all rows with moments of the features, without a summary."""
        M = features.dimension
        entries, landmarks = self.bytes_each / 8, n_rows(features.landmarks)
        operations = 2 * landmarks * (entries * len(features.kernels) + M) + M**2
        groups = self._groups(ROW_SECONDS + OPERATION_SECONDS * operations)
        work = _AddMoments(blocks.detached(), features, classes, block_rows)
        return Waves(self, "moments", work, groups, moment_bytes(M), passed)

    def sum_rows(
        self,
        blocks: CheckedBlocks,
        plan: Plan,
        work: Callable[[Iterator[CheckedBlock]], Any],
        *,
        n_features: int,
        n_sums: int,  # matrices of so many rows and columns
    ) -> PassSum | None:
        """The sum over all rows of what ``work`` gives for some, a plan's block at a time."""
        own = _OnRows(blocks.detached(), work, plan.block_rows)
        per_row = 2 * plan.n_landmarks * (self.bytes_each / 8 + n_features) + n_sums * n_features**2
        groups = self._groups(ROW_SECONDS + OPERATION_SECONDS * per_row)
        found: PassSum | None = self._add_up("pass", own, groups, n_sums * moment_bytes(n_features))
        return found

    def add_up(
        self,
        work: Callable[[Opened], Any],
        row_seconds: float = 1e-5,  # what it takes for a row
        held: float = BLOCK_BYTES,  # bytes that it takes beside the rows
    ) -> Any:
        """The sum over all blocks of what ``work`` gives for some; None has no part in it."""
        return self._add_up("sum", work, self._groups(row_seconds), held)

    # -- what is common ----------------------------------------------------------------

    def _groups(self, row_seconds: float) -> list[list[int]]:
        """Blocks that one task takes: enough work together, and not too many bytes."""
        rows = min(TASK_SECONDS / row_seconds, TASK_BYTES / max(1.0, self.bytes_each))
        groups: list[list[int]] = []
        count = np.inf
        for number in range(len(self.parts)):
            own = (self._typical or rows) if self.sizes is None else self.sizes[number]
            if count + own > rows:
                groups.append([])
                count = 0
            groups[-1].append(number)
            count += own
        return groups

    def _add_up(
        self,
        what: str,
        work: Callable[[Opened], Any],
        groups: list[list[int]],
        held: float = 0.0,
        progress: Progress | None = None,
        seen: int = 0,
    ) -> Any:
        if held:
            self._check_memory(self._block_bytes + held)
        tree = TaskTree(self.graph, partial(_work_on, self.open_part, work), what, progress, seen)
        try:
            return tree.compute([(group, [self.parts[i] for i in group]) for group in groups])
        except BadBlockError as error:
            if error.number is None:
                raise
            start = self._start(error.number)
            raise bad_block(error.error, error.number, error.row, start) from None

    def _start(self, number: int) -> int | None:
        """The row of the source at which a block begins."""
        if self.sizes is None and number:
            return int(self._add_up("count", _count, [[i] for i in range(number)]))
        return sum(self.sizes[:number]) if self.sizes else 0

    @property
    def _block_bytes(self) -> float:
        """Of the largest block, or of several that are put together."""
        return max(self.part_bytes, min(TASK_BYTES, self._typical * self.bytes_each))

    def _check_memory(self, amount: float) -> None:
        rows = self._typical if self.sizes is None else max(self.sizes, default=0)
        check_workers(amount, rows)


@dataclass(frozen=True)
class Pass:
    """A pass over the blocks: what of it was done before, and who hears how far it is."""

    progress: Progress
    n_blocks: int  # done, from the first
    n_rows: int  # of these
    pause: Callable[[], float] | None  # seconds between two waves; None: one wave


class Waves:
    """The sums of blocks, some tasks after the others; ``n_blocks`` of all are in those given.

    A pass whose states are kept on the way is cut into waves that take as long as the pause
    between two files; between them workers wait for the slowest of a wave.
    """

    def __init__(
        self,
        rows: SpreadRows,
        what: str,
        work: Callable[[Opened], Any],
        groups: list[list[int]],
        held: float,
        passed: Pass,
    ) -> None:
        self.passed = passed
        self._add_up = partial(rows._add_up, what, work, held=held, progress=passed.progress)
        self.n_blocks, self._seen = passed.n_blocks, passed.n_rows
        own = ([number for number in group if number >= self.n_blocks] for group in groups)
        self._groups = [group for group in own if group]

    def __iter__(self) -> Iterator[PassSum]:
        pause = self.passed.pause
        size = len(self._groups) if pause is None else WAVE_TASKS * count_threads()
        while self._groups:
            wave, start = self._groups[:size], time.perf_counter()
            found = self._add_up(wave, seen=self._seen)
            self._groups, self.n_blocks = self._groups[size:], wave[-1][-1] + 1
            if pause is not None and time.perf_counter() - start < pause():
                size *= 2
            if found is not None:
                self._seen += found.n_rows
                yield found


def moment_bytes(n_features: int) -> float:
    """What a task takes to add up moments: a block of features, and sums from its children."""
    return BLOCK_BYTES + (ARITY + 2) * 8.0 * n_features**2


# -- what a task does --------------------------------------------------------------------


def _work_on(
    open_part: Callable[[Part], Iterator[Block]],
    work: Callable[[Opened], Any],
    numbers: list[int],
    parts: list[Part],
) -> Any:
    """``work`` on the blocks of some parts."""

    def opened() -> Opened:
        for number, part in zip(numbers, parts, strict=True):
            offset = 0
            for raw in open_part(part):
                yield number, offset, raw
                offset += raw.n_rows

    return work(opened())


def _bring(blocks: Opened) -> list[Block]:
    """The blocks themselves."""
    return [raw for _, _, raw in blocks]


def _count(blocks: Opened) -> int:
    """The number of rows."""
    return sum(raw.n_rows for _, _, raw in blocks)


def _look(blocks: Opened) -> tuple[int, Block] | None:
    """The number of rows of a block and the first of them; None if there are none."""
    n, head = 0, None
    for _, _, raw in blocks:
        size = raw.n_rows
        head = first_rows(raw, READ_ROWS) if head is None and size else head
        n += size
    return None if head is None else (n, head)


@dataclass(frozen=True)
class _Summarize:
    """The state of the blocks' rows without moments; of keys up to ``last_key``, if it is given."""

    checked: CheckedBlocks
    last_key: np.uint64 | None
    class_sums: bool

    def __call__(self, blocks: Opened) -> PassSum | None:
        return _sum_of(checked_rows(self.checked, blocks, READ_ROWS), self._state)

    def _state(self, rows: CheckedBlock, before: StreamState | None) -> StreamState:
        own = None if before is None or before.summary is None else before.summary.last_key
        keys = [key for key in (own, self.last_key) if key is not None]
        return StreamState.of(
            rows,
            classes=None if before is None else before.classes,
            last_key=min(keys, default=None),
            class_sums=self.class_sums,
        )


@dataclass(frozen=True)
class _AddMoments:
    """The state of the blocks' rows with the moments of their features."""

    checked: CheckedBlocks
    features: FeatureMap
    classes: Array | None
    block_rows: int

    def __call__(self, blocks: Opened) -> PassSum | None:
        rows = checked_rows(self.checked, blocks, self.block_rows)
        return _sum_of(rebatch(rows, self.block_rows), self._state)

    def _state(self, rows: CheckedBlock, before: StreamState | None) -> StreamState:
        found = StreamState.of(rows, self.features, classes=self.classes, summarize=False)
        # the map is in the graph: it need not go up the tree with every sum
        return replace(found, features=None)


def _sum_of(
    blocks: Iterator[CheckedBlock],
    state_of: Callable[[CheckedBlock, StreamState | None], StreamState],
) -> PassSum | None:
    total: PassSum | None = None
    for rows in blocks:
        part = PassSum(rows.digest, state_of(rows, total.value if total else None))
        total = part if total is None else total + part
    return total


@dataclass(frozen=True)
class _OnRows:
    """Some work on checked rows."""

    checked: CheckedBlocks
    work: Callable[[Iterator[CheckedBlock]], Any]
    block_rows: int

    def __call__(self, blocks: Opened) -> PassSum:
        rows = checked_rows(self.checked, blocks, self.block_rows)
        return PassSum.over(rebatch(rows, self.block_rows), self.work)


def checked_rows(checked: CheckedBlocks, blocks: Opened, rows: int) -> Iterator[CheckedBlock]:
    """The rows of blocks, looked at, at most so many at a time."""
    checked = copy(checked)  # threads share what is in the graph
    for number, offset, raw in blocks:
        try:
            block = checked.check(number, None, raw, number * BLOCK_PLACES + offset)
        except BadBlockError as error:
            row = None if error.row is None else offset + error.row
            raise bad_block(error.error, number, row, None) from error
        yield from block.cut(rows)


def first_rows(raw: Block, rows: int) -> Block:
    """A few rows, which all count: weights are looked at with their block."""
    X = next(ArrayRows(raw.X).read(rows)).X
    return Block(X, None if raw.y is None else raw.y[:rows])
