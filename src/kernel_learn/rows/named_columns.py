"""Labels, weights and groups that are columns of the rows' own frame, given by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
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

    ``fit(frame, "label")`` is ``fit(frame.drop(columns="label"), frame["label"])``. What is no
    frame, or names no column by a text, comes back as it is; a frame of Dask, which is never
    whole in memory, takes out its columns itself.
    """
    X = given.get("X")
    named = {part: given[part] for part in NAMED if isinstance(given.get(part), str)}
    if not named or not is_frame(X) or hasattr(type(X), "__dask_graph__"):
        return dict(given)
    names = frame_names(X)
    missing = [f"{part}={name!r}" for part, name in named.items() if name not in names]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} names no column of X, whose columns are "
            f"{', '.join(map(repr, names))}. Give one of these, or the values."
        )
    rest = [c for c, name in enumerate(names) if name not in named.values()]
    parts = {part: _take_column(X, names.index(str(name))) for part, name in named.items()}
    return {**given, "X": frame_columns(X, rest), **parts}


def without_named(given: Mapping[str, Any]) -> Any:
    """The rows alone of arguments that name columns, of a frame of Dask too."""
    X = take_named(given)["X"]
    if not hasattr(type(X), "__dask_graph__"):
        return X
    named = [given[part] for part in NAMED if isinstance(given.get(part), str)]
    return X.drop(columns=named) if named else X


def _take_column(X: Frame, c: int) -> FrameColumn | Array:
    column = frame_column(X, c)
    return column if is_pandas(X) else np.asarray(column.to_numpy())
