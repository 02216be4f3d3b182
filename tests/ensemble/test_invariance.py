"""What must not move a model: units, the order of columns, a constant column, names of classes.

Folds, and the rows on which kernels are screened, are drawn by how rows compare; what is left is
rounding. Before, these changes moved probabilities of single rows by up to 0.3.
"""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from extras import optional
from kernel_learn import KernelClassifier, KernelRegressor

pd = optional("pandas")

FAST = {"quality": "fast", "assess": "loo"}


def wine():
    return load_wine(return_X_y=True)


def products(n=560):
    """So many rows that kernels are screened on some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)


def whole_numbers():
    """Few levels, hence equal rows and ties."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(200, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=200) > 3).astype(int)


def all_pairs():
    """All combinations of levels: columns that nothing tells apart."""
    X = np.array([[a, b] for a in range(12) for b in range(12)], dtype=float)
    return X, (X[:, 0] * X[:, 1] > 25).astype(int)


TABLES = {
    "wine": wine,
    "products": products,
    "whole numbers": whole_numbers,
    "all pairs": all_pairs,
}
CHANGES = {
    "twice": lambda X: 2 * X,
    "other units": lambda X: 2.54 * X + np.arange(X.shape[1]),
    "order of columns": lambda X: X[:, ::-1],
    "a constant column": lambda X: np.column_stack([X[:, :1], np.full(len(X), 7.0), X[:, 1:]]),
    "a list of lists": lambda X: X.tolist(),
}


@pytest.fixture(scope="module")
def fitted():
    found = {}
    for name, load in TABLES.items():
        X, y = load()
        train = np.arange(len(X)) % 3 > 0 if name != "all pairs" else np.ones(len(X), bool)
        model = KernelClassifier(**FAST).fit(X[train], y[train])
        new = X[~train] if name != "all pairs" else X + 0.4
        found[name] = X, y, train, new, model.predict_proba(new)
    return found


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", CHANGES)
def test_rows_written_in_another_way(fitted, table, change):
    X, y, train, new, proba = fitted[table]
    model = KernelClassifier(**FAST).fit(CHANGES[change](X[train]), y[train])
    again = model.predict_proba(CHANGES[change](new))
    np.testing.assert_allclose(again, proba, atol=1e-8)


@pytest.mark.parametrize("table", TABLES)
def test_names_of_classes(fitted, table):
    X, y, train, new, proba = fitted[table]
    names = np.array(["z", "a", "m"])
    model = KernelClassifier(**FAST).fit(X[train], names[y[train]])
    again = model.predict_proba(new)[:, np.searchsorted(model.classes_, names[: y.max() + 1])]
    np.testing.assert_allclose(again, proba, atol=1e-8)


def test_single_precision_and_whole_numbers(fitted):
    X, y, train, new, proba = fitted["whole numbers"]
    for dtype in (np.float32, np.int64, object):
        model = KernelClassifier(**FAST).fit(X[train].astype(dtype), y[train])
        again = model.predict_proba(new.astype(dtype))
        np.testing.assert_allclose(again, proba, atol=1e-8)


def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=150), "b": rng.exponential(size=150)})
    frame.loc[rng.random(150) < 0.1, "b"] = np.nan
    frame["kind"] = rng.choice(["x", "y", "z"], 150)
    y = ((frame["a"] > 0) ^ (frame["kind"] == "x")).to_numpy().astype(int)
    return frame, y


def test_a_mixed_table():
    frame, y = mixed()
    proba = KernelClassifier(**FAST).fit(frame[:100], y[:100]).predict_proba(frame[100:])
    other = frame[["kind", "b", "a"]].assign(b=1000 * frame["b"], one="same", zero=0.0)
    again = KernelClassifier(**FAST).fit(other[:100], y[:100]).predict_proba(other[100:])
    np.testing.assert_allclose(again, proba, atol=1e-8)


@pytest.mark.parametrize("frame", [False, True])
def test_the_sign_of_zero_among_categories(frame):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 4)))
    y = ((X[:, 0] >= 1) ^ (X[:, 1] == X[:, 2])).astype(int)
    forms = [X, np.where(X == 0, 0.0, X), np.where(X == 0, -0.0, X)]
    if frame:
        forms = [pd.DataFrame(own, columns=list("abcd")) for own in forms]
    named = list("abcd") if frame else [0, 1, 2, 3]
    model, other = (KernelClassifier(**FAST, categorical=named).fit(own, y) for own in forms[:2])
    assert other._rows_digest == model._rows_digest
    levels = [own.tolist() for own in model._fitted.ensemble.reader.levels]
    assert all("n0.0" in own and "n-0.0" not in own for own in levels)
    for own in forms:
        np.testing.assert_array_equal(model.predict_proba(own), other.predict_proba(forms[0]))
        np.testing.assert_array_equal(model.find_rows(own[:3]), model.find_rows(forms[0][:3]))
        assert {0, 1, 2} <= set(model.find_rows(own[:3]))


def test_the_assessment(fitted):
    X, y, train = fitted["wine"][:3]
    one = KernelClassifier(quality="fast").fit(X[train], y[train])
    two = KernelClassifier(quality="fast").fit(3 * X[train][:, ::-1], y[train])
    np.testing.assert_allclose(one.held_out_proba_, two.held_out_proba_, atol=1e-8)


def test_leaves():
    X, y = products(800)
    options = FAST | {"memory_budget": "3MB"}
    with pytest.warns(UserWarning, match="another model"):
        one = KernelClassifier(**options).fit(X, y)
    with pytest.warns(UserWarning, match="another model"):
        two = KernelClassifier(**options).fit(2.54 * X[:, ::-1], y)
    assert one.plan_.representation == "leaves"
    np.testing.assert_allclose(
        one.predict_proba(X[:50]), two.predict_proba(2.54 * X[:50, ::-1]), atol=1e-8
    )


def test_numbers():
    X = products(120)[0]
    values = X[:, 0] + 0.1 * X[:, 1] ** 2
    one = KernelRegressor(**FAST).fit(X, values).predict(X[:20])
    two = KernelRegressor(**FAST).fit(2.54 * X[:, ::-1], values).predict(2.54 * X[:20, ::-1])
    np.testing.assert_allclose(one, two, rtol=1e-6)
