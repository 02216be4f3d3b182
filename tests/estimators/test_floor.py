"""What every fit owes its user: each kernel value once, one look at the rows, all or nothing."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import validation
from threadpoolctl import threadpool_info, threadpool_limits

import kernel_learn as kl
from extras import optional
from kernel_learn.ensemble import candidates
from kernel_learn.kernels import ColumnKernel, Gaussian, Kernel, Linear
from kernel_learn.rows import keys as row_hashes

pd = optional("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.8)
X_NEW = RNG.normal(size=(7, 4))


class Counted(Kernel):
    """exp(-gamma |x - y|^2); counts the values asked for, and stops at a call if told to."""

    values, calls, stop_at = 0, 0, None

    def __init__(self, gamma=0.1):
        self.gamma = gamma

    def __call__(self, X, X_ref=None):
        X_ref = X if X_ref is None else X_ref
        Counted.values += len(X) * len(X_ref)
        Counted.calls += 1
        if Counted.calls == Counted.stop_at:
            raise KeyboardInterrupt
        return np.exp(-self.gamma * cdist(X, X_ref, "sqeuclidean"))

    def diag(self, X):
        return np.ones(len(X))

    def reference_gradient(self, X, X_ref, A):
        weighted = 2 * self.gamma * A * self(X, X_ref)
        return weighted.T @ X - weighted.sum(axis=0)[:, None] * X_ref


@pytest.fixture(autouse=True)
def fresh_counter():
    Counted.values = Counted.calls = 0
    Counted.stop_at = None


BANK = [Counted(0.1), Counted(1.0)]


@pytest.mark.parametrize(
    "model",
    [
        kl.HSICSubspace(BANK, uncorrelated=True),
        kl.HSICSubspace(BANK),
        kl.HSICSubspace(BANK, weights="alignment"),
        kl.KernelDiscriminant(BANK),
        kl.KernelDiscriminant(BANK, reg="learn"),
        kl.SubspaceSVC(BANK),
        kl.SubspaceSVC(BANK, weights="uniform"),
        kl.MultiKernelSVC(BANK),
        kl.MultiKernelSVC(BANK, weights="alignment"),
        kl.HSICSubspace(BANK, weights="loo"),
        kl.KernelDiscriminant(BANK, weights="loo"),
        kl.SubspaceSVC(BANK, weights="loo"),
        kl.MultiKernelSVC(BANK, weights="loo"),
    ],
    ids=repr,
)
def test_a_bank_evaluates_each_kernel_once(model):
    clone(model).fit(X, Y)
    assert Counted.values == 2 * len(X) ** 2


@pytest.mark.parametrize("n_kept", [0, 1])
def test_the_plan_says_what_is_evaluated_again(n_kept):
    whole = kl.HSICSubspace(BANK, uncorrelated=True).fit(X, Y)
    budget = whole.plan_.bytes_least + n_kept * 8 * len(X) ** 2
    Counted.values = 0
    model = kl.HSICSubspace(BANK, uncorrelated=True, memory_budget=budget).fit(X, Y)
    assert model.plan_.n_kept == n_kept
    assert f"{n_kept} of them kept" in str(model.plan_)
    assert Counted.values > 2 * len(X) ** 2
    np.testing.assert_allclose(model.transform(X_NEW), whole.transform(X_NEW), atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        kl.HSICSubspace(Counted()),
        kl.KernelDiscriminant(Counted()),
        kl.KernelDiscriminant(Counted(), decision="nearest_neighbor"),
        kl.KernelPLS(Counted()),
        kl.KernelOrthogonalCentroid(Counted()),
        kl.AlignmentSubspace(Counted()),
        kl.SubspaceSVC(Counted()),
        kl.KernelRCA(Counted()),
        kl.KernelMCML(Counted(), max_iter=2),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_exact_fit_evaluates_its_kernel_once(model):
    clone(model).fit(X, Y)
    assert Counted.values == len(X) ** 2


def test_nearest_neighbours_of_repeated_and_weighted_rows():
    """The features of the training rows come from the Gram matrix, in the order of the rows."""
    many, weight = RNG.permutation(np.repeat(np.arange(30), 3)), RNG.uniform(0.5, 2, 90)
    model = kl.KernelDiscriminant(Gaussian(0.3), decision="nearest_neighbor", reg=0.1)
    model.fit(X[many], Y[many], sample_weight=weight)
    np.testing.assert_allclose(model._neighbor._fit_X, model.transform(X[many]), atol=1e-9)


def test_repeated_rows_are_evaluated_once():
    many = np.repeat(np.arange(20), 5)
    for model in (kl.HSICSubspace(BANK, uncorrelated=True), kl.SubspaceSVC(BANK)):
        Counted.values = 0
        model.fit(X[many], Y[many])
        assert Counted.values == 2 * 20**2


@pytest.mark.parametrize("constraints", ["pairs", "triplets", "similarity", "probability"])
def test_constrained_rows_are_evaluated_once(constraints):
    kl.InductiveKernel(Counted(), constraints=constraints, random_state=0).fit(X, Y)
    assert Counted.values <= 1.1 * len(X) ** 2


@pytest.mark.parametrize("kernels", [1, 3])
def test_a_landmark_fit_is_one_pass(kernels):
    """The pivots' columns, the landmarks among themselves, and every row once."""
    bank = [Counted(gamma) for gamma in (0.1, 0.5, 2.0)][:kernels]
    many = RNG.normal(size=(700, 4))
    labels = (many[:, 0] > 0).astype(int)
    kernel = bank if kernels > 1 else bank[0]
    model = kl.HSICSubspace(
        kernel, uncorrelated=True, landmarks=kl.Landmarks("uniform", 50), random_state=0
    ).fit(many, labels)
    assert Counted.values == kernels * (50**2 + 700 * 50)
    assert model.plan_.n_landmarks == 50
    if kernels > 1:
        assert "50 landmarks for each of 3 kernels for 700 rows" in str(model.plan_)
    adaptive = kl.HSICSubspace(kernel, uncorrelated=True, landmarks=50, random_state=0)
    assert adaptive.fit(many, labels).landmark_residual_ > 0


def frame_of(X):
    return pd.DataFrame(X, columns=list("abcd")).assign(text="t")


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize(
    "make",
    [
        lambda kernel: kl.HSICSubspace(kernel),
        lambda kernel: kl.HSICSubspace([kernel, kernel], uncorrelated=True),
        lambda kernel: kl.HSICSubspace([kernel, kernel, kernel], uncorrelated=True, landmarks=5),
        lambda kernel: kl.KernelDiscriminant(kernel),
        lambda kernel: kl.KernelDiscriminant(kernel, landmarks=10),
        lambda kernel: kl.SubspaceSVC([kernel, kernel]),
        lambda kernel: kl.MultiKernelSVC([kernel, kernel]),
        lambda kernel: kl.InductiveKernel(kernel),
        lambda kernel: kl.KernelRCA(kernel),
        lambda kernel: kl.KernelPLS(kernel, landmarks=10),
        lambda kernel: kl.AlignmentSubspace(kernel),
    ],
)
def test_rows_are_checked_once_and_hashed_once(make, kind, monkeypatch):
    data = X if kind == "array" else frame_of(X)
    kernel = Gaussian() if kind == "array" else ColumnKernel(Gaussian(), list("abcd"))
    scanned, hashed = [], []
    check, entries = validation._assert_all_finite, row_hashes._entry_keys

    def count_check(A, *args, **kwargs):
        if np.ndim(A) == 2 and not get_config()["assume_finite"]:
            scanned.append(np.size(A))
        return check(A, *args, **kwargs)

    def count_entries(values, columns):
        hashed.append(values.size)
        return entries(values, columns)

    monkeypatch.setattr(validation, "_assert_all_finite", count_check)
    monkeypatch.setattr(row_hashes, "_entry_keys", count_entries)
    make(kernel).fit(data, Y)
    assert sum(scanned) <= data.size
    assert sum(hashed) == data.size


def test_fitted_state_of_a_frame_is_arrays():
    kernel = {"numbers": ColumnKernel(Gaussian(), ["a", "c"]), "b": ColumnKernel(Linear(), "b")}
    frame = frame_of(X)
    for model in (
        kl.HSICSubspace(kernel, uncorrelated=True),
        kl.HSICSubspace(kernel, uncorrelated=True, landmarks=7),
        kl.MultiKernelSVC(kernel),
        kl.InductiveKernel(ColumnKernel(Gaussian(), "a")),
    ):
        model.fit(frame, Y)
        assert not holds_frame(model)


def holds_frame(value, seen=None):
    seen = set() if seen is None else seen
    if id(value) in seen:
        return False
    seen.add(id(value))
    if type(value).__module__.startswith("pandas"):
        return True
    if isinstance(value, dict):
        return any(holds_frame(item, seen) for item in value.values())
    if isinstance(value, list | tuple):
        return any(holds_frame(item, seen) for item in value)
    state = value.__getstate__() if hasattr(value, "__getstate__") else None
    return isinstance(state, dict) and holds_frame(state, seen)


ALL = {
    "AlignmentSubspace": {},
    "ExpansionSVC": {"n_points": 4, "max_iter": 5},
    "FeatureScales": {},
    "HSICSubspace": {},
    "InductiveKernel": {},
    "KernelDiscriminant": {},
    "KernelDiscriminantQR": {},
    "KernelLMNN": {"max_iter": 3},
    "KernelMCML": {"max_iter": 3},
    "KernelMMC": {"max_iter": 3},
    "KernelNCA": {"max_iter": 3},
    "KernelOrthogonalCentroid": {},
    "KernelPLS": {},
    "KernelPLSRegressor": {},
    "KernelRCA": {},
    "MultiKernelSVC": {},
    "SubspaceSVC": {},
}
BANKS = ("HSICSubspace", "KernelDiscriminant", "MultiKernelSVC", "SubspaceSVC")
LANDMARKS = [name for name in ALL if "landmarks" in getattr(kl, name)().get_params()]


def test_all_estimators_are_here():
    public = {name for name in kl.__all__ if hasattr(getattr(kl, name), "fit")}
    # one has no kernel (its tests are below), the other learns from pairs
    others = {"KernelClassifier", "KernelRegressor", "PairClassifier", "TableEncoder"}
    assert {*ALL, *others} == public


def models():
    for name, options in ALL.items():
        kind = getattr(kl, name)
        seed = {"random_state": 0} if "random_state" in kind().get_params() else {}
        yield kind(kernel=Counted(), **options, **seed)
        if name in BANKS:
            yield kind(kernel=[Counted(0.1), Counted(1.0)], **options, **seed)
        if name in LANDMARKS:
            loss = {"loss": "squared_hinge"} if name == "MultiKernelSVC" else {}
            yield kind(kernel=Counted(), landmarks=12, **loss, **options, **seed)


def outputs(model):
    methods = ("transform", "predict", "decision_function", "predict_proba")
    return [getattr(model, name)(X_NEW) for name in methods if hasattr(model, name)]


def refusals(model):
    """Fits that must fail, at one stage after the other."""
    regressor = isinstance(model, kl.KernelPLSRegressor)
    bad_y = [str(label) for label in "abcde" * 12] if regressor else np.zeros(60)
    constant = np.ones((60, 4))
    missing = np.array(X)
    missing[3, 1] = np.nan
    yield X, Y[:-1]
    yield X, bad_y
    yield missing, Y
    yield constant, Y
    yield X[:, :0], Y
    yield [*X.tolist(), [1.0]], np.append(Y, 0)


@pytest.mark.parametrize("model", list(models()), ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_that_fails_changes_nothing(model):
    before = dict(vars(model))
    for A, labels in refusals(model):
        with pytest.raises((ValueError, TypeError)):
            model.fit(A, labels)
        assert vars(model) == before
    with pytest.raises(NotFittedError):
        outputs(model)

    model.fit(X, Y)
    fitted, expected = dict(vars(model)), outputs(model)
    for A, labels in refusals(model):
        with pytest.raises((ValueError, TypeError)):
            model.fit(A, labels)
    Counted.calls = 0
    clone(model).fit(X, Y)
    n_calls = Counted.calls
    for stop in {1, (n_calls + 1) // 2, n_calls}:
        Counted.calls, Counted.stop_at = 0, stop
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, ::-1] + 1, Y[::-1])
        Counted.stop_at = None
    assert vars(model) == fitted
    for now, then in zip(outputs(model), expected, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("options", [{}, {"quality": "fast", "max_members": 1}])
def test_a_classifier_whose_fit_fails_stays_as_it_was(options, monkeypatch):
    model = kl.KernelClassifier(**options)
    before = dict(vars(model))
    infinite = np.array(X)
    infinite[3, 1] = np.inf
    refused = [
        (X, Y[:-1]),
        (X, np.zeros(60)),
        (infinite, Y),
        (X[:, :0], Y),
        ([*X.tolist(), [1.0]], np.append(Y, 0)),
    ]
    for A, labels in refused:
        with pytest.raises((ValueError, TypeError)):
            model.fit(A, labels)
        assert vars(model) == before
    with pytest.raises(NotFittedError):
        outputs(model)
    fitted, expected = dict(vars(model.fit(X, Y))), outputs(model)
    for A, labels in refused:
        with pytest.raises((ValueError, TypeError)):
            model.fit(A, labels)

    evaluate, calls, stops = candidates.evaluate_shared, [], []

    def interrupt(kernel, S):
        calls.append(kernel)
        if len(calls) in stops:
            raise KeyboardInterrupt
        return evaluate(kernel, S)

    monkeypatch.setattr(candidates, "evaluate_shared", interrupt)
    clone(model).fit(X, Y)
    for stop in {1, len(calls) // 2, len(calls)}:
        stops[:] = [stop]
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, ::-1] + 1, Y[::-1])
    monkeypatch.undo()
    assert vars(model) == fitted
    for now, then in zip(outputs(model), expected, strict=True):
        np.testing.assert_array_equal(now, then)


def test_five_labels_refused_after_wine():
    """It once predicted 'a' afterwards."""
    model = kl.KernelDiscriminant(priors=[0.2, 0.3, 0.5]).fit(X, Y)
    expected = model.predict(X_NEW)
    with pytest.raises(ValueError, match="priors"):
        model.fit(X, list("abcde" * 12))
    np.testing.assert_array_equal(model.predict(X_NEW), expected)


def test_nothing_of_an_earlier_fit_remains():
    model = kl.HSICSubspace([Gaussian(0.1), Gaussian(1.0)], uncorrelated=True).fit(X, Y)
    assert model.weights_report_.learned <= model.weights_report_.uniform
    model.set_params(kernel="gaussian").fit(X, Y)
    assert not hasattr(model, "kernel_weights_")
    assert not hasattr(model, "weights_report_")


def test_weights_report_is_worked_out_when_asked_for():
    Counted.values = 0
    model = kl.KernelDiscriminant(BANK, reg=0.01).fit(X, Y)
    assert Counted.values == 2 * len(X) ** 2
    report = model.weights_report_
    assert Counted.values == 4 * len(X) ** 2
    assert model.weights_report_ is report
    assert report.learned <= min(report.uniform, report.best_single) + 1e-9


def test_a_saved_model_says_that_it_has_no_report():
    import pickle

    model = kl.HSICSubspace([Gaussian(0.1), Gaussian(1.0)], uncorrelated=True).fit(X, Y)
    without = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match="saved before the report"):
        without.weights_report_  # noqa: B018
    report = model.weights_report_
    assert pickle.loads(pickle.dumps(model)).weights_report_ == report


def test_less_memory_never_changes_a_model_silently():
    many = RNG.normal(size=(400, 3))
    labels = (many[:, 0] > 0).astype(int)
    whole = kl.HSICSubspace().fit(many, labels)
    assert whole.plan_.representation == "gram"
    budget = whole.plan_.bytes_least - 1
    with pytest.warns(UserWarning, match="landmarks are used instead, which gives another model"):
        other = kl.HSICSubspace(memory_budget=budget).fit(many, labels)
    assert other.plan_.representation == "landmarks"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kl.HSICSubspace(memory_budget=whole.plan_.bytes_least).fit(many, labels)
    with pytest.raises(ValueError, match="memory budget"):
        kl.HSICSubspace(landmarks="all", memory_budget=budget).fit(many, labels)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


class Watching(Counted):
    """A kernel that notes how many threads BLAS may use while it is called."""

    seen: ClassVar[list] = []

    def __call__(self, X, X_ref=None):
        Watching.seen.append(blas_threads())
        return super().__call__(X, X_ref)


def test_small_fits_use_one_thread_and_give_the_others_back():
    """On a busy machine two threads on 178 rows took 57 s where one takes 0.2 s."""
    many = RNG.normal(size=(1600, 4))
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        kl.HSICSubspace(Watching()).fit(X, Y)
        assert blas_threads() == before
        small, Watching.seen = Watching.seen, []
        kl.HSICSubspace(Watching(), landmarks=20).fit(many, many[:, 0] > 0)
        large, Watching.seen = Watching.seen, []
        with pytest.raises(ValueError, match="class"):
            kl.HSICSubspace(Watching()).fit(X, np.zeros(60))
        assert blas_threads() == before
    assert all(threads == {1} for threads in small) and small
    assert all(threads == before for threads in large) and large


class Resolving(Gaussian):
    """A kernel with a rule of its own in the place of Gaussian's."""

    seen: ClassVar[list] = []

    def resolve(self, X, sample_weight=None):
        Resolving.seen.append((np.array(X), sample_weight))
        return Resolving(0.5)


def test_a_resolve_of_ones_own_is_called_with_the_pool():
    """Distinct rows in the order of their keys, and their weights."""
    many = np.repeat(np.arange(20), 3)
    model = kl.HSICSubspace(Resolving()).fit(X[many], Y[many])
    ((seen, weight),) = Resolving.seen
    assert model.base_kernel_.gamma == 0.5
    keys = row_hashes.row_keys(seen)
    assert len(seen) == 20 and np.all(keys[1:] > keys[:-1])
    np.testing.assert_array_equal(weight, np.full(20, 3.0))
