"""Rows by content: keys that do not depend on where a row stands."""

from collections.abc import Iterable
from hashlib import blake2b
from numbers import Number

import numpy as np
from numpy.typing import NDArray

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.rows.access import is_sparse, row_blocks
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import Table, split_columns

# Entries hashed at a time: their words stay in the cache.
BLOCK_ENTRIES = 2**15


def row_keys(X: Rows) -> Keys:
    """A 64-bit key of each row's content; equal rows have equal keys, dense or sparse.

    Choices that must not depend on the order of the rows (landmarks, pairs for
    a width rule) are made in the order of the keys, which is as good as random.
    The key of x is the mixed sum over its non-zero entries of hash(c, x_c).
    """
    if is_sparse(X):
        return mix_words(_number_terms(X, np.arange(X.shape[1])))
    if isinstance(X, Table):
        others = ((c, X.column(c)) for c in np.flatnonzero(X.place < 0).tolist())
        of_numbers = _number_terms(X.numbers, np.flatnonzero(X.place >= 0))
        return mix_words(_column_terms(of_numbers, others))
    if not is_frame(X):
        X = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
        if X.dtype.kind not in "OUS":
            return mix_words(_number_terms(X, np.arange(X.shape[1])))
    columns = split_columns(X)[1] if is_frame(X) else X.reshape(len(X), -1).T
    return mix_words(_column_terms(np.zeros(len(X), dtype=np.uint64), enumerate(columns)))


def equal_keys(keys: Keys, known: Keys) -> tuple[Array, Array]:
    """Pairs of places at which keys, and known keys, are equal; by the places of the first."""
    order = np.argsort(known, kind="stable")
    first = np.searchsorted(known[order], keys, side="left")
    count = np.searchsorted(known[order], keys, side="right") - first
    new = np.repeat(np.arange(len(keys)), count)
    within = np.arange(len(new)) - np.repeat(np.cumsum(count) - count, count)
    return new, order[first[new] + within]


def _number_terms(X: Rows, columns: Array) -> Keys:
    """The sums of hash(c, x_c) over dense or sparse rows whose columns are numbered so."""
    if is_sparse(X):
        return _sparse_terms(X.tocsr(), columns)
    total = np.empty(len(X), dtype=np.uint64)
    for rows in row_blocks(len(X), max(1, BLOCK_ENTRIES // max(1, X.shape[1]))):
        total[rows] = _entry_keys(X[rows], columns).sum(axis=1, dtype=np.uint64)
    return total


def _sparse_terms(X: Rows, columns: Array) -> Keys:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    terms = _entry_keys(X.data, columns[X.indices])
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])  # exact, being modulo 2^64


def _column_terms(total: Keys, columns: Iterable[tuple[int, Array]]) -> Keys:
    """With the terms of columns of numbers or texts added to those of others."""
    for c, values in columns:
        words = _object_words(values) if values.dtype.kind in "OUS" else values
        total += _entry_keys(words, np.array([c]))
    return total


def _entry_keys(values: Array, columns: Array) -> Keys:
    """hash(c, x_c) for entries x_c; of a zero it is zero."""
    bits = values if values.dtype == np.uint64 else values.astype(np.float64).view(np.uint64)
    keys = mix_words(bits ^ mix_words(columns.astype(np.uint64)))
    keys[values == 0] = 0  # 0.0 and -0.0 alike, and what a sparse matrix does not store
    return keys


def is_missing(value: object) -> bool:
    """None, NaN, or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number) and bool(value != value)


def entry_number(value: object) -> float | None:
    """The number that an entry is, or None: 1, 1.0 and True are one number, and 0.0 and -0.0.

    Which categories are equal, and which rows, is decided here.
    """
    if isinstance(value, str):
        return None
    try:
        return float(value) + 0.0  # type: ignore[arg-type]  # of -0.0 it is 0.0
    except (TypeError, ValueError, OverflowError):
        return None


def _object_words(values: Array) -> Keys:
    """64 bits for each entry, whatever stands beside it: the bits of a number, or a hash."""
    entries = values.tolist()
    # a missing cell is one and the same, whatever the kind of frame calls it
    numbers = [np.nan if is_missing(one) else entry_number(one) for one in entries]
    words = np.array([0.0 if own is None else own for own in numbers]).view(np.uint64)
    texts = [i for i, own in enumerate(numbers) if own is None]
    words[texts] = hash_texts(repr(entries[i]).encode() for i in texts)
    return words


def are_among(keys: Keys, others: Keys) -> Array:
    """Which keys are among others: by sorting, as in NumPy 2.0 tables of such numbers overflow."""
    return np.isin(keys, others, kind="sort")


def hash_texts(texts: Iterable[bytes]) -> Keys:
    """64 bits for each text."""
    hashed = [blake2b(text, digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(hashed), dtype=np.uint64)


def mix_words(words: Keys) -> Keys:
    """The finaliser of splitmix64: each bit of the result depends on each bit of the word."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def digest(keys: Keys) -> str:
    """32 hexadecimal digits that rows of these keys share in any order, by the sums of two hashes.

    Sums merge: those of blocks of rows give that of all rows.
    """
    return digest_text(digest_sums(keys))


def digest_sums(keys: Keys) -> Keys:
    """The two sums, which add up over blocks of rows."""
    return np.array([words.sum(dtype=np.uint64) for words in (mix_words(keys), mix_words(~keys))])


def digest_text(sums: Keys) -> str:
    """The digest of rows with these sums."""
    return "".join(f"{int(total):016x}" for total in sums)


def distinct_rows(X: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(first, inverse): one index per distinct row in key order, and each row's distinct row.

    ``X[first][inverse]`` equals X, up to the chance 2^-64 per pair that two
    different rows have one key.
    """
    _, first, inverse = np.unique(row_keys(X), return_index=True, return_inverse=True)
    return first, inverse
