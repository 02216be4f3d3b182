"""Kernel weights by held-out error: refits, differences, planted kernels."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.loo_weights import (
    GeneralisedCrossValidation,
    LeaveOneOut,
    centred_trace,
    learn_bank_weights,
    learn_loo_weights,
    loo_error,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.representations import ArraySource, GramForm, MomentForm, plan_source, represent
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


KERNELS = [Gaussian(0.05), Gaussian(1.0), Linear()]


@pytest.fixture
def rows(rng):
    X = rng.normal([0.0, 3.0, 0.0], 1.0, size=(40, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 2] > 1)
    return X, y, rng.integers(1, 4, size=40).astype(float)


def exact_form(X, y, weight, **options):
    return GramForm(KERNELS, X, np.eye(3)[y], weight, **options)


def moment_form(X, y, weight, count=12):
    source = ArraySource(X, y, weight, n_classes=3)
    plan = plan_source(KERNELS, source, np.arange(count))
    return represent(KERNELS, source, plan, np.arange(count))


@pytest.mark.parametrize("options", [{}, {"center": False, "weigh_rows": False}])
def test_error_of_a_form_is_that_of_the_matrices(rows, options):
    """Centred and weighed in the form, or neither."""
    X, y, weight = rows
    form = exact_form(X, y, weight, **options)
    d, lam = np.array([0.5, 0.2, 0.3]), 0.7
    centred = form.centred()
    found = LeaveOneOut(centred, form.targets)(d, lam)
    Ks = np.array([scale * k(X) for scale, k in zip(centred.scales, KERNELS, strict=True)])
    expected = loo_error(Ks, d, lam, Targets(weight[:, None] * np.eye(3)[y]))
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-9)


@pytest.mark.parametrize("make", ["exact", "as given", "some rows", "moments"])
def test_gradients_have_taylor_slope_two(rows, rng, make):
    X, y, weight = rows
    if make == "moments":
        error = GeneralisedCrossValidation(moment_form(X, y, weight))
    else:
        options = {"center": False, "weigh_rows": False} if make == "as given" else {}
        form = exact_form(X, y, weight, **options)
        error = LeaveOneOut(form.centred(), form.targets, 25 if make == "some rows" else 2000)
    d, lam = np.array([0.5, 0.2, 0.3]), 0.7
    step, by = rng.standard_normal(3), 0.5
    value, by_d, by_lam = error(d, lam)
    sizes = np.geomspace(1e-2, 1e-4, 5)
    rest = [
        abs(error(d + h * step, lam + h * by)[0] - value - h * (by_d @ step + by_lam * by))
        for h in sizes
    ]
    slope = np.polyfit(np.log(sizes), np.log(rest), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)


def test_generalised_cross_validation_is_that_of_the_features(rows):
    """From the hat matrix of all rows, repeated as often as they weigh."""
    X, y, weight = rows
    form = moment_form(X, y, weight)
    d, lam = np.array([0.5, 0.2, 0.3]), 0.7
    many = np.repeat(np.arange(40), weight.astype(int))
    parts = zip(form.theta_at(d), form.features.parts(X), strict=True)
    Z = np.hstack([np.sqrt(w) * Z for w, Z in parts])[many]
    Z, Y = Z - Z.mean(axis=0), np.eye(3)[y][many]
    n = len(many)
    H = Z @ np.linalg.solve(Z.T @ Z + lam * np.eye(Z.shape[1]), Z.T) + 1 / n
    expected = n * np.sum((Y - H @ Y) ** 2) / (n - np.trace(H)) ** 2
    assert GeneralisedCrossValidation(form)(d, lam)[0] == pytest.approx(expected)


def test_bank_weights_are_those_of_the_matrices(rows):
    X, y, weight = rows
    Ks = np.array([kernel(X) for kernel in KERNELS])
    expected = learn_loo_weights(Ks, Targets(weight[:, None] * np.eye(3)[y])).weights
    theta, result = learn_bank_weights(exact_form(X, y, weight))
    np.testing.assert_allclose(theta, expected, rtol=1e-4)
    assert result.status == "optimal" and result.history[-1]["grad_norm"] < 1e-2
    values = [step["value"] for step in result.history]
    assert len(values) == result.n_iter + 1 and values[-1] == result.value < values[0]
    assert (np.diff(values) <= 0).all()
    from_moments, _ = learn_bank_weights(moment_form(X, y, weight, 40))
    assert from_moments.argmax() == theta.argmax()


def test_moments_have_their_own_targets(rows):
    form = moment_form(*rows)
    assert isinstance(form, MomentForm)
    with pytest.raises(ValueError, match="targets of their form"):
        learn_bank_weights(form, np.eye(3)[rows[1]])
