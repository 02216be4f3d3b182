"""Summaries beyond their capacity, and tables: what only shows in unusual samples."""

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.kernels.pool import column_sums
from kernel_learn.representations import ArraySource, Summary, sources, summary
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.keys import row_keys
from kernel_learn.rows.table import Table


def test_an_array_beyond_capacity_keeps_what_a_stream_keeps(rng, monkeypatch):
    monkeypatch.setattr(summary, "CAPACITY", 10)
    X = np.repeat(rng.normal(size=(30, 2)), 3, axis=0)
    labels, weight = rng.integers(0, 3, 90), rng.uniform(0.5, 2, 90)
    own = ArraySource(X, labels, weight, n_classes=3).summary
    stream = Summary.of(X[:40], labels[:40], weight[:40], n_classes=3)
    stream = stream.merge(Summary.of(X[40:], labels[40:], weight[40:], n_classes=3))
    np.testing.assert_array_equal(own.keys, stream.keys)
    np.testing.assert_array_equal(X[own.rows], stream.rows)
    np.testing.assert_allclose(own.weight, stream.weight)
    np.testing.assert_allclose(own.labels.toarray(), stream.labels.toarray())
    assert (len(own.keys), own.n_distinct) == (10, 30)


def test_merging_keeps_the_smaller_capacity_and_what_is_not_known(rng):
    X = rng.normal(size=(60, 2))
    nothing = np.zeros((30, 0))
    few = Summary.of(X[:30], nothing, capacity=8)
    many = Summary.of(X[30:], nothing, capacity=50)
    for merged in (few.merge(many), many.merge(few)):
        assert (len(merged.keys), merged.capacity, merged.n_known) == (8, 8, None)
    less = Summary.of(few.rows[:3], nothing[:3], capacity=50)
    assert few.merge(less).n_known is None


def test_the_number_of_distinct_rows_is_estimated_without_bias(rng):
    found = [
        Summary.of(rng.normal(size=(2000, 1)), np.zeros((2000, 0)), capacity=200).n_distinct
        for _ in range(100)
    ]
    assert np.mean(found) == pytest.approx(2000, rel=4 / np.sqrt(200 * 100))


def test_other_labels_do_not_hash_the_rows_again(rng, monkeypatch):
    source = ArraySource(rng.normal(size=(20, 2)), rng.integers(0, 2, 20), n_classes=2)
    keys = source.summary.keys
    monkeypatch.setattr(sources, "row_keys", None)
    np.testing.assert_array_equal(source.with_labels(np.ones((20, 1)), None).summary.keys, keys)
    half = source.subset(np.arange(0, 20, 2))
    np.testing.assert_array_equal(half.keys, source.keys[::2])


def test_bytes_of_sparse_rows():
    X = sparse.random(50, 40, 0.2, format="csr", dtype=np.float64, random_state=0)
    assert row_bytes(X) == pytest.approx((X.data.nbytes + X.indices.astype(np.int32).nbytes) / 50)


def mixed(rng):
    columns = [rng.normal(size=6), list("abcabc"), rng.normal(size=6), list("uvwxyz")]
    return np.array([[column[i] for column in columns] for i in range(6)], dtype=object)


@pytest.mark.parametrize("columns", [[1, 3], [3, 1], [3, 0, 1], [2, 0], [0, 0, 2], [3, 3, 2, 1]])
def test_columns_of_a_table_stand_where_they_are_asked_for(rng, columns):
    X = mixed(rng)
    table = Table.of(X, [0, 2])
    part = table.select(columns)
    for position, c in enumerate(columns):
        assert list(part.column(position)) == list(X[:, c]) == list(table.column(c))
    twice = part.select(np.arange(len(columns))[::-1])
    assert list(twice.column(0)) == list(X[:, columns[-1]])
    if {0, 2} >= set(columns):
        np.testing.assert_array_equal(part.matrix(), X[:, columns].astype(float))


def test_sums_and_keys_of_a_table_are_those_of_its_columns(rng):
    X = mixed(rng)
    for columns in ([0, 1, 2, 3], [3, 2, 1, 0]):
        table = Table.of(X, [0, 2]).select(columns)
        sums = column_sums(table, None)
        for position, c in enumerate(columns):
            if c in (0, 2):
                assert sums.mean[position] == pytest.approx(X[:, c].astype(float).mean())
        np.testing.assert_array_equal(row_keys(table), row_keys(X[:, columns]))
