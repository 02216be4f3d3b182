"""Rows without a target in the estimators of class labels: through the graph of all rows."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, GraphDeformed, Linear

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::3], Y[::3]
X_NEW = scale(load_wine().data)[1::3][:15]
KNOWN = np.arange(len(X)) % 3 == 0
MARKED = np.where(KNOWN, Y, -1)
MAKERS = {
    "hsic": lambda *a, **o: kl.HSICSubspace(*a, **o),
    "uhsic": lambda *a, **o: kl.HSICSubspace(*a, uncorrelated=True, **o),
    "discriminant": lambda *a, **o: kl.KernelDiscriminant(*a, **o),
    "pls": lambda *a, **o: kl.KernelPLS(*a, **o),
}


def output(model, rows=X_NEW):
    return model.transform(rows)


def deformed_matrix(K, K_new, k=6, strength=1.0):
    """K - K (I + M K)^{-1} M K and its new rows, the graph by loops over the rows."""
    n = len(K)
    W = np.zeros((n, n))
    for i in range(n):
        distance = np.array([K[i, i] + K[j, j] - 2 * K[i, j] for j in range(n)])
        distance[i] = np.inf
        for j in np.argsort(distance)[:k]:
            W[i, j] = W[j, i] = 1.0
    degree = W.sum(axis=1)
    laplacian = np.eye(n) - W / np.sqrt(np.outer(degree, degree))
    M = strength / np.mean(np.diag(K)) * laplacian
    inner = np.linalg.solve(np.eye(n) + M @ K, M)
    return K - K @ inner @ K, K_new - K_new @ inner @ K


def gaussian(A, B, gamma=0.05):
    return np.exp(-gamma * np.array([[np.sum((a - b) ** 2) for b in B] for a in A]))


@pytest.mark.parametrize("name", MAKERS)
def test_is_the_fit_of_the_labelled_rows_on_the_deformed_matrix(name):
    K, K_new = deformed_matrix(gaussian(X, X), gaussian(X_NEW, X))
    expected = MAKERS[name]("precomputed").fit(K[np.ix_(KNOWN, KNOWN)], Y[KNOWN])
    model = MAKERS[name](Gaussian(0.05), unlabeled=-1).fit(X, MARKED)
    np.testing.assert_allclose(
        output(model), output(expected, K_new[:, KNOWN]), rtol=1e-5, atol=1e-6
    )
    plain = MAKERS[name](Gaussian(0.05)).fit(X[KNOWN], Y[KNOWN])
    assert not np.allclose(output(model), output(plain), atol=1e-3)


@pytest.mark.parametrize("name", MAKERS)
def test_marks_of_every_kind(name):
    model = MAKERS[name](unlabeled=-1).fit(X, MARKED)
    for mark, y in [
        (None, np.where(KNOWN, Y.astype(float), np.nan)),
        (None, np.where(KNOWN, Y, None)),
        (-1, np.where(KNOWN, Y.astype(float), np.nan)),
    ]:
        other = MAKERS[name](unlabeled=mark).fit(X, y)
        np.testing.assert_allclose(output(other), output(model), rtol=1e-9)
        assert other.classes_.tolist() == [0, 1, 2]
    words = np.array(["a", "b", "c"])[Y]
    named = MAKERS[name](unlabeled="?").fit(X, np.where(KNOWN, words, "?"))
    np.testing.assert_allclose(output(named), output(model), rtol=1e-9)


@pytest.mark.parametrize("name", MAKERS)
def test_without_such_rows_nothing_changes(name):
    for mark in (None, -1):
        model = MAKERS[name](unlabeled=mark).fit(X, Y)
        np.testing.assert_array_equal(output(model), output(MAKERS[name]().fit(X, Y)))


@pytest.mark.parametrize("name", MAKERS)
def test_weights_and_order_of_rows(name):
    weight = 1.0 + (np.arange(len(X)) % 2)
    model = MAKERS[name](unlabeled=-1).fit(X, MARKED, sample_weight=weight)
    order = np.random.default_rng(0).permutation(len(X))
    other = MAKERS[name](unlabeled=-1).fit(X[order], MARKED[order], sample_weight=weight[order])
    np.testing.assert_allclose(output(other), output(model), rtol=1e-6, atol=1e-8)
    plain = MAKERS[name](unlabeled=-1).fit(X, MARKED)
    assert not np.allclose(output(plain), output(model), atol=1e-6)


def test_moons_with_three_labels_each():
    rows, labels = make_moons(300, noise=0.07, random_state=0)
    known = np.concatenate([np.flatnonzero(labels == c)[:3] for c in (0, 1)])
    y = np.full(300, -1)
    y[known] = labels[known]
    kernel = GraphDeformed(Gaussian(20.0), strength=100.0)
    for name in ("discriminant", "pls"):
        model = MAKERS[name](kernel, unlabeled=-1).fit(rows, y)
        plain = MAKERS[name](Gaussian(20.0)).fit(rows[known], labels[known])
        assert model.score(rows, labels) > 0.97 > plain.score(rows, labels) + 0.1


def test_banks_numbers_and_paths():
    bank = [Gaussian(0.05), Linear()]
    model = kl.HSICSubspace(bank, unlabeled=-1, uncorrelated=True).fit(X, MARKED)
    graph = [GraphDeformed(kernel, X_graph=X) for kernel in bank]
    known = kl.HSICSubspace(graph, uncorrelated=True).fit(X[KNOWN], Y[KNOWN])
    np.testing.assert_allclose(model.kernel_weights_, known.kernel_weights_, rtol=1e-4, atol=1e-8)
    values = np.where(KNOWN, X[:, 0] ** 2, np.nan)
    numbers = kl.KernelPLSRegressor(Gaussian(0.05), n_components=2, unlabeled=None).fit(X, values)
    K, K_new = deformed_matrix(gaussian(X, X), gaussian(X_NEW, X))
    expected = kl.KernelPLSRegressor("precomputed", n_components=2)
    expected.fit(K[np.ix_(KNOWN, KNOWN)], values[KNOWN])
    np.testing.assert_allclose(numbers.predict(X_NEW), expected.predict(K_new[:, KNOWN]), rtol=1e-6)
    path = kl.HSICSubspace(unlabeled=-1).path(X, MARKED, [0.1, 1.0])
    assert np.isfinite(path.coefs).all()
    with pytest.raises(AttributeError, match="all with a label"):
        _ = kl.KernelDiscriminant(unlabeled=-1).fit(X, MARKED).row_values_


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_refused_and_what_is_said(name):
    with pytest.raises(ValueError, match="no 'ignore'"):
        MAKERS[name](unlabeled="ignore").fit(X, MARKED)
    with pytest.raises(ValueError, match=r"is missing .*by unlabeled=None \(HSICSubspace"):
        MAKERS[name]().fit(X, np.where(KNOWN, Y.astype(float), np.nan))
    with pytest.raises(ValueError, match="All rows are unlabelled"):
        MAKERS[name](unlabeled=-1).fit(X, np.full(len(X), -1))
    with pytest.raises(ValueError, match="come and go"):
        MAKERS[name](unlabeled=-1).fit(lambda: iter([(X, MARKED)]))
    assert not hasattr(MAKERS[name](unlabeled=-1), "partial_fit")
    with pytest.raises(ValueError, match="any two"):
        MAKERS[name]("precomputed", unlabeled=-1).fit(X @ X.T, MARKED)
    for source in (X, MARKED), (lambda: iter([(X, MARKED)]),):
        with pytest.warns(UserWarning, match="takes it for a class"):
            MAKERS[name]().fit(*source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(MAKERS[name](unlabeled=-1)).fit(X, MARKED)


def test_kernel_classifier_says_that_it_takes_a_mark_for_a_class():
    for source in (X, MARKED), (lambda: iter([(X, MARKED)]),):
        with pytest.warns(UserWarning, match="KernelClassifier takes it for a class"):
            kl.KernelClassifier(quality="fast", assess=False).fit(*source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kl.KernelClassifier(quality="fast", assess=False).fit(X, np.where(Y == 0, -1, 1))


def test_a_missing_number_names_the_estimator_that_learns_from_such_rows():
    y = np.where(KNOWN, X[:, 0], np.nan)
    with pytest.raises(ValueError, match=r"by KernelPLSRegressor\(unlabeled=None\)"):
        kl.KernelPLSRegressor().fit(X, y)
    assert len(kl.KernelPLSRegressor(unlabeled=None).fit(X, y).predict(X)) == len(X)
