"""Held-out answers: what chose the members is no error, and weights count in all figures."""

import re

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")

import kernel_learn as kl  # noqa: E402
from kernel_learn.ensemble.summary import CHOSE, NOT_ASSESSED  # noqa: E402
from kernel_learn.report import gather_facts, judge_new_rows, render  # noqa: E402
from kernel_learn.report.facts import headline_words  # noqa: E402
from kernel_learn.report.held_out import HeldOutAnswers, is_assessed, own_answers, weight_of  # noqa: E402
from kernel_learn.report.page import verdict_of  # noqa: E402
from kernel_learn.report.values import judge_new_values  # noqa: E402
from kernel_learn.tables import TableModel, look_at_columns  # noqa: E402

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
NUMBERS = FRAME["a"].to_numpy() + FRAME["b"].to_numpy() + rng.normal(size=90)
CLASSES = np.where(NUMBERS > 0, "yes", "no")
FAST = {"quality": "fast", "max_members": 3}
KINDS = [(kl.KernelClassifier, CLASSES), (kl.KernelRegressor, NUMBERS)]
# Figures that nothing but an error by rows that chose nothing may stand beside.
FIGURES = [
    "Error by",
    "RMSE by",
    "model that had not seen it",
    "Balanced accuracy",
    "Log loss",
    "Mean absolute",
    "share explained",
]


def fitted(estimator, y, assess):
    model = TableModel(estimator(**FAST, assess=assess), target="y")
    model.fit(FRAME[:60], y[:60], columns=look_at_columns(FRAME[:60]))
    name = type(model.estimator_).__name__
    return model, gather_facts(model, FRAME[:60], y[:60], method=name)


def words_of(page):
    text = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", page)
    return " ".join(re.sub(r"<[^>]+>", " ", text).replace("&#34;", '"').split())


@pytest.mark.parametrize(("estimator", "y"), KINDS)
@pytest.mark.parametrize(
    ("assess", "words"),
    [("nested", "nested cross-validation"), ("loo", "leave-one-out"), (False, CHOSE)],
)
def test_how_answers_came_about(estimator, y, assess, words):
    model = TableModel(estimator(**FAST, assess=assess), target="y")
    model.fit(FRAME[:40], y[:40], columns=look_at_columns(FRAME[:40]))
    found = own_answers(model, None)
    assert (found.words, found.assessed) == (words, bool(assess)) and found.weight is None
    in_groups = own_answers(model, np.arange(40))
    assert in_groups.words == words.replace("leave-one", "leave-one-group")
    others = own_answers(model, None, found.said, "7 test rows")
    assert (others.words, others.assessed) == ("7 test rows", True)


def test_others_have_answers_if_somebody_gives_them():
    model = TableModel(kl.KernelDiscriminant(), encoding="full", target="y")
    model.fit(FRAME[:40], CLASSES[:40], columns=look_at_columns(FRAME[:40]))
    assert own_answers(model, None) is None
    P = np.full((40, 2), 0.5)
    assert own_answers(model, None, P) == HeldOutAnswers(P, "leave-one-out")


@pytest.mark.parametrize(("estimator", "y"), KINDS)
def test_nothing_is_told_as_an_error_that_was_not_assessed(estimator, y):
    model, facts = fitted(estimator, y, False)
    found = facts.get("held_out") or facts["numbers"]
    assert not is_assessed(found) and found["kind"] == CHOSE
    _, quality, following = verdict_of({"numbers": None, **facts, "importance": {}})
    assert quality == f"{NOT_ASSESSED}." and 'fit with assess="nested"' in following
    text = words_of(render(facts))
    assert text.count(NOT_ASSESSED) == 3  # in the lead, the verdict and the figures
    assert not [word for word in FIGURES if word in text]
    # pictures of held-out rows stay, each with what its rows did
    assert text.count(f"By {CHOSE}: new rows are told less well.") >= 3
    assert model.estimator_.summary_.splitlines()[1] == f"{NOT_ASSESSED}."
    if "held_out" in facts:
        assert headline_words(found) == NOT_ASSESSED


@pytest.mark.parametrize(("estimator", "y"), KINDS)
def test_figures_of_new_rows_are_told_and_stand_beside_nothing(estimator, y):
    model, facts = fitted(estimator, y, False)
    judge = judge_new_values if "numbers" in facts else judge_new_rows
    judged = judge(model, facts, FRAME[60:], y[60:])
    text = words_of(render(judged))
    assert "RMSE on new rows" in text or "Accuracy on new rows" in text
    assert f"By {CHOSE}: new rows are told" not in text and "Held out in training" not in text
    if "new_rows" in judged:
        (sentence,) = verdict_of({"numbers": None, **judged})
        assert sentence.startswith("In training the error was not assessed")


@pytest.mark.parametrize(("estimator", "y"), KINDS)
def test_what_was_assessed_stands_where_it_stood(estimator, y):
    _, facts = fitted(estimator, y, "loo")
    text = words_of(render(facts))
    assert NOT_ASSESSED not in text and "new rows are told less well" not in text
    assert text.count("by leave-one-out") + text.count("By leave-one-out") >= 3


def test_weights_are_those_of_the_fit():
    weight = rng.exponential(size=40)
    model = kl.KernelClassifier(**FAST, assess=False)
    assert weight_of(model.fit(FRAME[:40], CLASSES[:40]), 40) is None  # all rows count alike
    assert weight_of(kl.KernelDiscriminant().fit(FRAME[:40], CLASSES[:40]), 40) is None
    own = weight_of(model.fit(FRAME[:40], CLASSES[:40], sample_weight=weight), 40)
    np.testing.assert_allclose(own / own.sum(), weight / weight.sum())
    assert weight_of(model, 39) is None
    balanced = kl.KernelClassifier(**FAST, assess=False, class_weight="balanced")
    own = weight_of(balanced.fit(FRAME[:40], CLASSES[:40]), 40)
    sums = [own[CLASSES[:40] == name].sum() for name in ("no", "yes")]
    assert sums[0] == pytest.approx(sums[1])


def test_a_report_of_weighted_rows_agrees_with_itself():
    weight = rng.exponential(size=90) ** 2
    model = kl.KernelClassifier(**FAST).fit(FRAME, CLASSES, sample_weight=weight)
    text = words_of(kl.report(model, FRAME, CLASSES).html).replace("\u00a0", " ")
    right = model.held_out_proba_.argmax(axis=1) == (CLASSES == "yes")
    assert f"{right.sum()} were right; with their weights that is" in text
    share = f"{100 * np.average(right, weights=weight):.1f} %"
    assert f"with their weights that is {share}." in text
    assert f"{100 * model.error_:.1f} %" in text
    always = max(np.average(name == CLASSES, weights=weight) for name in ("no", "yes"))
    assert f"would be right in {100 * always:.1f} %" in text
    loss, low, high = map(
        float, re.search(r"Log loss ([\d.]+) ([\d.]+) to ([\d.]+)", text).groups()
    )
    assert low <= loss <= high and loss == pytest.approx(model.log_loss_, abs=5e-4)
    losses = -np.log(model.held_out_proba_[np.arange(90), (CLASSES == "yes").astype(int)])
    w = weight / weight.sum()
    n = 1 / np.sum(w**2)
    reach = 1.96 * np.sqrt(w @ (losses - w @ losses) ** 2 / (n - 1))
    assert high - loss == pytest.approx(reach, abs=1e-3)


def test_a_report_of_weighted_numbers_agrees_with_itself():
    weight = np.r_[rng.exponential(size=59) ** 2, 0.0]
    model = kl.KernelRegressor(**FAST, assess="loo")
    model.fit(FRAME[:60], NUMBERS[:60], sample_weight=weight)
    text = words_of(kl.report(model, FRAME[:60], NUMBERS[:60]).html)
    off = np.abs(model.held_out_prediction_ - NUMBERS[:60])
    shown = float(re.search(r"Mean absolute error ([\d.]+)", text)[1])
    assert shown == pytest.approx(np.average(off, weights=weight), rel=1e-3)
    mean = np.average(NUMBERS[:60], weights=weight)
    variance = np.average((NUMBERS[:60] - mean) ** 2, weights=weight)
    r2 = float(re.search(r"share explained (-?[\d.]+)", text)[1])
    assert r2 == pytest.approx(1 - model.error_**2 / variance, abs=1e-3)
