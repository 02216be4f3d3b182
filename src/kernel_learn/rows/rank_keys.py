"""An order of rows that depends on how they compare, not on units or on where columns stand.

Folds, and the rows on which kernels are screened, follow an order that is as good as random and
the same however the rows come. By the keys of their contents it would be another one for lengths
in inches, for columns moved about and beside a column that says nothing, and so would the model.
"""

from collections.abc import Iterator

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.rows.access import is_sparse, row_blocks
from kernel_learn.rows.keys import BLOCK_ENTRIES, mix_words
from kernel_learn.rows.table import Table

# (the row and the column of each entry, or slices of both, and the entries' ranks)
Ranked = tuple[Array | slice, Array | slice, Keys]


def rank_order(table: Table) -> Array:
    """The rows in the order of ``rank_keys``, (n,); where columns look alike, so may rows (all
    combinations of the levels of two columns): there the columns' places tell.
    """
    keys, named = rank_keys(table), np.zeros(len(table), np.uint64)
    before = 0
    for at, own, ranks in _ranked(table):
        place = np.arange(len(table.place))[own] if ranks.ndim == 1 else np.cumsum(ranks[0] > 0)
        _add_terms(named, at, _terms(ranks, mix_words((place + before).astype(np.uint64))), 1)
        before += 0 if ranks.ndim == 1 else int(place[-1])
    return np.lexsort((mix_words(named), keys))


def rank_keys(table: Table) -> Keys:
    """A 64-bit key of each row by the ranks of its cells within their columns, (n,).

    r_i = sum_c hash(rank_ic) tells rows apart where columns have no names; columns are told
    apart by what they say of these, h_c = sum_i hash(rank_ic, r_i); the key of a row is
    sum_c hash(rank_ic, h_c). Sums do not depend on any order, and ranks not on units. Constant
    columns count for nothing.
    """
    n, d = len(table), table.numbers.shape[1] + table.others.shape[1]
    rows, columns = np.zeros(n, np.uint64), np.zeros(d, np.uint64)
    keys = np.zeros(n, np.uint64)
    for at, _, ranks in _ranked(table):
        _add_terms(rows, at, _terms(ranks, np.zeros(1, np.uint64)), 1)
    rows = mix_words(rows)[:, None]
    for at, own, ranks in _ranked(table):
        _add_terms(columns, own, _terms(ranks, _side_by_side(rows[at], ranks)), 0)
    columns = mix_words(columns)
    for at, own, ranks in _ranked(table):
        _add_terms(keys, at, _terms(ranks, columns[own]), 1)
    return mix_words(keys)


def _side_by_side(words: Keys, ranks: Keys) -> Keys:
    """Words of rows beside a block of ranks, or beside ranks of single entries."""
    return words if ranks.ndim == 2 else words[:, 0]


def _terms(ranks: Keys, words: Keys) -> Keys:
    """hash(rank, word), 0 where the rank is."""
    return np.where(ranks > 0, mix_words(ranks ^ words), np.uint64(0))


def _add_terms(sums: Keys, at: Array | slice, terms: Keys, axis: int) -> None:
    """Terms of a block along one of its sides, or of single entries."""
    if isinstance(at, slice):
        sums[at] += terms.sum(axis=axis, dtype=np.uint64)
    else:
        np.add.at(sums, at, terms)


def _ranked(table: Table) -> Iterator[Ranked]:
    """Ranks from 1 on of the cells of some columns after others; 0 in constant columns."""
    width = table.numbers.shape[1]
    if is_sparse(table.numbers):
        yield _sparse_ranks(table.numbers)
    else:
        yield from _dense_ranks(table.numbers, 0)
    yield from _dense_ranks(table.others, width)


def _dense_ranks(X: Array, start: int) -> Iterator[Ranked]:
    for block in row_blocks(X.shape[1], max(1, BLOCK_ENTRIES // max(1, len(X)))):
        own = np.asarray(X[:, block], dtype=np.float64)
        order = np.argsort(own, axis=0)
        values = np.take_along_axis(own, order, axis=0)
        with np.errstate(invalid="ignore"):
            fresh = (values[1:] != values[:-1]) & ~np.isnan(values[:-1])  # missing cells are equal
        ranks = np.ones(own.shape, np.uint64)
        np.cumsum(fresh, axis=0, out=ranks[1:], dtype=np.uint64)
        ranks[1:] += 1
        ranks[:, ranks[-1] == 1] = 0
        found = np.empty_like(ranks)
        np.put_along_axis(found, order, ranks, axis=0)
        yield slice(None), slice(start + block.start, start + block.stop), found


def _sparse_ranks(X: Rows) -> Ranked:
    """Of the entries that are not zero, among those of their column."""
    own = X.tocsr().copy()
    own.sum_duplicates()
    own.eliminate_zeros()
    n, d = own.shape
    rows, columns = np.repeat(np.arange(n), np.diff(own.indptr)), own.indices
    order = np.lexsort((own.data, columns))
    column, value = columns[order], own.data[order]
    first = np.r_[True, column[1:] != column[:-1]][: len(column)]
    fresh = first | np.r_[True, value[1:] != value[:-1]][: len(value)]
    count = np.cumsum(fresh)
    start = np.maximum.accumulate(np.where(first, count - 1, 0))
    ranks = np.empty(len(order), np.uint64)
    ranks[order] = count - start
    constant = (np.bincount(columns, minlength=d) == n) & (
        np.bincount(column, fresh, minlength=d) == 1
    )
    ranks[constant[columns]] = 0
    return rows, columns, ranks
