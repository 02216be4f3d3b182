"""One average of log-odds, one factor per row."""

import numpy as np
import pytest

from kernel_learn.ensemble.pooling import LEAST_FADING, Averages, pool_held_out


def softmax(L):
    E = np.exp(L - L.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def members(k, n=200, spread=1.5, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, k))
    logits = [2 * common + spread * rng.normal(size=(n, k)) for _ in range(4)]
    weights, shares = (
        np.array([0.4, 0.3, 0.2, 0.1]),
        np.arange(1, k + 1) / np.arange(1, k + 1).sum(),
    )
    return logits, weights, shares


def pooled_of(logits, weights, shares):
    pool = Averages(len(logits[0]), shares)
    for weight, own in zip(weights, logits, strict=True):
        pool.add(weight, own)
    return pool.pooled()


def test_two_classes_have_the_mean_of_the_probabilities():
    logits, weights, shares = members(2)
    pooled = pooled_of(logits, weights, shares)
    P = sum(w * softmax(own) for w, own in zip(weights, logits, strict=True))
    between = (pooled.fading > LEAST_FADING) & (pooled.fading < 1)
    assert between.mean() > 0.8
    np.testing.assert_allclose(pooled.proba[between], P[between], atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_log_odds_are_linear_and_lead_to_the_probabilities(k):
    logits, weights, shares = members(k)
    pooled = pooled_of(logits, weights, shares)
    L = sum(w * (own - own.mean(1, keepdims=True)) for w, own in zip(weights, logits, strict=True))
    np.testing.assert_allclose(pooled.log_odds, L, atol=1e-12)
    odds = np.log(pooled.proba)
    odds -= odds.mean(axis=1, keepdims=True)
    prior = np.log(shares) - np.log(shares).mean()
    np.testing.assert_allclose(odds, prior + pooled.fading[:, None] * (L - prior), atol=1e-10)


@pytest.mark.parametrize("k", [3, 7])
def test_the_factor_is_that_of_weighted_least_squares(k):
    logits, weights, shares = members(k)
    pooled = pooled_of(logits, weights, shares)
    P = sum(w * softmax(own) for w, own in zip(weights, logits, strict=True))
    for i in range(20):
        v = (P[i] + softmax(pooled.log_odds[i : i + 1])[0]) / 2
        # log P - log shares = constant + s (L - log shares), by the normal equations
        A = np.column_stack([np.ones(k), pooled.log_odds[i] - np.log(shares)])
        s = np.linalg.solve(A.T * v @ A, A.T @ (v * (np.log(P[i]) - np.log(shares))))[1]
        assert pooled.fading[i] == pytest.approx(np.clip(s, LEAST_FADING, 1), abs=1e-9)


def test_members_of_one_mind_are_taken_as_they_are():
    logits, weights, shares = members(3)
    pooled = pooled_of([logits[0]] * 4, weights, shares)
    np.testing.assert_allclose(pooled.fading, 1, atol=1e-12)
    np.testing.assert_allclose(pooled.proba, softmax(logits[0]), atol=1e-12)


def test_members_that_contradict_each_other_fade_to_the_class_shares():
    L = np.array([[30.0, -30.0]])
    pooled = pooled_of([L, -0.9 * L], np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    assert 0 < pooled.fading[0] < 0.1
    np.testing.assert_allclose(pooled.proba, 0.5, atol=0.03)


def test_sure_members_give_finite_numbers():
    L = np.array([[900.0, 0.0, -900.0], [0.0, 0.0, 0.0]])
    pooled = pooled_of([L, 0.5 * L], np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5]))
    assert np.isfinite(pooled.proba).all()
    np.testing.assert_allclose(pooled.proba.sum(axis=1), 1)
    assert (pooled.fading > 0).all() and (pooled.fading <= 1).all()


def test_held_out_rows_are_pooled_by_the_same_rule():
    logits, weights, shares = members(4)
    log_odds = [own - own.mean(axis=1, keepdims=True) for own in logits]
    held = pool_held_out(log_odds, [softmax(own) for own in logits], weights, shares)
    pooled = pooled_of(logits, weights, shares)
    np.testing.assert_allclose(held.proba, pooled.proba, atol=1e-14)
