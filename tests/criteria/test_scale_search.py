"""Derivatives of the criteria in the kernel matrix and in the scales."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.scale_search import (
    CRITERIA,
    eliminate,
    scale_gradient,
    search_scales,
)
from kernel_learn.kernels import Exponential, Gaussian, Laplacian, Linear, Matern, Polynomial
from kernel_learn.solvers.ball import smallest_ball
from oracles.margin import dual_value

KERNELS = [Gaussian(0.2), Matern(0.4, 2.5), Exponential(0.3), Polynomial(2, 0.3), Linear()]


@pytest.fixture
def X(rng):
    return rng.normal(size=(25, 4))


@pytest.fixture
def targets(X, rng):
    counts = np.eye(3)[np.digitize(X[:, 1], [-0.4, 0.4])]
    return Targets(counts * rng.integers(1, 4, size=(25, 1)))


def slope(value, gradient, x, directions):
    """log-log slope of |f(x + h u) - f(x) - h g'u|, summed over u: 2 where g is the gradient."""
    steps = 10.0 ** np.array([-2.0, -2.5, -3.0])
    base = value(x)
    rest = [sum(abs(value(x + h * u) - base - h * gradient @ u) for u in directions) for h in steps]
    return np.polyfit(np.log(steps), np.log(rest), 1)[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_gradient_in_the_scales(name, kernel, X, targets, rng):
    criterion = CRITERIA[name](kernel(X), targets)
    s = rng.uniform(0.5, 1.5, 4)

    def value(x):
        return criterion(kernel(X * x), criterion.start)[0]

    _, Q, _ = criterion(kernel(X * s), criterion.start)
    np.testing.assert_allclose(Q, Q.T, atol=1e-12)
    gradient = scale_gradient(kernel, X, X * s, Q)
    assert slope(value, gradient, s, rng.normal(size=(6, 4))) == pytest.approx(2, abs=0.1)


def test_gradient_in_lam(X, targets):
    kernel = Gaussian(0.2)
    criterion = CRITERIA["loo"](kernel(X), targets)
    gradient = criterion(kernel(X), criterion.start)[2]

    def value(own):
        return criterion(kernel(X), own)[0]

    assert slope(value, gradient, criterion.start, np.ones((1, 1))) == pytest.approx(2, abs=0.1)


def test_loo_is_the_error_of_refits(X, targets):
    """Rows of weight w are w rows, left out together."""
    K, lam = Gaussian(0.2)(X), 0.3
    criterion = CRITERIA["loo"](K, targets)
    found = criterion(K.copy(), np.log([lam]))[0]
    w, error = targets.weight, 0.0
    for i in range(25):
        rest = np.delete(np.arange(25), i)
        system = np.ones((25, 25))
        system[:24, :24] = K[np.ix_(rest, rest)] + lam * np.diag(1 / w[rest])
        system[24, 24] = 0
        coef = np.linalg.solve(system, np.vstack([targets.Y[rest], np.zeros(3)]))
        score = K[i, rest] @ coef[:24] + coef[24]
        error += w[i] * np.sum((targets.Y[i] - score) ** 2)
    total = np.sum(w[:, None] * (targets.Y - targets.mean) ** 2)
    assert found == pytest.approx(error / total, rel=1e-10)


def test_alignment_is_that_of_repeated_rows(X, targets):
    K = Gaussian(0.2)(X)
    found = CRITERIA["alignment"](K.copy(), targets, floor=0.0)(K.copy(), np.empty(0))[0]
    rows = np.repeat(np.arange(25), targets.weight.astype(int))
    P = np.eye(len(rows)) - 1 / len(rows)
    G, H = P @ K[np.ix_(rows, rows)] @ P, P @ targets.Y[rows] @ targets.Y[rows].T @ P
    expected = np.sum(G * H) / (np.linalg.norm(G) * np.linalg.norm(H))
    assert 1 - found == pytest.approx(expected, rel=1e-10)


def test_margin_is_the_optimum_of_machines(X, targets):
    """Quadratic programmes with prices weight / lam; over their optimum at the start."""
    K, other = Gaussian(0.2)(X), Gaussian(1.0)(X)
    criterion = CRITERIA["margin"](K, targets)
    p = targets.weight / targets.weight.sum()
    boxes = targets.weight / (0.1 * (p @ np.diag(K) - p @ K @ p))
    labels = targets.Y.argmax(axis=1)

    def optimum(K):
        K = K + np.diag(1 / boxes)
        return sum(dual_value(K, np.where(labels == j, 1.0, -1.0), 1e6) for j in range(3))

    found = criterion(other.copy(), criterion.start)[0]
    assert found == pytest.approx(optimum(other) / optimum(K), rel=1e-4)


def test_radius_margin_of_two_rows():
    """|w|^2 = 4 / |a - b|^2 and R^2 = |a - b|^2 / 4, with lam on the diagonal of both."""
    X, targets = np.array([[0.0], [2.0]]), Targets(np.eye(2))
    K = X @ X.T
    criterion = CRITERIA["radius_margin"](K, targets, reg=0.5)
    lam = 0.5 * 1.0
    squared = 4 + 2 * lam
    value = criterion(K.copy(), np.empty(0))[0]
    assert np.exp(value) == pytest.approx((4 / squared) * (squared / 4), rel=1e-6)
    assert smallest_ball(X, lam, np.ones(2))[1] == pytest.approx(squared / 4)


def test_the_price_drops_columns(X, targets):
    kernel = Gaussian(0.2)
    found = [
        search_scales(kernel, X, CRITERIA["alignment"](kernel(X), targets), price)
        for price in (1e-4, 0.05, 10.0)
    ]
    left = [np.count_nonzero(one.point) for one in found]
    assert left[0] > left[1] == 1 and left[2] == 0
    assert found[1].point.argmax() == 1  # the labels are thirds of this column
    assert found[1].grad_norm < 1e-2 and found[1].status == "optimal"
    values = [step["value"] for step in found[1].history]
    assert values == sorted(values, reverse=True)
    held = search_scales(
        kernel, X, CRITERIA["alignment"](kernel(X), targets), 10.0, least=1e-3
    ).point
    assert held.min() == 1e-3


def test_elimination_keeps_the_larger_half():
    s = np.array([0.1, 5.0, 3.0, 0.2, 4.0, 1.0])
    np.testing.assert_array_equal(eliminate(s, 1), [1, 2, 4])
    np.testing.assert_array_equal(eliminate(s, 4), [1, 2, 4, 5])


def test_a_kernel_without_derivative_says_so(X, targets):
    kernel = Laplacian(0.2)
    with pytest.raises(ValueError, match="no derivative"):
        search_scales(kernel, X, CRITERIA["alignment"](kernel(X), targets), 0.1)
