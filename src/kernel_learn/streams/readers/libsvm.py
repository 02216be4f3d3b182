"""LIBSVM's format, ``label index:value index:value ...``: sparse rows, whole or in blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers.input_files import (
    InputFile,
    ScannedFiles,
    TableError,
    described,
    need_pandas,
)

# A file with at most so many columns, or so large a share of entries, is an ordinary table.
DENSE_COLUMNS, DENSE_SHARE = 500, 0.3
LABEL = "label"  # the name of the column of labels: the format has none


class Extent(NamedTuple):
    """What a pass over all lines finds."""

    n_rows: int
    n_entries: int
    least: int  # index
    most: int
    has_whole_labels: bool


@dataclass
class LibsvmFiles(ScannedFiles[Extent]):
    """Files that are one table; ``zero_based`` None: if an index is 0."""

    zero_based: bool | None = None
    n_features: int | None = None
    dtype: np.dtype = field(default_factory=lambda: np.dtype(np.float64))

    def scan(self) -> Extent:
        """A pass over the files that looks at labels and the ends of lines only."""
        n_rows, n_entries, least, most, is_whole = 0, 0, 1, 0, True
        for file in self.files:
            with described(file), file.open() as lines:
                for number, line in enumerate(lines):
                    if not (parts := split_line(line)):
                        continue
                    try:
                        label = float(parts[0])
                        ends = [int(part.partition(b":")[0]) for part in (parts[1:2] + parts[-1:])]
                    except ValueError as error:
                        raise not_a_line(file, number, line) from error
                    is_whole = is_whole and label % 1 == 0
                    n_rows, n_entries = n_rows + 1, n_entries + len(parts) - 1
                    if len(parts) > 1:
                        least, most = min(least, ends[0]), max(most, ends[-1])
        return Extent(n_rows, n_entries, least, most, is_whole)

    @property
    def first(self) -> int:
        """The index of the first column."""
        if self.zero_based is None:
            return int(self.found.least > 0)
        return int(not self.zero_based)

    @property
    def width(self) -> int:
        """Number of columns."""
        if self.n_features is not None:
            return self.n_features
        return max(0, self.found.most + 1 - self.first)

    def matrices(self, file: InputFile, rows: int | None) -> Iterator[tuple[Rows, Array]]:
        """(CSR rows, labels) of a file, at most so many rows at a time; None: all of them."""
        block = SparseLines()
        with described(file), file.open() as lines:
            for number, line in enumerate(lines):
                block.append(file, number, line, self.first)
                if len(block.labels) == rows:
                    yield self._matrix(file, block), self._labels(block)
                    block = SparseLines()
        if block.labels:
            yield self._matrix(file, block), self._labels(block)

    def _matrix(self, file: InputFile, block: "SparseLines") -> Rows:
        if block.indices and max(block.indices) >= self.width:
            raise TableError(
                f"{file} has a column {max(block.indices) + self.first}, and n_features is "
                f"{self.width}."
            )
        values = np.array(block.values, self.dtype)
        shape = (len(block.labels), self.width)
        return sparse.csr_matrix((values, block.indices, block.ends), shape=shape)

    def _labels(self, block: "SparseLines") -> Array:
        y = np.array(block.labels)
        return y.astype(np.int64) if self.found.has_whole_labels else y

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        """Columns ``1`` to ``d`` and ``label``; sparse ones where the table is sparse and wide."""
        pandas = need_pandas()
        names = [str(i + 1) for i in range(self.width)]
        share = self.found.n_entries / max(1, self.found.n_rows * self.width)
        is_dense = self.width <= DENSE_COLUMNS or share > DENSE_SHARE
        for X, y in self.matrices(file, rows):
            if is_dense:
                frame = pandas.DataFrame(X.toarray(), columns=names)
            else:
                frame = pandas.DataFrame.sparse.from_spmatrix(X, columns=names)
            frame[LABEL] = y
            yield frame if columns is None else frame[list(columns)]


@dataclass
class SparseLines:
    """Lines that were read, as the parts of a CSR matrix."""

    labels: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])

    def append(self, file: InputFile, number: int, line: bytes, first: int) -> None:
        """One more line, if there is something on it; its indices must rise."""
        parts = split_line(line)
        if not parts:
            return
        start = len(self.indices)
        try:
            self.labels.append(float(parts[0]))
            for entry in parts[1:]:
                index, value = entry.split(b":")
                self.indices.append(int(index) - first)
                self.values.append(float(value))
        except ValueError as error:
            raise not_a_line(file, number, line) from error
        own = self.indices[start:]
        if own and own[0] < 0:
            raise TableError(
                f"Line {number + 1} of {file} has the index {own[0] + first}, and the first "
                f"column is number {first}. Pass zero_based=True if it is number 0."
            )
        if any(b <= a for a, b in pairwise(own)):
            raise TableError(
                f"Line {number + 1} of {file} has indices that do not rise: each column once, in "
                "their order."
            )
        self.ends.append(len(self.values))


def split_line(line: bytes) -> list[bytes]:
    """Label and entries, without comments and the number of a query."""
    parts = line.partition(b"#")[0].split()
    return [parts[0], *parts[2:]] if len(parts) > 1 and parts[1].startswith(b"qid:") else parts


def not_a_line(file: InputFile, number: int, line: bytes) -> TableError:
    """What is wrong with a line."""
    text = line[:40].decode("utf-8", errors="replace").rstrip()
    return TableError(
        f"Line {number + 1} of {file} is not 'label index:value ...', all numbers: it begins with "
        f"{text!r}."
    )
