"""``kernel-learn report`` on new rows whose labels, or numbers, are known."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.cli.models import reading_of
from kernel_learn.cli.reading import ReadingOptions
from kernel_learn.cli.session import Session
from kernel_learn.report.facts import judge_new_rows
from kernel_learn.report.placing import Facts
from kernel_learn.report.values import judge_new_values
from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.reading.odd_rows import say_dropped
from kernel_learn.tables.tasks import Task, take_target


def evaluate_data(
    run: Session,
    model: TableModel,
    facts: Facts,
    data: Sequence[str],
    target: str,
    options: ReadingOptions,
) -> Facts:
    """The facts with the accuracy on labelled rows."""
    frame = known_rows(run, model, data, target, options, "labels")
    labels = frame[target]
    if labels.dtype.kind == "f" and bool((labels % 1 == 0).all()):
        labels = labels.astype(int)
    y = labels.astype(str).to_numpy()
    if not set(y) & {str(label) for label in model.classes_}:
        raise TableError(f"No label in column {target!r} is one of the model's classes.")
    with run.progress("predicting new rows"):
        evaluated = judge_new_rows(model, facts, frame, y)
    warn_of_seen(run, evaluated, "new_rows")
    return evaluated


def evaluate_numbers(
    run: Session,
    model: TableModel,
    facts: Facts,
    data: Sequence[str],
    target: str,
    options: ReadingOptions,
) -> Facts:
    """The facts with the errors of rows whose values are known."""
    frame = known_rows(run, model, data, target, options, "numbers")
    if len(frame) < 2:
        raise TableError(f"Figures need two rows with {target!r}, and there are {len(frame)}.")
    y = take_new(frame[target])
    with run.progress("predicting new rows"):
        evaluated = judge_new_values(model, facts, frame, y)
    warn_of_seen(run, evaluated, "new_numbers")
    return evaluated


def known_rows(
    run: Session,
    model: TableModel,
    data: Sequence[str],
    target: str,
    options: ReadingOptions,
    what: str,  # the target holds
) -> Frame:
    """Rows of files, read as those of the fit were, that have a target."""
    frame, dropped = reading_of(model).drop_odd_rows(options.files(data).read())
    for text in say_dropped(dropped):
        run.warn(f"{text}.")
    if target not in frame.columns:
        raise TableError(
            f"There is no column {target!r} in the data; name the {what} with --target."
        )
    frame = reading_of(model).read(frame)[0]
    known = frame[target].notna()
    if not known.all():
        run.warn(f"{int((~known).sum())} rows without {target!r} are left out.")
    return frame.loc[known].reset_index(drop=True)


def warn_of_seen(run: Session, evaluated: Facts, key: str) -> None:
    """Say which rows are not counted, as the model was fitted to them."""
    new = evaluated.get(key)
    if new is None:
        run.warn(evaluated["warnings"][-1])
    elif new["seen"]:
        run.warn(f"{new['seen']} of the rows were in the training table and are not counted.")


def take_new(column: FrameColumn) -> Array:
    """The numbers of new rows; one value in all of them is no fault."""
    if column.nunique() == 1 and column.dtype.kind in "fiu":
        return np.asarray(column, dtype=float)
    return take_target(column, Task("regress"))
