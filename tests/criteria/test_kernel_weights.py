"""Criteria of kernel weights: the papers' optima, slopes, certificates."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from kernel_learn.criteria.alignment import align_weights
from kernel_learn.criteria.kernel_weights import (
    LEAST_REG,
    KimDiscriminant,
    LabelResolvent,
    ProjectedDependence,
)
from kernel_learn.criteria.margin_weights import (
    LEAST_RIDGE,
    MarginWeights,
    ProjectedMarginWeights,
    SubspaceMarginWeights,
)
from kernel_learn.kernels import Gaussian, Laplacian, Linear
from kernel_learn.representations import ArraySource, FeatureMap, GramForm, MomentForm
from kernel_learn.solvers.choice import SOLVERS, solve_simplex
from kernel_learn.solvers.elliptope import solve_elliptope
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.solvers.margin_interior import solve_interior
from kernel_learn.solvers.simplex import Search
from oracles import kernel_weights as oracle
from oracles.hsic import center
from oracles.margin import dual_value, joint_kernel

X, Y = load_wine(return_X_y=True)
X, Y = scale(X)[::7], Y[::7]  # 26 rows
KERNELS = [Gaussian(0.01), Gaussian(0.1), Gaussian(1.0), Linear(), Laplacian(0.1)]
BINARY = (Y > 0).astype(int)
LABELS = np.eye(3)[Y] / np.sqrt(np.bincount(Y))
SIGNS = one_vs_rest_signs(Y, 3)


def gram_bank(center_=True, kernels=KERNELS, **options):
    return GramForm(kernels, X, LABELS, center=center_, **options)


def scaled(Ks):
    return [K * len(K) / np.trace(K) for K in Ks]


def naive_kernels(centered):
    Ks = [rbf_kernel(X, gamma=g) for g in (0.01, 0.1, 1.0)] + [X @ X.T]
    Ks.append(np.exp(-0.1 * np.abs(X[:, None] - X).sum(axis=2)))
    return scaled([center(K) for K in Ks] if centered else Ks)


def centred(L):
    return L - L.mean(axis=0)


CRITERIA = {
    "HSIC_mkl": lambda: LabelResolvent(gram_bank(), reg=0.05),
    "RKDA approximate": lambda: LabelResolvent(gram_bank(), reg=0.05, coupling="approximate"),
    "SDP_theta,lambda": lambda: LabelResolvent(gram_bank(), reg="learn"),
    "SDP_theta,lambda approximate": lambda: LabelResolvent(
        gram_bank(), reg="learn", coupling="approximate"
    ),
    "Kim": lambda: KimDiscriminant(gram_bank(), np.eye(2)[BINARY], reg=0.05),
    "SM1": lambda: MarginWeights(gram_bank(False), SIGNS, 1.0),
    "SM2": lambda: MarginWeights(gram_bank(False), SIGNS, 2.0, loss="squared_hinge"),
    "SM2_C": lambda: MarginWeights(gram_bank(False), SIGNS, "learn", loss="squared_hinge"),
    "SVM_mkl": lambda: SubspaceMarginWeights(gram_bank(), SIGNS, 3.0, reg=0.05),
}

ORACLES = {
    "HSIC_mkl": lambda: oracle.exact(naive_kernels(True), centred(LABELS), 0.05),
    "RKDA approximate": lambda: oracle.approximate(naive_kernels(True), centred(LABELS), 0.05),
    "SDP_theta,lambda": lambda: oracle.exact(naive_kernels(True), centred(LABELS), floor=LEAST_REG),
    "SDP_theta,lambda approximate": lambda: oracle.approximate(
        naive_kernels(True), centred(LABELS), floor=LEAST_REG
    ),
    "Kim": lambda: oracle.kim(naive_kernels(True), BINARY, 0.05),
    "SM1": lambda: oracle.sm1(naive_kernels(False), SIGNS, 1.0),
    "SM2": lambda: oracle.sm2(naive_kernels(False), SIGNS, 2.0),
    "SM2_C": lambda: oracle.sm2_c(naive_kernels(False), SIGNS, LEAST_RIDGE),
    "SVM_mkl": lambda: oracle.svm_mkl(naive_kernels(True), SIGNS, 3.0, 0.05),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_every_solver_reaches_the_papers_optimum(name):
    optimum = ORACLES[name]()
    for solver in SOLVERS:
        result = solve_simplex(CRITERIA[name](), solver=solver, tol=1e-6, max_iter=300)
        assert result.value == pytest.approx(optimum, rel=2e-6), solver
        assert result.value - result.gap <= optimum + 1e-6 * abs(optimum), solver
        if solver != "sdp":  # Clarabel's last digits decide its certificate
            assert result.status == "optimal", solver


@pytest.mark.parametrize("name", CRITERIA)
def test_slopes(name, rng):
    """Taylor: J(d + h v) - J - h g'v falls as h^2, less h^2/2 v'Hv as h^3."""
    criterion = CRITERIA[name]()
    size = criterion.size
    d = rng.uniform(0.5, 1.5, size)
    d /= d.sum()
    v = rng.normal(size=size)
    v -= v.mean()
    at = criterion.evaluate(d)
    steps = 0.02 * 0.5 ** np.arange(4)
    first, second = [], []
    for h in steps:
        moved = criterion.evaluate(d + h * v)
        first.append(abs(moved.value - at.value - h * at.gradient @ v))
        second.append(abs(first[-1] - 0.5 * h**2 * v @ at.hessian() @ v))
    assert np.log2(np.array(first[:-1]) / first[1:]) == pytest.approx(2.0, abs=0.15)
    if name not in ("SM1", "SM2", "SM2_C", "SVM_mkl"):  # rows enter and leave a machine
        slopes = np.log2(np.array(second[:-1]) / second[1:])
        assert np.median(slopes) == pytest.approx(3.0, abs=0.35)
    else:
        assert second[-1] < 0.3 * first[-1]


@pytest.mark.parametrize("name", CRITERIA)
def test_tangents_stay_below(name, rng):
    criterion = CRITERIA[name]()
    points = rng.dirichlet(np.ones(criterion.size), size=6)
    seen = [criterion.evaluate(d) for d in points]
    for d, at in zip(points, seen, strict=True):
        assert at.minorant <= at.value + 1e-9 * abs(at.value)
        for e, there in zip(points, seen, strict=True):
            bound = at.minorant + at.gradient @ (e - d)
            assert bound <= there.value + 1e-7 * abs(there.value)


def test_gap_is_what_it_says():
    for name in ("HSIC_mkl", "SM1", "SVM_mkl"):
        result = solve_simplex(CRITERIA[name](), tol=1e-3)
        at = CRITERIA[name]().evaluate(result.point)
        single = at.value - (at.minorant + at.gradient.min() - at.gradient @ result.point)
        assert 0 <= result.gap <= single * (1 + 1e-6) + 1e-9
        best = solve_simplex(CRITERIA[name](), tol=1e-9).value
        assert best >= result.value - result.gap - 1e-7 * abs(best)


def test_hsic_mkl_is_discriminant_analysis():
    """With the normalised label kernel, n J is Ye's tr H'(I + G/lam)^{-1}H."""
    d = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    G = sum(w * K for w, K in zip(d, naive_kernels(True), strict=True))
    n, counts = len(Y), np.bincount(Y)
    H = np.where(np.eye(3)[Y] > 0, np.sqrt(n / counts), 0) - np.sqrt(counts / n)
    value = np.trace(H.T @ np.linalg.inv(np.eye(n) + G / 0.05) @ H)
    assert n * CRITERIA["HSIC_mkl"]().evaluate(d).value == pytest.approx(value, rel=1e-10)


def test_moments_give_what_gram_matrices_give(rng):
    """All rows as landmarks: value, gradient and Hessian agree, weights and blocks too."""
    weight = 1.0 + np.arange(len(X)) % 2
    for w in (None, weight):
        exact = GramForm(KERNELS, X, LABELS, w)
        features = FeatureMap.whitened(KERNELS, X)
        moments = features.moments(ArraySource(X, Y, w, n_classes=3), 7)
        low = MomentForm(features, moments, mixing=np.diag(1 / np.sqrt(np.bincount(Y))))
        np.testing.assert_allclose(low.traces, exact.traces, rtol=1e-9)
        np.testing.assert_allclose(low.inner_products(), exact.inner_products(), rtol=1e-8)
        for reg in (0.05, "learn"):
            for coupling in ("exact", "approximate"):
                a = LabelResolvent(exact, reg=reg, coupling=coupling)
                b = LabelResolvent(low, reg=reg, coupling=coupling)
                d = rng.dirichlet(np.ones(a.size))
                first, second = a.evaluate(d), b.evaluate(d)
                assert second.value == pytest.approx(first.value, rel=1e-8)
                # X = mu S^{-1} where S has eigenvalues of 1e-10: six digits of it are known
                rtol = 1e-7 if coupling == "exact" else 1e-6
                np.testing.assert_allclose(second.gradient, first.gradient, rtol=rtol)
                np.testing.assert_allclose(second.hessian(), first.hessian(), rtol=1e-4)


def test_cross_kernel_blocks_matter():
    """Block-diagonal moments are another problem (1.60 against 0.95 in the notes' example)."""
    features = FeatureMap.whitened(KERNELS[:2], X[:10])
    bank = MomentForm(features, features.moments(ArraySource(X, Y, n_classes=3), 5))
    value = LabelResolvent(bank, reg=0.05).evaluate(np.array([0.5, 0.5])).value
    bank.C[bank.columns[0], bank.columns[1]] = 0
    bank.C[bank.columns[1], bank.columns[0]] = 0
    assert abs(LabelResolvent(bank, reg=0.05).evaluate(np.array([0.5, 0.5])).value - value) > 0.01


def test_projected_dependence_is_concave_and_a_vertex_is_best(rng):
    criterion = ProjectedDependence(gram_bank(), 0.05, 2)
    vertices = [criterion.evaluate(v).value for v in np.eye(5)]
    for d in rng.dirichlet(np.ones(5), size=20):
        mean = float(d @ np.array(vertices))
        assert criterion.evaluate(d).value >= mean - 1e-9 >= min(vertices) - 1e-9


def test_alignment_beats_random_weights(rng):
    bank = gram_bank()
    d = align_weights(bank)
    H = centred(LABELS) @ centred(LABELS).T

    def alignment(weights):
        G = sum(w * K for w, K in zip(weights, naive_kernels(True), strict=True))
        return np.sum(G * H) / np.linalg.norm(G) / np.linalg.norm(H)

    for other in [*np.eye(5), *rng.dirichlet(np.ones(5), size=50)]:
        assert alignment(other) <= alignment(d) + 1e-9


def test_elliptope(rng):
    """X feasible, t feasible, and their values equal: the optimum of both."""
    for k in (2, 3, 7):
        A = rng.normal(size=(k, k - 1))
        V = A @ A.T
        found = solve_elliptope(V)
        assert np.linalg.eigvalsh(found.X)[0] > -1e-12
        np.testing.assert_allclose(np.diagonal(found.X), 1.0)
        assert np.linalg.eigvalsh(np.diag(found.t) - V)[0] > -1e-9
        assert np.sum(found.X * V) == pytest.approx(found.t.sum(), rel=1e-8)


def test_interior_points_solve_singular_machines(rng):
    Z = rng.normal(size=(40, 2))
    y = np.where(rng.uniform(size=40) < 0.5, 1.0, -1.0)
    a = solve_interior(Z @ Z.T, y, np.full(40, 5.0))
    assert abs(y @ a) < 1e-8 and a.min() >= 0 and a.max() <= 5
    f = Z @ (Z.T @ (y * a))
    b = np.median((y - f)[(a > 1e-4) & (a < 5 - 1e-4)])
    primal = 0.5 * (y * a) @ f + 5 * np.maximum(0, 1 - y * (f + b)).sum()
    assert a.sum() - 0.5 * (y * a) @ f == pytest.approx(primal, rel=1e-7)


def test_learned_reg_stays_in_bounds(rng):
    """Random labels push everything to the identity; kernel weights stay defined."""
    labels = rng.permutation(np.arange(len(X)) % 3)
    bank = GramForm([Linear()], X, np.eye(3)[labels])
    criterion = LabelResolvent(bank, reg="learn")
    result = solve_simplex(criterion)
    assert result.status == "optimal"
    assert 0.1 < criterion.learned_reg(result.point) <= 1e8
    assert criterion.shares(result.point).sum() == pytest.approx(1.0)


def test_kim_of_rows_seen_several_times():
    """Weights are repetitions, of both labels too."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, size=(26, 2)).astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1
    rows = np.repeat(np.arange(26), counts.sum(axis=1).astype(int))
    labels = np.concatenate([np.repeat([0, 1], row.astype(int)) for row in counts])
    merged = GramForm(KERNELS, X, LABELS, counts.sum(axis=1))
    whole = GramForm(KERNELS, X[rows], LABELS[rows])
    d = rng.dirichlet(np.ones(5))
    one = KimDiscriminant(merged, counts, reg=0.1).evaluate(d)
    two = KimDiscriminant(whole, np.eye(2)[labels], reg=0.1).evaluate(d)
    assert one.value == pytest.approx(two.value, rel=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-8)
    np.testing.assert_allclose(one.hessian(), two.hessian(), rtol=1e-7)


def test_exact_approximate_and_k_times_exact():
    """tr(XV) <= lambda_max(X) tr V <= k tr V, and X = I is a correlation matrix."""
    rng = np.random.default_rng(0)
    bank = gram_bank()
    for reg in (0.01, 0.1, 1.0, "learn"):
        exact = LabelResolvent(bank, reg=reg)
        approximate = LabelResolvent(bank, reg=reg, coupling="approximate")
        for _ in range(5):
            d = rng.dirichlet(np.ones(exact.size))
            low, high = exact.evaluate(d).value, approximate.evaluate(d).value
            assert low * (1 - 1e-9) <= high <= 3 * low * (1 + 1e-9)
        low, high = (solve_simplex(one).value for one in (exact, approximate))
        assert low * (1 - 1e-5) <= high <= 3 * low * (1 + 1e-5)


def test_kim_refuses_what_it_cannot():
    with pytest.raises(ValueError, match="two classes"):
        KimDiscriminant(gram_bank(), np.eye(3)[Y], reg=0.1)
    with pytest.raises(ValueError, match="squared_hinge"):
        MarginWeights(gram_bank(False), SIGNS, "learn")


def test_trace_keeps_the_best():
    search = Search(CRITERIA["HSIC_mkl"]())
    values = [search.evaluate(d).value for d in np.eye(5)]
    assert search.value == min(values)
    assert search.point[np.argmin(values)] == 1.0
    for d, value in zip(np.eye(5), values, strict=True):
        assert search.bound(d) <= value + 1e-12


def test_projected_margin_is_its_definition(rng):
    """The machines of G (G + reg)^{-1} G by their quadratic programmes, slopes by differences."""
    criterion = ProjectedMarginWeights(gram_bank(), SIGNS, 2.0, reg=0.3)
    d = rng.dirichlet(np.ones(5))
    G = sum(w * K for w, K in zip(d, naive_kernels(True), strict=True))
    Khat = joint_kernel(G, 0.3, uncorrelated=False)
    found = criterion.evaluate(d)
    assert found.value == pytest.approx(sum(dual_value(Khat, y, 2.0) for y in SIGNS.T), rel=1e-5)
    assert found.minorant == -np.inf  # no tangent is a bound
    for i in range(4):
        step = 1e-4 * (np.eye(5)[i] - np.eye(5)[4])
        up, down = (criterion.evaluate(d + sign * step).value for sign in (1, -1))
        slope = (found.gradient[i] - found.gradient[4]) * 2e-4
        assert up - down == pytest.approx(slope, rel=1e-2, abs=1e-8)
