"""Pairs: planted thresholds, held-out distances, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale

import kernel_learn as kl
from extras import optional
from kernel_learn.constraints import Pairs
from kernel_learn.fitting.pairs import choose_threshold

pd = optional("pandas")

X, Y = load_wine(return_X_y=True)
X = scale(X)
RNG = np.random.default_rng(0)
PAIRS = np.array([RNG.choice(120, 2, replace=False) for _ in range(150)])
ORDER = RNG.permutation(178)
X, Y = X[ORDER], Y[ORDER]
SAME = Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]]
NEW = RNG.integers(120, 178, size=(300, 2))
SAME_NEW = Y[NEW[:, 0]] == Y[NEW[:, 1]]


def test_planted_thresholds():
    d = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    same = np.array([1, 1, 0, 1, 0, 0, 0], dtype=bool)
    # right answers: 4, 5, 6, 5, 6, 5, 4, 3 with 0, 1, ... pairs called the same; 6 first at 2
    assert choose_threshold(d, same, "accuracy") == 2.5
    # F1: 0, 1/2, 4/5, 4/6, 6/7, ...
    assert choose_threshold(d, same, "f1") == 4.5
    # of four different pairs none, one, two are called the same
    assert choose_threshold(d, same, 0.2) == 2.5
    assert choose_threshold(d, same, 0.25) == 4.5
    assert choose_threshold(d, same, 0.6) == 5.5
    shuffled = np.random.default_rng(0).permutation(7)
    assert choose_threshold(d[shuffled], same[shuffled], "f1") == 4.5


def test_equal_distances_go_together():
    d = np.array([0.0, 0.0, 1.0, 1.0])
    same = np.array([True, False, True, False])
    assert choose_threshold(d, same, "f1") > 1  # all of them: 2/3, as much as any other
    assert 0 < choose_threshold(d, same, "accuracy") < 1
    assert choose_threshold(d, same, 0.01) == 0.0  # the rate cannot be met: only 0 is the same
    assert choose_threshold(np.array([1.0, 2.0]), np.array([False, True]), "accuracy") == 0.5


@pytest.mark.parametrize("rule", ["accuracy", "f1", 0.05])
def test_against_all_thresholds(rule):
    rng = np.random.default_rng(1)
    d, same = rng.uniform(size=80), rng.uniform(size=80) < 0.4
    t = choose_threshold(d, same, rule)
    cuts = np.append(0.0, np.sort(d))

    def value(cut):
        said = d <= cut
        if rule == "accuracy":
            return np.mean(said == same)
        if rule == "f1":
            return 2 * np.sum(said & same) / (np.sum(said) + np.sum(same))
        return np.sum(said & same) if np.mean(said[~same]) <= rule else -1

    assert value(t) == pytest.approx(max(value(cut) for cut in cuts))


def test_predicts_pairs_of_new_rows():
    model = kl.PairClassifier(kl.InductiveKernel()).fit(X, PAIRS, SAME)
    A, B = X[NEW[:, 0]], X[NEW[:, 1]]
    assert model.score(A, B, SAME_NEW) > 0.8 > 0.1 + np.mean(~SAME_NEW)
    d = np.diagonal(model.learner_.distance(A, B))
    np.testing.assert_allclose(model.decision_function(A, B), model.threshold_ - d, atol=1e-9)
    said = model.predict(A, B)
    assert said.dtype == bool
    np.testing.assert_array_equal(said, d <= model.threshold_)
    np.testing.assert_array_equal(said, model.predict(B, A))
    assert model.n_features_in_ == 13
    assert model.held_out_accuracy_ == pytest.approx(
        np.mean((model.held_out_distances_ <= model.threshold_) == SAME)
    )


def test_the_threshold_is_of_pairs_left_out():
    """The kernel of all pairs puts them on their sides; it must not choose its own threshold."""
    model = kl.PairClassifier(kl.InductiveKernel(slack=100.0), cv=3).fit(X, PAIRS, SAME)
    part = np.empty(len(SAME), dtype=int)
    for kind in (SAME, ~SAME):
        part[kind] = np.arange(kind.sum()) % 3
    inside, outside = part != 1, part == 1
    learner = kl.InductiveKernel(slack=100.0).fit(
        X, constraints=Pairs(PAIRS[inside][SAME[inside]], PAIRS[inside][~SAME[inside]])
    )
    expected = np.diagonal(learner.distance(X[PAIRS[outside, 0]], X[PAIRS[outside, 1]]))
    np.testing.assert_allclose(model.held_out_distances_[outside], expected, atol=1e-8)
    fitted = np.diagonal(model.learner_.distance(X[PAIRS[:, 0]], X[PAIRS[:, 1]]))
    assert np.abs(fitted - model.held_out_distances_).max() > 1e-2


def test_the_rules_change_the_threshold():
    thresholds = [
        kl.PairClassifier(threshold=rule).fit(X, PAIRS, SAME).threshold_
        for rule in (0.01, "accuracy", 0.5)
    ]
    assert thresholds[0] < thresholds[1] < thresholds[2]
    strict = kl.PairClassifier(threshold=0.02).fit(X, PAIRS, SAME)
    wrong = strict.held_out_distances_[~SAME] <= strict.threshold_
    assert wrong.mean() <= 0.02


def test_rows_of_other_kinds():
    expected = kl.PairClassifier().fit(X, PAIRS, SAME).decision_function(X[:9], X[9:18])
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(13)])
    model = kl.PairClassifier().fit(frame, PAIRS, SAME)
    np.testing.assert_allclose(model.decision_function(frame[:9], frame[9:18]), expected, atol=1e-9)
    assert list(model.feature_names_in_) == list(frame.columns)
    model = kl.PairClassifier().fit(sparse.coo_matrix(X), PAIRS, SAME)
    np.testing.assert_allclose(model.decision_function(X[:9], X[9:18]), expected, atol=1e-6)
    model = kl.PairClassifier().fit(X.tolist(), PAIRS.tolist(), SAME.tolist())
    np.testing.assert_allclose(
        model.decision_function(X[:9].tolist(), X[9:18].tolist()), expected, atol=1e-9
    )
    words = ["aab", "aba", "abb", "xyz", "yzx", "xzy"]
    pairs = [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    model = kl.PairClassifier(kl.InductiveKernel("spectrum"))
    model.fit(words, pairs, [True] * 4 + [False] * 3)
    assert model.decision_function(["aab", "xyz"], ["aab", "aba"]).argmax() == 0


def test_clones_and_parameters():
    model = kl.PairClassifier(kl.InductiveKernel(slack=2.0), "f1")
    assert model.get_params()["learner__slack"] == 2.0
    copy = clone(model.fit(X, PAIRS, SAME)).set_params(learner__slack=3.0)
    assert model.learner.slack == 2.0 and copy.learner.slack == 3.0
    assert not hasattr(copy, "learner_") and not hasattr(model.learner, "kernel_")
    with pytest.raises(NotFittedError):
        copy.predict(X[:2], X[:2])


@pytest.mark.parametrize(
    ("options", "pairs", "same", "match"),
    [
        ({}, PAIRS[:, :1], SAME, "n_pairs, 2"),
        ({}, PAIRS + 0.5, SAME, "n_pairs, 2"),
        ({}, PAIRS + 100, SAME, "X has 178 rows"),
        ({}, PAIRS, SAME[:-1], "for each of the 150 pairs"),
        ({}, PAIRS, 2 * SAME - 1, "True or False"),
        ({}, PAIRS, np.ones(150, bool), "two of each kind"),
        ({}, np.append(PAIRS, [[3, 3]], 0), np.append(SAME, False), "differs from itself"),
        ({"threshold": 1.5}, PAIRS, SAME, "between 0 and 1"),
        ({"threshold": "auc"}, PAIRS, SAME, "threshold must be"),
        ({"cv": 1}, PAIRS, SAME, "at least 2"),
        ({"learner": kl.KernelNCA()}, PAIRS, SAME, "a learner that takes constraints"),
    ],
)
def test_what_is_refused(options, pairs, same, match):
    model = kl.PairClassifier(**options)
    with pytest.raises(ValueError, match=match):
        model.fit(X, pairs, same)
    assert not hasattr(model, "threshold_")


def test_a_row_beside_itself_says_nothing():
    expected = kl.PairClassifier().fit(X, PAIRS, SAME)
    model = kl.PairClassifier().fit(X, np.append(PAIRS, [[3, 3]], 0), np.append(SAME, True))
    assert model.threshold_ == expected.threshold_
    assert model.held_out_accuracy_ == expected.held_out_accuracy_
    assert len(model.held_out_distances_) == 151


def test_sides_of_different_length():
    model = kl.PairClassifier().fit(X, PAIRS, SAME)
    with pytest.raises(ValueError, match="a pair has one each"):
        model.predict(X[:3], X[:2])
