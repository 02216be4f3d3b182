import numpy as np
import pytest
from sklearn.svm import LinearSVC

from kernel_learn.solvers.squared_hinge import solve_squared_hinge


def naive_value(F, y, C, v):
    slack = np.maximum(0, 1 - y * (F @ v[:-1] + v[-1]))
    return 0.5 * v[:-1] @ v[:-1] + 0.5 * np.sum(C * slack**2)


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_optimal_by_its_gap_and_by_liblinear(rng, C):
    F = rng.normal(size=(80, 5))
    y = np.sign(F[:, 0] + 0.5 * rng.normal(size=80))
    boxes = np.full(80, C)
    result = solve_squared_hinge(F, y, boxes)
    assert result.status == "optimal"
    assert 0 <= result.gap + 1e-9 <= 1e-6 * result.value + 1e-8
    assert naive_value(F, y, boxes, result.point) == pytest.approx(result.value)
    other = LinearSVC(
        C=C / 2, loss="squared_hinge", intercept_scaling=1e3, tol=1e-10, max_iter=100_000
    ).fit(F, y)
    v = np.append(other.coef_[0], other.intercept_)
    assert result.value <= naive_value(F, y, boxes, v) + 1e-7 * result.value
    assert naive_value(F, y, boxes, v) == pytest.approx(result.value, rel=1e-3)


def test_weights_are_repetitions(rng):
    F = rng.normal(size=(30, 3))
    y = np.where(rng.uniform(size=30) > 0.5, 1.0, -1.0)
    weight = 1 + np.arange(30) % 3
    a = solve_squared_hinge(F, y, weight * 2.0)
    repeated = np.repeat(np.arange(30), weight)
    b = solve_squared_hinge(F[repeated], y[repeated], np.full(len(repeated), 2.0))
    np.testing.assert_allclose(a.point, b.point, atol=1e-8)
