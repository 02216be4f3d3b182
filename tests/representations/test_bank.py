"""Banks: lazily evaluated Gram matrices, their cache, and their low-rank twin."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.kernels import Gaussian, Kernel, Laplacian, Linear, Precomputed
from kernel_learn.representations import GramBank, MomentBank, Sample, represent_bank
from kernel_learn.representations.bank import WORKING_MATRICES
from oracles.hsic import center

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.arange(40) % 3
L = np.eye(3)[Y]
KERNELS = [Gaussian(0.1), Gaussian(1.0), Linear(), Laplacian(0.5)]


def budget(n, matrices):
    return 8 * n**2 * matrices


class Counting(Kernel):
    """A linear kernel that counts its evaluations."""

    calls = 0

    def __call__(self, X, X_ref=None):
        type(self).calls += 1
        return X @ (X if X_ref is None else X_ref).T


@pytest.mark.parametrize("cached", [0, 1, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_cache_gives_the_naive_matrices(cached, weighted, rng):
    weight = 1.0 + np.arange(40) % 3 if weighted else None
    bank = GramBank(KERNELS, X, L, weight, memory_budget=budget(40, cached + WORKING_MATRICES))
    assert len(bank.cache) == cached
    S = np.sqrt(np.ones(40) if weight is None else weight)
    Gs = [S[:, None] * center(kernel(X), weight) * S for kernel in KERNELS]
    n = S @ S
    np.testing.assert_allclose(bank.traces, [np.trace(G) for G in Gs])
    Gs = [G * n / np.trace(G) for G in Gs]
    d = rng.dirichlet(np.ones(4))
    G = sum(w * K for w, K in zip(d, Gs, strict=True))
    np.testing.assert_allclose(bank.combine(d), G, atol=1e-10)
    B = rng.normal(size=(40, 2))
    np.testing.assert_allclose(bank.products(B), [K @ B for K in Gs], atol=1e-9)
    resolvent = bank.resolvent(d, 0.3)
    Minv_L = np.linalg.solve(G + 0.3 * np.eye(40), bank.L)
    np.testing.assert_allclose(resolvent.V, bank.L.T @ Minv_L, atol=1e-9)
    forms = [Minv_L.T @ K @ Minv_L for K in [np.eye(40), *Gs]]
    np.testing.assert_allclose(resolvent.forms, forms, atol=1e-8)
    H = [
        [
            2 * np.trace(Minv_L.T @ A @ np.linalg.solve(G + 0.3 * np.eye(40), C @ Minv_L))
            for C in [np.eye(40), *Gs]
        ]
        for A in [np.eye(40), *Gs]
    ]
    np.testing.assert_allclose(resolvent.hessian(np.eye(3)), H, rtol=1e-8)
    products = [[np.sum(A * C) for C in Gs] for A in Gs]
    np.testing.assert_allclose(bank.inner_products(), products, rtol=1e-9)


def test_working_memory_is_three_matrices():
    """Whatever the number of kernels, a step holds the cache and at most three matrices."""
    n = 400
    A, labels = RNG.normal(size=(n, 2)), np.eye(2)[np.arange(n) % 2]
    kernels = [Gaussian(g) for g in np.geomspace(0.01, 10, 12)]
    for cached in (0, 4):
        tracemalloc.start()
        bank = GramBank(kernels, A, labels, memory_budget=budget(n, cached + WORKING_MATRICES))
        bank.resolvent(bank.uniform(), 0.1)
        bank.inner_products()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(bank.cache) == cached
        assert peak <= budget(n, cached + WORKING_MATRICES + 0.3), cached


def test_cached_kernels_are_evaluated_once_and_weightless_ones_not_at_all():
    Counting.calls = 0
    bank = GramBank([Counting(), Gaussian(0.1)], X, L)
    for _ in range(3):
        bank.resolvent(bank.uniform(), 0.1)
    assert Counting.calls == 1
    lazy = GramBank([Counting(), Gaussian(0.1)], X, L, memory_budget=budget(40, 3))
    Counting.calls = 0
    lazy.combine(np.array([0.0, 1.0]))
    assert Counting.calls == 0


def test_too_little_memory_is_refused():
    with pytest.raises(ValueError, match="memory budget"):
        GramBank(KERNELS, X, L, memory_budget=budget(40, 2))


def test_a_constant_kernel_is_dead():
    bank = GramBank([Gaussian(0.1), Gaussian(1e-300)], X, L)
    assert bank.alive.tolist() == [True, False]
    assert bank.weights(np.array([0.5, 0.5]))[1] == 0
    np.testing.assert_array_equal(bank.uniform(), [1.0, 0.0])
    with pytest.raises(ValueError, match="no weight"):
        bank.point(np.array([0.0, 1.0]))


def test_which_form():
    sample = Sample(Gaussian(0.1), X, L)
    options = {"mixing": np.eye(3), "random_state": 0}
    assert isinstance(represent_bank(KERNELS, sample, **options), GramBank)
    assert isinstance(represent_bank(KERNELS, sample, landmarks=5, **options), MomentBank)
    assert isinstance(represent_bank(KERNELS, sample, landmarks=10, **options), GramBank)
    assert isinstance(represent_bank(KERNELS, sample, landmarks="all", **options), GramBank)
    rows = represent_bank(KERNELS, sample, landmarks=X[:4] + 0.1, **options)
    assert rows.S.shape[0] <= 16
    many = np.repeat(X, 3, axis=0)
    assert isinstance(
        represent_bank(KERNELS, Sample(Gaussian(0.1), many, np.tile(L, (3, 1))), **options),
        GramBank,
    )


def test_low_rank_traces_and_map():
    """The stacked map has the inner products of the weighted sum of Nystroem kernels."""
    sample = Sample(Gaussian(0.1), X, L)
    bank = represent_bank(KERNELS, sample, np.eye(3), landmarks=6, random_state=0)
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    features = bank.stacked(weights)
    Z = features(X)
    K = sum(w * part(X) @ part(X).T for w, part in zip(weights, bank.features, strict=True))
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-10)
    assert len(features.parts) == 3
    V = RNG.normal(size=(Z.shape[1], 2))
    kernel = features.expand(V, Z.mean(axis=0))
    X_new = RNG.normal(size=(7, 3))
    expected = (features(X_new) - Z.mean(axis=0)) @ V
    np.testing.assert_allclose(kernel.transform(X_new), expected, atol=1e-10)
    np.testing.assert_allclose(kernel(X_new), expected @ expected.T, atol=1e-9)


def test_stacks_and_sparse_rows():
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    layers = [Precomputed(layer=i) for i in range(4)]
    exact, dense = GramBank(layers, stack, L), GramBank(KERNELS, X, L)
    np.testing.assert_allclose(exact.combine(exact.uniform()), dense.combine(dense.uniform()))
    rows = GramBank(KERNELS[:3], sparse.csr_matrix(X), L)
    few = GramBank(KERNELS[:3], X, L)
    np.testing.assert_allclose(rows.combine(rows.uniform()), few.combine(few.uniform()), atol=1e-9)
    with pytest.raises(ValueError, match="layer"):
        Precomputed(layer=0)(X @ X.T)
    with pytest.raises(ValueError, match="layer"):
        Precomputed()(stack)
