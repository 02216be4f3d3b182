"""Many rows: trees, leaves, and the classifier on them."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons

from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.leaf_tuning import tune_on_leaves
from kernel_learn.ensemble.problem import fit_views, sample_of
from kernel_learn.ensemble.trees import grow_tree, spread_directions
from kernel_learn.kernels import Gaussian

SMALL = 2_100_000  # a budget for kernels of 150 rows


@pytest.mark.parametrize("rng", [None, np.random.default_rng(0)], ids=["median", "mixed"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_tree(rng, form):
    Z = np.random.default_rng(1).standard_normal((500, 6)) * [5, 3, 1, 1, 1, 1]
    tree = grow_tree(form(Z), 60, rng)
    place = tree.leaves(form(Z))
    sizes = np.bincount(place)
    assert sizes.max() <= 60 and sizes.min() > 10 and sizes.sum() == 500
    np.testing.assert_array_equal(tree.leaves(form(Z[::7])), place[::7])


def test_a_tree_of_one_leaf_and_of_equal_rows():
    assert grow_tree(np.eye(4), 10).leaves(np.eye(4)).tolist() == [0] * 4
    assert grow_tree(np.ones((50, 2)), 10).leaves(np.ones((3, 2))).tolist() == [0] * 3
    mostly = np.r_[np.zeros((45, 1)), np.arange(1, 6)[:, None]]
    for rows in (mostly, -mostly):  # most of them at the threshold, which is the end of one
        assert len(np.unique(grow_tree(rows, 10).leaves(rows))) >= 2


def test_directions_are_principal(rng):
    Z = rng.standard_normal((300, 8)) * [9, 5, 3, 2, 1, 1, 1, 1] + 7.0
    V = spread_directions(Z)
    expected = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(expected @ V[:, :2]), np.eye(2), atol=0.02)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(1400, noise=0.25, random_state=0)
    return X[:900], y[:900], X[900:], y[900:]


@pytest.fixture(scope="module")
def model(moons):
    with pytest.warns(UserWarning, match="which gives another model"):
        return KernelClassifier(memory_budget=SMALL).fit(*moons[:2])


def test_leaves_are_as_good_as_one_fit(model, moons):
    exact = KernelClassifier().fit(*moons[:2])
    assert model._fitted.ensemble.forest is not None and exact.plan_.exact
    assert not model.plan_.exact and "leaves of at most 150 rows" in str(model.plan_)
    assert model.score(*moons[2:]) > exact.score(*moons[2:]) - 0.02
    assert abs(model.loo_error_ - np.mean(model.predict(moons[2]) != moons[3])) < 0.03


def test_what_it_says(model, moons):
    X_new = moons[2][:6]
    found = model.explain(X_new, n_rows=900)
    np.testing.assert_allclose(
        found.baseline + found.contributions.sum(axis=1), found.log_odds, atol=1e-8
    )
    assert (np.count_nonzero(found.contributions, axis=1) < 400).all()  # of its leaves only
    assert model.transform(X_new).shape == (6, 1)
    assert model.kernel_(X_new).shape == (6, 6)
    assert model.feature_relevance_.shape == (2,)
    assert sum(member.weight for member in model.members_) == pytest.approx(1)
    np.testing.assert_allclose(model.loo_proba_.sum(axis=1), 1)  # the mean over the trees
    assert model.permutation_p_value(19) == pytest.approx(0.05)


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_order_and_weights(moons, model):
    X, y, X_new, _ = moons
    order = np.random.default_rng(0).permutation(len(y))
    again = KernelClassifier(memory_budget=SMALL).fit(X[order], y[order])
    np.testing.assert_allclose(again.predict_proba(X_new), model.predict_proba(X_new), atol=1e-6)
    weight = np.where(np.arange(900) < 100, 2, 1)
    fast = {"memory_budget": SMALL + 10_000, "quality": "fast"}  # in which both have equal leaves
    a = KernelClassifier(**fast).fit(X, y, sample_weight=weight)
    b = KernelClassifier(**fast).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert a.plan_.screen_rows == b.plan_.screen_rows
    np.testing.assert_allclose(a.predict_proba(X_new), b.predict_proba(X_new), atol=1e-6)


@pytest.mark.slow
def test_memory_stays_within_the_plan():
    X, y = make_moons(1300, noise=0.3, random_state=0)
    tracemalloc.start()
    model = KernelClassifier().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 * model.plan_.bytes_needed < peak < model.plan_.bytes_needed


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_labels_without_noise(rng):
    """Members of the smallest lam once were all dropped, and the fit failed."""
    X = rng.standard_normal((1000, 10))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], [1 / 3, 2 / 3]))
    model = KernelClassifier(memory_budget="2MB").fit(X, y)
    assert len(model.members_) and model.loo_error_ < 0.35


def test_the_kernel_is_that_of_the_members(model, moons):
    """One line per kernel, averaged over the trees, and their weighted sum."""
    ensemble, members = model._fitted.ensemble, model.members_
    assert len({(m.view, repr(m.kernel)) for m in members}) == len(members)
    assert len(members) == len(ensemble.predicting) == len(model.kernel_.kernels)
    # the diagonal of each is brought to a mean of one, and the weights sum to one
    assert np.trace(model.kernel_(moons[0])) / 900 == pytest.approx(1, abs=0.02)
    for member in members:
        assert ensemble.weight_of(member) * ensemble.n_trees == pytest.approx(member.weight)
        assert len(member.models) == len(member.maps) == len(ensemble.forest.trees) == 4
        for models, leaves in zip(member.models, ensemble.forest.leaf_rows, strict=True):
            assert [len(model.coef) for model in models] == [len(rows) for rows in leaves]
    features = model.transform(moons[2])[:, 0]
    agree = np.mean((features > np.median(features)) == (moons[3] == 1))
    assert max(agree, 1 - agree) > 0.8


@pytest.fixture(scope="module")
def board():
    """Squares of two colours, too small for a few rows to show."""
    X = np.random.default_rng(0).uniform(0, 8, size=(2400, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


@pytest.mark.filterwarnings("ignore:.*gives another model")
def test_widths_narrow_with_the_rows(board):
    X, y = board
    model = KernelClassifier(memory_budget="5MB").fit(X[:1800], y[:1800])
    assert not model.plan_.exact
    assert model.score(X[1800:], y[1800:]) > 0.85
    assert abs(model.loo_error_ - 1 + model.score(X[1800:], y[1800:])) < 0.04


def test_lam_is_common_to_the_leaves(moons):
    """A kernel and lam that were planted: labels are a smooth function at that width."""
    X, y, _, _ = moons
    prepared = prepare(KernelClassifier(), X, y, None, None, 0)
    views = fit_views(prepared.problem)
    sample = sample_of(prepared.problem, views)
    leaves = np.array_split(np.arange(sample.targets.n), 4)
    widths = [Candidate("z", "rbf", w).on_rows(Gaussian(1 / w)) for w in (0.001, 1.0, 1000.0)]
    chosen = tune_on_leaves(sample, widths, [[rows] for rows in leaves], 2)
    assert chosen[0].kernel.gamma == 1.0
    K = chosen[0].kernel(sample.views["z"][leaves[0]])
    unit = RidgePath(K, sample.targets.take(leaves[0])).centred.unit
    assert chosen[0].lam == pytest.approx(chosen[0].reg * unit)
