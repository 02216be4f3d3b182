"""What a stopped fit of the classifier has done, kept in a folder: leaves, and sums over rows.

A fit of many rows is made of exact fits in leaves. Rows are read and kernels are chosen
again, which is the small part of it and gives the same each time; a leaf whose rows,
kernels and penalties were fitted before is found by a key of these.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.state_files import read_file
from kernel_learn.streams.checkpoint import Checkpoint, fingerprint


class LeafFit(NamedTuple):
    """One kernel in one leaf."""

    model: Dual
    held: Array  # (n_watched, k) scores of rows left out


class KeptWork:
    """Files ``leaves-N.npz`` beside a checkpoint that holds their keys."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        content = checkpoint.load() or {}
        self.files: list[list[str]] = content.get("files", [])
        self.sums: tuple[str, list[Moments], int] = content.get("sums", ("", [], 0))
        self.fresh: dict[str, list[LeafFit]] = {}
        there = [(i, keys) for i, keys in enumerate(self.files) if self._file(i).exists()]
        self._place = {key: number for number, keys in there for key in keys}
        self._open: tuple[int, dict[str, list[LeafFit]]] = (-1, {})

    def leaf(
        self, rows: Array, chosen: Sequence[Any], fit: Callable[[], list[LeafFit]]
    ) -> list[LeafFit]:
        """The fits of all kernels in a leaf: those that were kept, or made and kept."""
        key = work_key(rows, chosen)
        if key in self._place:
            return self._read(self._place[key])[key]
        found = self.fresh[key] = fit()
        if self.checkpoint.is_due:
            self.flush()
        return found

    def sums_of(self, key: str) -> tuple[list[Moments], int]:
        """Moments that were kept of a pass, and of how many rows."""
        return self.sums[1:] if self.sums[0] == key else ([], 0)

    def keep_sums(self, key: str, moments: list[Moments], n_rows: int) -> None:
        """The moments of the first rows of a pass."""
        self.sums = (key, moments, n_rows)
        if self.checkpoint.is_due:
            self.flush()

    def flush(self) -> None:
        """Write what is not yet in a file: the leaves, then the list of what there is."""
        if self.fresh:
            content = {
                key: [(one.model.coef, one.model.intercept, one.held) for one in fits]
                for key, fits in self.fresh.items()
            }
            self.checkpoint.write(content, self._file(len(self.files)))
            self.files.append(list(self.fresh))
            self.fresh = {}
        self.checkpoint.write({"files": self.files, "sums": self.sums})

    def remove(self) -> None:
        """Once the fit is done."""
        self.checkpoint.remove()
        for number in range(len(self.files)):
            self._file(number).unlink(missing_ok=True)

    def _file(self, number: int) -> Path:
        return self.checkpoint.folder / f"leaves-{number}.npz"

    def _read(self, number: int) -> dict[str, list[LeafFit]]:
        """One file at a time: leaves are asked for in the order in which they were written."""
        if self._open[0] != number:
            content = read_file(self._file(number))
            content.pop("signature")
            leaves = {
                key: [LeafFit(Dual(coef, intercept), held) for coef, intercept, held in fits]
                for key, fits in content.items()
            }
            self._open = (number, leaves)
        return self._open[1]


def work_key(rows: Array, chosen: Sequence[Any], block_rows: int = 0) -> str:
    """A digest of rows, of the kernels that are fitted to them, and of how they are read."""
    text = blake2b(rows.astype("<i8").tobytes() + str(block_rows).encode(), digest_size=16)
    for one in chosen:
        parts = (one.candidate, one.kernel, one.scales, float(getattr(one, "lam", 0.0)).hex())
        text.update("\n".join(map(fingerprint, parts)).encode())
    return text.hexdigest()
