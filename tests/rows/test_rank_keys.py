"""Keys of rows by ranks: what they must not depend on, and that they tell rows apart."""

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.rows.rank_keys import rank_keys, rank_order
from kernel_learn.rows.table import Table, places


def as_table(X, codes=None):
    codes = np.empty((X.shape[0], 0)) if codes is None else codes
    is_number = np.arange(X.shape[1] + codes.shape[1]) < X.shape[1]
    return Table(None, X, codes, places(is_number))


def numbers(n=40, d=5, seed=0):
    """Small integers, so that there are ties, and a few missing cells."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, d)).astype(float)
    X[rng.random((n, d)) < 0.05] = np.nan
    return X


def distinct_rows(X):
    return len(np.unique(np.nan_to_num(X, nan=-1.0), axis=0))


@pytest.mark.parametrize("d", [1, 3, 5])
def test_rows_are_told_apart(d):
    X = numbers(200, d)
    assert len(np.unique(rank_keys(as_table(X)))) == distinct_rows(X)


CHANGES = {
    "units": lambda X: 2.54 * X - 7,
    "any rising function": lambda X: np.exp(X),
    "order of columns": lambda X: X[:, [3, 0, 4, 2, 1]],
    "a constant column": lambda X: np.column_stack([X[:, :2], np.full(len(X), 3.0), X[:, 2:]]),
    "an empty column": lambda X: np.column_stack([X, np.full(len(X), np.nan)]),
    "single precision": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("change", CHANGES)
def test_keys_do_not_depend_on(change):
    X = numbers()
    np.testing.assert_array_equal(rank_keys(as_table(CHANGES[change](X))), rank_keys(as_table(X)))


def test_keys_go_with_the_rows():
    X, order = numbers(), np.random.default_rng(1).permutation(40)
    np.testing.assert_array_equal(rank_keys(as_table(X[order])), rank_keys(as_table(X))[order])


def test_keys_depend_on_the_columns_that_vary():
    X = numbers()
    assert np.all(rank_keys(as_table(X)) != rank_keys(as_table(X[:, :4])))


def test_codes_of_categories_count():
    X, codes = numbers(60, 2), np.random.default_rng(2).integers(-1, 4, size=(60, 2))
    keys = rank_keys(as_table(X, codes))
    assert len(np.unique(keys)) == distinct_rows(np.column_stack([X, codes]))
    np.testing.assert_array_equal(keys, rank_keys(as_table(X, codes[:, ::-1])))


def test_many_columns_come_in_blocks(monkeypatch):
    X = numbers(30, 17)
    whole = rank_keys(as_table(X))
    monkeypatch.setattr("kernel_learn.rows.rank_keys.BLOCK_ENTRIES", 100)
    np.testing.assert_array_equal(rank_keys(as_table(X)), whole)


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 4, size=(50, 30)) * (rng.random((50, 30)) < 0.3)
    S = sparse.csr_matrix(X.astype(float))
    keys = rank_keys(as_table(S))
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))
    columns, rows = rng.permutation(30), rng.permutation(50)
    np.testing.assert_array_equal(rank_keys(as_table(2.0 * S[:, columns])), keys)
    np.testing.assert_array_equal(rank_keys(as_table(S[rows])), keys[rows])
    beside = sparse.hstack([S, sparse.csr_matrix(np.full((50, 1), 4.0))], format="csr")
    np.testing.assert_array_equal(rank_keys(as_table(beside)), keys)
    empty = np.argwhere(X == 0)[0]
    stored = S.tocoo()  # with a zero that is stored
    parts = [np.append(own, one) for own, one in zip((stored.row, stored.col), empty, strict=True)]
    stored = sparse.coo_matrix((np.append(stored.data, 0.0), parts), shape=S.shape)
    np.testing.assert_array_equal(rank_keys(as_table(stored.tocsr())), keys)


def test_no_entries_at_all():
    assert len(set(rank_keys(as_table(sparse.csr_matrix((3, 4)))).tolist())) == 1
    assert len(set(rank_keys(as_table(np.zeros((3, 2)))).tolist())) == 1


def test_where_columns_look_alike_their_places_tell():
    """All pairs of levels: (0, 1) and (1, 0) have one key, in any unit and beside a constant."""
    X = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    assert len(np.unique(rank_keys(as_table(X)))) < 16
    order, rows = rank_order(as_table(X)), np.random.default_rng(0).permutation(16)
    assert sorted(order) == list(range(16))
    for other in (100 * X + 1, np.column_stack([np.full(16, 2.0), X])):
        np.testing.assert_array_equal(rank_order(as_table(other)), order)
    np.testing.assert_array_equal(rows[rank_order(as_table(X[rows]))], order)
