"""Banks: lazily evaluated Gram matrices, their cache, and their low-rank twin."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from kernel_learn.kernels import Gaussian, Kernel, Laplacian, Linear, Precomputed
from kernel_learn.representations import ArraySource, GramForm, MomentForm, plan_source, represent
from oracles.hsic import center

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.arange(40) % 3
L = np.eye(3)[Y]
KERNELS = [Gaussian(0.1), Gaussian(1.0), Linear(), Laplacian(0.5)]


def budget(n, matrices):
    return 8 * n**2 * matrices


def source(rows=X, labels=Y):
    return ArraySource(rows, labels, n_classes=3)


def form_of(rows, landmarks="auto", **options):
    chosen = plan_source(KERNELS, rows, landmarks)
    return represent(KERNELS, rows, chosen, landmarks, random_state=0, **options)


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
    bank = GramForm(KERNELS, X, L, weight, n_kept=cached)
    assert len(bank.kept) == cached
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
        bank = GramForm(kernels, A, labels, n_kept=cached)
        bank.resolvent(bank.uniform(), 0.1)
        bank.inner_products()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(bank.kept) == cached
        assert peak <= budget(n, cached + 3.3), cached


def test_cached_kernels_are_evaluated_once_and_weightless_ones_not_at_all():
    Counting.calls = 0
    bank = GramForm([Counting(), Gaussian(0.1)], X, L)
    for _ in range(3):
        bank.resolvent(bank.uniform(), 0.1)
    assert Counting.calls == 1
    lazy = GramForm([Counting(), Gaussian(0.1)], X, L, n_kept=0)
    Counting.calls = 0
    lazy.combine(np.array([0.0, 1.0]))
    assert Counting.calls == 0


def test_too_little_memory_is_refused():
    with pytest.raises(ValueError, match="memory budget"):
        plan_source(KERNELS, source(), "all", budget(40, 2))


def test_a_constant_kernel_is_dead():
    bank = GramForm([Gaussian(0.1), Gaussian(1e-300)], X, L)
    assert bank.alive.tolist() == [True, False]
    assert bank.theta_at(np.array([0.5, 0.5]))[1] == 0
    np.testing.assert_array_equal(bank.uniform(), [1.0, 0.0])
    with pytest.raises(ValueError, match="no weight"):
        bank.point(np.array([0.0, 1.0]))


def test_which_form():
    assert isinstance(form_of(source()), GramForm)
    assert isinstance(form_of(source(), 5), MomentForm)
    assert isinstance(form_of(source(), 10), GramForm)
    assert isinstance(form_of(source(), "all"), GramForm)
    assert form_of(source(), X[:4] + 0.1).S.shape[0] <= 16
    repeated = form_of(source(np.repeat(X, 3, axis=0), np.repeat(Y, 3)))
    assert isinstance(repeated, GramForm)
    assert len(repeated.weight) == 40


@pytest.mark.parametrize("landmarks", ["all", 6])
def test_at_given_weights_is_the_sample_under_the_combination(landmarks):
    """Both forms at theta: operator, targets and features of sum_i theta_i k_i, without a pass."""
    form = form_of(source(), landmarks)
    theta = np.array([0.5, 0.0, 2.0, 1.0])
    sample = form.at(theta)
    X_new = RNG.normal(size=(7, 3))
    if landmarks == "all":
        K, K_new = (
            sum(w * kernel(A, X) for w, kernel in zip(theta, KERNELS, strict=True))
            for A in (X, X_new)
        )
    else:
        features = form.features
        assert features.dimension == features(X).shape[1]
        assert features.residual is not None

        def stacked(A):
            Zs = zip(np.sqrt(theta), features.parts(A), strict=True)
            return np.hstack([root * Z for root, Z in Zs])

        K, K_new = (stacked(A) @ stacked(X).T for A in (X, X_new))
    np.testing.assert_allclose(sample.trace, np.trace(center(K)))
    P = np.eye(40) - 1 / 40
    B = sample.solve(0.1, sample.targets)
    expected = (K_new - K.mean(axis=0)) @ P @ np.linalg.solve(center(K) + 0.1 * np.eye(40), P @ L)
    np.testing.assert_allclose(sample.expand(B).transform(X_new), expected, atol=1e-8)
    np.testing.assert_allclose(
        sample.expand(B)(X_new), expected @ expected.T, atol=1e-7 * np.abs(expected).max() ** 2
    )


def test_centred_from_the_matrices_that_are_there():
    Counting.calls = 0
    kernels = [Counting(), Gaussian(0.1)]
    weight = 1.0 + np.arange(40) % 2
    plain = GramForm(kernels, X, L, weight, center=False, weigh_rows=False)
    centred, direct = plain.centred(), GramForm(kernels, X, L, weight, weigh_rows=False)
    assert Counting.calls == 2
    np.testing.assert_allclose(centred.traces, direct.traces)
    np.testing.assert_allclose(centred.inner_products(), direct.inner_products())
    np.testing.assert_allclose(centred.target_forms(), direct.target_forms(), atol=1e-9)


def test_stacks_and_sparse_rows():
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    layers = [Precomputed(layer=i) for i in range(4)]
    exact, dense = GramForm(layers, stack, L), GramForm(KERNELS, X, L)
    np.testing.assert_allclose(exact.combine(exact.uniform()), dense.combine(dense.uniform()))
    rows = GramForm(KERNELS[:3], sparse.csr_matrix(X), L)
    few = GramForm(KERNELS[:3], X, L)
    np.testing.assert_allclose(rows.combine(rows.uniform()), few.combine(few.uniform()), atol=1e-9)
    with pytest.raises(ValueError, match="layer"):
        Precomputed(layer=0)(X @ X.T)
    with pytest.raises(ValueError, match="layer"):
        Precomputed()(stack)
