"""Labels, weights and groups that are columns of the rows' own frame, given by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.frames import (
    Frame,
    FrameColumn,
    frame_column,
    frame_columns,
    frame_names,
    is_frame,
    is_pandas,
)

NAMED = ("y", "sample_weight", "groups")  # what may be the name of a column


def take_named(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments in which a name stands for a column of the frame X: the column, and X without it.

    ``fit(frame, "label")`` is ``fit(frame.drop(columns="label"), frame["label"])``, and several
    targets are a list of names. What is no frame, or names no column by a text, comes back as it
    is; a frame of Dask, which is never whole in memory, takes out its columns itself.
    """
    X = given.get("X")
    is_column = len(getattr(X, "shape", (0, 0))) != 2
    if not is_frame(X) or is_column or hasattr(type(X), "__dask_graph__"):
        return dict(given)
    names = frame_names(X)
    named = {part: [given[part]] for part in NAMED if isinstance(given.get(part), str)}
    if _are_names(given.get("y"), names, n_rows(X)):
        named["y"] = list(given["y"])
    if not named:
        return dict(given)
    every = [(part, name) for part, own in named.items() for name in own]
    missing = [f"{part}={name!r}" for part, name in every if name not in names]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} names no column of X, whose columns are "
            f"{', '.join(map(repr, names))}. Give one of these, or the values."
        )
    taken = {name for _, name in every}
    rest = [c for c, name in enumerate(names) if name not in taken]
    parts = {
        part: _take_columns(X, [names.index(name) for name in own], isinstance(given[part], str))
        for part, own in named.items()
    }
    return {**given, "X": frame_columns(X, rest), **parts}


def without_named(given: Mapping[str, Any]) -> Any:
    """The rows alone of arguments that name columns, of a frame of Dask too."""
    X = take_named(given)["X"]
    if not hasattr(type(X), "__dask_graph__"):
        return X
    named = [given[part] for part in NAMED if isinstance(given.get(part), str)]
    return X.drop(columns=named) if named else X


def _are_names(y: object, names: list[str], n: int) -> bool:
    """Whether a list names columns; one of as many texts as there are rows is their labels."""
    if not isinstance(y, list | tuple) or len(y) in (0, n) or len(y) > len(names):
        return False
    return all(isinstance(name, str) for name in y) and any(name in names for name in y)


def _take_columns(X: Frame, columns: list[int], single: bool) -> FrameColumn | Array:
    """One column, or some as a frame or an array of two dimensions."""
    if is_pandas(X):
        return frame_column(X, columns[0]) if single else frame_columns(X, columns)
    arrays = [np.asarray(frame_column(X, c).to_numpy()) for c in columns]
    return arrays[0] if single else np.column_stack(arrays)
