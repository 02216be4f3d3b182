"""Squared-hinge machines in blocks against those in memory, CVXPY's and LIBLINEAR's."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from kernel_learn.solvers.block_newton import (
    KeptHessians,
    dual_point,
    measure_hinges,
    solve_squared_hinges,
    sum_blocks,
)
from kernel_learn.solvers.squared_hinge import solve_squared_hinge

rng = np.random.default_rng(0)
N, M = 300, 6
F = rng.normal(size=(N, M))
SIGNS = np.where(F @ rng.normal(size=(M, 3)) + 0.8 * rng.normal(size=(N, 3)) + 0.3 > 0, 1.0, -1.0)


def blocks_of(F, signs, prices, size=70):
    def blocks():
        for i in range(0, len(F), size):
            part = slice(i, i + size)
            yield F[part], signs[part], prices[part]

    return blocks


@pytest.mark.parametrize("size", [1, 70, N])
def test_the_machines_are_those_in_memory(size):
    prices = rng.uniform(0.1, 3, N)
    found = solve_squared_hinges(blocks_of(F, SIGNS, prices, size), M, 3, tol=1e-12)
    assert found.status == "optimal"
    for j in range(3):
        whole = solve_squared_hinge(F, SIGNS[:, j], prices, tol=1e-12)
        np.testing.assert_allclose(found.point[:, j], whole.point, atol=1e-7)
        assert found.values[j] == pytest.approx(whole.value, rel=1e-10)


def test_one_machine_is_the_optimum_of_cvxpy():
    cp = pytest.importorskip("cvxpy")
    y, C = SIGNS[:40, 0], 2.0
    v, b = cp.Variable(M), cp.Variable()
    loss = cp.sum_squares(cp.pos(1 - cp.multiply(y, F[:40] @ v + b)))
    optimum = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + 0.5 * C * loss)).solve(
        solver="CLARABEL"
    )
    blocks = blocks_of(F[:40], SIGNS[:40, :1], np.full(40, C), 7)
    found = solve_squared_hinges(blocks, M, 1, tol=1e-9)
    assert found.value == pytest.approx(optimum, rel=1e-6)
    assert found.history[-1]["lower"] <= optimum * (1 + 1e-7)


def test_it_is_a_handful_of_passes_and_liblinear_says_the_same():
    passes = []
    prices = np.full(N, 2.0)

    def counted():
        passes.append(1)
        yield from blocks_of(F, SIGNS, prices)()

    found = solve_squared_hinges(counted, M, 3)
    assert len(passes) == found.n_iter <= 10
    for j in range(3):
        liblinear = LinearSVC(C=1.0, intercept_scaling=1e3, tol=1e-10, max_iter=10**5, dual=False)
        liblinear.fit(F, SIGNS[:, j])
        np.testing.assert_allclose(found.point[:M, j], liblinear.coef_[0], atol=1e-3)


def test_both_bounds_hold_at_every_point():
    """The lower bound is the dual value of a feasible alpha, worked out here row by row."""
    prices = rng.uniform(0.1, 3, N)
    optimum = solve_squared_hinge(F, SIGNS[:, 0], prices, tol=1e-12).value
    for scale in (0.0, 0.1, 1.0, 10.0):
        U = scale * rng.normal(size=(M + 1, 1))
        found = measure_hinges(blocks_of(F, SIGNS[:, :1], prices), U, np.array([True]))
        assert found.lowers[0] <= optimum * (1 + 1e-9) <= found.values[0] * (1 + 2e-9)
        y = SIGNS[:, 0]
        alpha = prices * np.maximum(1 - y * (F @ U[:M, 0] + U[M, 0]), 0)
        up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
        alpha = np.where(y > 0, alpha * min(1, down / up), alpha * min(1, up / down))
        assert abs(alpha @ y) < 1e-9 * alpha.sum()

        def dual(a, y=y):
            return a.sum() - np.sum((F.T @ (y * a)) ** 2) / 2 - np.sum(a**2 / prices) / 2

        c = alpha.sum() / (alpha.sum() - dual(alpha)) / 2  # the best multiple of alpha
        assert found.lowers[0] == pytest.approx(dual(c * alpha), rel=1e-9)


def test_gradient_and_hessian_by_taylor():
    prices = rng.uniform(0.1, 3, N)
    blocks, wanted = blocks_of(F, SIGNS[:, :1], prices), np.array([True])
    U, D = rng.normal(size=(M + 1, 1)), rng.normal(size=(M + 1, 1))
    here = measure_hinges(blocks, U, wanted)
    steps = np.array([1e-3, 1e-4])
    errors = [
        abs(measure_hinges(blocks, U + t * D, wanted).values[0] - here.values[0])
        - abs(t * (here.gradients.T @ D).item())
        for t in steps
    ]
    ahead = measure_hinges(blocks, U + 1e-7 * D, wanted).gradients - here.gradients
    np.testing.assert_allclose(ahead / 1e-7, here.hessians[0] @ D, rtol=1e-3)
    assert abs(errors[1]) < abs(errors[0]) / 50


def test_one_sided_rows_have_the_bound_zero():
    signs = np.ones((N, 1))
    found = solve_squared_hinges(blocks_of(F, signs, np.ones(N)), M, 1)
    assert found.value == pytest.approx(0.0, abs=1e-6)  # the intercept alone
    assert dual_point(np.zeros((2, 4, 1)), np.zeros((2, 1))).value().tolist() == [0.0]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("equal", [True, False])
def test_kept_hessians_are_those_of_the_rows_of_positive_slack(known, equal, monkeypatch):
    """At points that come and go, for machines of which fewer and fewer are asked for."""
    monkeypatch.setattr("kernel_learn.solvers.block_newton.GATHERED", 50)
    monkeypatch.setattr("kernel_learn.solvers.block_newton.ROUGH_STEPS", 0)
    prices = np.full(N, 2.0) if equal else rng.uniform(0.1, 3, N)
    blocks = list(blocks_of(F, SIGNS, prices)())
    X = np.column_stack([F, np.ones(N)])
    kept = KeptHessians(M, 3, (X * prices[:, None]).T @ X if known else None)
    before = [block[0].copy() for block in blocks]
    for wanted in ([True] * 3, [True] * 3, [True, False, True], [True, False, False]):
        U, active = rng.normal(size=(M + 1, 3)), []
        sums = sum_blocks(blocks, U, np.array(wanted), active)
        assert sums.hessians == [None] * 3
        found = kept.at(blocks, active, np.array(wanted))
        for j, H in enumerate(found):
            S = 1 - SIGNS[:, j] * (X @ U[:, j]) > 0
            assert (H is not None) == wanted[j]
            if H is not None:
                np.testing.assert_allclose(H, (X[S] * prices[S, None]).T @ X[S], atol=1e-10)
    for (own, _, _), old in zip(blocks, before, strict=True):
        np.testing.assert_array_equal(own, old)


def test_a_hessian_of_some_rows_while_many_come_and_go(monkeypatch):
    """Every third row of S times three at first; the exact one once S moves no more."""
    monkeypatch.setattr("kernel_learn.solvers.block_newton.GATHERED", 10)
    monkeypatch.setattr("kernel_learn.solvers.block_newton.SAMPLED", 1)
    blocks = list(blocks_of(F, SIGNS, np.ones(N))())
    X, U = np.column_stack([F, np.ones(N)]), rng.normal(size=(M + 1, 3))
    kept, exact = KeptHessians(M, 3), []
    for j in range(3):
        S = X[1 - SIGNS[:, j] * (X @ U[:, j]) > 0]
        exact.append(S.T @ S)
        some = S[:: -(-len(S) // 10)]
        active: list = []
        sum_blocks(blocks, U, np.arange(3) == j, active)
        rough, again = (KeptHessians(M, 3) for _ in range(2))
        H = rough.at(blocks, active, np.arange(3) == j)[j]
        np.testing.assert_allclose(H, some.T @ some * len(S) / len(some), atol=1e-10)
        assert len(some) < len(S)
        again.at(blocks, active, np.arange(3) == j)
        np.testing.assert_allclose(again.at(blocks, active, np.arange(3) == j)[j], exact[j])
    monkeypatch.setattr("kernel_learn.solvers.block_newton.ROUGH_STEPS", 0)
    active = []
    sum_blocks(blocks, U, np.ones(3, dtype=bool), active)
    for H, expected in zip(kept.at(blocks, active, np.ones(3, dtype=bool)), exact, strict=True):
        np.testing.assert_allclose(H, expected)
