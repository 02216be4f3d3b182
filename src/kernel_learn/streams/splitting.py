"""Rows on two sides, or in folds, by a hash of what they hold: no row is counted, none is stored.

u(x) = hash(seed, key of x) / 2^64 is as good as uniform in (0, 1) and depends on the row alone: a
row is a test row if u < test_size, and in fold floor(K u) of K.
"""

from collections.abc import Iterable, Sequence
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
from kernel_learn.streams.row_source import READ_ROWS, RowSource, file_names, source_names

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

    def __call__(self, block: Block) -> Array:
        return uniform(self._keys(block), self.seed, self.salt)

    def _keys(self, block: Block) -> Array:
        if self.by != "key":
            return value_keys(block, SplitColumn("by", self.by, self.names))
        X = block.X
        one = not is_frame(X) and not is_sparse(X) and np.ndim(X) == 1  # strings
        return row_keys(X) if one else content_keys(X)


@dataclass(frozen=True)
class SplitColumn:
    """A column that an argument names, beside the rows or one of theirs."""

    argument: str  # "by" or "stratify"
    name: str | int
    names: tuple[str, ...] = ()  # of the columns, where rows are arrays without names

    def position(self, X: Rows) -> int:
        """Its place in the rows; refuses what is not there."""
        shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
        width = int(shape[1]) if len(shape) == 2 else 0
        names = column_names(X) or list(self.names)
        if isinstance(self.name, str) and self.name in names:
            return names.index(self.name)
        if not isinstance(self.name, str) and 0 <= self.name < width:
            return int(self.name)
        raise self.missing(names or [f"0 to {width - 1}" if width else "texts"], bool(names))

    def missing(self, known: Sequence[str], quoted: bool = True) -> ValueError:
        """What says so."""
        other = "'key' for the content of whole rows"
        return ValueError(
            f"{self.argument}={self.name!r} is no column of the rows, which are "
            f"{', '.join(repr(own) if quoted else own for own in known)}. Pass one of them, or "
            f"{other if self.argument == 'by' else 'True for the classes of the target'}."
        )


def value_keys(block: Block, column: SplitColumn) -> Array:
    """A key of each row, the same where the column has the same value."""
    if column.name in block.beside:
        return column_keys(np.asarray(block.beside[str(column.name)])[:, None], 0)
    return column_keys(block.X, column.position(block.X))


@dataclass(frozen=True)
class ShareRule:
    """Test rows: those whose u is below the share, or below that of their class."""

    hash: RowHash
    share: float
    by_class: dict[str, float] | None = None
    strata: SplitColumn | None = None  # None: the classes are those of the target

    def __str__(self) -> str:
        strata = "" if self.strata is None else f" {self.strata.name!r}"
        every = "" if self.by_class is None else f" of every class{strata}"
        return f"test_size={self.share:g}{every}, by={self.hash.by!r}"

    def is_test(self, block: Block) -> Array:
        u = self.hash(block)
        if self.by_class is None:
            return np.asarray(u < self.share)
        bounds = [self.by_class.get(text, self.share) for text in strata_texts(block, self.strata)]
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
    strata: SplitColumn | None = None

    def __call__(self, blocks: Iterable[tuple[int, int, Block]]) -> ClassHistogram:
        total = ClassHistogram()
        for _, _, block in blocks:
            if block.n_rows:
                total = total + self._of(block)
        return total

    def _of(self, block: Block) -> ClassHistogram:
        bins = np.minimum((self.hash(block) * BINS).astype(int), BINS - 1)
        texts, place = np.unique(np.array(strata_texts(block, self.strata)), return_inverse=True)
        counts = [np.bincount(bins[place == c], minlength=BINS) for c in range(len(texts))]
        return ClassHistogram(dict(zip(texts.tolist(), counts, strict=True)))


def strata_texts(block: Block, strata: SplitColumn | None) -> list[str]:
    """The labels of a block as texts, or what tells the values of a column; 1 and 1.0 are one."""
    if strata is not None:
        return [str(key) for key in value_keys(block, strata).tolist()]
    if block.y is None:
        raise ValueError("stratify=True splits every class, and this source has no labels.")
    y = np.asarray(block.y)
    if y.ndim != 1:
        raise ValueError("stratify=True splits every class, and these rows have several targets.")
    return [entry_text(label) for label in y.tolist()]


def split_rule(
    source: RowSource, test_size: float, by: str | int, stratify: bool | str | int | None, seed: int
) -> ShareRule:
    """Which rows of a source are test rows; refuses what cannot be split."""
    check_split_seed(seed)
    if not 0 < test_size < 1:
        raise ValueError(f"split(test_size={test_size!r}): the share must be between 0 and 1.")
    check_rewinds(source, "split")
    names = source_names(source)
    row_hash = RowHash(by, seed, names, count_splits(source))
    check_split_column(source, "by", by)
    if stratify is False or stratify is None:
        return ShareRule(row_hash, test_size)
    if by != "key":
        raise ValueError(
            f"split(by={by!r}, stratify={stratify!r}): rows of a group stay together, and may "
            "be of several classes. Leave out one of the two."
        )
    strata = None if stratify is True else SplitColumn("stratify", stratify, names)
    if strata is not None:
        check_split_column(source, "stratify", strata.name)
    count, add_up = CountClasses(row_hash, strata), getattr(source, "add_up", None)
    found = add_up(count) if add_up else count((0, 0, own) for own in source.read(READ_ROWS))
    return ShareRule(row_hash, test_size, found.bounds(test_size), strata)


def check_split_seed(seed: int) -> None:
    """Refuse what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed!r} must be an integer between 0 and 2**32 - 1.")


def count_splits(source: RowSource) -> int:
    """Of how many splits, one after the other, the source is a part."""
    found: int = getattr(source, "n_splits", 0)
    return found


def with_columns(source: RowSource, by: object, stratify: object = False) -> RowSource:
    """The source with the columns that are named beside its rows, where files have more of them."""
    for name in dict.fromkeys(own for own in (by, stratify) if isinstance(own, str)):
        if name in file_names(source) and name not in source_names(source):
            source = source.with_beside(name)  # type: ignore[attr-defined]
    return source


def check_split_column(source: RowSource, argument: str, name: object) -> None:
    """Refuse a column that is not there, before the rows are read."""
    if argument == "by" and name == "key":
        return
    if isinstance(name, bool) or not isinstance(name, str | int):
        kinds = "'key', or" if argument == "by" else "True, False, or"
        raise TypeError(f"{argument}={name!r} must be {kinds} the name or number of a column.")
    names, files = source_names(source), file_names(source)
    if isinstance(name, str) and name in (*names, *files):
        return
    if isinstance(name, str) and files:
        raise SplitColumn(argument, name).missing(files)
    first = next(iter(source.read(1)), None)
    if first is not None:
        value_keys(first, SplitColumn(argument, name, names))


def check_rewinds(source: RowSource, what: str) -> None:
    """Refuse a source that can be read once, where it is to be read again."""
    if not source.rewinds:
        raise ValueError(
            f"This source is read once, and {what} reads it several times. Pass a function that "
            "returns a new iterator at each call, or a file."
        )
