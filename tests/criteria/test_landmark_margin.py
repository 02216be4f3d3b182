"""Weights by margins on landmark features: derivatives, and tangents that stay below."""

import numpy as np
import pytest

from kernel_learn.criteria.landmark_margin import LandmarkMargin, LandmarkSubspaceMargin
from kernel_learn.kernels import Gaussian, Laplacian
from kernel_learn.representations import ArraySource, FeatureMap, MomentForm
from kernel_learn.solvers.margin import one_vs_rest_signs

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 3))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.8)
KERNELS = [Gaussian(0.1), Gaussian(1.0), Laplacian(0.5)]
FEATURES = FeatureMap.whitened(KERNELS, X[:12])
SOURCE = ArraySource(X, Y, n_classes=3)


def make(kind):
    center = kind is LandmarkSubspaceMargin
    form = MomentForm(FEATURES, FEATURES.moments(SOURCE, 50), center=center, source=SOURCE)

    def blocks():
        for i in range(0, 160, 50):
            signs = one_vs_rest_signs(Y[i : i + 50], 3)
            yield FEATURES(X[i : i + 50]), signs, np.full(len(signs), 3.0)

    options = {"reg": 0.1} if center else {}
    return kind(form, blocks, 3, tol=1e-12, **options)


@pytest.mark.parametrize("kind", [LandmarkMargin, LandmarkSubspaceMargin])
def test_gradients_by_differences_and_tangents_below(kind):
    d = np.array([0.5, 0.3, 0.2])
    here = make(kind).evaluate(d)
    assert here.minorant == pytest.approx(here.value, rel=1e-6)
    for direction in (np.array([1.0, -1.0, 0.0]), np.array([0.5, 0.5, -1.0])):
        ahead, behind = (make(kind).evaluate(d + t * direction).value for t in (1e-4, -1e-4))
        assert (ahead - behind) / 2e-4 == pytest.approx(here.gradient @ direction, rel=1e-3)
    for e in (np.eye(3)[0], np.eye(3)[1], np.array([0.1, 0.1, 0.8])):
        there = make(kind).evaluate(e).value
        assert here.minorant + here.gradient @ (e - d) <= there * (1 + 1e-7)


@pytest.mark.parametrize("kind", [LandmarkMargin, LandmarkSubspaceMargin])
def test_a_kernel_of_weight_zero_has_its_slope(kind):
    d, e = np.array([0.6, 0.4, 0.0]), np.array([0.6, 0.4 - 1e-4, 1e-4])
    here, there = make(kind).evaluate(d), make(kind).evaluate(e)
    slope = (there.value - here.value) / 1e-4
    assert slope == pytest.approx(here.gradient[2] - here.gradient[1], rel=2e-2)
