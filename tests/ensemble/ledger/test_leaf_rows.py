"""Rows of models in leaves: what one moves and what is left without some, against refits."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

import kernel_learn as kl
from kernel_learn.ensemble.pooling import Averages
from kernel_learn.kernels import evaluate_shared
from kernel_learn.rows.keys import digest, row_keys
from oracles.refits import predict_without

pytestmark = pytest.mark.filterwarnings("ignore:.*gives another model")
GONE = np.array([3, 5, 40, 41, 42, 300, 555, 899])


@pytest.fixture(scope="module", params=["classes", "weights", "numbers"])
def fitted(request):
    rng = np.random.default_rng(0)
    X, y = make_moons(900, noise=0.25, random_state=0)
    more, kind = {}, kl.KernelClassifier
    if request.param == "numbers":
        kind, y = kl.KernelRegressor, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(900)
    if request.param == "weights":
        y = y + (X[:, 0] > 1.2)
        X[700:720] = X[:20]
        more = {"sample_weight": rng.uniform(0.5, 2.0, 900)}
    model = kind(memory_budget=2_100_000, quality="fast", assess=False).fit(X, y, **more)
    assert model._fitted.ensemble.forest is not None
    return model, X, y, more


def leaf_fits(model, X_new):
    """(leaf, member, K of its rows, K with new rows, lam by the equations of the fit)."""
    ensemble = model._fitted.ensemble
    for leaf, member, K_new in ensemble.kernel_blocks(model._table(X_new)):
        S = ensemble.training.statistics(member, None, leaf.known)
        K, own = evaluate_shared(member.kernel, S), ensemble.targets.take(leaf.known)
        a, w = member.model_in(leaf).coef, own.weight[:, None]
        r = own.Y - K @ a - member.model_in(leaf).intercept
        yield leaf, member, K, K_new, (a / w * r).sum() / (a / w * a / w).sum()


def test_stability_is_that_of_refits(fitted):
    model, X, _, _ = fitted
    if isinstance(model, kl.KernelRegressor):
        pytest.skip("in test_number_ledger")
    X_new, ensemble = X[:4] + 0.05, model._fitted.ensemble
    T, odds = ensemble.targets, model._row_log_odds(model._table(X_new))
    k = T.n_classes
    contrast = (np.eye(k) - 1 / k)[odds.winners] * (2 if k == 2 else 1)
    moved = np.zeros((T.n, 4))
    for leaf, member, K, K_new, lam in leaf_fits(model, X_new):
        Y, w = T.Y[leaf.known], T.weight[leaf.known]
        map, share = member.map_in(leaf), member.share / ensemble.n_trees
        whole = predict_without(K, K_new, Y, w, lam, [])
        np.testing.assert_allclose(whole, member.model_in(leaf).scores(K_new), atol=1e-9)
        for place, j in enumerate(leaf.known):
            change = map(whole) - map(predict_without(K, K_new, Y, w, lam, [place]))
            moved[j, leaf.new] += share * (change * contrast[leaf.new]).sum(axis=1)
    size = np.abs(odds.log_odds).max()
    due = np.abs(moved).max(axis=0)
    np.testing.assert_allclose(model.stability(X_new), due, rtol=1e-9, atol=1e-9 * size)
    ones = [model.stability(X_new[[i]])[0] for i in range(4)]
    np.testing.assert_allclose(ones, due, rtol=1e-9, atol=1e-9 * size)


def test_row_values_are_those_of_refits(fitted):
    """Of one row: what every row of its leaves loses, by two refits each."""
    model, _, _, _ = fitted
    ensemble, j = model._fitted.ensemble, 17
    T, n = ensemble.targets, ensemble.targets.n
    near = [own for tree in ensemble.forest.leaf_rows for own in tree if j in own]
    judged = np.setdiff1d(np.concatenate(near), [j])

    def said(i, gone):
        """What the model says of row i without some rows, in any case without row i."""
        parts = []
        for t, tree in enumerate(ensemble.forest.leaf_rows):
            leaf = next(number for number, own in enumerate(tree) if i in own)
            known = tree[leaf]
            Y, w = T.Y[known], T.weight[known]
            at, out = np.flatnonzero(known == i), np.flatnonzero(np.isin(known, [i, *gone]))
            for member in ensemble.predicting:
                S = ensemble.training.statistics(member, None, known)
                K, own = evaluate_shared(member.kernel, S), member.models[t][leaf]
                r = Y - own.scores(K)
                columns = []
                for c in (
                    range(Y.shape[1]) if isinstance(model, kl.KernelRegressor) else [slice(None)]
                ):
                    lam = (own.coef[:, c] * r[:, c]).sum() / ((own.coef[:, c] ** 2).T / w).sum()
                    y = Y[:, c].reshape(len(Y), -1)
                    columns.append(predict_without(K, K[at], y, w, lam, out))
                f = np.hstack(columns)
                if not isinstance(model, kl.KernelRegressor):
                    f = f + w[at] * (Y[at] - w @ Y / w.sum()) / (w.sum() - w[at])
                parts.append((ensemble.weight_of(member), member.maps[t], f))
        return parts

    def loss(i, gone):
        if isinstance(model, kl.KernelRegressor):
            value = sum(w * map.value(0, f[:, map.columns[0]])[0] for w, map, f in said(i, gone))
            y = np.bincount(T.row, T.count * T.values[:, 0], n)[i] / T.weight[i]
            return T.weight[i] * (value - y) ** 2
        pool = Averages(1, ensemble.shares)
        for w, map, f in said(i, gone):
            pool.add(w, map(f))
        return -T.counts[i] @ np.log(np.maximum(pool.pooled().proba[0], 1e-9))

    expected = sum(loss(i, [j]) - loss(i, []) for i in judged)
    given = np.flatnonzero(model._given.distinct == j)
    found = model.row_values_
    assert found.shape == (900,) and np.isfinite(found).all()
    np.testing.assert_allclose(found[given], expected, rtol=1e-8, atol=1e-9 * np.abs(found).max())


def test_doubtful_labels(fitted):
    model, X, y, more = fitted
    wrong, labels = np.array([31, 250, 600]), y.copy()
    is_number = isinstance(model, kl.KernelRegressor)
    labels[wrong] = labels[wrong] + 3.0 if is_number else (labels[wrong] + 1) % 2
    again = clone(model).fit(X, labels, **more)
    issues = again.label_issues(3 if is_number else 60)
    assert again._fitted.ensemble.forest is not None
    assert len(np.intersect1d(wrong, [issue.row for issue in issues])) >= 2
    first = issues[0]
    assert first.value == again.row_values_[first.row] and first.label == labels[first.row]


def test_forgetting_fits_the_leaves_of_the_rows(fitted):
    model, X, _, more = fitted
    before = pickle.dumps(model)
    smaller = model.forget(GONE)
    assert pickle.dumps(model) == before
    X_new, stay = X[:50] + 0.02, np.setdiff1d(np.arange(900), GONE)
    ensemble, left = model._fitted.ensemble, smaller._fitted.ensemble
    told = smaller.forgotten_
    assert told.n_rows == len(GONE) and told.distance < 1e-8
    for member in left.predicting:  # quantiles, which are no one's residuals
        for own in member.maps:
            assert all(len(found.values) == 100 for found in getattr(own, "residuals", ()))
    assert told.digest == digest(row_keys(X[stay])) and "features" in told.redrawn[0]
    # rows by their content: distinct rows of both models
    old_rows = {row.tobytes(): i for i, row in enumerate(X[model._first])}
    place = np.array([old_rows[row.tobytes()] for row in X[stay][smaller._first]])
    T, due = left.targets, np.zeros((50, left.targets.Y.shape[1]))
    found = np.zeros_like(due)
    lams = {(leaf.tree, leaf.number, id(m)): lam for leaf, m, _, _, lam in leaf_fits(model, X_new)}
    members = dict(zip(map(id, left.predicting), ensemble.predicting, strict=True))
    for leaf, member, K, K_new, _ in leaf_fits(smaller, X_new):
        old = members[id(member)]
        known = ensemble.forest.leaf_rows[leaf.tree][leaf.number]
        np.testing.assert_array_equal(place[leaf.known], known[np.isin(known, place)])
        lam = lams[leaf.tree, leaf.number, id(old)]
        Y, w = T.Y[leaf.known], T.weight[leaf.known]
        due[leaf.new] += predict_without(K, K_new, Y, w, lam, [])
        found[leaf.new] += member.model_in(leaf).scores(K_new)
    np.testing.assert_allclose(found, due, rtol=1e-9, atol=1e-9 * np.abs(due).max())
    one = model.forget([300])._fitted.ensemble.predicting  # in one leaf of each tree
    for member, was in zip(one, ensemble.predicting, strict=True):
        for new, old in zip(member.models, was.models, strict=True):
            assert sum(a is not b for a, b in zip(new, old, strict=True)) == 1 < len(new)
    total = left.targets.weight.sum()
    weight = more.get("sample_weight", np.ones(900))
    scale = ensemble.targets.weight.sum() / weight.sum()
    np.testing.assert_allclose(total, scale * weight[stay].sum())


def test_nothing_of_the_rows_is_left(fitted, tmp_path):
    pytest.importorskip("skops")
    model, X, _, _ = fitted
    once, twice = model.forget(GONE), model.forget(GONE[:3]).forget(GONE[3:] - 3)
    assert twice.forgotten_.digest == once.forgotten_.digest
    answer = "predict" if isinstance(model, kl.KernelRegressor) else "predict_proba"
    said = getattr(once, answer)(X)
    np.testing.assert_allclose(getattr(twice, answer)(X), said, rtol=1e-8, atol=1e-9)
    assert once.transform(X[:3]).shape == model.transform(X[:3]).shape
    assert once.novelty(X[:3]).shape == (3,)
    alone = np.array([i for i in GONE if (X[i] == X).all(axis=1).sum() == 1])
    ensemble = model._fitted.ensemble
    for found in (once, twice):
        kl.save(found, tmp_path / "model.skops")
        loaded = kl.load(tmp_path / "model.skops")
        np.testing.assert_array_equal(getattr(loaded, answer)(X), getattr(found, answer)(X))
        left = found._fitted.ensemble
        for part, whole in ((left.training, ensemble), (left.for_features, ensemble)):
            for name, Z in part.rows.items():
                member = next(m for m in whole.predicting if name in (m.view, m.plain_view))
                seen = ensemble.training.new_rows(member, model._table(X[alone]))
                if name == member.view and member.scales is not None and name != member.plain_view:
                    seen = seen * member.scales
                apart = np.abs(np.asarray(Z)[:, None] - np.asarray(seen)).max(axis=2)
                assert apart.min() > 1e-9
        assert found.plan_.n_given == 900 - len(GONE)


def test_a_leaf_that_is_emptied_says_the_mean(fitted):
    model, X, _, _ = fitted
    rows = model._fitted.ensemble.forest.leaf_rows[0][0]
    gone = np.flatnonzero(np.isin(model._given.distinct, rows))
    smaller = model.forget(gone)
    assert np.isfinite(smaller.predict(X).astype(float)).all()
    for member in smaller._fitted.ensemble.predicting:
        empty = member.models[0][0]
        assert empty.coef.shape[0] == 0
        np.testing.assert_allclose(empty.intercept, smaller._fitted.ensemble.targets.mean)
    assert smaller.explain(X[:3]).indices.max() < 900 - len(gone)
    if not isinstance(model, kl.KernelRegressor):
        assert np.isfinite(smaller.stability(X[:3])).all()
