"""Support vector machines with squared hinge on landmark features, in passes over blocks."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import kernel_learn as kl
from kernel_learn.fitting import block_machines
from kernel_learn.kernels import Gaussian, Laplacian
from kernel_learn.streams import gather

rng = np.random.default_rng(0)
N = 1200
X = rng.normal(size=(N, 4))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)
X_NEW = rng.normal(size=(300, 4))
Y_NEW = (X_NEW[:, 0] + X_NEW[:, 1] ** 2 > 0.5).astype(int) + (X_NEW[:, 2] > 1)
OPTIONS = {"kernel": Gaussian(0.2), "C": 100.0, "landmarks": 60, "random_state": 0}


def blocks(y=Y, size=110):
    for i in range(0, N, size):
        yield X[i : i + size], y[i : i + size]


@pytest.fixture
def few_held(monkeypatch):
    monkeypatch.setattr(gather, "CAPACITY", 300)


@pytest.mark.parametrize("uncorrelated", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_machines_are_those_of_liblinear_on_their_features(uncorrelated, n_classes):
    """The features of all directions, squared hinge, with a free intercept."""
    y = np.minimum(Y, n_classes - 1)
    model = kl.SubspaceSVC(loss="squared_hinge", uncorrelated=uncorrelated, **OPTIONS).fit(X, y)
    assert model.gap_ <= 1e-6 * model.upper_bound_
    wide = kl.SubspaceSVC(loss="squared_hinge", uncorrelated=uncorrelated, **OPTIONS)
    seen = {}

    def remember(data, sample, coordinates, *args, **options):
        r = len(coordinates.spectrum)
        seen["F"] = sample.expand(coordinates.lift(np.eye(r))).transform(X)
        return block_machines.solve_in_blocks(data, sample, coordinates, *args, **options)

    module = __import__("kernel_learn.fitting.block_svc", fromlist=["x"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "solve_in_blocks", remember)
        wide.fit(X, y)
    F = seen["F"]
    value = 0.0
    for j, c in enumerate([1] if n_classes == 2 else range(n_classes)):
        signs = np.where(y == c, 1.0, -1.0)
        scores = model.decision_function(X).reshape(N, -1)[:, j]
        own = np.sum(np.linalg.lstsq(F, scores - model.intercept_[j])[0] ** 2)
        value += own / 2 + 50.0 * np.sum(np.maximum(1 - signs * scores, 0) ** 2)
        liblinear = LinearSVC(C=50.0, intercept_scaling=100, tol=1e-8, dual=False, max_iter=10**5)
        other = liblinear.fit(F, signs).decision_function(F)
        assert np.mean(np.sign(other) == np.sign(scores)) > 0.995
        np.testing.assert_allclose(scores, other, atol=0.02 * np.abs(other).max())
    assert value == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_a_stream_gives_the_model_of_the_array(class_weight, holds, few_held, monkeypatch):
    monkeypatch.setattr(block_machines, "HELD_SHARE", 0.5 * holds)
    options = {**OPTIONS, "class_weight": class_weight}
    whole = kl.SubspaceSVC(loss="squared_hinge", **options).fit(X, Y)
    passes = []

    def counted():
        passes.append(1)
        yield from blocks()

    stream = kl.SubspaceSVC(**options).fit(counted)
    assert stream.gap_ <= 1e-6 * stream.upper_bound_
    assert len(passes) == 3 if holds else len(passes) == 2 + stream.n_iter_
    np.testing.assert_allclose(
        stream.decision_function(X_NEW), whole.decision_function(X_NEW), atol=1e-4
    )
    np.testing.assert_allclose(stream.objective_, whole.objective_, rtol=1e-5)
    assert stream.score(X_NEW, Y_NEW) > 0.9
    proba = stream.predict_proba(X_NEW)
    assert (proba.argmax(axis=1) == stream.predict(X_NEW)).all()
    assert stream.transform(X_NEW).shape == (300, 3)
    if class_weight is not None:
        plain = kl.SubspaceSVC(loss="squared_hinge", **OPTIONS).fit(X, Y)
        assert not np.allclose(plain.objective_, whole.objective_, rtol=1e-3)


def test_weights_that_are_not_learned_combine_a_bank_on_landmarks(few_held):
    bank = {"wide": Gaussian(0.1), "narrow": Gaussian(1.0), "peaked": Laplacian(0.3)}
    options = {**OPTIONS, "kernel": bank, "weights": "uniform", "landmarks": 30}
    whole = kl.SubspaceSVC(loss="squared_hinge", **options).fit(X, Y)
    stream = kl.SubspaceSVC(**options).fit(blocks)
    np.testing.assert_allclose(
        stream.decision_function(X_NEW), whole.decision_function(X_NEW), atol=1e-3
    )
    assert stream.kernel_weights_.shape == (3,)
    assert kl.SubspaceSVC(**{**options, "weights": "loo"}).fit(blocks).score(X_NEW, Y_NEW) > 0.9


def test_weights_learned_with_the_subspace_on_landmarks(few_held):
    """The best of two kernels by a scan of their weights, and its proof."""
    options = {**OPTIONS, "kernel": [Gaussian(0.05), Gaussian(1.5)], "landmarks": 20, "reg": 0.05}
    options["tol"] = 1e-5
    model = kl.SubspaceSVC(loss="squared_hinge", **options).fit(X, Y)
    assert model.gap_ <= 1e-4 * model.upper_bound_
    scanned = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        theta = np.array([share, 1 - share]) * model.kernel_weights_.max()
        given = kl.SubspaceSVC(loss="squared_hinge", **{**options, "weights": theta}).fit(X, Y)
        scanned.append(given.objective_)
    assert model.lower_bound_ <= min(scanned) * (1 + 1e-6)
    assert model.objective_ <= min(scanned) * (1 + 1e-4)
    stream = kl.SubspaceSVC(**options).fit(blocks)
    assert stream.objective_ == pytest.approx(model.objective_, rel=1e-4)
    with pytest.raises(ValueError, match="with uncorrelated=True and a number for reg"):
        kl.SubspaceSVC(loss="squared_hinge", **{**options, "uncorrelated": False}).fit(X, Y)


def test_the_loss_is_chosen_by_the_number_of_rows(monkeypatch):
    module = __import__("kernel_learn.fitting.block_svc", fromlist=["x"])
    hinge = kl.SubspaceSVC(**OPTIONS).fit(X[:500], Y[:500])
    monkeypatch.setattr(module, "BLOCK_ROWS", 400)
    square = kl.SubspaceSVC(**OPTIONS).fit(X[:500], Y[:500])
    given = kl.SubspaceSVC(loss="hinge", **OPTIONS).fit(X[:500], Y[:500])
    assert given.objective_ == hinge.objective_ != square.objective_
    assert hasattr(hinge, "support_") and not hasattr(square, "support_")


def test_what_cannot_be_solved_in_blocks_is_refused(few_held):
    with pytest.raises(ValueError, match="one direction for each of the 3 machines"):
        kl.SubspaceSVC(loss="squared_hinge", n_components=2, **OPTIONS).fit(X, Y)
    with pytest.raises(ValueError, match=r"loss='hinge'.* keeps all rows"):
        kl.SubspaceSVC(loss="hinge", **OPTIONS).fit(blocks)
    with pytest.raises(ValueError, match="reads its rows several times"):
        kl.SubspaceSVC(**OPTIONS).fit(blocks())


def test_a_stream_of_few_distinct_rows_is_exact(few_held):
    own = np.arange(N) % 90

    def repeated():
        for i in range(0, N, 110):
            yield X[own[i : i + 110]], Y[own[i : i + 110]]

    whole = kl.SubspaceSVC(loss="squared_hinge").fit(X[own], Y[own])
    stream = kl.SubspaceSVC().fit(repeated)
    assert stream.plan_.representation == "gram"
    np.testing.assert_allclose(
        stream.decision_function(X_NEW), whole.decision_function(X_NEW), atol=1e-8
    )


@pytest.mark.parametrize("change", ["rows", "labels", "class", "fewer"])
def test_a_source_that_changes_after_two_passes_is_refused(change, few_held, monkeypatch):
    monkeypatch.setattr(block_machines, "HELD_SHARE", 0.0)
    times = []

    def changing():
        times.append(1)
        for i, (A, b) in enumerate(blocks()):
            if len(times) > 2 and i == 5:
                A = A + 1e-9 * (change == "rows")
                b = {"labels": b[::-1], "class": np.where(b == 0, 7, b)}.get(change, b)
                if change == "fewer":
                    continue
            yield A, b

    with pytest.raises(ValueError, match="the same rows each time"):
        kl.SubspaceSVC(**OPTIONS).fit(changing)
    assert len(times) == 3


BANK = {"wide": Gaussian(0.1), "narrow": Gaussian(1.0), "peaked": Laplacian(0.3)}
SM2 = {"loss": "squared_hinge", "C": 2.0, "tol": 1e-5}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_learned_weights_on_all_rows_as_landmarks_are_the_exact_ones(n_classes):
    """One kernel at a time has as many landmarks as rows; the bank then more features than rows."""
    few, y = X[:90], np.minimum(Y[:90], n_classes - 1)
    exact = kl.MultiKernelSVC(BANK, **SM2).fit(few, y)
    module = __import__("kernel_learn.fitting.block_mkl", fromlist=["x"])

    def plan_features(kernels, source, landmarks, *args, **options):
        from kernel_learn.representations import plan_source

        whole = plan_source(kernels[:1], source, landmarks, *args, **options)
        return replace(whole, representation="landmarks", n_kernels=3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "plan_source", plan_features)
        model = kl.MultiKernelSVC(BANK, landmarks=few, **SM2).fit(few, y)
    assert model.gap_ <= 1e-5 * model.objective_
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    np.testing.assert_allclose(model.kernel_weights_, exact.kernel_weights_, atol=0.02)
    np.testing.assert_allclose(
        model.decision_function(X_NEW), exact.decision_function(X_NEW), atol=0.02
    )


@pytest.mark.parametrize("weights", ["learn", "uniform", "alignment", "loo"])
def test_a_bank_on_a_stream_is_that_of_the_array(weights, few_held):
    options = {**SM2, "landmarks": 30, "random_state": 0, "weights": weights}
    whole = kl.MultiKernelSVC(BANK, **options).fit(X, Y)
    stream = kl.MultiKernelSVC(BANK, **options).fit(blocks)
    assert whole.plan_.representation == stream.plan_.representation == "landmarks"
    assert stream.objective_ == pytest.approx(whole.objective_, rel=1e-4)
    np.testing.assert_allclose(stream.kernel_weights_, whole.kernel_weights_, atol=0.01)
    assert stream.score(X_NEW, Y_NEW) > 0.9
    if weights == "learn":
        assert stream.gap_ <= 1e-5 * stream.objective_
        even = kl.MultiKernelSVC(BANK, **{**options, "weights": "uniform"}).fit(X, Y)
        assert stream.objective_ < even.objective_
        assert stream.weights_report_.learned <= stream.weights_report_.uniform


def test_hinge_and_learned_C_are_exact(few_held):
    with pytest.raises(ValueError, match="give loss='squared_hinge' and a number for C"):
        kl.MultiKernelSVC(BANK, landmarks=30).fit(X, Y)
    with pytest.raises(ValueError, match="give loss='squared_hinge' and a number for C"):
        kl.MultiKernelSVC(BANK, loss="squared_hinge", C="learn").fit(blocks)
    with pytest.raises(ValueError, match="reads its rows several times"):
        kl.MultiKernelSVC(BANK, landmarks=30, **SM2).fit(blocks())


def test_features_of_the_pass_for_moments_are_kept_for_the_machines(monkeypatch):
    """Where they fit beside the plan no kernel value is evaluated twice; the same machines."""
    found, rows = {}, []
    transform = kl.kernels.SubspaceKernel.transform

    def counting(self, X):
        rows.append(len(X))
        return transform(self, X)

    module = __import__("kernel_learn.fitting.block_svc", fromlist=["x"])
    for budget in ("1GB", "3MB"):
        rows.clear()
        with monkeypatch.context() as patch:
            patch.setattr(kl.kernels.SubspaceKernel, "transform", counting)
            patch.setattr(module, "calibrate_scores", lambda *given, **more: None)
            patch.setattr(kl.SubspaceSVC, "_sharpen", lambda self, found, source: None)
            model = kl.SubspaceSVC(loss="squared_hinge", memory_budget=budget, **OPTIONS).fit(X, Y)
        assert (sum(rows) == 0) == (budget == "1GB")
        found[budget] = model.decision_function(X)
    np.testing.assert_allclose(found["1GB"], found["3MB"], atol=1e-5)
