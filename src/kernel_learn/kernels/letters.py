"""Strings as numbers, and how often each contiguous word occurs in them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array

# Count matrices with more than 5 % non-zeros are multiplied as dense ones
# (1000 strings of length 100: 9 % dense 25 ms, sparse 59 ms; 2 % dense 182, sparse 31).
DENSE_COUNTS = 0.05


@dataclass(frozen=True)
class Strings:
    """Strings as numbers: the letters of all rows, one row after the other."""

    letters: Array  # (n_positions,), integers in 0..n_letters - 1
    lengths: Array  # (n_rows,)
    n_letters: int

    @property
    def ends(self) -> Array:
        return np.cumsum(self.lengths)

    def part(self, rows: slice) -> "Strings":
        """Some of the rows, with the same numbers for the same letters."""
        lengths, ends = self.lengths[rows], self.ends[rows]
        positions = slice(ends[0] - lengths[0], ends[-1]) if len(ends) else slice(0)
        return Strings(self.letters[positions], lengths, self.n_letters)

    def by_length(self, k: int) -> Array:
        """The rows with at least k letters, longest first."""
        order = np.argsort(-self.lengths, kind="stable")
        return order[self.lengths[order] >= k]

    def columns(self, rows: Array) -> Array:
        """One column of letter numbers per row, (longest, n_rows), ended by -1."""
        positions = np.arange(self.lengths[rows].max())[:, None]
        letters = self.letters.take(positions + (self.ends - self.lengths)[rows], mode="clip")
        small = np.min_scalar_type(-1 - self.n_letters)  # comparing bytes is 8 times faster
        return np.where(positions < self.lengths[rows], letters, -1).astype(small)


def string_lengths(texts: list[str]) -> Array:
    """Characters of each text, (n,)."""
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def encode(texts: list[str]) -> Strings:
    """Number the letters that occur, in the order of their code points."""
    utf32 = "".join(texts).encode("utf-32-le", "surrogatepass")
    alphabet, letters = np.unique(np.frombuffer(utf32, dtype="<u4"), return_inverse=True)
    return Strings(letters.astype(np.int64), string_lengths(texts), len(alphabet))


def count_words(S: Strings, k: int) -> Any:
    """count_u(s), (n_rows, n_words): dense if there are few words, else sparse."""
    rows = np.repeat(np.arange(len(S.lengths)), S.lengths)
    starts = np.flatnonzero(np.arange(len(rows)) + k <= S.ends[rows])
    words = number_words(S, starts, k)
    shape = (len(S.lengths), int(words.max(initial=-1)) + 1)
    counts = sparse.csr_array((np.ones(len(starts)), (rows[starts], words)), shape=shape)
    return counts.toarray() if counts.nnz > DENSE_COUNTS * shape[0] * shape[1] else counts


def number_words(S: Strings, starts: Array, k: int) -> Array:
    """Number the words that begin at ``starts``: equal numbers for equal words, (n_starts,)."""
    words = np.zeros(len(starts), dtype=np.int64)
    for offset in range(k if len(starts) else 0):
        if words.max() >= 2**62 // S.n_letters:  # n_letters^k may not fit in 64 bits, ranks do
            words = np.unique(words, return_inverse=True)[1]
        words = words * S.n_letters + S.letters[starts + offset]
    return np.unique(words, return_inverse=True)[1]
