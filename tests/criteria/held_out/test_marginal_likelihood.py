"""Scales by marginal likelihood: value, gradient, weights as repetitions, and what it is for."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from kernel_learn.criteria.held_out.marginal_likelihood import (
    JITTER,
    MEAN_VARIANCE,
    MarginalLikelihood,
    learn_likelihood_scales,
)
from kernel_learn.criteria.held_out.number_targets import merge_values

N, D = 30, 4
BLOCKS = np.array([0, 1, 2, 2])


def targets_of(Y, weight=None):
    weight = np.ones(len(Y)) if weight is None else weight
    return merge_values(np.reshape(Y, (len(Y), -1)), weight, np.arange(len(Y)))


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N, D))
    return X, np.c_[np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2] + 0.1 * rng.normal(size=(N, 2))


@pytest.mark.parametrize("family", ["gauss", "matern", "exp"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_gradient_is_that_of_differences(rows, family, form, rng):
    X, Y = rows
    weight = rng.integers(1, 4, N).astype(float)
    problem = MarginalLikelihood(form(X), targets_of(Y, weight), family, BLOCKS)
    t = problem.mode + 0.3 * rng.normal(size=len(problem.mode))
    value, gradient = problem.value_and_gradient(t)
    h = 1e-6
    for j, own in enumerate(gradient):
        ends = [problem.value_and_gradient(t + s * h * np.eye(len(t))[j])[0] for s in (1, -1)]
        assert own == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-5)
    assert len(gradient) == 3 + 3 and np.isfinite(value)


@pytest.mark.parametrize(
    ("family", "radial"),
    [
        ("gauss", lambda s: RBF(1 / s)),
        ("matern", lambda s: Matern(1 / s, nu=1.5)),
        ("exp", lambda s: Matern(1 / s, nu=0.5)),
    ],
)
def test_value_and_gradient_are_those_of_a_gaussian_process(rows, family, radial):
    X, Y = rows
    y = Y[:, 0]
    problem = MarginalLikelihood(X, targets_of(y), family)
    t = problem.mode + np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3, 0.2])
    s, (a, b, e) = np.exp(t[:-3]), np.exp(t[-3:])
    unit = np.mean(np.sum(X**2, axis=1))
    kernel = ConstantKernel(a) * radial(s) + ConstantKernel(b / unit) * DotProduct(0.0, "fixed")
    kernel += ConstantKernel(MEAN_VARIANCE, "fixed") + WhiteKernel(e)
    process = GaussianProcessRegressor(kernel, alpha=JITTER, optimizer=None)
    process.fit(X, (y - y.mean()) / y.std())
    expected, slopes = process.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    by_a, by_length, (by_b, by_noise) = slopes[0], slopes[1 : 1 + D], slopes[1 + D :]
    prior = np.sum((t - problem.mode) ** 2) / 8
    value, gradient = problem.value_and_gradient(t)
    assert value - prior == pytest.approx(-expected, abs=1e-8)
    found = gradient - (t - problem.mode) / 4
    np.testing.assert_allclose(found, np.r_[by_length, -by_a, -by_b, -by_noise], atol=1e-8)


def test_a_weight_is_a_repetition(rows, rng):
    X, Y = rows
    weight = rng.integers(1, 4, N)
    often = np.repeat(np.arange(N), weight)
    values = Y[often] + 0.1 * rng.normal(size=(len(often), 2))  # equal rows, other values
    merged = MarginalLikelihood(X, merge_values(values, np.ones(len(often)), often), "gauss")
    whole = MarginalLikelihood(X[often], targets_of(values), "gauss")
    whole.mode = merged.mode  # medians of pairs are those of the weights
    whole.G, whole.unit = merged.G[np.ix_(often, often)], merged.unit
    t = merged.mode + 0.1
    a, b = merged.value_and_gradient(t), whole.value_and_gradient(t)
    assert a[0] == pytest.approx(b[0], abs=1e-7)
    np.testing.assert_allclose(a[1], b[1], atol=1e-6)


def test_columns_that_say_nothing_get_small_scales(rng):
    X = rng.normal(size=(120, 5))
    y = np.sin(2 * X[:, 0]) + 0.05 * rng.normal(size=120)
    learned = learn_likelihood_scales(X, targets_of(y), "gauss", None, most_rows=100, max_iter=30)
    assert learned.scales.argmax() == 0 and learned.scales[0] > 4 * learned.scales[1:].max()
    K = learned.kernel(linear=True)(X)
    a, b = np.exp(learned.point[-3:-1])
    Z = X * learned.scales
    D = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(K, a * np.exp(-D / 2) + b * X @ X.T / learned.unit, atol=1e-10)
    start = learned.point
    again = learn_likelihood_scales(
        X, targets_of(y), "gauss", None, most_rows=100, max_iter=1, start=start
    )
    assert np.abs(again.point - start).max() < 0.5


def test_of_very_many_columns_there_is_one_scale(rng):
    X = rng.normal(size=(20, 400))
    problem = MarginalLikelihood(X, targets_of(X[:, 0]), "gauss")
    assert problem.n_blocks == 1 and len(problem.mode) == 4
