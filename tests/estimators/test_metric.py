"""Kernelised LMNN, MCML, RCA, MMC and NCA: by definition on linear kernels, useful on Gaussian."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

import kernel_learn as kl
from kernel_learn.criteria import large_margin, neighbours
from kernel_learn.criteria.large_margin import LargeMargin
from kernel_learn.criteria.neighbours import (
    Clustering,
    CollapsedClasses,
    NeighbourhoodComponents,
)
from kernel_learn.kernels import Gaussian, Linear
from oracles import metric as oracle

RNG = np.random.default_rng(0)
y = np.arange(18) % 3
X = RNG.normal(size=(18, 3)) + 1.2 * np.eye(3)[y] * [1, 1, 0]
X[:, 2] *= 3  # a column of noise, and larger than the others
Z = oracle.scaled(X)
MODELS = [kl.KernelLMNN, kl.KernelMCML, kl.KernelMMC, kl.KernelRCA, kl.KernelNCA]


def learned_matrix(model):
    """A with kernel_(x, y) = x'Ay, in units of the mean squared distance."""
    scale = (X[0] @ X[0]) / (Z[0] @ Z[0])
    return scale * model.kernel_(np.eye(3))


def test_lmnn_by_definition():
    options = {"n_neighbors": 2, "mu": 0.4, "reg": 0.02, "tol": 1e-4, "max_iter": 5000}
    model = kl.KernelLMNN("linear", smoothing=5e-3, **options).fit(X, y)
    value, A = oracle.lmnn(Z, y, 2, 0.4, 0.02)
    assert model.objective_ == pytest.approx(value, rel=1e-2)
    assert_allclose(learned_matrix(model), A, atol=0.05 * np.abs(A).max())
    assert 0 <= model.gap_ <= 1e-4 * model.objective_
    rounder = kl.KernelLMNN("linear", smoothing=0.5, **options).fit(X, y)
    assert rounder.objective_ < model.objective_ - 1e-3


def test_mcml_by_definition():
    model = kl.KernelMCML("linear", reg=2e-3, tol=1e-6).fit(X, y)
    value, A = oracle.mcml(Z, y, 2e-3)
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert_allclose(learned_matrix(model), A, atol=1e-2 * np.abs(A).max())


def test_mmc_by_definition():
    model = kl.KernelMMC("linear", reg=0.05, tol=1e-6, max_iter=20_000).fit(X, y)
    value, A = oracle.mmc(Z, y, 0.05)
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert_allclose(learned_matrix(model), A, atol=1e-2 * np.abs(A).max())
    assert model.gap_ <= 1e-5 * model.objective_


def test_rca_by_definition():
    model = kl.KernelRCA("linear", reg=0.03).fit(X, y)
    assert_allclose(learned_matrix(model), oracle.rca(Z, y, 0.03), atol=1e-9)


def test_nca_by_definition():
    model = kl.KernelNCA("linear", n_components=2, reg=1e-3, tol=1e-7).fit(X, y)
    scale = np.sqrt((X[0] @ X[0]) / (Z[0] @ Z[0]))
    L = scale * model.transform(np.eye(3)).T
    assert model.objective_ == pytest.approx(oracle.nca(Z, y, L, 1e-3), rel=1e-9)
    for _ in range(10):  # no better point nearby
        assert (
            oracle.nca(Z, y, L + 1e-3 * RNG.normal(size=L.shape), 1e-3) <= model.objective_ + 1e-9
        )
    assert model.grad_norm_ < 1e-4
    theirs = NeighborhoodComponentsAnalysis(2, init="pca", random_state=0).fit(Z, y)
    assert model.objective_ >= oracle.nca(Z, y, theirs.components_, 1e-3) - 1e-3


CRITERIA = [
    lambda: LargeMargin(Z, y, 2, 0.5, 0.1, 0.5),
    lambda: CollapsedClasses(Z, y, 0.1),
    lambda: Clustering(Z, y, 0.1),
]


@pytest.mark.parametrize("make", [*CRITERIA, lambda: NeighbourhoodComponents(Z, y, 0.1)])
def test_gradients_by_taylor_slope(make):
    criterion = make()
    evaluate = getattr(criterion, "evaluate", None) or criterion.value_and_gradient
    rng = np.random.default_rng(0)  # its own: what ran before must not choose the point
    L = rng.normal(size=(3, 3))
    step = 0.01 * rng.normal(size=(3, 3))  # so short that few hinges bend on the way
    value, gradient = evaluate(L)
    hs = np.array([1, 0.5, 0.25, 0.125])
    errors = [abs(evaluate(L + h * step)[0] - value - h * np.sum(gradient * step)) for h in hs]
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(2, abs=0.15)


@pytest.mark.parametrize("make", CRITERIA)
@pytest.mark.parametrize("block", [1, 7 * 18, 2**18])
def test_blocks_and_the_two_gradients_agree(make, block, monkeypatch):
    criterion, L = make(), RNG.normal(size=(3, 2))
    value, gradient = criterion.evaluate(L)
    whole, G = criterion.complete(L)
    assert whole == pytest.approx(value, rel=1e-12)
    assert_allclose(2 * G @ L, gradient, atol=1e-10)
    monkeypatch.setattr(neighbours, "BLOCK_SIZE", block)
    monkeypatch.setattr(large_margin, "BLOCK_SIZE", block)
    again = make().evaluate(L)
    assert again[0] == pytest.approx(value, rel=1e-12)
    assert_allclose(again[1], gradient, atol=1e-10)


def test_the_list_of_impostors_is_complete_in_the_end():
    """The value of the fit is that of all triples, though few of them were ever summed."""
    rng = np.random.default_rng(1)
    y_l = np.arange(90) % 3
    X_l = rng.normal(size=(90, 4)) + np.eye(4)[y_l]
    Z_l = oracle.scaled(X_l)
    model = kl.KernelLMNN("linear", smoothing=1e-2, tol=1e-4).fit(X_l, y_l)
    A = (X_l[0] @ X_l[0]) / (Z_l[0] @ Z_l[0]) * model.kernel_(np.eye(4))
    value = oracle.lmnn_value(Z_l, y_l, A, 3, 0.5, 0.01, 1e-2)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    criterion = LargeMargin(Z_l, y_l, 3, 0.5, 0.01, 1e-2)
    criterion.reserve = 1e9  # every triple
    L = rng.normal(size=(4, 4))
    everything, _ = criterion.evaluate(L)
    listed = LargeMargin(Z_l, y_l, 3, 0.5, 0.01, 1e-2)
    assert listed.evaluate(L)[0] == pytest.approx(everything, rel=1e-12)
    assert len(listed.impostors) < len(criterion.impostors) == 90 * 60
    assert listed.evaluate(0.2 * L)[0] < criterion.evaluate(0.2 * L)[0]
    assert listed.complete(0.2 * L)[0] == pytest.approx(criterion.evaluate(0.2 * L)[0])


@pytest.mark.parametrize("model", [kl.KernelMCML, kl.KernelMMC])
def test_a_draw_of_rows_is_another_problem_and_says_the_same(model):
    rng = np.random.default_rng(2)
    y_l = np.arange(300) % 3
    X_l = rng.normal(size=(300, 5)) + 2 * np.eye(5)[y_l]
    X_l[:, 4] *= 5
    whole = model("linear").fit(X_l, y_l)
    same = model("linear", max_rows=None).fit(X_l, y_l)
    drawn = model("linear", max_rows=100, random_state=0).fit(X_l, y_l)
    order = rng.permutation(300)
    mixed = model("linear", max_rows=100, random_state=0).fit(X_l[order], y_l[order])
    assert_allclose(same.kernel_(X_l), whole.kernel_(X_l))
    assert_allclose(mixed.kernel_(X_l), drawn.kernel_(X_l), rtol=1e-3, atol=1e-3)
    assert abs(drawn.objective_ - whole.objective_) > 1e-3
    scores = [
        cross_val_score(make_pipeline(m, KNeighborsClassifier(3)), X_l, y_l, cv=3).mean()
        for m in (whole, drawn)
    ]
    assert abs(scores[0] - scores[1]) < 0.03
    with pytest.raises(ValueError, match="max_rows"):
        model(max_rows=0).fit(X, y)


def rings():
    """Two rings and noise: no linear metric helps, and neighbours are misled by the noise."""
    X_r, y_r = make_circles(120, noise=0.12, factor=0.5, random_state=0)
    return np.hstack([X_r, 0.6 * RNG.normal(size=(120, 4))]), y_r


X_RINGS, Y_RINGS = rings()


@pytest.mark.parametrize("model", MODELS)
def test_beats_the_base_kernel_on_rings(model):
    learned = make_pipeline(
        model(Gaussian(0.4), landmarks=60, random_state=0), KNeighborsClassifier(5)
    )
    # a Gaussian kernel has the neighbours of the Euclidean distance
    base = cross_val_score(KNeighborsClassifier(5), X_RINGS, Y_RINGS, cv=3).mean()
    assert cross_val_score(learned, X_RINGS, Y_RINGS, cv=3).mean() > base + 0.01


@pytest.mark.parametrize("model", MODELS)
def test_manners(model):
    fitted = model(landmarks=20, random_state=0).fit(X_RINGS, Y_RINGS)
    F = fitted.transform(X_RINGS[:5])
    assert_allclose(fitted.kernel_(X_RINGS[:5]), F @ F.T, atol=1e-10)
    one = model(landmarks=20, random_state=0, n_components=1).fit(X_RINGS, Y_RINGS)
    assert one.transform(X_RINGS).shape == (120, 1)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_allclose(copy.transform(X_RINGS[:5]), F)
    again = model(kernel=lambda A, B: 1e4 * Gaussian(0.5)(A, B), landmarks=X_RINGS[:20])
    plain = model(kernel=Gaussian(0.5), landmarks=X_RINGS[:20])
    a, b = (m.fit(X_RINGS, Y_RINGS).transform(X_RINGS) for m in (again, plain))
    assert_allclose(a @ a.T, b @ b.T, atol=2e-2 * np.abs(b @ b.T).max())  # scale free
    with pytest.raises(ValueError, match="reg must be"):
        model(reg=0).fit(X, y)
    with pytest.raises(ValueError, match="n_components"):
        model(n_components=0).fit(X, y)
    with pytest.raises(ValueError, match="zero variance"):
        model().fit(np.ones_like(X), y)
    with pytest.raises(ValueError, match="memory budget"):
        model(memory_budget="10kB").fit(X_RINGS, Y_RINGS)
    with pytest.raises(ValueError, match="at least 2 classes"):
        model().fit(X, np.zeros(18))


def test_parameters_of_their_own():
    with pytest.raises(ValueError, match="mu must"):
        kl.KernelLMNN(mu=1.0).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        kl.KernelLMNN(n_neighbors=0).fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        kl.KernelMCML(Linear(), reg=1e3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        kl.KernelMCML(max_iter=2).fit(X, y)
    a, b = (kl.KernelLMNN("linear", n_neighbors=k).fit(X, y).kernel_(X) for k in (1, 4))
    assert np.abs(a - b).max() > 1e-3


LEARNERS = [kl.KernelLMNN, kl.KernelMCML, kl.KernelMMC, kl.KernelNCA, kl.KernelRCA]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_row_per_class_is_refused(learner):
    """MMC did not end on such labels, NCA and RCA said "singular matrix"."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    for rows, y in ((X, np.arange(12)), (X[np.arange(24) // 2], np.arange(24) // 2)):
        with pytest.raises(ValueError, match="no class has two distinct rows"):
            learner().fit(rows, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_float32_rows_give_what_float64_rows_give(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    options = {} if learner is kl.KernelRCA else {"max_iter": 10}
    single, double = (learner(**options).fit(A, y) for A in (X, X.astype(np.float64)))
    np.testing.assert_allclose(single.kernel_(X), double.kernel_(X), rtol=1e-6, atol=1e-9)
