"""Which candidates go on, and at which widths."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import screening
from kernel_learn.ensemble.candidates import Candidate, CrossValidated, narrower
from kernel_learn.ensemble.clock import Clock
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.leaf_tuning import leaf_candidates, narrowed, tune_on_leaves
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import Combination, Gaussian, Linear
from kernel_learn.kernels.shared import pair_median


def found(*candidates):
    return [CrossValidated(one, 0.1, 0.0, np.empty((0, 2))) for one in candidates]


@pytest.fixture
def sample(rng):
    X = rng.normal(size=(80, 2))
    targets = Targets(np.eye(2)[(X[:, 0] > 0).astype(int)])
    return Sample({"z": X, "q": X**3}, targets, {}, {}, np.arange(80) % 5)


def test_survivors_have_a_twentieth_of_the_heaviest_weight(monkeypatch):
    weights = np.array([0.4, 0.0201, 0.0199, 0.3, 0.0])
    monkeypatch.setattr(screening, "weigh", lambda found, targets: weights)
    tried = found(*(Candidate("z", "rbf", width) for width in range(5)))
    targets = Targets(np.eye(2))
    widths = [one.candidate.width for one in screening.survivors(tried, targets, 8)]
    assert widths == [0, 3, 1]
    assert [one.candidate.width for one in screening.survivors(tried, targets, 2)] == [0, 3]
    assert screening.survivors([], targets, 8) == []


def test_regularisers_are_tried_around_the_one_that_was_best():
    (one,) = found(Candidate("z", "lin"))
    (path,) = screening.near_regs([one]).values()
    np.testing.assert_allclose(path, [0.1 / np.sqrt(10), 0.1, 0.1 * np.sqrt(10)])


def test_narrower_kin_are_tried_at_the_same_regularisers(sample, monkeypatch):
    asked = []

    def cross_validate(some, tried, paths, go_on, n_jobs):
        asked.append((some.targets.n, tried, paths))
        return [], {}

    monkeypatch.setattr(screening, "cross_validate", cross_validate)
    problem = SimpleNamespace(
        clock=Clock(), plan=SimpleNamespace(narrow_rows=40), say=lambda text: None, n_jobs=None
    )
    wide, flat = Candidate("z", "rbf", 3.0), Candidate("z", "lin")
    assert screening.try_narrower(problem, sample, found(wide, flat)) == []
    ((n, tried, paths),) = asked
    assert n == 40 and tried == [wide, flat, Candidate("z", "rbf", 1.0)]
    for path in paths.values():
        np.testing.assert_allclose(path, [0.1 / np.sqrt(10), 0.1, 0.1 * np.sqrt(10)])


@pytest.mark.parametrize(("above", "goes_on"), [(79, True), (80, False)])
def test_of_many_rows_a_kernel_on_scaled_columns_is_tried(above, goes_on, sample, monkeypatch):
    """The best of them, if few rows spoke for none; more rows then choose."""
    plain = found(*(Candidate("z", "rbf", width) for width in (1.0, 3.0)))
    scaled = found(*(Candidate(view, "exp", 1.0, learned=True) for view in "zq"))
    monkeypatch.setattr(screening, "NARROW_ABOVE", above)
    monkeypatch.setattr(screening, "cross_validate", lambda *_: ([*plain, *scaled], {}))
    monkeypatch.setattr(
        screening,
        "weigh",
        lambda tried, _: np.array([not t.candidate.learned for t in tried], dtype=float),
    )
    problem = SimpleNamespace(
        clock=Clock(),
        plan=SimpleNamespace(screen_rows=40),
        quality=SimpleNamespace(keep=8),
        candidates=[],
        say=lambda text: None,
        n_jobs=None,
    )
    kept, _ = screening.screen(problem, sample)
    assert kept == plain[::-1] + scaled[:1] * goes_on


def test_of_many_rows_the_lightest_keep_their_regulariser():
    kept = found(*(Candidate("z", "rbf", width) for width in range(8)))

    def counts(n):
        paths = screening.refit_regs(kept, SimpleNamespace(n=n))
        return [len(paths[one.candidate]) for one in kept]

    assert counts(2000) == 8 * [3]
    assert counts(3000) == 4 * [3] + 4 * [1]
    assert counts(6000) == 8 * [1]


def test_narrower_is_a_third_of_the_width():
    candidate = Candidate("z", "rbf", 3.0).on_rows(Gaussian(1.0))
    assert narrower(candidate) == Candidate("z", "rbf", 1.0)
    assert narrower(candidate).kernel is None  # which belongs to the width


def test_each_family_is_tried_at_three_widths(sample):
    """Relative to the median of squared distances of the rows asked for, scaled."""
    rows, scales = np.arange(0, 80, 2), np.array([1.0, 3.0])
    own = {"z": ColumnScales(scales, scales)}
    sums = Candidate("q", "groups", 1.0, loss="combined").on_rows(Combination([Linear()], [1.0]))
    tried = [Candidate("z", "rbf", 3.0, learned=True), Candidate("q", "lin"), sums]
    widths = list(narrowed(sample, tried, own, rows))
    assert [one.family for one in widths] == ["rbf", "rbf", "rbf", "lin", "groups"]
    assert [one.width for one in widths[:3]] == [3.0, 1.0, pytest.approx(1 / 3)]
    Z = sample.views["z"][rows] * scales
    D2 = ((Z[:, None] - Z) ** 2).sum(axis=2)
    median = pair_median(D2, np.ones(40))
    for one in widths[:3]:
        assert one.kernel.gamma == pytest.approx(1 / (one.width * median))
        assert one.scales is scales
    assert widths[3].scales is None and widths[4].kernel is sums.kernel


def test_of_a_family_the_narrowest_stands_for_it():
    kept = found(
        Candidate("z", "rbf", 3.0),
        Candidate("z", "rbf", 1.0),
        Candidate("z", "rbf", 1.0, learned=True),
        *(Candidate(view, "lin") for view in "qucabd"),
    )
    tried = [Candidate("z", "lap", 3.0, learned=True), Candidate("z", "poly", 3.0, learned=True)]
    names = [str(one) for one in leaf_candidates(kept, tried)]
    # four without scales were asked for, and laplacians on scaled columns are tried in any case
    assert names == ["z: rbf1", "q: lin", "u: lin", "z scaled: rbf1", "z scaled: lap3"]


def test_two_widths_of_a_family_go_on(sample):
    wide = [Candidate("z", "rbf", w).on_rows(Gaussian(1 / w)) for w in (0.5, 1.0, 2.0, 4.0)]
    other = Candidate("q", "rbf", 1.0).on_rows(Gaussian(1.0))
    leaves = [[rows] for rows in np.array_split(np.arange(80), 2)]
    chosen = tune_on_leaves(sample, [*wide, other], leaves, 5)
    assert sum(one.candidate.view == "z" for one in chosen) == 2
    assert sum(one.candidate.view == "q" for one in chosen) == 1
    losses = [one.loss for one in chosen]
    assert losses == sorted(losses)
    assert {one.candidate.view for one in tune_on_leaves(sample, [*wide, other], leaves, 5, 1)} == {
        chosen[0].candidate.view
    }


class TestTime:
    def test_rows_within_are_those_that_the_price_allows(self):
        clock = Clock(budget=10.0)
        clock.__dict__["per_cube"] = 4e-11
        n = clock.rows_within(2.0, 3.0, 5000)
        assert clock.seconds(3.0, n) <= 2.0 < clock.seconds(3.0, n + 1)
        assert clock.rows_within(0.0, 3.0, 5000) == 100 and clock.rows_within(1e9, 3.0, 700) == 700
        one = Candidate("z", "rbf", 1.0)
        assert clock.cost(one, 3000) == pytest.approx(1.3 * 4e-11 * (3000**3 + 1000 * 3000**2))

    @pytest.mark.slow
    def test_half_of_the_time_makes_a_good_model(self, monkeypatch):
        """More time never makes fewer members; measured in processor time."""
        monkeypatch.setattr("kernel_learn.ensemble.clock.now", time.process_time)
        X, y = make_classification(5200, 20, n_informative=8, random_state=0)
        found, whole = {}, np.inf
        for share in (None, 0.3, 0.5, 3.0):
            budget = None if share is None else share * whole
            start = time.process_time()
            model = KernelClassifier(assess="loo", time_budget=budget).fit(X[:2200], y[:2200])
            spent = time.process_time() - start
            whole = spent if share is None else whole
            assert share is None or spent < 1.3 * budget
            found[share] = (1 - model.score(X[2200:], y[2200:]), len(model.members_))
        assert found[0.5][0] < 1.3 * found[None][0] and found[3.0][1] == found[None][1]
        assert found[0.3][1] <= found[0.5][1] <= found[3.0][1]


class TestManyClasses:
    """Of 100 classes, 80 rows are those of ten, eight rows each, as they first occur."""

    def test_rows_of_some_classes_are_tried(self):
        y = np.arange(900) % 100
        rows = screening.rows_to_try(Targets(np.eye(100)[99 - y]), 80)
        np.testing.assert_array_equal(np.unique(y[rows], return_counts=True), [range(10), [8] * 10])
        few = Targets(np.eye(3)[y % 3])
        np.testing.assert_array_equal(screening.rows_to_try(few, 80), stratified_rows(few, 80))

    def test_other_classes_are_not_in_their_targets(self, rng):
        X, y = rng.normal(size=(900, 2)), np.arange(900) % 100
        sample = Sample({"z": X}, Targets(np.eye(100)[y]), {}, {}, np.arange(900) % 5)
        rows = screening.rows_to_try(sample.targets, 80)
        some = screening.taken(sample, rows)
        np.testing.assert_array_equal(some.targets.counts, np.eye(10)[y[rows]])
        np.testing.assert_array_equal(some.views["z"], X[rows])

    def test_the_plan_says_so(self, rng):
        X, y = rng.normal(size=(840, 3)), np.arange(840) % 60
        prepared = prepare(KernelClassifier(quality="fast"), X, y, None, None, 0)
        assert "candidates tried on 400 rows of 50 classes" in str(prepared.problem.plan)
        prepared = prepare(KernelClassifier(quality="fast"), X, y % 50, None, None, 0)
        assert "candidates tried on 400 rows, " in str(prepared.problem.plan)
