"""The blocks of a source, each looked at once; what is wrong is named by block and row."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array

from kernel_learn.arrays import Array, Rows
from kernel_learn.fitting.labels import check_class_labels, label_column, plain_labels
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.state import (
    MODULUS,
    LabelledRows,
    StreamState,
    is_text,
    rows_digest,
)
from kernel_learn.representations.summary import stack_rows
from kernel_learn.rows.access import is_sparse, n_rows, take_rows
from kernel_learn.rows.coerce import as_array, as_numbers
from kernel_learn.rows.keys import is_missing
from kernel_learn.rows.table import Table
from kernel_learn.streams.blocks import RawBlock, RowSource, raw_length

LARGEST_WEIGHT = 1e100  # products of two are numbers

Target = Literal["labels", "values", "none"]


class BadBlockError(ValueError):
    """A block of a source that cannot be used; the message says which, which row and why."""

    number: int | None = None
    row: int | None = None
    error: str = ""


def bad_block(error: Any, number: int, row: int | None, start: int | None) -> BadBlockError:
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


class CheckedBlocks:
    """Reads a source; every block has the columns, types and kind of labels of the first.

    ``single`` says whether values are one-dimensional, once a block was read.
    """

    def __init__(
        self,
        estimator: Any,
        kernel: Kernel | None,  # None where rows are read in another way
        source: RowSource,
        target: Target,
        *,
        reset: bool = True,  # the first block says what rows look like; else fit has said so
    ) -> None:
        self.estimator, self.kernel, self.source, self.target = estimator, kernel, source, target
        self.reset = reset
        self.single = True
        self._kind: Any = None  # of the first block's rows
        self._label: Any = None  # one of the first block's labels
        self._width: int | None = None  # of values

    def read(self, rows: int, start: int = 0) -> Iterator[LabelledRows]:
        """All rows with positive weight, in the source's own blocks cut to at most ``rows``.

        From row ``start`` on, of a source that seeks.
        """
        blocks = self.source.read_from(start, rows) if start else self.source.read(rows)  # type: ignore[attr-defined]
        for number, raw in enumerate(blocks, start // rows):
            yield from self.cut(number, start, raw, rows)
            start += self._n_raw

    def cut(
        self, number: int, start: int | None, raw: RawBlock, rows: int
    ) -> Iterator[LabelledRows]:
        """The rows of one block, which begins at row ``start`` of the source, at most ``rows``."""
        block = self._check(number, start, raw)
        whole = n_rows(block.X) <= rows
        for first in range(0, n_rows(block.X), rows):
            part = slice(first, first + rows)
            yield (
                block
                if whole
                else LabelledRows(take_rows(block.X, part), block.y[part], block.weight[part])
            )

    def _check(self, number: int, start: int | None, raw: RawBlock) -> LabelledRows:
        def refuse(error: Any, row: int | None = None) -> BadBlockError:
            return bad_block(error, number, row, start)

        self._n_raw = n = raw_length(raw)
        self.kept = np.arange(n)  # rows of the block that count
        if n == 0:
            return LabelledRows(np.empty((0, 0)), np.empty(0), np.empty(0))
        X = self._rows(raw.X, refuse)
        y, weight = self._target(raw.y, n, refuse), _weights(raw.weight, n, refuse)
        if not weight.all():
            self.kept = kept = np.flatnonzero(weight)
            X, y, weight = take_rows(X, kept), y[kept], weight[kept]
        return LabelledRows(X, y, weight)

    def _rows(self, X: Any, refuse: Any) -> Rows:
        assert self.kernel is not None
        try:
            rows = validate_rows(self.estimator, self.kernel, X, reset=self.reset, least=1)
        except (ValueError, TypeError) as error:
            raise refuse(str(error), bad_row(X)) from error
        self.reset = False
        kind = row_kind(rows)
        if self._kind is None:
            self._kind = kind
        elif kind != self._kind:
            raise refuse(f"its rows are {kind}, and those of the first block are {self._kind}.")
        return rows

    def _target(self, y: Any, n: int, refuse: Any) -> Array:
        if self.target == "none":
            return np.zeros(n)
        if y is None:
            what = "labels" if self.target == "labels" else "targets"
            raise refuse(f"it has no {what}; a block for fit is (X, y) or (X, y, weight).")
        if not hasattr(y, "dtype") and hasattr(y, "__len__"):
            _check_rectangle(y, refuse)
            y = np.asarray(y, dtype=object) if any(map(is_missing, y)) else np.asarray(y)
        if np.shape(y)[:1] != (n,):
            found = len(y) if np.ndim(y) else type(y).__name__
            raise refuse(f"it has {n} rows and {found} labels.")
        return self._labels(y, refuse) if self.target == "labels" else self._values(y, refuse)

    def _labels(self, y: Any, refuse: Any) -> Array:
        try:
            y = label_column(y, warn=False)
            missing = _missing_labels(y)
            if missing is None:
                y = plain_labels(y)
                if y.dtype.kind == "c" or (y.dtype.kind == "f" and np.any(y != np.round(y))):
                    check_class_labels(y)
        except (ValueError, TypeError) as error:
            raise refuse(str(error)) from error
        if missing is not None:
            raise refuse("the label is missing.", missing)
        if self._label is None:
            self._label = y[:1]
        elif is_text(self._label) != is_text(y):
            kind, first, own = "texts" if is_text(y) else "numbers", self._label, y[:1]
            raise refuse(
                f"its labels are {kind} such as {own.tolist()[0]!r}, and those of the first block "
                f"are such as {first.tolist()[0]!r}. Make them all alike."
            )
        return y

    def _values(self, y: Any, refuse: Any) -> Array:
        try:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        except ValueError as error:
            raise refuse(str(error), bad_row(y)) from error
        self.single = y.ndim == 1
        y = y.reshape(len(y), -1)
        if self._width is None:
            self._width = y.shape[1]
        elif y.shape[1] != self._width:
            raise refuse(f"it has {y.shape[1]} targets, and the first block has {self._width}.")
        return y


def _check_rectangle(y: Any, refuse: Any) -> None:
    try:
        as_array(y, "y")
    except (ValueError, TypeError) as error:
        raise refuse(str(error)) from error


def _weights(weight: Any, n: int, refuse: Any) -> Array:
    if weight is None:
        return np.ones(n)
    try:
        weight = as_numbers(weight, "weight").astype(np.float64)
    except (ValueError, TypeError) as error:
        raise refuse(str(error)) from error
    if weight.shape != (n,):
        raise refuse(f"its weights have the shape {weight.shape}; one per row is {(n,)}.")
    bad = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(bad):
        value = weight[bad[0]]
        raise refuse(f"the weight is {value:g}; it must be finite and not negative.", int(bad[0]))
    far = np.flatnonzero((weight > 0) & ((weight < 1 / LARGEST_WEIGHT) | (weight > LARGEST_WEIGHT)))
    if len(far):
        raise refuse(
            f"the weight is {weight[far[0]]:g}, and weights count rows: their sum over all blocks "
            "is to be near the number of rows. Pass w * n / w.sum().",
            int(far[0]),
        )
    return weight


def _missing_labels(y: Array) -> int | None:
    """The first row without a label."""
    if y.dtype.kind == "f":
        gone = np.flatnonzero(~np.isfinite(y))
        return int(gone[0]) if len(gone) else None
    if y.dtype == object:
        return next((i for i, label in enumerate(y) if is_missing(label)), None)
    return None


def bad_row(X: Any) -> int | None:
    """The first row with an entry that is not a finite number, if rows are numbers."""
    try:
        if is_sparse(X):
            csr = X.tocsr()
            at = np.flatnonzero(~np.isfinite(csr.data))
            return int(np.searchsorted(csr.indptr, at[0], "right") - 1) if len(at) else None
        if np.iscomplexobj(X):
            return None
        bad = ~np.isfinite(np.asarray(X, dtype=np.float64))
        rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
        return int(rows[0]) if len(rows) else None
    except (ValueError, TypeError):
        return None


def row_kind(X: Rows) -> str:
    """What the rows of all blocks must have in common, in words."""
    if isinstance(X, Table):
        numbers = int(np.count_nonzero(X.place >= 0))
        where = "".join("n" if p >= 0 else "o" for p in X.place)
        return f"{X.shape[1]} columns, {numbers} of them {X.dtype} numbers ({where})"
    if is_sparse(X):
        return f"sparse {X.dtype}"
    kind = np.asarray(X).dtype
    return "texts" if kind.kind in "OUS" else f"dense {kind}"


def rebatch(blocks: Iterator[LabelledRows], rows: int) -> Iterator[LabelledRows]:
    """The same rows in blocks of at least half and at most ``rows``, but for the last."""
    waiting: list[LabelledRows] = []
    size = 0
    for block in blocks:
        n = len(block.weight)
        if n == 0:
            continue
        if size and size + n > rows:
            yield stack_blocks(waiting)
            waiting, size = [], 0
        waiting.append(block)
        size += n
        if 2 * size > rows:
            yield stack_blocks(waiting)
            waiting, size = [], 0
    if waiting:
        yield stack_blocks(waiting)


def stack_blocks(blocks: list[LabelledRows]) -> LabelledRows:
    """Several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    return LabelledRows(
        stack_rows(*(block.X for block in blocks)),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.weight for block in blocks]),
    )


def after_seen(
    blocks: Iterable[LabelledRows], state: StreamState, values: bool
) -> Iterator[LabelledRows]:
    """The rows after those that the state has seen; refuses a source that begins otherwise."""
    left, digest = state.n_rows, 0
    for block in blocks:
        n = len(block.weight)
        if left == 0:
            yield block
            continue
        seen = min(left, n)
        digest = (digest + rows_digest(_part(block, 0, seen), values)) % MODULUS
        left -= seen
        if left == 0 and digest != state.digest:
            break
        if seen < n:
            yield _part(block, seen, n)
    if left or digest != state.digest:
        raise ValueError(
            f"The first {state.n_rows} rows of the source are not those that the checkpoint has "
            "counted: the source has changed, or is another one. Give back the source it was "
            "begun with, name another folder, or delete this one to begin anew."
        )


def _part(block: LabelledRows, start: int, stop: int) -> LabelledRows:
    if start == 0 and stop == len(block.weight):
        return block
    rows = slice(start, stop)
    return LabelledRows(take_rows(block.X, rows), block.y[rows], block.weight[rows])
