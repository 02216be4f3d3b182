"""What was read of a source: a digest that tells by name what another reading gives otherwise.

Of every row the content, the label and the weight are hashed with the place where the row stands
in the source, and these hashes are added up: sums of blocks, and of workers, give that of all
rows, however the rows are cut.
"""

from dataclasses import dataclass, fields

import numpy as np

from kernel_learn.arrays import Array, Keys
from kernel_learn.rows.keys import digest_sums, digest_text, hash_texts, mix_words

MODULUS = 2**64


@dataclass(frozen=True)
class PassDigest:
    """The number of rows that count, and sums over them modulo 2^64; ``a + b`` is that of both."""

    n: int = 0
    rows: int = 0  # of content and place
    labels: int = 0
    weights: int = 0  # zero where all are one
    content: int = 0  # of content alone: rows in another order have the same
    content_again: int = 0

    @classmethod
    def of(
        cls,
        keys: Keys,  # of the rows
        labels: Keys,  # of their labels, see label_keys
        weight: Array,
        places: Array,
    ) -> "PassDigest":
        """The digest of one block."""
        seeds = mix_words(places.astype(np.uint64))
        bits = _weight_bits(weight)
        other = np.flatnonzero(bits)
        content, again = digest_sums(keys)
        return cls(
            len(keys),
            _wrapped_sum(mix_words(keys ^ seeds)),
            _wrapped_sum(mix_words(labels ^ seeds)),
            _wrapped_sum(mix_words(mix_words(bits[other]) ^ seeds[other])),
            int(content),
            int(again),
        )

    def __add__(self, other: "PassDigest") -> "PassDigest":
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return PassDigest(*((a + b) % MODULUS for a, b in pairs))

    @property
    def text(self) -> str:
        """Of the rows in any order, as :func:`kernel_learn.rows.keys.digest` gives it."""
        return digest_text(np.array([self.content, self.content_again], dtype=np.uint64))

    def differing(self, first: "PassDigest") -> list[str]:
        """What is other than it was first: the number, the order, or rows, labels and weights."""
        if self.n != first.n:
            return ["number"]
        same_rows = (self.content, self.content_again) == (first.content, first.content_again)
        if self.rows != first.rows and same_rows:
            return ["order"]  # labels and weights stand elsewhere with their rows
        names = ("rows", "labels", "weights")
        return [name for name in names if getattr(self, name) != getattr(first, name)]

    def _counted(self) -> str:
        return f"{self.n} rows{' of positive weight' if self.weights else ''}"

    def check_pass(self, first: "PassDigest") -> None:
        """Refuse what a later pass over a source gave, if it is not what the first one did."""
        found = self.differing(first)
        if not found:
            return
        said = f"other {_listed(found)} in a later pass"
        if found == ["number"]:
            said = f"{self._counted()} in a later pass and {first._counted()} in the first"
        elif found == ["order"]:
            said = "the rows in another order in a later pass"
        raise ValueError(
            f"The source gave {said}: it must give the same rows each time, with the same labels "
            "and weights. If it cannot, pass an iterator, which is read once."
        )

    def said_of_checkpoint(self, kept: "PassDigest") -> str:
        """How what was read differs from what a checkpoint has counted; empty if it does not."""
        found = self.differing(kept)
        if found == ["number"]:
            return f"there are {self._counted()}, and the checkpoint has counted {kept._counted()}"
        if found == ["order"]:
            return "the rows are in another order than those of the checkpoint"
        return differ_from_checkpoint(found) if found else ""


def differ_from_checkpoint(names: list[str]) -> str:
    """Which parts of a source are not those of a checkpoint."""
    return f"{_listed(names)} differ from those of the checkpoint"


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def label_keys(classes: Array, labels: Array) -> Keys:
    """64 bits for each label, an index into the classes; the same for 1 and 1.0."""
    return hash_texts(_plain(label).encode() for label in classes.tolist())[labels]


def marks(labels: Keys, weight: Array) -> Keys:
    """64 bits for each label and weight together."""
    return mix_words(labels ^ mix_words(_weight_bits(weight)))


def _weight_bits(weight: Array) -> Keys:
    """64 bits for each weight, zero for one."""
    ones = np.ones(1).view(np.uint64)
    return np.asarray(np.ascontiguousarray(weight, dtype=np.float64).view(np.uint64) ^ ones)


def _plain(label: object) -> str:
    if isinstance(label, str):
        return f"'{label}"
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _wrapped_sum(words: Keys) -> int:
    return int(np.sum(words, dtype=np.uint64))
