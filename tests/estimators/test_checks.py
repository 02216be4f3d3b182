"""scikit-learn's estimator checks on every public estimator, with no expected failure."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Laplacian, Matern, Polynomial

ESTIMATORS = [
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


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # the checks hand indefinite matrices to precomputed kernels: the warning is documented
        warnings.filterwarnings("ignore", message="The precomputed kernel matrix has negative")
        check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in kl.__all__
        if isinstance(getattr(kl, name), type) and hasattr(getattr(kl, name), "fit")
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}


def test_no_check_is_skipped(monkeypatch):
    """An array-API check is left out unless SCIPY_ARRAY_API is set."""
    import os

    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.fail("run the suite with SCIPY_ARRAY_API=1, as make test does")
