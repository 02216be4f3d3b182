"""HSIC and uHSIC against the papers' n x n eigenproblems, in every representation."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from kernel_learn.criteria.hsic import Dependence
from kernel_learn.criteria.labels import label_factor
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.representations import ArraySource, FeatureMap, GramForm, MomentForm
from kernel_learn.solvers.eigen import solve_top_eigen
from oracles import hsic as oracle
from tolerances import EXACT

X, Y_LABELS = load_wine(return_X_y=True)
X = scale(X)[::3]
Y_LABELS = Y_LABELS[::3]
X.setflags(write=False)
CLASSES = np.unique(Y_LABELS)


def solve(sample, kind, lam, n_components, uncorrelated, weight=None):
    _, mixing = label_factor(kind, Y_LABELS, CLASSES, weight)
    criterion = Dependence(sample, mixing, uncorrelated=uncorrelated)
    B, M = criterion.candidates(lam)
    result = solve_top_eigen(M, n_components)
    return result, sample.expand(B @ result.point)


def samples(kernel, weight=None, **options):
    source = ArraySource(X, Y_LABELS, weight, n_classes=len(CLASSES))
    features = FeatureMap.whitened([kernel], X)
    T, one = np.eye(len(CLASSES))[Y_LABELS], np.ones(1)
    yield "gram", GramForm([kernel], X, T, weight, **options).at(one)
    for block_rows in (1, 7, len(X)):
        moments = features.moments(source, block_rows)
        yield f"features {block_rows}", MomentForm(features, moments, **options).at(one)


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("kind", ["normalized", "indicator"])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 10.0])
@pytest.mark.parametrize("kernel", [Gaussian(0.05), Linear()], ids=["gaussian", "linear"])
def test_equals_the_papers_eigenproblem(kernel, lam, kind, uncorrelated):
    K = X @ X.T if isinstance(kernel, Linear) else rbf_kernel(X, gamma=0.05)
    G = oracle.center(K)
    W, value = oracle.subspace(G, oracle.label_kernel(Y_LABELS, kind), lam, 2, uncorrelated)
    K_w = oracle.subspace_kernel(G, W, lam, uncorrelated)
    for name, sample in samples(kernel):
        result, learned = solve(sample, kind, lam, 2, uncorrelated)
        assert result.value == pytest.approx(value, rel=1e-7), name
        np.testing.assert_allclose(learned(X), K_w, atol=1e-7 * np.abs(K_w).max(), err_msg=name)


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_all_representations_agree(uncorrelated):
    reference = None
    for name, sample in samples(Gaussian(0.05)):
        result, learned = solve(sample, "normalized", 0.1, 2, uncorrelated)
        found = learned.transform(X[:20] + 0.1)
        if reference is None:
            reference = result.value, found
        assert result.value == pytest.approx(reference[0], rel=EXACT), name
        np.testing.assert_allclose(found, reference[1], atol=EXACT, err_msg=name)


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_value_is_the_trace_it_claims(uncorrelated):
    lam = 0.3
    H = oracle.label_kernel(Y_LABELS, "normalized")
    for name, sample in samples(Gaussian(0.05)):
        for n_components in (1, 2):
            result, learned = solve(sample, "normalized", lam, n_components, uncorrelated)
            assert np.trace(learned(X) @ H) == pytest.approx(result.value, rel=1e-9), name


def test_optimum_beats_random_subspaces(rng):
    """Every other W has a smaller criterion: a test of the claim, not of a formula."""
    lam = 0.1
    G = oracle.center(rbf_kernel(X, gamma=0.05))
    H = oracle.label_kernel(Y_LABELS, "normalized")
    for uncorrelated in (False, True):
        _, sample = next(iter(samples(Gaussian(0.05))))
        result, learned = solve(sample, "normalized", lam, 2, uncorrelated)
        best = np.trace(oracle.subspace_kernel(G, learned.coef, lam, uncorrelated) @ H)
        assert best == pytest.approx(result.value, rel=1e-9)
        for scale_ in (1e-3, 1e-1, 1.0):
            for _ in range(5):
                W = learned.coef + scale_ * rng.normal(size=learned.coef.shape)
                assert np.trace(oracle.subspace_kernel(G, W, lam, uncorrelated) @ H) <= best + 1e-9


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_path_equals_single_solutions(uncorrelated):
    _, mixing = label_factor("normalized", Y_LABELS, CLASSES)
    lams = [1e-3, 0.1, 5.0]
    for name, sample in samples(Gaussian(0.05)):
        criterion = Dependence(sample, mixing, uncorrelated=uncorrelated)
        U, b, M = criterion.candidates_path(lams)
        for i, lam in enumerate(lams):
            B, M_single = criterion.candidates(lam)
            np.testing.assert_allclose(M[i], M_single, atol=1e-10 * np.abs(M_single).max())
            np.testing.assert_allclose(
                sample.inner(U @ b[i], U @ b[i]), sample.inner(B, B), rtol=1e-8, err_msg=name
            )


def test_spectrum_of_the_features():
    """uHSIC features have covariance E^{-1/2} b'(w^2)b E^{-1/2} -> I as lam -> 0."""
    _, sample = next(iter(samples(Gaussian(0.05))))
    gaps = []
    for lam in (1e-2, 1e-4, 1e-6):
        _, learned = solve(sample, "normalized", lam, 2, True)
        F = learned.transform(X)
        gaps.append(np.abs(F.T @ F - np.eye(2)).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-5


def test_weights_are_repetitions():
    weight = 1.0 + (np.arange(len(X)) % 3)
    _, mixing = label_factor("normalized", Y_LABELS, CLASSES, weight)
    T, one = np.eye(len(CLASSES))[Y_LABELS], np.ones(1)
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    kernel = Gaussian(0.05)
    weighted = Dependence(GramForm([kernel], X, T, weight).at(one), mixing)
    expanded = Dependence(GramForm([kernel], X[repeated], T[repeated]).at(one), mixing)
    features = FeatureMap.whitened([kernel], X)
    moments = features.moments(ArraySource(X, Y_LABELS, weight, n_classes=len(CLASSES)), 7)
    summed = Dependence(MomentForm(features, moments).at(one), mixing)
    M = weighted.candidates(0.2)[1]
    np.testing.assert_allclose(expanded.candidates(0.2)[1], M, rtol=1e-10)
    np.testing.assert_allclose(summed.candidates(0.2)[1], M, rtol=1e-10)


def test_label_kernels():
    y = load_iris().target
    classes = np.unique(y)
    Y = np.eye(3)[y]

    def factor(kernel):
        T, A = label_factor(kernel, y, classes)
        return Y if T is None else T, A

    T, A = factor("indicator")
    np.testing.assert_array_equal(T @ A @ A.T @ T.T, y[:, None] == y)
    T, A = factor("normalized")
    np.testing.assert_allclose((T @ A).T @ (T @ A), np.eye(3))
    H = np.array([[1, 0.5, 0.2], [0.5, 1, 0.5], [0.2, 0.5, 1]])
    T, A = factor(H)
    np.testing.assert_allclose(T @ A @ A.T @ T.T, H[y][:, y], atol=1e-12)
    T, A = factor(lambda a, b: np.exp(-np.abs(a[:, None] - b)))
    np.testing.assert_allclose(T @ A @ A.T @ T.T, np.exp(-np.abs(y[:, None] - y)), atol=1e-12)
    T, A = factor(H[y][:, y])
    np.testing.assert_allclose(T @ A @ A.T @ T.T, H[y][:, y], atol=1e-12)
    with pytest.raises(ValueError, match="positive semidefinite"):
        label_factor(-H, y, classes)
    with pytest.raises(ValueError, match="not symmetric"):
        label_factor(np.triu(H), y, classes)
    with pytest.raises(ValueError, match="shape"):
        label_factor(np.eye(2), y, classes)
    with pytest.raises(ValueError, match="not known"):
        label_factor("sharp", y, classes)
