"""What a frame is: pandas, polars and Arrow are asked here, and only here.

By hand: narwhals refuses Arrow's record batches and names that stand twice (of which we have our
own sentence), knows no sparse columns, and takes 34 s for the columns of a frame of 6,000, which
pandas gives in 0.4 s.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from kernel_learn.arrays import Array

Frame = Any  # a pandas or polars frame, an Arrow table or record batch
FrameColumn = Any  # a column of one
ColumnType = Any  # the type of a column, with a name
Picked = Any  # an array of positions, of booleans, or a slice


Library = Literal["pandas", "polars", "arrow"]


def frame_library(X: object) -> Library | None:
    """Whose frame it is, by what only its frames have: none of them need be installed."""
    return _library_of(type(X))  # type: ignore[arg-type]  # a type has a hash


@lru_cache(maxsize=256)  # asked for every column of every block
def _library_of(kind: type) -> Library | None:
    if hasattr(kind, "iloc"):
        return "pandas"
    if hasattr(kind, "get_column"):
        return "polars"
    return "arrow" if hasattr(kind, "column_names") else None


def is_frame(X: object) -> bool:
    """Whether X is a pandas, polars or Arrow frame."""
    return frame_library(X) is not None


def is_pandas(X: object) -> bool:
    """Whether X is a frame or a column of pandas."""
    return frame_library(X) == "pandas"


def frame_names(X: Frame) -> list[str]:
    """The names of its columns."""
    return [str(name) for name in (X.column_names if frame_library(X) == "arrow" else X.columns)]


def frame_types(X: Frame) -> list[ColumnType]:
    """The types of its columns."""
    return list(X.schema.types if frame_library(X) == "arrow" else X.dtypes)


def frame_column(X: Frame, c: int) -> FrameColumn:
    """Column c as the frame's own kind of column."""
    if is_pandas(X):
        return X.iloc[:, c]
    return X.to_series(c) if frame_library(X) == "polars" else X.column(c)


def frame_columns(X: Frame, positions: Picked) -> Frame:
    """Some columns, by a list of positions or a slice, as a frame."""
    if is_pandas(X):
        return X.iloc[:, positions]
    if frame_library(X) == "polars":
        return X[:, positions]
    return X.select(np.arange(X.shape[1])[positions].tolist())


def frame_rows(X: Frame, rows: Picked) -> Frame:
    """Some rows, as a frame."""
    if is_pandas(X):
        return X.iloc[rows]
    if frame_library(X) == "polars":
        return X[rows]
    if isinstance(rows, slice) and rows.step in (None, 1):
        start, stop, _ = rows.indices(X.shape[0])
        return X.slice(start, max(0, stop - start))
    return X.take(np.arange(X.shape[0])[rows])


def stack_frames(parts: Sequence[Frame]) -> Frame:
    """Frames of one library, one below the other."""
    library = frame_library(parts[0])
    if library == "pandas":
        import pandas

        return pandas.concat(parts, ignore_index=True)
    if library == "polars":
        import polars

        return polars.concat(parts)
    import pyarrow

    is_table = [isinstance(part, pyarrow.Table) for part in parts]
    tables = zip(parts, is_table, strict=True)
    return pyarrow.concat_tables(
        [part if whole else pyarrow.Table.from_batches([part]) for part, whole in tables]
    )


def frame_of_columns(like: Frame, columns: Mapping[str, Array]) -> Frame:
    """A frame of the library of another, of new columns."""
    library = frame_library(like)
    if library == "pandas":
        import pandas

        return pandas.DataFrame(dict(columns))
    lists = {name: values.tolist() for name, values in columns.items()}
    if library == "polars":
        import polars

        return polars.DataFrame(lists, strict=False)
    import pyarrow

    return pyarrow.table(lists)


def frame_bytes(X: Frame) -> float:
    """Bytes of its cells, about."""
    if is_pandas(X):
        return float(np.sum(X.memory_usage(index=False, deep=True)))
    return float(X.estimated_size() if frame_library(X) == "polars" else X.nbytes)


def as_pandas(X: Frame) -> Frame:
    """The frame as one of pandas."""
    return X if is_pandas(X) else X.to_pandas()


def column_type(values: FrameColumn) -> ColumnType:
    """The type of a column, in its library's words."""
    return getattr(values, "dtype", getattr(values, "type", ""))


def column_numbers(values: FrameColumn) -> Array:
    """A polars or Arrow column of numbers as an array, NaN where missing."""
    options = {"zero_copy_only": False} if hasattr(values, "to_pylist") else {}  # Arrow's
    return np.asarray(values.to_numpy(**options))


def column_objects(values: FrameColumn) -> Array:
    """The entries of a column or an array as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return as_objects(getattr(values, method)())
    return np.asarray(values, dtype=object)


def as_objects(entries: Sequence[object]) -> Array:
    """Entries in an array of objects, whatever they are."""
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found
