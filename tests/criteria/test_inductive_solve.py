"""Newton, interior points and multipliers: CVXPY, planted optima, the limit of dear slack."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernel_learn.constraints import Linear, Pairs, Quadruplets, Similarities, Triplets
from kernel_learn.criteria.constraint_terms import describe_constraint
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.inductive_solve import solve_by_newton, solve_inductive
from kernel_learn.criteria.measure import LinearConstraints
from kernel_learn.criteria.regularizers import Frobenius, LogDet
from kernel_learn.solvers import metric_system
from kernel_learn.solvers.dual import solve_bregman, solve_quasi_newton
from oracles import inductive as oracle

RNG = np.random.default_rng(0)
N, M = 12, 5
Z = RNG.normal(size=(N, M)) / np.sqrt(M)
SIMILAR = np.array([[0, 2], [1, 3], [4, 6], [0, 4]])
DISSIMILAR = np.array([[0, 1], [2, 3], [5, 8], [7, 10]])
TRIPLETS = np.array([[0, 2, 1], [5, 7, 4], [9, 3, 8]])
SETS = {
    "pairs": Pairs(SIMILAR, DISSIMILAR, similar_max=0.8, dissimilar_min=3.0),
    "triplets": Triplets(TRIPLETS, margin=0.7),
    "similarity": Similarities(SIMILAR, DISSIMILAR, similar_min=0.8, dissimilar_max=0.1),
}
SETS["quadruplets"] = Quadruplets([[0, 1, 2, 3], [4, 5, 4, 7]], margin=0.4)
COEFFICIENTS = RNG.normal(size=(3, N, N)) / N
SETS["linear"] = Linear(COEFFICIENTS, [0.1, -0.2, -0.1])
SETS["all"] = SETS["pairs"] + SETS["triplets"] + SETS["similarity"]


def terms_of(name):
    return SETS[name].terms(None)


def constraints_of(name, bound=None):
    terms = terms_of(name)
    return LinearConstraints(Z, terms, terms.bound if bound is None else bound)


def matrices(constraints):
    """C_c written out, (m, M, M)."""
    return np.array([constraints.combine(row) for row in np.eye(constraints.n)])


def solve(name, gamma, regularizer=None, bound=None, tol=1e-9, solver="auto"):
    dual = RegularizedDual(regularizer or LogDet(), constraints_of(name, bound), gamma)
    return solve_inductive(dual, solver=solver, slack=gamma, tol=tol, max_iter=None)


@pytest.mark.parametrize("name", SETS)
def test_products_and_squares_are_those_of_the_matrices(name):
    constraints = constraints_of(name)
    Cs = matrices(constraints)
    Q = RNG.normal(size=(M, M))
    chosen = np.arange(constraints.n)[::2]
    W = Q @ Q.T
    expected = np.einsum("cij,jk,ekl,li->ce", Cs[chosen], W, Cs[chosen], W)
    assert_allclose(constraints.products(W, chosen), expected, atol=1e-10)
    assert np.all(constraints.sizes() >= np.linalg.norm(Cs, axis=(1, 2)) - 1e-12)
    if name in ("pairs", "similarity"):  # one term each
        d = RNG.uniform(size=constraints.n)
        rotated = np.einsum("ai,cab,bj->cij", Q, Cs, Q)
        assert_allclose(
            constraints.squares(Q, d), np.einsum("c,cij->ij", d, rotated**2), atol=1e-10
        )


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("way", ["constraints", "entries", "gradients"])
def test_every_way_solves_the_system(way, name):
    constraints = constraints_of(name)
    Cs, R = matrices(constraints), RNG.normal(size=(M, M))
    d = RNG.uniform(size=constraints.n) * (np.arange(constraints.n) % 3 > 0)
    B = RNG.normal(size=(M, M))
    B = B + B.T
    if way == "gradients":
        solver = metric_system.by_conjugate_gradients(constraints, R, d, 1e-10)
    else:
        direct = getattr(metric_system, f"over_{way}")
        solver = direct(constraints, R, d, np.flatnonzero(d))
    V = solver(B)
    W_inv = np.linalg.inv(R @ R.T)
    weight = d * np.einsum("cij,ij->c", Cs, V)
    applied = W_inv @ V @ W_inv + np.einsum("c,cij->ij", weight, Cs)
    assert_allclose(applied, B, atol=1e-6 * np.abs(B).max())


def test_the_sizes_decide_what_is_factored(monkeypatch):
    called = []
    for way in ("over_constraints", "over_entries", "by_conjugate_gradients"):
        monkeypatch.setattr(metric_system, way, lambda *_, way=way: called.append(way))
    constraints, R = constraints_of("all"), np.eye(M)
    d = np.ones(constraints.n)
    metric_system.prepare_system(constraints, R, d, direct=True, accuracy=0.1)
    monkeypatch.setattr(metric_system, "DIRECT_SIZE", constraints.n - 1)
    metric_system.prepare_system(constraints, R, d, direct=True, accuracy=0.1)
    monkeypatch.setattr(metric_system, "DIRECT_SIZE", 1)
    metric_system.prepare_system(constraints, R, d, direct=True, accuracy=0.1)
    metric_system.prepare_system(constraints, R, d, direct=False, accuracy=0.1)
    assert called == ["over_constraints", "over_entries"] + 2 * ["by_conjugate_gradients"]


@pytest.mark.parametrize("name", ["pairs", "triplets", "similarity"])
@pytest.mark.parametrize("gamma", [2.0, 1e4])
def test_newton_and_interior_points_equal_cvxpy(gamma, name):
    constraints = constraints_of(name)
    solution = solve(name, gamma)
    value, A = oracle.solve(
        "logdet", matrices(constraints), constraints.sign, constraints.bound, gamma
    )
    assert solution.result.status == "optimal"
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert_allclose(solution.A, A, atol=1e-3 * np.abs(A).max())
    assert -1e-9 * value <= solution.value - solution.lower <= 1e-9 * abs(value)
    point = RegularizedDual(LogDet(), constraints, gamma).evaluate(solution.z)
    assert point.value == pytest.approx(solution.lower, rel=1e-9)  # the bound is the dual's


def test_newton_has_the_objective_of_the_dual_method():
    dual = RegularizedDual(LogDet(), constraints_of("all"), 1.0)
    newton = solve_by_newton(dual, {"tol": 1e-10})
    old = solve_quasi_newton(dual, tol=1e-10)
    assert newton.result.status == old.status == "optimal"
    assert newton.value == pytest.approx(old.value, rel=2e-9)
    assert newton.result.n_iter < 20
    assert all(set(step) <= {"value", "lower", "grad_norm"} for step in newton.result.history)
    values = [step["value"] for step in newton.result.history]
    assert np.all(np.diff(values) <= 1e-12 * values[0])


@pytest.mark.parametrize("name", sorted(set(SETS) - {"linear"}))
def test_a_planted_optimum_of_hard_constraints_is_found(name):
    constraints = constraints_of(name)
    Cs, m = matrices(constraints), constraints.n
    z = np.where(np.arange(m) % 2 == 0, RNG.uniform(0.1, 0.3, m), 0.0)
    A, bound = oracle.planted_logdet(Cs, constraints.sign, z, 0.5)
    solution = solve(name, np.inf, bound=bound, tol=1e-7)
    assert solution.result.status == "optimal" and not solution.infeasible
    value = np.trace(A) - np.linalg.slogdet(A)[1]
    assert solution.value == pytest.approx(value, rel=1e-7)
    assert_allclose(solution.A, A, atol=1e-3)
    excess = constraints.sign * np.einsum("cij,ij->c", Cs, solution.A) - bound
    assert np.all(excess <= 1e-9 * constraints.sizes())
    assert solution.lower <= value + 1e-9


@pytest.mark.parametrize("name", ["logdet", "frobenius"])
def test_hard_constraints_equal_cvxpy_and_the_limit_of_dear_slack(name):
    constraints = constraints_of("pairs")
    regularizer = {"logdet": LogDet(), "frobenius": Frobenius()}[name]
    hard = solve("pairs", np.inf, regularizer, tol=1e-6)
    assert hard.result.status == "optimal"
    value, _ = oracle.solve_hard(name, matrices(constraints), constraints.sign, constraints.bound)
    assert hard.value == pytest.approx(value, rel=1e-6)
    soft = [solve("pairs", gamma, regularizer, tol=1e-8).value for gamma in (1e2, 1e3, 1e4)]
    assert soft[0] < soft[1] < soft[2] < hard.value
    missing = float(hard.z @ hard.z) / 2e4  # to first order
    assert hard.value - soft[2] == pytest.approx(missing, rel=0.1)


@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius()])
def test_constraints_that_exclude_each_other_are_proven_to(regularizer):
    pairs = Pairs([[0, 1], [1, 2]], [[0, 2], [3, 4]], similar_max=0.01, dissimilar_min=1.0)
    terms = pairs.terms(None)
    line = np.linspace(0, 1, 5)[:, None] * np.array([[1.0, 0.0]]) + [[0.0, 1.0]]
    constraints = LinearConstraints(line, terms, terms.bound)
    dual = RegularizedDual(regularizer, constraints, np.inf)
    solution = solve_inductive(dual, solver="auto", slack=np.inf, tol=1e-6, max_iter=None)
    assert solution.infeasible and solution.result.status == "stopped"
    z = solution.z
    assert z.min() >= 0
    least = np.linalg.eigvalsh(constraints.combine(terms.sign * z))[0]
    assert -z @ terms.bound > 1e3 * 2 * max(-least, 0.0)  # no A of a trace below 1000 tr I


def test_constraints_in_words():
    terms = terms_of("all")
    words = [describe_constraint(terms, c) for c in range(len(terms.sign))]
    assert words[0] == "d(0, 2) <= 0.8"
    assert words[4] == "d(0, 1) >= 3"
    assert words[8] in ("d(0, 1) - d(0, 2) >= 0.7", "- d(0, 2) + d(0, 1) >= 0.7")
    assert words[11] == "k(0, 2) >= 0.8"


def test_cyclic_projections_end_where_they_stall():
    terms = Pairs(SIMILAR, DISSIMILAR, similar_max=0.05, dissimilar_min=3.0).terms(None)
    constraints = LinearConstraints(Z[:, :3], terms, terms.bound)
    dual = RegularizedDual(LogDet(), constraints, 1e6)
    result = solve_bregman(
        dual,
        lambda point: point.A,
        constraints.factors(),
        dual.sign,
        dual.bound,
        dual.gamma,
        tol=1e-12,
        max_iter=300,
    )
    assert result.status == "stopped" and result.n_iter < 300
    assert result.gap > 1e-12 * result.value
