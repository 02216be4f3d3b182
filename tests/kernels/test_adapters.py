"""Kernels of others: functions, names of scikit-learn, Gaussian-process kernels."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from kernel_learn import HSICSubspace
from kernel_learn.kernels import (
    FunctionKernel,
    Gaussian,
    GaussianProcessKernel,
    Kernel,
    Laplacian,
    PairwiseKernel,
    Polynomial,
    as_kernel,
)
from kernel_learn.kernels.resolve import NAMES
from tolerances import EXACT, SINGLE

X = np.random.default_rng(0).uniform(0, 1, size=(12, 4))
X_NEW = np.random.default_rng(1).uniform(0, 1, size=(5, 4))
X.setflags(write=False)
X_NEW.setflags(write=False)


@pytest.mark.parametrize("name", sorted(kernel_metrics()))
def test_names_of_scikit_learn(name):
    kernel = as_kernel(name).resolve(X)
    writeable, new = X.copy(), X_NEW.copy()  # scikit-learn's chi2 refuses read-only rows
    np.testing.assert_allclose(kernel(X), pairwise_kernels(writeable, metric=name), rtol=EXACT)
    np.testing.assert_allclose(
        kernel(X_NEW, X), pairwise_kernels(new, writeable, metric=name), rtol=EXACT
    )
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("name", sorted(kernel_metrics()))
def test_names_of_scikit_learn_on_csr_and_single_precision(name):
    kernel = as_kernel(name).resolve(X)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X)), kernel(X), rtol=EXACT, atol=EXACT)
    K = kernel(X.astype(np.float32))
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, kernel(X), rtol=10 * SINGLE, atol=SINGLE)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_a_kernel(name):
    assert isinstance(as_kernel(name), Kernel)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"kernel='gaussin' is not known. Known names:.*gaussian"):
        as_kernel("gaussin")


def test_as_kernel_keeps_kernels():
    kernel = Gaussian(1.0)
    assert as_kernel(kernel) is kernel
    assert isinstance(as_kernel(np.dot), FunctionKernel)
    assert isinstance(as_kernel(gp.RBF()), GaussianProcessKernel)
    assert isinstance(as_kernel("sigmoid"), PairwiseKernel)
    assert as_kernel("gaussian").gamma == "median"
    assert isinstance(as_kernel("poly"), Polynomial) and isinstance(
        as_kernel("laplacian"), Laplacian
    )


@pytest.mark.parametrize("spec", [[Gaussian()], {"a": Gaussian()}, (Gaussian(), Gaussian())])
def test_a_bank_is_not_one_kernel(spec):
    with pytest.raises(ValueError, match=r"bank of \d kernels, and one kernel is needed"):
        as_kernel(spec)


@pytest.mark.parametrize("spec", [None, 1.0, Gaussian])
def test_what_is_no_kernel(spec):
    with pytest.raises(ValueError, match=r"is not a kernel\. Give a name"):
        as_kernel(spec)


def bump(A, B):
    return np.maximum(0, 1 - np.abs(A[:, :1] - B[:, 0]))


def test_function():
    kernel = as_kernel(bump)
    assert np.array_equal(kernel(X), bump(X, X))
    assert np.array_equal(kernel(X_NEW, X), bump(X_NEW, X))
    assert np.array_equal(kernel.diag(X), np.ones(12))
    assert kernel(X.astype(np.float32)).dtype == np.float32
    assert kernel.diag(X[:0]).shape == (0,)


def test_function_of_sparse_rows():
    def product(A, B):
        return A @ B.T  # sparse times sparse is sparse

    S = sparse.csr_matrix(X)
    K = as_kernel(product)(S)
    assert isinstance(K, np.ndarray)
    np.testing.assert_allclose(K, X @ X.T, rtol=EXACT)


@pytest.mark.parametrize(
    "wrong",
    [lambda A, B: A, lambda A, B: 1.0, lambda A, B: (A @ B.T)[:, :3], lambda A, B: [1.0, 2.0]],
)
def test_function_of_the_wrong_shape(wrong):
    with pytest.raises(ValueError, match=r"returned shape .* of shape \(5, 12\)"):
        as_kernel(wrong)(X_NEW, X)


@pytest.mark.parametrize(
    "kernel",
    [
        gp.RBF(0.7),
        gp.RBF([0.5, 1.0, 2.0, 0.1]),
        gp.Matern(0.4, nu=2.5),
        gp.ConstantKernel(2.0) * gp.RationalQuadratic() + gp.DotProduct(0.1),
    ],
    ids=str,
)
def test_gaussian_process_kernels(kernel):
    ours = as_kernel(kernel)
    np.testing.assert_allclose(ours(X), kernel(X), rtol=EXACT)
    np.testing.assert_allclose(ours(X_NEW, X), kernel(X_NEW, X), rtol=EXACT)
    np.testing.assert_allclose(ours.diag(X), kernel.diag(X), rtol=EXACT)
    np.testing.assert_allclose(ours(sparse.csr_matrix(X)), kernel(X), rtol=EXACT)
    assert ours(X.astype(np.float32)).dtype == ours.diag(X.astype(np.float32)).dtype == np.float32
    counts = np.arange(8).reshape(2, 4)
    np.testing.assert_allclose(ours(counts), kernel(counts.astype(float)), rtol=EXACT)


def test_gaussian_process_kernel_has_nested_parameters():
    kernel = as_kernel(gp.RBF(1.0))
    kernel.set_params(kernel__length_scale=0.5)
    np.testing.assert_allclose(kernel(X), gp.RBF(0.5)(X), rtol=EXACT)


def test_a_function_is_looked_at_before_it_is_trusted():
    """Asymmetric and indefinite functions were accepted without a word."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.arange(150) % 2
    with pytest.raises(
        ValueError, match=r"kernel function .* is not symmetric: entry .* k\(z, x\)"
    ):
        HSICSubspace(lambda A, B: A @ B.T + A[:, :1]).fit(X, y)
    with pytest.warns(UserWarning, match="not positive semidefinite: on 100 rows"):
        HSICSubspace(lambda A, B: np.tanh(2 * A @ B.T - 1)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HSICSubspace(lambda A, B: A @ B.T).fit(X, y)
