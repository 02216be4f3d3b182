"""Maximisation over subspaces, where the answer is known."""

import numpy as np
import pytest

from kernel_learn.solvers.riemannian import orthonormal, solve_grassmann


class Trace:
    """tr(V'MV): the maximum is the sum of the top eigenvalues (Ky Fan)."""

    def __init__(self, M):
        self.M = M

    def value_and_gradient(self, V):
        return float(np.sum(V * (self.M @ V))), 2 * self.M @ V


@pytest.mark.parametrize("n_components", [1, 3, 7])
def test_ky_fan(rng, n_components):
    A = rng.normal(size=(20, 20))
    M = A @ A.T
    result = solve_grassmann(Trace(M), rng.normal(size=(20, n_components)), tol=1e-6)
    assert result.status == "optimal"
    assert result.value == pytest.approx(np.linalg.eigvalsh(M)[-n_components:].sum(), rel=1e-10)
    np.testing.assert_allclose(result.point.T @ result.point, np.eye(n_components), atol=1e-12)
    values = [step["value"] for step in result.history]
    assert np.all(np.diff(values) >= 0)


def test_stops_and_says_so(rng):
    A = rng.normal(size=(20, 20))
    result = solve_grassmann(Trace(A @ A.T), rng.normal(size=(20, 2)), tol=1e-12, max_iter=2)
    assert result.status == "stopped"
    assert result.n_iter == 2
    assert result.grad_norm > 1e-12
    assert np.isnan(result.gap)


def test_retraction_is_continuous(rng):
    V = orthonormal(rng.normal(size=(6, 2)))
    D = rng.normal(size=(6, 2))
    for t in (1e-3, 1e-6):
        assert np.abs(orthonormal(V + t * D) - V).max() < 10 * t
