"""explain, forget and inspect --labels."""

import json
import zipfile

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
    rows, used = model.encode(table), model.columns_.used
    # what comes of a text or a date is called by its column and more, and is one column again
    places = {c: [i for i, own in enumerate(rows.columns) if own.split("_")[0] == c] for c in used}
    places = {c: [rows.columns.get_loc(c)] if c in rows else own for c, own in places.items()}
    assert [i for own in places.values() for i in own] == list(range(rows.shape[1]))
    found = model.estimator_.shapley(rows, column_groups=places)
    told = model.estimator_.explain(rows, n_rows=3)
    assert why["prediction"].astype(str).tolist() == told.labels.astype(str).tolist()
    k = len(model.classes_)
    for i in range(6):
        winner = int(np.searchsorted(model.classes_, told.labels[i]))
        if k == 2:
            own, base = (2 * winner - 1) * found.values[i], (2 * winner - 1) * found.base_values[i]
        else:
            own, base = found.values[i, :, winner], found.base_values[i, winner]
        first = np.argsort(-np.abs(own))[:5]
        assert [why[f"column_{r + 1}"][i] for r in range(5)] == [used[c] for c in first]
        np.testing.assert_allclose(why["value_1"][i], own[first[0]], rtol=1e-6)
        np.testing.assert_allclose(why["log_odds"][i], base + own.sum(), rtol=1e-6)
        assert why["training_row_1"][i] == told.indices[i, 0]
        np.testing.assert_allclose(why["share_1"][i], told.shares[i, 0], rtol=1e-6)
        p = model.predict_proba(table)[i]
        np.testing.assert_allclose(why["probability"][i], p[winner], rtol=1e-6)
        faded = why["prior"][i] + why["fading"][i] * (why["log_odds"][i] - why["prior"][i])
        odds = np.log(p[winner] / p[1 - winner]) if k == 2 else np.log(p[winner]) - np.log(p).mean()
        np.testing.assert_allclose(faded, odds, rtol=1e-5)


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
    assert len(smaller.labels_) == len(table) - 2
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
    faded = why["prior"] + why["fading"] * (why["before_bounds"] - why["prior"])
    np.testing.assert_allclose(faded, why["prediction"], rtol=1e-6)
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


def test_which_rows_of_the_table_were_forgotten_is_told(folder):
    """And how many now, beside how many in all."""
    table = pd.read_csv(folder / "wine.csv")
    some = table.iloc[[4, 9, 11]].copy()
    some.iloc[0, 0] += 1e-3  # no training row any more
    some.loc[9, "cultivar"] = next(
        c for c in table["cultivar"].unique() if c != some["cultivar"][9]
    )
    some.to_csv(folder / "some.csv", index=False)
    table.iloc[[20]].to_csv(folder / "one.csv", index=False)
    run("forget", folder / "wine.skops", folder / "one.csv", "-o", folder / "less.skops")
    words = ["forget", folder / "less.skops", folder / "some.csv", "-o", folder / "least.skops"]
    out = unfolded(run(*words)[0])
    assert "2 training rows equal one of the 3 rows of the table" in out
    assert "1 of these 3 are not among the training rows" in out
    assert "1 of the training rows have another cultivar" in out
    assert "3 rows forgotten in all" in out
    found = json.loads(run(*words, "--json")[0])
    told = [found[key] for key in ("forgotten", "forgotten_in_all", "not_found", "other_label")]
    assert told == [2, 3, 1, 1]


@pytest.mark.parametrize("name", ["wine", "patients"])
def test_a_model_that_forgot_has_figures_of_the_rest(folder, name):
    table = pd.read_csv(folder / f"{name}.csv")
    table.iloc[[4, 9]].to_csv(folder / "leaving.csv", index=False)
    words = ["forget", folder / f"{name}.skops", folder / "leaving.csv"]
    run(*words, "-o", folder / "smaller.skops")
    model, smaller = kl.load(folder / f"{name}.skops"), kl.load(folder / "smaller.skops")
    before, facts = json.loads(model.facts_), json.loads(smaller.facts_)
    assert facts["n_rows"] == before["n_rows"] - 2 == np.sum(facts["counts"])
    confused = np.array(facts["held_out"]["confusion"])
    P = smaller.estimator_.held_out_proba_
    expected = np.zeros_like(confused)
    np.add.at(expected, (smaller.labels_, P.argmax(axis=1)), 1)
    np.testing.assert_array_equal(confused, expected)
    assert facts["held_out"]["accuracy"] == before["held_out"]["accuracy"]  # told of the fit
    quoting = ("surprising", "unlike", "embedding", "look_at")
    assert not any(facts.get(key) for key in quoting)
    assert not any(column["values"] for column in facts["data"])
    out, _ = run("inspect", folder / "smaller.skops")
    assert f"Predicts {smaller.target}" in unfolded(out)
    run("report", folder / "smaller.skops", "-o", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "2 training rows were forgotten" in page
    run("report", folder / "smaller.skops", folder / f"{name}.csv", "-o", folder / "page.html")


def test_a_threshold_is_that_of_the_fit_after_forgetting(folder):
    fit = ["fit", folder / "patients.csv", "-t", "diagnosis", "--threshold", ".3", *FAST]
    run(*fit, "-o", folder / "third.skops")
    words = ["forget", folder / "third.skops", folder / "patients.csv", "--row", "4"]
    run(*words, "-o", folder / "smaller.skops")
    facts = json.loads(kl.load(folder / "smaller.skops").facts_)
    before = json.loads(kl.load(folder / "third.skops").facts_)
    assert facts["decision"]["threshold"] == 0.3
    assert facts["decision"]["positive"] == before["decision"]["positive"]
    own, old = (f["decision"]["positives"] + f["decision"]["negatives"] for f in (facts, before))
    assert own == old - 1 == np.sum(facts["held_out"]["confusion"])


def test_a_model_of_numbers_that_forgot_has_figures_of_the_rest(houses):
    folder, table = houses
    table.assign(price=table["price"].where(table.index != 9, 1.5)).iloc[[7, 9]].to_csv(
        folder / "leaving.csv", index=False
    )
    words = ["forget", folder / "houses.skops", folder / "leaving.csv"]
    out = unfolded(run(*words, "-o", folder / "smaller.skops")[0])
    assert "1 of the training rows have another price" in out
    smaller = kl.load(folder / "smaller.skops")
    found = json.loads(smaller.facts_)["numbers"]
    assert found["n"] == 88 and found["most"] < 2000
    off = table["price"].drop([7, 9]).to_numpy() - smaller.estimator_.held_out_prediction_
    np.testing.assert_allclose(found["mae"], np.abs(off).mean())
    assert "Predicts price" in unfolded(run("inspect", folder / "smaller.skops")[0])
    run("report", folder / "smaller.skops", "-o", folder / "page.html")
    assert "2 training rows were forgotten" in (folder / "page.html").read_text()


@pytest.mark.parametrize("how", [FAST, ["-m", "KernelDiscriminant"]], ids=["auto", "discriminant"])
def test_levels_of_forgotten_rows_are_gone_from_the_file(tmp_path, how):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(60), "town": rng.choice(["north", "south"], 60)})
    table["label"] = np.where(table["x"] + rng.standard_normal(60) > 0, "yes", "no")
    table.loc[7, "town"] = "Anna Meier"
    table["name"] = [f"Person {i:03d}" for i in range(60)]
    table.to_csv(tmp_path / "table.csv", index=False)
    run("fit", tmp_path / "table.csv", "-t", "label", "-o", tmp_path / "all.skops", *how)
    words = ["forget", tmp_path / "all.skops", tmp_path / "table.csv", "--row", "7"]
    run(*words, "-o", tmp_path / "less.skops")
    for name, there in (("all", True), ("less", False)):
        with zipfile.ZipFile(tmp_path / f"{name}.skops") as file:
            held = b"".join(file.read(part) for part in file.namelist())
        assert any("Anna Meier".encode(code) in held for code in ("utf-8", "utf-32-le")) == there
        assert b"north" in held and b"Person 007" not in held.replace(b"\0", b"")
    model, less = (kl.load(tmp_path / f"{name}.skops") for name in ("all", "less"))
    rest, expected = table.drop(index=7), model.estimator_.forget([7])
    np.testing.assert_array_equal(
        less.predict_proba(rest), expected.predict_proba(model.encode(rest))
    )
    assert sorted(json.loads(less.seen_)["levels"]["town"]) == ["north", "south"]
    assert len(less.estimator_.find_rows(less.encode(rest))) == 59


@pytest.fixture(scope="module")
def discriminants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("discriminants")
    for name, target in (("wine", "cultivar"), ("patients", "diagnosis")):
        run("example", folder / f"{name}.csv")
        words = ["fit", folder / f"{name}.csv", "-t", target, "-m", "KernelDiscriminant"]
        run(*words, "-o", folder / f"{name}.skops")
    return folder


@pytest.mark.parametrize("name", ["wine", "patients"])
def test_a_discriminant_explains(discriminants, name):
    """By the columns of the table, whatever they become behind its encoders."""
    folder = discriminants
    table = pd.read_csv(folder / f"{name}.csv").head(6)
    table.to_csv(folder / "few.csv", index=False)
    run("explain", folder / f"{name}.skops", folder / "few.csv", "-o", folder / "why.csv")
    why = pd.read_csv(folder / "why.csv")
    model = kl.load(folder / f"{name}.skops")
    rows, estimator = model.encode(table), model.estimator_
    single, told = estimator.shapley(rows), estimator.explain(rows, n_rows=3)
    k, P = len(model.classes_), estimator.predict_proba(rows)
    assert why["prediction"].tolist() == told.labels.tolist()
    np.testing.assert_array_equal(
        why[["training_row_1", "training_row_3"]], told.indices[:, [0, 2]]
    )
    np.testing.assert_allclose(why["share_2"], told.shares[:, 1], rtol=1e-6)
    names = [f"column_{r}" for r in range(1, 6)]
    assert all(set(why[column]) <= set(model.columns_.used) for column in names)
    groups = {"wine": {c: [i] for i, c in enumerate(table.columns[:-1])}}
    groups["patients"] = {
        "admitted": [2, 3, 4, 5],
        "age": [0],
        "smoker": [6, 7, 8, 9],
        "marker": [1],
        "ward": [10, 11, 12],
        "note": list(range(13, 43)),
    }
    assert model.encoded_places() == groups[name]
    found = estimator.shapley(rows, column_groups=groups[name])
    for i in range(6):
        winner = int(np.searchsorted(model.classes_, told.labels[i]))
        of = (lambda v, w=winner: (2 * w - 1) * v) if k == 2 else (lambda v, w=winner: v[..., w])
        own, total = of(found.values[i]), of(single.base_values[i] + single.values[i].sum(axis=0))
        first = int(np.abs(own).argmax())
        assert why["column_1"][i] == found.feature_names[first]
        np.testing.assert_allclose(why["value_1"][i], own[first], rtol=1e-6)
        np.testing.assert_allclose(why["log_odds"][i], total, rtol=1e-6)
        p = P[i]
        faded = why["prior"][i] + why["fading"][i] * (why["log_odds"][i] - why["prior"][i])
        odds = np.log(p[winner] / p[1 - winner]) if k == 2 else np.log(p[winner]) - np.log(p).mean()
        np.testing.assert_allclose(faded, odds, rtol=1e-5)
        np.testing.assert_allclose(why["probability"][i], p[winner], rtol=1e-6)


@pytest.mark.parametrize("name", ["wine", "patients"])
def test_a_discriminant_forgets(discriminants, name):
    folder = discriminants
    table = pd.read_csv(folder / f"{name}.csv")
    model = kl.load(folder / f"{name}.skops")
    np.testing.assert_array_equal(
        model.estimator_.find_rows(model.encode(table)), np.arange(len(table))
    )
    leaving = table.iloc[[4, 9, 11]].copy()
    number = {"wine": "alcohol", "patients": "age"}[name]
    leaving.loc[11, number] = leaving[number][11] + 1  # no training row any more
    leaving.loc[9, model.target] = next(c for c in model.classes_ if c != leaving[model.target][9])
    leaving.to_csv(folder / "leaving.csv", index=False)
    words = ["forget", folder / f"{name}.skops", folder / "leaving.csv"]
    found = json.loads(run(*words, "-o", folder / "smaller.skops", "--json")[0])
    assert "encoders of the table's columns" in found["kept"][-1]
    expected = model.estimator_.forget([4, 9])
    told = [found[key] for key in ("forgotten", "not_found", "other_label", "digest")]
    assert told == [2, 1, 1, expected.forgotten_.digest] and found["distance"] < 1e-10
    smaller = kl.load(folder / "smaller.skops")
    rows = model.encode(table)
    np.testing.assert_array_equal(smaller.predict_proba(table), expected.predict_proba(rows))
    assert len(smaller.labels_) == len(table) - 2
    assert not smaller.has_seen(table.iloc[[4, 9]]).any() and smaller.has_seen(table[:4]).all()
    before, facts = json.loads(model.facts_), json.loads(smaller.facts_)
    assert facts["n_rows"] == len(table) - 2 == np.sum(facts["held_out"]["confusion"])
    assert facts["held_out"]["accuracy"] == before["held_out"]["accuracy"]  # told of the fit
    assert not any(facts.get(key) for key in ("surprising", "unlike", "embedding"))
    assert f"Predicts {model.target}" in unfolded(run("inspect", folder / "smaller.skops")[0])
    run("report", folder / "smaller.skops", folder / f"{name}.csv", "-o", folder / "page.html")
    assert "2 training rows were forgotten" in (folder / "page.html").read_text()


@pytest.mark.parametrize("name", ["wine", "patients"])
def test_a_discriminant_doubts_labels(discriminants, name):
    path = discriminants / f"{name}.skops"
    found = json.loads(run("inspect", path, "--labels", "--json")[0])["label_issues"]
    expected = kl.load(path).estimator_.label_issues(20)
    assert [(one["row"], one["label"], one["suggested_label"]) for one in found] == [
        (one.row, one.label, one.suggested_label) for one in expected
    ]
    np.testing.assert_allclose([one["value"] for one in found], [one.value for one in expected])


def test_files_without_training_rows_are_refused(discriminants):
    folder = discriminants
    fit = ["fit", folder / "wine.csv", "-t", "cultivar", "-m"]
    run(*fit, "KernelDiscriminant", "--set", "landmarks=30", "-o", folder / "some.skops")
    run(*fit, "HSICSubspace", "-o", folder / "other.skops")
    for name, reason in (("some", "keeps no account of its training rows"), ("other", "alone")):
        path = folder / f"{name}.skops"
        for words in (
            ["explain", path, folder / "wine.csv", "-o", folder / "no.csv"],
            ["forget", path, folder / "wine.csv", "-o", folder / "no.skops"],
            ["inspect", path, "--labels"],
        ):
            assert reason in run(*words, code=3)[1]
    assert not (folder / "no.csv").exists() and not (folder / "no.skops").exists()


def test_an_empty_cell_is_not_the_median_for_forget(tmp_path):
    """Though the estimator sees both alike."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((61, 2)).round(3), columns=["a", "b"])
    table["label"] = np.where(table["a"] + table["b"] > 0, "yes", "no")
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["fit", tmp_path / "table.csv", "-t", "label", "-m", "KernelDiscriminant"]
    run(*words, "-o", tmp_path / "all.skops")
    other = table.iloc[[3]].assign(a=table["a"].median())
    model = kl.load(tmp_path / "all.skops")
    assert model.estimator_.find_rows(model.encode(other)).tolist() == [3]
    other.to_csv(tmp_path / "other.csv", index=False)
    words = ["forget", tmp_path / "all.skops", tmp_path / "other.csv", "-o", tmp_path / "no.skops"]
    assert "None of the 1 rows" in run(*words, code=3)[1]


def test_neighbours_forget_without_figures(discriminants):
    folder = discriminants
    words = ["fit", folder / "wine.csv", "-t", "cultivar", "-m", "KernelDiscriminant"]
    run(*words, "--set", "decision=nearest_neighbor", "-o", folder / "nearest.skops")
    words = ["forget", folder / "nearest.skops", folder / "wine.csv", "--row", "4"]
    assert "carries no figures" in run(*words, "-o", folder / "less.skops")[1]
    assert kl.load(folder / "less.skops").estimator_.forgotten_.n_rows == 1
    _, err = run("inspect", folder / "nearest.skops", "--labels", code=3)
    assert "linear in the features" in err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["categories", "dates"])
def test_tables_without_numbers_are_forgotten_exactly(tmp_path, kind):
    """skrub encodes them in single precision; the model sees double."""
    rng = np.random.default_rng(0)
    if kind == "categories":
        cells = {c: rng.choice(list("abcdef")[: 3 + k], 90) for k, c in enumerate("pqr")}
    else:
        cells = {"day": pd.date_range("2024-01-05", periods=90, freq="37h").strftime("%Y-%m-%d")}
    table = pd.DataFrame(cells)
    score = table.iloc[:, 0].rank() + 20 * rng.standard_normal(90)
    table["label"] = np.where(score > score.median(), "yes", "no")
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["fit", tmp_path / "table.csv", "-t", "label", "-m", "KernelDiscriminant"]
    run(*words, "-o", tmp_path / "all.skops")
    words = ["forget", tmp_path / "all.skops", tmp_path / "table.csv", "--row", "7"]
    found = json.loads(run(*words, "-o", tmp_path / "less.skops", "--json")[0])
    assert found["forgotten"] > 0 and found["distance"] < 1e-10


HOWS = {"auto": FAST, "discriminant": ["-m", "KernelDiscriminant"]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["auto", "auto few", "discriminant", "discriminant few"])
def test_texts_of_forgotten_rows_are_gone_from_the_file(tmp_path, kind):
    """Encoders keep parts of words, of which words can be put together; of few texts all."""
    rng, n = np.random.default_rng(0), 24 if "few" in kind else 60
    words = ["aaa"] if "few" in kind else ["pain", "head", "cold", "warm", "left"]
    table = pd.DataFrame({"x": rng.standard_normal(n)})
    table["label"] = np.where(table["x"] + 0.5 * rng.standard_normal(n) > 0, "yes", "no")
    table["note"] = [" ".join(rng.choice(words, 4 + i % 5)) + "a" * (i // 2) for i in range(n)]
    table.loc[7, "note"], table.loc[8, "note"] = "pain of Quixotel", "pain of Zephyrin"
    table.to_csv(tmp_path / "table.csv", index=False)
    more = ["--types", "note=text", "-t", "label", "-o", tmp_path / "all.skops"]
    run("fit", tmp_path / "table.csv", *more, *HOWS[kind.split()[0]])
    before = np.asarray(kl.load(tmp_path / "all.skops").encode(table))
    forget = ["forget", tmp_path / "all.skops", tmp_path / "table.csv"]
    run(*forget, "--row", "7", "-o", tmp_path / "one.skops")
    run(*forget, "--row", "7", "--row", "8", "-o", tmp_path / "both.skops")
    parts = {7: ["quix", "uixo", "otel"], 8: ["zeph", "phyr", "yrin"]}
    for name, gone in (("all", []), ("one", [7]), ("both", [7, 8])):
        with zipfile.ZipFile(tmp_path / f"{name}.skops") as file:
            told = b"".join(map(file.read, file.namelist())).replace(b"\0", b"").lower()
        for row, own in parts.items():
            assert [part.encode() in told for part in own] == [row not in gone] * 3
        if kind == "auto":
            assert (b'" of "' in told) == (name != "both")
        model, left = kl.load(tmp_path / f"{name}.skops"), np.setdiff1d(np.arange(n), gone)
        rows = model.encode(table.iloc[left])
        np.testing.assert_array_equal(np.asarray(rows), before[left])
        assert len(model.estimator_.find_rows(rows)) == len(left)
        assert model.predict(table).shape == (n,)
