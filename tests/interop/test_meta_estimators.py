"""Our models inside scikit-learn's own: they work, and a file holds them."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernel_learn as kl
from kernel_learn.kernels import Gaussian

pytest.importorskip("skops")
X_ALL, Y_ALL = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X_ALL)[:120]
y = Y_ALL[:120]


def machine():
    return kl.KernelDiscriminant(Gaussian(0.02))


MEMBERS = [("ours", machine()), ("theirs", LogisticRegression(max_iter=1000))]
AROUND = {
    "frozen": lambda: FrozenEstimator(machine().fit(X, y)),
    "threshold by cross-validation": lambda: TunedThresholdClassifierCV(machine(), cv=3),
    "threshold for F1": lambda: TunedThresholdClassifierCV(machine(), scoring="f1", cv=3),
    "threshold": lambda: FixedThresholdClassifier(machine(), threshold=0.3),
    "calibrated": lambda: CalibratedClassifierCV(machine(), cv=3),
    "calibrated by steps": lambda: CalibratedClassifierCV(machine(), method="isotonic", cv=3),
    "calibrated once": lambda: CalibratedClassifierCV(machine(), cv=3, ensemble=False),
    "calibrated, frozen": lambda: CalibratedClassifierCV(FrozenEstimator(machine().fit(X, y))),
    "a table's classifier, frozen": lambda: FrozenEstimator(
        kl.KernelClassifier(quality="fast", max_members=2, assess=False).fit(X, y)
    ),
    "vote": lambda: VotingClassifier(MEMBERS, voting="soft"),
    "stack": lambda: StackingClassifier(MEMBERS, cv=3),
    "Nystroem": lambda: make_pipeline(
        Nystroem(kernel=Gaussian(0.02).as_gp_kernel("fixed"), n_components=20, random_state=0),
        LogisticRegression(),
    ),
}


A, b = (part[:100] for part in load_diabetes(return_X_y=True))
NUMBERS = [("ours", kl.KernelPLSRegressor(Gaussian(0.5))), ("theirs", Ridge())]
AROUND_NUMBERS = {
    "frozen": lambda: FrozenEstimator(regressor().fit(A, b)),
    "vote": lambda: VotingRegressor(NUMBERS),
    "stack": lambda: StackingRegressor(NUMBERS, cv=3),
    "transformed": lambda: TransformedTargetRegressor(regressor(), transformer=StandardScaler()),
}


def regressor():
    return kl.KernelRegressor(quality="fast", max_members=2, assess=False)


@pytest.mark.parametrize("name", AROUND_NUMBERS)
def test_numbers_around_are_loaded_the_same(name, tmp_path):
    model = AROUND_NUMBERS[name]().fit(A, b)
    kl.save(model, tmp_path / "model.skops")
    assert np.array_equal(kl.load(tmp_path / "model.skops").predict(A), model.predict(A))
    assert "training rows" in kl.describe(tmp_path / "model.skops")


@pytest.mark.parametrize("name", AROUND)
def test_what_is_loaded_says_the_same(name, tmp_path):
    model = AROUND[name]().fit(X, y)
    assert model.score(X, y) > 0.9
    kl.save(model, tmp_path / "model.skops")
    loaded = kl.load(tmp_path / "model.skops")
    assert np.array_equal(model.predict_proba(X), loaded.predict_proba(X))
    assert np.array_equal(model.predict(X), loaded.predict(X))


@pytest.mark.parametrize("name", [name for name in AROUND if name != "Nystroem"])
def test_the_rows_inside_are_told(name, tmp_path):
    """A file says how many training rows whoever has it gets, however deep they lie."""
    kl.save(AROUND[name]().fit(X, y), tmp_path / "model.skops")
    rows = 80 if name in ("calibrated", "calibrated by steps") else 120
    assert f"The file contains {rows} training rows" in kl.describe(tmp_path / "model.skops")


def test_frames_come_out_where_they_are_asked_for():
    pd = pytest.importorskip("pandas")
    with sklearn.config_context(transform_output="pandas"):
        Z = kl.HSICSubspace(Gaussian(0.02)).fit(X, y).transform(X)
    assert isinstance(Z, pd.DataFrame)
    assert list(Z.columns) == ["hsicsubspace0"]


def test_weights_are_routed():
    """Cross-validation hands each fold its weights, and they change the answer."""
    weight = np.where(y == 1, 5.0, 0.2)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = machine().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(
            asks, X, y, cv=3, params={"sample_weight": weight}, return_estimator=True
        )
    priors = [model.priors_[1] for model in found["estimator"]]
    assert min(priors) > 0.8  # half of the rows, and nearly all of the weight
