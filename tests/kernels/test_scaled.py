"""Scales of columns inside a kernel."""

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from kernel_learn.kernels import (
    ColumnKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    ScaledKernel,
    Spectrum,
)
from kernel_learn.testing import check_kernel
from tolerances import EXACT, KERNEL

SCALES = np.array([2.0, 0.0, 0.5, 1.0])
BASES = [Gaussian(0.3), Laplacian(0.2), Matern(0.4), Linear(), Polynomial(2, 0.3)]


@pytest.fixture
def X(rng):
    return rng.normal(size=(14, 4))


@pytest.mark.parametrize("base", [*BASES, "gaussian", "rbf", Gaussian("scale"), Polynomial()])
def test_keeps_the_promises_of_a_kernel(base, X):
    check_kernel(ScaledKernel(base, SCALES), X=X)


@pytest.mark.parametrize("base", BASES)
def test_is_the_kernel_of_scaled_rows(base, X):
    kernel = ScaledKernel(base, SCALES)
    np.testing.assert_allclose(kernel(X), base(X * SCALES), rtol=KERNEL, atol=KERNEL)
    np.testing.assert_allclose(
        kernel(sparse.csr_matrix(X), X[:3]), base(X * SCALES, X[:3] * SCALES), atol=EXACT
    )
    assert kernel(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("rule", ["median", "scale", "auto", "2 * median"])
def test_scale_zero_is_a_column_dropped(rule, X):
    """Of the rules too: gamma="auto" counts the columns that are left."""
    kept = SCALES > 0
    dropped = Gaussian(rule).resolve(X[:, kept] * SCALES[kept])
    found = ScaledKernel(Gaussian(rule), SCALES).resolve(X)
    assert found.base.gamma == pytest.approx(dropped.gamma)
    y = np.arange(14) % 2
    model = kl.HSICSubspace(ScaledKernel(Gaussian(rule), SCALES)).fit(X, y)
    assert model.base_kernel_.base.gamma == pytest.approx(dropped.gamma)
    X[:, 1] = 1e9
    np.testing.assert_allclose(found(X), dropped(X[:, kept] * SCALES[kept]), atol=EXACT)


@pytest.mark.parametrize("base", [Gaussian(0.3), Linear(), Polynomial(2, 0.3), Matern(0.4)])
def test_gradient_in_the_points(base, X, rng):
    kernel, A, eps = ScaledKernel(base, SCALES), rng.normal(size=(14, 3)), 1e-6
    Z = rng.normal(size=(3, 4))
    expected = np.zeros((3, 4))
    for j in range(3):
        for f in range(4):
            up, down = Z.copy(), Z.copy()
            up[j, f] += eps
            down[j, f] -= eps
            expected[j, f] = np.sum(A * (kernel(X, up) - kernel(X, down))) / (2 * eps)
    np.testing.assert_allclose(kernel.reference_gradient(X, Z, A), expected, atol=1e-7)


def test_explicit_features_of_a_linear_base(X):
    kernel = ScaledKernel(Linear(), SCALES)
    E = kernel.explicit_landmarks(X)
    assert kernel.explicit_dimension(X) == 3 == len(E)
    np.testing.assert_allclose(kernel(E), np.eye(3), atol=EXACT)
    np.testing.assert_allclose(kernel(X, E) @ kernel(E, X), kernel(X), atol=EXACT)


def test_in_a_bank_and_on_some_columns(X):
    y = np.arange(14) % 2
    bank = [ScaledKernel(Gaussian(), SCALES), ColumnKernel(ScaledKernel("linear", [1, 3]), [0, 2])]
    assert kl.KernelDiscriminant(bank).fit(X, y).predict(X).shape == (14,)


@pytest.mark.parametrize(
    ("scales", "match"),
    [
        (np.ones(3), "X has 4 columns"),
        (np.array([1, -1, 1, 1]), "not negative"),
        (np.zeros(4), "not all zero"),
        (np.array([1, np.nan, 1, 1]), "finite"),
    ],
)
def test_scales_that_are_none(scales, match, X):
    with pytest.raises(ValueError, match=match):
        ScaledKernel(Gaussian(1.0), scales)(X)


def test_strings_have_no_columns():
    with pytest.raises(ValueError, match="multiplies columns of numbers"):
        ScaledKernel(Spectrum(2), [1.0])(["ab", "ba"])
