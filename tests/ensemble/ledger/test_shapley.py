"""Shapley values of an ensemble against all sets of columns, and what they sum to."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons

import kernel_learn as kl
from extras import optional
from kernel_learn.ensemble.ledger.shapley import unbounded_values
from kernel_learn.kernels import Gaussian
from oracles.shapley import shapley_by_sets

pd = optional("pandas")


def outputs(model, X):
    """log p1/p0, or log p minus its mean, before fading."""
    L = model._row_log_odds(model._table(X)).log_odds
    return L[:, 1:] - L[:, :1] if L.shape[1] == 2 else L


def mixed_table(rng, n=80):
    frame = pd.DataFrame(
        {
            "height": rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": np.exp(rng.standard_normal(n)),
            "sort": pd.Categorical(rng.choice(["a", "b"], n)),
        }
    )
    score = frame["height"] + 2 * (frame["colour"] == "red") - (frame["sort"] == "a")
    return frame, np.digitize(score, [0.0, 1.0])


def tables(name, rng):
    if name == "mixed":
        return mixed_table(rng)
    X, y = load_iris(return_X_y=True)
    kept = y > 0 if name == "two classes" else y >= 0
    return pd.DataFrame(X[kept][::2]), y[kept][::2]


@pytest.mark.parametrize("name", ["two classes", "three classes", "mixed"])
def test_exact_members_against_all_sets(name, rng):
    X, y = tables(name, rng)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    behind, new = X[:12], X[-3:]
    found = model.shapley(new, background=behind)
    assert found.exact and not found.standard_error.any()
    d = X.shape[1]
    values = found.values.reshape(3, d, -1)

    def f(rows):
        return outputs(model, pd.DataFrame(rows, columns=X.columns).astype(X.dtypes.to_dict()))

    share, blocks = np.full(12, 1 / 12), [np.array([c]) for c in range(d)]
    for i in range(3):
        x = new.to_numpy(dtype=object)[i]
        expected = shapley_by_sets(f, x, behind.to_numpy(dtype=object), share, blocks)
        np.testing.assert_allclose(values[i], expected.reshape(d, -1), atol=1e-10)
    assert found.feature_names == [str(c) for c in X.columns] or name != "mixed"


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_groups_of_columns_as_players(quality, rng):
    X, y = mixed_table(rng)
    model = kl.KernelClassifier(quality=quality, assess=False).fit(X, y)
    groups = {"looks": ["height", "colour"]}
    found = model.shapley(X[-3:], background=X[:12], column_groups=groups)
    assert found.feature_names == ["looks", "size", "sort"] and found.exact
    assert found.values.shape == (3, 3, 3) and found.data.shape == (3, 4)
    players = [np.array([0, 1]), np.array([2]), np.array([3])]

    def f(rows):
        return outputs(model, pd.DataFrame(rows, columns=X.columns).astype(X.dtypes.to_dict()))

    for i in range(3):
        x = X[-3:].to_numpy(dtype=object)[i]
        expected = shapley_by_sets(
            f, x, X[:12].to_numpy(dtype=object), np.full(12, 1 / 12), players
        )
        np.testing.assert_allclose(found.values[i], expected, atol=1e-10)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_sums_lead_to_predict_proba(load, quality):
    X, y = load(return_X_y=True)
    model = kl.KernelClassifier(quality=quality, assess=False).fit(X[:200:2], y[:200:2])
    new = np.vstack([X[1:9:2], X[:1] * 3])
    found = model.shapley(new, background=20)
    L = found.values.sum(axis=1) + found.base_values
    proba = model.predict_proba(new)
    if len(model.classes_) == 2:
        assert found.values.shape == new.shape
        assert found.base_values.shape == (len(new),)
        faded = found.prior + found.fading * (L - found.prior)
        odds = np.log(proba[:, 1] / proba[:, 0])
    else:
        assert found.values.shape == (*new.shape, 3)
        assert found.base_values.shape == (len(new), 3)
        faded = found.prior + found.fading[:, None] * (L - found.prior)
        odds = np.log(proba) - np.log(proba).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(L, outputs(model, new).reshape(L.shape), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(faded, odds, rtol=1e-8, atol=1e-8)
    if quality == "fast":
        assert found.exact
    assert (found.standard_error.any()) == (not found.exact)
    np.testing.assert_array_equal(found.data, new)


def test_sampled_members_have_errors_that_hold(rng):
    X, y = tables("three classes", rng)
    X = X.to_numpy()
    few = kl.KernelClassifier(assess=False).fit(X, y).shapley(X[:2], background=X[10:40])
    assert few.exact and not few.standard_error.any()  # all sets of four columns
    X = np.hstack([X, X[:, :2] * rng.standard_normal((len(X), 2))])
    model = kl.KernelClassifier(assess=False).fit(X, y)
    found = model.shapley(X[:2], background=X[10:40])
    assert not found.exact
    blocks = [np.array([c]) for c in range(6)]
    for i in range(2):
        expected = shapley_by_sets(
            lambda rows: outputs(model, rows), X[i], X[10:40], np.full(30, 1 / 30), blocks
        )
        off = (found.values[i] - expected) / found.standard_error[i]
        assert 0.3 < np.sqrt(np.mean(off**2)) < 2.0  # one, if errors are what they say


def test_background_of_training_rows():
    X, y = load_wine(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X[::2], y[::2])
    drawn = model.shapley(X[1:4], background=15)
    given = model.shapley(X[1:4], background=X[::2][model._first[:15]])
    np.testing.assert_allclose(drawn.values, given.values, atol=1e-9)
    every = model.shapley(X[1:2], background=10**6)  # no more than there are
    mean = outputs(model, X[::2]).mean(axis=0)
    np.testing.assert_allclose(every.base_values[0], mean, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*gives another model")
@pytest.mark.parametrize("kind", ["all", "discriminant", "leaves"])
def test_background_rows_have_their_weights(kind, rng):
    """Base values are the mean of L over them."""
    n, more = (900, {"memory_budget": 2_600_000}) if kind == "leaves" else (60, {})
    X = rng.standard_normal((n, 3))
    if kind != "leaves":
        X[50:60] = X[:10]  # which are one row each, of both weights
    y, weight = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int), rng.uniform(0.5, 3.0, n)
    model = kl.KernelClassifier(quality="fast", assess=False, max_members=2, **more)
    if kind == "discriminant":
        model = kl.KernelDiscriminant(Gaussian(0.3), decision="ridge")
    model.fit(X, y, sample_weight=weight)
    assert kind != "leaves" or not model.plan_.exact
    some = model._first[:40] if kind == "leaves" else np.arange(n)
    known = model.shapley(X[some], background=X[:1])
    L = known.values.sum(axis=1) + known.base_values
    found = model.shapley(X[:1], background=min(len(some), 60))
    due = np.average(L, weights=weight[some])
    np.testing.assert_allclose(found.base_values[0], due, atol=1e-9 * np.abs(L).max())


def test_rows_one_by_one_and_in_any_order():
    X, y = load_iris(return_X_y=True)
    model = kl.KernelClassifier(assess=False).fit(X[::3], y[::3])
    found = model.shapley(X[:4], background=10).values
    np.testing.assert_allclose(model.shapley(X[[2, 0]], background=10).values, found[[2, 0]])


def test_prints():
    X, y = load_iris(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    lines = repr(model.shapley(X[:7], background=10)).splitlines()
    assert lines[0] == "Shapley values of 4 columns, exact"
    assert lines[1].startswith("row 0: x") and lines[-1] == "and 2 more rows"


def check_whole_rows(model, new, behind, L, players, groups=None):
    """Values by all sets, or within their errors; sums lead to what is predicted."""
    found = model.shapley(new, background=behind, column_groups=groups)
    dense = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in (new, behind)]
    share = np.full(len(dense[1]), 1 / len(dense[1]))
    values = found.values.reshape(len(dense[0]), len(players), -1)
    error = found.standard_error.reshape(values.shape)
    for i, x in enumerate(dense[0]):
        expected = shapley_by_sets(L, x, dense[1], share, players)
        if found.exact:
            np.testing.assert_allclose(values[i], expected, atol=1e-10)
        else:
            off = (values[i] - expected) / np.maximum(error[i], 1e-12)
            assert 0.3 < np.sqrt(np.mean(off**2)) < 2.0
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total.reshape(len(dense[0]), -1), L(dense[0]), rtol=1e-10)
    np.testing.assert_array_equal(found.data, dense[0])
    return found


@pytest.mark.filterwarnings("ignore:.*gives another model")
@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
@pytest.mark.parametrize("d", [3, 7])
def test_in_leaves(kind, d, rng):
    X, y = make_moons(900, noise=0.25, random_state=0)
    X = np.hstack([X, rng.standard_normal((900, d - 2))])
    y = y if kind is kl.KernelClassifier else np.sin(3 * X[:, 0]) + X[:, 1]
    options = {"quality": "fast", "assess": False, "max_members": 2}
    model = kind(memory_budget=2_300_000 + 100_000 * d, **options).fit(X, y)
    ensemble = model._fitted.ensemble
    assert ensemble.forest is not None and ensemble.predicting

    def L(rows):
        if kind is kl.KernelRegressor:
            return unbounded_values(ensemble, model._table(rows))
        return outputs(model, rows)

    players = [np.array([c]) for c in range(d)]
    found = check_whole_rows(model, X[:2] + 0.05, X[100:120], L, players)
    assert found.exact == (d == 3) and found.standard_error.any() == (d > 5)
    groups = {"moons": [0, 1]}
    players = [np.array([0, 1]), *players[2:]]
    check_whole_rows(model, X[:2] + 0.05, X[100:110], L, players, groups)
    said = model.predict_proba(X[:3]) if kind is kl.KernelClassifier else model.predict(X[:3])
    found = model.shapley(X[:3], background=6)
    total = found.values.sum(axis=1) + found.base_values
    lead = found.prior + found.fading * (total - found.prior)
    due = np.log(said[:, 1] / said[:, 0]) if kind is kl.KernelClassifier else said
    np.testing.assert_allclose(lead, due, rtol=1e-9)
    rows = model._given.rows.table[np.arange(6)].numbers  # drawn by their contents
    again = model.shapley(X[:3], background=np.asarray(rows))
    np.testing.assert_allclose(found.values, again.values, atol=1e-12)
    del model._given
    with pytest.raises(ValueError, match="pass background= some rows"):
        model.shapley(X[:2])


@pytest.mark.slow
def test_sparse_rows(rng):
    X = np.maximum(rng.standard_normal((60, 7)) + 1.2, 0.0)
    y = (X[:, 0] > X[:, 1]).astype(int) + (X[:, 2] > 2)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(sparse.csr_matrix(X), y)
    players = [np.array([c]) for c in range(7)]

    def L(rows):
        return outputs(model, sparse.csr_matrix(rows))

    found = check_whole_rows(model, sparse.csr_array(X[:2]), sparse.csr_array(X[9:50]), L, players)
    assert not found.exact
    few = np.where(np.arange(7) < 4, X, 0.0)  # columns that nobody has add nothing
    found = check_whole_rows(
        model, sparse.csr_array(few[:2]), sparse.csr_array(few[9:20]), L, players
    )
    assert found.exact and not found.values[:, 4:].any()
    found = model.shapley(sparse.csr_matrix(X[:3]), background=12)
    log_p = np.log(model.predict_proba(sparse.csr_matrix(X[:3])))
    total = found.values.sum(axis=1) + found.base_values
    lead = found.prior + found.fading[:, None] * (total - found.prior)
    np.testing.assert_allclose(lead, log_p - log_p.mean(axis=1, keepdims=True), rtol=1e-9)


def test_to_shap():
    shap = pytest.importorskip("shap")
    X, y = load_iris(return_X_y=True)
    model = kl.KernelClassifier(quality="fast", assess=False).fit(X, y)
    found = model.shapley(X[:3], background=10)
    told = found.to_shap()
    assert isinstance(told, shap.Explanation)
    np.testing.assert_array_equal(told.values, found.values)
    assert list(told.feature_names) == found.feature_names
