"""Rows in files, read in blocks: .npy pairs, CSV, LIBSVM."""

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.rows.access import row_blocks
from kernel_learn.streams.blocks import RawBlock, file_identity

PathLike = str | os.PathLike[str]


def find_file(path: PathLike, what: str) -> Path:
    """The path if it is a file; ``what`` names it in the error."""
    found = Path(path)
    if not found.is_file():
        raise FileNotFoundError(f"There is no {what} {os.fspath(path)!r}.")
    return found


class NpySource:
    """Rows of a ``.npy`` file, labels and weights of others, mapped into memory block by block.

    Parameters
    ----------
    X : path
        An array of shape (n, d).
    y : path or None
        An array of shape (n,) or (n, q).
    weight : path or None
        An array of shape (n,).
    """

    rewinds = True

    def __init__(self, X: PathLike, y: PathLike | None = None, weight: PathLike | None = None):
        self.paths = [
            None if path is None else find_file(path, ".npy file") for path in (X, y, weight)
        ]
        shapes = [None if path is None else self._map(path).shape for path in self.paths]
        assert shapes[0] is not None
        if len(shapes[0]) != 2:
            raise ValueError(f"{self.paths[0]} has the shape {shapes[0]}; rows are (n, d).")
        for path, shape in zip(self.paths, shapes, strict=True):
            if shape is not None and shape[0] != shapes[0][0]:
                raise ValueError(
                    f"{self.paths[0]} has {shapes[0][0]} rows and {path} has {shape[0]}."
                )
        self.n_rows = int(shapes[0][0])
        self.row_bytes = float(shapes[0][1] * self._map(self.paths[0]).dtype.itemsize)  # type: ignore[arg-type]

    def _map(self, path: Path) -> Any:
        with path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise ValueError(f"{path} is not a .npy file: it does not begin like one.")
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError) as error:  # cut files and Python objects
            raise ValueError(
                f"{path} cannot be read in blocks: {error} Write it anew with numpy.save, as an "
                "array of numbers, or of texts of one length."
            ) from error

    @property
    def seeks(self) -> bool:
        """Rows of weight zero are not counted, so there must be no weights."""
        return self.paths[2] is None

    def read(self, rows: int) -> Iterator[RawBlock]:
        """All rows from the start, about ``rows`` at a time."""
        return self.read_from(0, rows)

    def read_from(self, start: int, rows: int) -> Iterator[RawBlock]:
        """The rows from number ``start`` on."""
        arrays = [None if path is None else self._map(path)[start:] for path in self.paths]
        for part in row_blocks(self.n_rows - start, rows):
            yield RawBlock(*(None if A is None else np.array(A[part]) for A in arrays))

    def identity(self) -> dict[str, Any]:
        """What tells this source from another."""
        return file_identity([path for path in self.paths if path is not None])


class CsvSource:
    """Rows of a CSV file with a header, read in chunks (by pandas).

    Parameters
    ----------
    path : path
        The file.
    target : str, default=None
        The column of the labels.
    columns : list of str, default=None
        Columns of the rows; None: all but the target and the weights.
    weight : str, default=None
        The column of the weights.
    dtype : dtype, default=None
        Of the rows, if all columns are numbers: rows are then an array of it. None: a
        frame, for kernels on named columns.
    """

    rewinds = True

    def __init__(
        self,
        path: PathLike,
        *,
        target: str | None = None,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.path = find_file(path, "CSV file")
        self.target, self.weight, self.dtype = target, weight, dtype
        with self.path.open(newline="") as file:
            header = next(csv.reader(file), [])
        self.columns = choose_columns(header, columns, target, weight, self.path)

    def read(self, rows: int) -> Iterator[RawBlock]:
        """All rows from the start, about ``rows`` at a time."""
        pandas = need_pandas()
        wanted = [*self.columns, *(c for c in (self.target, self.weight) if c is not None)]
        options = {"usecols": wanted, "chunksize": rows, **exact_numbers(pandas)}
        with pandas.read_csv(self.path, **options) as chunks:
            for chunk in chunks:
                X = chunk[self.columns]
                if self.dtype is not None:
                    X = X.to_numpy(dtype=self.dtype)
                yield RawBlock(
                    X,
                    None if self.target is None else chunk[self.target].to_numpy(),
                    None if self.weight is None else chunk[self.weight].to_numpy(),
                )

    def identity(self) -> dict[str, Any]:
        """What tells this source from another."""
        return {**file_identity([self.path]), "columns": self.columns, "target": self.target}


class LibsvmSource:
    """Sparse rows of a file in LIBSVM's format, ``label index:value index:value ...``.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, default=None
        Number of columns; None: found by reading the file once.
    zero_based : bool, default=False
        Whether the first column is number 0.
    dtype : dtype, default=float64
        Of the rows.
    """

    rewinds = True

    def __init__(
        self,
        path: PathLike,
        n_features: int | None = None,
        *,
        zero_based: bool = False,
        dtype: Any = np.float64,
    ) -> None:
        self.path = find_file(path, "LIBSVM file")
        self.first, self.dtype = int(not zero_based), np.dtype(dtype)
        self.n_features = self._count() if n_features is None else int(n_features)

    def _count(self) -> int:
        most = 0
        with self.path.open() as file:
            for line in file:
                parts = line.split("#", 1)[0].split()
                index = parts[-1].split(":", 1)[0] if len(parts) > 1 else ""
                if index and not index.isdigit():
                    raise ValueError(
                        f"{self.path} is not in LIBSVM's format, label index:value ...: it has a "
                        f"line that ends with {parts[-1]!r}."
                    )
                most = max(most, int(index) + 1 - self.first) if index else most
        return most

    def read(self, rows: int) -> Iterator[RawBlock]:
        """All rows from the start, about ``rows`` at a time."""
        labels: list[float] = []
        values: list[float] = []
        indices: list[int] = []
        ends = [0]
        with self.path.open() as file:
            for number, line in enumerate(file):
                parts = line.split("#", 1)[0].split()
                if not parts:
                    continue
                try:
                    labels.append(float(parts[0]))
                    for entry in parts[1:]:
                        index, value = entry.split(":")
                        indices.append(int(index) - self.first)
                        values.append(float(value))
                except ValueError as error:
                    raise ValueError(
                        f"Line {number + 1} of {self.path} is not 'label index:value ...', all "
                        f"numbers: it begins with {line[:40].rstrip()!r}."
                    ) from error
                if indices and min(indices[ends[-1] :], default=0) < 0:
                    raise ValueError(
                        f"Line {number + 1} of {self.path} has the index 0, and the first column "
                        "is number 1. Pass zero_based=True if it is number 0."
                    )
                ends.append(len(values))
                if len(labels) == rows:
                    yield self._block(labels, values, indices, ends)
                    labels, values, indices, ends = [], [], [], [0]
        if labels:
            yield self._block(labels, values, indices, ends)

    def _block(self, labels: Any, values: Any, indices: Any, ends: Any) -> RawBlock:
        if indices and max(indices) >= self.n_features:
            raise ValueError(
                f"{self.path} has a column {max(indices) + self.first}, and n_features is "
                f"{self.n_features}."
            )
        X = sparse.csr_matrix(
            (np.array(values, self.dtype), indices, ends), shape=(len(labels), self.n_features)
        )
        y = np.array(labels)
        whole = np.all(y == np.round(y))
        return RawBlock(X, y.astype(np.int64) if whole else y)

    def identity(self) -> dict[str, Any]:
        """What tells this source from another."""
        return file_identity([self.path])


def choose_columns(
    names: Sequence[str],
    columns: Sequence[str] | None,
    target: str | None,
    weight: str | None,
    where: Any,
) -> list[str]:
    """The columns of the rows; refuses what is not there."""
    if isinstance(columns, str):
        columns = [columns]
    for name in [*(columns or []), *(c for c in (target, weight) if c is not None)]:
        if name not in names:
            raise ValueError(
                f"{where} has no column {name!r}. Its columns are {', '.join(map(repr, names))}."
            )
    if columns is None:
        return [name for name in names if name not in (target, weight)]
    check_target(columns, target)
    return list(columns)


def check_target(columns: Sequence[str], target: str | None) -> None:
    """Refuse a target that is a column of the rows too."""
    if target in columns:
        raise ValueError(
            f"columns names {target!r}, which is the target: rows would hold what is to be found. "
            "Leave it out."
        )


def exact_numbers(pandas: Any) -> dict[str, Any]:
    """Options of ``read_csv`` for numbers as they were written, to the last digit."""
    old = int(pandas.__version__.partition(".")[0]) < 3  # later ones do it without being asked
    return {"float_precision": "round_trip"} if old else {}


def need_pandas() -> Any:
    """pandas, or an error that names the extra."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "CSV files are read by pandas. Install it: pip install kernel-learn[cli]"
        ) from error
    return pandas
