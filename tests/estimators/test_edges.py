"""Odd rows, odd weights, odd budgets: what a fit does at its edges."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

import kernel_learn as kl
from extras import optional
from kernel_learn.constraints import Pairs
from kernel_learn.kernels import ColumnKernel, Gaussian, Linear

pd = optional("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.8)
COLUMNS = ColumnKernel(Gaussian(), ["a", "b"])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("landmarks", ["all", 10])
def test_what_stands_in_unused_columns_does_not_matter(value, landmarks):
    frame = pd.DataFrame(X, columns=list("abcd"))
    odd = frame.copy()
    odd.loc[3, "c"] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kl.KernelDiscriminant(COLUMNS, landmarks=landmarks, random_state=0).fit(odd, Y)
        features = model.transform(odd)
    assert np.isfinite(features).all()
    if landmarks == "all":
        plain = kl.KernelDiscriminant(COLUMNS, landmarks="all").fit(frame, Y)
        np.testing.assert_allclose(features, plain.transform(frame), atol=1e-10)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "coo_array"])
def test_column_kernels_take_every_sparse_format(form):
    kernel = ColumnKernel(Gaussian(0.3), [0, 2])
    expected = kl.HSICSubspace(kernel).fit(X, Y).transform(X)
    A = getattr(sparse, form)(X)
    np.testing.assert_allclose(kl.HSICSubspace(kernel).fit(A, Y).transform(A), expected, atol=1e-9)


def test_rows_of_a_column_kernel_are_several_and_two_dimensional():
    model = kl.HSICSubspace(ColumnKernel(Gaussian(), [0]))
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.fit(X[:, 0], Y)
    for n in (0, 1):
        with pytest.raises(ValueError, match=rf"{n} sample\(s\)"):
            model.fit(X[:n], Y[:n])


@pytest.mark.parametrize("rule", ["rpcholesky", "uniform"])
def test_rows_of_weight_zero_in_a_kernel_matrix(rule):
    """They choose no regularisation and become no landmarks."""
    weight = np.ones(80)
    weight[5:60:2] = 0
    K = Gaussian(0.3)(X)
    kept = np.flatnonzero(weight)
    spec = kl.Landmarks(rule, 70)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kl.KernelDiscriminant("precomputed", landmarks=spec, random_state=0)
        model.fit(K, Y, sample_weight=weight)
    assert not np.isnan(model.loo_errors_).any()
    exact = kl.KernelDiscriminant("precomputed").fit(K[np.ix_(kept, kept)], Y[kept])
    assert model.reg_ == pytest.approx(exact.reg_, rel=1e-6)
    np.testing.assert_allclose(model.loo_errors_, exact.loo_errors_, rtol=1e-4)


def line_of(warn):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn()
    (warning,) = caught
    return warning.filename


BANK = [ColumnKernel(Gaussian(0.1), [0, 1]), ColumnKernel(Gaussian(1.0), [3])]


@pytest.mark.parametrize(
    "warn",
    [
        lambda: kl.HSICSubspace(memory_budget="100kB").fit(X, Y),
        lambda: kl.KernelPLS(memory_budget="60kB").fit(X, Y),
        lambda: kl.HSICSubspace(n_components=9).fit(X, Y),
        lambda: kl.HSICSubspace(n_components=9).fit_transform(X, Y),
        lambda: kl.SubspaceSVC(n_components=9).fit(X, Y),
        lambda: kl.KernelDiscriminant(BANK).fit(np.c_[X[:, :3], np.ones(80)], Y),
        lambda: kl.SubspaceSVC(BANK).fit(np.c_[X[:, :3], np.ones(80)], Y),
        lambda: kl.MultiKernelSVC([Gaussian(), Linear()], max_iter=1, tol=1e-12).fit(X, Y),
        lambda: kl.KernelMCML(max_iter=1).fit(X, Y),
        lambda: kl.InductiveKernel(max_iter=1).fit(X, Y),
        lambda: kl.InductiveKernel().fit(
            X, constraints=Pairs(similar=[[0, 1], [2, 3]], dissimilar=[[0, 1], [4, 5]])
        ),
        lambda: kl.HSICSubspace("precomputed").fit(Gaussian(0.3)(X) - 0.1 * np.eye(80), Y),
    ],
)
def test_a_warning_names_the_line_of_the_user(warn):
    assert line_of(warn) == __file__


def test_landmark_rows_that_are_given_are_counted():
    few = np.repeat(np.arange(10), 8)
    model = kl.HSICSubspace(Gaussian(0.2), landmarks=X[:60]).fit(X[few], Y[few])
    assert model.plan_.n_landmarks == len(model.kernel_.landmarks) == 60


class Doubled(ColumnKernel):
    def __call__(self, X, X_ref=None):
        return 2 * super().__call__(X, X_ref)

    def diag(self, X):
        return 2 * super().diag(X)


def test_a_column_kernel_with_a_call_of_its_own_is_asked_for_it():
    for model in (kl.MultiKernelSVC, kl.KernelDiscriminant):
        own = model([Doubled(Gaussian(0.1), [0, 1]), Gaussian(1.0)]).fit(X, Y)
        plain = model([ColumnKernel(Gaussian(0.1), [0, 1]), Gaussian(1.0)]).fit(X, Y)
        np.testing.assert_allclose(
            own.kernel_weights_ * [2, 1], plain.kernel_weights_, rtol=1e-3, atol=1e-5
        )


WIDE = RNG.normal(size=(200, 6000))
WIDE_Y = (WIDE[:, 0] > 0).astype(int)
NARROW = Gaussian(1e-4)


def halved(name):
    weight = np.ones(200)
    weight[::2] = 0
    return getattr(kl, name)(NARROW, landmarks="all"), WIDE, {"sample_weight": weight}


@pytest.mark.parametrize(
    "case",
    [
        lambda: (kl.HSICSubspace(NARROW), WIDE, {}),
        lambda: (kl.HSICSubspace(NARROW), (100 * WIDE).astype(int), {}),
        lambda: (kl.HSICSubspace(NARROW), np.asfortranarray(WIDE), {}),
        lambda: (kl.HSICSubspace(NARROW), WIDE.astype(np.float32), {}),
        lambda: (kl.HSICSubspace(Linear()), WIDE, {}),
        lambda: (kl.HSICSubspace([NARROW, Linear()]), WIDE, {}),
        lambda: (kl.KernelDiscriminant(NARROW, landmarks=40), WIDE, {}),
        lambda: (kl.KernelDiscriminant(NARROW), WIDE[np.arange(200) // 2], {}),
        lambda: (kl.MultiKernelSVC(NARROW), WIDE, {}),
        lambda: (kl.SubspaceSVC(NARROW), WIDE, {}),
        lambda: (kl.KernelRCA(NARROW), WIDE, {}),
        lambda: (kl.InductiveKernel(NARROW, random_state=0), WIDE, {}),
        lambda: (kl.InductiveKernel(NARROW, landmarks=40, random_state=0), WIDE, {}),
        lambda: halved("HSICSubspace"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_copies_of_wide_rows_are_planned(case):
    model, A, options = case()
    model.fit(A[:, :20], WIDE_Y, **options)  # what is imported and cached at the first fit
    tracemalloc.start()
    model.fit(A, WIDE_Y, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.2 * model.plan_.bytes_needed + 2e6
    assert model.plan_.bytes_needed <= 2 * peak + 2e6


def test_a_moments_pass_takes_what_is_planned():
    A = RNG.normal(size=(15_000, 60))
    labels = (A[:, 0] > 0).astype(int)
    model = kl.HSICSubspace(Gaussian(0.01), landmarks=kl.Landmarks("uniform", 50), random_state=0)
    model.fit(A[:200], labels[:200])
    tracemalloc.start()
    model.fit(A, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.2 * model.plan_.bytes_needed + 2e6
    assert model.plan_.bytes_needed <= 2 * peak + 2e6


@pytest.mark.parametrize("factor", [1e155, 1e300, 1e-160, 1e-300])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "poly", "cosine"])
def test_numbers_without_squares_are_refused_in_a_sentence(factor, kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (factor * X, sparse.csr_matrix(factor * X)):
            with pytest.raises(ValueError, match="squares of such numbers are"):
                kl.KernelDiscriminant(kernel).fit(rows, Y)
        model = kl.KernelDiscriminant(kernel).fit(X, Y)
        with pytest.raises(ValueError, match="squares of such numbers are infinite"):
            model.predict(1e155 * X)
        model.predict(1e-200 * X)  # all but zero, which is a row like any other


def test_polynomials_far_from_the_origin():
    """At 1e6 a cubic kernel has 1e36 on its diagonal and 1e24 of variance: four digits."""
    far = kl.KernelDiscriminant("poly", reg=0.1).fit(X + 1e6, Y)
    linear = kl.KernelDiscriminant("linear", reg=0.1).fit(X, Y)
    assert far.score(X + 1e6, Y) > linear.score(X, Y) - 0.05
    with pytest.raises(ValueError, match="kernel matrix is numerically singular"):
        kl.KernelDiscriminant("poly", reg=1e-3).fit(X + 1e6, Y)


@pytest.mark.parametrize("factor", [1e8, 1e10, 1e12, 1e14])
@pytest.mark.parametrize(
    "estimator",
    [
        kl.HSICSubspace,
        kl.KernelDiscriminant,
        kl.KernelDiscriminantQR,
        kl.KernelOrthogonalCentroid,
        kl.KernelPLS,
        kl.MultiKernelSVC,
        kl.SubspaceSVC,
    ],
)
@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_kernel_values_beyond_single_precision_are_refused(estimator, kernel, factor):
    """Fitted in float64 and compared with new rows in float32, whose cubes are infinite."""
    rows = (factor * X).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = estimator(kernel).fit(rows, Y)
        except ValueError as error:
            found = str(error)
            assert "in float32. Pass them as float64" in found or "look the same" in found, found
            return
        said = model.predict(rows) if hasattr(model, "predict") else model.transform(rows)
        wide = estimator(kernel).fit(rows.astype(np.float64), Y)
        other = wide.predict(rows) if hasattr(model, "predict") else wide.transform(rows)
    assert np.isfinite(said).all()
    if said.ndim == 1:
        assert np.mean(said == other) > 0.9
