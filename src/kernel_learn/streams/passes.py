"""Passes over a source: each block is digested, told and kept, and later passes give the same."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.state import PassSum
from kernel_learn.rows.digest import PassDigest
from kernel_learn.streams.blocks import NoRowsError
from kernel_learn.streams.checked_blocks import CheckedBlocks
from kernel_learn.streams.checkpoint import REMEDY, Checkpoint, Content
from kernel_learn.streams.dask_rows import Pass, SpreadRows, Waves
from kernel_learn.streams.progress import Progress

Work = Callable[[CheckedBlock, Any], Any]  # a block, and the sum before it


class Passes:
    """The passes of one fit over its source; what a later one gives otherwise is refused by name.

    ``spread`` is the source if workers add up over its blocks. Sums are kept by name.
    """

    def __init__(
        self, blocks: CheckedBlocks, progress: Progress, checkpoint: Checkpoint | None = None
    ) -> None:
        self.blocks, self.progress, self.checkpoint = blocks, progress, checkpoint
        self.spread = blocks.source if isinstance(blocks.source, SpreadRows) else None
        self.first: PassDigest | None = None  # what the first pass has read
        # rows stand at other places where workers read them: then a checkpoint begins anew
        own, kept = {"is_spread": self.spread is not None}, checkpoint.content if checkpoint else {}
        self.kept: Content = kept if kept.get("is_spread") == own["is_spread"] else own
        self._begun = self.kept  # as it was before the last pass
        self.goes_on = self.kept.keys() != own.keys()

    def keep(self, *, now: bool = True, **content: object) -> None:
        """Some more is kept for a fit that goes on."""
        self.kept = {**self.kept, **content}
        if self.checkpoint:
            self.checkpoint.set(self.kept, now=now)

    def add_up(
        self,
        what: str,
        parts: Iterable[CheckedBlock] | Iterable[PassSum],  # that were not counted
        work: Work = lambda rows, before: None,
        before: PassSum | None = None,
        *,
        name: str | None = None,  # under which it is kept as it grows
        expected: int | None = None,
    ) -> PassSum | None:
        """The sum over all rows of what ``work`` gives for some."""
        total, self._begun = before, self.kept
        is_kept = self.checkpoint is not None and name is not None
        keeping = self.checkpoint.kept_if_it_ends() if self.checkpoint else nullcontext()
        with self.progress.watching(what, expected, total.n_rows if total else 0) as at, keeping:
            for part in parts:
                if isinstance(part, CheckedBlock):
                    part = PassSum(part.digest, work(part, total.value if total else None))
                total = part if total is None else total + part
                at(total.n_rows)
                if is_kept:
                    n_blocks = parts.n_blocks if isinstance(parts, Waves) else 0
                    self.keep(now=False, **{str(name): total, "n_blocks": n_blocks})
        return total

    def add_waves(
        self,
        what: str,
        make: Callable[[Pass], Waves],
        *,
        name: str | None = None,
        expected: int | None = None,
    ) -> PassSum | None:
        """The same by workers; they go on after the blocks of a checkpoint."""
        before: PassSum | None = self.kept.get(name) if name else None
        n_blocks = self.kept["n_blocks"] if before else 0
        checkpoint = self.checkpoint if name else None
        pause = (lambda: checkpoint.pause) if checkpoint else None
        waves = make(Pass(self.progress, n_blocks, before.n_rows if before else 0, pause))
        return self.add_up(what, waves, before=before, name=name, expected=expected)

    def check(self, found: PassSum | None) -> PassSum:
        """What a whole pass has read; refused if the first pass has read anything else."""
        found = PassSum(PassDigest()) if found is None else found
        if self.first is not None:
            with self._given_back():
                if self.goes_on:
                    check_counted("The rows of the source", found.read, self.first)
                found.read.check_pass(self.first)
        elif not found.n_rows:
            raise NoRowsError
        self.first = found.read
        return found

    @contextmanager
    def _given_back(self) -> Iterator[None]:
        """Sums over rows that are refused are not kept: what was kept before them is."""
        try:
            yield
        except ValueError:
            self.kept = self._begun
            self.keep()
            raise

    def read(self, rows: int) -> Iterator[CheckedBlock]:
        """All rows, in this process."""
        if self.spread:
            return self.spread.read_here(self.blocks, rows)
        return self.blocks.read(rows)

    def again(
        self, rows: int, read: Callable[[int], Iterator[CheckedBlock]] | None = None
    ) -> Iterator[CheckedBlock]:
        """All rows of one more pass, which is compared with the first at its end."""
        found = PassDigest()
        for block in (read or self.read)(rows):
            found += block.digest
            yield block
        self.check(PassSum(found))

    def sum_again(self, add_up: Callable[..., PassSum | None], work: Work, **sizes: int) -> Any:
        """What workers add up in one more pass."""
        return self.check(add_up(work, **sizes)).value

    def unseen(self, before: PassSum | None, rows: int) -> Iterator[CheckedBlock]:
        """The rows after those of a checkpoint: sought, or read past and compared with it.

        What is sought was compared by the source's identity, as the checkpoint was loaded.
        """
        if before is None:
            return self.blocks.read(rows)
        if getattr(self.blocks.source, "seeks", False):
            return self.blocks.read(rows, before.n_rows)
        return after_seen(self.blocks.read(rows), before.read)


def after_seen(blocks: Iterable[CheckedBlock], kept: PassDigest) -> Iterator[CheckedBlock]:
    """The rows after those that were counted; refuses a source that begins otherwise."""
    seen = PassDigest()
    for block in blocks:
        left = kept.n - seen.n
        if left:
            seen += block.take(slice(0, left)).digest
            if seen.n == kept.n:
                check_seen(seen, kept)
        if left < len(block.weight):
            yield block.take(slice(left, len(block.weight)))
    check_seen(seen, kept)


def check_seen(seen: PassDigest, kept: PassDigest) -> None:
    """Refuse rows that are not those which a checkpoint has counted."""
    check_counted(f"The first {kept.n} rows of the source", seen, kept)


def check_counted(rows: str, seen: PassDigest, kept: PassDigest) -> None:
    """The same of all rows, or of some."""
    if said := seen.said_of_checkpoint(kept):
        raise ValueError(f"{rows} are not those that the checkpoint has counted: {said}. {REMEDY}")
