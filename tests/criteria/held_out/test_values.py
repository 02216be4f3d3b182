"""Numbers: transforms with smearing, merged values, choices and weights, against double loops."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.number_targets import merge_values
from kernel_learn.criteria.held_out.target_transforms import (
    MOST_RESIDUALS,
    fit_transforms,
    tell_residuals,
    weighted_quantiles,
)
from kernel_learn.criteria.held_out.value_weights import least_squares_weights, value_weights
from kernel_learn.criteria.held_out.values import choose_values, squared_errors


def targets_of(Y, weight=None, inverse=None, groups=()):
    n = len(Y)
    weight = np.ones(n) if weight is None else weight
    inverse = np.arange(n) if inverse is None else inverse
    return merge_values(np.reshape(Y, (n, -1)), weight, inverse, groups)


def test_transforms_go_there_and_back(rng):
    Y = np.c_[rng.normal(size=40), rng.uniform(0.5, 9, 40), np.r_[0.0, rng.uniform(1, 5, 39)]]
    found = list(fit_transforms(Y, np.ones(40)))
    assert [(one.target, one.is_log) for one in found] == [
        (0, False),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    for one in found:
        t = one.forward(Y)
        assert t.mean() == pytest.approx(0, abs=1e-12) and t.std() == pytest.approx(1)
        np.testing.assert_allclose(one.back(t), Y[:, one.target], atol=1e-12)
    assert found[2].shift == 0 and found[4].shift > 0
    g = np.log(Y[:, 1])
    far = found[2].back(np.array([1e3]))
    assert far == pytest.approx(np.exp(g.max() + 0.1 * np.ptp(g)))
    assert not any(one.is_log for one in fit_transforms(np.ones((5, 1)), np.ones(5)))


@pytest.mark.parametrize("m", [30, MOST_RESIDUALS + 1])
def test_smearing_is_the_mean_over_residuals(rng, m):
    y = np.exp(rng.normal(size=50))
    log = list(fit_transforms(y[:, None], np.ones(50)))[1]
    e, count = rng.normal(size=m), rng.integers(1, 4, m).astype(float)
    f = rng.normal(size=7)
    own = np.repeat(e, count.astype(int))
    if m > MOST_RESIDUALS:
        own = np.quantile(own, (np.arange(100) + 0.5) / 100, method="averaged_inverted_cdf")
    expected = [np.mean([log.back(np.array(one + r)) for r in own]) for one in f]
    np.testing.assert_allclose(tell_residuals(e, count).smear(log, f), expected, rtol=1e-12)


def test_quantiles_count_repetitions(rng):
    values, count = rng.normal(size=20), rng.integers(1, 5, 20)
    shares = np.array([0.05, 0.25, 0.5, 0.9])
    expected = np.quantile(np.repeat(values, count), shares, method="averaged_inverted_cdf")
    np.testing.assert_allclose(weighted_quantiles(values, count, shares), expected)


def test_values_of_equal_rows_stay_with_their_row(rng):
    Y, weight = rng.normal(size=(12, 2)), rng.integers(1, 4, 12).astype(float)
    inverse = np.array([2, 0, 0, 1, 3, 2, 1, 0, 3, 3, 2, 1])
    order = rng.permutation(12)
    found = targets_of(Y, weight, inverse)
    other = targets_of(Y[order], weight[order], inverse[order])
    np.testing.assert_array_equal(found.values, other.values)
    np.testing.assert_array_equal(found.count, other.count)
    plain = found.as_given()
    for i in range(4):
        own = inverse == i
        mean = np.average(Y[own], axis=0, weights=weight[own])
        back = [t.back(plain.Y[i, c]) for c, t in enumerate(plain.transforms)]
        np.testing.assert_allclose(back, mean)
    means = np.array(
        [np.average(Y[inverse == i], axis=0, weights=weight[inverse == i]) for i in range(4)]
    )
    scale = np.array([t.scale for t in plain.transforms])
    within = weight @ (Y - means[inverse]) ** 2
    np.testing.assert_allclose(plain.within * scale**2, within)
    some = found.take(np.array([3, 1]))
    np.testing.assert_allclose(
        some.weight, [weight[inverse == 3].sum(), weight[inverse == 1].sum()]
    )
    np.testing.assert_allclose(some.Y, found.Y[[3, 1]])
    twice = targets_of(np.repeat(Y, 2, axis=0), np.repeat(weight / 2, 2), np.repeat(inverse, 2))
    np.testing.assert_array_equal(twice.values, found.values)
    np.testing.assert_allclose(twice.count, found.count)


def test_the_regulariser_and_the_transform_of_least_error(rng):
    n, R = 60, 3
    y = np.exp(rng.normal(size=n))
    targets = targets_of(np.c_[y, -y], rng.integers(1, 3, n).astype(float))
    assert [t.is_log for t in targets.transforms] == [False, True, False]
    scores = targets.Y + np.array([0.5, 0.2, 0.9])[:, None, None] * rng.normal(size=(R, n, 3))
    found = choose_values(scores, targets)
    np.testing.assert_array_equal(found.best, [1, 1, 1])
    assert choose_values(scores, targets, np.array([True, False, True])).best[0] == 0
    assert choose_values(scores, targets, np.zeros(3, dtype=bool)) is None
    expected = targets.count @ (found.held - targets.values) ** 2 / targets.total
    np.testing.assert_allclose(squared_errors(found.held, targets), expected)
    np.testing.assert_allclose(found.map(scores[1]), found.held)  # as of new rows


@pytest.mark.parametrize(("noise", "is_log"), [(0.05, True), (3.0, False)])
def test_the_logarithm_only_where_it_is_surely_better(noise, is_log):
    rng = np.random.default_rng(0)
    y = np.exp(1.5 * rng.normal(size=200))
    targets = targets_of(y)
    scores = targets.Y + 0.5 * rng.normal(size=(200, 2))
    scores[:, 1] = targets.Y[:, 1] + noise * rng.normal(size=200)
    found = choose_values(scores[None], targets)
    assert found.map.transforms[0].is_log == is_log


def test_predictions_stay_within_what_was_seen_and_a_tenth_more():
    y = np.linspace(-1, 3, 40)
    targets = targets_of(y)
    found = choose_values(100 * targets.Y[None], targets)
    assert found.held.min() == pytest.approx(-1.4) and found.held.max() == pytest.approx(3.4)


def test_weights_by_absolute_errors(rng):
    n = 80
    y, weight = rng.normal(size=n), rng.integers(1, 4, n)
    held = y + np.array([0.3, 0.31, 0.6])[:, None] * rng.normal(size=(3, n))
    often = np.repeat(np.arange(n), weight)
    E = np.abs(held - y)[:, often]
    best = ((held - y) ** 2)[:, often].mean(axis=1).argmin()
    D = E - E[best]
    z = np.maximum(D.mean(axis=1), 0) / np.maximum(D.std(axis=1) / np.sqrt(len(often)), 1e-12)
    expected = np.exp(-(z**2) / 2)
    found = value_weights(held[:, :, None], targets_of(y, weight.astype(float)))
    np.testing.assert_allclose(found[:, 0], expected / expected.sum(), atol=1e-9)


def test_weights_of_least_squares(rng):
    n = 300
    y = rng.normal(size=n)
    targets = targets_of(y, rng.integers(1, 3, n).astype(float))
    held = (y + rng.normal(size=(4, n)) * np.array([0.5, 0.5, 0.7, 3.0])[:, None])[:, :, None]
    w = least_squares_weights(held, targets)[:, 0]
    assert w.sum() == pytest.approx(1) and w.min() >= 0

    def error(v):
        return targets.count @ (v @ held[:, :, 0] - targets.values[:, 0]) ** 2

    for _ in range(200):  # no point of the simplex is better
        assert error(w) <= error(rng.dirichlet(np.ones(4))) + 1e-9
        assert error(w) <= error(0.999 * w + 0.001 * rng.dirichlet(np.ones(4))) + 1e-9


def test_rows_that_have_learned_do_not_judge(rng):
    from dataclasses import replace

    n = 60
    y = rng.normal(size=n)
    whole = targets_of(y)
    targets = replace(whole, unseen=np.arange(30, n))
    held = np.stack([y.copy(), y.copy()])
    held[0, 30:] += 1.0  # good only where it was learned
    held[1] += 0.5
    assert value_weights(held[:, :, None], targets)[1, 0] > 0.99
    assert squared_errors(held[0][:, None], targets)[0] == pytest.approx(1.0)
