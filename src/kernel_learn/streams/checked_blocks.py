"""The blocks of a source, each looked at once; what is wrong is named by block and row."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Literal, Protocol, Self, cast

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.state import is_text
from kernel_learn.rows.access import is_sparse, take_rows
from kernel_learn.rows.block import Block, Given
from kernel_learn.rows.coerce import as_array, as_numbers
from kernel_learn.rows.keys import is_missing
from kernel_learn.rows.labels import check_class_labels, label_column, plain_labels
from kernel_learn.rows.targets import holds_sets, tell_targets
from kernel_learn.streams.blocks import Blocks, RowSource

LARGEST_WEIGHT = 1e100  # products of two are numbers

# One class for each row; numbers; zeros and ones, as which sets of labels come; whichever of them
# the first block has, of all or of two of them; nothing.
Target = Literal["labels", "values", "sets", "auto", "labels or sets", "none"]
UNTOLD: tuple[Target, ...] = ("auto", "labels or sets")


class RowReader(Protocol):
    """How the rows of raw blocks are read and checked: as those of the first block."""

    def read(self, X: Given) -> Rows:
        """Checked rows; a ValueError or TypeError says what is wrong with them."""

    def kind(self, rows: Rows) -> str:
        """What the rows of all blocks must have in common, in words."""

    def keys(self, rows: Rows) -> Keys | None:
        """64 bits for each row; None if they are those of the rows as they are."""

    def bad_row(self, X: Given) -> int | None:
        """The first row with an entry that cannot be read, if that is known."""


class SpreadReader(RowReader, Protocol):
    """One that can go to other processes, each of which reads some blocks."""

    def detached(self) -> "SpreadReader":
        """The same without what an earlier fit has left."""


class BadBlockError(ValueError):
    """A block of a source that cannot be used; the message says which, which row and why."""

    number: int | None = None
    row: int | None = None
    error: str = ""


def bad_block(
    error: Exception | str, number: int, row: int | None, start: int | None
) -> BadBlockError:
    """What is wrong with a block, or with a row of it; the block begins at row ``start``."""
    place = f"Block {number}"
    if row is not None:
        place += f", row {row}"
        place += "" if start is None else f" (row {start + row} of the source)"
    elif start:
        place += f" (from row {start} of the source)"
    found = BadBlockError(f"{place}: {error}")
    found.number, found.row, found.error = number, row, str(error)
    return found


class Complaint(Exception):
    """What is wrong with a part of a block, and in which row of it."""

    def __init__(self, error: Exception | str, row: int | None = None) -> None:
        super().__init__(str(error))
        self.row = row


class CheckedBlocks:
    """Reads a source; every block has the columns, types and kind of labels of the first.

    Once blocks were read, ``single`` says whether values are one-dimensional, and ``n_read`` is
    the number of rows, those of weight zero too; ``target`` is what they were taken for. Whole
    numbers are labels there: how many there are is known when all of them were read.
    """

    def __init__(self, reader: RowReader, source: RowSource, target: Target) -> None:
        self.reader, self.source, self.target = reader, source, target
        self.is_told_by_itself = target == "auto"
        self.single = True
        self.n_read = 0
        self._kind: str | None = None  # of the first block's rows
        self._label: Array | None = None  # one of the first block's labels
        self._width: int | None = None  # of values

    def read(self, rows: int, start: int = 0) -> Iterator[CheckedBlock]:
        """All rows with positive weight, in the source's own blocks cut to at most ``rows``.

        From row ``start`` on, of a source that seeks.
        """
        blocks = self.source.read_from(start, rows) if start else self.source.read(rows)  # type: ignore[attr-defined]
        for block in self.check_all(blocks, start, start // rows):
            yield from block.cut(rows)

    def check_all(
        self, blocks: Iterable[Block], start: int = 0, number: int = 0
    ) -> Iterator[CheckedBlock]:
        """The rows with positive weight of raw blocks, of which the first is at row ``start``."""
        for raw in blocks:
            block = self.check(number, start, raw)
            if len(block.weight):
                yield block
            start, number = start + raw.n_rows, number + 1
        self.n_read = start

    def check(
        self, number: int, start: int | None, raw: Block, place: int | None = None
    ) -> CheckedBlock:
        """The rows of one block; ``place`` is where it stands, if not at row ``start``."""
        n = raw.n_rows
        if n == 0:
            return CheckedBlock(np.empty((0, 0)), np.empty(0), np.empty(0))
        try:
            X, y = self._rows(raw.X), self._target(raw.y, n)
            weight = checked_weights(raw.weight, n)
        except Complaint as error:
            raise bad_block(str(error), number, error.row, start) from error.__cause__
        kept = np.arange(n)  # rows that count
        if not weight.all():
            kept = np.flatnonzero(weight)
            X, y, weight = take_rows(X, kept), y[kept], weight[kept]
        place = (start or 0) if place is None else place
        return CheckedBlock(X, y, weight, place + kept, self.reader.keys(X))

    def detached(self) -> Self:
        """How blocks must look, without the source: for another process or thread."""
        own = copy(self)
        own.source, own.reader = Blocks([]), cast(SpreadReader, self.reader).detached()
        return own

    def _rows(self, X: Given) -> Rows:
        try:
            rows = self.reader.read(X)
        except (ValueError, TypeError) as error:
            raise Complaint(error, self.reader.bad_row(X)) from error
        kind = self.reader.kind(rows)
        self._kind = self._kind or kind
        if kind != self._kind:
            raise Complaint(f"its rows are {kind}, and those of the first block are {self._kind}.")
        return rows

    def _target(self, y: Given, n: int) -> Array:
        if self.target == "none":
            return np.zeros(n)
        if y is None:
            what = "labels" if self.target in ("labels", "labels or sets") else "targets"
            raise Complaint(f"it has no {what}; a block for fit is (X, y) or (X, y, weight).")
        if not hasattr(y, "dtype") and hasattr(y, "__len__"):
            _check_rectangle(y)
            y = np.asarray(y, dtype=object) if any(map(is_missing, y)) else np.asarray(y)
        if np.shape(y)[:1] != (n,):
            found = len(y) if np.ndim(y) else type(y).__name__
            raise Complaint(f"it has {n} rows and {found} labels.")
        if self.target in UNTOLD:
            self.target = self._tell(y)
        return self._labels(y) if self.target == "labels" else self._values(y)

    def _tell(self, y: Given) -> Target:
        found = tell_targets(y)
        if found.kind == "labels":
            return "sets"
        is_number = found.kind == "numbers" and not found.is_guess and self.target == "auto"
        return "values" if is_number else "labels"

    @property
    def is_set(self) -> bool:
        """Whether the blocks' targets are zeros and ones of sets of labels."""
        return self.target == "sets"

    def _labels(self, y: Given) -> Array:
        try:
            y = label_column(y, warn=False)
            missing = _missing_labels(y)
            if missing is None:
                y = plain_labels(y)
                if y.dtype.kind == "c" or (y.dtype.kind == "f" and np.any(y != np.round(y))):
                    self._check_as_told(y)
                    check_class_labels(y)
        except (ValueError, TypeError) as error:
            raise Complaint(error) from error
        if missing is not None:
            raise Complaint("the label is missing.", missing)
        if self._label is None:
            self._label = y[:1]
        elif is_text(self._label) != is_text(y):
            kind, first, own = "texts" if is_text(y) else "numbers", self._label, y[:1]
            raise Complaint(
                f"its labels are {kind} such as {own.tolist()[0]!r}, and those of the first block "
                f"are such as {first.tolist()[0]!r}. Make them all alike."
            )
        return y

    def _check_as_told(self, y: Array) -> None:
        if self.is_told_by_itself and self._label is not None:
            raise ValueError(
                "it has real numbers, and the first block has whole ones, which were taken as "
                "classes. Pass target_type='numbers'."
            )

    def _values(self, y: Given) -> Array:
        if self.target == "sets" and (holds_sets(y) or np.ndim(y) != 2):
            raise Complaint(
                "sets of labels come in blocks as a matrix of zeros and ones, a column for each "
                "label: the labels of all rows are not known. See MultiLabelBinarizer."
            )
        try:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        except (ValueError, TypeError) as error:
            raise Complaint(error, bad_row(y)) from error
        if self.target == "sets" and not np.isin(y, (0.0, 1.0)).all():
            row = int(np.flatnonzero(~np.isin(y, (0.0, 1.0)).all(axis=1))[0])
            raise Complaint("sets of labels are zeros and ones, and it has other values.", row)
        self.single = y.ndim == 1
        y = y.reshape(len(y), -1)
        if self._width is None:
            self._width = y.shape[1]
        elif y.shape[1] != self._width:
            raise Complaint(f"it has {y.shape[1]} targets, and the first block has {self._width}.")
        return y


def _check_rectangle(y: Given) -> None:
    try:
        as_array(y, "y")
    except (ValueError, TypeError) as error:
        raise Complaint(error) from error


def checked_weights(weight: Given, n: int) -> Array:
    """Weights of n rows as float64: finite, not negative, and of a size that can be added."""
    if weight is None:
        return np.ones(n)
    try:
        weight = as_numbers(weight, "weight").astype(np.float64)
    except (ValueError, TypeError) as error:
        raise Complaint(error) from error
    if weight.shape != (n,):
        raise Complaint(f"its weights have the shape {weight.shape}; one per row is {(n,)}.")
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        value = weight[bad[0]]
        raise Complaint(
            f"the weight is {value:g}; it must be finite and not negative.", int(bad[0])
        )
    far = np.flatnonzero((weight > 0) & ((weight < 1 / LARGEST_WEIGHT) | (weight > LARGEST_WEIGHT)))
    if len(far):
        raise Complaint(
            f"the weight is {weight[far[0]]:g}, and weights count rows: their sum over all blocks "
            "is to be near the number of rows. Pass w * n / w.sum().",
            int(far[0]),
        )
    return np.asarray(weight)


def _missing_labels(y: Array) -> int | None:
    """The first row without a label."""
    if y.dtype.kind == "f":
        gone = np.flatnonzero(~np.isfinite(y))
        return int(gone[0]) if len(gone) else None
    if y.dtype == object:
        return next((i for i, label in enumerate(y) if is_missing(label)), None)
    return None


def bad_row(X: Given, *, may_miss: bool = False) -> int | None:
    """The first row with an entry that is not a finite number, if rows are numbers.

    ``may_miss``: NaN is a missing entry, which a dense row may have.
    """
    try:
        if is_sparse(X):
            csr = X.tocsr()
            at = np.flatnonzero(~np.isfinite(csr.data))
            return int(np.searchsorted(csr.indptr, at[0], "right") - 1) if len(at) else None
        if np.iscomplexobj(X):
            return None
        values = np.asarray(X, dtype=np.float64)
        bad = np.isinf(values) if may_miss else ~np.isfinite(values)
        rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
        return int(rows[0]) if len(rows) else None
    except (ValueError, TypeError):
        return None
