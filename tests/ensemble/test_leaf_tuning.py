"""Kernels compared in some leaves: which these are, and one lam for all of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import leaf_tuning, leaves
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.leaf_tuning import tune_on_leaves
from kernel_learn.ensemble.leaves import averaged, divide_leaves, tuning_rounds
from kernel_learn.ensemble.outcomes.kinds import ClassOutcome
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import Gaussian

APART, CLOSE = np.arange(10), np.arange(10, 20)


def one_by_one(leaves):
    return [[rows] for rows in leaves]


@pytest.fixture
def sample():
    """Ten rows so far apart that K = I, and ten at two places with tr(G) / N = 0.009.

    For K = I it is 0.9, and 1 - H_ii = 0.9 lam / (1 + lam); of the others it is above 0.8.
    """
    step = np.sqrt(-np.log(1 - 2 * 0.009))
    X = np.r_[100.0 * np.arange(10), 1e4 + step * (np.arange(10) % 2)][:, None]
    labels = np.arange(20) // 2 % 2
    return Sample({"z": X, "flat": 0 * X}, Targets(np.eye(2)[labels]), {}, {}, np.arange(20) % 5)


@pytest.fixture
def alike(monkeypatch):
    """All regularisers are as good as each other: the smallest that may be used is chosen."""

    def fit(self, scores, targets, folds):
        return SimpleNamespace(loss=0.0, said=SimpleNamespace(held=targets.Y))

    monkeypatch.setattr(ClassOutcome, "fit", fit)


@pytest.mark.parametrize(
    ("leaves", "unit", "reg"),
    [
        ([APART], 0.9, 10**-4.5),  # 0.81 reg is above 1e-5
        ([APART, CLOSE], 0.9, 10**-4.5),  # what one leaf forbids no other allows
        ([CLOSE], 0.009, 1e-6),
        ([CLOSE, APART], 0.009, 10**-2.5),  # lam is that of the first: 0.81 * 0.01 reg
    ],
)
def test_no_row_of_any_leaf_stands_alone(leaves, unit, reg, sample, alike):
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    (chosen,) = tune_on_leaves(sample, [candidate], one_by_one(leaves), 1)
    assert chosen.reg == pytest.approx(reg)
    assert chosen.lam == pytest.approx(reg * unit)


def test_kernels_to_which_all_rows_of_a_leaf_look_the_same_are_left_out(sample, alike):
    flat, own = (Candidate(view, "rbf").on_rows(Gaussian(1.0)) for view in ("flat", "z"))
    chosen = tune_on_leaves(sample, [flat, own], one_by_one([APART, CLOSE]), 2)
    assert [one.candidate for one in chosen] == [own]


def test_only_lam_near_the_best_of_the_first_leaf_is_tried_in_others(sample, alike, monkeypatch):
    """And all values where the other leaf forbids these."""
    path, solves, tried = leaf_tuning.RidgePath.held_out, leaf_tuning.RidgeSolves.held_out, []
    for way, own in ((leaf_tuning.RidgePath, path), (leaf_tuning.RidgeSolves, solves)):
        monkeypatch.setattr(
            way, "held_out", lambda self, regs, own=own: tried.append(len(regs)) or own(self, regs)
        )
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    tune_on_leaves(sample, [candidate], one_by_one([APART, APART, APART]), 1)
    assert tried[0] == len(leaf_tuning.RIDGE_REGS) and max(tried[1:]) <= 3
    tried.clear()
    tune_on_leaves(sample, [candidate], one_by_one([CLOSE, APART]), 1)
    assert tried[-2:] == [len(leaf_tuning.RIDGE_REGS)] * 2


@pytest.mark.parametrize(("best_of_three", "third"), [(2, (7, 9)), (1, (6, 8)), (0, (6, 7))])
def test_larger_leaves_are_tried_at_smaller_lam(best_of_three, third, sample, alike, monkeypatch):
    """The best value of the first round, and two below; then of these the best and one below."""
    regs, solves = leaf_tuning.RIDGE_REGS, leaf_tuning.RidgeSolves.held_out
    asked = []

    def judged(scores, *_):
        best = {len(regs): 8, 3: best_of_three}.get(len(scores), 0)
        return np.abs(np.arange(len(scores)) - best), np.empty(0)

    monkeypatch.setattr(leaf_tuning, "_judged", judged)
    monkeypatch.setattr(
        leaf_tuning.RidgeSolves,
        "held_out",
        lambda self, own: asked.append(own) or solves(self, own),
    )
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    (chosen,) = tune_on_leaves(sample, [candidate], one_by_one([APART] * 4), 1)
    rounds = [(6, 9), third, third]
    assert [own.tolist() for own in asked] == [regs[slice(*own)].tolist() for own in rounds]
    assert chosen.reg == regs[third[0]]


@pytest.fixture
def tried(monkeypatch):
    """How many kernels are fitted in each leaf."""
    fits, counts = leaf_tuning._fits, []

    def counted(sample, candidates, going, rows, n_regs):
        counts.append(len(going))
        return fits(sample, candidates, going, rows, n_regs)

    monkeypatch.setattr(leaf_tuning, "_fits", counted)
    return counts


NINE = [Candidate("z", "rbf", g).on_rows(Gaussian(g)) for g in np.linspace(1, 2, 9)]


def test_two_thirds_of_the_kernels_go_on_to_the_next_leaf(sample, alike, tried):
    tune_on_leaves(sample, NINE, one_by_one([APART, CLOSE, CLOSE, APART]), 3)
    assert tried == [9, 6, 4, 3]  # as many as are kept at the least


def test_kernels_that_are_surely_worse_do_not_go_on(sample, alike, tried, monkeypatch):
    """Whatever their number, but for as many as were asked for; parts of a leaf do not decide."""
    monkeypatch.setattr(ClassOutcome, "weigh", lambda self, held, targets: np.eye(len(held))[0])
    chosen = tune_on_leaves(sample, NINE, one_by_one([APART, CLOSE, CLOSE, APART]), 6, least=2)
    assert tried == [9, 6, 2, 2]
    assert [one.candidate for one in chosen] == NINE[:2]


def test_surely_worse_is_told_by_what_kernels_say_of_the_same_rows(sample):
    """The second is as often better as worse than the first, the third nearly always worse."""
    right = sample.targets.Y[APART]
    first, second = np.full((2, 10), 0.8)
    second[::2], second[1::2] = 0.9, 0.7
    third = np.full(10, 0.5)
    third[0] = 0.81
    held = {
        t: right * own[:, None] + (1 - right) * (1 - own[:, None])
        for t, own in enumerate((first, second, third))
    }
    kept = [leaf_tuning.not_surely_worse([0, 1, 2], held, sample, APART, n) for n in (1, 2, 3)]
    assert kept == [[0, 1], [0, 1], [0, 1, 2]]


def test_a_kernel_goes_on_that_is_best_for_one_of_several_targets(sample, monkeypatch):
    weights = np.array([[0.99, 0.5], [0.01, 0.5], [0.0, 0.0]])
    monkeypatch.setattr(ClassOutcome, "weigh", lambda self, held, targets: weights)
    held = dict.fromkeys(range(3), np.empty((10, 2)))
    assert leaf_tuning.not_surely_worse([0, 1, 2], held, sample, APART, 1) == [0, 1]


def test_in_the_end_the_first_leaf_counts_as_a_whole(sample, alike, monkeypatch):
    judge, judged = leaf_tuning._judged, []

    def recorded(scores, safe, sample, rows):
        judged.append((scores.shape[1], rows.tolist()))
        return judge(scores, safe, sample, rows)

    monkeypatch.setattr(leaf_tuning, "_judged", recorded)
    candidate = Candidate("z", "rbf").on_rows(Gaussian(1.0))
    tune_on_leaves(sample, [candidate], [[APART[:5], APART[5:]], [CLOSE], [APART]], 1)
    first, second = APART.tolist(), CLOSE.tolist()
    assert judged == [(10, first), (20, first + second), (20, second + first)]


@pytest.mark.parametrize(
    ("n", "for_scales", "for_kernels"),
    [
        (1, [0], [0]),  # one leaf serves both
        (2, [0], [1]),
        (7, [0, 6], [1, 2, 3, 4, 5]),
        (20, [0, 6, 12, 19], [1, 4, 8, 11, 15, 18]),
    ],
)
def test_scales_and_kernels_are_found_in_other_leaves(n, for_scales, for_kernels):
    given = [np.array([i]) for i in range(n)]
    found = [[int(rows[0]) for rows in part] for part in divide_leaves(given, False)]
    assert found == [for_scales, for_kernels]
    nothing, (middle,) = divide_leaves(given, True)
    assert nothing == [] and middle is given[n // 2]


def test_only_the_first_leaf_is_looked_at_in_parts(sample, monkeypatch):
    """Cut in two along the rows until parts are small; then as a whole, as an only leaf is."""
    monkeypatch.setattr(leaves, "FIRST_LOOK_ROWS", 12)
    mixed = np.random.default_rng(0).permutation(20)
    (first, second), *whole = tuning_rounds(sample, ("z", None), [mixed, APART])
    assert {tuple(np.sort(first)), tuple(np.sort(second))} == {tuple(APART), tuple(CLOSE)}
    assert whole == [[APART], [mixed]]
    assert tuning_rounds(sample, ("z", None), [mixed]) == [[mixed]]


def test_probabilities_are_the_mean_over_the_trees():
    summed = 4 * np.array([[0.25, 0.75], [0.5, 0.5]])
    one = CrossValidated(Candidate("z", "rbf"), 0.1, 9.0, summed)
    found = averaged(one, 4, Targets(np.array([[1.0, 0.0], [0.0, 3.0]])))
    np.testing.assert_array_equal(found.held, summed / 4)
    assert found.loss == pytest.approx((np.log(4) + 3 * np.log(2)) / 4)
