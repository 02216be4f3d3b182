"""Kernel matrices given as such, and their repair."""

import numpy as np
import pytest
from scipy import sparse

from extras import optional
from kernel_learn.kernels import Precomputed
from oracles import naive
from tolerances import EXACT

pd = optional("pandas")


@pytest.fixture
def F(rng):
    return rng.standard_normal((10, 4))


@pytest.fixture
def indefinite(rng):
    A = rng.standard_normal((10, 10))
    K = A + A.T
    K.setflags(write=False)
    return K


def resolve_with_warning(kernel, K):
    with pytest.warns(
        UserWarning, match=r"negative eigenvalues \(smallest -.*new rows are repaire"
    ):
        return kernel.resolve(K)


def test_rows_are_values(F):
    K = F @ F.T
    kernel = Precomputed().resolve(K)
    assert kernel.repair is None
    assert np.array_equal(kernel(K), K)
    assert np.array_equal(kernel(K[:3], kernel.reference(K, [7, 1])), K[:3][:, [7, 1]])
    assert np.array_equal(kernel.diag(K), np.diagonal(K))
    assert not np.shares_memory(kernel(K), K)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("psd", ["clip", "error"])
def test_rounding_is_no_reason_to_repair(F, dtype, psd):
    K = (F @ F.T).astype(dtype)  # of rank 4: six eigenvalues are rounding of either sign
    assert np.linalg.eigvalsh(K)[0] < 0
    assert Precomputed(psd=psd).resolve(K).repair is None
    assert Precomputed(psd=psd).resolve(1e-6 * K).repair is None
    assert Precomputed(psd=psd).resolve(np.zeros((3, 3), dtype)).repair is None


def test_clip_is_the_positive_part(indefinite):
    kernel = resolve_with_warning(Precomputed(), indefinite)
    np.testing.assert_allclose(kernel(indefinite), naive.positive_part(indefinite), atol=EXACT)
    assert np.linalg.eigvalsh(kernel(indefinite))[0] > -EXACT
    assert kernel.resolve(indefinite) is kernel  # without a second warning


def test_new_rows_are_repaired_alike(indefinite, rng):
    kernel = resolve_with_warning(Precomputed(), indefinite)
    new = rng.standard_normal((3, 10))
    P = naive.positive_projector(indefinite)
    np.testing.assert_allclose(kernel(new), new @ P, atol=EXACT)
    np.testing.assert_allclose(kernel(new, np.array([2, 5])), (new @ P)[:, [2, 5]], atol=EXACT)
    # a training row given as a new row gets its training values
    np.testing.assert_allclose(kernel(indefinite[4:5]), kernel(indefinite)[4:5], atol=EXACT)


def test_error_refuses(indefinite):
    with pytest.raises(ValueError, match=r"not positive semidefinite.*from -.*psd=.clip"):
        Precomputed(psd="error").resolve(indefinite)


def test_a_small_negative_eigenvalue_is_seen(F):
    K = F @ F.T - 1e-8 * np.eye(10)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        Precomputed(psd="error").resolve(K)


def test_not_symmetric(F):
    K = F @ F.T
    K[2, 5] += 0.5
    message = r"not symmetric: entry \((2, 5|5, 2)\) is .*K \+ K.T"
    with pytest.raises(ValueError, match=message):
        Precomputed().resolve(K)
    K[2, 5] = K[5, 2] * (1 + 1e-12)  # rounding
    assert Precomputed().resolve(K).repair is None


def test_not_square(F):
    with pytest.raises(ValueError, match=r"must be square at fit, and X has shape \(10, 4\)"):
        Precomputed().resolve(F)


def test_unknown_repair(F):
    with pytest.raises(ValueError, match='psd must be "clip" or "error"'):
        Precomputed(psd="flip").resolve(F @ F.T)


def test_single_precision(indefinite):
    K = indefinite.astype(np.float32)
    kernel = resolve_with_warning(Precomputed(), K)
    assert kernel.repair.dtype == kernel(K).dtype == np.float32


def test_other_storage():
    K = np.array([[2, 1], [1, 2]])
    for rows in (K, K.tolist(), pd.DataFrame(K), sparse.csr_matrix(K)):
        kernel = Precomputed().resolve(rows)
        values = kernel(rows)
        assert values.dtype == np.float64 and np.array_equal(values, K)
