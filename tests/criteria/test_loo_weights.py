"""Kernel weights by held-out error: refits, differences, planted kernels."""

import numpy as np
import pytest

from kernel_learn.criteria.loo_weights import centred_trace, learn_loo_weights, loo_error
from kernel_learn.criteria.targets import Targets
from kernel_learn.kernels import Gaussian, Linear
from oracles import classifier as oracle


@pytest.fixture
def data(rng):
    X = rng.standard_normal((24, 4))
    y = (X[:, 0] + 0.2 * rng.standard_normal(24) > 0).astype(int)
    counts = np.eye(2)[y] * rng.integers(1, 3, size=(24, 1))
    Ks = np.array([Linear()(X[:, :1]), Linear()(X[:, 1:2]), Gaussian(0.5)(X[:, 2:])])
    return Ks, counts


def test_error_is_that_of_refits(data):
    Ks, counts = data
    theta, lam = np.array([0.5, 0.2, 0.3]), 0.7
    K = np.tensordot(theta, Ks, 1)
    scores = oracle.ridge_left_out(K, counts, lam, [[i] for i in range(24)])
    weight = counts.sum(axis=1, keepdims=True)
    expected = np.sum(weight * (counts / weight - scores) ** 2) / weight.sum()
    assert loo_error(Ks, theta, lam, Targets(counts))[0] == pytest.approx(expected)


def test_derivatives_are_differences(data):
    Ks, counts = data
    theta, lam, targets, h = np.array([0.5, 0.2, 0.3]), 0.7, Targets(counts), 1e-6
    _, by_theta, by_lam = loo_error(Ks, theta, lam, targets)
    for m in range(3):
        e = h * np.eye(3)[m]
        up, down = (loo_error(Ks, theta + s * e, lam, targets)[0] for s in (1, -1))
        assert by_theta[m] == pytest.approx((up - down) / (2 * h), rel=1e-5)
    up, down = (loo_error(Ks, theta, lam + s * h, targets)[0] for s in (1, -1))
    assert by_lam == pytest.approx((up - down) / (2 * h), rel=1e-5)


def test_finds_the_kernel_and_is_pulled(data):
    Ks, counts = data
    found = learn_loo_weights(Ks, Targets(counts))
    shares = found.weights * [centred_trace(K, Targets(counts)) for K in Ks]
    assert shares.argmax() == 0 and found.history[-1] <= found.history[0]
    equal = learn_loo_weights(Ks, Targets(counts), pull=1e4)
    assert found.error < equal.error
    equal = equal.weights * [centred_trace(K, Targets(counts)) for K in Ks]
    np.testing.assert_allclose(equal, equal.mean(), rtol=1e-2)


def test_scale_of_a_kernel_does_not_matter(data):
    Ks, counts = data
    factors = np.array([1.0, 100.0, 0.01])
    a = learn_loo_weights(Ks, Targets(counts)).weights
    b = learn_loo_weights(Ks * factors[:, None, None], Targets(counts)).weights
    np.testing.assert_allclose(a, b * factors, rtol=1e-3)
