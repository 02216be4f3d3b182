"""The dual of regularised kernel learning: against CVXPY, Taylor slopes, KKT recomputed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernel_learn.constraints import ClassProbabilities, Pairs, Similarities, Triplets
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.measure import BaseReference, LinearConstraints, measure_constraints
from kernel_learn.criteria.regularizers import Frobenius, LogDet, Pola, Regularizer, Trace
from kernel_learn.kernels import Gaussian
from kernel_learn.representations import FeatureMap
from kernel_learn.solvers.dual import solve_bregman, solve_quasi_newton, solve_uzawa
from oracles import inductive as oracle

RNG = np.random.default_rng(0)
N = 12
LABELS = np.arange(N) % 2
X = RNG.normal(size=(N, 3)) + LABELS[:, None]
KERNEL = Gaussian(0.3)
FEATURES = FeatureMap.whitened([KERNEL], X)
Z = FEATURES(X)
GAMMA, TAU = 2.0, 0.4
REGULARIZERS = {
    "logdet": LogDet(),
    "frobenius": Frobenius(),
    "pola": Pola(),
    "trace": Trace(TAU),
}
SIMILAR = np.array([[0, 2], [1, 3], [4, 6], [0, 4]])
DISSIMILAR = np.array([[0, 1], [2, 3], [5, 8], [7, 10]])
TRIPLETS = np.array([[0, 2, 1], [5, 7, 4], [9, 3, 8]])
FAMILIES = {
    "pairs": Pairs(SIMILAR, DISSIMILAR, similar_max=0.3, dissimilar_min=1.6),
    "triplets": Triplets(TRIPLETS, margin=0.7),
    "similarity": Similarities(SIMILAR, DISSIMILAR, similar_min=0.8, dissimilar_max=0.1),
    "probability": ClassProbabilities([0, 1, 5], [0, 1, 1], LABELS, at_least=0.8, mass=0.7),
}
FAMILIES["all"] = (
    FAMILIES["pairs"] + FAMILIES["triplets"] + FAMILIES["similarity"] + FAMILIES["probability"]
)


def explicit(name):
    """(C, sign, bound) of each constraint, written out."""
    if name == "pairs":
        return [(oracle.constraint_matrix(Z, "pair", t), 1, 0.3) for t in SIMILAR] + [
            (oracle.constraint_matrix(Z, "pair", t), -1, -1.6) for t in DISSIMILAR
        ]
    if name == "triplets":
        return [(oracle.constraint_matrix(Z, "triplet", t), -1, -0.7) for t in TRIPLETS]
    if name == "similarity":
        return [(oracle.constraint_matrix(Z, "similarity", t), -1, -0.8) for t in SIMILAR] + [
            (oracle.constraint_matrix(Z, "similarity", t), 1, 0.1) for t in DISSIMILAR
        ]
    if name == "probability":
        cases = [(0, 0), (1, 1), (5, 1)]
        share = [(oracle.class_matrix(Z, LABELS, i, c, 0.8), -1, 0.0) for i, c in cases]
        mean = KERNEL(X).mean(axis=1)
        total = [
            (-oracle.class_matrix(Z, LABELS, i, 99, 1.0), -1, -0.7 * mean[i]) for i, _ in cases
        ]
        return share + total
    parts = ("pairs", "triplets", "similarity", "probability")
    return [constraint for part in parts for constraint in explicit(part)]


def dual_of(regularizer, family, gamma=GAMMA):
    terms = FAMILIES[family].terms(BaseReference(KERNEL(X)))
    measured = measure_constraints(terms, lambda rows: FEATURES(X[rows]), regularizer.alpha, None)
    return RegularizedDual(regularizer, measured.constraints, gamma)


@pytest.mark.parametrize("family", FAMILIES)
def test_constraints_are_the_matrices_written_out(family):
    dual = dual_of(LogDet(), family)
    Cs, signs, bounds = map(np.array, zip(*explicit(family), strict=True))
    assert_allclose(dual.sign, signs)
    assert_allclose(dual.bound, bounds, atol=1e-12)
    A = RNG.normal(size=(N, N))
    A = A @ A.T
    assert_allclose(dual.constraints.inner(A), np.einsum("cij,ij->c", Cs, A), atol=1e-10)
    y = RNG.normal(size=len(Cs))
    assert_allclose(dual.constraints.combine(y), np.einsum("c,cij->ij", y, Cs), atol=1e-12)
    for C, (F, J) in zip(Cs, dual.constraints.factors(), strict=True):
        assert_allclose(F @ J @ F.T, C, atol=1e-12)
    i, j = np.triu_indices(N)
    chosen = np.arange(len(Cs))[1::2]
    Q = np.linalg.qr(A)[0]
    rotated = np.einsum("ai,cab,bj->cij", Q, Cs[chosen], Q)
    assert_allclose(dual.constraints.entries(Q, chosen, i, j), rotated[:, i, j], atol=1e-12)


def test_products_over_points_and_over_terms_agree():
    pairs = np.array([(i, j) for i in range(N) for j in range(i)])
    terms = Pairs(pairs[::2], pairs[1::2], similar_max=1, dissimilar_min=2).terms(None)
    many = LinearConstraints(Z, terms, terms.bound)
    assert many.over_points
    few = LinearConstraints(np.vstack([Z] * 6), terms, terms.bound)  # points nobody names
    assert not few.over_points
    A = np.cov(RNG.normal(size=(N, 40)))
    assert_allclose(many.inner(A), few.inner(A), atol=1e-12)
    y = RNG.normal(size=many.n)
    assert_allclose(many.combine(y), few.combine(y), atol=1e-12)


# Clarabel asked for more digits than it has; the comparison is to fewer
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", REGULARIZERS)
def test_equals_cvxpy(name, family):
    dual = dual_of(REGULARIZERS[name], family)
    result = solve_quasi_newton(dual, tol=1e-8)
    assert result.status == "optimal"
    Cs, signs, bounds = map(np.array, zip(*explicit(family), strict=True))
    value, A = oracle.solve(name, Cs, signs, bounds, GAMMA, TAU)
    assert result.value == pytest.approx(value, rel=1e-6, abs=1e-7)
    assert_allclose(dual.evaluate(result.point).A, A, atol=2e-4)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_gap_and_kkt_recomputed(name):
    regularizer = REGULARIZERS[name]
    dual = dual_of(regularizer, "all")
    result = solve_quasi_newton(dual, tol=1e-10)
    z, A = result.point, dual.evaluate(result.point).A
    Cs, signs, bounds = map(np.array, zip(*explicit("all"), strict=True))
    w = np.linalg.eigvalsh(A)
    assert w[0] >= -1e-12
    excess = signs * np.einsum("cij,ij->c", Cs, A) - bounds
    primal = regularizer.value(np.maximum(w, 0)) + GAMMA / 2 * np.sum(np.maximum(excess, 0) ** 2)
    X_z = -np.einsum("c,cij->ij", z * signs, Cs)
    lower = regularizer.value(np.maximum(w, 0)) - np.sum(X_z * A) - z @ bounds - z @ z / 2 / GAMMA
    assert result.gap == pytest.approx(primal - lower, abs=1e-9)
    assert -1e-12 <= result.gap <= 1e-10 * primal
    assert z.min() >= 0
    assert_allclose(z, GAMMA * np.maximum(excess, 0), atol=1e-4)  # slack times price
    for _ in range(20):  # A minimises f - <X, A> over positive semidefinite matrices
        B = RNG.normal(size=A.shape) * 0.1
        B = A + B @ B.T * 0.1
        f_B = regularizer.value(np.linalg.eigvalsh(B))
        assert f_B - np.sum(X_z * B) >= regularizer.value(np.maximum(w, 0)) - np.sum(X_z * A) - 1e-9


@pytest.mark.parametrize("name", REGULARIZERS)
def test_gradient_by_taylor_slope(name):
    dual = dual_of(REGULARIZERS[name], "all")
    z = 0.05 * RNG.uniform(0.5, 1, dual.n)
    step = 0.02 * RNG.uniform(-1, 1, dual.n)
    at = dual.evaluate(z)
    hs = np.array([1, 0.5, 0.25, 0.125])
    errors = [
        abs(dual.evaluate(z + h * step).value - at.value - h * at.gradient @ step) for h in hs
    ]
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_newton_step_solves_with_the_hessian(name):
    dual = dual_of(REGULARIZERS[name], "all")
    z = 0.05 * RNG.uniform(0.5, 1, dual.n)
    g = dual.evaluate(z).gradient
    free = np.arange(dual.n) % 3 > 0
    step = dual.newton_step(z, g, free)
    assert np.all(step[~free] == 0)
    h = 1e-5
    change = (dual.evaluate(z + h * step).gradient - dual.evaluate(z - h * step).gradient) / (2 * h)
    assert_allclose(-change[free], g[free], atol=2e-5 * np.abs(g).max())


@pytest.mark.parametrize("name", REGULARIZERS)
def test_solvers_agree(name):
    dual = dual_of(REGULARIZERS[name], "all")
    reference = solve_quasi_newton(dual, tol=1e-9)
    if name == "logdet":
        others = [
            solve_bregman(
                dual,
                lambda point: point.A,
                dual.constraints.factors(),
                dual.sign,
                dual.bound,
                dual.gamma,
                tol=1e-8,
            )
        ]
    else:
        others = [solve_uzawa(dual, dual.curvature(), tol=1e-8)]
    for other in others:
        assert other.status == "optimal"
        assert other.value == pytest.approx(reference.value, rel=2e-8)
        assert_allclose(other.point, reference.point, atol=2e-3)


def test_uzawa_of_the_paper_as_printed_ends_elsewhere():
    """Clipping the violation in place of the multiplier never lets a multiplier fall."""
    dual = dual_of(Trace(TAU), "pairs")
    L = dual.curvature()
    z = np.zeros(dual.n)
    for _ in range(3000):
        z = z + np.maximum(dual.evaluate(z).gradient, 0) / L
    assert dual.evaluate(z).primal > solve_uzawa(dual, L, tol=1e-9).value * (1 + 1e-3)


def test_curvature_is_the_largest_eigenvalue():
    dual = dual_of(Pola(), "all")
    Cs = np.array([C for C, _, _ in explicit("all")])
    largest = np.linalg.eigvalsh(np.einsum("cij,dij->cd", Cs, Cs))[-1]
    assert largest + 1 / GAMMA <= dual.curvature() <= 1.1 * largest + 1 / GAMMA


def test_zero_threshold_is_where_zero_becomes_optimal():
    threshold = dual_of(Trace(0.0), "pairs").zero_threshold()
    for factor, is_zero in ((0.99, False), (1.01, True)):
        dual = dual_of(Trace(factor * threshold), "pairs")
        A = dual.evaluate(solve_quasi_newton(dual, tol=1e-9).point).A
        assert (np.abs(A).max() < 1e-12) == is_zero


def test_the_line_search_stays_in_the_domain():
    dual = dual_of(LogDet(), "pairs", gamma=1e3)
    assert dual.evaluate(np.full(dual.n, 1e3) * (dual.sign < 0)) is None
    result = solve_quasi_newton(dual)
    assert result.status == "optimal"
    assert dual.evaluate(result.point) is not None


def test_logdet_by_cholesky_is_logdet_by_eigenvalues():
    X_s = RNG.normal(size=(6, 6))
    X_s = (X_s + X_s.T) / 20
    fast, slow = LogDet().minimize(X_s), Regularizer.minimize(LogDet(), X_s)
    assert_allclose(fast.A, slow.A, atol=1e-12)
    assert fast.value == pytest.approx(slow.value)
    assert fast.infimum == pytest.approx(slow.infimum)
    assert Regularizer.minimize(LogDet(), np.eye(3)) is None
    assert LogDet().minimize(np.eye(3)) is None


class Entropy(Regularizer):
    """tr A log A - tr A: a regulariser of the user, with its minimum at the identity."""

    alpha = 1.0

    def value(self, w):
        return float(np.sum(w * np.log(np.maximum(w, 1e-300)) - w))

    def minimizer(self, x):
        return np.exp(x)


def test_a_regulariser_of_the_user():
    dual = dual_of(Entropy(), "all")
    result = solve_quasi_newton(dual, tol=1e-9)
    assert result.status == "optimal"
    A = dual.evaluate(result.point).A
    X_z = -dual.constraints.combine(result.point * dual.sign)
    w, U = np.linalg.eigh(A)
    assert_allclose((U * np.log(w)) @ U.T, X_z, atol=1e-9)
