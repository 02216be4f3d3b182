"""Our kernels in the tools of scikit-learn: each tool with each kind of kernel."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

import kernel_learn as kl
from kernel_learn import kernels as kk
from tolerances import EXACT

X_ALL, Y_ALL = load_wine(return_X_y=True)
KEPT = np.random.default_rng(0).permutation(len(Y_ALL))[:42]
X = StandardScaler().fit_transform(X_ALL)[KEPT]
y = Y_ALL[KEPT]
X.setflags(write=False)
NEW = X[::4] + 0.1


UNIT = ((X_ALL - X_ALL.min(axis=0)) / np.ptp(X_ALL, axis=0))[KEPT]  # within [0, 1]
LEVELS = np.floor(2.99 * UNIT)
ROWS = {
    "ChiSquared": UNIT,
    "Additive": UNIT,
    "PairwiseAnova": UNIT,
    "Matching": LEVELS,
    "Hamming": LEVELS,
}


def rows_for(kind):
    """Rows that the kernel takes, and new ones."""
    own = ROWS.get(kind, X)
    return own, (NEW if own is X else own[::4, ::-1])


def test_every_kernel_and_every_model_is_here():
    """All but kernels of words and matrices; kernels of tables have a test of their own."""
    bases = {"Kernel", "ProfileKernel", "StatisticsKernel"}
    no_numbers = {"Precomputed", "Spectrum", "Subsequence"}
    public = {
        name
        for name in kk.__all__
        if isinstance(getattr(kk, name), type) and issubclass(getattr(kk, name), kk.Kernel)
    }
    assert {type(make()).__name__ for make in KINDS.values()} == public - no_numbers - bases
    tables = {"KernelClassifier", "KernelRegressor"}
    models = {name for name in kl.__all__ if hasattr(getattr(kl, name), "as_gp_kernel")}
    assert models == models & set(KINDS) | tables


def learned(estimator):
    return lambda: estimator.fit(X, y).kernel_


KINDS = {
    "Gaussian": lambda: kk.Gaussian(0.1),
    "Laplacian": lambda: kk.Laplacian(0.1),
    "Exponential": lambda: kk.Exponential(0.1),
    "Matern": lambda: kk.Matern(0.2, nu=2.5),
    "ChiSquared": lambda: kk.ChiSquared(0.1),
    "Linear": kk.Linear,
    "Polynomial": lambda: kk.Polynomial(2, 0.1),
    "ArcCosine": lambda: kk.ArcCosine(1.0),
    "Cosine": kk.Cosine,
    "Additive": kk.Additive,
    "PairwiseAnova": kk.PairwiseAnova,
    "Matching": kk.Matching,
    "Hamming": lambda: kk.Hamming(0.3),
    "ColumnKernel": lambda: kk.ColumnKernel(kk.Gaussian(0.2), [0, 3, 6]),
    "ScaledKernel": lambda: kk.ScaledKernel(kk.Gaussian(0.2), np.linspace(0, 1, 13)),
    "Combination": lambda: kk.Combination([kk.Gaussian(0.1), kk.Linear()], np.array([0.5, 0.1])),
    "one kernel": lambda: kk.Combination([kk.Gaussian(0.1)], np.array([2.0])),
    "LowRank": lambda: kk.LowRank(kk.Gaussian(0.1), 5).resolve(X),
    "GraphDeformed": lambda: kk.GraphDeformed(kk.Gaussian(0.1)).resolve(X),
    "FunctionKernel": lambda: kk.FunctionKernel(lambda A, B: A @ B.T + 1),
    "PairwiseKernel": lambda: kk.PairwiseKernel("rbf"),
    "GaussianProcessKernel": lambda: kk.GaussianProcessKernel(RBF(3.0)),
    "HSICSubspace": learned(kl.HSICSubspace(kk.Gaussian(0.1))),
    "AlignmentSubspace": learned(kl.AlignmentSubspace(kk.Gaussian(0.1))),
    "KernelDiscriminant": learned(kl.KernelDiscriminant({"a": kk.Gaussian(0.1), "b": kk.Linear()})),
    "KernelDiscriminantQR": learned(kl.KernelDiscriminantQR(kk.Gaussian(0.1))),
    "KernelOrthogonalCentroid": learned(kl.KernelOrthogonalCentroid(kk.Gaussian(0.1))),
    "KernelPLS": learned(kl.KernelPLS(kk.Gaussian(0.1), n_components=2)),
    "KernelPLSRegressor": learned(kl.KernelPLSRegressor(kk.Gaussian(0.1), n_components=2)),
    "MultiKernelSVC": learned(kl.MultiKernelSVC([kk.Gaussian(0.1), kk.Laplacian(0.1)])),
    "SubspaceSVC": learned(kl.SubspaceSVC(kk.Gaussian(0.1))),
    "ExpansionSVC": learned(kl.ExpansionSVC(kk.Gaussian(0.1))),
    "InductiveKernel": learned(kl.InductiveKernel(kernel=kk.Gaussian(0.1), random_state=0)),
    "KernelLMNN": learned(kl.KernelLMNN(kk.Gaussian(0.1))),
    "KernelMCML": learned(kl.KernelMCML(kk.Gaussian(0.1))),
    "KernelMMC": learned(kl.KernelMMC(kk.Gaussian(0.1))),
    "KernelNCA": learned(kl.KernelNCA(kk.Gaussian(0.1), random_state=0)),
    "KernelRCA": learned(kl.KernelRCA(kk.Gaussian(0.1))),
    "FeatureScales": learned(kl.FeatureScales()),
}
KERNELS = pytest.mark.parametrize("kind", KINDS)


@KERNELS
def test_two_rows_give_a_float(kind):
    kernel, (rows, _) = KINDS[kind](), rows_for(kind)
    value = kernel(rows[0], rows[1])
    assert type(value) is float
    np.testing.assert_allclose(value, kernel(rows[:2])[0, 1], rtol=1e-9, atol=1e-12)


@KERNELS
def test_one_row_alone_is_refused_in_a_sentence(kind):
    kernel, (rows, _) = KINDS[kind](), rows_for(kind)
    for given in ((rows[0],), (rows[0], rows), (rows, rows[0])):
        with pytest.raises(ValueError, match="Rows of numbers are a 2-D array"):
            kernel(*given)


def test_letters_are_no_row_of_numbers():
    words = np.array(["ab", "ba", "bb"], dtype=object)
    assert kk.Spectrum(1)(words, words).shape == (3, 3)


@KERNELS
def test_pairwise_kernels(kind):
    kernel, (rows, new) = KINDS[kind](), rows_for(kind)
    K = pairwise_kernels(rows, new, metric=kernel)
    np.testing.assert_allclose(K, kernel(rows, new), rtol=1e-9, atol=1e-11)


def test_pairwise_kernels_of_sparse_rows():
    K = pairwise_kernels(sparse.csr_matrix(X), metric=kk.Gaussian(0.1).as_gp_kernel())
    np.testing.assert_allclose(K, rbf_kernel(X, gamma=0.1), rtol=EXACT)


# Each job with the kernel as it is, and with its matrix computed beforehand.
JOBS = {
    "SVC": lambda k: SVC(kernel=k, C=10).fit,
    "OneClassSVM": lambda k: OneClassSVM(kernel=k, nu=0.3).fit,
    "KernelRidge": lambda k: KernelRidge(kernel=k, alpha=0.1).fit,
}


@KERNELS
@pytest.mark.parametrize("job", JOBS)
def test_models_that_predict(job, kind):
    kernel, (rows, new) = KINDS[kind](), rows_for(kind)
    direct = JOBS[job](kernel)(rows, y)
    beforehand = JOBS[job]("precomputed")(kernel(rows), y)
    ask = "predict" if job == "KernelRidge" else "decision_function"
    ours, theirs = getattr(direct, ask)(new), getattr(beforehand, ask)(kernel(new, rows))
    # the last digits of a matrix show in what libsvm has after its stopping rule of 1e-3
    np.testing.assert_allclose(ours, theirs, atol=(1e-6 if job == "KernelRidge" else 1e-2))


@KERNELS
def test_kernel_principal_components(kind):
    """Inner products: components of one eigenvalue, as scores of PLS are, may be turned."""
    kernel, (rows, new) = KINDS[kind](), rows_for(kind)
    direct = KernelPCA(2, kernel=kernel, eigen_solver="dense").fit(rows)
    beforehand = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(kernel(rows))
    ours, theirs = direct.transform(new), beforehand.transform(kernel(new, rows))
    scale = np.abs(theirs).max()
    ours, theirs = ours / scale, theirs / scale
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-6)


@KERNELS
def test_nystroem_with_all_rows_is_the_kernel(kind):
    kernel, (rows, _) = KINDS[kind](), rows_for(kind)
    Z = Nystroem(kernel=kernel, n_components=len(rows), random_state=0).fit_transform(rows)
    K = kernel(rows)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6 * np.abs(K).max())


@KERNELS
def test_spectral_clustering(kind):
    """Affinities are not negative: else it is given a Gaussian of the kernel's distance."""
    kernel, (rows, _) = KINDS[kind](), rows_for(kind)
    K, options = kernel(rows), {"n_clusters": 2, "random_state": 0}
    if K.min() < 0:
        distance = np.diag(K)[:, None] + np.diag(K) - 2 * K
        affinity = np.exp(-distance / np.median(distance))
        clusters = SpectralClustering(affinity="precomputed", **options).fit_predict(affinity)
        assert set(clusters) == {0, 1}
        return
    direct = SpectralClustering(affinity=kernel, **options).fit(rows)
    beforehand = SpectralClustering(affinity="precomputed", **options).fit(K)
    assert np.array_equal(direct.labels_, beforehand.labels_)


def test_words_in_a_gaussian_process():
    """Rows that are no numbers go where scikit-learn takes them."""
    words = np.array(["ab", "ba", "bb", "aab", "abb", "bab"], dtype=object)
    for kernel in (kk.Spectrum(1), kk.Subsequence(2, 0.5)):
        process = GaussianProcessRegressor(kernel.as_gp_kernel("fixed"), alpha=0.1)
        ridge = KernelRidge(kernel="precomputed", alpha=0.1)
        found = process.fit(words, np.arange(6.0)).predict(words)
        expected = ridge.fit(kernel(words), np.arange(6.0)).predict(kernel(words))
        np.testing.assert_allclose(found, expected, atol=1e-9)


@KERNELS
def test_gaussian_process(kind):
    """The mean with fixed hyperparameters is kernel ridge regression."""
    kernel, (rows, new) = KINDS[kind](), rows_for(kind)
    covariance = kernel.as_gp_kernel("fixed")
    process = GaussianProcessRegressor(kernel=covariance, alpha=0.1).fit(rows, y)
    ridge = KernelRidge(kernel="precomputed", alpha=0.1).fit(kernel(rows), y)
    np.testing.assert_allclose(
        process.predict(new), ridge.predict(kernel(new, rows)), rtol=1e-6, atol=1e-6
    )
    assert process.kernel_.n_dims == 0


@KERNELS
def test_the_gradient_is_that_of_the_matrix(kind):
    """Central differences in theta, by scikit-learn's own protocol."""
    covariance, rows = KINDS[kind]().as_gp_kernel(), rows_for(kind)[0][:9]
    K, gradient = covariance(rows, eval_gradient=True)
    theta, step = covariance.theta, 1e-5
    assert gradient.shape == (9, 9, len(theta))
    for i, direction in enumerate(np.eye(len(theta)) * step):
        up = covariance.clone_with_theta(theta + direction)(rows)
        down = covariance.clone_with_theta(theta - direction)(rows)
        np.testing.assert_allclose(
            gradient[:, :, i], (up - down) / (2 * step), rtol=1e-6, atol=1e-8
        )
    np.testing.assert_allclose(covariance.diag(rows), np.diagonal(K), atol=1e-9)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_the_gradient_of_each_smoothness(nu):
    ours, theirs = kk.Matern(0.2, nu).as_gp_kernel(), kk.Matern(0.2 * np.exp(1e-6), nu)
    K, gradient = ours(X[:9], eval_gradient=True)
    np.testing.assert_allclose(gradient[:, :, 0], (theirs(X[:9]) - K) / 1e-6, atol=1e-5)


def test_the_width_is_learned_as_scikit_learn_learns_its_own():
    """exp(-gamma d^2) with gamma = 1 / (2 l^2): the same likelihood, and the same optimum."""
    target = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    ours = GaussianProcessRegressor(kk.Gaussian(0.1).as_gp_kernel() + WhiteKernel(0.1)).fit(
        X, target
    )
    theirs = GaussianProcessRegressor(RBF(np.sqrt(5.0)) + WhiteKernel(0.1)).fit(X, target)
    length = theirs.kernel_.k1.length_scale
    assert ours.kernel_.k1.kernel.gamma == pytest.approx(1 / (2 * length**2), rel=1e-3)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(
        theirs.log_marginal_likelihood_value_, rel=1e-6
    )


@pytest.mark.parametrize("kind", ["one kernel", "Combination", "MultiKernelSVC"])
def test_weights_are_learned_by_a_process(kind):
    """One weight too, which scikit-learn hands over as a number."""
    covariance = KINDS[kind]().as_gp_kernel((1e-3, 1e3))
    process = GaussianProcessRegressor(covariance, alpha=0.1).fit(X, y)
    weights = process.kernel_.kernel.weights
    assert weights.shape == np.shape(covariance.kernel.weights)
    assert (
        process.log_marginal_likelihood_value_
        >= GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None)
        .fit(X, y)
        .log_marginal_likelihood_value_
    )


def test_a_process_does_not_write_to_the_kernel_given():
    kernel = kk.Gaussian(0.1)
    GaussianProcessRegressor(kernel.as_gp_kernel(), alpha=0.1).fit(X, y)
    covariance = kernel.as_gp_kernel()
    covariance.theta = np.array([1.0])
    assert kernel.gamma == 0.1
    assert covariance.kernel.gamma == pytest.approx(np.e)


def test_a_learned_kernel_classifies_in_a_process():
    kernel = ConstantKernel() * learned(kl.HSICSubspace(kk.Gaussian(0.1)))().as_gp_kernel()
    assert GaussianProcessClassifier(kernel).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "model",
    [
        kl.HSICSubspace(kk.Gaussian(0.1)),
        kl.MultiKernelSVC([kk.Gaussian(0.1), kk.Laplacian(0.1)]),
        kl.InductiveKernel(kernel=kk.Gaussian(0.1)),
        kl.FeatureScales(),
        kl.KernelClassifier(quality="fast", assess=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_estimator_gives_its_learned_kernel_to_a_process(model):
    with pytest.raises(NotFittedError):
        clone(model).as_gp_kernel()
    covariance = clone(model).fit(X, y).as_gp_kernel("fixed")
    assert covariance.n_dims == 0
    process = GaussianProcessRegressor(covariance, alpha=0.1).fit(X, y)
    ridge = KernelRidge(kernel="precomputed", alpha=0.1).fit(covariance(X), y)
    expected = ridge.predict(covariance(NEW, X))
    np.testing.assert_allclose(process.predict(NEW), expected, rtol=1e-6, atol=1e-6)


def test_whole_blocks_where_the_tool_asks_for_them():
    """The way out of n^2 calls: one call for the whole matrix."""
    calls = []

    def counted(A, B):
        calls.append(len(A))
        return A @ B.T

    kernel = kk.FunctionKernel(counted)
    KernelRidge(kernel=kernel.as_gp_kernel()).fit(X, y)
    assert calls == [len(X)]


def test_an_open_rule_is_refused():
    with pytest.raises(ValueError, match="has a rule in place of a number"):
        kk.Gaussian().as_gp_kernel()


def test_a_covariance_function_says_what_it_is():
    covariance = kk.Gaussian(0.1).as_gp_kernel()
    assert repr(covariance) == "CovarianceFunction(Gaussian(gamma=0.1))"
    assert covariance.is_stationary() and covariance.requires_vector_input
    assert not kk.Linear().as_gp_kernel().is_stationary()
    assert not kk.Spectrum(2).as_gp_kernel().requires_vector_input
    with pytest.raises(ValueError, match="among rows X alone"):
        covariance(X, X, eval_gradient=True)


def test_the_kernel_of_a_table_model_in_every_tool():
    """Many members on several views: one call for the whole matrix, and the same answers."""
    target = X[:, 0] + X[:, 1]
    for estimator, values in ((kl.KernelClassifier, y), (kl.KernelRegressor, target)):
        model = estimator(quality="fast", max_members=3, assess=False).fit(X, values)
        kernel, K = model.kernel_, model.kernel_(X)
        with pytest.raises(ValueError, match="Rows of numbers are a 2-D array"):
            kernel(X[0])
        covariance = kernel.as_gp_kernel("fixed")
        K_new = kernel(NEW, X)
        direct = KernelRidge(kernel=covariance, alpha=0.1).fit(X, target).predict(NEW)
        beforehand = KernelRidge(kernel="precomputed", alpha=0.1).fit(K, target).predict(K_new)
        np.testing.assert_allclose(direct, beforehand, atol=1e-8)
        process = GaussianProcessRegressor(kernel=covariance, alpha=0.1).fit(X, target)
        np.testing.assert_allclose(process.predict(NEW), beforehand, atol=1e-8)
        Z = Nystroem(kernel=covariance, n_components=len(X), random_state=0).fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6 * np.abs(K).max())
        assert KernelPCA(2, kernel=covariance).fit_transform(X).shape == (len(X), 2)
        np.testing.assert_allclose(
            SVC(kernel=kernel).fit(X, y).decision_function(NEW),
            SVC(kernel="precomputed").fit(K, y).decision_function(K_new),
            atol=1e-2,
        )
        assert len(kernel.as_gp_kernel().theta) == len(kernel.weights)
