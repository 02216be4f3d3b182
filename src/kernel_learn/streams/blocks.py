"""Rows that come in blocks from a function, an iterator, or arrays; see ``row_source``."""

from collections.abc import Callable, Iterable, Iterator, Sized
from hashlib import blake2b
from pathlib import Path

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.access import is_sparse, row_blocks, take_rows
from kernel_learn.rows.block import Block, Given
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.frames import is_frame
from kernel_learn.streams.derived import Derivable
from kernel_learn.streams.row_source import READ_ROWS as READ_ROWS
from kernel_learn.streams.row_source import Identity as Identity
from kernel_learn.streams.row_source import NoRowsError as NoRowsError
from kernel_learn.streams.row_source import RowSource as RowSource


def source_text(
    source: object,
    where: object,
    n_rows: int | None,
    n_columns: int,
    target: object = None,
) -> str:
    """A source in a line: kind, place, rows, columns, target; no row is read for it."""
    rows = "rows not counted" if n_rows is None else f"{n_rows:,} rows"
    labels = f"target {target!r}" if target else "no target"
    return f"{type(source).__name__}({str(where)!r}: {rows}, {n_columns:,} columns, {labels})"


class Blocks(Derivable):
    """Blocks of rows from an iterable of ``(X_block, y_block[, weight_block])``.

    Parameters
    ----------
    iterable : iterable, or a function without arguments that returns one
        A list of blocks, a generator, a data loader, ... A block without labels may be
        ``X_block`` alone. What can be iterated again (a list, a function) can be
        passed over twice; a generator is read once, and landmarks are then chosen
        from its first rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernel_learn import HSICSubspace
    >>> from kernel_learn.datasets import Blocks
    >>> rng = np.random.default_rng(0)
    >>> blocks = [(rng.normal(size=(50, 3)) + c, np.full(50, c)) for c in (0, 2, 0, 2)]
    >>> HSICSubspace().fit(Blocks(blocks)).classes_
    array([0, 2])
    """

    def __init__(self, iterable: Iterable[Given] | Callable[[], Iterable[Given]]) -> None:
        if not callable(iterable) and not hasattr(iterable, "__iter__"):
            raise TypeError(f"Blocks needs an iterable of blocks, not a {type(iterable).__name__}.")
        if hasattr(type(iterable), "__dask_graph__"):
            raise TypeError(
                f"Blocks needs an iterable of blocks, and this is a Dask "
                f"{type(iterable).__name__}. Pass it to fit as it is, or as "
                "kernel_learn.DaskSource(X, y, weight)."
            )
        self.iterable = iterable
        self.rewinds = callable(iterable) or iter(iterable) is not iterable

    def __repr__(self) -> str:
        many = f"{len(self.iterable):,} blocks" if isinstance(self.iterable, Sized) else "blocks"
        again = "any number of times" if self.rewinds else "once"
        return f"Blocks({many} of a {type(self.iterable).__name__}, read {again})"

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        blocks = self.iterable() if callable(self.iterable) else self.iterable
        if not hasattr(blocks, "__iter__"):
            raise TypeError(
                f"The function of a source returned a {type(blocks).__name__}, and it must return "
                "an iterable of blocks, anew at each call."
            )
        for block in blocks:
            yield as_block(block)

    def identity(self) -> Identity:
        """What tells this source from another."""
        return {}


class ArrayRows(Derivable):
    """An array, sparse matrix or frame with its labels, read in blocks."""

    rewinds = True

    def __init__(self, X: Given, y: Given = None, weight: Given = None) -> None:
        self.X: Given = X if is_frame(X) or hasattr(X, "dtype") else as_array(X, "X")
        if not self.X.shape:
            raise ValueError("X is a single value, and rows are asked for: Expected 2D array.")
        if is_sparse(X):
            self.X = X.tocsr()
        self.y = y if y is None else as_array(y, "y")
        self.weight = None if weight is None else as_array(weight, "sample_weight")
        for name, values in (("y", self.y), ("sample_weight", self.weight)):
            if values is not None and values.shape[:1] != self.X.shape[:1]:
                found = values.shape[0] if values.ndim else "one value"
                raise ValueError(f"X has {self.X.shape[0]} rows and {name} has {found}.")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.X).__name__} of shape {tuple(self.X.shape)})"

    @property
    def seeks(self) -> bool:
        """Whether ``identity`` sees all rows, and all are counted: those of weight zero are not."""
        parts = [self.X] if self.y is None else [self.X, self.y]
        is_read = all(getattr(part, "dtype", np.dtype("O")).kind != "O" for part in parts)
        return is_read and self.weight is None

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""
        return self.read_from(0, rows)

    def read_from(self, start: int, rows: int) -> Iterator[Block]:
        """The rows from number ``start`` on."""
        for part in row_blocks(int(self.X.shape[0]) - start, rows):
            part = slice(start + part.start, start + part.stop)
            yield Block(
                take_rows(self.X, part),
                None if self.y is None else self.y[part],
                None if self.weight is None else self.weight[part],
            )

    def identity(self) -> Identity:
        """What tells this source from another: of arrays that are files, the file; else content."""
        known: Identity = {
            "shape": [int(n) for n in self.X.shape],
            "dtype": str(getattr(self.X, "dtype", "")),
        }
        if not self.seeks:
            return known
        return {**known, "rows": array_identity(self.X), "labels": array_identity(self.y)}


def file_identity(paths: Iterable[Path]) -> Identity:
    """Names, sizes and times of files: if one of them changes, so does this."""
    stats = [(path.name, path.stat()) for path in paths]
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats}


def array_identity(A: Given) -> object:
    """Of a mapped file its size and time, with the first and the last row; else of all entries."""
    if A is None:
        return None
    if is_sparse(A):
        return [array_identity(part) for part in (A.data, A.indices, A.indptr)]
    if getattr(A, "filename", None) is not None:
        ends = [content_digest(A[:1]), content_digest(A[-1:])]
        return {**file_identity([Path(A.filename)]), "ends": ends}
    return content_digest(A)


def content_digest(A: Array) -> str:
    """A hash of all entries, some rows at a time."""
    found = blake2b(digest_size=8)
    for part in row_blocks(len(A), max(1, 2**20 // max(1, A[:1].nbytes))):
        found.update(np.ascontiguousarray(A[part]).tobytes())
    return found.hexdigest()


def as_block(block: Given) -> Block:
    """What an iterator gave: ``(X, y)``, ``(X, y, weight)``, or the rows alone."""
    if isinstance(block, Block):
        return block
    is_pair = isinstance(block, tuple) or (
        isinstance(block, list) and block and len(getattr(block[0], "shape", ())) == 2
    )
    if not is_pair:
        return Block(block)
    if not 1 <= len(block) <= 3:
        raise ValueError(
            f"A block is (X, y) or (X, y, weight), and this one has {len(block)} parts."
        )
    return Block(*block)
