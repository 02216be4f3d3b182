"""HSIC and alignment against their definitions, and the test's size and power."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel

from kernel_learn import metrics
from kernel_learn.kernels import Gaussian, gaussian_bank

X, y = load_iris(return_X_y=True)
K = rbf_kernel(X, gamma=0.3)
Y = np.eye(3)[y]
P = np.eye(150) - 1 / 150


def cosine(A, B):
    return np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B)


def test_definitions():
    kernel = Gaussian(0.3)
    assert metrics.hsic(X, y, kernel=kernel) == pytest.approx(
        np.trace(K @ P @ Y @ Y.T @ P) / 149**2
    )
    assert metrics.alignment(X, y, kernel=kernel) == pytest.approx(cosine(K, Y @ Y.T))
    expected = cosine(P @ K @ P, P @ Y @ Y.T @ P)
    assert metrics.centered_alignment(X, y, kernel=kernel) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["hsic", "alignment", "centered_alignment"])
def test_precomputed_and_weights(name):
    measure = getattr(metrics, name)
    value = measure(X, y, kernel=Gaussian(0.3))
    assert measure(K, y, kernel="precomputed") == pytest.approx(value)
    weight = 1.0 + np.arange(150) % 3
    repeated = np.repeat(np.arange(150), weight.astype(int))
    weighted = measure(X, y, kernel=Gaussian(0.3), sample_weight=weight)
    assert weighted == pytest.approx(measure(X[repeated], y[repeated], kernel=Gaussian(0.3)))
    assert abs(weighted - value) > 1e-4
    with pytest.raises(ValueError, match="one kernel is needed"):
        measure(X, y, kernel=gaussian_bank(2))
    with pytest.raises(ValueError, match="at least 2 classes"):
        measure(X, np.zeros(150))


def test_test_has_power_and_size():
    found = metrics.hsic_test(X, y, n_permutations=199, random_state=0)
    assert found == (pytest.approx(metrics.hsic(X, y)), 1 / 200)
    rng = np.random.default_rng(0)
    p_values = [
        metrics.hsic_test(
            rng.normal(size=(30, 2)), np.arange(30) % 2, n_permutations=39, random_state=seed
        ).p_value
        for seed in range(60)
    ]
    assert min(p_values) >= 1 / 40
    assert 0.35 < np.mean(p_values) < 0.65
    weighted = metrics.hsic_test(X, y, sample_weight=1.0 + y, n_permutations=19, random_state=0)
    assert weighted.p_value == 1 / 20
