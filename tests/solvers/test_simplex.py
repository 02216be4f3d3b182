"""Solvers on the simplex: planted optima, certificates, what they say when they fail."""

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kernel_learn.solvers.choice import SOLVERS, solve_simplex
from kernel_learn.solvers.level import lower_bound
from kernel_learn.solvers.qp import solve_qp, solve_simplex_qp
from kernel_learn.solvers.simplex import Search, best_vertex, solve_vertices
from kernel_learn.solvers.simplex_newton import solve_simplex_newton


@dataclass
class Tangent:
    value: float
    gradient: Any
    minorant: float
    hessian: Any = None


class Planted:
    """J(d) = 1 + |R(d - e)|^2/2 + c'd with c >= 0, c'e = 0: e is optimal with value 1."""

    def __init__(self, size, rng, zeros=0, rank=None):
        e = rng.dirichlet(np.ones(size))
        e[:zeros] = 0
        self.e = e / e.sum()
        R = rng.normal(size=(rank or size, size))
        self.H = R.T @ R
        self.c = np.where(self.e == 0, rng.uniform(0.1, 1, size), 0.0)
        self.size = size
        self.calls = 0

    def start(self):
        return np.full(self.size, 1 / self.size)

    def evaluate(self, d):
        self.calls += 1
        s = d - self.e
        value = 1 + 0.5 * s @ self.H @ s + self.c @ d
        return Tangent(value, self.H @ s + self.c, value, lambda: self.H)


class Piecewise(Planted):
    """J(d) = 1 + max_i |d_i - e_i|: not differentiable at its optimum, no Hessian."""

    def evaluate(self, d):
        i = int(np.argmax(np.abs(d - self.e)))
        value = 1 + abs(d[i] - self.e[i])
        gradient = np.zeros(self.size)
        gradient[i] = np.sign(d[i] - self.e[i])
        return Tangent(value, gradient, value)


@pytest.mark.parametrize("solver", ["newton", "silp", "bundle", "auto"])
@pytest.mark.parametrize("size", [1, 2, 6, 20])
def test_planted_optimum(solver, size, rng):
    problem = Planted(size, rng, zeros=size // 2)
    result = solve_simplex(problem, solver=solver, tol=1e-7, max_iter=500)
    assert result.status == "optimal"
    assert result.value == pytest.approx(1.0, abs=2e-7)
    assert result.value - result.gap <= 1.0 + 1e-12
    assert result.relative_gap <= 1e-7
    assert result.point.min() >= 0 and result.point.sum() == pytest.approx(1.0)
    assert len(result.history) == problem.calls
    if solver == "newton":
        np.testing.assert_allclose(result.point, problem.e, atol=1e-6)
        assert result.n_iter <= 3


@pytest.mark.parametrize("solver", ["silp", "bundle"])
def test_kinks(solver, rng):
    result = solve_simplex(Piecewise(5, rng), solver=solver, tol=1e-6, max_iter=500)
    assert result.status == "optimal"
    assert result.value == pytest.approx(1.0, abs=2e-6)


def test_level_does_not_zig_zag(rng):
    """Plain cutting planes take the minimiser of the tangents; the level needs fewer steps."""
    problem = Planted(20, rng)
    steady = solve_simplex(problem, solver="bundle", tol=1e-4, max_iter=1000).n_iter

    def plain(center, slopes, heights):
        from kernel_learn.solvers.silp import _minimiser

        return _minimiser(slopes, heights)

    from kernel_learn.solvers.level import solve_level

    kelley = solve_level(Planted(20, np.random.default_rng(0)), plain, tol=1e-4, max_iter=1000)
    assert steady < 0.7 * kelley.n_iter


def test_singular_hessian_and_duplicates(rng):
    result = solve_simplex_newton(Planted(8, rng, rank=3), tol=1e-10)
    assert result.value == pytest.approx(1.0, abs=1e-9)


def test_stopped_says_by_how_much(rng):
    problem = Planted(10, rng)
    result = solve_simplex(problem, solver="silp", tol=1e-12, max_iter=2)
    assert result.status == "stopped"
    assert result.n_iter == 2
    assert result.gap >= result.value - 1.0 > 0


def test_newton_names_what_is_missing(rng):
    with pytest.raises(ValueError, match="no Hessian"):
        solve_simplex(Piecewise(3, rng), solver="newton")
    assert set(SOLVERS) == {"newton", "silp", "bundle", "sdp"}


def test_programs_name_what_is_missing(rng):
    pytest.importorskip("cvxpy", reason="needs the extra sdp")
    with pytest.raises(ValueError, match="no semidefinite form"):
        solve_simplex(Piecewise(3, rng), solver="sdp")


def test_missing_cvxpy_names_the_extra(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"kernel-learn\[sdp\]"):
        solve_simplex(Planted(3, rng), solver="sdp")


def test_lower_bound_is_rigorous(rng):
    """From the multipliers, so that no tolerance of the linear program can lift it."""
    slopes, intercepts = rng.normal(size=(30, 6)), rng.normal(size=30)
    bound = lower_bound(intercepts, slopes)
    points = rng.dirichlet(np.ones(6), size=2000)
    assert bound <= (intercepts + points @ slopes.T).max(axis=1).min() + 1e-12
    assert bound >= intercepts.max() + slopes[intercepts.argmax()].min() - 1e-9


def test_simplex_qp_satisfies_its_conditions(rng):
    for size in (1, 2, 5, 30):
        R = rng.normal(size=(size, size))
        H, c = R.T @ R, rng.normal(size=size)
        x = solve_simplex_qp(H, c, np.full(size, 1 / size))
        g = H @ x + c
        assert x.min() >= 0 and x.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(g[x > 0], g.min(), atol=1e-7)


def test_qp_satisfies_its_conditions(rng):
    A, Q = rng.normal(size=(3, 9)), rng.uniform(0, 1, 9)
    b, c = A @ rng.uniform(size=9), rng.normal(size=9) + 1
    x = solve_qp(Q, c, A, b)
    np.testing.assert_allclose(A @ x, b, atol=1e-8)
    free = x > 1e-6
    y = np.linalg.lstsq(A[:, free].T, (Q * x + c)[free], rcond=None)[0]
    slack = Q * x + c - A.T @ y
    assert slack.min() > -1e-6 and np.abs(slack[free]).max() < 1e-6


def test_vertices(rng):
    problem = Planted(6, rng)
    search = Search(problem)
    solve_simplex_newton(search)
    calls = problem.calls
    best, value = best_vertex(search, list(np.eye(6)))
    values = [problem.evaluate(v).value for v in np.eye(6)]
    assert value == min(values) and best == int(np.argmin(values))
    assert problem.calls - calls - 6 <= 6
    result = solve_vertices(Search(problem), list(np.eye(6)))
    assert result.value == min(values) and result.gap == 0


def test_negligible_weights_become_zeros(rng):
    """And only where the certificate stands without them."""
    problem = Planted(4, rng, zeros=2)
    small = problem.e + np.where(problem.e == 0, 3e-7, 0.0)
    search = Search(problem)
    search.evaluate(small / small.sum())
    result = search.finish(1, tol=1e-3)
    assert np.count_nonzero(result.point) == 2 and result.point.sum() == pytest.approx(1.0)
    assert problem.evaluate(result.point).value == pytest.approx(result.value)

    class Steep(Planted):
        """Leaving out a weight costs more than the tolerance allows."""

        def evaluate(self, d):
            tangent = super().evaluate(d)
            dear = 1.0 if (d == 0).any() else 0.0
            return replace(tangent, value=tangent.value + dear)

    search = Search(Steep(4, rng, zeros=2))
    search.evaluate(small / small.sum())
    assert np.count_nonzero(search.finish(1, tol=1e-6).point) == 4
