"""Thresholds and figures of two classes, beside plain loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, top_k_accuracy_score

pytest.importorskip("pandas")

from kernel_learn.streams.readers import TableError
from kernel_learn.tables.deciding import (
    Costs,
    average_precision,
    decide_between,
    decision_curve,
    least_cost_threshold,
    many_class_figures,
    parse_costs,
    rank_auc,
    two_class_figures,
)


def draw(seed, n=80, share=0.2, digits=2):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    y[:2] = True, False
    return np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0, 1).round(digits), y


@pytest.mark.parametrize("seed", range(20))
def test_auc_and_average_precision_are_the_textbook_ones(seed):
    p, y = draw(seed)
    pairs = [(a > b) + 0.5 * (a == b) for a in p[y] for b in p[~y]]
    assert rank_auc(p, y) == pytest.approx(np.mean(pairs), abs=1e-12)
    assert rank_auc(p, y) == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert average_precision(p, y) == pytest.approx(average_precision_score(y, p), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_curve_is_what_each_threshold_finds(seed):
    p, y = draw(seed)
    curve = decision_curve(p, y)
    assert [step[0] for step in curve] == sorted(set(p.tolist()), reverse=True)
    for threshold, alarms, recall, precision in curve:
        said = p >= threshold
        assert alarms == pytest.approx(np.sum(said & ~y) / np.sum(~y), abs=1e-5)
        assert recall == pytest.approx(np.sum(said & y) / np.sum(y), abs=1e-5)
        assert precision == pytest.approx(np.mean(y[said]), abs=1e-5)
    some = decision_curve(p, y, most=7)
    assert len(some) == 7 and some[0] == curve[0] and some[-1] == curve[-1]
    assert all(step in curve for step in some)


@pytest.mark.parametrize("costs", [Costs(1, 1), Costs(1, 20), Costs(5, 1), Costs(0.1, 0.7)])
@pytest.mark.parametrize("seed", range(10))
def test_no_threshold_costs_less(seed, costs):
    p, y = draw(seed)

    def price(t):
        alarms = sum(1 for a, b in zip(p, y, strict=True) if a >= t and not b)
        missed = sum(1 for a, b in zip(p, y, strict=True) if a < t and b)
        return costs.false_positive * alarms + costs.false_negative * missed

    found = least_cost_threshold(p, y, costs)
    grid = np.concatenate([np.linspace(0, 1.01, 500), p, p + 1e-9])
    assert price(found) <= min(price(t) for t in grid) + 1e-12
    assert 0 < found < 1.01


def test_dear_misses_lower_the_threshold_and_find_more():
    p, y = draw(3, n=400)
    P = np.column_stack([1 - p, p])
    even = two_class_figures(P, y.astype(int))
    dear = two_class_figures(P, y.astype(int), costs=Costs(1, 20))
    assert even["threshold"] == 0.5 and dear["threshold"] < 0.3
    assert dear["found"] > even["found"] and dear["false_alarms"] > even["false_alarms"]
    said = decide_between(P, dear["positive"], dear["threshold"])
    assert int(((said == 1) & y).sum()) == dear["found"]
    asked = two_class_figures(P, y.astype(int), threshold=0.25)
    assert asked["threshold"] == 0.25 and asked["recall"] == np.mean(p[y] >= 0.25)
    assert asked["precision"] == np.mean(y[p >= 0.25])


def test_the_rarer_class_is_the_positive_one():
    P = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    assert two_class_figures(P, np.array([0, 1, 1]))["positive"] == 0
    assert two_class_figures(P, np.array([0, 0, 1]))["positive"] == 1
    assert two_class_figures(P[:2], np.array([0, 1]))["positive"] == 1


def test_many_classes():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(6), 200)
    y = rng.integers(0, 6, 200)
    found = many_class_figures(P, y)
    assert found["top_accuracy"] == pytest.approx(top_k_accuracy_score(y, P, k=3))
    said = P.argmax(axis=1)
    a, b, n, of = found["worst_pairs"][0]
    counts = {(i, j): int(((y == i) & (said == j)).sum()) for i in range(6) for j in range(6)}
    assert n == max(v for (i, j), v in counts.items() if i != j) == counts[a, b]
    assert of == int((y == a).sum())


@pytest.mark.parametrize("text", ["", "fp=1", "fp=1,fn=x", "fp=1,fn=0", "a=1,b=2", "fp=1,fn=inf"])
def test_costs_that_are_none(text):
    with pytest.raises(TableError, match="write fp=1,fn=20"):
        parse_costs(text)


def test_costs_are_read():
    assert parse_costs("fn=20, fp=1") == Costs(1.0, 20.0)
    assert Costs(1, 3).threshold == 0.25
