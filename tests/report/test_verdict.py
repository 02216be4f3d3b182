"""The verdict: what it says of signal, quality and the next step, fact by fact."""

import numpy as np
import pytest

pytest.importorskip("pandas")

from kernel_learn.report.verdict import (
    balanced_interval,
    give_verdict,
    say_signal,
)


def facts(**changes):
    held_out = {
        "p_value": 1 / 201,
        "accuracy": 0.9,
        "low": 0.87,
        "high": 0.93,
        "naive_accuracy": 0.5,
        "naive_class": 0,
        "uneven": False,
        "balanced_accuracy": 0.9,
        "confusion": [[90, 10], [10, 90]],
    }
    found = {"classes": ["fine", "fraud"], "importance": {}, "n_columns": 5, "decision": None}
    found |= {"surprising": []}
    held_out |= {key: value for key, value in changes.items() if key in held_out}
    found |= {key: value for key, value in changes.items() if key not in held_out}
    return {**found, "held_out": held_out}


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (1 / 201, r"There is signal.*\(p < .005\)"),
        (0.008, r"There is signal.*\(p = 0.008\)"),
        (0.03, r"There may be signal.*\(p = 0.030\)"),
        (0.4, r"No signal was found.*\(p = 0.400\)"),
        (None, "was not tested"),
    ],
)
def test_p_is_never_below_what_shuffles_can_show(p, words):
    import re

    assert re.search(words, say_signal(p, 200))


def test_even_classes_are_judged_by_accuracy_beside_the_most_frequent_one():
    _, quality, last = give_verdict(facts(), 200)
    assert quality == (
        "Accuracy on rows that were held out: 90.0 % (95 % interval 87.0 to 93.0); "
        "always 'fine' 50.0 %."
    )
    assert last.startswith("Next: test it on new rows")
    assert "which may be as good" in give_verdict(facts(naive_accuracy=0.88), 200)[1]


def test_uneven_classes_are_judged_by_balanced_accuracy():
    own = facts(uneven=True, balanced_accuracy=0.533, confusion=[[1450, 6], [41, 3]])
    assert "Balanced accuracy on rows that were held out: 53.3 %" in give_verdict(own, 200)[1]
    low, high = balanced_interval(own["held_out"])
    draws = np.random.default_rng(0)
    spread = np.std(
        (draws.binomial(1456, 1450 / 1456, 4000) / 1456 + draws.binomial(44, 3 / 44, 4000) / 44) / 2
    )
    assert (high - low) / 2 == pytest.approx(1.96 * spread, rel=0.2)


PAIRS = {"worst_pairs": [[0, 1, 30, 100]]}
MISSED = {"recall": 3 / 44, "found": 3, "positives": 44, "positive": 1, "threshold": 0.5}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p_value": 0.3}, "look for columns that separate"),
        ({"uneven": True, "decision": MISSED}, "3 of 44 rows of 'fraud' are found; give the cost"),
        (
            {"importance": {"relevance": [{"name": "code", "value": 0.8}]}},
            "column 'code' has 80 % of the relevance",
        ),
        ({"decision": PAIRS}, "30 of 100 rows of 'fine' are taken for 'fraud'"),
        ({"low": 0.8, "high": 0.95}, "more rows; the interval is 15 points wide"),
        ({"surprising": [{"row": 7, "p_truth": 0.01, "truth": 1}]}, "look at row 7 "),
    ],
)
def test_the_next_step_is_the_most_pressing(changes, words):
    assert words in give_verdict(facts(**changes), 200)[2]


def test_a_threshold_that_was_chosen_is_not_asked_for_again():
    own = facts(uneven=True, decision={**MISSED, "threshold": 0.1})
    assert "--cost" not in give_verdict(own, 200)[2]


def test_a_learned_kernel_has_no_verdict():
    assert give_verdict({"held_out": None}, 200) == []
