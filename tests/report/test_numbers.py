"""Figures, verdict and page of a report on numbers, against formulas written out."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")

from kernel_learn import KernelRegressor  # noqa: E402
from kernel_learn.report import gather_facts, render  # noqa: E402
from kernel_learn.report.number_verdict import judge_values, show  # noqa: E402
from kernel_learn.report.values import (  # noqa: E402
    COVERAGES,
    cut_ranges,
    error_by_range,
    evaluate_values,
    interval_coverage,
    judge_new_values,
    surprise,
)
from kernel_learn.tables import TableModel, look_at_columns  # noqa: E402

EVIL = "<script>alert(1)</script>"
rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
Y = 5 + 3 * FRAME["a"].to_numpy() + rng.normal(size=90)
Y[7] += 30.0


@pytest.fixture(scope="module")
def fitted():
    frame, y = FRAME[:70], Y[:70]
    model = TableModel(KernelRegressor(quality="fast", assess="loo"), target=EVIL)
    model.fit(frame, y, columns=look_at_columns(frame))
    return model, gather_facts(model, frame, y, method="KernelRegressor")


def test_figures_are_those_of_their_formulas():
    said = Y + rng.normal(size=90)
    found = evaluate_values(Y, said, "leave-one-out")
    assert found["rmse"] == pytest.approx(root_mean_squared_error(Y, said))
    assert found["mae"] == pytest.approx(mean_absolute_error(Y, said))
    assert found["r2"] == pytest.approx(r2_score(Y, said))
    assert found["naive_rmse"] == pytest.approx(Y.std())
    for key in ("", "mae_", "r2_"):
        middle = found[key.rstrip("_") or "rmse"]
        assert found[f"{key}low"] < middle < found[f"{key}high"]
    assert found["r2_low"] == pytest.approx(1 - (found["high"] / Y.std()) ** 2)
    wide = evaluate_values(Y, said, "", groups=np.arange(90) // 30)
    assert wide["high"] != pytest.approx(found["high"])


def test_an_interval_of_the_error_holds_it_as_often_as_it_says():
    inside = 0
    for seed in range(200):
        own = np.random.default_rng(seed)
        off = own.normal(size=60)
        found = evaluate_values(off, np.zeros(60), "", factor=1.0)
        inside += found["low"] <= 1.0 <= found["high"]
    assert 181 <= inside <= 200  # 190 expected, standard deviation 3.1


def test_ranges_part_the_rows_and_keep_equal_values_together():
    values = np.r_[np.zeros(30), np.arange(30.0)]
    parts = cut_ranges(values)
    assert sorted(np.concatenate(parts)) == list(range(60))
    assert all(values[a].max() < values[b].min() for a, b in pairwise(parts))
    (own,) = [own for own in error_by_range(Y, Y - 1.0) if own["least"] == Y.min()]
    assert own["bias"] == pytest.approx(-1.0) and own["rmse"] == pytest.approx(1.0)


def test_coverage_counts_values_inside():
    y = np.arange(10.0)
    ends = [np.column_stack([y - h, y + h]) for h in (0.5, 1.5, 2.5, np.inf)]
    found = interval_coverage(ends, y, y + np.array([0.4] * 4 + [1.0] * 3 + [2.0] * 3))
    assert [own["found"] for own in found] == [0.4, 0.7, 1.0]  # infinite ones are not shown
    assert [own["asked"] for own in found] == list(COVERAGES[:3])
    assert [own["width"] for own in found] == [1.0, 3.0, 5.0]
    assert interval_coverage(ends, y, None)[0]["found"] == 1.0


def test_the_row_that_is_wrong_is_named_first(fitted):
    facts = fitted[1]
    assert facts["look_at"][0]["row"] == 7 and facts["look_at"][0]["truth"] == Y[7]
    assert len(facts["look_at"][0]["neighbours"]) == 5
    off = surprise(Y, np.zeros(90), None)
    assert off.argmax() == np.abs(Y).argmax()


def test_verdict(fitted):
    facts = fitted[1]
    signal, quality, following = judge_values(facts, 200)
    assert signal.startswith("There is signal: shuffled values are almost never")
    assert (
        f"off by {show(facts['numbers']['rmse'])} (RMSE" in quality and "always the mean" in quality
    )
    assert following.startswith("Next: ")
    none = {**facts, "numbers": {**facts["numbers"], "p_value": 0.4}}
    assert "look for columns" in judge_values(none, 200)[2]
    ranges = [{**own, "rmse": 1.0} for own in facts["numbers"]["ranges"]]
    ranges[-1]["rmse"] = 9.0
    bad = {**facts, "importance": {}, "numbers": {**facts["numbers"], "ranges": ranges}}
    assert "errors are largest from" in judge_values(bad, 200)[2]
    assert judge_values({}, 200) == []


def test_show_writes_large_numbers_out():
    assert [show(v) for v in (38664.3, 0.0123456, 1234567.0, 5.0)] == [
        "38660",
        "0.01235",
        "1235000",
        "5",
    ]


def test_page(fitted):
    model, facts = fitted
    text = render(facts, frame=FRAME[:70])
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    for words in ("Predicted against true", "Rows to look at", "Are the intervals right?"):
        assert words in text
    assert text.count('class="plane"') >= 6 and text.count("aria-describedby") >= 5
    for name in ("agreement-data", "ranges-data", "coverage-data"):
        assert f'id="{name}"' in text
    new = judge_new_values(model, facts, FRAME, Y)
    assert new["new_numbers"]["n"] == 20 and new["new_numbers"]["seen"] == 70
    page = render(new)
    assert "RMSE on new rows" in page and "70 of the new rows are rows the model was" in page
    assert "new_numbers" not in judge_new_values(model, facts, FRAME[:70], Y[:70])
