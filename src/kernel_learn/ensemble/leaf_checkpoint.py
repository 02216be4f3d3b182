"""The checkpoint of an ensemble: leaves that are fitted, and sums over rows.

A fit of many rows is made of exact fits in leaves. Rows are read and kernels are chosen
again, which is the small part of it and gives the same each time; a leaf whose rows,
kernels and penalties were fitted before is found by a key of these.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.ensemble.candidates import CrossValidated
from kernel_learn.representations.moments import Moments
from kernel_learn.streams.checkpoint import Checkpoint, fingerprint


class LeafFit(NamedTuple):
    """One kernel in one leaf."""

    model: Dual
    held: Array  # (n_watched, k) scores of held-out rows


class LeafCheckpoint:
    """Leaves as parts of a checkpoint, and the sums of the pass that is under way."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint

    def leaf(
        self, rows: Array, chosen: Sequence[CrossValidated], fit: Callable[[], list[LeafFit]]
    ) -> list[LeafFit]:
        """The fits of all kernels in a leaf: those that were kept, or made and kept."""
        key = work_key(rows, chosen)
        known = self.checkpoint.find(key)
        if known is not None:
            return [LeafFit(Dual(coef, intercept), held) for coef, intercept, held in known]
        found = fit()
        own = [(one.model.coef, one.model.intercept, one.held) for one in found]
        self.checkpoint.add(key, own)
        return found

    def sums_of(self, key: str) -> tuple[list[Moments], int]:
        """Moments that were kept of a pass, and of how many rows."""
        known, moments, n_rows = self.checkpoint.content.get("sums", ("", [], 0))
        return (moments, n_rows) if known == key else ([], 0)

    def keep_sums(self, key: str, moments: list[Moments], n_rows: int) -> None:
        """The moments of the first rows of a pass."""
        self.checkpoint.set({"sums": (key, moments, n_rows)})


def work_key(rows: Array, chosen: Sequence[CrossValidated], block_rows: int = 0) -> str:
    """A digest of rows, of the kernels that are fitted to them, and of how they are read."""
    text = blake2b(rows.astype("<i8").tobytes() + str(block_rows).encode(), digest_size=16)
    for one in chosen:
        parts = (one.candidate, one.kernel, one.scales, float(one.lam).hex())
        text.update("\n".join(map(fingerprint, parts)).encode())
    return text.hexdigest()
