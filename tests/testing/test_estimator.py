"""check_estimator passes estimators of the package and names what a broken one breaks."""

import numpy as np
import pytest
from sklearn.utils import estimator_checks

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.testing import check_estimator

BANK = {"narrow": Gaussian(1.0), "line": Linear()}


@pytest.mark.parametrize(
    "estimator",
    [
        kl.HSICSubspace(uncorrelated=True),
        kl.KernelDiscriminant(BANK, reg="learn"),
        kl.KernelPLS(landmarks=15, random_state=0),
        kl.SubspaceSVC(),
        kl.KernelRCA(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_of_the_package_pass(estimator):
    check_estimator(estimator, scikit_learn=False)


@pytest.mark.slow
def test_scikit_learns_checks_pass_too():
    check_estimator(kl.KernelDiscriminantQR())


def test_scikit_learns_checks_are_run(monkeypatch):
    def refuse(estimator, **options):
        raise AssertionError(f"{type(estimator).__name__} breaks a habit of scikit-learn")

    monkeypatch.setattr(estimator_checks, "check_estimator", refuse)
    with pytest.raises(AssertionError, match="KernelDiscriminantQR breaks a habit"):
        check_estimator(kl.KernelDiscriminantQR())


class Base(kl.KernelOrthogonalCentroid):
    __doc__ = kl.KernelOrthogonalCentroid.__doc__


class Undescribed(kl.KernelOrthogonalCentroid):
    """Something.

    Parameters
    ----------
    kernel : Kernel
    """


class NotInTheTable(Base):
    _parameters = {"kernel": kl.KernelOrthogonalCentroid._parameters["kernel"]}  # noqa: RUF012


class ReturnsNothing(Base):
    def fit(self, X, y=None, **options):
        super().fit(X, y, **options)


class WritesParameters(Base):
    def fit(self, X, y=None, **options):
        self.verbose = 3
        return super().fit(X, y, **options)


class WritesRows(Base):
    def fit(self, X, y=None, **options):
        super().fit(X, y, **options)
        X[0, 0] += 1
        return self


class NoUnderscore(Base):
    def fit(self, X, y=None, **options):
        self.found = 1
        return super().fit(X, y, **options)


class TakesNaN(Base):
    def fit(self, X, y=None, **options):
        return super().fit(np.nan_to_num(X), y, **options) if np.isfinite(X).all() else self


class ForgetsOnRefusal(Base):
    def fit(self, X, y=None, **options):
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return super().fit(X, y, **options)


class LosesState(Base):
    def __getstate__(self):
        return {**super().__getstate__(), "factor_": 2.0}

    def transform(self, X):
        return super().transform(X) * getattr(self, "factor_", 1.0)


class FirstRows(Base):
    def fit(self, X, y=None, **options):
        return super().fit(X[:40], y[:40], **options)


class OtherFeatures(Base):
    def transform(self, X):
        return 2 * super().transform(X)


class OddHistory(Base):
    history_ = ({"mood": 1.0},)


class NegativeGap(Base):
    gap_ = -1.0


class CrossedBounds(Base):
    lower_bound_, upper_bound_ = 2.0, 1.0


class NegativeWeights(Base):
    kernel_weights_ = np.array([1.0, -1.0])


@pytest.mark.parametrize(
    "broken, sentence",
    [
        (Undescribed, "docstring must name every parameter, and .*clusters_per_class"),
        (NotInTheTable, "_parameters must say what each may be, and .*clusters_per_class"),
        (ReturnsNothing, "fit must return the estimator"),
        (WritesParameters, "must leave parameters as they were given, and it changed .*verbose"),
        (WritesRows, "fit must not write to X"),
        (NoUnderscore, "must end with an underscore, and .*found"),
        (TakesNaN, "rows of NaN must be refused"),
        (ForgetsOnRefusal, "a refused fit must leave the estimator as it was"),
        (LosesState, "transform must survive pickling"),
        (FirstRows, "transform must not depend on the order of the rows"),
        (OtherFeatures, "must be transform.*transform"),
        (OddHistory, "it says .*mood"),
        (NegativeGap, "gap_ must not be negative"),
        (CrossedBounds, "lower_bound_ must not be above upper_bound_"),
        (NegativeWeights, "kernel_weights_ must not be negative"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_promises_are_named(broken, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_estimator(broken(random_state=0), scikit_learn=False)
