"""Rows as users give them: whether they can be read as numbers, before anything reads them."""

import numpy as np

from kernel_learn.arrays import Rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.coerce import ENCODE, as_array, check_numbers
from kernel_learn.rows.frames import FrameColumn, column_type, frame_column, is_frame, is_pandas
from kernel_learn.rows.kinds import column_kind
from kernel_learn.rows.table import column_names

# Numbers whose squares, summed over columns and rows, leave the range of floating point.
LARGEST, SMALLEST = 1e150, 1e-150
RANGES = {np.dtype(np.float64): (LARGEST, SMALLEST), np.dtype(np.float32): (1e15, 1e-15)}


def check_readable(X: Rows, name: str = "X") -> None:
    """Refuse rows that cannot be read as numbers; an array of numbers costs a look at its type."""
    if is_sparse(X):
        check_sparse(X, name)
    elif is_frame(X) and len(getattr(X, "shape", ())) == 2:
        check_column_names(X, name)
        if not X.shape[1]:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={tuple(X.shape)}): {name} has no columns."
            )
        for c, own in enumerate(column_names(X)):
            check_column(frame_column(X, c), f"Column {own!r} of {name}")
    elif is_pandas(X):  # a column: where rows are asked for scikit-learn has its sentence
        check_column(X, name)
    else:
        check_numbers(as_array(X, name), name)


def check_not_flat(X: Rows) -> None:
    """Refuse one row or one column of numbers, by its shape: scikit-learn prints all of them."""
    shape = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array of shape {shape} instead. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )


def check_sparse(X: Rows, name: str) -> None:
    """Refuse a sparse array of one dimension, and one whose indices lie outside of its shape."""
    if len(X.shape) != 2:
        raise ValueError(
            f"{name} is a sparse array of shape {X.shape}, and rows are two-dimensional. Expected "
            "2D array: reshape it to (n_samples, n_features)."
        )
    if X.format in ("csr", "csc") and len(X.indices):
        width = X.shape[1 if X.format == "csr" else 0]
        least, most = int(X.indices.min()), int(X.indices.max())
        if least < 0 or most >= width:
            raise ValueError(
                f"{name} is a damaged sparse matrix: its indices run from {least} to {most}, and "
                f"its shape is {X.shape}."
            )


def check_column_names(X: Rows, name: str) -> None:
    """Refuse a frame in which one name stands for several columns."""
    names = column_names(X)
    if len(set(names)) == len(names):
        return
    twice = sorted({own for own in names if names.count(own) > 1})
    raise ValueError(
        f"{name} has several columns of one name ({', '.join(map(repr, twice))}), and a name "
        "stands for one column. Rename them, or pass an array."
    )


def check_column(values: FrameColumn, name: str) -> None:
    """Refuse a frame's column that cannot be read as numbers, by its type where that says it."""
    kind = column_kind(values)
    if kind in ("number", "boolean", "complex"):  # of complex ones scikit-learn has its sentence
        return
    if kind in ("date", "duration", "list"):
        found = "lists" if kind == "list" else "dates or times"
        dtype = str(column_type(values)).lower()
        raise ValueError(f"{name} holds {found} ({dtype}), and numbers are compared here. {ENCODE}")
    check_numbers(np.asarray(values.to_numpy(), dtype=object), name)


def check_magnitude(X: Rows, name: str = "X", *, fitting: bool = False) -> None:
    """Refuse numbers whose squares are infinite or, all of them at fit, zero in floating point."""
    values = X.data if is_sparse(X) else X
    if not values.size or values.dtype not in RANGES:
        return
    largest, smallest = RANGES[values.dtype]
    # NaN, where it is allowed, is no number; nothing is copied
    top = max(
        float(np.fmax.reduce(values, axis=None, initial=0.0)),
        -float(np.fmin.reduce(values, axis=None, initial=0.0)),
    )
    if top >= largest or (fitting and 0 < top <= smallest):
        what = "infinite" if top >= largest else "zero"
        raise ValueError(
            f"{name} has values of up to {top:.3g} in size, and the squares of such numbers are "
            f"{what} in {values.dtype}. Bring its columns to a common scale, with StandardScaler "
            "say."
        )
