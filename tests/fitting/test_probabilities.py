"""Probabilities by scores of rows left out: who learns, who is scored, which factor is found."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.stacking import softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.probabilities import (
    choose_rule,
    class_logits,
    fit_sharpness,
    held_out_in_folds,
)


def targets_of(labels):
    return Targets(np.eye(int(labels.max()) + 1)[labels])


def test_every_row_is_scored_once_by_others():
    labels = np.arange(60) % 3
    learned = []

    def score_fold(inside, outside):
        assert not set(inside) & set(outside) and len(inside) + len(outside) == 60
        learned.append(len(inside))
        return outside[:, None]

    rows, scores = held_out_in_folds(targets_of(labels), score_fold)
    assert sorted(rows) == list(range(60)) and learned == [48] * 5
    np.testing.assert_array_equal(scores[:, 0], rows)  # each row beside its own score


def test_the_only_row_of_a_class_always_learns():
    labels = np.r_[np.arange(40) % 2, 2]

    def score_fold(inside, outside):
        assert 40 in inside
        return np.zeros((len(outside), 3))

    rows, _ = held_out_in_folds(targets_of(labels), score_fold)
    assert sorted(rows) == list(range(40))


def test_of_many_rows_some_are_scored_each_class_in_its_share():
    labels = (np.arange(3000) % 10 == 0).astype(int)
    rows, _ = held_out_in_folds(
        targets_of(labels), lambda inside, outside: np.zeros((len(outside), 1)), 200
    )
    assert 190 <= len(rows) <= 210 and 0.08 < labels[rows].mean() < 0.12


@pytest.mark.parametrize("k", [2, 4])
def test_the_factor_that_was_planted_is_found(k, rng):
    """Labels drawn by softmax(3 s), of one machine where there are two classes."""
    scores = rng.normal(size=(4000, 1 if k == 2 else k))
    P = softmax(3.0 * class_logits(scores))
    labels = np.array([rng.choice(k, p=p) for p in P])
    found = fit_sharpness(targets_of(labels), lambda inside, outside: scores[outside], 4000)
    assert found.factor == pytest.approx(3.0, rel=0.15)


def test_one_machine_speaks_for_the_second_class():
    expected = [[0.0, 2.0], [0.0, -1.0]]
    assert class_logits(np.array([2.0, -1.0])).tolist() == expected
    assert class_logits(np.array([[2.0], [-1.0]])).tolist() == expected


@pytest.mark.parametrize("better", [0, 1])
def test_the_rule_of_less_loss_is_chosen(better, rng):
    labels = np.arange(200) % 2
    rules = [rng.normal(size=(200, 2)), 2.0 * np.eye(2)[labels] + 0.1 * rng.normal(size=(200, 2))]
    both = np.hstack(rules if better else rules[::-1])
    rule, found = choose_rule(targets_of(labels), lambda inside, outside: both[outside])
    assert rule == better and found.factor > 1.0


def test_where_no_row_can_be_left_out():
    alone = targets_of(np.arange(3))
    rule, found = choose_rule(alone, None)
    assert fit_sharpness(alone, None).factor == 1.0 and (rule, found.factor) == (0, 1.0)
