"""What all commands that learn from a table do first."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.pipeline import Pipeline

from kernel_learn.arrays import Array
from kernel_learn.cli.reading import Given, ReadTable, say_reading
from kernel_learn.cli.session import Session
from kernel_learn.constraints import Pairs
from kernel_learn.interop.files import ModelFileError, check_savable
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, TableFiles
from kernel_learn.tables.columns import Columns, find_groups, look_at_columns
from kernel_learn.tables.methods import find_estimator
from kernel_learn.tables.model import TableModel, make_encoder
from kernel_learn.tables.new_rows import describe_seen
from kernel_learn.tables.number_columns import find_number_leaks
from kernel_learn.tables.reading.clean_files import CleanFiles
from kernel_learn.tables.reading.table_reading import TableReading
from kernel_learn.tables.streaming import (
    HeldShare,
    Told,
    fit_in_blocks,
    is_too_large,
    reads_blocks,
    sample_rows,
)
from kernel_learn.tables.tasks import Task


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
    reading: TableReading
    source: TableFiles | None = None  # of a table larger than memory: the frame is a sample
    proba: Array | None = None  # of held-out rows, where a fit in blocks knows it
    assessed_by: str | None = None  # how figures come about, where a fit in blocks says it
    task: Task = field(default_factory=lambda: Task("classify"))


def read_learning_table(run: Session, given: Given) -> LearningTable:
    """Read the table, take the labels out, look at the columns, say what is odd."""
    target, group = given.target, given.group
    found, total = read_given(run, given)
    read, y, task = found.clean, found.y, found.task
    frame, reading = read.frame, read.reading
    notes: list[str] = []
    if target is not None and y is not None:
        labelled = frame[target].notna()
        notes += [task.sentence] * task.is_guess
        if not labelled.all():
            notes.append(f"{int((~labelled).sum())} rows without {target!r} are left out.")
            frame = frame.loc[labelled].reset_index(drop=True)
        single = [str(c) for c, n in zip(*np.unique(y, return_counts=True), strict=True) if n == 1]
        if single and not task.is_regression:
            notes.append(f"Class {single[0]!r} has a single row; nothing can be learned from it.")
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
    dropped = [*given.drop, *reading.skipped]
    labels = None if task.is_regression else y
    columns = look_at_columns(frame, labels, dropped, given.keep, reading.kinds)
    n_rows = len(frame) if total is None else total
    say_reading(
        run,
        given.data,
        read,
        columns,
        rows=n_rows,
        target=target,
        group=group,
        is_regression=task.is_regression,
    )
    if not task.is_guess and task.sentence:
        run.note(task.sentence)
    if y is not None and task.is_regression:
        notes += find_number_leaks(frame, columns, y)
    if labels is not None and given.group is None:
        notes += [
            f"All rows with the same {name!r} have the same {given.target!r}. If these are "
            f"repeated measures (of one patient, one batch), say --group {shlex.quote(name)}: "
            "leave-one-out tells them by the others, and its accuracy is too good."
            for name in find_groups(frame, columns, labels)
        ]
    for text in [*notes, *columns.warnings]:
        run.warn(text)
    files = list(given.data)
    source = None if total is None else CleanFiles(found.files, reading)
    return LearningTable(
        frame, y, groups, columns, files, notes, n_rows, reading, source, task=task
    )


def read_given(run: Session, given: Given) -> tuple[ReadTable, int | None]:
    """The table, or a sample of one that is too large and how many rows that has."""
    if given.early is not None:
        return given.early, None
    files, total = given.options.files(given.data), None
    with run.progress("reading"):
        if is_too_large(files, given.memory):
            frame, total = sample_rows(files, seed=given.seed)
        else:
            frame = files.read()
    return given.read(files, frame), total


def fit_table(
    run: Session,
    model: TableModel,
    training: LearningTable,
    constraints: Pairs | None = None,
    *,
    test: HeldShare | None = None,  # rows that a fit in blocks leaves out
    told: Told = lambda rows: None,
) -> LearningTable:
    """Fit to a table in memory or in blocks; the table with the rows that figures are of."""
    model.reading_ = training.reading.to_json()
    model.seen_ = describe_seen(training.frame, training.columns)
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
    judged = fit_in_blocks(
        model,
        source,
        labelled,
        training.columns,
        test,
        told,
        is_regression=training.task.is_regression,
    )
    return replace(
        training, frame=judged.frame, y=judged.y, proba=judged.said, assessed_by=judged.words
    )


def check_keeps(model: TableModel, training: LearningTable) -> None:
    """Refuse, before the fit, encoders that ``save`` would refuse after it."""
    in_blocks = training.source is not None
    encoder = make_encoder(training.columns, model.encoding, in_blocks=in_blocks)
    try:
        check_savable(model.estimator)
        if encoder is not None:
            check_savable(encoder)
    except ModelFileError as error:
        raise TableError(f"The fitted model could not be saved. {error}") from error


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
