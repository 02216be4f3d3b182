"""A classifier from rows that come in blocks: in memory, from the disk, or by landmarks."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.deduplicate import DistinctRows, merge_rows
from kernel_learn.ensemble.fit import fit_classifier
from kernel_learn.ensemble.fitted import FittedEnsemble
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
from kernel_learn.ensemble.quality import QUALITIES
from kernel_learn.ensemble.spilled_table import SpilledTable
from kernel_learn.ensemble.table_cells import TableCells
from kernel_learn.fitting.variance import all_the_same
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.sources import Block
from kernel_learn.representations.state import StreamState, class_places, next_state
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import dense, is_sparse, take_rows
from kernel_learn.rows.labels import check_two_classes
from kernel_learn.rows.table import Table
from kernel_learn.streams.blocks import READ_ROWS, RawBlock, RowSource
from kernel_learn.streams.checked_blocks import CheckedBlocks
from kernel_learn.streams.gather import Room, drain, gather_blocks, join_blocks
from kernel_learn.streams.passes import Passes
from kernel_learn.streams.progress import Progress
from kernel_learn.streams.spill import DiskIsShort, Spill
from kernel_learn.warn import warn_user


def fit_source(
    estimator: BaseEstimator, source: RowSource, seed: int, checkpoint: Any = None
) -> tuple[Prepared, FittedEnsemble]:
    """The fit of the rows themselves if they are few, else with rows on the disk."""
    head, rest = gather_blocks(source, Room(estimator.memory_budget, is_few=False))
    if rest is None:
        for _ in CheckedBlocks(TableCells(estimator), source, "labels").check_all(head):
            pass  # or its sentence, with block and row
        try:
            prepared = prepare(estimator, *join_blocks(head), None, seed, as_it_is=True)
            return fit_prepared(estimator, prepared, checkpoint)
        except TooLargeError:
            pass
    progress = Progress(estimator, getattr(source, "n_rows", None))
    try:
        with tempfile.TemporaryDirectory(prefix="kernel-learn-") as folder:
            spill, cells = Spill(Path(folder)), TableCells(estimator)
            passes = Passes(CheckedBlocks(cells, source, "labels"), progress)
            prepared = prepare_spilled(estimator, passes, cells, drain(head, rest), spill, seed)
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
    estimator: BaseEstimator, prepared: Prepared, checkpoint: Any = None
) -> tuple[Prepared, FittedEnsemble]:
    """The classifier of rows that can be asked for; its work is kept where a folder is given."""
    with keep_work(estimator, prepared, checkpoint) as prepared:
        return prepared, fit_classifier(prepared.problem)


def spill_rows(
    passes: Passes, blocks: Iterator[RawBlock], spill: Spill
) -> tuple[CheckedBlock, Array]:
    """One pass: cells to the disk; all rows as one block of class indices, and the classes."""
    parts: list[tuple[Array, Array, CheckedBlock]] = []
    expected = passes.progress.n_rows

    def work(block: CheckedBlock, before: None) -> None:
        spill.add(block.X)
        if expected:
            spill.ask_for(spill.n_bytes / spill.n_rows * expected)
        own, labels = block.encoded
        rest = CheckedBlock(None, own, block.weight, block.places, block.keys)
        parts.append((own, labels.astype(np.int32), rest))

    passes.check(passes.add_up("reading rows", passes.blocks.check_all(blocks), work))
    classes = check_two_classes(np.unique(np.concatenate([own for own, _, _ in parts])))
    whole = CheckedBlock(
        spill.rows(),
        np.concatenate([np.searchsorted(classes, own)[labels] for own, labels, _ in parts]),
        np.concatenate([block.weight for _, _, block in parts]),
        np.concatenate([block.places for _, _, block in parts]),
        np.concatenate([block.keys for _, _, block in parts]),
    )
    return whole, classes


def prepare_spilled(
    estimator: BaseEstimator,
    passes: Passes,
    cells: TableCells,
    blocks: Iterator[RawBlock],
    spill: Spill,
    seed: int,
) -> Prepared:
    """Distinct rows on the disk as a problem; in memory if these are few."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    quality = QUALITIES[estimator.quality]
    read, classes = spill_rows(passes, blocks, spill)
    layout, n_given = cells.layout(), passes.blocks.n_read
    k = len(classes)
    factors = class_factors(estimator.class_weight, classes, np.bincount(read.y, read.weight, k))
    rows = merge_rows(read.X, read.y, read.weight, k, None, seed, read.keys, factors)
    spilled = SpilledTable(read.X, rows.first, layout)
    table: Table | SpilledTable = spilled
    some, reader, targets = spilled[:READ_ROWS], layout.reader, rows.targets
    tried = candidates_for(estimator.quality, targets, some, reader, cells.groups)
    size = size_of(n_given, targets, some, reader, tried, estimator.n_jobs)
    few = None
    try:
        plan = plan_ensemble(size, quality, budget, as_it_is=True)
        table = spilled[:]
    except TooLargeError:
        plan = plan_spilled(size, quality, budget, spill.n_bytes)
        few = stratified_rows(targets, plan.subsample_rows)
        passes.progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, cells.groups, tried, plan, clock, few, passes.progress
    )
    assert passes.first is not None
    return Prepared(problem, rows, classes, read.places, None, n_given, passes.first)


def fit_without_rows(
    estimator: BaseEstimator, source: RowSource, seed: int, progress: Progress, checkpoint: Any
) -> tuple[Prepared, FittedEnsemble]:
    """One pass that keeps some rows, on which members are chosen; one that fits them to all."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    cells, quality = TableCells(estimator), QUALITIES[estimator.quality]
    blocks = CheckedBlocks(cells, source, "labels")
    passes = Passes(blocks, progress)

    def work(block: CheckedBlock, before: StreamState | None) -> StreamState:
        rows = with_places(block)
        known = None if before is None or before.summary is None else before.summary.capacity
        capacity = known or rows_for_all(row_bytes(rows.X), quality, budget)
        return next_state(rows, before, capacity=capacity)

    def whole(rows: int) -> Iterator[CheckedBlock]:
        return blocks.check_all(source.read(rows))

    found = passes.check(passes.add_up("pass 1 of 2, sample", whole(READ_ROWS), work))
    layout, summary = cells.layout(), found.value.summary
    classes = check_two_classes(found.value.classes)
    if summary.n_distinct < 2:
        raise all_the_same("rows", (blocks.n_read, cells.n_columns))
    own = class_factors(estimator.class_weight, classes, summary.counts)
    factor = np.ones(len(classes)) if own is None else own
    order = np.random.default_rng(seed).permutation(len(summary.keys))
    kept, counts = take_rows(summary.rows, order), summary.labels[order].toarray() * factor
    table, places = layout.table(kept[:, :-1]), dense(kept[:, -1:]).ravel().astype(int)
    targets, reader, n_given = Targets(counts, (), own), layout.reader, blocks.n_read
    tried = candidates_for(estimator.quality, targets, table, reader, cells.groups)
    size = size_of(n_given, targets, table, reader, tried, estimator.n_jobs)
    plan = plan_landmarks(size, quality, budget, min(summary.n_distinct, n_given))
    progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, cells.groups, tried, plan, clock, None, progress
    )

    def read(rows: int) -> Iterator[Block]:
        cells.rewind()
        for block in passes.again(READ_ROWS, whole):
            labels = class_places(classes, block.y)
            for part in replace(block, y=labels).cut(rows):
                yield Block(layout.table(part.X), part.y, part.weight * factor[part.y])

    everything = np.arange(targets.n)
    distinct = DistinctRows(everything, everything, targets, found.read.text)
    prepared = Prepared(problem, distinct, classes, places, None, n_given, found.read)
    with keep_work(estimator, prepared, checkpoint) as prepared:
        return prepared, fit_on_landmarks(prepared.problem, read, seed)


def with_places(block: CheckedBlock) -> CheckedBlock:
    """With cells and, in the last column, where a row stands: it does not enter the row's key."""
    last = block.places[:, None].astype(np.float64)
    X: Rows
    if is_sparse(block.X):
        X = sparse.hstack([block.X, sparse.csr_matrix(last)], format="csr")
    else:
        X = np.hstack([block.X, last])
    return replace(block, X=X, known_keys=block.keys)
