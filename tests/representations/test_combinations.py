"""Landmarks that are combinations of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernel_learn import HSICSubspace, Landmarks
from kernel_learn.kernels import Gaussian, Spectrum
from kernel_learn.representations import FeatureMap


def test_an_invertible_combination_is_exact(rng):
    X, X_new = rng.normal(size=(20, 3)), rng.normal(size=(5, 3))
    kernel = Gaussian(0.5)
    for J in (np.eye(20), rng.normal(size=(20, 20))):
        features = FeatureMap.combined(kernel, X, J)
        assert_allclose(features(X_new) @ features(X).T, kernel(X_new, X), atol=1e-7)


def test_few_combinations_are_a_projection(rng):
    X = rng.normal(size=(20, 3))
    J = rng.normal(size=(20, 4))
    K = Gaussian(0.5)(X)
    Z = FeatureMap.combined(Gaussian(0.5), X, J)(X)
    assert Z.shape == (20, 4)
    assert_allclose(Z @ Z.T, K @ J @ np.linalg.inv(J.T @ K @ J) @ J.T @ K, atol=1e-9)


def test_hsic_takes_them_too(rng):
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    for rule in ("random", "clusters"):
        model = HSICSubspace(landmarks=Landmarks(rule, 8), random_state=0).fit(X, y)
        assert model.transform(X).shape == (40, 1)
    words = ["ab", "abb", "ba", "xy", "yx", "xxy"]
    with pytest.raises(ValueError, match="averages rows"):
        HSICSubspace(Spectrum(1), landmarks=Landmarks("clusters", 2)).fit(words, [0, 0, 0, 1, 1, 1])
