"""Width rules: their values by definition, and what they must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from kernel_learn.kernels import (
    ChiSquared,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    rules,
)
from oracles import naive
from tolerances import EXACT, KERNEL

OWN_DISTANCE = [
    (Gaussian(), naive.squared_distance),
    (Laplacian(), naive.manhattan),
    (Exponential(), naive.distance),
    (Matern(nu=2.5), naive.distance),
    (ChiSquared(), naive.chi_squared_distance),
    (Polynomial(2), naive.squared_distance),
]
KERNELS = [kernel for kernel, _ in OWN_DISTANCE]
RULES = ["median", "scale", "auto"]


def named(kernel):
    return type(kernel).__name__ if hasattr(kernel, "get_params") else None


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(3).uniform(0, 2, size=(11, 4))
    X[X < 0.4] = 0.0
    X.setflags(write=False)
    return X


@pytest.mark.parametrize("kernel, distance", OWN_DISTANCE, ids=named)
def test_median_of_its_own_distance(kernel, distance, X):
    resolved = kernel.resolve(X)
    assert resolved.gamma == pytest.approx(naive.median_gamma(X, distance), rel=KERNEL)
    assert kernel.gamma == "median"
    assert resolved.is_resolved and resolved.resolve(X) is resolved
    others = {name: value for name, value in kernel.get_params().items() if name != "gamma"}
    assert others.items() <= resolved.get_params().items()


@pytest.mark.parametrize("kernel, distance", OWN_DISTANCE, ids=named)
def test_weights_count_rows(kernel, distance, X, rng):
    counts = rng.integers(1, 5, size=len(X))
    expected = naive.median_gamma(X, distance, counts)
    assert kernel.resolve(X, counts.astype(float)).gamma == pytest.approx(expected, rel=KERNEL)
    repeated = np.repeat(X, counts, axis=0)
    assert kernel.resolve(repeated).gamma == pytest.approx(expected, rel=KERNEL)


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
def test_a_repeated_row_is_a_weight(kernel, rule, form, X, rng):
    kernel = type(kernel)(gamma=rule)
    counts = rng.integers(1, 4, size=len(X))
    repeated = rng.permutation(np.repeat(X, counts, axis=0))
    assert kernel.resolve(form(repeated)).gamma == pytest.approx(
        kernel.resolve(form(X), counts.astype(float)).gamma, rel=EXACT
    )


@pytest.mark.parametrize("rule", RULES)
def test_order_of_rows_and_storage_do_not_matter(rule, rng, monkeypatch):
    monkeypatch.setattr(rules, "MEDIAN_ROWS", 15)  # so that rows are left out
    rows = rng.standard_normal((60, 3))
    rows[rows < -0.5] = 0.0
    weight = rng.uniform(0.5, 2, size=60)
    gamma = Gaussian(rule).resolve(rows, weight).gamma
    order = rng.permutation(60)
    assert Gaussian(rule).resolve(rows[order], weight[order]).gamma == pytest.approx(
        gamma, rel=KERNEL
    )
    sparse_gamma = Gaussian(rule).resolve(sparse.csr_matrix(rows), weight).gamma
    assert sparse_gamma == pytest.approx(gamma, rel=EXACT)


def test_median_of_many_rows_is_close(rng):
    rows = rng.standard_normal((3000, 3))
    D2 = ((rows[:, None] - rows) ** 2).sum(axis=2)
    assert Gaussian().resolve(rows).gamma == pytest.approx(1 / np.median(D2), rel=0.05)


def test_weight_changes_the_median(X):
    weight = np.ones(len(X))
    weight[0] = 5.0
    assert Gaussian().resolve(X, weight).gamma != Gaussian().resolve(X).gamma


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_scale_and_auto_are_those_of_scikit_learn(rule, form, X):
    svc = SVC(gamma=rule).fit(form(X), np.arange(len(X)) % 2)
    assert Gaussian(rule).resolve(form(X)).gamma == pytest.approx(svc._gamma, rel=KERNEL)


def test_scale_is_weighted(X, rng):
    counts = rng.integers(1, 4, size=len(X))
    expected = 1 / (X.shape[1] * np.repeat(X, counts, axis=0).var())
    assert Laplacian("scale").resolve(X, counts).gamma == pytest.approx(expected, rel=KERNEL)


def test_rows_that_mostly_coincide():
    """The median distance is zero, so the mean takes its place."""
    X = np.zeros((10, 2))
    X[0] = [3.0, 4.0]
    assert Exponential().resolve(X).gamma == pytest.approx(1 / (2 * 9 * 5 / 100))


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
@pytest.mark.parametrize("rule", RULES)
def test_rows_that_all_coincide(kernel, rule):
    kernel = type(kernel)(gamma=rule)
    for rows in (np.full((6, 2), 0.1), np.zeros((4, 2)), np.ones((1, 2))):
        gamma = kernel.resolve(rows).gamma
        assert gamma == (0.5 if rule == "auto" else 1.0)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=12).filter(
        lambda pairs: sum(w for _, w in pairs) > 0
    )
)
@settings(max_examples=200, deadline=None)
def test_weighted_median(pairs):
    values, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    median = rules.weighted_median(values, weights)
    assert median == naive.weighted_median(values, weights)
    assert median == np.median(np.repeat(values, weights.astype(int)))
    assert median == rules.weighted_median(values, weights * 0.1)


@pytest.mark.parametrize("kernel", KERNELS[:5], ids=named)
def test_a_multiple_of_the_median(kernel, X):
    kernel = kernel.with_gamma("2.5e-1 * median")
    median = kernel.with_gamma("median").resolve(X).gamma
    assert kernel.resolve(X).gamma == pytest.approx(0.25 * median, rel=EXACT)
    assert kernel.rule_bytes(11) > 0
    for wrong in ("0 * median", "-1 * median", "2 * scale", "median * 2"):
        with pytest.raises(ValueError, match="one of the rules"):
            kernel.with_gamma(wrong).resolve(X)


def test_leave_one_out_is_for_estimators(X):
    with pytest.raises(ValueError, match="KernelDiscriminant, HSICSubspace and"):
        Gaussian("loo").resolve(X)
    with pytest.raises(ValueError, match="one of the rules"):
        Polynomial(2, "loo").resolve(X)
