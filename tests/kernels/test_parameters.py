"""Kernels are plain parameter objects: copies, pickles, nested names, grids."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid

from kernel_learn.kernels import (
    ColumnKernel,
    Combination,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    SubspaceKernel,
)
from tolerances import EXACT, KERNEL


class Model(BaseEstimator):
    def __init__(self, kernel="gaussian", reg=1.0):
        self.kernel = kernel
        self.reg = reg


def test_nested_names_as_a_grid_search_uses_them():
    grid = ParameterGrid({"kernel__gamma": [0.1, "scale"], "kernel__nu": [0.5, 2.5]})
    model = Model(kernel=Matern())
    found = [clone(model).set_params(**parameters).kernel.get_params() for parameters in grid]
    assert found == [{"gamma": gamma, "nu": nu} for gamma in (0.1, "scale") for nu in (0.5, 2.5)]
    assert model.kernel.get_params() == {"gamma": "median", "nu": 1.5}


def test_nested_twice():
    model = Model(kernel=ColumnKernel(Gaussian(), ["a"]))
    model.set_params(kernel__kernel__gamma=2.0, kernel__columns=["b"])
    assert model.kernel.kernel.gamma == 2.0 and model.kernel.columns == ["b"]


def test_unknown_parameter():
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        Gaussian().set_params(width=1)


def test_prints_as_it_is_written():
    assert repr(Gaussian()) == "Gaussian()"
    assert repr(Polynomial(2, "scale")) == "Polynomial(degree=2, gamma='scale')"


def test_clones_share_nothing():
    kernel = Combination([Gaussian(1.0), Linear()], np.array([0.5, 0.5]))
    copied = clone(kernel)
    copied.kernels[0].set_params(gamma=9.0)
    copied.weights[0] = 7.0
    assert kernel.kernels[0].gamma == 1.0 and kernel.weights[0] == 0.5


def test_resolve_makes_a_new_kernel(rng):
    X = rng.standard_normal((6, 2))
    kernel = Gaussian()
    resolved = kernel.resolve(X)
    assert kernel.gamma == "median" and isinstance(resolved.gamma, float)
    resolved.set_params(gamma=5.0)
    assert kernel.gamma == "median"


@pytest.fixture
def subspace(rng):
    return SubspaceKernel(
        Gaussian(0.5),
        rng.standard_normal((7, 3)),
        rng.standard_normal((7, 2)),
        np.array([0.1, 0.2]),
    )


def test_subspace_kernel(subspace, rng, monkeypatch):
    X, X_new = rng.standard_normal((9, 3)), rng.standard_normal((4, 3))

    def feature(x):
        k = np.array([np.exp(-0.5 * ((x - z) ** 2).sum()) for z in subspace.landmarks])
        return k @ subspace.coef - subspace.offset

    F, F_new = np.array([feature(x) for x in X]), np.array([feature(x) for x in X_new])
    np.testing.assert_allclose(subspace.transform(X), F, atol=KERNEL)
    np.testing.assert_allclose(subspace(X), F @ F.T, atol=KERNEL)
    np.testing.assert_allclose(subspace(X_new, X), F_new @ F.T, atol=KERNEL)
    np.testing.assert_allclose(subspace.diag(X), (F**2).sum(axis=1), atol=KERNEL)
    monkeypatch.setattr("kernel_learn.kernels.base.BLOCK_SIZE", 14)
    np.testing.assert_allclose(subspace.transform(X), F, atol=EXACT)


def test_subspace_kernel_takes_the_rows_of_its_kernel(subspace):
    assert subspace.input == "vectors"
    assert SubspaceKernel(ColumnKernel(Linear(), "a"), None, None, None).input == "columns"
