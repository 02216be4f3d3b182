"""Manners that every estimator has: weights are routed, frames come out, threads share a model."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

import kernel_learn as kl
from kernel_learn.kernels import Gaussian, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.8)
X_NEW = RNG.normal(size=(40, 4))
WEIGHTS = RNG.uniform(0.2, 5.0, 60)
FOLDS = KFold(2, shuffle=True, random_state=0)

FAST = {name: {"max_iter": 3} for name in ("KernelLMNN", "KernelMCML", "KernelMMC", "KernelNCA")}
FAST |= {"ExpansionSVC": {"n_points": 4, "max_iter": 5}, "KernelClassifier": {"quality": "fast"}}
FAST |= {"KernelRegressor": {"quality": "fast"}}
METHODS = ("transform", "predict", "predict_proba", "decision_function")
ESTIMATORS = sorted(
    name for name in kl.__all__ if hasattr(getattr(kl, name), "fit") and name != "PairClassifier"
)
WEIGHTED = [name for name in ESTIMATORS if has_fit_parameter(getattr(kl, name), "sample_weight")]
TRANSFORMERS = [name for name in ESTIMATORS if hasattr(getattr(kl, name), "set_output")]
SCORED = [name for name in WEIGHTED if hasattr(getattr(kl, name), "score")]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make(name, **options):
    kind = getattr(kl, name)
    seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
    return kind(**FAST.get(name, {}), **seed, **options)


def outputs(model, rows=X_NEW):
    return [np.asarray(getattr(model, name)(rows)) for name in METHODS if hasattr(model, name)]


def assert_same(model, other):
    for now, then in zip(outputs(model), outputs(other), strict=True):
        np.testing.assert_array_equal(now, then)


def differ(model, other):
    pairs = zip(outputs(model), outputs(other), strict=True)
    return any(now.shape != then.shape or (now != then).any() for now, then in pairs)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_routed(name, routing):
    """Through a pipeline, a search and a cross-validation they arrive as in a fit by hand."""

    def by_hand(rows=slice(None)):
        return make(name).fit(X[rows], Y[rows], sample_weight=WEIGHTS[rows])

    assert differ(by_hand(), make(name).fit(X, Y))  # or nothing below would be tested
    steps = [
        ("same", FunctionTransformer()),
        ("model", make(name).set_fit_request(sample_weight=True)),
    ]
    piped = Pipeline(steps).fit(X, Y, sample_weight=WEIGHTS)
    assert_same(piped[-1], by_hand())
    tuned = next(iter(make(name).get_params()))
    search = GridSearchCV(
        make(name).set_fit_request(sample_weight=True),
        {tuned: [make(name).get_params()[tuned]]},
        scoring=lambda model, X, y: 0.0,
        cv=FOLDS,
    )
    assert_same(search.fit(X, Y, sample_weight=WEIGHTS).best_estimator_, by_hand())
    run = cross_validate(
        Pipeline(steps),
        *(X, Y),
        cv=FOLDS,
        params={"sample_weight": WEIGHTS},
        scoring=lambda model, X, y: 0.0,
        return_estimator=True,
    )
    for (rows, _), fold in zip(FOLDS.split(X), run["estimator"], strict=True):
        assert_same(fold[-1], by_hand(rows))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_that_nobody_asked_for_are_refused(name, routing):
    model = Pipeline([("model", make(name))])
    with pytest.raises(ValueError, match=r"sample_weight.* passed but are not explicitly set"):
        model.fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize("name", SCORED)
def test_scores_are_weighted_where_asked(name, routing):
    model = make(name).set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
    run = cross_validate(
        model, X, Y, cv=FOLDS, params={"sample_weight": WEIGHTS}, return_estimator=True
    )
    measure = r2_score if name.endswith("Regressor") else accuracy_score
    for (_, rows), fold, score in zip(
        FOLDS.split(X), run["estimator"], run["test_score"], strict=True
    ):
        expected = measure(Y[rows], fold.predict(X[rows]), sample_weight=WEIGHTS[rows])
        assert score == pytest.approx(expected, rel=1e-12)


def test_groups_are_routed_to_the_classifier(routing):
    groups = np.arange(60) // 6
    model = Pipeline([("model", make("KernelClassifier").set_fit_request(groups=True))])
    by_hand = make("KernelClassifier").fit(X, Y, groups=groups)
    assert differ(by_hand, make("KernelClassifier").fit(X, Y))
    assert_same(model.fit(X, Y, groups=groups)[-1], by_hand)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_frames_come_out(name, library):
    frames = pytest.importorskip(library)
    model = make(name).fit(X, Y)
    expected = model.transform(X_NEW)
    frame = model.set_output(transform=library).transform(X_NEW)
    assert isinstance(frame, frames.DataFrame)
    assert list(frame.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    first = make(name).set_output(transform=library).fit_transform(X, Y)
    assert isinstance(first, frames.DataFrame)
    assert list(first.columns) == list(frame.columns) and len(first) == len(X)
    if hasattr(model, "predict"):  # the container of features is no business of theirs
        assert isinstance(model.predict(X_NEW), np.ndarray)


def restored(model, tmp_path):
    kl.save(model, tmp_path / "model.skops")
    return kl.load(tmp_path / "model.skops")


FORMS = {"one": {}, "bank": {"kernel": [Gaussian(0.1), Linear()]}, "landmarks": {"landmarks": 20}}


def shared_models():
    for name in ESTIMATORS:
        yield name, "one"
        if getattr(getattr(kl, name), "accepts_banks", False):
            yield name, "bank"
        if "landmarks" in getattr(kl, name)().get_params() and name != "MultiKernelSVC":
            yield name, "landmarks"


@pytest.fixture
def eager_threads():
    """Threads that are changed at nearly every step: what can be interrupted, is."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


PARTS = np.split(X_NEW, 8)  # other rows for each thread: what one leaves behind, another meets


def answers(model, ask=outputs):
    return [ask(model, rows) for rows in PARTS]


def assert_threads_agree(model, expected, ask=outputs):
    """All threads start at once on a model that nobody asked before."""
    start = threading.Barrier(len(PARTS))

    def answer(rows):
        start.wait()
        return ask(model, rows)

    with ThreadPoolExecutor(len(PARTS)) as pool:
        for part, alone in zip(pool.map(answer, PARTS), expected, strict=True):
            for now, then in zip(part, alone, strict=True):
                np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize(("name", "form"), list(shared_models()))
def test_threads_share_a_model(name, form, eager_threads):
    """What is computed at the first use is computed once, or the same by each."""
    model = make(name, **FORMS[form]).fit(X, Y)
    stored = pickle.dumps(model)
    expected = answers(copy.deepcopy(model))
    assert_threads_agree(model, expected)
    assert_threads_agree(pickle.loads(stored), expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_share_a_model_from_a_file(name, tmp_path, eager_threads):
    pytest.importorskip("skops")
    model = make(name).fit(X, Y)
    assert_threads_agree(restored(model, tmp_path), answers(model))


def test_threads_share_a_classifier_of_pairs(eager_threads):
    pairs = RNG.integers(0, 60, size=(80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    model = kl.PairClassifier().fit(X, pairs, Y[pairs[:, 0]] == Y[pairs[:, 1]])

    def ask(model, rows):
        return [model.predict(rows, rows[::-1]), model.decision_function(rows, rows[::-1])]

    assert_threads_agree(model, answers(copy.deepcopy(model), ask), ask)


def test_a_model_that_keeps_notes_is_found_out(eager_threads):
    """The check itself: an answer that passes through the model is another thread's answer."""

    class Forgetful:
        meeting = threading.Barrier(1)

        def predict(self, rows):
            self.rows = rows
            self.meeting.wait()  # every thread has left its rows
            return np.array([float(sum(self.rows[0]))])

    expected = answers(Forgetful())
    Forgetful.meeting = threading.Barrier(len(PARTS))
    with pytest.raises(AssertionError):
        assert_threads_agree(Forgetful(), expected)
