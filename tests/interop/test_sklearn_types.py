"""Every type of scikit-learn that a file may hold: damage ends no process and deceives nobody."""

import copy
import json
import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    NearestNeighbors,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC, LinearSVC, NuSVC

import kernel_learn as kl
from chaos.faults import answer, start
from interop.test_damaged_arrays import CHANGES, arrays_of
from kernel_learn.interop import files, shapes
from kernel_learn.interop.errors import ModelFileError, WrongStateError
from kernel_learn.interop.state import check_state, full_name, parts_of

pytest.importorskip("skops")
pytestmark = pytest.mark.filterwarnings("ignore")
X, y = (part[::3] for part in load_iris(return_X_y=True))
two, number = (y > 0).astype(int), X[:, 0] - X[:, 2]
gaps = np.where(np.arange(len(X))[:, None] % 7 == [0, 1, 2, 8], np.nan, X)
thin = sparse.csr_matrix(np.where(X > 3, X, 0))
levels = np.array(["a", "b", "c"], object)[(10 * X).astype(int) % 3]
codes = (10 * X).astype(int) % 3 * 1.0
texts = np.array([" ".join(row) for row in levels + levels], dtype=object)
brute = {"n_neighbors": 3, "algorithm": "brute"}
logistic, bayes = LogisticRegression(), GaussianNB()
parts = ColumnTransformer(
    [("a", StandardScaler(), [0, 1]), ("b", "passthrough", [2])], remainder=MinMaxScaler()
)

MODELS = [
    (CalibratedClassifierCV(logistic, cv=3), X, y),
    (CalibratedClassifierCV(logistic, cv=3, method="isotonic"), X, y),
    (CalibratedClassifierCV(bayes, cv=3), X, two),
    (parts, X, y),
    (TransformedTargetRegressor(Ridge(), transformer=StandardScaler()), X, number),
    (KernelPCA(3, kernel="rbf", fit_inverse_transform=True), X, y),
    (PCA(2, whiten=True), X, y),
    (TruncatedSVD(2), X, y),
    (LinearDiscriminantAnalysis(), X, y),
    (LinearDiscriminantAnalysis(), X, two),
    (StackingClassifier([("a", logistic), ("b", bayes)], cv=3), X, y),
    (StackingRegressor([("a", Ridge()), ("b", LinearRegression())], cv=3), X, number),
    (VotingClassifier([("a", logistic), ("b", bayes)], voting="soft"), X, y),
    (VotingRegressor([("a", Ridge()), ("b", RidgeCV())], weights=[1, 2]), X, number),
    (make_pipeline(CountVectorizer(token_pattern="."), TfidfTransformer()), texts, y),
    (TfidfVectorizer(token_pattern="."), texts, y),
    (SelectKBest(k=2), X, y),
    (SelectPercentile(percentile=50), X, y),
    (VarianceThreshold(), X, y),
    (FrozenEstimator(logistic.fit(X, y)), X, y),
    (SimpleImputer(add_indicator=True), gaps, y),
    (KNNImputer(), gaps, y),
    (IsotonicRegression(out_of_bounds="clip"), X[:, 0], number),
    (Nystroem(n_components=10, random_state=0), X, y),
    (RBFSampler(n_components=10, random_state=0), X, y),
    (LinearRegression(), X, np.c_[number, number]),
    (LogisticRegression(fit_intercept=False), X, y),
    (LogisticRegressionCV(Cs=2, cv=2), X, two),
    (RidgeClassifier(), X, y),
    (RidgeClassifier(), X, two),
    (FixedThresholdClassifier(logistic, threshold=0.4), X, two),
    (TunedThresholdClassifierCV(logistic, cv=3), X, two),
    (KNeighborsClassifier(**brute), X, y),
    (KNeighborsClassifier(**brute), thin, y),
    (NearestCentroid(), X, y),
    (KNeighborsRegressor(**brute), X, number),
    (NearestNeighbors(**brute), X, y),
    (make_union(PCA(2), StandardScaler()), X, y),
    (make_pipeline(Binarizer(), Normalizer(), MaxAbsScaler(), LinearSVC()), X, y),
    (KernelCenterer(), X @ X.T, y),
    (make_pipeline(PowerTransformer(), RobustScaler()), X, y),
    (QuantileTransformer(n_quantiles=20), X, y),
    (OneHotEncoder(), codes, y),
    (OneHotEncoder(drop="first", min_frequency=15), levels, y),
    (OrdinalEncoder(), codes, y),
    (FunctionTransformer(np.log1p), X, y),
    (GaussianRandomProjection(2, random_state=0), X, y),
    (NuSVC(nu=0.2), X, y),
    (SVC(), X, two),
    (SVC(), thin, y),
    (SVC(kernel="precomputed"), X @ X.T, y),
    (SVC(probability=True, random_state=0), X, y),
]
has_temperature = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
if has_temperature:
    MODELS.append((CalibratedClassifierCV(logistic, cv=3, method="temperature"), X, y))
METHODS = ["predict", "predict_proba", "decision_function", "transform", "kneighbors"]
# lists of the columns that have gaps, which nothing else counts, and of labels
UNCOUNTED = ("indicator_.features_", "_label_binarizer.classes_", "le_.classes_")
STRUCTURAL = ("cut", "narrow", "twice", "empty", "another dimension")


def outputs(model, rows):
    found = {name: getattr(model, name)(rows) for name in METHODS if hasattr(model, name)}
    found = {name: own[0] if isinstance(own, tuple) else own for name, own in found.items()}
    return {name: own.toarray() if sparse.issparse(own) else own for name, own in found.items()}


def is_same(found, known):
    return found.keys() == known.keys() and all(
        found[name].shape == own.shape and np.allclose(found[name], own, equal_nan=True)
        for name, own in known.items()
    )


def damaged_answers(model, rows):
    """What became of every damage: refused, an error of Python's, the same or other answers."""
    warnings.simplefilter("ignore")
    known, refused, wrong = outputs(copy.deepcopy(model), rows), 0, []
    for where, array in arrays_of(model).items():
        if ".f_." in where:  # of IsotonicRegression, made of its thresholds when it is read
            continue
        for change, damage in CHANGES.items():
            if "NaN" in change and array.dtype.kind != "f":
                continue
            try:
                damaged = copy.deepcopy(model, {id(array): damage(array)})
                check_state(damaged)
                found = outputs(damaged, rows)
            except WrongStateError:
                refused += 1
                continue
            except Exception:
                continue
            if change in STRUCTURAL and not where.endswith(UNCOUNTED) and not is_same(found, known):
                wrong.append(f"{where}, {change}")
    return refused, wrong


@pytest.mark.slow
@pytest.mark.parametrize(("model", "rows", "labels"), MODELS, ids=lambda own: type(own).__name__)
def test_no_damaged_array_ends_the_process_or_deceives(model, rows, labels, tmp_path):
    kl.save(model.fit(rows, labels), tmp_path / "model.skops")
    model = kl.load(tmp_path / "model.skops")
    said = answer(start(damaged_answers, model, rows))
    assert said is not None, "the process was ended"
    assert "value" in said and said["value"][1] == [], json.dumps(said)


def test_every_type_on_the_list_is_tried():
    held = set() if has_temperature else {"sklearn.calibration._TemperatureScaling"}
    for model, rows, labels in MODELS:
        held |= {full_name(type(part)) for part in parts_of(model.fit(rows, labels))}
    missing = {f"sklearn.{name}" for name in shapes.SKLEARN} - held
    assert {name for name in missing if "Metadata" not in name} == set()


def lacks_coefficients(machine):
    """LIBSVM copies (k - 1) s of them, however many a sparse matrix stores."""
    coef = machine._dual_coef_
    few = (coef.data[:1], coef.indices[:1], np.minimum(coef.indptr, 1))
    machine._dual_coef_ = machine.dual_coef_ = sparse.csr_matrix(few, shape=coef.shape)


def asks_for_probabilities(machine):
    """LIBSVM reads what describes them, which is not there."""
    machine.probability = machine._effective_probability = True


def is_a_function(machine):
    machine.kernel = np.add


def has_levels_out_of_order(encoder):
    """A level that is searched for is found beyond the last column, which is written to."""
    encoder.categories_[0] = encoder.categories_[0][::-1].copy()


@pytest.mark.parametrize(
    ("model", "rows", "damage", "words"),
    [
        (SVC(), thin, lacks_coefficients, "lacks coefficients"),
        (SVC(), thin, asks_for_probabilities, "lacks its probabilities"),
        (SVC(), X, is_a_function, "has the kernel"),
        (OneHotEncoder(), codes, has_levels_out_of_order, "not in ascending order"),
        (OneHotEncoder(sparse_output=False), codes, has_levels_out_of_order, "ascending order"),
        (OrdinalEncoder(), codes, has_levels_out_of_order, "not in ascending order"),
    ],
)
def test_what_compiled_code_would_follow(model, rows, damage, words, tmp_path, monkeypatch):
    """In a file: each of these read or wrote beyond an array, or ended the process."""
    model.fit(rows, y)
    damage(model)
    with pytest.raises(ModelFileError, match=words):
        kl.save(model, tmp_path / "model.skops")
    monkeypatch.setattr(files, "check_state", lambda *given: None)
    kl.save(model, tmp_path / "model.skops")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=words):
        kl.load(tmp_path / "model.skops")


def test_several_labels_of_neighbours_are_refused_in_a_sentence(tmp_path):
    model = KNeighborsClassifier(**brute).fit(X, np.c_[y, two])
    with pytest.raises(ModelFileError, match="lists of several lengths"):
        kl.save(model, tmp_path / "model.skops")
