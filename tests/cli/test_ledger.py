"""explain, forget and inspect --labels."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from cli.transcript import unfolded  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402

FAST = ["--set", "quality=fast", "--set", "max_members=3"]


def run(*words, code=0):
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout, unfolded(done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    for name, target in (("wine", "cultivar"), ("patients", "diagnosis")):
        run("example", folder / f"{name}.csv")
        run("fit", folder / f"{name}.csv", "-t", target, "-o", folder / f"{name}.skops", *FAST)
    return folder


@pytest.mark.parametrize("name", ["wine", "patients"])
def test_explain(folder, name):
    table = pd.read_csv(folder / f"{name}.csv").head(6)
    table.to_csv(folder / "few.csv", index=False)
    run("explain", folder / f"{name}.skops", folder / "few.csv", "-o", folder / "why.csv")
    why = pd.read_csv(folder / "why.csv")
    model = kl.load(folder / f"{name}.skops")
    rows = model.encode(table)
    found, told = model.estimator_.shapley(rows), model.estimator_.explain(rows, n_rows=3)
    assert why["prediction"].astype(str).tolist() == told.labels.astype(str).tolist()
    k = len(model.classes_)
    for i in range(6):
        winner = int(np.searchsorted(model.classes_, told.labels[i]))
        if k == 2:
            own, base = (2 * winner - 1) * found.values[i], (2 * winner - 1) * found.base_values[i]
        else:
            own, base = found.values[i, :, winner], found.base_values[i, winner]
        first = int(np.abs(own).argmax())
        assert why["column_1"][i] == found.feature_names[first]
        np.testing.assert_allclose(why["value_1"][i], own[first], rtol=1e-6)
        np.testing.assert_allclose(why["log_odds"][i], base + own.sum(), rtol=1e-6)
        assert why["training_row_1"][i] == told.indices[i, 0]
        np.testing.assert_allclose(why["share_1"][i], told.shares[i, 0], rtol=1e-6)


def test_forget(folder):
    table = pd.read_csv(folder / "wine.csv")
    table.iloc[[4, 9]].to_csv(folder / "leaving.csv", index=False)
    out, _ = run(
        "forget", folder / "wine.skops", folder / "leaving.csv", "-o", folder / "smaller.skops"
    )
    assert "2 rows forgotten" in out and "smaller.skops" in out
    model, smaller = (kl.load(folder / f"{name}.skops") for name in ("wine", "smaller"))
    rows = model.encode(table)
    expected = model.estimator_.forget([4, 9])
    np.testing.assert_array_equal(
        smaller.estimator_.predict_proba(rows), expected.predict_proba(rows)
    )
    assert len(smaller.labels_) == len(table) - 2 and not hasattr(smaller, "facts_")
    assert not smaller.has_seen(table.iloc[[4, 9]]).any() and smaller.has_seen(table[:4]).all()
    found = json.loads(
        run(
            "forget", folder / "wine.skops", folder / "wine.csv", "--row", "4", "--row", "9",
            "-o", folder / "same.skops", "--json",
        )[0]
    )  # fmt: skip
    assert found["forgotten"] == 2 and found["digest"] == expected.forgotten_.digest


def test_forget_refuses(folder):
    table = pd.read_csv(folder / "wine.csv").head(2)
    table.assign(**{table.columns[0]: 99.0}).to_csv(folder / "strange.csv", index=False)
    words = ["forget", folder / "wine.skops"]
    _, err = run(*words, folder / "strange.csv", "-o", folder / "no.skops", code=3)
    assert "None of the 2 rows" in err and not (folder / "no.skops").exists()
    _, err = run(*words, folder / "strange.csv", "--row", "7", "-o", folder / "no.skops", code=3)
    assert "rows 0 to 1" in err
    other = ["fit", folder / "wine.csv", "-t", "cultivar", "-m", "KernelDiscriminant"]
    run(*other, "-o", folder / "other.skops")
    _, err = run(
        "forget", folder / "other.skops", folder / "wine.csv", "-o", folder / "no.skops", code=3
    )
    assert "KernelRegressor alone" in err


def test_labels_that_are_doubted(folder):
    table = pd.read_csv(folder / "wine.csv")
    labels = sorted(table["cultivar"].unique())
    table.loc[7, "cultivar"] = next(name for name in labels if name != table["cultivar"][7])
    table.to_csv(folder / "wrong.csv", index=False)
    run("fit", folder / "wrong.csv", "-t", "cultivar", "-o", folder / "wrong.skops", *FAST)
    found = json.loads(run("inspect", folder / "wrong.skops", "--labels", "--json")[0])
    assert found["label_issues"][0]["row"] == 7 and len(found["label_issues"]) == 20
    out, _ = run("inspect", folder / "wrong.skops", "--labels")
    assert "suggested" in out and "probability" in out


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("houses")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.uniform(40, 200, 90).round(1),
            "rooms": rng.integers(1, 7, 90),
            "town": rng.choice(["north", "south"], 90),
        }
    )
    price = 1.5 * table["size"] + 9.25 * table["rooms"] + 20 * (table["town"] == "south")
    table["price"] = (price + 5 * rng.standard_normal(90)).round(2)
    table.loc[7, "price"] = 2000.5
    table.to_csv(folder / "houses.csv", index=False)
    run("fit", folder / "houses.csv", "-t", "price", "-o", folder / "houses.skops", *FAST)
    return folder, table


def test_numbers_are_explained(houses):
    folder, table = houses
    run("explain", folder / "houses.skops", folder / "houses.csv", "-o", folder / "why.csv")
    why = pd.read_csv(folder / "why.csv")
    model = kl.load(folder / "houses.skops")
    rows = model.encode(table)
    found, told = model.estimator_.shapley(rows), model.estimator_.explain(rows, n_rows=3)
    np.testing.assert_allclose(why["prediction"], model.estimator_.predict(rows), rtol=1e-6)
    L = found.base_values + found.values.sum(axis=1)
    np.testing.assert_allclose(why["before_bounds"], L, rtol=1e-6)
    first = np.abs(found.values).argmax(axis=1)
    assert why["column_1"].tolist() == [found.feature_names[c] for c in first]
    np.testing.assert_array_equal(why["training_row_3"], told.indices[:, 2])


def test_values_that_are_doubted(houses):
    folder, _ = houses
    out, _ = run("inspect", folder / "houses.skops", "--labels")
    assert "2000.5" in out and "suggested" in out
    found = json.loads(run("inspect", folder / "houses.skops", "--labels", "--json")[0])
    assert found["label_issues"][0]["row"] == 7


def test_numbers_are_forgotten(houses):
    folder, table = houses
    table.iloc[[7, 9]].to_csv(folder / "leaving.csv", index=False)
    words = ["forget", folder / "houses.skops", folder / "leaving.csv"]
    out, _ = run(*words, "-o", folder / "smaller.skops")
    assert "2 rows forgotten" in out and "logarithm" in out
    model, smaller = (kl.load(folder / f"{name}.skops") for name in ("houses", "smaller"))
    rows, expected = model.encode(table), model.estimator_.forget([7, 9])
    np.testing.assert_array_equal(smaller.estimator_.predict(rows), expected.predict(rows))
    assert not smaller.has_seen(table.iloc[[7, 9]]).any() and smaller.has_seen(table[:4]).all()
