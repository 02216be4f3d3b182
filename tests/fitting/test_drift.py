"""Models that forget: a fit with weights by age; and whether new rows are as those before."""

import logging
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_learn as kl
from kernel_learn.kernels import Gaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
W = RNG.integers(1, 4, 240).astype(float)


def discriminant():
    return kl.KernelDiscriminant(Gaussian(0.3), landmarks=X[:20], reg=1e-2, decision="centroid")


def grown(sizes, decay, weight=None):
    model, start = discriminant(), 0
    for size in sizes:
        part = slice(start, start + size)
        own = None if weight is None else weight[part]
        model.partial_fit(X[part], Y[part], sample_weight=own, decay=decay)
        start += size
    return model


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.sampled_from([30.0, 200.0]))
@settings(max_examples=15, deadline=None)
def test_any_blocks_are_one_fit_with_weights_by_age(sizes, decay):
    sizes = [*sizes, 240 - sum(sizes)] if sum(sizes) < 240 else [100, 140]
    age = np.arange(240)[::-1]
    for weight in (None, W):
        model = grown(sizes, decay, weight)
        by_age = 0.5 ** (age / decay) * (1 if weight is None else weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of weights whose sum is less than their number
            expected = discriminant().fit(X, Y, sample_weight=by_age)
        np.testing.assert_allclose(model.priors_, expected.priors_, rtol=1e-9)
        a, b = model.transform(X), expected.transform(X)
        np.testing.assert_allclose(abs(a), abs(b), atol=1e-9 * abs(b).max())


def test_what_was_long_ago_is_forgotten():
    flipped = 1 - Y
    kept, faded = discriminant(), discriminant()
    for y in (flipped, flipped, flipped, Y):
        kept.partial_fit(X, y)
        faded.partial_fit(X, y, decay=60)
    assert faded.score(X, Y) > 0.9 > kept.score(X, Y)


def test_very_old_rows_do_not_matter_and_are_no_error():
    model = discriminant().partial_fit(X, Y, decay=0.5).partial_fit(X, Y, decay=30)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("decay", [0, -1.0, "fast", np.nan])
def test_refusals_leave_the_model(decay):
    model = discriminant().partial_fit(X, Y)
    state = model.state_
    with pytest.raises(ValueError, match="decay must be"):
        model.partial_fit(X, Y, decay=decay)
    assert model.state_ is state


class TestDrift:
    def test_it_is_the_discrepancy_of_the_features(self):
        model = discriminant().partial_fit(X[:100], Y[:100])
        assert model.drift_ is None
        features = model.state_.features
        model.partial_fit(X[100:], Y[100:])
        Z = features.block_moments(X[:100], np.zeros((100, 1))).feature_mean
        d = features.block_moments(X[100:], np.zeros((140, 1))).feature_mean - Z
        assert model.drift_["discrepancy"] == pytest.approx(d @ d, rel=1e-9)

    def test_p_values_are_uniform_without_drift_and_small_with_it(self):
        rng, found = np.random.default_rng(1), []
        for _ in range(100):
            rows = rng.normal(size=(150, 3))
            y = np.arange(150) % 2
            model = discriminant().partial_fit(rows[:100], y[:100])
            found.append(model.partial_fit(rows[100:], y[100:]).drift_["p_value"])
        assert np.mean(np.array(found) < 0.1) < 0.2 and 0.35 < np.mean(found) < 0.65
        model = discriminant().partial_fit(X, Y).partial_fit(X + 0.5, Y)
        assert model.drift_["p_value"] < 1e-6

    def test_it_is_logged(self, caplog):
        with caplog.at_level(logging.INFO, "kernel_learn"):
            discriminant().partial_fit(X, Y).partial_fit(X, Y)
        assert "240 rows: discrepancy 0, p-value 1" in caplog.text
