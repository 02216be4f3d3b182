"""Every kernel of vectors against its definition."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone

from kernel_learn.kernels import (
    ChiSquared,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    pairwise,
)
from kernel_learn.kernels.base import evaluate_profiles
from oracles import naive
from tolerances import EXACT, KERNEL, SINGLE

CASES = [
    (Gaussian(0.7), naive.gaussian, {"gamma": 0.7}),
    (Laplacian(0.3), naive.laplacian, {"gamma": 0.3}),
    (Exponential(0.9), naive.exponential, {"gamma": 0.9}),
    (Matern(0.6, nu=0.5), naive.matern, {"gamma": 0.6, "nu": 0.5}),
    (Matern(0.6, nu=1.5), naive.matern, {"gamma": 0.6, "nu": 1.5}),
    (Matern(0.6, nu=2.5), naive.matern, {"gamma": 0.6, "nu": 2.5}),
    (ChiSquared(0.8), naive.chi_squared, {"gamma": 0.8}),
    (Linear(), naive.linear, {}),
    (Polynomial(1, 0.5, 0.0), naive.polynomial, {"degree": 1, "gamma": 0.5, "coef0": 0.0}),
    (Polynomial(3, 0.5, 1.0), naive.polynomial, {"degree": 3, "gamma": 0.5, "coef0": 1.0}),
    (Cosine(), naive.cosine, {}),
]
IDS = [f"{type(case[0]).__name__}{i}" for i, case in enumerate(CASES)]
KERNELS = [case[0] for case in CASES]
WITH_RULE = [Gaussian(), Laplacian(), Exponential(), Matern(), ChiSquared(), Polynomial()]
SPARSE_ONLY = [Linear(), Cosine(), Polynomial(2, 0.5), Gaussian(0.5)]

every_case = pytest.mark.parametrize("kernel, definition, parameters", CASES, ids=IDS)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=IDS)


def locked(X):
    X.setflags(write=False)
    return X


def rows_with_everything(seed, n=23, d=5):
    """Non-negative rows: repeated, nearly repeated, all zero, with an all but constant column."""
    X = np.random.default_rng(seed).uniform(0, 2, size=(n, d))
    X[X < 0.5] = 0.0
    X[3] = X[1]
    X[4] = X[1] * (1 + 1e-9)
    X[:, 2] = 0.25
    X[5] = 0.0
    return locked(X)


X = rows_with_everything(0)
X_NEW = rows_with_everything(1, n=9)


@every_case
def test_definition(kernel, definition, parameters):
    np.testing.assert_allclose(
        kernel(X), naive.gram(definition, X, **parameters), rtol=KERNEL, atol=KERNEL
    )
    np.testing.assert_allclose(
        kernel(X_NEW, X), naive.gram(definition, X_NEW, X, **parameters), rtol=KERNEL, atol=KERNEL
    )
    np.testing.assert_allclose(
        kernel.diag(X), [definition(x, x, **parameters) for x in X], rtol=KERNEL
    )


@every_case
@pytest.mark.parametrize("panel_rows", [1, 7])
def test_panels(kernel, definition, parameters, panel_rows, monkeypatch):
    """Many panels, with X given once (mirrored) and twice, are one matrix."""
    monkeypatch.setattr(pairwise, "PANEL_ROWS", panel_rows)
    K = kernel(X)
    np.testing.assert_allclose(K, naive.gram(definition, X, **parameters), rtol=KERNEL, atol=KERNEL)
    np.testing.assert_allclose(kernel(X, X), K, rtol=KERNEL, atol=KERNEL)
    assert np.array_equal(K, K.T)


@every_kernel
def test_exactly_symmetric_with_a_large_offset(kernel, rng):
    rows = rng.uniform(0, 1, size=(300, 7)) + 10.0
    K = kernel(rows)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("case", CASES[:7], ids=IDS[:7])
def test_an_offset_costs_no_digits(case):
    kernel, definition, parameters = case
    rows, new = X + 1e4, X_NEW + 1e4
    if isinstance(kernel, ChiSquared):
        parameters = {"gamma": parameters["gamma"] * 1e4}
        kernel = ChiSquared(**parameters)
    expected = naive.gram(definition, new, rows, **parameters)
    np.testing.assert_allclose(kernel(new, rows), expected, atol=EXACT)
    np.testing.assert_allclose(kernel(rows)[:3], kernel(rows[:3], rows), atol=EXACT)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
def test_a_row_is_at_distance_zero_of_itself(form, dtype, rng):
    """Not at that of rounding, whose root is 1e-8."""
    rows = form((100 * rng.uniform(size=(140, 7))).astype(dtype))
    for kernel in KERNELS[:7]:
        assert np.array_equal(np.diagonal(kernel(rows)), np.ones(140))


def test_more_rows_than_a_panel(rng):
    rows = rng.standard_normal((300, 3))
    K = Gaussian(0.4)(rows)
    some = rng.choice(300, size=20, replace=False)
    expected = naive.gram(naive.gaussian, rows[some], rows, gamma=0.4)
    np.testing.assert_allclose(K[some], expected, atol=KERNEL)
    np.testing.assert_allclose(K[:, some].T, expected, atol=KERNEL)


@every_case
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_single_precision(kernel, definition, parameters, offset):
    rows, new = (A.astype(np.float32) + np.float32(offset) for A in (X, X_NEW))
    if isinstance(kernel, Polynomial):
        rows, new = rows / np.float32(100), new / np.float32(100)
    K, K_new = kernel(rows), kernel(new, rows)
    assert K.dtype == K_new.dtype == kernel.diag(rows).dtype == np.float32
    expected = naive.gram(definition, rows, **parameters)
    np.testing.assert_allclose(K, expected, rtol=SINGLE, atol=SINGLE)
    np.testing.assert_allclose(
        K_new, naive.gram(definition, new, rows, **parameters), rtol=SINGLE, atol=SINGLE
    )
    np.testing.assert_allclose(kernel.diag(rows), np.diagonal(expected), rtol=SINGLE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernels", [[Gaussian(2e-3)], [Gaussian(1e-4), Gaussian(2e-3)]])
def test_many_columns(kernels, dtype, rng):
    """Their symmetric product is taken whole: pair by pair, symmetric, centred."""
    X = (rng.normal(size=(150, 160)) + 100).astype(dtype)
    D = np.sum((X[:, None].astype(float) - X.astype(float)) ** 2, axis=2)
    for kernel, K in zip(kernels, evaluate_profiles(kernels, X), strict=True):
        tolerance = 1e-12 if dtype == np.float64 else 1e-6
        np.testing.assert_allclose(K, np.exp(-kernel.gamma * D), atol=tolerance)
        assert K.dtype == dtype and np.array_equal(K, K.T) and np.all(np.diagonal(K) == 1)
    assert Gaussian(1.0)(np.empty((0, 200))).shape == (0, 0)


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_wide_rows_of_single_precision(factor, rng):
    """On both sides of the length from which on products are float64: rows and their copies."""
    X = rng.normal(size=(120, 800)).astype(np.float32)
    centred = X.astype(np.float64) - X[:40].astype(np.float64).mean(axis=0)
    lengths = np.sum(centred**2, axis=1)
    gamma = factor * pairwise.SINGLE_REACH / (lengths.max() + lengths[:40].max())
    expected = naive.gram(naive.gaussian, X.astype(float), X[:40].astype(float), gamma=gamma)
    statistic = pairwise.SquaredEuclidean(X, X[:40], -gamma)
    assert statistic.x2.dtype == (np.float32 if factor < 1 else np.float64)
    np.testing.assert_allclose(Gaussian(gamma)(X, X[:40]), expected, atol=2 * SINGLE)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 30.0, 1e4])
def test_single_precision_at_every_width(gamma, as_rows, rng):
    """Near rows far from the mean: gamma |x|^2 is large where gamma |x - y|^2 is not."""
    rows = np.repeat(rng.standard_normal((6, 4)), 3, axis=0)
    rows = (rows + rng.standard_normal(rows.shape) / np.sqrt(20 * gamma)).astype(np.float32)
    K = Gaussian(gamma)(as_rows(rows))
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, naive.gram(naive.gaussian, rows, gamma=gamma), atol=SINGLE)


@every_kernel
def test_mixed_precision_is_double(kernel):
    single = X.astype(np.float32)
    for K in (kernel(single, X_NEW), kernel(X_NEW, single)):
        assert K.dtype == np.float64
    np.testing.assert_allclose(kernel(single, X_NEW), kernel(X_NEW, single).T, atol=EXACT)


@every_kernel
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_csr(kernel, dtype):
    rows, new = X.astype(dtype), X_NEW.astype(dtype)
    tol = KERNEL if dtype == np.float64 else SINGLE
    for form in (sparse.csr_matrix, sparse.csr_array):
        S, S_new = form(rows), form(new)
        for K, expected in [
            (kernel(S), kernel(rows)),
            (kernel(S_new, S), kernel(new, rows)),
            (kernel(S_new, rows), kernel(new, rows)),
            (kernel(new, S), kernel(new, rows)),
            (kernel.diag(S), kernel.diag(rows)),
        ]:
            assert isinstance(K, np.ndarray) and K.dtype == dtype
            np.testing.assert_allclose(K, expected, rtol=tol, atol=tol)
        assert np.array_equal(kernel(S), kernel(S).T)


@every_kernel
def test_csr_with_unsorted_indices_is_unchanged(kernel, rng):
    S = sparse.csr_matrix(X)
    order = np.concatenate(
        [rng.permutation(np.arange(a, b)) for a, b in zip(S.indptr, S.indptr[1:], strict=False)]
    )
    S = sparse.csr_matrix((S.data[order], S.indices[order], S.indptr), shape=S.shape)
    data, indices = S.data.copy(), S.indices.copy()
    np.testing.assert_allclose(kernel(S), kernel(X), rtol=KERNEL, atol=KERNEL)
    assert np.array_equal(S.data, data) and np.array_equal(S.indices, indices)


@pytest.mark.parametrize("kernel", SPARSE_ONLY, ids=lambda kernel: type(kernel).__name__)
def test_sparse_rows_stay_sparse(kernel, monkeypatch):
    """Only a product, which has as many columns as there are rows, may become dense."""
    toarray = sparse.csr_matrix.toarray
    n_features = 200_000
    S = sparse.random(30, n_features, density=1e-4, format="csr", random_state=0)

    def guarded(self, *args, **options):
        assert self.shape[1] != n_features, "rows were made dense"
        return toarray(self, *args, **options)

    monkeypatch.setattr(sparse.csr_matrix, "toarray", guarded)
    monkeypatch.setattr(sparse.csr_matrix, "todense", guarded)
    tracemalloc.start()
    kernel(S), kernel(S[:5], S), kernel.diag(S)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 30 * n_features * 8


@pytest.mark.parametrize("rule", ["median", "scale", "auto"])
def test_rules_keep_rows_sparse(rule):
    n_features = 200_000
    S = sparse.random(30, n_features, density=1e-4, format="csr", random_state=0)
    tracemalloc.start()
    Gaussian(rule).resolve(S)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * 30 * n_features * 8


@every_kernel
def test_rows_that_are_not_float_arrays(kernel):
    counts = np.arange(12).reshape(4, 3)
    expected = kernel(counts.astype(float))
    for rows in (counts, counts.tolist(), counts.astype(object), sparse.csr_matrix(counts)):
        K = kernel(rows)
        assert K.dtype == np.float64
        np.testing.assert_allclose(K, expected, rtol=KERNEL, atol=KERNEL)
    assert kernel.diag(counts).dtype == np.float64
    np.testing.assert_allclose(kernel.diag(counts), np.diagonal(expected), rtol=KERNEL)


@every_kernel
def test_no_rows(kernel):
    assert kernel(X[:0]).shape == (0, 0)
    assert kernel(X[:0], X).shape == (0, len(X))
    assert kernel(X, X[:0]).shape == (len(X), 0)
    assert kernel.diag(X[:0]).shape == (0,)


@every_kernel
def test_one_row_and_constant_rows(kernel):
    """Nothing divides by the spread of the rows."""
    for rows in (np.full((1, 3), 2.0), np.full((4, 3), 2.0), np.zeros((3, 2))):
        K = kernel(rows)
        assert np.isfinite(K).all()
        assert np.array_equal(K, np.full_like(K, K[0, 0]))


@every_kernel
def test_other_columns_are_refused(kernel):
    with pytest.raises(ValueError, match="X has 4 columns and X_ref has 5"):
        kernel(X[:, :4], X)


@every_kernel
def test_single_rows_need_two_dimensions(kernel):
    with pytest.raises(ValueError, match=r"2-D array, and X has shape \(5,\)"):
        kernel(X[0])


@pytest.mark.parametrize("kernel", WITH_RULE, ids=lambda kernel: type(kernel).__name__)
def test_open_rule_is_an_error(kernel):
    assert not kernel.is_resolved
    with pytest.raises(ValueError, match=r"has a rule in place of a number.*base_kernel_"):
        kernel(X)


@pytest.mark.parametrize("kernel", WITH_RULE, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("gamma", ["mean", 0.0, -1.0, np.inf, np.nan, None, [1.0]])
def test_bad_gamma(kernel, gamma):
    kernel = clone(kernel).set_params(gamma=gamma)
    for call in (kernel.resolve, kernel):
        with pytest.raises(ValueError, match=r"gamma must be a positive number or one of the rule"):
            call(X)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (Matern(1.0, nu=1.0), "nu must be 0.5, 1.5 or 2.5"),
        (Polynomial(0, 1.0), "degree must be an integer >= 1"),
        (Polynomial(2.5, 1.0), "degree must be an integer >= 1"),
        (Polynomial(2, 1.0, -1.0), "coef0 must not be negative"),
        (Polynomial(2, 1.0, np.nan), "coef0 must not be negative"),
    ],
)
def test_bad_parameters(kernel, message):
    for call in (kernel, kernel.resolve):
        with pytest.raises(ValueError, match=message):
            call(X)


def test_chi_squared_refuses_negative_rows():
    with pytest.raises(ValueError, match="negative"):
        ChiSquared().resolve(X - 1)
    with pytest.raises(ValueError, match="negative"):
        ChiSquared(1.0)(X - 1)


def test_linear_landmarks_span_its_feature_space(rng):
    rows = rng.standard_normal((8, 3))
    kernel = Linear()
    E = kernel.explicit_landmarks(rows)
    assert kernel.explicit_dimension(rows) == 3
    np.testing.assert_allclose(kernel(E), np.eye(3), atol=KERNEL)
    np.testing.assert_allclose(kernel(rows, E) @ kernel(E, rows), kernel(rows), atol=KERNEL)
    assert Gaussian().explicit_dimension(rows) is None
    with pytest.raises(ValueError, match="no explicit feature space"):
        Gaussian().explicit_landmarks(rows)


values = st.floats(0, 8).map(lambda value: round(value, 3))
small_rows = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n, 3), elements=values))


@every_kernel
@given(rows=small_rows)
@settings(max_examples=25, deadline=None)
def test_positive_semidefinite(kernel, rows):
    K = kernel(rows)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.abs(K).max(initial=1e-300)


@every_kernel
@given(rows=small_rows, seed=st.integers(0, 10))
@settings(max_examples=15, deadline=None)
def test_rows_may_be_permuted(kernel, rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    K = kernel(rows)
    np.testing.assert_allclose(
        kernel(rows[order]), K[np.ix_(order, order)], rtol=KERNEL, atol=KERNEL
    )


@given(rows=small_rows, gamma=st.floats(1e-3, 10), factor=st.floats(0.1, 10))
@settings(max_examples=25, deadline=None)
def test_width_is_a_unit_of_length(rows, gamma, factor):
    """Rows times c and gamma over c^2 (Gaussian) or c (others) are the same kernel."""
    for kernel, power in [(Gaussian, 2), (Laplacian, 1), (Exponential, 1), (ChiSquared, 1)]:
        np.testing.assert_allclose(
            kernel(gamma / factor**power)(rows * factor), kernel(gamma)(rows), atol=EXACT
        )


def test_rounded_distances_are_never_negative():
    """exp(-gamma d) of rows that coincide is one however sharp the kernel: it was 4.5."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) + 3.0
    for gamma in (1e6, 1e14):
        K = Gaussian(gamma)(X, X[::-1].copy())
        assert K.max() <= 1.0
        np.testing.assert_allclose(np.diagonal(K[:, ::-1]), 1.0, atol=1e-12 * gamma)
