"""An ensemble from rows that come in blocks: in memory, from the disk, or by landmarks."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from kernel_learn.arrays import ClassWeight, PathLike, Rows
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.ensemble.deduplicate import DistinctRows
from kernel_learn.ensemble.fit import fit_ensemble
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.given.streamed import GatheredTargets, SampledTargets
from kernel_learn.ensemble.given.targets import GivenClasses, GivenTargets
from kernel_learn.ensemble.ingest import (
    EnsembleSettings,
    Prepared,
    candidates_for,
    clock_of,
    keep_work,
    make_problem,
    prepare,
    quality_of,
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
from kernel_learn.ensemble.spilled_table import SpilledTable
from kernel_learn.ensemble.table_cells import TableCells
from kernel_learn.fitting.targets import warn_of_many_classes, warn_of_marks
from kernel_learn.fitting.variance import all_the_same
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.state import StreamState, next_state
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import dense, is_sparse, take_rows
from kernel_learn.rows.block import Block
from kernel_learn.rows.table import Table
from kernel_learn.streams.blocks import READ_ROWS, RowSource
from kernel_learn.streams.checked_blocks import CheckedBlocks, Target
from kernel_learn.streams.gather import Room, drain, gather_blocks, join_blocks
from kernel_learn.streams.passes import Passes
from kernel_learn.streams.progress import Progress
from kernel_learn.streams.spill import DiskIsShort, Spill, temporary_folder
from kernel_learn.warn import warn_user


def fit_source(
    estimator: EnsembleSettings, source: RowSource, seed: int, checkpoint: PathLike | None = None
) -> tuple[Prepared, FittedEnsemble]:
    """The fit of the rows themselves if they are few, else with rows on the disk."""
    kind = target_kind(estimator)
    head, rest = gather_blocks(source, Room(estimator.memory_budget, is_few=False))
    if rest is None:
        for _ in CheckedBlocks(TableCells(estimator), source, kind).check_all(head):
            pass  # or its sentence, with block and row
        try:
            prepared = prepare(estimator, *join_blocks(head), None, seed, as_it_is=True)
            return fit_prepared(estimator, prepared, checkpoint)
        except TooLargeError:
            pass
    progress = Progress(estimator, getattr(source, "n_rows", None))
    try:
        with temporary_folder() as folder:
            spill, cells = Spill(folder), TableCells(estimator)
            passes = Passes(CheckedBlocks(cells, source, kind), progress)
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
    estimator: EnsembleSettings, prepared: Prepared, checkpoint: PathLike | None = None
) -> tuple[Prepared, FittedEnsemble]:
    """The ensemble of rows that can be asked for; its work is kept where a folder is given."""
    if isinstance(prepared.given, GivenClasses):
        warn_of_marks(prepared.given.classes, type(estimator).__name__)
        warn_of_many_classes(prepared.given.classes, prepared.n_given)
    with keep_work(estimator, prepared, checkpoint) as prepared:
        return prepared, fit_ensemble(prepared.problem)


def target_kind(estimator: EnsembleSettings) -> Target:
    """What the blocks of a source are to have beside their rows."""
    return "values" if estimator.learns_values else "labels or sets"


def class_weight_of(estimator: EnsembleSettings) -> ClassWeight:
    """Weights of the classes, where there are classes."""
    return getattr(estimator, "class_weight", None)


def spill_rows(
    estimator: EnsembleSettings, passes: Passes, blocks: Iterator[Block], spill: Spill
) -> tuple[CheckedBlock, GivenTargets]:
    """One pass: cells to the disk; all rows as one block, and their targets."""
    parts: list[CheckedBlock] = []
    gathered = GatheredTargets(class_weight_of(estimator))
    expected = passes.progress.n_rows

    def work(block: CheckedBlock, before: None) -> None:
        spill.add(block.X)
        if expected:
            spill.ask_for(spill.n_bytes / spill.n_rows * expected)
        gathered.add(block)
        parts.append(CheckedBlock(None, block.y[:0], block.weight, block.places, block.keys))

    passes.check(passes.add_up("reading rows", passes.blocks.check_all(blocks), work))
    whole = CheckedBlock(
        spill.rows(),
        np.empty(0),
        np.concatenate([block.weight for block in parts]),
        np.concatenate([block.places for block in parts]),
        np.concatenate([block.keys for block in parts]),
    )
    return whole, gathered.all(passes.blocks.single, passes.blocks.is_set)


def prepare_spilled(
    estimator: EnsembleSettings,
    passes: Passes,
    cells: TableCells,
    blocks: Iterator[Block],
    spill: Spill,
    seed: int,
) -> Prepared:
    """Distinct rows on the disk as a problem; in memory if these are few."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    quality = quality_of(estimator)
    read, given = spill_rows(estimator, passes, blocks, spill)
    layout, n_given = cells.layout(), passes.blocks.n_read
    rows = given.merge(read.X, read.weight, None, seed, read.keys)
    spilled = SpilledTable(read.X, rows.first, layout)
    table: Table | SpilledTable = spilled
    some, reader, targets = spilled[:READ_ROWS], layout.reader, rows.targets
    tried = candidates_for(estimator.quality, targets, some, reader, cells.groups)
    size = size_of(estimator, n_given, targets, some, reader, tried)
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
    return Prepared(problem, rows, given, read.places, None, n_given, passes.first)


def fit_without_rows(
    estimator: EnsembleSettings,
    source: RowSource,
    seed: int,
    progress: Progress,
    checkpoint: PathLike | None,
) -> tuple[Prepared, FittedEnsemble]:
    """One pass that keeps some rows, on which members are chosen; one that fits them to all."""
    clock, budget = clock_of(estimator), estimator.memory_budget
    cells, quality = TableCells(estimator), quality_of(estimator)
    blocks = CheckedBlocks(cells, source, target_kind(estimator))
    passes = Passes(blocks, progress)

    def work(block: CheckedBlock, before: StreamState | None) -> StreamState:
        rows = with_places(block)
        known = None if before is None or before.summary is None else before.summary.capacity
        capacity = known or rows_for_all(row_bytes(rows.X), quality, budget)
        return next_state(rows, before, capacity=capacity)

    def whole(rows: int) -> Iterator[CheckedBlock]:
        return blocks.check_all(source.read(rows))

    found = passes.check(passes.add_up("pass 1 of 2, sample", whole(READ_ROWS), work))
    if blocks.is_set:
        raise ValueError(
            "Several labels per row are learned from rows that are in memory or on the disk, and "
            "these fit into neither. Make room, raise memory_budget, or fit one label at a time."
        )
    layout, summary = cells.layout(), found.value.summary
    order = np.random.default_rng(seed).permutation(len(summary.keys))
    sampled = SampledTargets.of(found.value, order, blocks.single, class_weight_of(estimator))
    if summary.n_distinct < 2:
        raise all_the_same("rows", (blocks.n_read, cells.n_columns))
    kept = take_rows(summary.rows, order)
    table, places = layout.table(kept[:, :-1]), dense(kept[:, -1:]).ravel().astype(int)
    targets, reader, n_given = sampled.targets, layout.reader, blocks.n_read
    tried = candidates_for(estimator.quality, targets, table, reader, cells.groups)
    size = size_of(estimator, n_given, targets, table, reader, tried)
    plan = plan_landmarks(size, quality, budget, min(summary.n_distinct, n_given))
    progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, cells.groups, tried, plan, clock, None, progress
    )

    def read(rows: int) -> Iterator[Block]:
        cells.rewind()
        for block in passes.again(READ_ROWS, whole):
            for part in sampled.read(block).cut(rows):
                yield Block(layout.table(part.X), part.y, part.weight)

    everything = np.arange(targets.n)
    distinct = DistinctRows(everything, everything, targets, found.read.text)
    prepared = Prepared(problem, distinct, sampled.given, places, None, n_given, found.read)
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
