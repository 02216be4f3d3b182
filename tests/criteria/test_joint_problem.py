"""The pieces of the joint problem: projections, norms, bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from extras import optional
from kernel_learn.criteria.joint_problem import (
    JointProblem,
    project_balanced_box,
    project_fantope,
    shrink_spectrum,
    support_norm,
)
from oracles import margin as oracle
from oracles.hsic import center

cp = optional("cvxpy")


def random_problem(rng, n=12, m=3, l=2):  # noqa: E741
    F = rng.normal(size=(n, 5))
    signs = np.where(np.arange(n)[:, None] % m == np.arange(m), 1.0, -1.0)
    return JointProblem(F - F.mean(axis=0), signs, np.full(n, 2.0), l)


def test_khat_by_its_spectrum(rng):
    A = rng.normal(size=(9, 9))
    G = center(A @ A.T)
    w, U = np.linalg.eigh(G)
    for uncorrelated in (False, True):
        Khat = (U * shrink_spectrum(np.maximum(w, 0), 0.3, uncorrelated)) @ U.T
        assert_allclose(Khat, oracle.joint_kernel(G, 0.3, uncorrelated), atol=1e-10)


@pytest.mark.parametrize("l", [1, 2, 4])
def test_fantope_projection(rng, l):  # noqa: E741
    for scale in (0.1, 1.0, 30.0):
        N = scale * rng.normal(size=(5, 5))
        N = N + N.T
        X = cp.Variable((5, 5), symmetric=True)
        constraints = [X >> 0, X << np.eye(5), cp.trace(X) == l]
        cp.Problem(cp.Minimize(cp.sum_squares(X - N)), constraints).solve(solver=cp.CLARABEL)
        ours = project_fantope(N, l)
        assert np.trace(ours) == pytest.approx(l)
        assert_allclose(ours, X.value, atol=1e-4)
    assert_allclose(project_fantope(np.eye(3), 3), np.eye(3))


def test_balanced_box_projection(rng):
    alpha = 3 * rng.normal(size=(20, 2))
    signs = np.where(rng.uniform(size=(20, 2)) > 0.3, 1.0, -1.0)
    boxes = rng.uniform(0.5, 2, (20, 1))
    ours = project_balanced_box(alpha, signs, boxes)
    assert_allclose(np.sum(signs * ours, axis=0), 0, atol=1e-10)
    for j in range(2):
        a = cp.Variable(20)
        constraints = [a >= 0, a <= boxes[:, 0], signs[:, j] @ a == 0]
        cp.Problem(cp.Minimize(cp.sum_squares(a - alpha[:, j])), constraints).solve(
            solver=cp.CLARABEL
        )
        assert_allclose(ours[:, j], a.value, atol=1e-5)


def test_support_norm(rng):
    for _ in range(10):
        s = np.sort(rng.uniform(size=5) ** 3)[::-1]
        for l in (1, 2, 4, 5):  # noqa: E741
            t = cp.Variable(5)
            squares = [cp.quad_over_lin(s[i], t[i]) for i in range(5)]
            problem = cp.Problem(cp.Minimize(cp.sum(squares)), [t <= 1, cp.sum(t) <= l])
            problem.solve(solver=cp.CLARABEL)
            assert support_norm(s, l) == pytest.approx(problem.value, rel=1e-5)


def test_bounds_bracket_the_optimum(rng):
    problem = random_problem(rng)
    optimum = oracle.joint_value(problem.F @ problem.F.T, problem.signs, 2.0, 2)
    for _ in range(5):
        alpha = problem.project(2 * rng.uniform(size=problem.signs.shape))
        assert problem.lower(alpha) <= optimum + 1e-6
        assert problem.upper(problem.normals(alpha)) >= optimum - 1e-6


def test_smoothed_gradient_by_taylor(rng):
    """Halving the step quarters the error of the linear model."""
    problem = random_problem(rng)
    alpha, d = rng.uniform(size=(2, *problem.signs.shape))
    value, gradient, _ = problem.smoothed(alpha, 5.0)
    slope = float(np.sum(gradient * d))
    errors = [
        abs(problem.smoothed(alpha + t * d, 5.0)[0] - value - t * slope)
        for t in (1e-2, 5e-3, 2.5e-3)
    ]
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(rates, 2, atol=0.1)
