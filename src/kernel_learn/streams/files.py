"""Rows in files, read in blocks: .npy pairs, CSV, LIBSVM."""

import os
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from kernel_learn.arrays import Array, PathLike
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.block import Block
from kernel_learn.streams.blocks import Identity, file_identity, source_text
from kernel_learn.streams.derived import Derivable
from kernel_learn.streams.readers.delimited import DelimitedFiles
from kernel_learn.streams.readers.input_files import InputFile
from kernel_learn.streams.readers.libsvm import LibsvmFiles


def path_of(path: PathLike, what: str) -> Path:
    """A place in the file system; ``what`` is to be there, and the error names it."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"A {what} is named by its path, a str or a Path, and this is a "
            f"{type(path).__name__}. Rows in memory go to fit as they are, or into Blocks."
        )
    return Path(path)


def find_file(path: PathLike, what: str) -> Path:
    """The path if it is a file; ``what`` names it in the error."""
    found = path_of(path, what)
    if not found.is_file():
        raise FileNotFoundError(f"There is no {what} {os.fspath(path)!r}.")
    return found


class NpySource(Derivable):
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
        given = {"X": X, "y": y, "weight": weight}
        self.paths = {
            k: find_file(path, ".npy file") for k, path in given.items() if path is not None
        }
        shapes = {name: self._map(path).shape for name, path in self.paths.items()}
        if len(shapes["X"]) != 2:
            raise ValueError(f"{self.paths['X']} has the shape {shapes['X']}; rows are (n, d).")
        self.n_rows, width = map(int, shapes["X"])
        for path, shape in zip(self.paths.values(), shapes.values(), strict=True):
            if shape[0] != self.n_rows:
                raise ValueError(
                    f"{self.paths['X']} has {self.n_rows} rows and {path} has {shape[0]}."
                )
        self.n_columns = width
        self.row_bytes = float(width * self._map(self.paths["X"]).dtype.itemsize)

    def __repr__(self) -> str:
        target = str(self.paths["y"]) if "y" in self.paths else None
        return source_text(self, self.paths["X"], self.n_rows, self.n_columns, target)

    def _map(self, path: Path) -> Array:
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
        return "weight" not in self.paths

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        return self.read_from(0, rows)

    def read_from(self, start: int, rows: int) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        arrays = {name: self._map(path)[start:] for name, path in self.paths.items()}
        for part in row_blocks(self.n_rows - start, rows):
            yield Block(**{name: np.array(A[part]) for name, A in arrays.items()})

    def identity(self) -> Identity:
        """What tells this source from another."""
        return file_identity(self.paths.values())


class CsvSource(Derivable):
    """Rows of a CSV file with a header, read in chunks (by pandas).

    Separators (comma, semicolon, tab, bar), decimal commas beside the last three, and a
    compressed file (.csv.gz) are known. A column has one type, whatever the blocks: the file is
    passed over once before it is read. Numbers with zeros in front, such as the code 00179, are
    text, as everything is that is not all numbers.

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
        dtype: DTypeLike | None = None,
    ) -> None:
        self.path = find_file(path, "CSV file")
        self.target, self.weight, self.dtype = target, weight, dtype
        self._table = DelimitedFiles([InputFile(str(self.path))])
        self.names = self._table.names()
        self.columns = choose_columns(self.names, columns, target, weight, self.path)
        self.beside: tuple[str, ...] = ()

    def with_beside(self, name: str) -> Self:
        """The same with a column of the file beside the rows."""
        own = copy(self)
        own.beside = (*self.beside, name)
        return own

    def __repr__(self) -> str:
        return source_text(self, self.path, None, len(self.columns), self.target)

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        extra = [c for c in (self.target, self.weight, *self.beside) if c is not None]
        wanted = list(dict.fromkeys([*self.columns, *extra]))
        for _, chunk in self._table.blocks(rows, wanted):
            X = chunk[self.columns]
            yield Block(
                X if self.dtype is None else X.to_numpy(dtype=self.dtype),
                None if self.target is None else chunk[self.target].to_numpy(),
                None if self.weight is None else chunk[self.weight].to_numpy(),
            ).put_beside({name: chunk[name].to_numpy() for name in self.beside})

    def identity(self) -> Identity:
        """What tells this source from another."""
        return {**file_identity([self.path]), "columns": self.columns, "target": self.target}


class LibsvmSource(Derivable):
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
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.path = find_file(path, "LIBSVM file")
        files = [InputFile(str(self.path))]
        self._table = LibsvmFiles(files, zero_based, n_features, np.dtype(dtype))
        self.n_features = self._table.width

    def __repr__(self) -> str:
        return source_text(self, self.path, None, self.n_features, "label")

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        for X, y in self._table.matrices(self._table.files[0], rows):
            yield Block(X, y)

    def identity(self) -> Identity:
        """What tells this source from another."""
        return file_identity([self.path])


def choose_columns(
    names: Sequence[str],
    columns: Sequence[str] | None,
    target: str | None,
    weight: str | None,
    where: str | Path,
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
    check_target_apart(columns, target)
    return list(columns)


def check_target_apart(columns: Sequence[str], target: str | None) -> None:
    """Refuse a target that is a column of the rows too."""
    if target in columns:
        raise ValueError(
            f"columns names {target!r}, which is the target: rows would hold what is to be found. "
            "Leave it out."
        )
