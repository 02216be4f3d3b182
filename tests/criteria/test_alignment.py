"""Alignment, radius-margin and expansion criteria: definitions and Taylor slopes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from kernel_learn.criteria.alignment import Alignment
from kernel_learn.criteria.expansion import ExpansionMargin
from kernel_learn.criteria.radius_margin import RadiusMargin
from kernel_learn.kernels import (
    Combination,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)
from kernel_learn.solvers.ball import smallest_ball
from kernel_learn.solvers.riemannian import orthonormal

N, M, L = 30, 6, 2


def slope(f, point, gradient, direction, steps=(1e-2, 1e-3)):
    """Order of the remainder |f(x + h d) - f(x) - h <g, d>|: 2 for a right gradient."""
    value = f(point)
    remainders = [
        abs(f(point + h * direction) - value - h * np.vdot(gradient, direction)) for h in steps
    ]
    return np.log(remainders[0] / remainders[1]) / np.log(steps[0] / steps[1])


@pytest.fixture
def sample(rng):
    U, w, _ = np.linalg.svd(rng.normal(size=(N, M)), full_matrices=False)
    A = U * w
    labels = np.arange(N) % 3
    return A, w**2, np.eye(3)[labels]


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_alignment_is_its_definition(sample, rng, lam):
    A, w, Y = sample
    V = orthonormal(rng.normal(size=(M, L)))
    criterion = Alignment(w, A.T @ Y, np.linalg.norm(Y @ Y.T), lam)
    K = A @ V @ V.T @ A.T
    if lam == 0:
        norm = np.linalg.norm(K) * np.linalg.norm(Y @ Y.T)
        assert criterion.value(V) == pytest.approx(np.sum(K * (Y @ Y.T)) / norm)
    R = np.linalg.qr(rng.normal(size=(L, L)))[0]
    assert criterion.value(V @ R) == pytest.approx(criterion.value(V))


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_alignment_gradient(sample, rng, lam):
    A, w, Y = sample
    criterion = Alignment(w, A.T @ Y, np.linalg.norm(Y @ Y.T), lam)
    V = orthonormal(rng.normal(size=(M, L)))
    gradient = criterion.value_and_gradient(V)[1]
    direction = rng.normal(size=(M, L))
    direction -= V @ (V.T @ direction)
    assert slope(lambda P: criterion.value(orthonormal(P)), V, gradient, direction) == (
        pytest.approx(2, abs=0.1)
    )


def test_paper_gradient_in_w(rng):
    """Wu & Farquhar Eq. 25-27 against ours through V = Z'W."""
    Z = rng.normal(size=(N, M))
    K = Z @ Z.T
    a = rng.normal(size=N)
    W = rng.normal(size=(N, L))

    def f(W):
        return a @ K @ W @ np.linalg.inv(W.T @ K @ W) @ W.T @ K @ a

    beta = np.linalg.solve(W.T @ K @ W, W.T @ K @ a)
    t = K @ a - K @ W @ beta
    D = rng.normal(size=W.shape)
    assert slope(f, W, 2 * np.outer(t, beta), D, (1e-4, 1e-5)) == pytest.approx(2, abs=0.1)


def test_radius_margin_gradient(sample, rng):
    A, _, _ = sample
    signs = np.where(rng.uniform(size=(N, 2)) > 0.5, 1.0, -1.0)
    criterion = RadiusMargin(A, signs, 0.5, np.ones(N))
    V = orthonormal(rng.normal(size=(M, L)))
    gradient = criterion.value_and_gradient(V)[1]
    direction = rng.normal(size=(M, L))
    direction -= V @ (V.T @ direction)
    found = slope(lambda P: criterion.value_and_gradient(orthonormal(P))[0], V, gradient, direction)
    assert found == pytest.approx(2, abs=0.1)


def test_radius_margin_is_its_definition(sample, rng):
    cp = pytest.importorskip("cvxpy")
    A, _, _ = sample
    signs = np.where(rng.uniform(size=(N, 1)) > 0.5, 1.0, -1.0)
    V = orthonormal(rng.normal(size=(M, L)))
    value, _ = RadiusMargin(A, signs, 0.5, np.ones(N)).value_and_gradient(V)
    root = np.linalg.cholesky(A @ V @ V.T @ A.T + 0.5 * np.eye(N))
    center, radius = cp.Variable(N), cp.Variable()
    ball = cp.Problem(cp.Minimize(radius), [cp.sum_squares(row - center) <= radius for row in root])
    alpha = cp.Variable(N, nonneg=True)
    dual = cp.Problem(
        cp.Maximize(cp.sum(alpha) - 0.5 * cp.sum_squares(root.T @ cp.multiply(signs[:, 0], alpha))),
        [signs[:, 0] @ alpha == 0],
    )
    R2 = ball.solve(solver=cp.CLARABEL)
    w2 = 2 * dual.solve(solver=cp.CLARABEL)
    assert value == pytest.approx(-np.log(R2) - np.log(w2), abs=1e-6)


def test_smallest_ball_holds_all_rows(rng):
    F = rng.normal(size=(200, 3))
    beta, R2 = smallest_ball(F, 1e-9, np.ones(200))
    center = beta @ F
    assert beta.min() >= 0
    assert beta.sum() == pytest.approx(1)
    assert np.max(np.sum((F - center) ** 2, axis=1)) == pytest.approx(R2, rel=1e-6)


def test_radius_margin_takes_weights_as_repetitions(sample, rng):
    A, _, _ = sample
    signs = np.where(rng.uniform(size=(N, 2)) > 0.5, 1.0, -1.0)
    weight = 1 + np.arange(N) % 3
    repeated = np.repeat(np.arange(N), weight)
    V = orthonormal(rng.normal(size=(M, L)))
    a = RadiusMargin(A, signs, 0.5, weight.astype(float)).value_and_gradient(V)
    b = RadiusMargin(A[repeated], signs[repeated], 0.5, np.ones(len(repeated)))
    b = b.value_and_gradient(V)
    assert a[0] == pytest.approx(b[0], rel=1e-6)
    assert_allclose(a[1], b[1], atol=1e-4)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.3),
        Exponential(0.5),
        Matern(0.5, 0.5),
        Matern(0.5, 1.5),
        Matern(0.5, 2.5),
        Polynomial(2, 0.3, 1.0),
        Linear(),
        Combination([Gaussian(0.3), Polynomial(2, 0.3, 1.0)], np.array([0.5, 0.1])),
    ],
    ids=repr,
)
def test_expansion_gradient(rng, kernel):
    X = rng.normal(size=(40, 3))
    signs = np.where(rng.uniform(size=(40, 2)) > 0.5, 1.0, -1.0)
    criterion = ExpansionMargin(
        kernel,
        X,
        signs,
        np.full(40, 2.0),
        np.array([1.0, 2.0, 0.5]),
    )
    Z = rng.normal(size=(2, 3))
    gradient = criterion.value_and_gradient(Z)[1]
    found = slope(
        lambda P: criterion.value_and_gradient(P)[0], Z, gradient, rng.normal(size=Z.shape)
    )
    assert found == pytest.approx(2, abs=0.1)


def test_expansion_gradient_of_the_hinge(rng):
    """By differences so small that no row comes to its margin; J is that of scikit-learn's SVC."""
    X, Z, D = rng.normal(size=(40, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    signs = np.where(rng.uniform(size=(40, 2)) > 0.5, 1.0, -1.0)
    prices, kernel = rng.uniform(0.5, 2, 40), Gaussian(0.3)
    criterion = ExpansionMargin(kernel, X, signs, prices, np.ones(3), "hinge")
    value, gradient = criterion.value_and_gradient(Z)
    h = 1e-4
    up, down = (criterion.value_and_gradient(Z + step * D)[0] for step in (h, -h))
    assert (up - down) / (2 * h) == pytest.approx(np.vdot(gradient, D), rel=1e-3)
    K_xz = kernel(X, Z)
    K = K_xz @ np.linalg.solve(kernel(Z), K_xz.T)
    expected = 0.0
    for y in signs.T:
        svc = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(K, y, sample_weight=prices)
        alpha = svc.dual_coef_[0]
        half = 0.5 * alpha @ K[np.ix_(svc.support_, svc.support_)] @ alpha
        expected += half + prices @ np.maximum(0, 1 - y * svc.decision_function(K))
    assert value == pytest.approx(expected, rel=1e-5)


def test_kernels_without_derivative_say_so(rng):
    with pytest.raises(ValueError, match="no derivative"):
        Laplacian(1.0).reference_gradient(np.eye(2), np.eye(2), np.eye(2))
