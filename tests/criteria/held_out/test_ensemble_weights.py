"""Weights of members: by standard errors, and of many rows by their mixture's log loss."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from kernel_learn.criteria.held_out.ensemble_weights import (
    ensemble_weights,
    mixture_weights,
    predicting_shares,
)
from kernel_learn.criteria.held_out.targets import Targets


@pytest.fixture
def members(rng):
    """Three members: two that know different classes, and one that knows nothing."""
    labels = rng.integers(0, 3, 400)
    counts = np.eye(3)[labels] * rng.integers(1, 4, 400)[:, None]
    counts[:20] += rng.uniform(size=(20, 3))  # rows seen with several classes
    known = np.array([[3.0, 0, 0], [0, 2.0, 2.0], [0, 0, 0]])
    logits = known[:, labels, None] * np.eye(3)[labels] + rng.normal(size=(3, 400, 3))
    return softmax(logits, axis=2), Targets(counts)


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # SciPy's own, to 1.15
def test_mixture_weights_are_the_least_of_the_log_loss(members):
    proba, targets = members

    def loss(w):
        return -np.sum(targets.counts * np.log(np.tensordot(w, proba, 1))) / targets.total

    start = np.full(3, 1 / 3)
    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1}
    best = minimize(loss, start, bounds=[(1e-9, 1)] * 3, constraints=simplex, tol=1e-12)
    found = mixture_weights(proba, targets)
    assert found.sum() == pytest.approx(1) and (found >= 0).all()
    assert loss(found) <= best.fun + 1e-4
    assert found[2] < 0.05 < found[:2].min()


def test_a_weight_is_a_repetition(members):
    proba, targets = members
    rows = np.repeat(np.arange(400), np.arange(400) % 3 + 1)
    weighted = Targets(np.eye(3)[targets.majority] * (np.arange(400) % 3 + 1.0)[:, None])
    repeated = Targets(np.eye(3)[targets.majority[rows]])
    np.testing.assert_allclose(
        mixture_weights(proba, weighted), mixture_weights(proba[:, rows], repeated), atol=1e-9
    )


def test_soft_weights_follow_the_standard_error(rng):
    labels = np.zeros((50, 2))
    labels[:, 0] = 1
    losses = np.zeros((2, 50, 2))
    losses[1, :, 0] = 0.1 + rng.normal(size=50)
    d = losses[1, :, 0]
    z = d.mean() / (d.std() / np.sqrt(50))
    expected = np.array([1, np.exp(-0.5 * z**2)]) if z > 0 else np.array([np.exp(-0.5 * z**2), 1])
    np.testing.assert_allclose(ensemble_weights(losses, Targets(labels)), expected / expected.sum())


def mean_loss(proba, shares, targets):
    return -np.sum(targets.counts * np.log(np.tensordot(shares, proba, 1))) / targets.total


def test_light_members_are_left_out_if_held_out_rows_do_not_notice(rng):
    """One repeats what the heaviest says; one knows rows of which the heaviest is wrongly sure."""
    labels = np.arange(300) % 2
    targets = Targets(np.eye(2)[labels] * rng.integers(1, 3, size=(300, 1)))
    sure = np.where(np.eye(2)[labels] > 0, 0.999, 0.001)
    sure[:6] = sure[:6, ::-1]
    alike = np.clip(sure + rng.normal(scale=1e-4, size=sure.shape), 1e-4, 1)
    careful = np.full((300, 2), 0.5)
    proba = np.array([sure, careful, alike])
    weights = np.array([0.96, 0.02, 0.02])
    shares = predicting_shares(proba, weights, targets)
    assert shares[2] == 0 and shares[1] == pytest.approx(0.02 / 0.98)
    assert mean_loss(proba, shares, targets) <= 1.001 * mean_loss(proba, weights, targets)
    without = np.array([1.0, 0.0, 0.0])
    assert mean_loss(proba, without, targets) > 1.001 * mean_loss(proba, weights, targets)
    # one that is not light predicts whatever it says, and one of a thousandth does not
    np.testing.assert_array_equal(
        predicting_shares(proba[[0, 2]], np.array([0.96, 0.04]), targets), [0.96, 0.04]
    )
    tiny = predicting_shares(proba, np.array([0.98, 5e-4, 0.0195]), targets)
    assert tiny[1] == 0 and tiny.sum() == pytest.approx(1)
    assert len(predicting_shares([], np.empty(0), targets)) == 0
