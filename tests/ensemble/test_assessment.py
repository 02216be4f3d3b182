"""What a classifier says of itself: figures by rows that nothing was chosen by."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_wine

import kernel_learn as kl
from kernel_learn import KernelClassifier, KernelRegressor
from kernel_learn.criteria.held_out.stacking import crossed_logits
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import assessment
from kernel_learn.ensemble.assessment import (
    Assessment,
    Fold,
    effective_number,
    error_interval,
    predict_folds,
    refit_without,
)
from kernel_learn.ensemble.clock import Clock
from kernel_learn.ensemble.cross_validation import average_held, cross_chosen_held
from kernel_learn.ensemble.fit import fit_ensemble, without_blocks
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.ingest import prepare
from kernel_learn.ensemble.plan import folds_to_assess
from kernel_learn.ensemble.problem import fit_views, sample_of
from kernel_learn.ensemble.screening import screened_rows, unseen_rows
from kernel_learn.ensemble.summary import NOT_ASSESSED, Headline, format_p_value

FAST = {"quality": "fast"}


def linear_table(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0).astype(int)


@pytest.fixture(scope="module")
def nested():
    X, y = linear_table()
    return KernelClassifier(**FAST).fit(X, y), X, y


def test_figures_are_those_of_the_held_out_probabilities(nested):
    model, _, y = nested
    P = model.held_out_proba_
    assert model.error_ == pytest.approx(np.mean(P.argmax(axis=1) != y), abs=1e-12)
    assert model.log_loss_ == pytest.approx(-np.mean(np.log(P[np.arange(60), y])), abs=1e-12)
    assert np.abs(P - model.loo_proba_).max() > 1e-3
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_each_row_is_told_by_the_fold_that_has_not_seen_it(nested):
    model, X, _ = nested
    seen = np.concatenate([fold.rows for fold in model._assessment.folds])
    assert sorted(seen) == list(range(60)) and len(model._assessment.folds) == 5
    for fold in model._assessment.folds:
        given = model._first[fold.rows]
        table = fold.ensemble.reader.read(X[given])
        np.testing.assert_allclose(fold.ensemble.proba(table), model.held_out_proba_[given])
        assert fold.ensemble.targets.n == 60 - len(fold.rows)


def test_nothing_of_a_fold_reaches_the_fit_that_it_judges():
    X, y = linear_table(31)
    problem = prepare(KernelClassifier(**FAST), X, y, None, None, 0).problem
    asked = []

    def fit(part):
        asked.append(part)
        return FittedEnsemble(part.targets.mean, None, None, part.plan)

    folds = refit_without(problem, fit, 5)
    for part, fold in zip(asked, folds, strict=True):
        others = np.setdiff1d(np.arange(31), fold.rows)
        np.testing.assert_array_equal(part.table.numbers, problem.table.numbers[others])
        np.testing.assert_array_equal(part.targets.counts, problem.targets.counts[others])
        assert part.plan.n_rows == part.plan.screen_rows == part.plan.leaf_rows == len(others)
    found = predict_folds(problem, folds, lambda mean, t: np.tile(mean, (len(t.numbers), 1)))
    for i in range(31):
        own = next(fold.rows for fold in folds if i in fold.rows)
        inside = np.setdiff1d(np.arange(31), own)
        np.testing.assert_allclose(found[i], problem.targets.counts[inside].mean(axis=0))


def test_groups_are_left_out_whole_and_count_as_one_row():
    X, y = linear_table(60)
    groups = np.repeat(np.arange(15), 4)
    model = KernelClassifier(**FAST).fit(X, y, groups=groups)
    for fold in model._assessment.folds:
        inside = np.delete(groups, model._first[fold.rows])
        assert not set(groups[model._first[fold.rows]]) & set(inside)
    assert model.error_interval_ == error_interval(model.error_, 15.0)


def test_the_order_of_the_rows_does_not_matter(nested):
    model, X, y = nested
    order = np.random.default_rng(1).permutation(60)
    other = KernelClassifier(**FAST).fit(X[order], y[order])
    np.testing.assert_allclose(other.held_out_proba_, model.held_out_proba_[order], atol=1e-9)
    assert other.error_interval_ == model.error_interval_


def test_loo_and_nothing(nested):
    model, X, y = nested
    loo = KernelClassifier(**FAST, assess="loo").fit(X, y)
    assert loo.error_ == loo.loo_error_ == model.loo_error_
    assert loo.log_loss_ == loo.loo_log_loss_ and loo.held_out_proba_ is loo.loo_proba_
    assert loo.error_interval_ == error_interval(loo.loo_error_, 60.0)
    assert "which chose" not in loo.summary_ and "Error by leave-one-out: " in loo.summary_
    nothing = KernelClassifier(**FAST, assess=False).fit(X, y)
    for name in ("error_", "error_interval_", "log_loss_", "held_out_proba_"):
        assert not hasattr(nothing, name)
    assert "Error by" not in nothing.summary_
    assert nothing.summary_.splitlines()[1] == f"{NOT_ASSESSED}."
    assert "By leave-one-out, which chose the members: error" in nothing.summary_
    with pytest.raises(ValueError, match="assess"):
        KernelClassifier(assess=True).fit(X, y)


def test_what_was_not_assessed_is_gone_after_another_fit(nested):
    _, X, y = nested
    model = KernelClassifier(**FAST, assess="loo").fit(X, y)
    model.set_params(assess=False).fit(X, y)
    assert not hasattr(model, "error_") and model._assessment is None


def test_a_time_budget_includes_the_assessment():
    X, y = linear_table(40)
    model = KernelClassifier(**FAST, time_budget=1e-6).fit(X, y)
    assert model._assessment.way == "weights" and not model._assessment.folds
    assert "members chosen by the same rows (optimistic on few): " in model.summary_
    long = KernelClassifier(**FAST, time_budget=1e4).fit(X, y)
    assert len(long._assessment.folds) == 5
    few = Assessment("nested", (Fold(np.arange(2), None),) * 3, hurried=True)
    assert few.words == "nested cross-validation of 3 folds, all that time allowed"


def test_of_more_rows_three_folds_are_left_out():
    X, y = linear_table(520)
    model = KernelClassifier(**FAST, max_members=3).fit(X, y)
    assert model._assessment.way == "nested" and len(model._assessment.folds) == 3
    assert model._assessment.words == "nested cross-validation"
    wrong = model.held_out_proba_.argmax(axis=1) != y
    assert model.error_ == pytest.approx(wrong.mean(), abs=1e-12)


class TestRowsThatChoseNoKernel:
    def test_figures_are_theirs(self):
        X, y = linear_table(1050)
        model = KernelClassifier(**FAST, max_members=3).fit(X, y)
        assert model._assessment.way == "unseen" and not model._assessment.folds
        first, n_c = model._first, np.bincount(y)
        judge = np.zeros(1050, dtype=bool)
        for c in (0, 1):  # half of the rows choose, each class by its share, in the rows' order
            judge[first[y[first] == c][round(525 * n_c[c] / 1050) :]] = True
        P = model.held_out_proba_[judge]
        assert model.error_ == pytest.approx(np.mean(P.argmax(axis=1) != y[judge]), abs=1e-12)
        losses = -np.log(P[np.arange(len(P)), y[judge]])
        assert model.log_loss_ == pytest.approx(losses.mean(), abs=1e-12)
        assert model.error_interval_ == error_interval(model.error_, float(judge.sum()))
        assert "rows that chose no kernel" in model.summary_
        assert np.abs(model.held_out_proba_ - model.loo_proba_).max() > 0

    def test_they_are_the_ones_counted(self):
        """Two classes that are far apart: 600 rows choose, 600 are judged, one of them twice."""
        X = np.random.default_rng(0).normal(size=(1200, 2))
        y = np.arange(1200) % 2
        X[:, 0] += 20 * y
        model = KernelClassifier(**FAST, max_members=1).fit(X, y)
        assert "0 of 600 wrong (95 % interval 0.0 to 1.1)" in model.summary_
        last = model._first[-1]  # no row that chooses
        again = KernelClassifier(**FAST, max_members=1).fit(np.r_[X, X[[last]]], np.r_[y, y[last]])
        assert "0 of 601 wrong" in again.summary_

    @pytest.mark.parametrize("n", [1050, 2100])
    def test_their_labels_choose_none(self, n):
        """Kernels and widths are the same with labels of such rows changed over."""
        X, y = linear_table(n)
        prepared = prepare(KernelClassifier(**FAST), X, y, None, None, 0)
        fitted = fit_ensemble(prepared.problem)
        last = fitted.unseen[-60:]
        one = next(i for i in last[::-1] if y[prepared.first[i]] == 0)
        two = next(i for i in last[::-1] if y[prepared.first[i]] == 1)
        other = y.copy()
        other[prepared.first[[one, two]]] = [1, 0]
        again = fit_ensemble(prepare(KernelClassifier(**FAST), X, other, None, None, 0).problem)
        np.testing.assert_array_equal(fitted.unseen, again.unseen)
        kernels = [
            sorted(f"{member.view}: {member.kernel}" for member in one.members)
            for one in (fitted, again)
        ]
        assert kernels[0] == kernels[1]
        assert n - len(fitted.unseen) == pytest.approx(n // 2, abs=1)


@pytest.fixture(scope="module")
def many_classes():
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(100, 20))

    def draw(n):
        y = np.arange(n) % 100
        return centres[y] + rng.normal(size=(n, 20)), y

    return draw(1100), draw(3000)


class TestClassesOfFewRows:
    def test_what_others_were_told_of_a_row_is_not_used(self, many_classes):
        """Where others were told it, 4.9 % are wrong, log loss .13; of new rows 6.2 %, .20."""
        (X, y), (X_new, y_new) = many_classes
        model = KernelClassifier(quality="fast", max_members=4).fit(X, y)
        assert model._assessment.way == "unseen" and model.plan_.blocks == 10
        P = model.predict_proba(X_new)
        low, high = model.error_interval_
        assert low < np.mean(P.argmax(axis=1) != y_new) < high
        loss = -np.mean(np.log(P[np.arange(len(P)), y_new]))
        assert 0.85 * loss < model.log_loss_ < 1.25 * loss

    def test_without_time_the_words_say_so(self, many_classes, monkeypatch):
        (X, y), _ = many_classes
        monkeypatch.setattr(Clock, "affordable", lambda *_: [False])
        prepared = prepare(KernelClassifier(**FAST), X, y, None, None, 0)
        sample = SimpleNamespace(targets=prepared.problem.targets)
        one = SimpleNamespace(candidate=None)
        assert without_blocks(prepared.problem, sample, [one], np.ones(1), {}) == []

    def test_labels_by_chance(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(1100, 30)), np.arange(1100) % 100
        model = KernelClassifier(quality="fast", max_members=4).fit(X, y)
        assert model.error_interval_[1] > 0.99 and model.log_loss_ > np.log(100) - 0.02

    def test_of_fewer_rows_five_folds_are_left_out(self):
        targets = [Targets(np.eye(k)[np.arange(n) % k]) for k, n in [(40, 600), (2, 600), (2, 90)]]
        assert [folds_to_assess(own) for own in targets] == [(5, 0), (3, 0), (5, 0)]
        sizes = np.repeat([800, 250, 20], [1, 1, 8])  # most rows are of large classes
        targets = Targets(np.eye(10)[np.repeat(np.arange(10), sizes)])
        assert folds_to_assess(targets) == (0, 0)

    def test_of_many_classes_there_are_blocks_whatever_their_size(self):
        targets = [Targets(np.eye(k)[np.arange(3000) % k]) for k in (10, 11)]
        assert [folds_to_assess(own) for own in targets] == [(0, 0), (0, 10)]

    def test_in_a_hurry_both_are_planned(self):
        targets = [Targets(np.eye(k)[np.arange(600) % k]) for k in (40, 2)]
        assert [folds_to_assess(own, hurried=True) for own in targets] == [(5, 10), (3, 0)]

    @pytest.mark.parametrize(("k", "n", "time_budget"), [(100, 600, 600.0), (20, 1100, None)])
    def test_chance_looks_like_chance(self, k, n, time_budget, monkeypatch):
        """With no time for folds, and where classes are many: 80 and 91 % were said."""
        monkeypatch.setattr(assessment, "folds_in_time", lambda *_: 0)
        X, y = np.random.default_rng(1).normal(size=(n, 8)), np.arange(n) % k
        model = KernelClassifier(**FAST, max_members=3, time_budget=time_budget).fit(X, y)
        assert model._assessment.way == "unseen"
        low, high = model.error_interval_
        assert low < 1 - 1 / k < high


class TestGroupsOfManyRows:
    """Which rows chose kernels: whole groups, and no more than were to be tried."""

    @pytest.mark.parametrize("size", [2, 6, 20, 100])
    def test_about_half_of_the_rows_judge(self, size):
        rng = np.random.default_rng(size)
        X, group = rng.normal(size=(1200, 4)), rng.permutation(1200) // size
        y = (X[:, 0] + rng.normal(size=1200) > 0).astype(int)
        model = KernelClassifier(**FAST, max_members=2).fit(X, y, groups=group)
        assert model._assessment.way == "unseen" and 500 <= model._n_judged <= 700
        assert model.error_ == pytest.approx(0.25, abs=0.06)

    @pytest.mark.parametrize(("n", "size"), [(800, 20), (1200, 20), (1200, 400), (600, 300)])
    def test_of_numbers_too(self, n, size):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3))
        y = X[:, 0] + rng.normal(size=n)
        model = KernelRegressor(**FAST).fit(X, y, groups=rng.permutation(n) // size)
        assert model.error_ == pytest.approx(1.0, abs=0.15)

    def test_nearly_all_in_a_few_groups_that_chose(self):
        """Each group is of one class: both are tried, and nobody is left to judge but in folds."""
        X, group = np.random.default_rng(0).normal(size=(1100, 3)), np.arange(1100) // 540
        y = np.where(group == 2, np.arange(1100) % 2, group)
        problem = prepare(KernelClassifier(**FAST), X, y, None, group, 0).problem
        sample = sample_of(problem, fit_views(problem))
        assert unseen_rows(problem, sample) is None
        fitted = SimpleNamespace(plan=problem.plan, unseen=None)
        assert problem.plan.folds == 0 and assessment.folds_wanted(problem, fitted) == 3
        five = replace(problem, plan=replace(problem.plan, folds=5))
        assert assessment.folds_wanted(five, fitted) == 5
        fitted.unseen = np.arange(500)
        assert assessment.folds_wanted(problem, fitted) == 0

    def test_nobody_judges_whose_kin_chose(self):
        """Parts of a group of 850 rows are tried."""
        X, y = linear_table(900)
        group = np.maximum(np.arange(900), 850)
        problem = prepare(KernelClassifier(**FAST), X, y, None, group, 0).problem
        sample = sample_of(problem, fit_views(problem))
        assert len(screened_rows(problem, sample)) == 400
        assert unseen_rows(problem, sample) is None

    @pytest.mark.parametrize("quality", ["fast", "balanced"])
    @pytest.mark.parametrize("estimator", [KernelClassifier, KernelRegressor])
    def test_a_fold_of_two_groups_leaves_one(self, estimator, quality):
        """Of that one, rows are left out by themselves."""
        X, y = linear_table()
        model = estimator(quality=quality).fit(X, y, groups=np.arange(60) // 30)
        assert model._assessment.way == "nested" and np.isfinite(model.error_)
        ask = model.predict_set if estimator is KernelClassifier else model.predict_interval
        with pytest.warns(UserWarning, match="coverage"):
            ask(X[:3], method="cv+")


def test_weights_of_a_row_have_not_seen_its_fold():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1], size=(3, 12))
    found = [
        SimpleNamespace(held=p, log_odds=np.log(p) - np.log(p).mean(axis=1)[:, None], crossed=None)
        for p in P
    ]
    Y = np.eye(2)[rng.integers(0, 2, 12)]

    def weigh(proba, some):
        right = np.array([np.sum(p * some.counts) for p in proba])
        return right / right.sum()

    proba = cross_chosen_held(found, Targets(Y), np.arange(12) % 3, weigh)
    for i in range(12):
        others = [j for j in range(12) if j % 3 != i % 3]
        own = np.array([sum(P[m, j] @ Y[j] for j in others) for m in range(3)])
        parts = [SimpleNamespace(held=o.held[[i]], log_odds=o.log_odds[[i]]) for o in found]
        expected = average_held(parts, own / own.sum(), Targets(Y[others]))
        np.testing.assert_allclose(proba[[i]], expected)


def test_regularisers_of_a_row_have_not_seen_its_fold():
    rng = np.random.default_rng(0)
    Y, folds = np.eye(2)[rng.integers(0, 2, 12)], np.arange(12) % 3
    L = rng.normal(size=(2, 12, 2))
    found = crossed_logits(list(L), Targets(Y), folds)
    P = np.exp(L) / np.exp(L).sum(axis=2, keepdims=True)
    chosen = []
    for fold in range(3):
        losses = [-np.log(P[r][folds != fold][Y[folds != fold] > 0]).sum() for r in (0, 1)]
        chosen.append(int(np.argmin(losses)))
        np.testing.assert_array_equal(found[folds == fold], L[chosen[-1]][folds == fold])
    assert len(set(chosen)) == 2  # else this shows nothing
    assert crossed_logits([L[0]], Targets(Y), folds) is None


@pytest.mark.parametrize("n", [1, 2, 20, 178])
def test_an_interval_is_never_narrower_than_that_of_independent_rows(n):
    for wrong in range(n + 1):
        exact = stats.binomtest(wrong, n).proportion_ci(0.95, method="exact")
        low, high = error_interval(wrong / n, float(n))
        assert 0 <= low <= exact.low and exact.high <= high <= 1
        assert high - low > exact.high - exact.low or n == 1
        back = error_interval(1 - wrong / n, float(n))
        assert back == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_no_error_is_told_with_the_interval_that_every_error_has():
    interval = error_interval(0.0, 178.0)
    words = str(Headline("leave-one-out", 0.0, interval, 0.1, 178, 178.0))
    end = f"(95 % interval 0.0 to {100 * interval[1]:.1f})"
    assert words == f"Error by leave-one-out: 0.0 %, 0 of 178 wrong {end}"
    few = str(Headline("leave-one-out", 0.0, error_interval(0.0, 12.3), 0.1, 40, 12.3))
    assert "0 of 40 wrong, which count as 12 independent rows (95 % interval 0.0 to 40.8)" in few
    X = np.repeat(np.eye(2), 30, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(60, 2))
    model = KernelClassifier(**FAST).fit(X, np.repeat([0, 1], 30))
    assert model.error_interval_ == error_interval(0.0, 60.0)
    assert "0.0 %, 0 of 60 wrong (95 % interval 0.0 to 10.2)" in model.summary_
    grouped = KernelClassifier(**FAST).fit(X, np.repeat([0, 1], 30), groups=np.arange(60) // 5)
    assert "0 of 60 wrong, which count as 12 independent rows" in grouped.summary_


def test_weights_count_as_fewer_rows():
    counts = np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0], [1.0, 1.0]])
    assert effective_number(Targets(counts)) == pytest.approx(8**2 / (1 + 9 + 4 + 4))
    assert effective_number(Targets(counts, (np.array([0, 3]),))) == pytest.approx(64 / (9 + 9 + 4))


def test_equal_rows_are_as_many_as_were_given():
    X, y = linear_table(40)
    twice = KernelClassifier(**FAST, assess="loo").fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.error_interval_ == pytest.approx(error_interval(twice.error_, 80.0))
    weight = np.random.default_rng(0).uniform(0.5, 2, 40)
    model = KernelClassifier(**FAST, assess="loo").fit(X, y, sample_weight=weight)
    n = weight.sum() ** 2 / np.sum(weight**2)
    assert model.error_interval_ == pytest.approx(error_interval(model.error_, n))


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_handful_of_rows(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    model = KernelClassifier(**FAST).fit(X, np.arange(n) % 2)
    assert np.isfinite(model.held_out_proba_).all() and np.isfinite(model.log_loss_)


def test_a_class_of_one_row():
    X, y = linear_table(20)
    model = KernelClassifier(**FAST).fit(X, np.r_[y[:19], 2])
    assert model.held_out_proba_.shape == (20, 3) and np.isfinite(model.log_loss_)


def test_a_row_of_weight_zero_is_told_by_the_whole_ensemble():
    X, y = linear_table(30)
    weight = np.r_[np.ones(29), 0.0]
    model = KernelClassifier(**FAST).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.held_out_proba_[29], model.predict_proba(X[29:])[0])


def test_figures_and_folds_are_saved(nested, tmp_path):
    pytest.importorskip("skops")
    model, X, _ = nested
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    assert loaded.summary_ == model.summary_
    assert tuple(loaded.error_interval_) == model.error_interval_
    first, again = model._assessment.folds[0], loaded._assessment.folds[0]
    table = first.ensemble.reader.read(X)
    np.testing.assert_allclose(again.ensemble.proba(table), first.ensemble.proba(table))


def test_p_values_at_their_floor():
    assert format_p_value(1 / 201, 200) == "< .005" and format_p_value(2 / 201, 200) == "= 0.010"
    assert format_p_value(1 / 1001, 1000) == "< .001" and format_p_value(1 / 102, 101) == "< .01"
    assert format_p_value(1 / 20, 19) == "= 0.050" and format_p_value(1 / 100, 99) == "= 0.010"
    assert format_p_value(1 / 1000, 999) == "= 0.001" and format_p_value(1e-4, 9999) == "= 0.0001"
    assert format_p_value(2e-5, 99_999) == "= 0.00002" and format_p_value(1e-5, 99_999) != "= 0."
    assert format_p_value(0.41, 200) == "= 0.410" and format_p_value(0.0049, 1000) == "= 0.0049"


class TestRelevantFeatures:
    def test_columns_that_matter_are_named(self):
        X, y = linear_table(120, 6)
        model = KernelClassifier(**FAST, assess=False).fit(X, y)
        np.testing.assert_array_equal(np.flatnonzero(model.relevant_features_), [0])

    def test_products_of_two_columns(self):
        X = np.random.default_rng(0).normal(size=(150, 3))
        model = KernelClassifier(**FAST, assess=False).fit(X, (X[:, 0] * X[:, 2] > 0).astype(int))
        np.testing.assert_array_equal(model.relevant_features_, [True, False, True])

    def test_of_labels_by_chance_hardly_ever_any(self):
        named = 0
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(40, 5)), rng.integers(0, 2, 40)
            named += KernelClassifier(**FAST, assess=False).fit(X, y).relevant_features_.any()
        assert named <= 3  # at 5 %, more in one of 200 runs

    def test_groups_that_look_alike_are_no_signal(self):
        """Rows of a group have one label and nearly the same columns: they tell the group."""
        rng = np.random.default_rng(0)
        group = np.repeat(np.arange(12), 6)
        X = rng.normal(size=(12, 3))[group] + 0.01 * rng.normal(size=(72, 3))
        y = rng.permutation(np.repeat([0, 1], 6))[group]
        probe = KernelClassifier(**FAST, assess=False).fit(X, y, groups=group)._fitted.probe
        assert not probe.relevant.any()

    def test_a_category(self):
        rng = np.random.default_rng(0)
        X = np.empty((120, 2), object)
        X[:, 0] = rng.normal(size=120)
        X[:, 1] = [f"l{i}" for i in rng.integers(0, 4, 120)]
        y = (X[:, 1] > "l1").astype(int)
        model = KernelClassifier(**FAST, assess=False).fit(X, y)
        np.testing.assert_array_equal(model.relevant_features_, [False, True])


def test_wine_by_leave_one_out_and_by_folds():
    X, y = load_wine(return_X_y=True)
    model = KernelClassifier(**FAST).fit(X, y)
    assert model.loo_error_ <= model.error_ < 0.05
    low, high = model.error_interval_
    assert low <= model.error_ <= high and high < 0.1
