"""Several kernels together: shared blocks, weights, banks."""

import numpy as np
import pytest
from scipy import sparse

from extras import optional
from kernel_learn.kernels import (
    ChiSquared,
    ColumnKernel,
    Combination,
    Cosine,
    Exponential,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Spectrum,
    evaluate_bank,
    gaussian_bank,
    pairwise,
    rules,
)
from kernel_learn.kernels.bank import common_input, resolve_bank, shared_groups
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.resolve import named_kernels
from oracles import naive
from tolerances import EXACT, KERNEL, SINGLE

pd = optional("pandas")


def product(X, X_ref):
    return X @ X_ref.T


BANK = [
    Gaussian(0.1),
    Linear(),
    Gaussian(5.0),
    Exponential(0.4),
    Matern(0.4, nu=2.5),
    Cosine(),
    Polynomial(2, 0.3),
    Laplacian(0.2),
    ChiSquared(0.2),
    FunctionKernel(product),
    Gaussian(1.0),
]
WEIGHTS = np.array([0.5, 0.0, 2.0, 1.0, 0.25, 1.0, 0.125, 1.0, 1.0, 0.5, 0.0])


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(0).uniform(0, 2, size=(17, 4))
    X.setflags(write=False)
    return X


@pytest.fixture(scope="module")
def X_new():
    X = np.random.default_rng(1).uniform(0, 2, size=(6, 4))
    X.setflags(write=False)
    return X


@pytest.fixture
def built(monkeypatch):
    """Names of the statistics that are built while the test runs."""
    names = []

    def counting(name, statistic):
        def build(*args, **options):
            names.append(name)
            return statistic(*args, **options)

        return build

    for name, statistic in pairwise.STATISTICS.items():
        monkeypatch.setitem(pairwise.STATISTICS, name, counting(name, statistic))
    return names


class Forbidden(Gaussian):
    """A kernel that must not be called."""

    def __call__(self, X, X_ref=None):
        raise AssertionError("evaluated")

    def profile(self, S):
        raise AssertionError("evaluated")

    def diag(self, X):
        raise AssertionError("evaluated")


def test_gaussian_bank_of_ye():
    bank = gaussian_bank()
    sigmas = np.logspace(-1, 2, 10)
    assert len(bank) == 10
    np.testing.assert_allclose([1 / kernel.gamma for kernel in bank.values()], sigmas)
    assert [*bank][:: len(bank) - 1] == ["gaussian_0.1", "gaussian_100"]
    assert all(kernel.is_resolved for kernel in bank.values())
    x, y = np.array([[1.0, 2.0]]), np.array([[0.0, 0.5]])
    assert bank["gaussian_100"](x, y)[0, 0] == pytest.approx(np.exp(-3.25 / 100), rel=KERNEL)


def test_gaussian_bank_options():
    assert [1 / k.gamma for k in gaussian_bank(1, 2.0, 3.0).values()] == [2.0]
    assert len(gaussian_bank(40, 1.0, 1.001)) == 40
    for options in ({"n": 0}, {"low": 0.0}, {"low": 2.0, "high": 1.0}):
        with pytest.raises(ValueError, match="needs a whole number n >= 1 and 0 < low <= high"):
            gaussian_bank(**options)


@pytest.mark.parametrize("panel_rows", [3, 128])
@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
def test_bank_equals_its_kernels(X, X_new, form, panel_rows, monkeypatch):
    monkeypatch.setattr(pairwise, "PANEL_ROWS", panel_rows)
    for args in ((form(X),), (form(X_new), form(X))):
        found = dict(evaluate_bank(BANK, *args))
        assert sorted(found) == list(range(len(BANK)))
        for i, kernel in enumerate(BANK):
            np.testing.assert_allclose(found[i], kernel(*args), rtol=KERNEL, atol=KERNEL)
    assert all(np.array_equal(K, K.T) for _, K in evaluate_bank(BANK, X))


def test_kernels_of_one_distance_share_it(X, built):
    list(evaluate_bank(BANK, X))
    assert sorted(built) == ["chi2", "cosine", "dot", "euclidean", "manhattan", "sqeuclidean"]
    built.clear()
    list(evaluate_bank(list(gaussian_bank().values()), X))
    assert built == ["sqeuclidean"]


def test_groups_keep_the_order_of_the_bank():
    assert shared_groups(BANK) == [[0, 2, 10], [1, 6], [3, 4], [5], [7], [8], [9]]


def test_single_precision_of_a_bank(X):
    """The sharpest kernel decides the precision of what all share."""
    near = np.repeat(X, 2, axis=0)
    near[1::2] += 0.02  # where the sharp kernel is neither 0 nor 1
    rows = near.astype(np.float32) + np.float32(1e3)
    kernels = [Gaussian(1e-3), Gaussian(50.0)]
    for i, K in evaluate_bank(kernels, rows):
        assert K.dtype == np.float32
        expected = naive.gram(naive.gaussian, rows, gamma=kernels[i].gamma)
        np.testing.assert_allclose(K, expected, atol=SINGLE)


def test_bank_with_an_open_rule(X):
    with pytest.raises(ValueError, match="has a rule"):
        list(evaluate_bank([Gaussian(1.0), Gaussian()], X))


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix], ids=["dense", "csr"])
def test_combination(X, X_new, form, monkeypatch):
    monkeypatch.setattr(pairwise, "PANEL_ROWS", 5)
    kernel = Combination(BANK, WEIGHTS)
    for args in ((form(X),), (form(X_new), form(X))):
        expected = sum(w * k(*args) for w, k in zip(WEIGHTS, BANK, strict=True))
        np.testing.assert_allclose(kernel(*args), expected, rtol=KERNEL)
    K = kernel(form(X))
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(form(X)), np.diagonal(K), rtol=KERNEL)


def test_combination_shares_distances(X, built):
    Combination(BANK, np.ones(len(BANK)))(X)
    assert sorted(built) == ["chi2", "cosine", "dot", "euclidean", "manhattan", "sqeuclidean"]


def test_weight_zero_is_never_evaluated(X, X_new, built):
    kernel = Combination([Gaussian(1.0), Forbidden(1.0), Linear()], [1.0, 0.0, 0.0])
    assert np.array_equal(kernel(X), Gaussian(1.0)(X))
    np.testing.assert_allclose(kernel(X_new, X), Gaussian(1.0)(X_new, X), atol=KERNEL)
    assert np.array_equal(kernel.diag(X), np.ones(len(X)))
    assert "dot" not in built
    nothing = Combination([Forbidden(1.0)], [0.0])
    assert not nothing(X_new, X).any() and nothing(X_new, X).shape == (6, 17)
    assert np.array_equal(nothing.diag(X), np.zeros(len(X)))


def test_combination_in_single_precision(X):
    rows = X.astype(np.float32)
    kernel = Combination([Gaussian(1.0), Linear()], [0.3, 0.7])
    assert kernel(rows).dtype == kernel.diag(rows).dtype == np.float32
    assert kernel(rows, X).dtype == np.float64
    np.testing.assert_allclose(kernel(rows), kernel(rows.astype(float)), rtol=SINGLE)


def test_combination_resolves_its_kernels(X):
    kernel = Combination([Gaussian(), Exponential(2.0)], [1.0, 1.0])
    assert not kernel.is_resolved
    with pytest.raises(ValueError, match="has a rule"):
        kernel(X)
    resolved = kernel.resolve(X)
    assert resolved.is_resolved and not kernel.is_resolved
    assert resolved.kernels[0].gamma == Gaussian().resolve(X).gamma
    assert resolved.kernels[1] is kernel.kernels[1]


def test_combination_on_a_frame():
    frame = pd.DataFrame({"a": [0.0, 1.0, 3.0], "b": [1.0, 1.0, 0.5], "s": ["ab", "abc", "bc"]})
    kernel = Combination(
        [ColumnKernel(Gaussian(), ["a", "b"]), ColumnKernel(Spectrum(2), "s")], [1.0, 2.0]
    )
    assert kernel.input == "columns"
    expected = Gaussian().resolve(frame[["a", "b"]])(frame[["a", "b"]]) + 2 * Spectrum(2)(
        frame["s"]
    )
    np.testing.assert_allclose(kernel.resolve(frame)(frame), expected, rtol=KERNEL)
    mixed = Combination([Linear(), ColumnKernel(Linear(), "a")], [1.0, 1.0])
    numbers = frame[["a", "b"]]
    np.testing.assert_allclose(
        mixed(numbers), Linear()(numbers) + np.outer(frame["a"], frame["a"]), rtol=KERNEL
    )


def test_combination_of_a_matrix_keeps_indices():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    kernel = Combination([Precomputed()], [3.0])
    reference = kernel.reference(K, np.array([1]))
    np.testing.assert_allclose(kernel(K, reference), 3 * K[:, [1]])


def test_column_kernels_share_by_their_columns(X, built):
    wide = np.random.default_rng(0).uniform(size=(5, 3000))
    first, last = np.arange(0, 2990), np.arange(0, 2990)
    last[1500] = 2999  # the middle of a long array is not printed
    bank = [
        ColumnKernel(Gaussian(1.0), first),
        ColumnKernel(Gaussian(2.0), first.tolist()),
        ColumnKernel(Gaussian(1.0), last),
        ColumnKernel("linear", slice(2)),
        ColumnKernel(Polynomial(2, 1.0), slice(2)),
    ]
    assert shared_groups(bank) == [[0, 1], [2], [3, 4]]
    for i, K in evaluate_bank(bank, wide):
        np.testing.assert_allclose(K, bank[i](wide), rtol=EXACT)


def test_common_input():
    assert common_input([Gaussian(), Linear()]) == "vectors"
    assert common_input([ColumnKernel(Spectrum(), 0), Linear()]) == "columns"
    with pytest.raises(ValueError, match=r"different rows \(strings, vectors\).*ColumnKernel"):
        common_input([Spectrum(), Linear()])


def test_named_kernels():
    assert named_kernels({"a": 1, 2: 3}) == (["a", "2"], [1, 3])
    assert named_kernels((4, 5)) == (["kernel_0", "kernel_1"], [4, 5])


def test_gaussian_bank_relative_to_the_median(monkeypatch):
    """Rows a thousand times as long have the same kernels; one median serves all widths."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    looks = []
    median = rules.median_gamma
    monkeypatch.setattr(rules, "median_gamma", lambda *a: looks.append(1) or median(*a))
    bank = gaussian_bank(4, 0.5, 4.0, relative=True)
    assert next(iter(bank)) == "gaussian_0.5_median"
    Ks, long = (
        [k(c * X) for k in resolve_bank(list(bank.values()), Pool.of(c * X))] for c in (1.0, 1e3)
    )
    np.testing.assert_allclose(Ks, long)
    assert len(looks) == 2
    gamma = Gaussian("median").resolve(X).gamma
    np.testing.assert_allclose(Ks[0], Gaussian(gamma / 0.5)(X))
    np.testing.assert_allclose(Ks[3], Gaussian(gamma / 4)(X))
