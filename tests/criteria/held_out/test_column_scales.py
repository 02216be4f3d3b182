"""Column scales by squared gradients: against differences, weights as repetitions."""

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.criteria.held_out import column_scales
from kernel_learn.criteria.held_out.column_scales import (
    ColumnScales,
    learn_scales,
    pool_scales,
    squared_gradients,
)
from kernel_learn.criteria.held_out.targets import Targets
from oracles import classifier as oracle
from tolerances import EXACT


@pytest.fixture
def X(rng):
    X = rng.standard_normal((30, 4))
    X[:, 3] *= 0.1
    return X


@pytest.fixture
def counts(X):
    """The classes are thirds of the second column."""
    return np.eye(3)[np.digitize(X[:, 1], [-0.4, 0.4])]


def test_gradients_are_differences(X, counts, rng):
    counts = counts * rng.integers(1, 3, size=(30, 1))
    weight = counts.sum(axis=1).astype(int)
    R = np.linalg.norm(X[:, None] - X, axis=2)
    width = np.median(np.repeat(np.repeat(R, weight, 0), weight, 1))
    K = np.exp(-R / width)
    lam = 0.1 * oracle.ridge_unit(K, counts)
    # the coefficients of the repetitions of a row add up
    n = len(oracle.repeat(counts))
    rows = [i for i, _ in oracle.repeat(counts)]
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K[np.ix_(rows, rows)] + lam * np.eye(n)
    system[n, n] = 0
    Y = np.eye(3)[[c for _, c in oracle.repeat(counts)]]
    coef = np.linalg.solve(system, np.vstack([Y, np.zeros(3)]))[:n]
    total = np.zeros((30, 3))
    np.add.at(total, rows, coef)
    expected = oracle.mean_squared_gradients(X, counts, total, width)
    np.testing.assert_allclose(squared_gradients(X, Targets(counts)), expected, rtol=1e-5)


def test_finds_the_column(X, counts):
    found = learn_scales(X, Targets(counts))
    assert found.scales.argmax() == 1 and found.relevance.argmax() == 1
    assert np.mean(found.scales**2) == pytest.approx(1)
    once = learn_scales(X, Targets(counts), rounds=1)
    assert found.relevance[1] / found.relevance.sum() > once.relevance[1] / once.relevance.sum()


def test_sparse_rows_and_column_blocks(X, counts, monkeypatch):
    expected = learn_scales(X, Targets(counts)).scales
    monkeypatch.setattr(column_scales, "GRADIENT_ENTRIES", 60)
    for rows in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(learn_scales(rows, Targets(counts)).scales, expected, atol=EXACT)


def test_columns_of_one_block_share_a_scale(X, counts):
    s = learn_scales(X, Targets(counts), blocks=np.array([0, 1, 1, 2])).scales
    assert s[1] == s[2] != s[0]


def test_many_classes_are_rotated(X, monkeypatch):
    counts = np.eye(6)[np.arange(30) % 6]
    full = squared_gradients(X, Targets(counts))
    monkeypatch.setattr(column_scales, "MOST_DIRECTIONS", 5)  # the rank of six classes is five
    np.testing.assert_allclose(squared_gradients(X, Targets(counts)), full, rtol=1e-8)
    monkeypatch.setattr(column_scales, "MOST_DIRECTIONS", 1)
    assert np.all(squared_gradients(X, Targets(counts)) < full)


def test_rows_that_are_all_the_same():
    found = learn_scales(np.ones((6, 3)), Targets(np.eye(2)[[0, 1] * 3]))
    assert found.scales.tolist() == [1, 1, 1] and found.relevance.tolist() == [0, 0, 0]


def test_pooled_scales_are_those_of_the_mean_squared_gradients():
    found = [ColumnScales(np.ones(3), np.array(M)) for M in ([4.0, 0, 0], [0.0, 1, 0])]
    pooled = pool_scales(found)
    np.testing.assert_allclose(pooled.relevance, [2, 0.5, 0])
    raw = np.sqrt(np.array([2, 0.5, 0]) / 2 + 1e-6)
    np.testing.assert_allclose(pooled.scales, raw / np.sqrt(np.mean(raw**2)))
    nothing = pool_scales([ColumnScales(np.ones(3), np.zeros(3))])
    np.testing.assert_array_equal(nothing.scales, np.ones(3))
