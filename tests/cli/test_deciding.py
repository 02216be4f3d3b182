"""Thresholds and costs of two uneven classes, and the figures of new rows on the terminal."""

import json
import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
testing = pytest.importorskip("typer.testing")

from scipy import stats  # noqa: E402

import kernel_learn as kl  # noqa: E402
from cli.transcript import unfolded  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402
from kernel_learn.cli.deciding import show_decision  # noqa: E402
from kernel_learn.ensemble.assessment import VARIANCE_FACTOR  # noqa: E402
from kernel_learn.report.verdict import compare_shares, together  # noqa: E402
from kernel_learn.tables.deciding import many_class_figures  # noqa: E402

FAST = ["--set", "quality=fast", "--set", "max_members=2"]


def run(*words, code=0):
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout, unfolded(done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deciding")
    rng = np.random.default_rng(1)
    fraud = rng.random(500) < 0.08
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, 500) * (1 + 2 * fraud),
            "hour": rng.integers(0, 24, 500),
            "y": np.where(fraud, "fraud", "fine"),
        }
    )
    frame[:300].to_csv(folder / "t.csv", index=False)
    frame[300:].to_csv(folder / "new.csv", index=False)
    frame.iloc[300:].assign(y=lambda t: t["y"].sample(frac=1, random_state=0).to_numpy()).to_csv(
        folder / "shuffled.csv", index=False
    )
    return folder


def fit(folder, *words, name="m.skops"):
    out, _ = run("fit", folder / "t.csv", "-t", "y", "-o", folder / name, *FAST, *words)
    return " ".join(out.split())


def test_cost_finds_a_threshold_that_predict_uses(folder):
    plain, dear = fit(folder, name="plain.skops"), fit(folder, "--cost", "fp=1,fn=20")
    assert "'fraud' is predicted from a probability of 0.5:" in plain and "AUC 0." in dear
    model = kl.load(folder / "m.skops")
    assert 0 < model.threshold_ < 0.3 and model.classes_[model.positive_] == "fraud"
    new = pd.read_csv(folder / "new.csv")
    words = ["predict", folder / "m.skops", folder / "new.csv", "--proba", "-o", folder / "p.csv"]
    run(*words)
    found = pd.read_csv(folder / "p.csv")
    expected = np.where(found["p(fraud)"] >= model.threshold_, "fraud", "fine")
    np.testing.assert_array_equal(found["prediction"], expected)
    np.testing.assert_array_equal(model.predict(new), expected)
    before = kl.load(folder / "plain.skops").predict(new)
    assert np.sum(expected == "fraud") > np.sum(before == "fraud")
    run(*words, "--threshold", "0.9")
    assert (pd.read_csv(folder / "p.csv")["prediction"] == "fraud").sum() <= np.sum(
        before == "fraud"
    )


def test_the_threshold_of_least_cost_is_that_of_held_out_rows(folder):
    out, _ = run(
        "fit", folder / "t.csv", "-t", "y", "-o", folder / "j.skops", *FAST,
        "--cost", "fp=1,fn=20", "--json",
    )  # fmt: skip
    decision = json.loads(out)["decision"]
    model = kl.load(folder / "j.skops")
    P = getattr(model.estimator_, "held_out_proba_", model.estimator_.loo_proba_)
    p, y = P[:, model.positive_], model.labels_ == model.positive_
    assert decision["threshold"] == model.threshold_
    cost = decision["false_alarms"] + 20 * (decision["positives"] - decision["found"])
    assert cost == np.sum((p >= model.threshold_) & ~y) + 20 * np.sum((p < model.threshold_) & y)
    for t in np.linspace(0.01, 0.99, 50):
        assert cost <= np.sum((p >= t) & ~y) + 20 * np.sum((p < t) & y)


def test_all_figures_of_a_fit_are_at_its_threshold(folder):
    words = ["fit", folder / "t.csv", "-t", "y", "-o", folder / "e.skops", *FAST]
    words += ["--cost", "fp=1,fn=20", "--report", folder / "e.html"]
    values = json.loads(run(*words, "--json")[0])
    decision, model = values["decision"], kl.load(folder / "e.skops")
    P = model.estimator_.held_out_proba_
    wrong = np.sum(model.decide(P) != model.labels_)
    assert wrong == decision["positives"] - decision["found"] + decision["false_alarms"]
    assert values["error"] == pytest.approx(wrong / 300)
    assert values["accuracy"] == pytest.approx(1 - wrong / 300)
    n = 300 / VARIANCE_FACTOR  # the fits that held rows out share most of theirs
    expected = stats.beta.ppf(
        [0.025, 0.975], wrong / 300 * n + np.array([0, 1]), (1 - wrong / 300) * n + np.array([1, 0])
    )
    assert values["error_interval"] == pytest.approx(expected)
    assert wrong > np.sum(P.argmax(axis=1) != model.labels_)  # those of 0.5
    said = f"at a threshold of {model.threshold_:.3g}: {100 * wrong / 300:.1f} % (95 %"
    assert f"Error by {values['assessed_by']} {said}" in " ".join(run(*words)[0].split())
    assert f"Error by {values['assessed_by']} {said}" in (folder / "e.html").read_text()
    facts = json.loads(model.facts_)
    assert facts["held_out"]["right"] == 300 - wrong
    decided = model.decide(P)
    assert [one["said"] for one in facts["surprising"]] == [
        decided[one["row"]] for one in facts["surprising"]
    ]
    # bins compare the likeliest class with its probability, whatever the threshold
    bins = facts["held_out"]["calibration"]
    likeliest = np.sum(P.argmax(axis=1) == model.labels_)
    assert sum(own["right"] * own["count"] for own in bins) == pytest.approx(likeliest)


def test_of_many_classes_the_worst_confusions_are_named(capsys):
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(5), 100), rng.integers(0, 5, 100)
    figures = many_class_figures(P, y)
    show_decision(figures, list("abcde"))
    out = " ".join(capsys.readouterr().out.split())
    assert f"among the 3 likeliest for {100 * figures['top_accuracy']:.1f} % of the rows" in out
    a, b, n, of = figures["worst_pairs"][0]
    assert f"{'abcde'[a]!r} for {'abcde'[b]!r} ({n} of {of})" in out


def test_a_threshold_that_is_asked_for(folder):
    assert "from a probability of 0.2:" in fit(folder, "--threshold", "0.2", name="t.skops")
    assert kl.load(folder / "t.skops").threshold_ == 0.2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--threshold", "2"], "between 0 and 1"),
        (["--cost", "fp=1"], "write fp=1,fn=20"),
        (["--cost", "fp=1,fn=2", "--threshold", "0.5"], "leave out --threshold"),
    ],
)
def test_wishes_that_are_none(words, said, folder):
    fit_words = ["fit", folder / "t.csv", "-t", "y", "-o", folder / "no.skops", *words]
    assert said in run(*fit_words, code=3)[1]
    assert not (folder / "no.skops").exists()


def test_thresholds_are_for_two_classes(folder):
    run("example", folder / "wine.csv")
    words = ["fit", folder / "wine.csv", "-t", "cultivar", "-o", folder / "w.skops", *FAST]
    assert "are for two classes, and there are 3" in run(*words, "--threshold", "0.5", code=3)[1]


def test_report_prints_the_figures_of_new_rows(folder):
    fit(folder)
    words = ["report", folder / "m.skops", folder / "new.csv", "-o", folder / "r.html"]
    out = " ".join(run(*words)[0].split())
    assert "New rows: " in out and "the difference is within chance" in out and "Written: " in out
    values = json.loads(run(*words, "--json")[0])
    new = pd.read_csv(folder / "new.csv")
    assert values["accuracy"] == np.mean(kl.load(folder / "m.skops").predict(new) == new["y"])
    assert values["decision"]["positives"] == int((new["y"] == "fraud").sum())


@pytest.mark.parametrize("only", ["fine", "fraud"])
def test_new_rows_of_one_class_have_no_order_to_judge(only, folder):
    fit(folder, name="one.skops")
    new = pd.read_csv(folder / "new.csv")
    new[new["y"] == only].to_csv(folder / "one.csv", index=False)
    words = ["report", folder / "one.skops", folder / "one.csv", "-o", folder / "one.html"]
    out = " ".join(run(*words)[0].split())
    assert f"All rows are {only!r}: AUC and balanced accuracy need rows of both classes." in out
    assert "nan" not in out and "Balanced accuracy" not in out and "by chance 1" not in out
    assert "Balanced accuracy" not in (folder / "one.html").read_text()
    found = json.loads(run(*words, "--json")[0], parse_constant=pytest.fail)["decision"]
    assert (found["auc"], found["average_precision"]) == (None, None)
    assert (found["positive_class"], found["positives"] > 0) == ("fraud", only == "fraud")


def test_what_chance_could_do():
    reach = together((0.86, 0.94), (0.89, 0.95))
    assert reach == pytest.approx(0.05)  # sqrt(.04^2 + .03^2)
    assert "the difference is within chance" in compare_shares(0.90, 0.92, reach)
    text = compare_shares(0.70, 0.92, reach)
    assert text.startswith("92.0 %: new rows are worse by 22.0 points, more than the 5.0 of chance")


def test_new_rows_stand_beside_rows_that_were_held_out(folder):
    """Each figure beside its own; what chance does is by the intervals, not by all rows."""
    fit(folder, name="beside.skops")
    words = ["report", folder / "beside.skops", folder / "new.csv", "-o", folder / "beside.html"]
    out = " ".join(run(*words)[0].split())
    assert re.search(r"AUC 0\.\d{3} \(held out 0\.\d{3}\)", out)
    assert re.search(r"Balanced accuracy \d\d\.\d % \(chance 50\.0\), held out \d\d\.\d %: ", out)
    found = json.loads(run(*words, "--json")[0])
    assert found["held_out_decision"]["positives"] > found["decision"]["positives"] > 0
    assert len(found["beside_held_out"]) == 2
    assert found["beside_held_out"][1] in out


def test_lines_are_eighty_wide(folder):
    out, _ = run("fit", folder / "t.csv", "-t", "y", "-o", folder / "w.skops", *FAST)
    decision = out[out.index("AUC") :]
    assert all(len(line) <= 80 for line in decision.splitlines() if "Written" not in line)


def test_sets_and_novelty_of_new_rows(folder):
    fit(folder, name="sets.skops")
    new = pd.read_csv(folder / "new.csv")
    odd = new.head(3).assign(amount=1e5)
    pd.concat([new, odd]).to_csv(folder / "odd.csv", index=False)
    words = ["predict", folder / "sets.skops", folder / "odd.csv", "-o", folder / "sets.csv"]
    _, told = run(*words, "--coverage", "0.9")
    found = pd.read_csv(folder / "sets.csv")
    assert set(found["set"]) <= {"fine", "fraud", "fine|fraud"}
    inside = [label in own.split("|") for label, own in zip(new["y"], found["set"], strict=False)]
    assert np.mean(inside) > 0.85
    assert (found["novelty"][-3:] <= 0.01).all()
    n = int((found["novelty"] <= 0.01).sum())
    assert f"{n} of 203 rows are unlike any training row" in " ".join(told.split())
    _, refused = run(*words, "--coverage", "2", code=3)
    assert "between 0 and 1" in refused
