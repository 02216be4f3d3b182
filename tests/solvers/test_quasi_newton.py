"""Limited-memory BFGS: on a quadratic it is the inverse Hessian where steps were taken."""

import numpy as np
from numpy.testing import assert_allclose

from kernel_learn.solvers.quasi_newton import two_loop


def test_inverse_of_a_quadratic(rng):
    B = rng.normal(size=(4, 4))
    M = B @ B.T + np.eye(4)
    _, V = np.linalg.eigh(M)  # steps along conjugate directions: all of them are remembered
    pairs = [(v, M @ v) for v in V.T]
    g = rng.normal(size=4)
    assert_allclose(two_loop(g, pairs), np.linalg.solve(M, g), atol=1e-10)


def test_matrices_and_pairs_without_curvature(rng):
    g, s = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    assert_allclose(two_loop(g, []), g)
    assert_allclose(two_loop(g, [(s, -s)]), g)
    assert_allclose(two_loop(g, [(s, -s), (s, 2 * s)]), two_loop(g, [(s, 2 * s)]))
    before = g.copy()
    two_loop(g, [(s, 2 * s)])
    assert_allclose(g, before)
