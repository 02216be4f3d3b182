"""Summaries: merged in any order they are the summary of all rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from extras import optional
from kernel_learn.representations import ArraySource, Summary
from kernel_learn.representations.summary import CAPACITY, capacity_of
from kernel_learn.rows.keys import row_keys
from kernel_learn.rows.table import Table

pd = optional("pandas")


def rows_of(X, summary):
    rows = summary.rows
    if isinstance(rows, Table):
        return [tuple(rows.column(c)[i] for c in range(rows.shape[1])) for i in range(len(rows))]
    rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    return [tuple(np.atleast_1d(row)) for row in rows]


def as_kind(X, kind):
    if kind == "sparse":
        return sparse.csr_matrix(X)
    if kind == "strings":
        return np.array(["".join("abc"[int(v) % 3] for v in row) for row in X], dtype=object)
    if kind == "table":
        frame = pd.DataFrame({"a": X[:, 0], "b": [f"t{v:g}" for v in X[:, 1]], "c": X[:, 2]})
        return Table.of(frame, [0, 2])
    return X


@pytest.mark.parametrize("kind", ["dense", "sparse", "strings", "table"])
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    capacity=st.integers(2, 30),
    values=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=40, deadline=None)
def test_any_blocks_in_any_order(kind, sizes, capacity, values, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    raw = rng.integers(0, 3, size=(n, 3)).astype(float)
    X, weight = as_kind(raw, kind), rng.uniform(0.1, 3, size=n)
    labels = rng.normal(size=(n, 2)) if values else rng.integers(0, 4, n)
    n_classes = None if values else 4
    edges = np.cumsum([0, *sizes])
    options = {"n_classes": n_classes, "capacity": capacity}
    marks = rng.integers(0, 2**64, n, dtype=np.uint64)
    blocks = [
        Summary.of(X[a:b], labels[a:b], weight[a:b], marks=marks[a:b], **options)
        for a, b in itertools.pairwise(edges)
    ]
    whole = Summary.of(X, labels, weight, marks=marks, **options)

    # what it must be, from the rows by hand
    keys = row_keys(X)
    expected = np.unique(keys)[:capacity]
    np.testing.assert_array_equal(whole.keys, expected)
    np.testing.assert_array_equal(row_keys(whole.rows), expected)
    np.testing.assert_allclose(whole.weight, [weight[keys == key].sum() for key in expected])
    targets = labels if values else np.eye(4)[labels]
    sums = [(weight[keys == key, None] * targets[keys == key]).sum(axis=0) for key in expected]
    dense = whole.labels if values else whole.labels.toarray()
    np.testing.assert_allclose(dense, sums, atol=1e-12)
    seen = [((keys == key).sum(), int(marks[keys == key].sum())) for key in expected]
    np.testing.assert_array_equal(whole.seen, np.array(seen, dtype=np.uint64))

    for order in (blocks, blocks[::-1], list(rng.permutation(np.array(blocks, dtype=object)))):
        merged = order[0]
        for block in order[1:]:
            merged = merged.merge(block)
        np.testing.assert_array_equal(merged.keys, whole.keys)
        np.testing.assert_array_equal(merged.seen, whole.seen)
        assert rows_of(X, merged) == rows_of(X, whole)
        np.testing.assert_allclose(merged.weight, whole.weight, rtol=1e-12)
        np.testing.assert_allclose(merged.counts, whole.counts, rtol=1e-12, atol=1e-12)
        other = merged.labels if values else merged.labels.toarray()
        np.testing.assert_allclose(other, dense, rtol=1e-12, atol=1e-12)
        assert merged.n == pytest.approx(weight.sum(), rel=1e-12)
        if kind in ("dense", "sparse"):
            np.testing.assert_allclose(merged.columns.mean, whole.columns.mean, atol=1e-12)
            np.testing.assert_allclose(merged.columns.squares, whole.columns.squares, atol=1e-10)
        if len(np.unique(keys)) <= capacity:
            assert merged.n_distinct == whole.n_distinct == len(np.unique(keys))


def test_distinct_rows_beyond_capacity_are_estimated(rng):
    X = rng.normal(size=(5000, 2))
    summary = Summary.of(X, np.zeros((5000, 0)), capacity=400)
    assert len(summary.keys) == 400
    assert summary.n_distinct == pytest.approx(5000, rel=4 / np.sqrt(400))
    halves = [Summary.of(X[i::2], np.zeros((2500, 0)), capacity=400) for i in range(2)]
    assert halves[0].merge(halves[1]).n_distinct == summary.n_distinct


def test_an_array_summarises_itself_by_indices(rng):
    X = rng.integers(0, 4, size=(300, 2)).astype(float)
    labels, weight = rng.integers(0, 3, 300), rng.uniform(0.5, 2, 300)
    source = ArraySource(X, labels, weight, n_classes=3)
    whole = Summary.of(X, labels, weight, n_classes=3)
    own = source.summary
    assert own.rows.dtype.kind == "i"
    np.testing.assert_array_equal(own.keys, whole.keys)
    np.testing.assert_array_equal(X[own.rows], whole.rows)
    np.testing.assert_allclose(own.weight, whole.weight)
    np.testing.assert_allclose(own.labels.toarray(), whole.labels.toarray())
    np.testing.assert_allclose(own.counts, whole.counts)
    np.testing.assert_allclose(own.columns.squares, whole.columns.squares)
    pool = own.pool(X)
    np.testing.assert_array_equal(pool.rows, whole.rows)
    np.testing.assert_array_equal(pool.head(5).rows, whole.rows[:5])


def test_capacity_does_not_depend_on_a_budget():
    assert capacity_of(np.empty((10, 10))) == CAPACITY
    assert capacity_of(np.empty((3, 10**5))) == 320
    assert capacity_of(np.empty((3, 10**5), dtype=np.float32)) == 640


def test_blocks_cover_the_rows_once(rng):
    X, labels = rng.normal(size=(23, 2)), rng.integers(0, 3, 23)
    source = ArraySource(X, labels, n_classes=3)
    for size in (1, 7, 23, 100):
        blocks = list(source.blocks(size))
        np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), labels)
        assert sum(block.weight.sum() for block in blocks) == 23
        assert all(block.y.ndim == 1 for block in blocks)  # never one-hot


def test_merged_rows(rng):
    X = rng.integers(0, 2, size=(40, 2)).astype(float)
    labels, weight = rng.integers(0, 3, 40), rng.uniform(0.5, 2, 40)
    source = ArraySource(X, labels, weight, n_classes=3)
    rows, T, w = source.merged()
    assert len(rows) == len(np.unique(X, axis=0)) == 4
    for row, t, total in zip(rows, T, w, strict=True):
        own = (row == X).all(axis=1)
        assert total == pytest.approx(weight[own].sum())
        np.testing.assert_allclose(t, weight[own] @ np.eye(3)[labels[own]] / total)
    for by_content in (False, True):
        merged, inverse, first = source.merged_by_label(by_content=by_content)
        np.testing.assert_array_equal(merged.X[inverse], X)
        np.testing.assert_array_equal(merged.labels[inverse], labels)
        np.testing.assert_array_equal(merged.X, X[first])
        np.testing.assert_allclose(np.bincount(inverse, weight), merged.weight)
        assert by_content or np.all(np.diff(first) > 0)
