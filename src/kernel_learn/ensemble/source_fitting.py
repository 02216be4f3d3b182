"""A classifier from rows that come in blocks: in memory, from the disk, or by landmarks."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Keys
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.deduplicate import DistinctRows, merge_rows
from kernel_learn.ensemble.fit import fit_classifier
from kernel_learn.ensemble.fitted import FittedEnsemble as Fitted
from kernel_learn.ensemble.ingest import (
    Prepared,
    candidates_for,
    class_factors,
    clock_of,
    keep_work,
    make_problem,
    prepare,
    size_of,
)
from kernel_learn.ensemble.landmark_fitting import fit_on_landmarks
from kernel_learn.ensemble.plan import (
    TooLargeError,
    plan_ensemble,
    plan_landmarks,
    plan_spilled,
    rows_for_all,
)
from kernel_learn.ensemble.quality import QUALITIES, Quality
from kernel_learn.ensemble.spill import DiskIsShort, Spill, SpilledTable
from kernel_learn.ensemble.table_blocks import CellBlock, TableBlocks
from kernel_learn.fitting.stream_training import READ_ROWS
from kernel_learn.fitting.variance import all_the_same
from kernel_learn.representations.plan import parse_memory
from kernel_learn.representations.summary import Summary, row_bytes
from kernel_learn.rows.access import dense, is_sparse, row_blocks, take_rows
from kernel_learn.rows.keys import digest_sums, digest_text
from kernel_learn.rows.table import Table
from kernel_learn.streams.blocks import RawBlock, RowSource
from kernel_learn.streams.gather import gather_blocks, join_blocks
from kernel_learn.streams.progress import Progress
from kernel_learn.warn import warn_user

# The share of the budget that rows may take which are held until it is known how many there are.
HEAD_SHARE = 8


def fit_source(
    estimator: Any, source: RowSource, seed: int, checkpoint: Any = None
) -> tuple[Prepared, Fitted]:
    """The fit of the rows themselves if they are few, else with rows on the disk."""
    room = parse_memory(estimator.memory_budget) / HEAD_SHARE
    head, rest = gather_blocks(source, room)
    if rest is None:
        TableBlocks(estimator, HeadAndRest(source, list(head))).check()
        try:
            prepared = prepare(estimator, *join_blocks(head), None, seed, as_it_is=True)
            return fit_prepared(estimator, prepared, checkpoint)
        except TooLargeError:
            pass
    progress = Progress(estimator, getattr(source, "n_rows", None))
    try:
        with tempfile.TemporaryDirectory(prefix="kernel-learn-") as folder:
            spill = Spill(Path(folder))
            blocks = TableBlocks(estimator, HeadAndRest(source, head, rest))
            rows = read_all(blocks, spill, progress)
            prepared = prepare_spilled(estimator, blocks, spill, rows, seed, progress)
            return fit_prepared(estimator, prepared, checkpoint)
    except DiskIsShort as error:
        if not source.rewinds:
            raise ValueError(
                f"The rows of this source do not fit into memory, nor on the disk ({error}), and "
                "it is read once. Make room, set TMPDIR to a folder that has it, or pass a "
                "function that returns the iterator anew."
            ) from error
        warn_user(
            f"The rows do not fit into memory, nor on the disk ({error}): kernels are fitted on "
            "landmarks, which costs error where narrow ones pay. Make room, or set TMPDIR to a "
            "folder that has it."
        )
    return fit_without_rows(estimator, source, seed, progress, checkpoint)


def fit_prepared(
    estimator: Any, prepared: Prepared, checkpoint: Any = None
) -> tuple[Prepared, Fitted]:
    """The classifier of rows that can be asked for; its work is kept where a folder is given."""
    with keep_work(estimator, prepared, checkpoint) as prepared:
        return prepared, fit_classifier(prepared.problem)


class HeadAndRest:
    """A source of which the first blocks were read already."""

    rewinds = False

    def __init__(
        self, source: RowSource, head: list[RawBlock], rest: Iterator[RawBlock] | None = None
    ) -> None:
        self.source, self.head, self.rest = source, head, rest

    def read(self, rows: int) -> Iterator[RawBlock]:
        while self.head:
            yield self.head.pop(0)
        yield from self.rest or ()

    def identity(self) -> dict[str, Any]:
        return self.source.identity()


@dataclass(frozen=True)
class ReadRows:
    """What is kept of each row when its cells are on the disk."""

    labels: Array  # (n,) indices into the classes
    classes: Array
    weight: Array  # (n,)
    keys: Keys  # (n,)
    positions: Array  # (n,) in the source
    n_given: int


def read_all(blocks: TableBlocks, spill: Spill, progress: Progress) -> ReadRows:
    """One pass: cells to the disk, labels, weights and keys kept."""
    parts: list[tuple[Array, Array, CellBlock]] = []
    progress.begin("reading rows", None, 0)
    expected = getattr(progress, "n_rows", None)
    try:
        for block in blocks.read_cells(READ_ROWS):
            spill.add(block.cells)
            if expected:
                spill.ask_for(spill.n_bytes / spill.n_rows * expected)
            own, labels = np.unique(block.y, return_inverse=True)
            parts.append((own, labels.astype(np.int32), block._replace(cells=None, y=own)))
            progress.at(spill.n_rows)
    finally:
        progress.end()
    if not parts:
        raise ValueError("The source has no rows.")
    classes = check_classes(np.unique(np.concatenate([own for own, _, _ in parts])))
    return ReadRows(
        np.concatenate([np.searchsorted(classes, own)[labels] for own, labels, _ in parts]),
        classes,
        np.concatenate([block.weight for _, _, block in parts]),
        np.concatenate([block.keys for _, _, block in parts]),
        np.concatenate([block.positions for _, _, block in parts]),
        blocks.n_read,
    )


def prepare_spilled(
    estimator: Any,
    blocks: TableBlocks,
    spill: Spill,
    read: ReadRows,
    seed: int,
    progress: Progress,
) -> Prepared:
    """Distinct rows on the disk as a problem; in memory if these are few."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    quality = QUALITIES[estimator.quality]
    layout, cells = blocks.layout(), spill.rows()
    weight = read.weight * class_factors(
        estimator.class_weight, read.classes, read.labels, read.weight
    )
    k = len(read.classes)
    rows = merge_rows(cells, read.labels, weight, k, None, seed, keys=read.keys)
    spilled = SpilledTable(cells, rows.first, layout)
    table: Table | SpilledTable = spilled
    some, reader, targets = spilled[:READ_ROWS], layout.reader, rows.targets
    tried = candidates_for(estimator.quality, targets, some, reader, blocks.groups)
    size = size_of(read.n_given, targets, some, reader, tried, estimator.n_jobs)
    few = None
    try:
        plan = plan_ensemble(size, quality, budget, as_it_is=True)
        table = spilled[:]
    except TooLargeError:
        plan = plan_spilled(size, quality, budget, spill.n_bytes)
        few = stratified_rows(targets, plan.subsample_rows)
        progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, blocks.groups, tried, plan, clock, few, progress
    )
    return Prepared(problem, rows, read.classes, read.positions, None, read.n_given)


def fit_without_rows(
    estimator: Any, source: RowSource, seed: int, progress: Progress, checkpoint: Any
) -> tuple[Prepared, Fitted]:
    """One pass that keeps some rows, on which members are chosen; one that fits them to all."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    blocks, quality = TableBlocks(estimator, source), QUALITIES[estimator.quality]
    found = sample_source(blocks, quality, budget, progress)
    layout, classes, summary = blocks.layout(), found.classes, found.summary
    if summary.n_distinct < 2:
        raise all_the_same("rows", (blocks.n_read, blocks.n_columns))
    k = len(classes)
    factor = class_factors(estimator.class_weight, classes, np.arange(k), summary.counts)
    order = np.random.default_rng(seed).permutation(len(summary.keys))
    cells, counts = take_rows(summary.rows, order), summary.labels[order].toarray() * factor
    table, positions = layout.table(cells[:, :-1]), dense(cells[:, -1:]).ravel().astype(int)
    targets, reader = Targets(counts), layout.reader
    tried = candidates_for(estimator.quality, targets, table, reader, blocks.groups)
    size = size_of(blocks.n_read, targets, table, reader, tried, estimator.n_jobs)
    plan = plan_landmarks(size, quality, budget, min(summary.n_distinct, blocks.n_read))
    progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, blocks.groups, tried, plan, clock, None, progress
    )

    def read(rows: int) -> Iterator[tuple[Table, Array, Array]]:
        sums = np.zeros(2, dtype=np.uint64)
        for block in blocks.read_cells(READ_ROWS):
            sums += digest_sums(block.keys)
            labels = np.searchsorted(classes, block.y)
            for part in row_blocks(len(labels), rows):
                some = labels[part]
                yield layout.table(block.cells[part]), some, block.weight[part] * factor[some]
        if not np.array_equal(sums, found.sums):
            raise ValueError(
                "The source gave other rows in its second pass: it must give the same each time."
            )

    everything = np.arange(targets.n)
    rows = DistinctRows(everything, everything, targets, digest_text(found.sums))
    prepared = Prepared(problem, rows, classes, positions, None, blocks.n_read)
    with keep_work(estimator, prepared, checkpoint) as prepared:
        return prepared, fit_on_landmarks(prepared.problem, read, seed)


@dataclass(frozen=True)
class SampledSource:
    """The classes of a source, the rows of smallest keys, and the digest of all."""

    classes: Array
    summary: Summary  # cells and, in the last column, where a row stood
    sums: Array  # see digest_sums


def sample_source(
    blocks: TableBlocks, quality: Quality, memory_budget: Any, progress: Progress
) -> SampledSource:
    """One pass that keeps as many rows as stand for all."""
    summary: Summary | None = None
    known: list[Any] = []  # labels as they came
    sums = np.zeros(2, dtype=np.uint64)
    progress.begin("pass 1 of 2, sample", None, 0)
    try:
        for block in blocks.read_cells(READ_ROWS):
            own, labels = np.unique(block.y, return_inverse=True)
            known += [label for label in own.tolist() if label not in known]
            place = np.array([known.index(label) for label in own.tolist()])
            cells, k = with_positions(block), len(known)
            capacity = rows_for_all(row_bytes(cells), quality, memory_budget)
            part = Summary.of(
                cells,
                place[labels],
                block.weight,
                n_classes=k,
                capacity=capacity if summary is None else summary.capacity,
                keys=block.keys,
                last_key=None if summary is None else summary.last_key,
            )
            if summary is not None:
                part = summary.with_classes(np.arange(len(summary.counts)), k).merge(part)
            summary = part
            sums += digest_sums(block.keys)
            progress.at(int(block.positions[-1]) + 1)
    finally:
        progress.end()
    if summary is None:
        raise ValueError("The source has no rows.")
    classes = check_classes(np.unique(np.array(known)))
    place = np.searchsorted(classes, np.array(known))
    return SampledSource(classes, summary.with_classes(place, len(classes)), sums)


def with_positions(block: CellBlock) -> Any:
    """Cells and, in the last column, where a row stands: it does not enter the row's key."""
    last = block.positions[:, None].astype(np.float64)
    if is_sparse(block.cells):
        return sparse.hstack([block.cells, sparse.csr_matrix(last)], format="csr")
    return np.hstack([block.cells, last])


def check_classes(classes: Array) -> Array:
    """Classes, two at the least."""
    if len(classes) < 2:
        raise ValueError(
            f"The source has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 "
            "classes are needed to learn what tells them apart."
        )
    return classes
