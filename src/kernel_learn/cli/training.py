"""What all commands that learn from a table do first."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.cli.session import Session
from kernel_learn.streams.readers import TableError, read_table
from kernel_learn.tables.columns import Columns, check_target, find_groups, look_at_columns, offer
from kernel_learn.tables.streaming import is_too_large, sample_rows


class Blocks(NamedTuple):
    """Where all rows are, and how many."""

    data: Sequence[str]
    format: str | None
    target: str
    n_rows: int


@dataclass(frozen=True)
class Training:
    """Rows to learn from, with what is known of their columns."""

    frame: Any  # without target and groups
    y: Array | None
    groups: Array | None
    columns: Columns
    files: list[str]
    notes: list[str]
    blocks: Blocks | None = None  # of a table larger than memory, of which the frame is a sample


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


def read_training(run: Session, given: Given) -> Training:
    """Read the table, take the labels out, look at the columns, say what is odd."""
    data, format = given.data, given.format
    target, group = given.target, given.group
    total = None
    with run.progress("reading"):
        if is_too_large(data, format, given.memory):
            frame, total = sample_rows(data, format, seed=given.seed)
        else:
            frame = read_table(data, format)
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
    blocks = None
    if total is not None:
        blocks = check_blocks(data, format, target, group, total)
        notes.append(
            f"The table has {total} rows, more than the memory budget holds: it is read in blocks, "
            "and figures are of some of its rows."
        )
    columns = look_at_columns(frame, y, given.drop, given.keep)
    if y is not None and given.group is None:
        notes += [
            f"All rows with the same {name!r} have the same {given.target!r}. If these are "
            f"repeated measures (of one patient, one batch), say --group {shlex.quote(name)}: left "
            "out one at a time they are told by the others, and figures are too good."
            for name in find_groups(frame, columns, y)
        ]
    for text in [*notes, *columns.warnings]:
        run.warn(text)
    return Training(frame, y, groups, columns, list(data), notes, blocks)


def check_blocks(
    data: Sequence[str], format: str | None, target: str | None, group: str | None, n_rows: int
) -> Blocks:
    """Refuse what cannot be learned in blocks."""
    if target is None or group is not None:
        raise TableError(
            "The table is larger than the memory budget, and in blocks it is learned from labels "
            "alone, without groups or pairs; raise --memory."
        )
    return Blocks(data, format, target, n_rows)


def command_line() -> str:
    """What was typed."""
    return " ".join(["kernel-learn", *(shlex.quote(word) for word in sys.argv[1:])])
