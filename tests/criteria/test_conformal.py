"""Sets of classes: indices by hand, coverage by repetition."""

import math
from fractions import Fraction

import numpy as np
import pytest

from kernel_learn.criteria.held_out.conformal import (
    HeldOutScores,
    Thresholds,
    class_thresholds,
    conformal_scores,
    cross_sets,
    least_rows,
    threshold,
)


@pytest.mark.parametrize("n", [1, 4, 8, 9, 10, 14, 19, 20, 99, 100])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_the_index_is_exact(n, coverage):
    """ceil(coverage (n + 1)) in fractions: floats are wrong at n = 4, 9, 14."""
    scores = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    k = math.ceil(Fraction(str(coverage)) * (n + 1))
    found = threshold(scores, np.ones(n), coverage)
    assert found == (k if k <= n else np.inf)


def test_a_weight_is_a_repetition():
    scores, mass = np.array([0.3, 0.1, 0.7, 0.2]), np.array([2.0, 3.0, 1.0, 4.0])
    for coverage in (0.2, 0.5, 0.8, 0.9):
        repeated = np.repeat(scores, mass.astype(int))
        assert threshold(scores, mass, coverage) == threshold(
            repeated, np.ones(len(repeated)), coverage
        )


def test_a_group_counts_one():
    proba = np.tile([0.6, 0.4], (6, 1))
    counts = np.tile([1.0, 0.0], (6, 1))
    held = conformal_scores(proba, counts, [np.array([0, 1, 2]), np.array([3, 4])])
    np.testing.assert_allclose(held.mass, [1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 1.0])
    assert threshold(held.scores, held.mass, 0.75) == pytest.approx(0.4)
    assert np.isinf(threshold(held.scores, held.mass, 0.76))  # three groups and a new one


def test_merged_rows_speak_for_each_of_their_labels():
    held = conformal_scores(np.array([[0.9, 0.1]]), np.array([[2.0, 1.0]]))
    np.testing.assert_allclose(held.scores, [0.1, 0.9])
    np.testing.assert_allclose(held.mass, [2.0, 1.0])


def test_sets_are_never_empty_and_by_class_where_asked():
    held = HeldOutScores(
        np.array([0.1, 0.2, 0.6, 0.7]), np.array([0, 0, 1, 1]), np.ones(4), np.arange(4)
    )
    proba = np.array([[0.85, 0.15], [0.5, 0.5], [0.35, 0.65]])
    one = class_thresholds(held, 2, 0.6, by_class=False)
    np.testing.assert_allclose(one.largest, 0.6)
    np.testing.assert_array_equal(one.sets(proba), [[1, 0], [1, 1], [0, 1]])
    each = class_thresholds(held, 2, 0.6, by_class=True)
    np.testing.assert_allclose(each.largest, [0.2, 0.7])
    np.testing.assert_array_equal(each.sets(proba), [[1, 0], [1, 1], [0, 1]])
    strict = class_thresholds(held, 2, 0.2, by_class=False)
    np.testing.assert_array_equal(strict.sets(proba).sum(axis=1), 1)


def test_coverage_of_exchangeable_rows():
    """Over 400 repetitions of 19 rows and a new one, within binomial error of what is exact."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        scores = rng.exponential(size=20)
        inside += scores[-1] <= threshold(scores[:-1], np.ones(19), 0.8)
    assert abs(inside / 400 - 0.8) < 3 * np.sqrt(0.8 * 0.2 / 400)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_sets_across_folds_by_their_definition(coverage, by_class):
    rng = np.random.default_rng(1)
    n, new, k = 24, 15, 3
    labels, fold = rng.integers(0, k, n), np.arange(n) % 4
    held = HeldOutScores(rng.uniform(size=n), labels, rng.integers(1, 3, n) * 1.0, np.arange(n))
    proba = rng.dirichlet(np.ones(k), size=(4, new))
    found = cross_sets(proba, held, fold, coverage, by_class=by_class)
    for x in range(new):
        for c in range(k):
            rows = [i for i in range(n) if not by_class or labels[i] == c]
            below = sum(held.mass[i] for i in rows if held.scores[i] < 1 - proba[fold[i], x, c])
            total = sum(held.mass[i] for i in rows) + 1
            inside = below < Fraction(str(coverage)) * int(total)
            is_first = proba[:, x].mean(axis=0).argmax() == c
            assert found[x, c] == (inside or is_first)


def test_the_fewest_rows_for_a_coverage():
    for coverage in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.87):
        n = least_rows(coverage)
        assert np.isfinite(threshold(np.zeros(n), np.ones(n), coverage))
        assert np.isinf(threshold(np.zeros(n - 1), np.ones(n - 1), coverage))
    assert least_rows(0.9) == 9


def test_a_row_of_which_the_shares_are_known_excludes_nothing():
    P = np.array([[0.5, 0.3, 0.2], [0.5004, 0.2998, 0.1998], [0.51, 0.29, 0.2]])
    sets = Thresholds(np.full(3, 0.1), np.array([0.5, 0.3, 0.2])).sets(P)
    np.testing.assert_array_equal(sets.sum(axis=1), [3, 3, 1])
    np.testing.assert_array_equal(Thresholds(np.full(3, 0.1)).sets(P).sum(axis=1), 1)


def test_scores_as_large_as_the_threshold_are_in():
    assert Thresholds(np.array([0.5, 0.5])).sets(np.array([[0.5, 0.5]])).all()
    held = HeldOutScores(np.full(9, 0.5), np.arange(9) % 2, np.ones(9), np.arange(9))
    new = np.array([[[0.5, 0.5]], [[0.5, 0.5]]])
    assert cross_sets(new, held, np.arange(9) % 2, 0.5, by_class=False).all()


def test_beside_groups_a_row_alone_counts_one_however_often_it_was_seen():
    counts = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    held = conformal_scores(np.full((3, 2), 0.5), counts, [np.array([0, 1])])
    np.testing.assert_allclose(held.mass, [0.5, 0.5, 2 / 3, 1 / 3])
