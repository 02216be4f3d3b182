"""Sources made of others: every row transformed, or some of the rows.

What is done to a block depends on that block alone, so that it is the same in every pass, for any
size of blocks, and on every worker.
"""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self

import numpy as np

from kernel_learn.arrays import Rows
from kernel_learn.rows.access import is_sparse, take_rows
from kernel_learn.rows.block import Block, Given
from kernel_learn.rows.frames import is_frame
from kernel_learn.streams.row_source import READ_ROWS, Identity, RowSource, file_names

Change = Callable[[Block], Block]
# Blocks are changed column by column, so that small ones take their time: as many rows are read
# at once as take so many bytes before and after, but no more than MOST_ROWS.
CHANGE_BYTES, MOST_ROWS = 16 * 10**6, 8 * READ_ROWS


class Transformer(Protocol):
    """A fitted transformer of rows, of ours or scikit-learn's."""

    def transform(self, X: Rows) -> Rows:
        """The rows transformed."""


class Derivable:
    """A mixin for sources: the same rows transformed, or split."""

    n_splits = 0  # of which it is a part

    def map(self, transformer: Transformer) -> "DerivedSource | Self":
        """The rows as a fitted transformer gives them, with their labels and weights.

        Parameters
        ----------
        transformer : fitted transformer
            Anything with ``transform(X)``: :class:`kernel_learn.TableEncoder`, or one of
            scikit-learn. It is called for each block as it is read.
        """
        if not hasattr(transformer, "transform"):
            raise TypeError(
                f"map needs a fitted transformer, and a {type(transformer).__name__} has no "
                "transform."
            )
        return self.derived(Transformed(transformer), str(transformer), keeps_rows=True)

    def split(
        self,
        test_size: float = 0.2,
        *,
        by: str | int = "key",
        stratify: bool | str | int | None = False,
        seed: int = 0,
    ) -> "tuple[DerivedSource | Self, DerivedSource | Self]":
        """(train, test): each row is in one of them by a hash, the same in every pass.

        Parameters
        ----------
        test_size : float, default=0.2
            The share of the test rows, on average over hashes.
        by : str or int, default="key"
            "key": by the content of the row, so that equal rows stay together. Or the name
            (or number) of a column of the rows: those with one value in it stay together. Of
            files it may be any column: the target, or one that is no column of the rows.
        stratify : bool, str or int, default=False
            True: the share is that of every class, as near as its number of rows allows. Or a
            column, as in ``by``, whose values are then the classes. It takes a pass over the
            source, and is not for groups.
        seed : int, default=0
            Another number gives another split.
        """
        # needed by few, with all it reads
        from kernel_learn.streams.splitting import split_rule, with_columns

        source: Self = with_columns(self, by, stratify)  # type: ignore[arg-type, assignment]
        rule = split_rule(source, test_size, by, stratify, seed)  # type: ignore[arg-type]
        parts = [source.derived(Part(rule, side), f"{side} of {rule!r}") for side in (False, True)]
        for part in parts:
            part.n_splits = self.n_splits + 1
        return parts[0], parts[1]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        """Refuses: what asks for an array needs all rows at once."""
        raise TypeError(
            f"A {type(self).__name__} is read in blocks, and all its rows are asked for as one "
            "array. In front of an estimator here, put transformers together by "
            "kernel_learn.make_pipeline instead of scikit-learn's: it fits them block by block."
        )

    def derived(
        self, change: Change, what: str, *, keeps_rows: bool = False
    ) -> "DerivedSource | Self":
        """The same blocks, each changed; ``what`` tells the change from others."""
        return DerivedSource(self, change, what, keeps_rows=keeps_rows)  # type: ignore[arg-type]


def mapped(source: RowSource, transformer: Transformer) -> RowSource:
    """``source.map(transformer)``, of a source that a user has written too."""
    if isinstance(source, Derivable):
        return source.map(transformer)
    return DerivedSource(source, Transformed(transformer), str(transformer), keeps_rows=True)


class DerivedSource(Derivable):
    """The blocks of another source, each changed."""

    def __init__(self, source: RowSource, change: Change, what: str, *, keeps_rows: bool) -> None:
        self.source, self.change, self.what = source, change, what
        self.rewinds, self.n_splits = source.rewinds, getattr(source, "n_splits", 0)
        n = getattr(source, "n_rows", None)
        if keeps_rows and n is not None:
            self.n_rows = n
        columns = getattr(source, "columns", None)
        if not keeps_rows and columns is not None:  # the columns are those of the source
            self.columns = columns
        self.names = file_names(source)
        before = getattr(source, "row_bytes", None)
        after = before if not keeps_rows else changed_bytes(change)
        self.least_rows = 0
        if before is not None and after is not None:
            self.row_bytes = float(after)
            own = int(CHANGE_BYTES / max(before, after, 1.0))
            self.least_rows = min(own, getattr(source, "least_rows", MOST_ROWS))

    def __repr__(self) -> str:
        return derived_text(self.source, self.change)

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time, or more if they are short."""
        return self._changed(max(rows, self.least_rows))

    def _changed(self, rows: int) -> Iterator[Block]:
        """So many at a time: what the last change asks for, not what those before it would."""
        before = self.source
        inner = before._changed if isinstance(before, DerivedSource) else before.read
        return changed_blocks(self.change, inner(rows))

    def identity(self) -> Identity:
        """What tells this source from another."""
        return {**self.source.identity(), "derived": self.what}

    def with_beside(self, name: str) -> Self:
        """The same with a column of the files beside the rows."""
        own = copy(self)
        own.source = self.source.with_beside(name)  # type: ignore[attr-defined]
        return own


def derived_text(source: object, change: Change) -> str:
    """As what a source with changed blocks is printed."""
    return f"DerivedSource({change} of {source!r})"


def changed_bytes(change: Change) -> float | None:
    """Bytes of a transformed row, where the transformer knows its columns."""
    names = getattr(getattr(change, "transformer", None), "get_feature_names_out", None)
    try:
        return None if names is None else 8.0 * len(names())
    except (ValueError, AttributeError, TypeError):  # of rows without names, say
        return None


def changed_blocks(change: Change, blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks with rows in them, each changed."""
    for block in blocks:
        found = change(block) if block.n_rows else block
        if found.n_rows:
            yield found


def changed_part(
    change: Change, open_part: Callable[[Given], Iterator[Block]], part: Given
) -> Iterator[Block]:
    """The same of a part that a worker opens."""
    return changed_blocks(change, open_part(part))


class SpreadDerivable(Derivable):
    """The same for a source whose blocks are read by workers: they change them."""

    open_part: Callable[[Given], Iterator[Block]]
    sizes: list[int] | None
    n_rows: int | None
    text: str  # as which it is printed
    _identity: Identity

    def derived(self, change: Change, what: str, *, keeps_rows: bool = False) -> Self:
        """The same blocks, each changed where it is read."""
        own = copy(self)
        own.open_part = partial(changed_part, change, self.open_part)
        own._identity = {**self._identity, "derived": f"{self._identity.get('derived', '')}{what}"}
        own.text = derived_text(self, change)
        if not keeps_rows:
            own.sizes = own.n_rows = None
        return own


@dataclass(frozen=True)
class Transformed:
    """A block whose rows are transformed."""

    transformer: Transformer

    def __str__(self) -> str:
        return f"rows by {type(self.transformer).__name__}"

    def __call__(self, block: Block) -> Block:
        rows = self.transformer.transform(block.X)
        known = is_sparse(rows) or is_frame(rows)
        return Block(rows if known else np.asarray(rows), *block[1:]).put_beside(block.beside)


class Rule(Protocol):
    """Which rows of a block are test rows."""

    def is_test(self, block: Block) -> np.ndarray:
        """(n,) booleans."""


@dataclass(frozen=True)
class Part:
    """The rows of a block on one side of a split."""

    rule: Rule
    side: bool  # the test rows

    def __str__(self) -> str:
        return f"{'test' if self.side else 'training'} rows, {self.rule},"

    def __call__(self, block: Block) -> Block:
        return take_block(block, np.flatnonzero(self.rule.is_test(block) == self.side))


def take_block(block: Block, rows: np.ndarray) -> Block:
    """Some rows of a block, with their labels and weights."""
    y, weight = (None if own is None else np.asarray(own)[rows] for own in (block.y, block.weight))
    beside = {name: np.asarray(own)[rows] for name, own in block.beside.items()}
    return Block(take_rows(block.X, rows), y, weight).put_beside(beside)
