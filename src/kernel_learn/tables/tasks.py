"""Is a target a class or a number: as asked for, or by the one rule of ``rows.targets``."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.rows.targets import tell_targets
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.columns import check_target, is_number, names_classes
from kernel_learn.tables.reading.numbers import split_cell
from kernel_learn.tables.reading.recipe import find_recipe

TASKS = ("auto", "classify", "regress")
KINDS = {"classes": "classify", "numbers": "regress"}
LEAST_VALUES = 2  # of a target: one value is told without columns


@dataclass(frozen=True)
class Task:
    """What a target is predicted as."""

    name: str  # classify or regress
    sentence: str = ""  # why, where it was not asked for
    is_guess: bool = False

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted."""
        return self.name == "regress"


def check_task(task: str) -> str:
    """The task, if there is such a one."""
    if task not in TASKS:
        raise TableError(f"--task {task}: choose one of {', '.join(TASKS)}.")
    return task


def tell_task(column: FrameColumn, task: str, kind: str | None = None) -> Task:
    """What is done with a target; ``kind`` is what --types says that it is."""
    name = column.name
    if task != "auto":
        is_doubtful = task == "classify" and kind is None and is_number(column)
        found = tell_targets(column.dropna().to_numpy()) if is_doubtful else None
        if found is None or not found.is_guess:
            return Task(task)
        words = f"Target {name!r} is taken as classes, as you asked: {found.reason}, each a class."
        return Task(task, f"{words} For numbers use --task regress.", is_guess=True)
    if kind in ("category", "text"):
        return Task("classify", f"Target {name!r} is taken as classes: --types says so.")
    found = tell_targets(column.dropna().to_numpy())
    taken = KINDS[found.kind]
    if taken == "classify":
        other = " For numbers use --task regress." if is_number(column) else ""
        return Task(taken, f"Target {name!r} is taken as classes: {found.reason}.{other}")
    other = " For classes use --task classify." if names_classes(column.dropna()) else ""
    words = f"Target {name!r} is taken as numbers: {found.reason}.{other}"
    return Task(taken, words, found.is_guess)


def take_target(column: FrameColumn, task: Task) -> Array:
    """Labels, or numbers, of the rows that have one."""
    if not task.is_regression:
        return check_target(column)
    name, filled = column.name, column.dropna()
    if not is_number(column):
        what = "dates" if column_kind(column) == "date" else f"{str(filled.iloc[0])!r}"
        raise TableError(
            f"Target {name!r} holds {what if len(filled) else 'nothing'}, and --task regress "
            "predicts numbers; choose a column of numbers, or --task classify."
        )
    values = filled.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise TableError(f"Target {name!r} holds infinite numbers; take these rows out.")
    if len(np.unique(values)) < LEAST_VALUES:
        only = f"only {filled.tolist()[0]!r}" if len(values) else "nothing"
        raise TableError(f"Target {name!r} holds {only}; there is nothing to predict.")
    return values


def is_measured(column: FrameColumn, task: str, na: Collection[str]) -> bool:
    """Whether a target is to be read as a column of numbers, such as "$1,200", "82 kg" and -999."""
    kind = column_kind(column)
    if task == "classify" or kind not in ("object", "number"):
        return False
    if task == "regress":
        texts = column.dropna().map(str).unique()
        return kind == "number" or any(split_cell(text) is not None for text in texts)
    recipe = find_recipe(column, None, na)
    if recipe.kind != "number":
        return False
    values = recipe.read(column)[0].dropna().to_numpy()
    return tell_targets(values).kind == "numbers"
