"""Scaled columns of many rows: every row held out of the scales and of the fit."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.column_scales import learn_scales
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.ridge import with_all_shares
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble import halves
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import cross_validate
from kernel_learn.ensemble.outcomes import kinds
from kernel_learn.ensemble.sample import FOLDS, Sample
from oracles import classifier as oracle

CANDIDATE = Candidate("z", "rbf", 1.0, learned=True)
N = 48


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(halves, "HALVES_FROM", N)


def make_sample(rng, *, weighted, groups):
    X = rng.normal(size=(N, 4))
    counts = np.eye(2)[(X[:, 0] + 0.4 * rng.normal(size=N) > 0).astype(int)]
    if weighted:
        counts = counts * rng.integers(1, 4, size=(N, 1))
        counts[3] = [1.0, 2.0]  # equal rows of two classes
    targets = Targets(counts, groups)
    return Sample({"z": X}, targets, {}, {"z": None}, stratified_folds(targets, FOLDS))


def held_by_hand(sample, reg):
    """Scores of each half by refits to all rows but one, with the scales of the other half."""
    X, T = sample.views["z"], sample.targets
    half = stratified_folds(T, 2)
    held = np.empty(T.counts.shape)
    for known in (1, 0):
        rows = np.flatnonzero(half == known)
        order = np.concatenate([rows, np.flatnonzero(half != known)])
        Z = X * learn_scales(X[rows], T.take(rows)).scales
        kernel = sample.view_rows("z", Z[order], T.weight[order]).kernel(CANDIDATE)
        K = kernel(Z)
        together = [list(g) for g in T.groups]
        together += [[i] for i in range(N) if not any(i in g for g in together)]
        scores = oracle.ridge_left_out(K, T.counts, reg * oracle.ridge_unit(K, T.counts), together)
        held[half != known] = scores[half != known]
    return held


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [(), (np.array([2, 7, 30]), np.array([5, 6]))])
def test_scores_are_refits_without_the_row(weighted, groups, rng, monkeypatch):
    sample, seen = make_sample(rng, weighted=weighted, groups=groups), []
    stack = kinds.fit_stacking
    monkeypatch.setattr(
        kinds, "fit_stacking", lambda scores, *rest: seen.append(scores) or stack(scores, *rest)
    )
    (found,), scales = cross_validate(sample, [CANDIDATE], {CANDIDATE: np.array([0.1])})
    expected = with_all_shares(held_by_hand(sample, 0.1), sample.targets)
    np.testing.assert_allclose(seen[0], expected, atol=1e-9)
    # what predicts is a fit to all rows with the scales of all rows
    X, T = sample.views["z"], sample.targets
    np.testing.assert_array_equal(found.scales, learn_scales(X, T).scales)
    assert len(scales["z"]) == 3
    K, new = found.kernel(X * found.scales), found.kernel(X[:5] * found.scales, X * found.scales)
    lam = 0.1 * oracle.ridge_unit(K, T.counts)
    np.testing.assert_allclose(
        found.models[0][0].scores(new), oracle.ridge_scores(K, T.counts, lam, new), atol=1e-9
    )


def test_where_halves_are_large_the_first_fit_is_the_model(rng, monkeypatch):
    monkeypatch.setattr(halves, "MOST_SCALE_ROWS", 10)
    sample = make_sample(rng, weighted=True, groups=())
    (found,), (all_rows, first, second) = [
        own if i == 0 else own["z"]
        for i, own in enumerate(
            cross_validate(sample, [CANDIDATE], {CANDIDATE: np.array([0.03, 0.1])})
        )
    ]
    X, T = sample.views["z"], sample.targets
    assert all_rows is first is not second
    half = stratified_folds(T, 2)
    rows = np.flatnonzero(half == 1)[:10]
    np.testing.assert_array_equal(found.scales, learn_scales(X[rows], T.take(rows)).scales)
    Z = X * found.scales
    K = found.kernel(Z)
    lam = found.reg * oracle.ridge_unit(K, T.counts)
    np.testing.assert_allclose(
        found.models[0][0].scores(K), oracle.ridge_scores(K, T.counts, lam, K), atol=1e-9
    )


def test_few_rows_or_many_regularisers_are_judged_by_folds(rng, monkeypatch):
    sample = make_sample(rng, weighted=False, groups=())
    path = np.logspace(-3, 0, 6)
    _, many = cross_validate(sample, [CANDIDATE], {CANDIDATE: path})
    monkeypatch.setattr(halves, "HALVES_FROM", N + 1)
    _, few = cross_validate(sample, [CANDIDATE], {CANDIDATE: path[:2]})
    assert len(many["z"]) == len(few["z"]) == FOLDS + 1


def test_rows_that_look_the_same_leave_the_shares(rng):
    """Scales of constant columns: no fit helps, and no candidate comes of it."""
    targets = Targets(np.eye(2)[np.arange(N) % 2])
    sample = Sample(
        {"z": np.zeros((N, 3))}, targets, {}, {"z": None}, stratified_folds(targets, FOLDS)
    )
    found, _ = cross_validate(sample, [CANDIDATE], {CANDIDATE: np.array([0.1])})
    assert found == []


def test_several_labels_are_separate_fits_with_the_same_scales(rng, monkeypatch):
    """Each at its own regulariser, though one factorisation serves them."""
    X = rng.normal(size=(N, 4))
    noise = np.array([0.1, 6.0, 0.4])
    Y = (X[:, :3] + noise * rng.normal(size=(N, 3)) > 0).astype(float)
    both = LabelTargets(Y, np.ones(N), (np.array([2, 7, 30]),))
    monkeypatch.setattr(halves, "halves_of", lambda targets: np.isin(np.arange(N), [2, 7, 30]) * 1)
    folds = np.arange(N) % FOLDS
    folds[[2, 7, 30]] = 0
    sample = Sample({"z": X}, both, {}, {"z": None}, folds)
    learned = [halves.scales_of_rows(sample, "z", np.arange(n, N)) for n in (0, 10, 20)]
    paths = {CANDIDATE: np.array([0.001, 0.1, 10.0])}
    ((_, regs, chosen, model),) = halves.fit_halves(sample, "z", paths, learned)
    assert len(np.unique(regs)) > 1
    for i in range(3):
        own = Sample({"z": X}, both.of_label(i), {}, {"z": None}, folds)
        ((_, reg, alone, one),) = halves.fit_halves(own, "z", paths, learned)
        assert regs[i] == reg
        np.testing.assert_allclose(chosen.said.held[:, i], alone.said.held[:, 1], atol=1e-9)
        np.testing.assert_allclose(model.coef[:, i], one.coef[:, 1], atol=1e-9)


def test_raised_regularisers_keep_their_order():
    """What was chosen for each column moves with the path, or to the least that is safe."""
    known = np.array([1.0, 0.01, 0.1, 1.0])
    np.testing.assert_array_equal(
        halves.nearest_places(np.array([0.1, 1.0, 10.0]), known), [2, 0, 1, 2]
    )
    np.testing.assert_array_equal(halves.nearest_places(np.array([0.1, 1.0]), known), [1, 0, 0, 1])
    assert halves.nearest_places(np.array([100.0]), 0.1) == 0
