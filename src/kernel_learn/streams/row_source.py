"""Rows that come in blocks: from anything that can be read so.

A source has ``rewinds`` (whether it can be read again from its start), ``read(rows)``,
which gives blocks ``(X, y, weight)`` of about so many rows each with None for what it
does not have, and ``identity()``: what tells it from another source of the same name, such as
the sizes and times of its files. That is all that a fit asks of it.

A source with ``seeks`` and ``read_from(start, rows)`` can begin at any row without reading those
before it: a fit that goes on from a checkpoint does so, and its ``identity()``, of rows, labels
and weights, is then what says that those before it are the same. Other sources are read from
their start, and the rows that were counted are compared with what is known of them.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from kernel_learn.rows.block import Block

Identity = dict[str, object]
# Rows asked for at a time, where nothing is known of them.
READ_ROWS = 4096


class NoRowsError(ValueError):
    """A source without rows, or without any that counts."""

    def __init__(self) -> None:
        super().__init__("The source has no rows.")


@runtime_checkable
class RowSource(Protocol):
    """Anything that can be read in blocks; some also have ``n_rows``, ``row_bytes``, ``seeks``."""

    rewinds: bool

    def read(self, rows: int) -> Iterator[Block]:
        """All rows from the start, about ``rows`` at a time."""

    def identity(self) -> Identity:
        """What tells this source from another; empty if nothing is known without reading it."""


def file_names(source: RowSource) -> Sequence[str]:
    """All columns of a source's files: each can be read beside the rows."""
    found: Sequence[str] = source.names if hasattr(source, "with_beside") else ()  # type: ignore[attr-defined]
    return found


def source_names(source: RowSource) -> tuple[str, ...]:
    """The names of the columns, if the source knows them."""
    return tuple(map(str, getattr(source, "columns", ())))
