"""Arrays as users give them, looked at before NumPy tries: what is wrong, where, what to do."""

from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse

Entry = Any  # of a column: a number, a text, None, or what does not belong there
ENCODE = (
    "Turn text, dates and lists into numbers (kernel_learn.TableEncoder in front, by "
    "kernel_learn.make_pipeline), leave the "
    "column out with ColumnKernel, compare strings by a string kernel (Spectrum), or use "
    "KernelClassifier, which takes categories."
)


def as_array(value: Rows, name: str) -> Array:
    """What was given as an array of its own type; a sentence if it is no rectangle."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{name} is a masked array, {int(np.ma.getmaskarray(value).sum())} of its entries are "
            "masked, and what is masked is not known. Fill them in, or leave these rows out."
        )
    if isinstance(value, np.ndarray):
        return value
    shapes = [tuple(getattr(part, "shape", ())) for part in _parts(value)]
    if len(shapes) > 1 and all(len(shape) == 2 for shape in shapes):
        raise ValueError(
            f"{name} is a list of tables of the shapes {shapes}. Several tables of the same rows "
            "are for a bank of as many kernels, or for KernelClassifier."
        )
    try:
        A = np.asarray(value)
    except (ValueError, TypeError) as error:  # NumPy's one complaint: no rectangle
        raise ValueError(
            f"{name} is a {type(value).__name__} that is no rectangle: its rows have different "
            "lengths. Give each row the same columns."
        ) from error
    if A.ndim == 0 and A.dtype.kind in "OUS" and value is not None:
        raise TypeError(
            f"{name} is a {type(value).__name__}; the argument must be an array with a string or "
            "number in each place: a list, an array, a sparse matrix or a data frame."
        )
    return A


def check_numbers(A: Array, name: str) -> None:
    """Refuse an array with an entry that does not read as a real number; None is missing."""
    kind = A.dtype.kind
    if kind in "fiubc":  # of complex numbers scikit-learn has its own sentence
        return
    if kind in "mM":
        raise ValueError(
            f"{name} holds dates or times ({A.dtype}), and numbers are compared here. Turn them "
            "into numbers: days since a start, the month, the hour."
        )
    if kind == "V":
        raise ValueError(
            f"{name} is a structured array with the fields {list(A.dtype.names or ())}, and "
            "columns are asked for. Use numpy.lib.recfunctions.structured_to_unstructured."
        )
    try:
        A.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        place, entry = next(item for item in np.ndenumerate(A) if not reads_as_number(item[1]))
        raise _no_number(place, entry, name) from error


def as_numbers(value: Rows, name: str) -> Array:
    """An array of real numbers: float32 and float64 as they are, anything else as float64."""
    A = as_array(value, name)
    if A.dtype in (np.float32, np.float64):
        return A
    check_numbers(A, name)
    if A.dtype.kind == "c":
        raise ValueError(f"{name} holds complex numbers, and real ones are asked for.")
    return A.astype(np.float64)


def _parts(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) and len(value) <= 1000 else []


def reads_as_number(entry: Entry) -> bool:
    """Whether one entry is a real number, a string of one, or None, which is missing."""
    if entry is None or isinstance(entry, np.ndarray):
        return entry is None
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _no_number(place: tuple[int, ...], entry: Entry, name: str) -> Exception:
    at = ", ".join(f"{side} {i}" for side, i in zip(("row", "column"), place, strict=False))
    text = repr(entry.item() if isinstance(entry, np.generic) else entry)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    advice = f" {ENCODE}" if name.endswith("X") else ""
    said = f"{name} has {shown} in {at}" if at else f"{name} is {shown}"
    if type(entry).__name__ in ("NAType", "NaTType"):
        return ValueError(f"{name} contains NaN: a missing value, {shown}, in {at}.")
    if isinstance(entry, str | bytes):
        return ValueError(f"{said}, which is not a number.{advice}")
    if isinstance(entry, int):
        return ValueError(f"{said[:80]}..., which no floating-point number can be.")
    return TypeError(
        f"{said}, a {type(entry).__name__}: the argument must be a number or a string that reads "
        f"as a number in each place.{advice}"
    )


def as_vectors(X: Rows) -> Rows:
    """Rows as a float32 or float64 array (n, d) or CSR matrix; what is one comes back itself."""
    X = X.tocsr() if is_sparse(X) else np.asarray(as_array(X, "X"))
    if X.ndim != 2:
        raise ValueError(f"Rows of numbers are a 2-D array, and X has shape {X.shape}.")
    if X.dtype in (np.float32, np.float64):
        return X
    return X.astype(np.float64) if is_sparse(X) else as_numbers(X, "X")
