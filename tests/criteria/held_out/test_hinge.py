"""Squared hinge: optimality, weights, rows left out."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.hinge import fit_hinges
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.kernels import Gaussian


@pytest.fixture
def X(rng):
    return rng.standard_normal((30, 2))


def labels_of(X, k, rng):
    noisy = X[:, 0] + 0.3 * rng.standard_normal(len(X))
    return np.searchsorted(np.quantile(noisy, np.arange(1, k) / k), noisy)


def offset(K, weight):
    p = weight / weight.sum()
    return float(p @ np.diagonal(K) - p @ K @ p)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("reg", [1e-2, 1.0])
def test_hinge_is_optimal(X, k, reg, rng):
    """The gradient of sum w max(0, 1 - s f)^2 + lam |f|^2 in the coefficients vanishes."""
    weight = rng.integers(1, 4, size=30).astype(float)
    targets = Targets(np.eye(k)[labels_of(X, k, rng)] * weight[:, None])
    K = Gaussian(0.5)(X)
    (found,) = fit_hinges(K.copy(), targets, np.array([reg]))
    assert len(found.roles) == (1 if k == 2 else k)
    unit = offset(K, weight)
    signs = targets.Y @ found.roles.T
    f = (K + unit) @ found.model.coef
    np.testing.assert_allclose(found.model.scores(K), f)
    slack = weight[:, None] * np.maximum(0, 1 - signs * f) * signs
    np.testing.assert_allclose(reg * unit * found.model.coef, slack, atol=1e-8)


def test_hinge_left_out_is_close_to_a_refit(X, rng):
    targets = Targets(np.eye(2)[labels_of(X, 2, rng)])
    K = Gaussian(0.5)(X)
    (found,) = fit_hinges(K.copy(), targets, np.array([0.1]))
    unit = offset(K, np.ones(30))
    refits = np.empty(30)
    for i in range(30):
        kept = np.delete(np.arange(30), i)
        part = Targets(targets.counts[kept])
        own = offset(K[np.ix_(kept, kept)], np.ones(29))
        # the offset and lam of all rows, to leave out a row and nothing else
        shifted = K[np.ix_(kept, kept)] + (unit - own)
        (one,) = fit_hinges(shifted.copy(), part, np.array([0.1 * unit / own]))
        refits[i] = (K[i, kept] + unit) @ one.model.coef[:, 0]
    assert np.corrcoef(found.scores[:, 0], refits)[0, 1] > 0.97


@pytest.mark.parametrize("reg", [50.0, 0.1])
def test_groups_are_left_out_together(X, reg, rng):
    """Against refits without the group: exact where all rows count, with it and without it."""
    groups = (np.arange(4), np.array([5, 9]), np.arange(20, 27))
    y = labels_of(X, 2, rng)
    targets = Targets(np.eye(2)[y], groups)
    K = Gaussian(0.5)(X)
    (found,) = fit_hinges(K.copy(), targets, np.array([reg]))
    unit, refits = offset(K, np.ones(30)), []
    for group in groups:
        kept = np.setdiff1d(np.arange(30), group)
        own = offset(K[np.ix_(kept, kept)], np.ones(len(kept)))
        shifted = K[np.ix_(kept, kept)] + (unit - own)
        part = Targets(targets.counts[kept])
        (one,) = fit_hinges(shifted.copy(), part, np.array([reg * unit / own]))
        refits.append((K[np.ix_(group, kept)] + unit) @ one.model.coef[:, 0])
    scores, refit = found.scores[np.concatenate(groups), 0], np.concatenate(refits)
    if reg > 1:
        np.testing.assert_allclose(scores, refit, atol=1e-9)
    assert np.corrcoef(scores, refit)[0, 1] > 0.97
    (alone,) = fit_hinges(K.copy(), Targets(np.eye(2)[y]), np.array([reg]))
    others = np.setdiff1d(np.arange(30), np.concatenate(groups))
    np.testing.assert_allclose(found.scores[others], alone.scores[others])


def test_weights_are_repetitions(X, rng):
    y, weight = labels_of(X, 3, rng), rng.integers(1, 4, size=30)
    new = Gaussian(0.5)(rng.standard_normal((4, 2)), X)
    K = Gaussian(0.5)(X)
    again = np.repeat(np.arange(30), weight)
    targets = Targets(np.eye(3)[y] * weight[:, None])
    once = fit_hinges(K.copy(), targets, np.array([0.1, 0.01]))
    repeated = fit_hinges(
        K[np.ix_(again, again)], Targets(np.eye(3)[y[again]]), np.array([0.1, 0.01])
    )
    for a, b in zip(once, repeated, strict=True):
        expected = b.model.scores(new[:, again])
        np.testing.assert_allclose(a.model.scores(new), expected, atol=1e-6)
