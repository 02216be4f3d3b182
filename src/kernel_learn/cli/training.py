"""What all commands that learn from a table do first."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.pipeline import Pipeline

from kernel_learn.arrays import Array
from kernel_learn.cli.session import Session
from kernel_learn.constraints import Pairs
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, TableFiles
from kernel_learn.tables.columns import Columns, check_target, find_groups, look_at_columns, offer
from kernel_learn.tables.methods import find_estimator
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.streaming import fit_in_blocks, is_too_large, reads_blocks, sample_rows


@dataclass(frozen=True)
class LearningTable:
    """Rows to learn from, with what is known of their columns."""

    frame: Frame  # without target and groups
    y: Array | None
    groups: Array | None
    columns: Columns
    files: list[str]
    notes: list[str]
    n_rows: int
    source: TableFiles | None = None  # of a table larger than memory: the frame is a sample
    proba: Array | None = None  # of held-out rows, where a fit in blocks knows it


@dataclass(frozen=True)
class Given:
    """The table to learn from, as it was asked for."""

    data: Sequence[str]
    target: str | None
    group: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    format: str | None = None
    memory: str | None = None
    seed: int = 0


def read_learning_table(run: Session, given: Given) -> LearningTable:
    """Read the table, take the labels out, look at the columns, say what is odd."""
    table, target, group = TableFiles(given.data, given.format), given.target, given.group
    total = None
    with run.progress("reading"):
        if is_too_large(table, given.memory):
            frame, total = sample_rows(table, seed=given.seed)
        else:
            frame = table.read()
    for name, option in ((target, "--target"), (group, "--group")):
        if name is not None and name not in frame.columns:
            raise TableError(f"There is no column {name!r} ({option}); {offer(frame)}")
    if target is not None and target == group:
        raise TableError(f"Column {target!r} cannot be both the target and the group.")
    notes: list[str] = []
    y = None
    if target is not None:
        labelled = frame[target].notna()
        y = check_target(frame[target])
        if not labelled.all():
            notes.append(f"{int((~labelled).sum())} rows without {target!r} are left out.")
            frame = frame.loc[labelled].reset_index(drop=True)
        single = [str(c) for c, n in zip(*np.unique(y, return_counts=True), strict=True) if n == 1]
        if single:
            notes.append(
                f"Class {single[0]!r} has a single row, which nothing can be learned from."
            )
    groups = None
    if group is not None:
        if frame[group].isna().any():
            raise TableError(
                f"Column {group!r} (--group) has empty cells; every row needs a group."
            )
        groups = np.unique(frame[group].astype(str), return_inverse=True)[1]
    frame = frame.drop(columns=[name for name in (target, group) if name is not None])
    if total is not None:
        if target is None or group is not None:
            raise TableError(
                "The table is larger than the memory budget, and in blocks it is learned from "
                "labels alone, without groups or pairs; raise --memory."
            )
        notes.append(
            f"The table has {total} rows, more than the memory budget holds: it is read in blocks, "
            "and figures are of some of its rows."
        )
    columns = look_at_columns(frame, y, given.drop, given.keep)
    if y is not None and given.group is None:
        notes += [
            f"All rows with the same {name!r} have the same {given.target!r}. If these are "
            f"repeated measures (of one patient, one batch), say --group {shlex.quote(name)}: "
            "leave-one-out tells them by the others, and its accuracy is too good."
            for name in find_groups(frame, columns, y)
        ]
    for text in [*notes, *columns.warnings]:
        run.warn(text)
    files = list(given.data)
    source = None if total is None else table
    n_rows = len(frame) if total is None else total
    return LearningTable(frame, y, groups, columns, files, notes, n_rows, source)


def fit_table(
    run: Session,
    model: TableModel,
    training: LearningTable,
    constraints: Pairs | None = None,
) -> LearningTable:
    """Fit to a table in memory or in blocks; the table with the rows that figures are of."""
    if (source := training.source) is None:
        model.fit(
            training.frame,
            training.y,
            training.groups,
            columns=training.columns,
            constraints=constraints,
        )
        return training
    if isinstance(model.estimator, Pipeline):
        text = f"The nearest neighbours are looked for among {len(training.frame)} of the rows."
        run.warn(text)
        training = replace(training, notes=[*training.notes, text])
    labelled = training.frame.assign(**{model.target: training.y})
    frame, y, proba = fit_in_blocks(model, source, labelled, training.columns)
    return replace(training, frame=frame, y=y, proba=proba)


def check_reads_blocks(method: str, others: Sequence[str], table: LearningTable) -> None:
    """Refuse a method that is not fitted to a table larger than memory; which others are."""
    if table.source is None or reads_blocks(find_estimator(method)):
        return
    able = [name for name in others if reads_blocks(find_estimator(name))]
    raise TableError(
        f"The table is larger than the memory budget, and {method} is not fitted in blocks; "
        f"choose one of {', '.join(able)}, or raise --memory."
    )


def command_line() -> str:
    """What was typed."""
    return " ".join(["kernel-learn", *(shlex.quote(word) for word in sys.argv[1:])])
