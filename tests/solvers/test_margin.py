"""Support vector machines on a Gram matrix: optimal, and proven so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernel_learn.solvers import margin
from kernel_learn.solvers.margin import (
    balance,
    best_intercept,
    one_vs_rest_signs,
    solve_margin,
    total_loss,
)
from oracles import margin as oracle
from oracles.hsic import center

X, y = load_wine(return_X_y=True)
X = scale(X)
SIGNS = one_vs_rest_signs(y, 3)
K = center(rbf_kernel(X, gamma=0.05))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_value_is_that_of_the_quadratic_programme(loss, C):
    rows = np.arange(0, len(y), 6)
    K_part, signs = center(K[np.ix_(rows, rows)]), SIGNS[rows]
    solution = solve_margin(K_part, signs, C, loss=loss)
    assert solution.relative_gap < 1e-6
    for j, column in enumerate(signs.T):
        value = oracle.dual_value(K_part, column, C, loss)
        assert solution.primal[j] == pytest.approx(value, rel=1e-6)
        assert solution.dual[j] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_certificate_recomputed(loss):
    rows = np.arange(0, len(y), 5)
    boxes = np.linspace(0.2, 5, len(rows))
    K_part, signs = K[np.ix_(rows, rows)], SIGNS[rows]
    solution = solve_margin(K_part, signs, boxes, loss=loss)
    for j, column in enumerate(signs.T):
        alpha, b = solution.alpha[:, j], solution.intercept[j]
        assert abs(column @ alpha) < 1e-10
        assert alpha.min() >= 0
        if loss == "hinge":
            assert np.all(alpha <= boxes)
        primal, dual = oracle.objectives(K_part, column, boxes, alpha, b, loss)
        assert solution.primal[j] == pytest.approx(primal, rel=1e-9)
        assert solution.dual[j] == pytest.approx(dual, rel=1e-9)
    assert_allclose(solution.scores, K_part @ solution.A, atol=1e-10)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 1000.0])
def test_optimality_conditions(C):
    solution = solve_margin(K, SIGNS, C, tol=1e-8)
    for j, column in enumerate(SIGNS.T):
        alpha, b = solution.alpha[:, j], solution.intercept[j]
        assert oracle.kkt_residual(K, column, C, alpha, b) < 1e-5


def test_tolerance_is_kept_or_the_gap_says_so(monkeypatch):
    gaps = [solve_margin(K, SIGNS, 10.0, tol=tol).relative_gap for tol in (1e-3, 1e-9)]
    assert gaps[0] < 1e-3
    assert gaps[1] < 1e-9
    monkeypatch.setattr(margin, "MENDING_ROUNDS", 1)
    assert solve_margin(K, SIGNS, 10.0, max_iter=2).relative_gap > 1e-3


def test_libsvm_is_stopped_where_it_goes_in_circles(monkeypatch):
    """It did on wine in rounds of the alternation; what it left is mended, or its gap says so."""
    given = []

    class Machine(margin.SVC):
        def fit(self, *args, **options):
            given.append(self.max_iter)
            return super().fit(*args, **options)

    monkeypatch.setattr(margin, "SVC", Machine)
    solve_margin(K, SIGNS, 10.0)
    assert set(given) == {10_000_000}
    monkeypatch.setattr(margin, "MOST_STEPS", 0)
    given.clear()
    assert solve_margin(K, SIGNS, 10.0, tol=1e-9).relative_gap < 1e-9
    assert set(given) == {100 * len(K)}


def test_repeated_rows_do_not_stop_it():
    """Free rows that repeat make singular systems; single precision alone stops at 1e-6."""
    rows = np.concatenate([np.arange(len(y)), np.arange(0, len(y), 2)])
    solution = solve_margin(K[np.ix_(rows, rows)], SIGNS[rows], 100.0, tol=1e-9)
    assert solution.relative_gap < 1e-9


def test_same_machine_as_svc():
    weight = np.where(y == 1, 3.0, 1.0)
    solution = solve_margin(K, SIGNS, 2.0 * weight)
    for j, column in enumerate(SIGNS.T):
        svc = SVC(kernel="precomputed", C=2.0, tol=1e-7).fit(K, column, sample_weight=weight)
        ours = K @ solution.A[:, j] + solution.intercept[j]
        assert_allclose(ours, svc.decision_function(K), atol=1e-5)
    plain = solve_margin(K, SIGNS, 2.0)
    assert np.abs(plain.scores - solution.scores).max() > 1e-2  # the weights mattered


def test_start_leads_to_the_same_optimum():
    cold = solve_margin(K, SIGNS, 3.0)
    for start in (solve_margin(K, SIGNS, 2.0).alpha * 1.5, np.full(SIGNS.shape, 9.0)):
        warm = solve_margin(K, SIGNS, 3.0, start=start)
        assert warm.primal.sum() == pytest.approx(cold.primal.sum(), rel=2e-6)
        assert warm.relative_gap < 1e-6


def test_start_replaces_libsvm(monkeypatch):
    cold = solve_margin(K, SIGNS, 3.0)
    monkeypatch.setattr(margin, "_libsvm", None)
    warm = solve_margin(K, SIGNS, 3.3, start=cold.alpha * 1.1)
    assert warm.relative_gap < 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_best_intercept(loss, rng):
    for _ in range(20):
        f, boxes = rng.normal(size=15), rng.uniform(0.1, 2, 15)
        signs = np.where(np.arange(15) % 3, 1.0, -1.0)
        b = best_intercept(f, signs, boxes, loss)
        best = minimize_scalar(
            lambda b, f=f, s=signs, c=boxes: total_loss(f + b, s, c, loss),
            bounds=(-9, 9),
            options={"xatol": 1e-10},
        ).fun
        assert total_loss(f + b, signs, boxes, loss) <= best + 1e-8


def test_balance_keeps_the_boxes(rng):
    alpha = rng.uniform(size=30)
    signs = np.where(np.arange(30) % 4, 1.0, -1.0)
    balanced = balance(alpha, signs)
    assert abs(balanced @ signs) < 1e-12
    assert np.all(balanced <= alpha)
    assert np.all(balance(alpha, np.ones(30)) == 0)


def test_two_classes_are_one_machine():
    signs = one_vs_rest_signs(np.array([0, 1, 1]), 2)
    assert_array_equal(signs, [[-1], [1], [1]])
    assert one_vs_rest_signs(y, 3).shape == (len(y), 3)


def test_bad_input():
    with pytest.raises(ValueError, match="only rows of sign"):
        solve_margin(K, np.ones(len(y)), 1.0)
    with pytest.raises(ValueError, match="positive and finite"):
        solve_margin(K, SIGNS, np.inf)
    with pytest.raises(ValueError, match="positive and finite"):
        solve_margin(K, SIGNS, 0.0)
    with pytest.raises(ValueError, match="-1 or 1"):
        solve_margin(K, SIGNS * 2, 1.0)
    with pytest.raises(ValueError, match="loss='log'"):
        solve_margin(K, SIGNS, 1.0, loss="log")
