"""Equal rows as one row, and divisions that follow content and keep groups whole."""

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.criteria.held_out.folds import stratified_folds, stratified_rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.deduplicate import merge_rows


@pytest.fixture
def rows(rng):
    X = rng.integers(0, 3, size=(40, 2)).astype(float)
    return X, rng.integers(0, 3, size=40), rng.integers(1, 4, size=40).astype(float)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_merged_rows_keep_their_labels_and_weights(rows, form):
    X, y, weight = rows
    found = merge_rows(form(X), y, weight, 3)
    assert len(found.first) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(X[found.first][found.inverse], X)
    for i, first in enumerate(found.first):
        same = (X[first] == X).all(axis=1)
        expected = np.bincount(y[same], weight[same], 3)
        np.testing.assert_array_equal(found.targets.counts[i], expected)


def test_order_follows_content_and_seed(rows, rng):
    X, y, weight = rows
    order = rng.permutation(40)
    a, b = merge_rows(X, y, weight, 3), merge_rows(X[order], y[order], weight[order], 3)
    np.testing.assert_array_equal(X[a.first], X[order][b.first])
    c = merge_rows(X, y, weight, 3, seed=1)
    assert not np.array_equal(X[a.first], X[c.first])


def test_small_weights_say_how_rows_compare(rows):
    X, y, weight = rows
    a = merge_rows(X, y, weight / 1000, 3)
    assert a.targets.total == pytest.approx(len(a.first))
    np.testing.assert_allclose(a.targets.mean, merge_rows(X, y, weight, 3).targets.mean)


def test_rows_of_different_groups_are_not_merged(rows):
    X, y, weight = rows
    groups = np.arange(40) % 8
    found = merge_rows(X, y, weight, 3, groups)
    assert len(found.first) == len(np.unique(np.column_stack([X, groups]), axis=0))
    for group in found.targets.groups:
        assert len(group) > 1 and len(set(groups[found.first[group]])) == 1


def test_parts_are_stratified_and_keep_groups():
    counts = np.eye(3)[np.repeat([0, 1, 2], [20, 10, 5])]
    parts = stratified_folds(Targets(counts), 5)
    for c in range(3):
        sizes = np.bincount(parts[counts[:, c] > 0], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    groups = tuple(np.array([i, i + 1]) for i in range(0, 34, 2))
    parts = stratified_folds(Targets(counts, groups), 5)
    assert all(parts[a] == parts[b] for a, b in groups) and len(np.unique(parts)) == 5


def test_rows_for_screening():
    counts = np.eye(3)[np.repeat([0, 1, 2], [700, 290, 10])]
    rows = stratified_rows(Targets(counts), 100)
    assert np.bincount(counts[rows].argmax(axis=1)).tolist() == [70, 29, 2]
    groups = tuple(np.array([i, i + 1]) for i in range(0, 1000, 2))
    chosen = np.isin(np.arange(1000), stratified_rows(Targets(counts, groups), 100))
    assert all(chosen[a] == chosen[b] for a, b in groups)


def test_rows_without_kin_are_no_group():
    X, groups = np.arange(7.0)[:, None], np.array([3, 3, 5, 1, 1, 1, 7])
    rows = merge_rows(X, np.arange(7) % 2, np.ones(7), 2, groups)
    found = [rows.first[own] for own in rows.targets.groups]
    assert [sorted(own) for own in found] == [[3, 4, 5], [0, 1]]
    assert all((np.diff(own) > 0).all() for own in rows.targets.groups)
