import numpy as np
import pytest

from kernel_learn.solvers.eigen import fix_signs, solve_top_eigen


def test_point_diagonalises_and_value_sums(rng):
    A = rng.normal(size=(6, 4))
    M = A @ A.T
    result = solve_top_eigen(M, 3)
    w = np.sort(np.linalg.eigvalsh(M))[::-1]
    assert result.value == pytest.approx(w[:3].sum())
    np.testing.assert_allclose(result.point.T @ M @ result.point, np.eye(3), atol=1e-10)


def test_rank_is_found_and_never_divided_by(rng):
    A = rng.normal(size=(6, 2))
    result = solve_top_eigen(A @ A.T, 5)
    assert result.point.shape == (6, 2)
    assert np.isfinite(result.point).all()
    assert solve_top_eigen(np.zeros((3, 3)), 2).point.shape == (3, 0)


def test_signs_do_not_hang_on_rounding():
    for noise in (-1e-14, 0, 1e-14):
        R = np.array([[-1.0], [1.0 + noise]])
        assert fix_signs(R)[0, 0] > 0
    np.testing.assert_array_equal(fix_signs(np.zeros((2, 1))), np.zeros((2, 1)))
