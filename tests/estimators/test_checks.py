"""scikit-learn's estimator checks on every public estimator, with no expected failure."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial

ESTIMATORS = [
    kl.AlignmentSubspace(),
    kl.AlignmentSubspace(center=True),
    kl.AlignmentSubspace(landmarks=15),
    kl.ExpansionSVC(),
    kl.ExpansionSVC(n_points=4, move_points=False, class_weight="balanced"),
    kl.FeatureScales(),
    kl.FeatureScales("linear", criterion="alignment", n_features=1),
    kl.HSICSubspace(),
    kl.HSICSubspace(uncorrelated=True),
    kl.HSICSubspace(kernel="linear"),
    kl.HSICSubspace(kernel="precomputed"),
    kl.HSICSubspace(kernel=Laplacian(), label_kernel="indicator"),
    kl.HSICSubspace(kernel=Polynomial(degree=2)),
    kl.HSICSubspace(kernel=Matern("scale")),
    kl.HSICSubspace(kernel=Gaussian("auto"), landmarks=15),
    kl.HSICSubspace(landmarks="kmeans"),
    kl.HSICSubspace(landmarks=kl.Landmarks("uniform", 12)),
    kl.HSICSubspace(kernel=[Gaussian(0.1), Linear()], uncorrelated=True),
    kl.HSICSubspace(kernel={"narrow": Gaussian(1.0), "wide": Gaussian(0.1)}),
    kl.HSICSubspace(kernel=[Gaussian(0.1), Linear()], uncorrelated=True, weights="alignment"),
    kl.HSICSubspace(kernel=[Gaussian(0.1), Gaussian(0.01)], uncorrelated=True, landmarks=5),
    kl.KernelClassifier(),
    kl.KernelClassifier(quality="fast", max_members=1),
    kl.KernelClassifier(class_weight="balanced", random_state=3),
    kl.KernelDiscriminant(kernel=[Gaussian(0.1), Linear()], reg="learn"),
    kl.KernelDiscriminant(kernel=[Gaussian(0.1), Linear()]),
    kl.KernelDiscriminant(reg="learn"),
    kl.MultiKernelSVC(),
    kl.MultiKernelSVC(kernel=[Gaussian(0.1), Linear()]),
    kl.MultiKernelSVC(kernel=[Gaussian(0.1), Linear()], loss="squared_hinge", C="learn"),
    kl.MultiKernelSVC(kernel="precomputed", loss="squared_hinge"),
    kl.KernelDiscriminant(),
    kl.KernelDiscriminant(reg=1e-2, decision="nearest_neighbor"),
    kl.KernelDiscriminant(landmarks=20),
    kl.KernelDiscriminantQR(),
    kl.KernelOrthogonalCentroid(),
    kl.KernelOrthogonalCentroid(clusters_per_class=2, landmarks=15),
    kl.KernelPLS(),
    kl.KernelPLS(kernel="precomputed"),
    kl.KernelPLS(landmarks=20),
    kl.KernelPLSRegressor(),
    kl.KernelRegressor(),
    kl.KernelRegressor(quality="fast", max_members=1),
    kl.SubspaceSVC(),
    kl.SubspaceSVC(uncorrelated=False, C=10.0),
    kl.SubspaceSVC(kernel="linear"),
    kl.SubspaceSVC(kernel="precomputed"),
    kl.SubspaceSVC(landmarks=15),
    kl.SubspaceSVC(n_components=2, class_weight="balanced"),
    kl.SubspaceSVC(kernel=[Gaussian(0.1), Linear()]),
    kl.TableEncoder(),
    kl.InductiveKernel(),
    kl.InductiveKernel(kernel="linear", regularizer="frobenius", constraints="triplets"),
    kl.InductiveKernel(regularizer="trace", landmarks=15),
    kl.InductiveKernel(regularizer="pola", constraints="similarity", n_components=1),
    kl.InductiveKernel(kernel="precomputed", solver="bregman", n_constraints=20),
    kl.KernelLMNN(),
    kl.KernelMCML(),
    kl.KernelMMC(landmarks=10),
    kl.KernelNCA(),
    kl.KernelRCA(kernel="linear"),
    kl.KernelRCA(kernel="precomputed"),
]


def split_matrix(X, y, **options):
    """train_test_split that gives kernel matrices K(train, train), K(test, train)."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, **options)
    return X_train @ X_train.T, X_test @ X_train.T, y_train, y_test


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    pairwise = get_tags(estimator).input_tags.pairwise
    if pairwise and check.func is estimator_checks.check_decision_proba_consistency:
        # the one check that hands rows to a classifier that asks for a matrix
        monkeypatch.setattr(estimator_checks, "train_test_split", split_matrix)
    with warnings.catch_warnings():
        # the checks hand indefinite matrices to precomputed kernels: the warning is documented
        warnings.filterwarnings("ignore", message="The precomputed kernel matrix has negative")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)  # they set max_iter=1
        check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in kl.__all__
        if isinstance(getattr(kl, name), type) and hasattr(getattr(kl, name), "fit")
    }
    # PairClassifier is fitted on pairs, fit(X, pairs, same): its own tests have its conventions
    assert public - {"PairClassifier"} == {type(estimator).__name__ for estimator in ESTIMATORS}


def test_no_check_is_skipped(monkeypatch):
    """An array-API check is left out unless SCIPY_ARRAY_API is set."""
    import os

    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.fail("run the suite with SCIPY_ARRAY_API=1, as make test does")
