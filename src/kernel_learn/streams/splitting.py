"""Rows on two sides, or in folds, by a hash of what they hold: no row is counted, none is stored.

u(x) = hash(seed, key of x) / 2^64 is as good as uniform in (0, 1) and depends on the row alone: a
row is a test row if u < test_size, and in fold floor(K u) of K.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.block import Block
from kernel_learn.rows.cells import column_keys, content_keys
from kernel_learn.rows.codes import entry_text
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.keys import mix_words, row_keys
from kernel_learn.rows.table import column_names
from kernel_learn.streams.row_source import READ_ROWS, RowSource

# Values of u are counted in so many bins, by class: a share is met to one row or 1 / BINS.
BINS = 4096
SALTS, FOLDS = 2**40, 2**20  # salts are no seeds, and those of folds no numbers of splits


def uniform(keys: Array, seed: int, salt: int = 0) -> Array:
    """u of each key, in (0, 1)."""
    own, other = mix_words(np.array([seed, SALTS + salt], dtype=np.uint64))
    return np.asarray(mix_words(keys ^ own ^ other).astype(np.float64) / 2.0**64)


@dataclass(frozen=True)
class RowHash:
    """u of each row, by its content or by one column of it."""

    by: str | int = "key"
    seed: int = 0
    names: tuple[str, ...] = ()  # of the columns, where rows are arrays without names
    # a part of a split is split again, or cut into folds, by another hash: by the same one all of
    # its rows would be on one side
    salt: int = 0

    def __call__(self, X: Rows) -> Array:
        return uniform(self._keys(X), self.seed, self.salt)

    def _keys(self, X: Rows) -> Array:
        if self.by != "key":
            return column_keys(X, self._position(X))
        one = not is_frame(X) and not is_sparse(X) and np.ndim(X) == 1  # strings
        return row_keys(X) if one else content_keys(X)

    def _position(self, X: Rows) -> int:
        names, width = column_names(X) or list(self.names), int(X.shape[1])
        if isinstance(self.by, str) and self.by in names:
            return names.index(self.by)
        if not isinstance(self.by, str) and 0 <= self.by < width:
            return int(self.by)
        known = ", ".join(map(repr, names)) if names else f"0 to {width - 1}"
        raise ValueError(
            f"by={self.by!r} is no column of the rows, which are {known}. Pass one of them, or "
            "'key' for the content of whole rows."
        )


@dataclass(frozen=True)
class ShareRule:
    """Test rows: those whose u is below the share, or below that of their class."""

    hash: RowHash
    share: float
    by_class: dict[str, float] | None = None

    def is_test(self, block: Block) -> Array:
        u = self.hash(block.X)
        if self.by_class is None:
            return np.asarray(u < self.share)
        bounds = [self.by_class.get(text, self.share) for text in label_texts(block)]
        return np.asarray(u < np.array(bounds))


@dataclass(frozen=True)
class ClassHistogram:
    """How many rows of each class have a u in each bin; ``a + b`` is that of both."""

    counts: dict[str, Array] = field(default_factory=dict)

    def __add__(self, other: "ClassHistogram") -> "ClassHistogram":
        both = dict(self.counts)
        for text, own in other.counts.items():
            both[text] = both[text] + own if text in both else own
        return ClassHistogram(both)

    def bounds(self, share: float) -> dict[str, float]:
        """Of each class the u below which there is this share of its rows."""
        found = {}
        for text, own in self.counts.items():
            below = np.concatenate([[0], np.cumsum(own)])
            found[text] = int(np.argmin(np.abs(below - share * below[-1]))) / BINS
        return found


@dataclass(frozen=True)
class CountClasses:
    """The histogram of some blocks ``(number, first row, block)``, here or on a worker."""

    hash: RowHash

    def __call__(self, blocks: Iterable[tuple[int, int, Block]]) -> ClassHistogram:
        total = ClassHistogram()
        for _, _, block in blocks:
            if block.n_rows:
                total = total + self._of(block)
        return total

    def _of(self, block: Block) -> ClassHistogram:
        bins = np.minimum((self.hash(block.X) * BINS).astype(int), BINS - 1)
        texts, place = np.unique(np.array(label_texts(block)), return_inverse=True)
        counts = [np.bincount(bins[place == c], minlength=BINS) for c in range(len(texts))]
        return ClassHistogram(dict(zip(texts.tolist(), counts, strict=True)))


def label_texts(block: Block) -> list[str]:
    """The labels of a block as texts; 1 and 1.0 are one."""
    if block.y is None:
        raise ValueError("stratify=True splits every class, and this source has no labels.")
    y = np.asarray(block.y)
    if y.ndim != 1:
        raise ValueError("stratify=True splits every class, and these rows have several targets.")
    return [entry_text(label) for label in y.tolist()]


def split_rule(
    source: RowSource, test_size: float, by: str | int, stratify: bool, seed: int
) -> ShareRule:
    """Which rows of a source are test rows; refuses what cannot be split."""
    check_split_seed(seed)
    if not 0 < test_size < 1:
        raise ValueError(f"split(test_size={test_size!r}): the share must be between 0 and 1.")
    check_rewinds(source, "split")
    row_hash = RowHash(by, seed, source_names(source), count_splits(source))
    if not stratify:
        return ShareRule(row_hash, test_size)
    if by != "key":
        raise ValueError(
            f"split(by={by!r}, stratify=True): rows of a group stay together, and may be of "
            "several classes. Leave out one of the two."
        )
    count, add_up = CountClasses(row_hash), getattr(source, "add_up", None)
    found = add_up(count) if add_up else count((0, 0, own) for own in source.read(READ_ROWS))
    return ShareRule(row_hash, test_size, found.bounds(test_size))


def check_split_seed(seed: int) -> None:
    """Refuse what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed!r} must be an integer between 0 and 2**32 - 1.")


def count_splits(source: RowSource) -> int:
    """Of how many splits, one after the other, the source is a part."""
    found: int = getattr(source, "n_splits", 0)
    return found


def source_names(source: RowSource) -> tuple[str, ...]:
    """The names of the columns, if the source knows them."""
    return tuple(map(str, getattr(source, "columns", ())))


def check_rewinds(source: RowSource, what: str) -> None:
    """Refuse a source that can be read once, where it is to be read again."""
    if not source.rewinds:
        raise ValueError(
            f"This source is read once, and {what} reads it several times. Pass a function that "
            "returns a new iterator at each call, or a file."
        )
