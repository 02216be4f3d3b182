"""Rows are known by their content, wherever and however they are stored."""

import itertools
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from extras import optional
from kernel_learn.rows.keys import distinct_rows, row_keys

pd = optional("pandas")

values = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, 3.0])
tables = st.integers(1, 12).flatmap(lambda n: arrays(np.float64, (n, 3), elements=values))


def partition(first, inverse):
    """Which rows belong together, without their order."""
    assert len(set(inverse[first])) == len(first)
    return {frozenset(np.flatnonzero(inverse == group)) for group in set(inverse)}


def expected_partition(rows):
    groups = {}
    for i, row in enumerate(rows):
        groups.setdefault(tuple(row), []).append(i)
    return {frozenset(group) for group in groups.values()}


@given(tables)
@settings(max_examples=100, deadline=None)
def test_distinct_rows(X):
    first, inverse = distinct_rows(X)
    assert partition(first, inverse) == expected_partition(X)
    assert np.array_equal(X[first][inverse], X)


@given(tables)
@settings(max_examples=50, deadline=None)
def test_keys_do_not_depend_on_storage(X):
    keys = row_keys(X)
    assert np.array_equal(keys, row_keys(sparse.csr_matrix(X)))
    assert np.array_equal(keys, row_keys(sparse.csc_array(X)))
    assert np.array_equal(keys, row_keys(np.asfortranarray(X)))
    assert np.array_equal(keys, row_keys(pd.DataFrame(X)))
    assert np.array_equal(keys, row_keys(X.astype(object)))


@given(tables, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_keys_do_not_depend_on_position(X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    assert np.array_equal(row_keys(X)[order], row_keys(X[order]))


def test_stored_zeros_and_duplicates_of_sparse_rows():
    plain = sparse.csr_matrix([[1.0, 0.0, 3.0]])
    odd = sparse.csr_matrix(
        (np.array([3.0, 0.0, 0.25, 0.75]), np.array([2, 1, 0, 0]), np.array([0, 4])), shape=(1, 3)
    )
    data = odd.data.copy()
    assert row_keys(plain)[0] == row_keys(odd)[0]
    assert np.array_equal(odd.data, data)


@pytest.mark.parametrize("levels", [np.arange(17.0), 2.0 ** np.arange(-8, 9), np.arange(17) / 16])
def test_no_collisions_among_many_alike_rows(levels):
    """A weak hash fails on grids: their values share most of their bits."""
    X = np.array(list(itertools.product(levels, repeat=4)))
    assert len(np.unique(row_keys(X))) == len(X)
    wide = np.zeros((len(levels) * 500, 500))
    rows, columns = np.divmod(np.arange(len(wide)), 500)
    wide[np.arange(len(wide)), columns] = levels[rows] + 1
    assert len(np.unique(row_keys(wide))) == len(wide)


def test_keys_look_random(rng):
    """Each bit is set in about half of the keys, for rows in a regular order too."""
    keys = row_keys(np.arange(4096.0)[:, None])
    bits = (keys[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.05
    assert abs(np.corrcoef(np.argsort(keys), np.arange(4096))[0, 1]) < 0.05


def test_strings():
    texts = ["b", "a", "b", "", "1", "1.0", "01", "a\0", "long" * 100]
    for X in (texts, np.array(texts, dtype=object), np.array(texts, dtype=object)[:, None]):
        first, inverse = distinct_rows(X)
        assert partition(first, inverse) == expected_partition([[text] for text in texts])
    assert np.array_equal(row_keys(texts[:3]), row_keys(texts)[:3])


def test_tables_of_several_kinds():
    """Rows that differ in the last column only are different rows."""
    frame = pd.DataFrame(
        {
            "number": [0.0, -0.0, 1.0, 1.0, 1.0],
            "text": ["a", "a", "b", "b", "b"],
            "kind": pd.Categorical(["x", "x", "y", "y", "z"]),
        }
    )
    groups = {frozenset({0, 1}), frozenset({2, 3}), frozenset({4})}
    assert partition(*distinct_rows(frame)) == groups
    assert partition(*distinct_rows(frame.to_numpy(dtype=object))) == groups
    assert np.array_equal(row_keys(frame), row_keys(frame.set_index("text", drop=False)))


def test_numbers_and_texts_that_look_alike():
    keys = row_keys(np.array([[1, "a"], ["1", "a"]], dtype=object))
    assert keys[0] != keys[1]


def test_a_number_is_what_it_is_beside_texts():
    """Equal numbers have one key, that of a column of numbers, whatever stands in other rows."""
    entries = [0.0, -0.0, 0, False, "a", 2, 2.0, Decimal(2), None, "2.0"]
    X = np.array([[5.0, own] for own in entries], dtype=object)
    groups = {(0, 1, 2, 3), (4,), (5, 6, 7), (8,), (9,)}
    found = {frozenset(group) for group in partition(*distinct_rows(X))}
    assert found == {frozenset(group) for group in groups}
    alone = np.concatenate([row_keys(X[i : i + 1]) for i in range(len(X))])
    assert np.array_equal(row_keys(X), alone)
    assert np.array_equal(row_keys(X[:3]), row_keys(np.array([[5.0, 0.0]] * 3)))
    assert row_keys(X[8:9])[0] == row_keys(np.array([[5.0, np.nan]]))[0]
    huge = np.array([[10**400], [10**400], [1]], dtype=object)
    assert partition(*distinct_rows(huge)) == {frozenset({0, 1}), frozenset({2})}


def test_no_rows():
    assert row_keys(np.empty((0, 3))).shape == (0,)
    first, inverse = distinct_rows(np.empty((0, 3)))
    assert len(first) == len(inverse) == 0


def test_a_missing_cell_is_one_and_the_same():
    for missing in (None, float("nan"), np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT):
        keys = row_keys(np.array([["a", missing], ["a", None], ["a", "x"]], dtype=object))
        assert keys[0] == keys[1] != keys[2]
