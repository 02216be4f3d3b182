"""Numbers without each row: against refits, and the ends of intervals against counting."""

import numpy as np
import pytest
from tests.oracles.refits import fit_ridge, predict_without

from kernel_learn import KernelRegressor, load, save
from kernel_learn.criteria.held_out.intervals import jackknife_intervals
from kernel_learn.criteria.held_out.leave_out import lam_of, models_without
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.datasets import Blocks
from kernel_learn.kernels import Gaussian, evaluate_shared

N, NEW = 45, 7


def table(rng, *, several=False):
    X = np.round(rng.normal(size=(N + NEW, 3)), 2)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=N + NEW)
    if several:  # the second by its logarithm
        y = np.c_[y, np.exp(X[:, 2] + 0.1 * rng.normal(size=N + NEW))]
    return X[:N], y[:N], X[N:]


CASES = {
    "plain": {},
    "weights": {"weight": True},
    "groups": {"groups": True},
    "weights and groups, two targets": {"weight": True, "groups": True, "several": True},
    "equal rows": {"copies": True},
}


@pytest.fixture(params=CASES, ids=lambda name: name)
def case(request, rng):
    """A model, its new rows, and the distinct rows that leave together."""
    how = CASES[request.param]
    X, y, T = table(rng, several="several" in how)
    if "copies" in how:
        X[10:20] = X[:10]
    weight = rng.uniform(1, 3, N) if "weight" in how else None
    groups = np.arange(N) // 3 if "groups" in how else None
    model = KernelRegressor(assess=False).fit(X, y, weight, groups)
    return model, T


def refitted(model, T):
    """Predictions of T by members that are solved again without each unit."""
    ensemble, jackknife = model._fitted.ensemble, model._fitted.jackknife
    training, targets = ensemble.training, ensemble.targets
    read = model._table(T)
    found = np.zeros((len(T), len(jackknife.units), ensemble.n_features))
    for member in ensemble.predicting:
        K = evaluate_shared(member.kernel, training.statistics(member))
        S = training.statistics(member, training.new_rows(member, read))
        K_new, dual, map = evaluate_shared(member.kernel, S), member.models[0][0], member.maps[0]
        for u, unit in enumerate(jackknife.units):
            scores = np.zeros((len(T), targets.Y.shape[1]))
            for c in map.columns:
                own = Dual(dual.coef[:, [c]], dual.intercept[[c]])
                y = targets.Y[:, [c]]
                lam = lam_of((y - own.scores(K))[:, 0], own, targets.weight)
                scores[:, c] = predict_without(K, K_new, y, targets.weight, lam, unit)[:, 0]
            found[:, u] += member.share * map(scores)
    return found


def test_predictions_without_each_unit_are_those_of_refits(case):
    model, T = case
    found = model._fitted.jackknife.predict(model._table(T))
    np.testing.assert_allclose(found, refitted(model, T), atol=1e-9)
    assert np.abs(found - model._fitted.ensemble.predict(model._table(T))[:, None]).max() > 1e-3


def test_lam_is_that_of_the_fit(rng):
    X, y, _ = table(rng)
    model = KernelRegressor(max_members=1, assess=False).fit(X, y)
    ensemble = model._fitted.ensemble
    (member,), targets = ensemble.predicting, ensemble.targets
    K = evaluate_shared(member.kernel, ensemble.training.statistics(member))
    p = targets.weight / targets.weight.sum()
    unit = p @ np.diag(K) - p @ K @ p
    dual = member.models[0][0]
    found = lam_of((targets.Y - dual.scores(K))[:, 0], dual, targets.weight)
    assert found == pytest.approx(member.reg * unit, rel=1e-6)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_ends_are_order_statistics(rng, coverage):
    """The ceil(coverage (n + 1))-th of f_-i(x) +- s(x) |r_i| / s_i from either end."""
    X, y, T = table(rng)
    model = KernelRegressor(assess=False).fit(X, y)
    held, fitted = model.loo_prediction_, model._fitted
    without = fitted.jackknife.predict(model._table(T))[:, :, 0]
    unit = fitted.jackknife.unit_of
    first = model._first  # the given row behind each distinct one
    s = fitted.probe.spread_of(model._table(T))[:, 0]
    own = fitted.probe.spread.scales[0]
    s_held = np.empty(N)
    s_held[own.place] = (fitted.probe.sample.targets.values - fitted.probe.held)[
        own.place, 0
    ] / own.residuals
    sizes = np.abs(y - held)[first] / s_held
    place = int(np.ceil(coverage * (N + 1) - 1e-9))
    found = model.predict_interval(T, coverage)
    for x in range(NEW):
        above = sorted(without[x, unit[i]] + s[x] * sizes[i] for i in range(N))
        below = sorted((without[x, unit[i]] - s[x] * sizes[i] for i in range(N)), reverse=True)
        np.testing.assert_allclose(found[x], [below[place - 1], above[place - 1]], atol=1e-9)


def test_rows_of_other_leaves_change_nothing(rng):
    X = rng.uniform(-2, 2, size=(1200, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=1200)
    with pytest.warns(UserWarning, match="gives another model"):
        model = KernelRegressor(quality="fast", memory_budget="6MB").fit(X[:1000], y[:1000])
    ensemble, jackknife = model._fitted.ensemble, model._fitted.jackknife
    assert ensemble.forest is not None
    read = model._table(X[1000:1002])
    found, plain = jackknife.predict(read)[:, :, 0], ensemble.predict(read)
    changed = np.abs(found[0] - plain[0]) > 0
    expected = np.zeros((2, len(jackknife.units)), dtype=bool)
    Z = ensemble.training.views[ensemble.forest.view].rows(read)
    for leaf in ensemble.forest.leaves(Z):
        units = np.unique(jackknife.unit_of[leaf.known])
        expected[np.ix_(leaf.new, units[units >= 0])] = True
    assert not changed[~expected[0]].any() and changed[expected[0]].mean() > 0.9
    member = ensemble.predicting[0]
    for leaf in ensemble.forest.leaves(Z):
        S = ensemble.training.statistics(member, None, leaf.known)
        K, weight = evaluate_shared(member.kernel, S), ensemble.targets.weight[leaf.known]
        without = jackknife._in_leaf(member, leaf)
        y_leaf = ensemble.targets.Y[leaf.known][:, member.maps[leaf.tree].columns]
        dual = member.model_in(leaf)
        lam = lam_of((y_leaf - dual.scores(K))[:, 0], dual, weight)
        gone = int(np.flatnonzero(jackknife.unit_of[leaf.known] == without.units[0])[0])
        expected_scores = predict_without(K, K[:5], y_leaf, weight, lam, np.array([gone]))
        np.testing.assert_allclose(
            without.models[0].scores(K[:5])[:, 0], expected_scores[:, 0], atol=1e-9
        )


def test_files_give_equal_intervals_and_hold_no_models_without_rows(rng, tmp_path):
    pytest.importorskip("skops")
    X, y, T = table(rng)
    model = KernelRegressor(quality="fast").fit(X, y)
    path = tmp_path / "model.skops"
    expected = model.predict_interval(T)
    assert "jackknife" in vars(model._fitted)
    save(model, path)
    again = load(path)
    assert "jackknife" not in vars(again._fitted)
    np.testing.assert_allclose(again.predict_interval(T), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["loo", "cv+"])
def test_sources_and_collections_give_intervals_of_their_rows(rng, method):
    X, y, T = table(rng)
    model = KernelRegressor(quality="fast").fit(X, y)
    expected = model.predict_interval(T, 0.8, method)
    parts = model.predict_interval(Blocks([(T[:4], None), (T[4:], None)]), 0.8, method=method)
    np.testing.assert_allclose(np.concatenate(list(parts)), expected)
    dask = pytest.importorskip("dask.array")
    lazy = model.predict_interval(dask.from_array(T, chunks=(3, -1)), 0.8, method=method)
    np.testing.assert_allclose(lazy.compute(), expected)


def test_too_few_rows_or_groups_are_told(rng):
    X, y, T = table(rng)
    model = KernelRegressor(quality="fast", assess=False).fit(X, y, groups=np.arange(N) // 5)
    with pytest.warns(UserWarning, match="needs 10 rows"):
        assert np.isinf(model.predict_interval(T[:2], 0.9 + 1e-6)).all()
    assert np.isfinite(model.predict_interval(T[:2], 0.9)).all()  # nine groups and a new one


def test_exchangeable_rows_are_held_as_often_as_asked():
    """200 tables of 39 rows and 30 new ones, nothing chosen: within three errors of the draws."""
    asked, inside = np.array([0.8, 0.9, 0.95]), np.empty((200, 3))
    for draw in range(200):
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(69, 2))
        y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.standard_t(3, size=69)
        K, K_new, weight = Gaussian(0.5)(X[:39]), Gaussian(0.5)(X[39:], X[:39]), np.ones(39)
        model = Dual(*fit_ridge(K, y[:39, None], weight, 1.0))
        without = models_without(K.copy(), y[:39], model, weight, list(np.arange(39)[:, None]))
        sizes = np.abs(y[:39] - np.diag(without.scores(K)))
        centres = without.scores(K_new)
        for c, coverage in enumerate(asked):
            reach = np.broadcast_to(sizes, centres.shape)
            low, high = jackknife_intervals(centres, reach, weight, coverage).T
            inside[draw, c] = np.mean((low <= y[39:]) & (y[39:] <= high))
    error = inside.std(axis=0) / np.sqrt(200)
    assert np.all(np.abs(inside.mean(axis=0) - asked) < 3 * error)


@pytest.mark.slow
def test_intervals_of_the_whole_fit_hold():
    """40 rows, from which members, scales and regularisers are chosen: by nested residuals."""
    asked, inside = np.array([0.8, 0.9, 0.95]), np.empty((40, 3))
    for draw in range(40):
        rng = np.random.default_rng(draw)
        X = rng.normal(size=(65, 3))
        y = X[:, 0] + np.sin(X[:, 1]) + (0.2 + 0.3 * (X[:, 2] > 0)) * rng.normal(size=65)
        model = KernelRegressor(quality="fast", max_members=1).fit(X[:40], y[:40])
        for c, coverage in enumerate(asked):
            low, high = model.predict_interval(X[40:], coverage).T
            inside[draw, c] = np.mean((low <= y[40:]) & (y[40:] <= high))
    error = inside.std(axis=0) / np.sqrt(40)
    assert np.all(np.abs(inside.mean(axis=0) - asked) < 3 * error + 0.02)
