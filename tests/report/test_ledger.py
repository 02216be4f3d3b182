"""Values of rows and columns in a report."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("jinja2")

import kernel_learn as kl  # noqa: E402
from kernel_learn.report import render  # noqa: E402
from kernel_learn.report.facts import gather_facts  # noqa: E402
from kernel_learn.report.ledger import column_importances  # noqa: E402
from kernel_learn.tables.columns import look_at_columns  # noqa: E402
from kernel_learn.tables.model import TableModel  # noqa: E402
from oracles.shapley import shapley_by_sets  # noqa: E402


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((90, 3)), columns=["signal", "half", "noise"])
    return X, X["signal"] + 0.5 * X["half"] + 0.3 * rng.standard_normal(90)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_and_columns(kind, table):
    X, score = table
    y = score.to_numpy()
    estimator = kl.KernelRegressor(quality="fast")
    if kind == "classes":
        y, estimator = np.where(score > 0, "yes", "no"), kl.KernelClassifier(quality="fast")
    y = y.copy()
    row = int(np.argmin(np.abs(score - 1.2)))
    y[row] = "no" if kind == "classes" else -9.0
    model = TableModel(estimator).fit(X, y)
    task = "classify" if kind == "classes" else "regress"
    facts = gather_facts(model, X, y, method="auto", task=task)
    found = facts["surprising" if kind == "classes" else "look_at"]
    own = next(one for one in found[:3] if one["row"] == row)
    assert own["value"] == model.estimator_.row_values_[row]
    told = facts["importance"]["shapley"]
    assert [one["name"] for one in told] == ["signal", "half", "noise"]
    np.testing.assert_allclose(sum(one["value"] for one in told), 1.0)
    page = render(facts, frame=X)
    assert "Value of the row: " in page and "mean size of its Shapley values" in page


def test_a_text_is_one_column(table):
    pytest.importorskip("skrub")
    X, score = table
    words = np.random.default_rng(1).choice(["pain", "cold", "head"], (90, 40))
    notes = [f"{i} " + " ".join(own) for i, own in enumerate(words)]
    X = X[["signal", "half"]].assign(note=notes)
    columns = look_at_columns(X, score, known={"note": "text"})
    model = TableModel(kl.KernelClassifier(quality="fast")).fit(X, score > 0, columns=columns)
    rows = model.encode(X)
    assert rows.shape[1] == 32
    told = column_importances(model, rows)
    assert {one["name"] for one in told} == {"signal", "half", "note"}
    places = {"half": [1], "note": list(range(2, 32)), "signal": [0]}
    sizes = model.estimator_.held_out_column_values(rows, column_groups=places)
    assert told[0] == {"name": "signal", "value": pytest.approx(sizes[2] / sizes.sum())}


def test_column_values_are_those_of_models_without_the_rows(table):
    X, score = table
    model = kl.KernelClassifier(quality="fast").fit(X, score > 0)
    folds, first, sizes = model._assessment.folds, model._first, []
    players = [np.array([c]) for c in range(3)]
    for fold in folds:
        inside = np.setdiff1d(np.arange(90), fold.rows)[:10]

        def f(rows, ensemble=fold.ensemble):
            L = ensemble.pooled(model._table(pd.DataFrame(rows, columns=X.columns))).log_odds
            return L[:, 1:] - L[:, :1]

        for row in first[fold.rows[:3]]:
            behind = X.to_numpy()[first[inside]]
            phi = shapley_by_sets(f, X.to_numpy()[row], behind, np.full(10, 0.1), players)
            sizes.append(np.abs(phi[:, 0]))
    found = model.held_out_column_values(X)
    np.testing.assert_allclose(found, np.mean(sizes, axis=0), rtol=1e-8)
    none = kl.KernelClassifier(quality="fast", assess="loo").fit(X, score > 0)
    assert none.held_out_column_values(X) is None
