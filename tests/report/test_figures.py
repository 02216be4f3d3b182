"""The report's figures by hand: intervals, calibration, surprising rows, digits, pictures."""

import re
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

pytest.importorskip("matplotlib")

from kernel_learn.report import charts
from kernel_learn.report import facts as found_facts
from kernel_learn.report.charts import draw_charts
from kernel_learn.report.facts import (
    calibration,
    columns_to_show,
    evaluate_probabilities,
    find_certificate,
    find_importance,
    find_surprising,
    independent_rows,
    is_certain,
    wilson,
)
from kernel_learn.report.page import (
    format_cell,
    percent,
    surprising_rows,
    thousands,
)
from kernel_learn.report.placing import is_collapsed, place_new_rows, points_of
from kernel_learn.tables.deciding import decision_curve, two_class_figures


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("n", [1, 7, 15.5, 400])
@pytest.mark.parametrize("z", [1.0, 1.96])
def test_ends_of_wilson_s_interval_are_the_shares_that_just_allow_what_was_seen(share, n, z):
    """|share - p| = z sqrt(p (1 - p) / n) at both ends p."""
    low, high = wilson(share, n, z)
    for end, inside in ((low, share > 0), (high, share < 1)):
        assert 0 <= end <= 1
        reach = z * np.sqrt(end * (1 - end) / n)
        assert abs(share - end) == pytest.approx(reach, abs=1e-12) or not inside
    assert low <= share <= high
    assert (low == 0) == (share == 0) and (high == 1) == (share == 1)


def test_wilson_s_interval_is_that_of_95_percent():
    assert wilson(0.3, 40) == wilson(0.3, 40, 1.96)


def test_rows_of_unequal_groups_by_a_double_loop():
    """n_eff = p (1 - p) / var(mean), the covariance of rows of one group taken as it is."""
    right = np.array([1, 1, 1, 0, 1, 0, 0, 1, 1, 0], dtype=bool)
    groups = np.array(["b", "b", "b", "a", "a", "c", "c", "c", "c", "d"])
    p, total = right.mean(), 0.0
    for i, own in enumerate(groups):
        for j, other in enumerate(groups):
            if own == other:
                total += (right[i] - p) * (right[j] - p)
    assert independent_rows(right, groups) == pytest.approx(p * (1 - p) * 10**2 / total)
    # of rows that are all right, or all wrong, as an ensemble counts groups for its interval
    counted = pytest.approx(10**2 / (3**2 + 2**2 + 4**2 + 1**2))
    assert independent_rows(np.ones(10, dtype=bool), groups) == counted
    assert independent_rows(np.zeros(10, dtype=bool), groups) == counted


@pytest.mark.parametrize(
    ("n", "counts"),
    [(5, [5]), (29, [29]), (30, [15, 15]), (100, [17] * 4 + [16] * 2), (119, [17] * 7),
     (120, [15] * 8), (1000, [125] * 8)],
)  # fmt: skip
def test_parts_of_the_calibration_are_equal_and_not_too_small(n, counts):
    p = np.linspace(0.5, 1.0, n)
    bins = calibration(np.column_stack([1 - p, p]), p > 0.7)
    assert [one["count"] for one in bins] == counts


def test_calibration_by_hand():
    """40 rows in two parts: what was said and what was right are each part's own."""
    p = np.tile([0.9, 0.6], 20)
    right = np.tile([True, True, True, False], 10)  # at 0.9 all, at 0.6 every other
    low, high = calibration(np.column_stack([1 - p, p]), right)
    assert (low["said"], low["right"], low["count"]) == (pytest.approx(0.6), 0.5, 20)
    assert (high["said"], high["right"], high["count"]) == (pytest.approx(0.9), 1.0, 20)
    assert (low["low"], low["high"]) == wilson(0.5, 20)
    assert (high["low"], high["high"]) == wilson(1.0, 20)


def test_calibration_is_of_the_likeliest_class_whatever_the_threshold():
    p = np.tile([0.9, 0.6], 20)
    P, labels = np.column_stack([1 - p, p]), np.ones(40, dtype=int)
    found = evaluate_probabilities(P, labels, "", said=(p >= 0.7).astype(int))
    assert found["accuracy"] == 0.5
    assert [one["right"] for one in found["calibration"]] == [1.0, 1.0]


def test_predictions_without_probabilities_are_told_from_sure_ones():
    assert is_certain(np.eye(3)[[0, 2, 1]])
    assert not is_certain(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert not is_certain(np.array([[1.0, 0.0], [1 - 1e-9, 1e-9]]))


def surprised(P, labels, monkeypatch):
    near = np.tile([0, 1], (len(P), 1)), np.tile([0.9, 0.8], (len(P), 1))
    monkeypatch.setattr(found_facts, "find_neighbours", lambda *_: near)
    model = SimpleNamespace(labels_=np.array(labels), estimator_=None)
    return find_surprising(model, None, P, P.argmax(axis=1))


def test_without_probabilities_all_errors_surprise_and_nothing_else(monkeypatch):
    labels = np.array([0, 1, 1, 0, 2])
    found = surprised(np.eye(3)[[0, 2, 1, 1, 2]], labels, monkeypatch)
    assert [(one["row"], one["truth"], one["said"]) for one in found] == [(1, 1, 2), (3, 0, 1)]
    assert [one["p_truth"] for one in found] == [None, None]
    assert surprised(np.eye(3)[labels], labels, monkeypatch) == []


def test_without_probabilities_at_most_ten_errors_are_shown(monkeypatch):
    found = surprised(np.eye(2)[np.ones(15, dtype=int)], np.zeros(15, dtype=int), monkeypatch)
    assert [one["row"] for one in found] == list(range(10))


def test_with_probabilities_the_least_likely_rows_come_first(monkeypatch):
    P = np.array([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1], [0.0, 1.0]])
    found = surprised(P, [0, 0, 1, 1], monkeypatch)
    assert [(one["row"], one["p_truth"]) for one in found] == [(2, 0.1), (1, 0.4), (0, 0.8), (3, 1)]
    assert [one["said"] for one in found] == [0, 1, 0, 1]
    assert found[0]["neighbours"][1] == {"row": 1, "label": 0, "alike": 0.8}


def shown_rows(*cases):
    rows = [
        {"row": i, "truth": 0, "said": said, "p_truth": p, "neighbours": []}
        for i, (said, p) in enumerate(cases)
    ]
    return [
        one["row"] for one in surprising_rows({"classes": ["a", "b"], "surprising": rows}, None)
    ]


def test_rows_that_are_right_and_sure_surprise_nobody():
    assert shown_rows((0, 0.91), (0, 0.9), (0, 0.3)) == [1, 2]


def test_rows_that_are_wrong_are_shown_however_sure_the_model_was():
    assert shown_rows((1, None), (1, 0.0), (1, 0.95)) == [0, 1, 2]


def test_digits():
    assert percent(0.12345) == "12.3\u00a0%" and percent(0.125, 0) == "12\u00a0%"
    assert percent(None) == ""
    assert thousands(1234567) == "1\u202f234\u202f567" and thousands(999.6) == "1\u202f000"
    assert format_cell(1234.5678) == "1235" and format_cell(float("nan")) == "missing"
    assert format_cell("x" * 40) == "x" * 40 and len(format_cell("x" * 41)) == 40
    place, *_ = points_of(np.array([[0.123456, -1.0]]), np.array([2]), np.array([7]))
    assert place == [0.1235, -1.0, 2, 7]


class Solved(BaseEstimator):
    """Has been fitted, with a history."""

    def fit(self, X=None, y=None):
        self.history_ = [{"value": 3.0, "lower": 1.0}, {"value": 2.0}]
        self.gap_ = 0.0
        return self


def test_a_gap_of_zero_is_said_and_what_is_not_known_is_none():
    found = find_certificate(SimpleNamespace(estimator_=Solved().fit()))
    assert found["gap"] == 0.0 and found["objective"] is None
    assert found["lines"] == {"value": [3.0, 2.0], "lower bound": [1.0, None]}
    assert found["gaps"] == [pytest.approx(2 / 3), None] and found["steps"] == 2
    kernel = SimpleNamespace(estimator_=Solved().fit())
    kernel.estimator_.history_ = []
    assert find_certificate(kernel) is None


def test_of_many_columns_the_most_relevant_are_kept_the_first_first():
    estimator = Solved().fit()
    estimator.scales_ = np.array([0.5, -2.0, *np.full(70, 0.25), 1.0])
    found = find_importance(SimpleNamespace(estimator_=estimator))
    names = [one["name"] for one in found["relevance"]]
    assert names == ["x1", "x72", "x0", *(f"x{i}" for i in range(2, 59))]
    assert found["relevance"][0] == {"name": "x1", "value": 2.0, "spread": None}
    assert found["n_relevance"] == 73 and "members" not in found and "weights" not in found


def test_of_a_wide_table_half_of_the_columns_shown_may_be_left_out_ones():
    names = [f"x{i}" for i in range(100)]
    estimator = Solved().fit()
    estimator.scales_ = np.arange(100.0)  # the last ones are the most relevant
    columns = SimpleNamespace(leaks={"x5": 1.0})
    model = SimpleNamespace(estimator_=estimator, columns_=columns)
    left_out = dict.fromkeys(names[:50], "constant, left out")
    assert columns_to_show(names, left_out, model) == [*names[:30], *names[70:]]
    few = dict.fromkeys(names[:2], "constant, left out")
    assert columns_to_show(names, few, model) == [*names[:2], "x5", *names[43:]]
    assert columns_to_show(names[:60], left_out, model) == names[:60]


def test_new_rows_are_placed_at_the_scale_of_the_old_ones():
    old = {"held_out": {"centre": [0.1, -0.1], "axes": [[1.0, 0.0]]}, "scale": 2.0}
    P = np.array([[0.8, 0.2], [0.5, 0.5]])
    found = place_new_rows(None, old, None, P, np.array([1, 0]), np.array([7, 9]))
    expected = [[(np.log(4) / 2 - 0.1) / 2, 1, 7], [-0.05, 0, 9]]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def marks(picture):
    """Places and words of the marks of a picture."""
    found = re.findall(r'<use x="([\d.]+)" y="([\d.]+)" [^>]*data-t="([^"]*)"', picture)
    return np.array([[float(x), float(y)] for x, y, _ in found]), [words for *_, words in found]


def words(picture):
    return re.findall(r">([^<>]+)</text>", picture)


def draw(**facts):
    return draw_charts(facts, facts.pop("leaderboard", None))


def test_pictures_are_drawn_of_what_there_is():
    assert set(draw(embedding=None, importance={}).values()) == {None}


def test_rows_stand_at_their_features_with_number_and_class():
    rng = np.random.default_rng(0)
    F, labels = rng.normal(size=(30, 2)), np.arange(30) % 3
    points = [[*F[i].tolist(), int(labels[i]), 100 + i] for i in range(20)]
    new = [[*F[i].tolist(), int(labels[i]), i] for i in range(20, 30)]
    old = {"points": points, "names": ["<a>", "b", "c"], "dimensions": 2}
    places, texts = marks(
        draw(embedding=old, new_rows={"points": new, "calibration": []})["embedding"]
    )
    number = [int(re.findall(r"\d+", text)[0]) for text in texts]
    row = [n - 100 if n >= 100 else n for n in number]
    names = np.array(["&lt;a&gt;", "b", "c"])[labels]
    assert texts == [
        f"row {n}: {names[i]}" if n >= 100 else f"new row {n}: {names[i]}"
        for n, i in zip(number, row, strict=True)
    ]
    assert sorted(row) == list(range(30))
    for axis, sign in ((0, 1), (1, -1)):
        line = np.polyfit(F[row, axis], places[:, axis], 1)
        assert sign * line[0] > 0
        np.testing.assert_allclose(np.polyval(line, F[row, axis]), places[:, axis], atol=0.02)


def test_one_feature_is_drawn_in_strips_in_the_order_of_the_classes():
    names, points = ["right", "left"], [[0.1 * i, i % 2, i] for i in range(6)]
    old = {"points": points, "names": names, "dimensions": 1, "held_out": {"axes": []}}
    picture = draw(embedding=old)["embedding"]
    places, texts = marks(picture)
    assert texts == [f"row {i}: {names[i % 2]}" for i in (0, 2, 4, 1, 3, 5)]
    assert places[:3, 1].max() < places[3:, 1].min()
    assert {"left", "right", "held-out log ratio"} <= set(words(picture))
    assert "learned feature" not in picture


def test_bars_have_their_figures_and_long_names_are_behind_themselves():
    long = "a column whose name is longer than the room for it"
    relevance = [
        {"name": long, "value": 0.5, "spread": 0.1},
        {"name": "b", "value": 0.25, "spread": 0},
    ]
    members = [{"name": f"member {i}", "value": 0.0625} for i in range(12)]
    weights = [{"name": "gaussian_1", "value": 0.123456}]
    found = draw(importance={"relevance": relevance, "members": members, "weights": weights})
    assert {"50.0 %", "25.0 %", "b"} <= set(words(found["relevance"]))
    assert re.findall('data-t="([^"]*)"', found["relevance"]) == [long]
    assert words(found["members"]).count("6.2 %") == 10 and "member 10" not in found["members"]
    assert "0.123" in words(found["weights"])


def test_calibration_and_methods_say_their_figures():
    bins = [{"said": 0.914, "right": 0.8, "low": 0.6, "high": 0.9, "count": 17}]
    row = {"method": "SVC", "accuracy": 0.9, "low": 0.8124, "high": 0.95}
    board = {"rows": [row, row | {"method": "majority class"}, row | {"accuracy": None}]}
    found = draw(held_out={"calibration": bins}, leaderboard=board)
    assert marks(found["calibration"])[1] == ["said 91 %, right in 80 % of 17 rows"]
    assert marks(found["leaderboard"])[1] == ["SVC: 90.0 % (81.2 to 95.0 %)"]
    later = [dict(bins[0], count=3)]
    found = draw(held_out={"calibration": bins}, new_rows={"calibration": later})
    assert marks(found["calibration"])[1] == ["said 91 %, right in 80 % of 3 rows"]


def test_a_certificate_shows_its_gap_or_its_values():
    lines = {"value": [4.0, 2.0, None], "lower bound": [1.0, 1.0, 1.5]}
    proven = {"lines": lines, "gaps": [0.75, 0.5, 0.25], "steps": 3}
    picture = draw(certificate=proven)["certificate"]
    assert marks(picture)[1] == ["step 1: 0.75", "step 2: 0.5", "step 3: 0.25"]
    assert "certified relative gap" in words(picture)
    unproven = {"lines": {"value": [3.0, 2.5]}, "gaps": [], "steps": 2}
    picture = draw(certificate=unproven)["certificate"]
    assert marks(picture)[1] == ["step 1: 3", "step 2: 2.5"]
    places = marks(picture)[0]
    assert places[0, 1] < places[1, 1]  # larger values stand above


def test_every_colour_of_a_picture_is_in_every_scheme():
    style = files("kernel_learn.report").joinpath("style.css").read_text(encoding="utf-8")
    schemes = [
        set(re.findall(r"(--\w+):", part)) for part in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(schemes) == 3  # light, dark, print
    for names in schemes:
        assert {*(f"--c{i}" for i in range(7)), "--soft", "--ink", "--line"} <= names


def test_areas_below_the_curves_are_the_figures_that_are_said(monkeypatch):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.3
    p = np.round(np.clip(0.3 * y + rng.random(80), 0, 1), 1)  # many rows with one probability
    P = np.column_stack([1 - p, p])
    point = two_class_figures(P, y.astype(int), positive=1)
    point |= {"curve": decision_curve(p, y), "name": "sick"}
    monkeypatch.setattr(charts, "draw_picture", lambda draw, *_: draw)
    areas = {}
    for name, draw in (("roc", charts.draw_roc), ("precision", charts.draw_precision)):
        figure, ax = plt.subplots()
        draw(name, point)(ax)
        x, height = ax.lines[1].get_data()
        steps = ax.lines[1].get_drawstyle()
        heights = height[1:] if steps == "steps-pre" else (height[1:] + height[:-1]) / 2
        areas[name] = np.sum(np.diff(x) * heights), steps
        plt.close(figure)
    assert areas["roc"] == (pytest.approx(point["auc"], abs=1e-4), "default")
    assert areas["precision"] == (pytest.approx(point["average_precision"], abs=1e-4), "steps-pre")


def test_where_nothing_is_said_there_is_no_point_of_precision(monkeypatch):
    import matplotlib.pyplot as plt

    point = {"recall": 0.0, "precision": None, "share": 0.4, "threshold": 0.9, "name": "sick"}
    point |= {"found": 0, "positives": 4, "false_alarms": 0, "negatives": 6}
    point |= {"average_precision": 0.5, "curve": [[0.5, 0.0, 0.5, 1.0], [0.1, 1.0, 1.0, 0.4]]}
    monkeypatch.setattr(charts, "draw_picture", lambda draw, *_: draw)
    figure, ax = plt.subplots()
    charts.draw_precision("precision", point)(ax)
    assert np.ma.is_masked(ax.collections[-1].get_offsets()[0, 1])
    plt.close(figure)


def test_rows_in_one_place_are_no_picture():
    """Of thousands of columns all learned features may be nothing."""
    same = {"points": [[0.0, i % 2, i] for i in range(6)], "dimensions": 1}
    apart = {"points": [[i / 6, i % 2, i] for i in range(6)], "dimensions": 1}
    assert is_collapsed(same) and not is_collapsed(apart)
