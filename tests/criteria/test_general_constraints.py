"""Jain's general forms: linear constraints, quadruplets, penalties, merely convex regularisers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from kernel_learn.constraints import Linear, Pairs, Quadruplets, Similarities, Triplets
from kernel_learn.criteria.constraint_terms import describe_constraint
from kernel_learn.criteria.general_forms.penalties import PENALTIES, PricedPenalty
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.inductive_solve import solve_inductive
from kernel_learn.criteria.measure import LinearConstraints
from kernel_learn.criteria.regularizers import (
    Frobenius,
    LogDet,
    NearPoint,
    Pola,
    Regularizer,
    Trace,
    TraceNorm,
)
from oracles import inductive as oracle

RNG = np.random.default_rng(1)
N, M = 12, 5
Z = RNG.normal(size=(N, M)) / np.sqrt(M)
SIMILAR = np.array([[0, 2], [1, 3], [4, 6], [0, 4]])
DISSIMILAR = np.array([[0, 1], [2, 3], [5, 8], [7, 10]])
C = RNG.normal(size=(3, N, N)) / N
MIXED = (
    Pairs(SIMILAR, DISSIMILAR, similar_max=0.8, dissimilar_min=3.0)
    + Linear(C, [0.3, -0.5, 0.2])
    + Quadruplets([[0, 1, 2, 3], [4, 5, 4, 7]], margin=0.3)
)


def measured(constraints):
    terms = constraints.terms(None)
    return LinearConstraints(Z, terms, terms.bound)


def matrices(constraints):
    return np.array([constraints.combine(row) for row in np.eye(constraints.n)])


def some_kernel():
    A = RNG.normal(size=(M, M))
    return A @ A.T


class StraightTrace(Regularizer):
    """The trace norm as a user writes it: no proximal map, nothing said of convexity."""

    alpha, domain = 0.0, 0.5

    def value(self, w):
        return 0.5 * float(np.sum(w))

    def minimizer(self, x):
        return np.zeros_like(x)


@pytest.mark.parametrize("form", [np.asarray, list, lambda C: [sparse.csr_array(c) for c in C]])
def test_linear_constraints_are_sums_of_kernel_values(form):
    A = some_kernel()
    constraints = measured(Linear(form(C), [1.0, 2.0, 3.0]))
    assert_allclose(constraints.inner(A), np.einsum("cij,ij->c", C, Z @ A @ Z.T), atol=1e-12)
    assert_allclose(constraints.bound, [1.0, 2.0, 3.0])


def test_one_matrix_is_one_constraint_with_one_entry_for_each_pair():
    one = Linear(sparse.coo_array(([1.0, 2.0, 4.0], ([0, 3, 1], [3, 0, 1])), shape=(9, 9)), -1.0)
    assert one.pairs.tolist() == [[0, 3], [1, 1]] and one.weight.tolist() == [3.0, 4.0]
    assert one.rows().tolist() == [0, 1, 3]
    words = describe_constraint(one.terms(None), 0)
    assert words == "3 k(0, 3) + 4 k(1, 1) <= -1"


def test_pairs_similarities_and_triplets_are_linear_constraints():
    """Each family written out as coefficients of the kernel matrix."""
    A = some_kernel()

    def distance(i, j):
        E = np.zeros((N, N))
        E[i, i] += 1
        E[j, j] += 1
        E[i, j] -= 2
        return E

    def value(i, j):
        E = np.zeros((N, N))
        E[i, j] = 1
        return E

    families = {
        Pairs([[0, 2]], [[1, 5]], similar_max=0.5, dissimilar_min=2.0): (
            [distance(0, 2), -distance(1, 5)],
            [0.5, -2.0],
        ),
        Similarities([[0, 2]], [[1, 5]], similar_min=0.5, dissimilar_max=0.1): (
            [-value(0, 2), value(1, 5)],
            [-0.5, 0.1],
        ),
        Triplets([[0, 1, 2]], margin=0.5): ([distance(0, 1) - distance(0, 2)], [-0.5]),
        Quadruplets([[0, 1, 2, 3]], margin=0.5): ([distance(0, 1) - distance(2, 3)], [-0.5]),
    }
    for family, (coefficients, bounds) in families.items():
        ours, general = measured(family), measured(Linear(coefficients, bounds))
        assert_allclose(ours.sign * ours.inner(A), general.inner(A), atol=1e-12)
        assert_allclose(ours.bound, general.bound)


def test_quadruplets_with_one_anchor_are_triplets():
    anchored = measured(Quadruplets([[0, 1, 0, 2], [5, 3, 5, 4]], margin=0.2))
    triplets = measured(Triplets([[0, 1, 2], [5, 3, 4]], margin=0.2))
    assert_allclose(matrices(anchored), matrices(triplets), atol=1e-14)


def test_bounds_that_different_pairs_can_satisfy():
    loose = Pairs(SIMILAR, DISSIMILAR, similar_max=0.9, dissimilar_min=0.5)
    assert loose.contradictions() == 0
    both = [[0, 1], [2, 3]]
    assert Pairs(both, [[1, 0]], similar_max=0.9, dissimilar_min=0.5).contradictions() == 0
    assert Pairs(both, [[1, 0]], similar_max=[0.4, 9], dissimilar_min=0.5).contradictions() == 1
    assert Pairs(both, [[1, 0]], similar_max=[9, 0.4], dissimilar_min=0.5).contradictions() == 0
    assert Pairs(both, both).contradictions() == 2


UNIT = 1.7


def solve_both(regularizer, name, penalty, price, tau, tol):
    """(dual, our solution, CVXPY's value) of a problem with another penalty."""
    constraints = measured(MIXED)
    priced = PricedPenalty(PENALTIES[penalty](), price, UNIT)
    dual = RegularizedDual(regularizer, constraints, price / UNIT**2)
    solution = solve_inductive(
        dual, solver="auto", slack=price, tol=tol, max_iter=None, price=priced
    )
    Cs, sign, bound = matrices(constraints), constraints.sign, constraints.bound
    return (
        dual,
        solution,
        oracle.solve_penalized(name, penalty, Cs, sign, bound, price, UNIT, tau)[0],
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("name", ["logdet", "frobenius", "trace"])
@pytest.mark.parametrize("price", [0.5, 3.0])
def test_penalties_equal_cvxpy(price, name, penalty):
    regularizer = {"logdet": LogDet(), "frobenius": Frobenius(), "trace": Trace(0.2)}[name]
    dual, solution, value = solve_both(regularizer, name, penalty, price, tau=0.2, tol=1e-8)
    assert solution.result.status == "optimal"
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.lower <= value * (1 + 1e-7) + 1e-7  # a bound, whatever the oracle ends with
    if penalty == "squared_hinge":  # the same problem by the dual of the other solvers
        other = solve_inductive(dual, solver="quasi-newton", slack=price, tol=1e-8, max_iter=None)
        assert solution.value == pytest.approx(other.value, rel=3e-8)


@pytest.mark.parametrize("gamma", [0.3, 10.0])
@pytest.mark.parametrize("regularizer", [TraceNorm(0.5), StraightTrace()])
def test_the_trace_norm_alone_equals_cvxpy(regularizer, gamma):
    """Its gap was .89 where A(z) is taken from the dual, which is zero wherever it is known."""
    constraints = measured(MIXED)
    dual = RegularizedDual(regularizer, constraints, gamma)
    solution = solve_inductive(dual, solver="auto", slack=gamma, tol=1e-7, max_iter=None)
    Cs, sign, bound = matrices(constraints), constraints.sign, constraints.bound
    value, A = oracle.solve("trace_norm", Cs, sign, bound, gamma, 0.5)
    assert solution.result.status == "optimal"
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.lower <= value * (1 + 1e-7)
    assert_allclose(solution.A, A, atol=1e-2 * np.abs(A).max())
    slack = np.maximum(sign * np.einsum("cij,ij->c", Cs, solution.A) - bound, 0)
    assert solution.value == pytest.approx(
        0.5 * np.trace(solution.A) + gamma / 2 * slack @ slack, rel=1e-9
    )


@pytest.mark.parametrize(
    ("regularizer", "penalty", "price"),
    [(TraceNorm(0.5), penalty, 0.5) for penalty in PENALTIES]
    + [(TraceNorm(0.5), "hinge", 2.0), (StraightTrace(), "squared", 0.5)],
)
def test_the_trace_norm_with_any_penalty_equals_cvxpy(regularizer, penalty, price):
    dual, solution, value = solve_both(regularizer, "trace_norm", penalty, price, tau=0.5, tol=1e-6)
    assert solution.result.status == "optimal"
    assert solution.value == pytest.approx(value, rel=2e-6)
    assert solution.lower <= value * (1 + 1e-7)
    excess = dual.sign * np.einsum("cij,ij->c", matrices(dual.constraints), solution.A) - dual.bound
    paid = price * np.sum(PENALTIES[penalty]().value(excess / UNIT))
    assert solution.value == pytest.approx(0.5 * np.trace(solution.A) + paid, rel=1e-9)


def test_which_regularisers_are_strictly_convex():
    assert all(f.is_strictly_convex for f in (LogDet(), Frobenius(), Pola(), Trace(0.3)))
    assert not TraceNorm(0.3).is_strictly_convex and not StraightTrace().is_strictly_convex


@pytest.mark.parametrize("regularizer", [LogDet(), Frobenius(), Trace(0.3), StraightTrace()])
@pytest.mark.parametrize("rho", [1e-2, 1.0, 50.0])
def test_the_proximal_map_by_search(rho, regularizer):
    """Against the least of f_s(w) + rho/2 w^2 - x w on a fine grid."""
    x = np.array([-3.0, 0.2, 0.45, 0.9, 2.0])
    w = regularizer.proximal(x, rho)

    def cost(w):
        return np.array([regularizer.value(np.array([v])) for v in w]) + rho / 2 * w**2 - x * w

    least = cost(np.maximum(w, 1e-15))
    for move in (-1e-2, -1e-4, 1e-4, 1e-2):
        assert np.all(least <= cost(np.maximum(w * (1 + move), 1e-15)) + 1e-12)
        assert np.all(least <= cost(np.maximum(w + move, 1e-15)) + 1e-12)


def test_a_near_point_is_its_own_minimum():
    B = some_kernel()
    near = NearPoint(TraceNorm(0.5), 2.0, B)
    X = RNG.normal(size=(M, M))
    X = X + X.T
    found = near.minimize(X)

    def cost(A):
        return 0.5 * np.trace(A) + np.sum((A - B) ** 2) - np.sum(X * A)

    assert found.infimum == pytest.approx(cost(found.A))
    for _ in range(20):
        assert cost(found.A) <= cost(found.A + 0.01 * some_kernel()) + 1e-12
        t = RNG.uniform(0, 0.1)
        assert cost(found.A) <= cost((1 - t) * found.A + t * some_kernel()) + 1e-12
