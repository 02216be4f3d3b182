"""Interior points: planted optima, and machines that steps of two lengths do not reach."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernel_learn.solvers.interior import solve_linear_machine
from kernel_learn.solvers.margin import LinearMargin
from kernel_learn.solvers.predictor_corrector import (
    QuadraticProgram,
    inner_point,
    reach,
    solve_predictor_corrector,
)
from kernel_learn.solvers.qp import solve_qp


def planted(rng, n=12, e=2):
    """A program whose optimum is known: a third of the entries at each bound, a third between."""
    B = rng.normal(size=(n, n))
    Q, A, upper = B @ B.T, rng.normal(size=(e, n)), rng.uniform(1, 2, size=n)
    third = np.arange(n) % 3
    a = np.where(third == 0, 0.0, np.where(third == 1, upper, upper / 3))
    z = np.where(third == 0, rng.uniform(0.5, 1, size=n), 0.0)
    v = np.where(third == 1, rng.uniform(0.5, 1, size=n), 0.0)
    c = -Q @ a + A.T @ rng.normal(size=e) + z - v

    def factorise(D):
        M = Q + np.diag(D)
        return lambda R: np.linalg.solve(M, R)

    return QuadraticProgram(lambda a: Q @ a + c, factorise, A, A @ a, upper), a


@pytest.mark.parametrize(("size", "steps"), [(np.inf, 12), (0.1, 13)])
def test_planted_optimum(rng, size, steps):
    program, a = planted(rng, n=60)
    seen = []

    def is_optimal(point, left):
        assert np.all((point > 0) & (point < program.upper))
        seen.append(left.complementarity)
        worst = max(np.abs(left.dual).max(), np.abs(left.primal).max(), left.complementarity)
        return worst < 1e-10

    found = solve_predictor_corrector(program, *inner_point(program, size), is_optimal, 50)
    assert_allclose(found, a, atol=1e-8)
    # without the corrector 16 and 19, with less centring than the cube asks for 13 and 15
    assert len(seen) <= steps


def test_no_upper_bound(rng):
    Q, A = rng.uniform(1, 2, size=6), np.ones((1, 6))
    x = np.array([0.5, 0.5, 0, 0, 0, 0])
    c = -Q * x + np.where(x == 0, 0.7, 0.0) + 3.0
    assert_allclose(solve_qp(Q, c, A, np.ones(1)), x, atol=1e-9)


def test_stops_after_max_iter_and_where_nothing_can_be_factorised(rng):
    program, _ = planted(rng)
    start = inner_point(program)
    for_ever = solve_predictor_corrector(program, *start, lambda a, left: False, 0)
    assert_allclose(for_ever, start[0])

    def singular(D):
        raise np.linalg.LinAlgError

    broken = program._replace(factorise=singular)
    assert_allclose(solve_predictor_corrector(broken, *start, lambda a, left: False, 9), start[0])


def test_reach_is_the_longest_step():
    assert reach(np.array([1.0, 2.0]), np.array([-4.0, 1.0])) == 0.25
    assert reach(np.array([1.0]), np.array([-0.1])) == 1.0


def test_large_boxes(rng):
    """Most rows are at boxes far beyond 1/K_ii: steps of two lengths ended in no number at all."""
    y = np.where(np.arange(2000) % 2, 1.0, -1.0)
    F = rng.normal(size=(2000, 100))
    F[:, 0] += y
    F -= F.mean(axis=0)
    result = solve_linear_machine(LinearMargin(F, y, np.full(2000, 1e3)), tol=1e-6)
    assert result.status == "optimal" and result.relative_gap < 1e-6
