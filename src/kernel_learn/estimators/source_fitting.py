"""A classifier from rows that come in blocks: in memory, from the disk, or by landmarks."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernel_learn.datasets.blocks import RawBlock, RowSource
from kernel_learn.datasets.gather import gather_blocks, join_blocks
from kernel_learn.estimators.distinct import merge_rows, stratified_rows
from kernel_learn.estimators.fitting import fit_classifier
from kernel_learn.estimators.preparing import (
    Prepared,
    candidates_for,
    class_factors,
    clock_of,
    make_problem,
    prepare,
    size_of,
)
from kernel_learn.estimators.problem import Fitted
from kernel_learn.estimators.progress import Progress
from kernel_learn.estimators.quality import (
    QUALITIES,
    TooLargeError,
    plan_classifier,
)
from kernel_learn.estimators.source_plan import plan_spilled
from kernel_learn.estimators.spill import Spill, SpilledTable
from kernel_learn.estimators.streaming import READ_ROWS
from kernel_learn.estimators.table_blocks import CellBlock, TableBlocks
from kernel_learn.estimators.validation import Array
from kernel_learn.kernels.rows import Keys
from kernel_learn.representations.plan import parse_memory

# The share of the budget that rows may take which are held until it is known how many there are.
HEAD_SHARE = 8


def fit_source(estimator: Any, source: RowSource, seed: int) -> tuple[Prepared, Fitted]:
    """The fit of the rows themselves if they are few, else with rows on the disk."""
    room = parse_memory(estimator.memory_budget) / HEAD_SHARE
    head, rest = gather_blocks(source, room)
    if rest is None:
        try:
            prepared = prepare(estimator, *join_blocks(head), None, seed, as_it_is=True)
            return prepared, fit_classifier(prepared.problem)
        except TooLargeError:
            pass
    with tempfile.TemporaryDirectory(prefix="kernel-learn-") as folder:
        spill = Spill(Path(folder))
        blocks = TableBlocks(estimator, HeadAndRest(source, head, rest))
        progress = Progress(estimator, getattr(source, "n_rows", None))
        rows = read_all(blocks, spill, progress)
        prepared = prepare_spilled(estimator, blocks, spill, rows, seed, progress)
        return prepared, fit_classifier(prepared.problem)


class HeadAndRest:
    """A source of which the first blocks were read already."""

    rewinds = False

    def __init__(
        self, source: RowSource, head: list[RawBlock], rest: Iterator[RawBlock] | None
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
            parts.append((own, labels.astype(np.int32), block._replace(cells=None, y=None)))
            progress.at(spill.n_rows)
    finally:
        progress.end()
    if not parts:
        raise ValueError("The source has no rows.")
    classes = np.unique(np.concatenate([own for own, _, _ in parts]))
    if len(classes) < 2:
        raise ValueError(
            f"The source has {len(classes)} class ({classes.tolist()[0]!r}), and at least 2 "
            "classes are needed to learn what tells them apart."
        )
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
    clock, quality, budget = (
        clock_of(estimator),
        QUALITIES[estimator.quality],
        estimator.memory_budget,
    )
    layout, cells = blocks.layout(), spill.rows()
    weight = read.weight * class_factors(
        estimator.class_weight, read.classes, read.labels, read.weight
    )
    k = len(read.classes)
    rows = merge_rows(cells, read.labels, weight, k, None, seed, keys=read.keys)
    table = SpilledTable(cells, rows.first, layout)
    some, reader, targets = table[:READ_ROWS], layout.reader, rows.targets
    tried = candidates_for(estimator.quality, targets, some, reader, blocks.groups)
    size = size_of(read.n_given, targets, some, reader, tried, estimator.n_jobs)
    few = None
    try:
        plan = plan_classifier(size, quality, budget, as_it_is=True)
        table = table[:]
    except TooLargeError:
        plan = plan_spilled(size, quality, budget, spill.n_bytes)
        few = stratified_rows(targets, plan.few_rows)
        progress.say(str(plan))
    problem = make_problem(
        estimator, table, reader, targets, blocks.groups, tried, plan, clock, few, progress
    )
    return Prepared(problem, rows, read.classes, read.positions, None, read.n_given)
