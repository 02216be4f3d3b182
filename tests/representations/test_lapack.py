"""LAPACK in place: the same as SciPy's, and other threads run meanwhile."""

import sys
import threading

import numpy as np
import pytest
from scipy import linalg

from kernel_learn.representations import lapack
from kernel_learn.representations.lapack import (
    factorise,
    invert_factor,
    invert_triangle,
    solve_factor,
)


@pytest.fixture(params=["routine", "wrapper"], autouse=True)
def way(request, monkeypatch):
    """The wrappers serve where SciPy declares its routines in another way."""
    if request.param == "wrapper":
        if "meanwhile" in request.node.name:
            pytest.skip("wrappers hold the lock")
        monkeypatch.setattr(lapack, "_routine", lambda name, arguments: None)
    else:
        assert lapack._routine("dpotrf", b"cidii") is not None


def test_routines_of_other_types_are_not_called():
    assert lapack._routine("spotrf", b"cidii") is None
    assert lapack._routine("dpotrf", b"ciidii") is None
    assert lapack._routine("no_such", b"cidii") is None


def positive_definite(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T + np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 7, 130])
def test_factors_solutions_and_inverses_are_those_of_scipy(n):
    A = positive_definite(n)
    L = np.array(A, order="F")
    assert factorise(L)
    expected = linalg.cholesky(A, lower=True)
    np.testing.assert_allclose(np.tril(L), expected, atol=1e-12)
    for B in (np.arange(n) + 1.0, np.random.default_rng(1).normal(size=(n, 3))):
        given = B.copy()
        np.testing.assert_allclose(solve_factor(L, B), linalg.solve(A, B), atol=1e-9)
        np.testing.assert_array_equal(B, given)
    inverse = L.copy(order="F")
    invert_factor(inverse)
    np.testing.assert_allclose(np.tril(inverse), np.tril(linalg.inv(A)), atol=1e-9)
    invert_triangle(L)
    np.testing.assert_allclose(np.tril(L), linalg.inv(expected), atol=1e-9)


def test_a_corner_is_taken_in_place_and_what_is_above_the_diagonal_stays():
    A = np.array(positive_definite(9), order="F")
    before, corner = A.copy(), A[4:, 4:]
    assert factorise(corner)
    expected = linalg.cholesky(before[4:, 4:], lower=True)
    np.testing.assert_allclose(np.tril(A[4:, 4:]), expected, atol=1e-12)
    np.testing.assert_array_equal(np.triu(A, 1), np.triu(before, 1))
    np.testing.assert_array_equal(A[:, :4], before[:, :4])


def test_nothing():
    assert factorise(np.empty((0, 0), order="F"))
    assert solve_factor(np.empty((0, 0), order="F"), np.empty((0, 2))).shape == (0, 2)


def test_what_has_no_factor_and_what_is_in_another_order():
    assert not factorise(np.array([[1.0, 2.0], [2.0, 1.0]], order="F"))
    with pytest.raises(ValueError, match="adjacent doubles"):
        factorise(np.eye(3)[::2, ::2])
    with pytest.raises(ValueError, match="adjacent doubles"):
        factorise(np.eye(3, dtype=np.float32))
    with pytest.raises(ValueError, match="adjacent doubles"):
        factorise(np.ascontiguousarray(positive_definite(3)))


@pytest.mark.parametrize("work", [factorise, invert_triangle, invert_factor])
def test_other_threads_run_meanwhile(work):
    """No thread gives way here by itself: another sees ``inside`` only if LAPACK lets go."""
    matrix = np.array(positive_definite(500), order="F")
    state = {"inside": False, "seen": False}

    def run():
        for _ in range(200):
            L = matrix.copy(order="F")
            state["inside"] = True
            work(L)
            state["inside"] = False
            if state["seen"]:
                break

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        while thread.is_alive():
            state["seen"] |= state["inside"]
            thread.join(1e-4)
    finally:
        sys.setswitchinterval(before)
    assert state["seen"]
