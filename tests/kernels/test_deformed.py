"""Kernels made of another kernel and a sample: GraphDeformed, LowRank, TransformedKernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier

from kernel_learn import InductiveKernel, presets
from kernel_learn.constraints import Pairs
from kernel_learn.kernels import Gaussian, GraphDeformed, LowRank, TransformedKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
X_NEW = RNG.normal(size=(7, 2))


def oracle(X_a, X_b, n_neighbors, strength, gamma, power=1, heat=False, normalized=True):
    """By definition: loops for the graph, a plain inverse for the formula."""
    n = len(X)
    D = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    W = np.zeros((n, n))
    for i in range(n):
        for j in [j for j in np.argsort(D[i]) if j != i][:n_neighbors]:
            W[i, j] = W[j, i] = 1
    if heat:
        feature = 2 - 2 * rbf_kernel(X, gamma=gamma)
        W = W * np.exp(-feature / feature[W > 0].mean())
    degree = W.sum(axis=1)
    L = np.eye(n) - W / np.sqrt(np.outer(degree, degree))
    if not normalized:
        L = (np.diag(degree) - W) / degree.mean()
    M = strength * np.linalg.matrix_power(L, power)
    k_a, k_b = rbf_kernel(X_a, X, gamma), rbf_kernel(X_b, X, gamma)
    middle = np.linalg.inv(np.eye(n) + M @ rbf_kernel(X, gamma=gamma)) @ M
    return rbf_kernel(X_a, X_b, gamma) - k_a @ middle @ k_b.T


@pytest.mark.parametrize(("n_neighbors", "strength"), [(3, 2.0), (6, 0.3)])
def test_graph_deformed_by_definition(n_neighbors, strength):
    kernel = GraphDeformed(Gaussian(0.5), X, n_neighbors=n_neighbors, strength=strength)
    for one in (kernel, kernel.resolve(X), clone(kernel.resolve(X))):
        assert_allclose(one(X_NEW, X), oracle(X_NEW, X, n_neighbors, strength, 0.5), atol=1e-10)
        assert_allclose(one(X_NEW), oracle(X_NEW, X_NEW, n_neighbors, strength, 0.5), atol=1e-10)
        assert_allclose(one.diag(X_NEW), np.diag(one(X_NEW)), atol=1e-12)
    assert np.linalg.eigvalsh(kernel(np.vstack([X, X_NEW])))[0] > -1e-10


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("heat", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_other_graphs(power, heat, normalized):
    options = {"power": power, "edges": "heat" if heat else "binary", "normalized": normalized}
    kernel = GraphDeformed(Gaussian(0.5), X, n_neighbors=4, strength=2.0, **options)
    expected = oracle(X_NEW, X, 4, 2.0, 0.5, power, heat, normalized)
    for one in (kernel, clone(kernel.resolve(X))):
        assert_allclose(one(X_NEW, X), expected, atol=1e-10)
    plain = GraphDeformed(Gaussian(0.5), X, n_neighbors=4, strength=2.0)(X_NEW, X)
    changed = power > 1 or heat or not normalized
    assert (np.abs(expected - plain).max() > 1e-3) == changed


def test_a_row_far_from_all_others():
    far = np.vstack([X, [[1e3, 1e3]]])
    kernel = GraphDeformed(Gaussian(0.5), far, edges="heat", power=0.5)
    assert np.isfinite(kernel(far)).all()


def test_graph_deformed_limits_and_rules():
    assert_allclose(
        GraphDeformed(Gaussian(0.5), X, strength=0)(X_NEW), Gaussian(0.5)(X_NEW), atol=1e-12
    )
    resolved = GraphDeformed("gaussian").resolve(X)
    assert resolved.base.gamma == Gaussian().resolve(X).gamma
    order = RNG.permutation(len(X))
    assert_allclose(GraphDeformed().resolve(X[order])(X_NEW), resolved(X_NEW), atol=1e-10)
    with pytest.raises(ValueError, match="rows of its graph"):
        GraphDeformed()(X)
    with pytest.raises(ValueError, match="n_neighbors"):
        GraphDeformed(n_neighbors=0).resolve(X)
    with pytest.raises(ValueError, match="strength"):
        GraphDeformed(strength=-1).resolve(X)
    with pytest.raises(ValueError, match="power"):
        GraphDeformed(power=0).resolve(X)
    with pytest.raises(ValueError, match="edges"):
        GraphDeformed(edges="gaussian").resolve(X)
    with pytest.raises(ValueError, match="precomputed"):
        GraphDeformed("precomputed").resolve(X @ X.T)


def test_unlabelled_rows_help_through_the_graph():
    """Two moons, three labels each: the graph carries them along."""
    X_m, y_m = make_moons(300, noise=0.08, random_state=0)
    labels = np.full(300, -1)
    for c in (0, 1):
        labels[np.flatnonzero(y_m == c)[:3]] = c
    known = labels >= 0
    scores = []
    for kernel in (Gaussian(2.0), GraphDeformed(Gaussian(2.0), strength=10.0)):
        model = InductiveKernel(kernel, random_state=0, unlabeled=-1).fit(X_m, labels)
        knn = KNeighborsClassifier(1).fit(model.transform(X_m[known]), labels[known])
        scores.append(knn.score(model.transform(X_m[~known]), y_m[~known]))
    assert scores[1] > scores[0] + 0.02


def test_low_rank_is_the_top_eigenvectors():
    K = rbf_kernel(X, gamma=0.5)
    w, U = np.linalg.eigh(K)
    kernel = LowRank(Gaussian(0.5), 4).resolve(X)
    assert_allclose(kernel(X), (U[:, -4:] * w[-4:]) @ U[:, -4:].T, atol=1e-10)
    assert_allclose(kernel.diag(X_NEW), np.diag(kernel(X_NEW)), atol=1e-12)
    assert kernel.transform(X_NEW).shape == (7, 4)
    assert np.linalg.matrix_rank(kernel(np.vstack([X, X_NEW])), tol=1e-8) == 4
    assert kernel.resolve(X_NEW) is kernel
    assert_allclose(LowRank(Gaussian(0.5), 99).resolve(X)(X), K, atol=1e-8)
    with pytest.raises(ValueError, match="resolve"):
        LowRank()(X)
    with pytest.raises(ValueError, match="n_components"):
        LowRank(n_components=0).resolve(X)


def test_low_rank_of_a_precomputed_matrix():
    """The same function of rows, where rows are rows of a matrix."""
    K, K_new = rbf_kernel(X, gamma=0.5), rbf_kernel(X_NEW, X, gamma=0.5)
    expected = LowRank(Gaussian(0.5), 4).resolve(X)
    kernel = clone(LowRank("precomputed", 4).resolve(K))
    assert_allclose(kernel(K), expected(X), atol=1e-10)
    assert_allclose(kernel(K_new), expected(X_NEW, X), atol=1e-10)
    assert_allclose(kernel(K_new, np.array([3, 1])), expected(X_NEW, X[[3, 1]]), atol=1e-10)
    assert_allclose(kernel.diag(K_new), expected.diag(X_NEW), atol=1e-10)


def test_itml_of_a_precomputed_low_rank():
    y = (X[:, 0] > 0).astype(int)
    K, K_new = rbf_kernel(X, gamma=0.5), rbf_kernel(X_NEW, X, gamma=0.5)
    rows = presets.itml_lr_pre(3, Gaussian(0.5), random_state=0)
    matrix = presets.itml_lr_pre(3, "precomputed", random_state=0)
    constraints = Pairs(
        similar=[[i, j] for i in range(8) for j in range(i) if y[i] == y[j]],
        dissimilar=[[i, j] for i in range(8) for j in range(i) if y[i] != y[j]],
    )
    F = rows.fit(X, constraints=constraints).transform(X_NEW)
    F_matrix = matrix.fit(K, constraints=constraints).transform(K_new)
    assert F_matrix.shape[1] == 3
    assert_allclose(F_matrix @ F_matrix.T, F @ F.T, atol=1e-6)


def test_transformed_kernel_is_equation_3():
    coef, weights = RNG.normal(size=(30, 3)), np.array([0.5, -0.1, 2.0])
    for alpha in (0.0, 1.0):
        kernel = TransformedKernel(Gaussian(0.5), X, coef, weights, alpha)
        S = (coef * weights) @ coef.T
        k_x, k_y = rbf_kernel(X_NEW, X, 0.5), rbf_kernel(X, X, 0.5)
        expected = alpha * rbf_kernel(X_NEW, X, 0.5) + k_x @ S @ k_y.T
        assert_allclose(kernel(X_NEW, X), expected, atol=1e-10)
        assert_allclose(kernel.diag(X_NEW), np.diag(kernel(X_NEW)), atol=1e-10)
        assert clone(kernel) is kernel
