"""Cross-validation of candidates: rows left out must not give their labels away."""

from dataclasses import replace

import numpy as np
import pytest

from kernel_learn.criteria.held_out.column_scales import learn_scales
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.ridge import RidgePath, with_all_shares
from kernel_learn.criteria.held_out.stacking import best_stacking, fit_stacking
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import (
    average_held,
    combined_kernel,
    cross_validate,
    cross_validate_ridge,
)
from kernel_learn.ensemble.sample import FOLDS, Sample
from kernel_learn.kernels import Gaussian


def test_scores_of_rows_left_out_shrink_to_the_shares_of_all_rows(rng):
    """And labels by chance are not predicted: the shares without a row would tell its label."""
    X, labels = rng.normal(size=(50, 3)), rng.permutation(np.arange(50) % 2)
    targets = Targets(np.eye(2)[labels])
    sample = Sample({"z": X}, targets, {}, {}, stratified_folds(targets, FOLDS))
    kernel, reg = Gaussian(0.1), np.array([1.0])
    candidate = Candidate("z", "gaussian").on_rows(kernel)
    (found,) = cross_validate_ridge(sample, candidate, kernel(X), reg)
    scores, _ = RidgePath(kernel(X), targets).held_out(reg)
    moved = with_all_shares(scores, targets)[0]
    assert found.loss == pytest.approx(fit_stacking(moved, targets, sample.folds).loss)
    assert found.loss != pytest.approx(fit_stacking(scores[0], targets, sample.folds).loss)
    assert np.mean(found.held.argmax(axis=1) != labels) > 0.3


@pytest.fixture
def uneven(rng):
    """Folds whose classes have other shares than all rows."""
    X = rng.normal(size=(60, 4))
    labels = (X[:, 0] + 0.5 * rng.normal(size=60) > 0.4).astype(int)
    folds = np.argsort(np.argsort(labels + 0.8 * rng.normal(size=60))) * FOLDS // 60
    targets = Targets(np.eye(2)[labels])
    groups = {"z": [np.array([0, 1]), np.array([2, 3])]}
    return Sample({"z": X}, targets, {}, {"z": None}, folds, groups)


def scores_by_hand(sample, kernels, regs):
    """Scores of each fold by a fit to the others, with the shares of all rows."""
    T = sample.targets
    held = np.empty((len(regs), T.n, 2))
    for fold in range(FOLDS):
        inside, outside = (np.flatnonzero(m) for m in (sample.folds != fold, sample.folds == fold))
        K, K_cross = kernels(inside, outside)
        path = RidgePath(K, T.take(inside))
        for r, reg in enumerate(regs):
            here = path.dual(reg).scores(K_cross)
            held[r, outside] = here - T.counts[inside].mean(axis=0) + T.counts.mean(axis=0)
    return held


def assert_same_map(found, expected):
    """The map of new rows' scores, too: it sees where the held-out scores lie."""
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-5)
    np.testing.assert_allclose(found.intercept, expected.intercept, atol=1e-5)


REGS = np.array([0.01, 0.1, 1.0])


def test_scaled_candidates_are_held_out_of_their_scales(uneven):
    """Scales and ridge without the fold, and the shares of all rows in the place of the others'."""
    X, candidate = uneven.views["z"], Candidate("z", "rbf", 1.0, learned=True)

    def kernels(inside, outside):
        s = learn_scales(X[inside], uneven.targets.take(inside)).scales
        view = uneven.view_rows("z", X[inside] * s, np.ones(len(inside)))
        kernel = view.kernel(candidate)
        return kernel(X[inside] * s), kernel(X[outside] * s, X[inside] * s)

    held = scores_by_hand(uneven, kernels, REGS)
    r, expected = best_stacking(held, uneven.targets, uneven.folds)
    (found,), scales = cross_validate(uneven, [candidate], {candidate: REGS})
    assert found.reg == REGS[r] and len(scales["z"]) == FOLDS + 1
    np.testing.assert_allclose(found.held, expected.proba(), atol=1e-8)
    assert_same_map(found.maps[0], expected.map)
    np.testing.assert_array_equal(found.scales, scales["z"][0].scales)
    # what predicts is fitted to all rows
    K = found.kernel(X * found.scales)
    np.testing.assert_allclose(
        found.models[0][0].coef, RidgePath(K, uneven.targets).dual(found.reg).coef, atol=1e-8
    )


def test_sums_of_kernels_are_held_out_of_their_weights(uneven):
    X, groups = uneven.views["z"], uneven.column_groups["z"]
    candidate = Candidate("z", "groups", 1.0, loss="combined")

    def kernels(inside, outside):
        kernel = combined_kernel(X[inside], uneven.targets.take(inside), groups, 1.0)
        return kernel(X[inside]), kernel(X[outside], X[inside])

    held = scores_by_hand(uneven, kernels, REGS)
    r, expected = best_stacking(held, uneven.targets, uneven.folds)
    (found,), _ = cross_validate(uneven, [candidate], {candidate: REGS})
    assert found.reg == REGS[r]
    np.testing.assert_allclose(found.held, expected.proba(), atol=1e-8)
    assert_same_map(found.maps[0], expected.map)


def test_candidates_come_by_loss_and_time_ends_them(uneven):
    tried = [Candidate("z", "rbf", width) for width in (0.01, 1.0, 3.0)]
    tried += [Candidate("z", "rbf", 1.0, learned=True)]
    found, learned = cross_validate(uneven, tried)
    losses = [one.loss for one in found]
    assert len(found) == 4 and losses == sorted(losses) and list(learned) == ["z"]
    some, learned = cross_validate(uneven, tried, go_on=lambda: False)
    assert [one.candidate for one in some] == tried[:1] and not learned


def test_without_a_member_the_average_is_the_prior(uneven):
    targets = replace(uneven.targets, counts=np.array([[1.0, 0.0], [2.0, 0.0]]))
    expected = [[3.5 / 4, 0.5 / 4]] * 2
    np.testing.assert_array_equal(average_held([], np.empty(0), targets), expected)
