"""Shapley values of expansions against all sets of columns."""

import numpy as np
import pytest

from kernel_learn.criteria.shapley import (
    Background,
    count_nodes,
    enumerated_values,
    sampled_values,
    term_values,
)
from kernel_learn.kernels import (
    Additive,
    ColumnKernel,
    Combination,
    Exponential,
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    PairwiseAnova,
    Polynomial,
    SharedStatistics,
    evaluate_shared,
)
from kernel_learn.kernels.column_terms import column_terms
from kernel_learn.kernels.scaled import ScaledKernel
from oracles.shapley import shapley_by_sets

CODES = (5, 6)
SINGLE = [np.array([c]) for c in range(7)]
BLOCKS = [np.array([0, 3]), np.array([1]), np.array([2, 4, 5]), np.array([6])]


@pytest.fixture
def rows(rng):
    X = rng.uniform(size=(30, 7))
    X[:, 5:] = rng.integers(0, 3, (30, 2))
    a = rng.standard_normal((18, 2))
    share = rng.uniform(size=9)
    return X[:3], X[3:21], a, Background(X[21:], share / share.sum())


KERNELS = {
    "gaussian": (Gaussian(0.7), ()),
    "laplacian": (Laplacian(0.4), ()),
    "narrow": (Gaussian(900.0), ()),
    "linear": (Linear(), ()),
    "hamming": (Hamming(0.3, list(CODES), 1.5), CODES),
    "additive": (Additive(list(CODES)), CODES),
    "pairs": (PairwiseAnova(list(CODES)), CODES),
    "scaled": (ScaledKernel(Gaussian(0.4), np.array([1.0, 0.3, 0.0, 2.0, 0.7, 0.1, 1.5])), ()),
    "scaled pairs": (ScaledKernel(PairwiseAnova(), np.array([1, 0.5, 0, 0.4, 1, 0.1, 0.2])), ()),
    "combined": (
        Combination(
            [
                ColumnKernel(Gaussian(0.5), np.array([0, 1, 4])),
                ColumnKernel(Linear(), np.array([2, 6])),
            ],
            np.array([0.7, 2.0]),
        ),
        (),
    ),
}


def check(kernel, codes, rows, blocks):
    X, X_ref, a, background = rows
    terms = column_terms(kernel, 7, codes)
    found = sum(term_values(term, X, X_ref, a, background, blocks) for term in terms)

    def f(Z):
        return evaluate_shared(kernel, SharedStatistics(Z, X_ref, codes)) @ a

    for i in range(len(X)):
        expected = shapley_by_sets(f, X[i], background.rows, background.share, blocks)
        np.testing.assert_allclose(found[i], expected, rtol=0, atol=1e-12)
    total = f(X) - background.share @ f(background.rows)
    np.testing.assert_allclose(found.sum(axis=1), total, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("blocks", [SINGLE, BLOCKS], ids=["columns", "blocks"])
def test_exact(name, blocks, rows):
    check(*KERNELS[name], rows, blocks)


def test_all_sets(rows):
    X, X_ref, a, background = rows

    def f(Z):
        return Exponential(0.8)(Z, X_ref) @ a

    for x in X:
        expected = shapley_by_sets(f, x, background.rows, background.share, BLOCKS)
        found = enumerated_values(f, x, background, BLOCKS)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_factors_that_vanish(rows):
    X, X_ref, a, background = rows
    term = column_terms(Gaussian(1e6), 7)[0]
    found = term_values(term, X, X_ref, a, background, SINGLE)
    np.testing.assert_allclose(found, 0.0, atol=1e-20)


def test_many_blocks_of_background(rows, monkeypatch):
    whole = term_values(column_terms(Gaussian(0.7), 7)[0], *rows, SINGLE)
    for numbers in ("BLOCK_NUMBERS", "HELD_NUMBERS"):
        monkeypatch.setattr(f"kernel_learn.criteria.shapley.{numbers}", 1)
        found = term_values(column_terms(Gaussian(0.7), 7)[0], *rows, SINGLE)
        np.testing.assert_allclose(found, whole, atol=1e-14)


@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_as_many_nodes_as_are_needed(gamma, size, rng, monkeypatch):
    """Fewer than ceil(d / 2) where columns move little, and values as with so many."""
    d, seen = 40, []
    X, X_ref, Z = rng.uniform(size=(2, d)), rng.uniform(size=(12, d)), rng.uniform(size=(5, d))
    a, behind = size * rng.standard_normal((12, 1)), Background(Z, np.full(5, 0.2))
    term, blocks = column_terms(Gaussian(gamma), d)[0], [np.array([c]) for c in range(d)]

    def counted(*given):
        seen.append(count_nodes(*given))
        return seen[-1]

    monkeypatch.setattr("kernel_learn.criteria.shapley.count_nodes", counted)
    found = term_values(term, X, X_ref, a, behind, blocks)
    monkeypatch.setattr("kernel_learn.criteria.shapley.count_nodes", lambda *_: d // 2)
    whole = term_values(term, X, X_ref, a, behind, blocks)
    np.testing.assert_allclose(found, whole, rtol=1e-13, atol=2e-12)
    assert len(seen) == 2 and max(seen) <= d // 2
    assert (max(seen) < d // 4) == (gamma < 1)


def test_what_cannot_be_taken_apart():
    assert column_terms(Polynomial(3, 1.0, 1.0), 4) is None
    assert column_terms(Combination([Linear(), Polynomial(2, 1.0)], np.ones(2)), 4) is None


@pytest.mark.parametrize("entries", [2**22, 10])
def test_sampled(rows, monkeypatch, entries):
    monkeypatch.setattr("kernel_learn.criteria.shapley.STEP_NUMBERS", entries)
    X, X_ref, a, background = rows
    kernel = Polynomial(3, 0.5, 1.0)

    def f(Z):
        return kernel(Z, X_ref) @ a

    rng = np.random.default_rng(0)
    runs = [sampled_values(f, X[0], background, BLOCKS, rng) for _ in range(50)]
    total = f(X[:1])[0] - background.share @ f(background.rows)
    for found, _ in runs:
        np.testing.assert_allclose(found.sum(axis=0), total, rtol=1e-12)
    expected = shapley_by_sets(f, X[0], background.rows, background.share, BLOCKS)
    mean = np.mean([found for found, _ in runs], axis=0)
    error = np.sqrt(np.mean([error**2 for _, error in runs], axis=0) / len(runs))
    assert (error > 0).all() and (np.abs(mean - expected) < 4 * error).all()


def test_standard_errors_are_those_of_repetitions(rows):
    X, X_ref, a, background = rows

    def f(Z):
        return Polynomial(3, 0.5, 1.0)(Z, X_ref) @ a

    runs = [
        sampled_values(f, X[0], background, SINGLE, np.random.default_rng(s)) for s in range(60)
    ]
    seen = np.std([values for values, _ in runs], axis=0)
    told = np.sqrt(np.mean([error**2 for _, error in runs], axis=0))
    np.testing.assert_allclose(told, seen, rtol=0.4)


def test_a_sum_needs_no_sample(rows):
    X, X_ref, a, background = rows
    found, error = sampled_values(
        lambda Z: Z @ X_ref.T @ a, X[0], background, SINGLE, np.random.default_rng(0)
    )
    np.testing.assert_allclose(error, 0.0, atol=1e-14)
    expected = term_values(column_terms(Linear(), 7)[0], X[:1], X_ref, a, background, SINGLE)
    np.testing.assert_allclose(found, expected[0], atol=1e-12)
