"""Numbers, several numbers, sets of labels and ordered classes in the place of classes."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import kernel_learn as kl
from kernel_learn import metrics
from kernel_learn.kernels import Gaussian, Laplacian, Linear
from oracles import hsic as oracle
from oracles.targets import median_gamma, number_kernel, pls, set_kernel, standard

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=60)
Y2 = np.column_stack([y, 50 * X[:, 1] ** 2])
SETS = [
    {name for name, x in zip("abc", row, strict=True) if x + 0.2 * rng.normal() > 0.2} for row in X
]
INDICATOR = np.array([[name in own for name in "abc"] for own in SETS], dtype=float)
X_NEW = rng.normal(size=(20, 3))
P = np.eye(60) - 1 / 60
K = rbf_kernel(X, gamma=0.3)
GAUSSIAN = Gaussian(0.3)

NUMBERS = {
    "normalized": ("normalized", lambda y: number_kernel(y, "normalized")),
    "linear": ("linear", lambda y: number_kernel(y, "linear")),
    "gaussian": ("gaussian", lambda y: number_kernel(y, "gaussian", median_gamma(y))),
    "a kernel": (Gaussian(0.7), lambda y: number_kernel(y, "gaussian", 0.7)),
    "a matrix": (number_kernel(y, "gaussian", 2.0), lambda y: number_kernel(Y2[:, 0], "g", 2.0)),
}


def check_subspace(model, H, uncorrelated, n_components):
    """Against the eigenproblem of Chen et al. with the label kernel H."""
    G = P @ K @ P
    lam = 1e-2 * np.trace(G) / 60
    W, value = oracle.subspace(G, P @ H @ P, lam, n_components, uncorrelated)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    expected = oracle.subspace_kernel(G, W, lam, uncorrelated)
    assert_allclose(model.kernel_(X), expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("targets", [y, Y2], ids=["one", "two"])
def test_hsic_of_numbers_is_the_eigenproblem(targets, name, uncorrelated):
    label_kernel, H = NUMBERS[name]
    q = targets.reshape(60, -1).shape[1]
    model = kl.HSICSubspace(GAUSSIAN, reg=1e-2, uncorrelated=uncorrelated)
    model.set_params(label_kernel=label_kernel).fit(X, targets)
    assert model.n_components_ == q
    assert model.target_type_ == "numbers"
    assert not hasattr(model, "classes_")
    check_subspace(model, H(targets), uncorrelated, q)


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("kind", ["normalized", "linear", "jaccard"])
def test_hsic_of_sets_is_the_eigenproblem(kind, uncorrelated):
    model = kl.HSICSubspace(GAUSSIAN, reg=1e-2, uncorrelated=uncorrelated, label_kernel=kind)
    model.fit(X, [sorted(own) for own in SETS])
    assert (model.target_type_, model.classes_.tolist()) == ("labels", ["a", "b", "c"])
    check_subspace(model, set_kernel(SETS, kind), uncorrelated, 3)
    again = kl.HSICSubspace(GAUSSIAN, reg=1e-2, uncorrelated=uncorrelated, label_kernel=kind)
    assert_allclose(again.fit(X, INDICATOR).transform(X_NEW), model.transform(X_NEW))


def test_functions_of_numbers_see_them_as_they_were_given():
    def single(a, b):
        assert a.ndim == 1
        return np.exp(-np.abs(a[:, None] - b))

    def several(a, b):
        return np.exp(-np.abs(a[:, None] - b).sum(axis=2))

    for targets, function in ((y, single), (Y2, several)):
        by_function = kl.HSICSubspace(label_kernel=function).fit(X, targets)
        by_kernel = kl.HSICSubspace(label_kernel=Laplacian(1.0)).fit(X, targets)
        assert_allclose(by_function.kernel_(X_NEW), by_kernel.kernel_(X_NEW), rtol=1e-7, atol=1e-10)


def test_kernels_of_scikit_learn_see_a_column_of_numbers():
    for function in (partial(laplacian_kernel, gamma=1.0), lambda a, b: a @ b.T):
        model = kl.HSICSubspace(label_kernel=function).fit(X, y)
        column = y[:, None]
        by_matrix = kl.HSICSubspace(label_kernel=function(column, column)).fit(X, y)
        assert_allclose(model.kernel_(X_NEW), by_matrix.kernel_(X_NEW), rtol=1e-7, atol=1e-10)
    with pytest.raises(ValueError, match=r"label_kernel gives the shape \(\) for 60 targets"):
        kl.HSICSubspace(label_kernel=lambda a, b: np.float64(1.0)).fit(X, y)


@pytest.mark.parametrize("label_kernel", ["normalized", "indicator"])
def test_one_label_in_each_row_is_a_class(label_kernel):
    classes = np.digitize(y, [-0.3, 0.3])
    as_set = label_kernel if label_kernel == "normalized" else "linear"
    one = kl.HSICSubspace(label_kernel=label_kernel).fit(X, classes)
    other = kl.HSICSubspace(label_kernel=as_set, n_components=2).fit(X, np.eye(3)[classes])
    assert_allclose(one.kernel_(X_NEW), other.kernel_(X_NEW), atol=1e-9)


@pytest.mark.parametrize("uncorrelated", [False, True])
def test_ordered_classes(uncorrelated):
    grades = np.digitize(y, [-0.6, 0.0, 0.6])
    H = np.array([[1 - abs(int(a) - int(b)) / 3 for b in grades] for a in grades])
    model = kl.HSICSubspace(
        GAUSSIAN, reg=1e-2, uncorrelated=uncorrelated, label_kernel="ordinal"
    ).fit(X, grades)
    assert model.target_type_ == "classes"
    check_subspace(model, H, uncorrelated, 3)


ALIGNED = {
    "normalized numbers": (y, "auto", number_kernel(y, "normalized")),
    "several numbers": (Y2, "auto", number_kernel(Y2, "normalized")),
    "gaussian": (y, "gaussian", number_kernel(y, "gaussian", median_gamma(y))),
    "sets": (INDICATOR, "auto", set_kernel(SETS, "linear")),
    "jaccard": (INDICATOR, "jaccard", set_kernel(SETS, "jaccard")),
    "ordinal": (
        np.digitize(y, [0]),
        np.array([[2.0, -1.0], [-1.0, 1.0]]),
        np.array([[2.0, -1.0], [-1.0, 1.0]])[np.ix_(np.digitize(y, [0]), np.digitize(y, [0]))],
    ),
}


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", ALIGNED)
def test_alignment_is_that_of_the_learned_kernel(name, center):
    targets, label_kernel, H = ALIGNED[name]
    model = kl.AlignmentSubspace(
        GAUSSIAN, label_kernel=label_kernel, center=center, reg=0.01, tol=1e-7, max_iter=5000
    ).fit(X, targets)
    H = P @ H @ P if center else H

    def align(F, lam):
        S = F.T @ F
        return np.sum(F @ F.T * H) / np.linalg.norm(S + lam * np.eye(len(S))) / np.linalg.norm(H)

    F = model.transform(X)
    assert model.alignment_ == pytest.approx(align(F, 0.0), rel=1e-8)
    # no other subspace nearby is better: A(V) of features Z V in an orthonormal basis of K
    G = P @ K @ P if center else K
    w, U = np.linalg.eigh(G)
    Z = U * np.sqrt(np.maximum(w, 0.0))
    V = np.linalg.lstsq(Z, F, rcond=1e-10)[0]
    best = align(Z @ np.linalg.qr(V)[0], model.reg_)
    assert best == pytest.approx(model.objective_, rel=1e-6)
    for seed in range(20):
        step = 1e-3 * np.random.default_rng(seed).normal(size=V.shape)
        assert align(Z @ np.linalg.qr(V + step)[0], model.reg_) < best + 1e-7


def test_measures_by_their_definitions():
    for targets, label_kernel, H in (
        (y, "auto", number_kernel(y, "gaussian", median_gamma(y))),
        (Y2, "normalized", number_kernel(Y2, "normalized")),
        (INDICATOR, "auto", set_kernel(SETS, "linear")),
        (INDICATOR, "jaccard", set_kernel(SETS, "jaccard")),
    ):
        found = metrics.hsic(X, targets, kernel=GAUSSIAN, label_kernel=label_kernel)
        assert found == pytest.approx(np.trace(P @ K @ P @ H) / 59**2, rel=1e-9)
    H = number_kernel(y, "linear")
    cosine = np.sum(K * H) / np.linalg.norm(K) / np.linalg.norm(H)
    assert metrics.alignment(X, y, kernel=GAUSSIAN) == pytest.approx(cosine, rel=1e-9)
    J = set_kernel(SETS, "jaccard")
    A, B = P @ K @ P, P @ J @ P
    assert metrics.centered_alignment(
        X, SETS, kernel=GAUSSIAN, label_kernel="jaccard"
    ) == pytest.approx(np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B), rel=1e-9)


def test_hsic_test_finds_what_diabetes_depends_on():
    rows, progression = load_diabetes(return_X_y=True, scaled=False)
    with pytest.warns(UserWarning, match="taken as numbers: it has 214 different whole numbers"):
        found = metrics.hsic_test(rows, progression, n_permutations=199, random_state=0)
    assert found.p_value == 1 / 200
    asked = metrics.hsic_test(
        rows, progression, n_permutations=199, random_state=0, target_type="numbers"
    )
    assert asked == found


def test_hsic_test_is_uniform_under_the_null():
    draws = np.random.default_rng(0)
    p = np.sort(
        [
            metrics.hsic_test(
                draws.normal(size=(25, 2)),
                draws.normal(size=25),
                n_permutations=39,
                random_state=seed,
            ).p_value
            for seed in range(200)
        ]
    )
    uniform = np.arange(1, 201) / 200
    assert np.abs(p - uniform).max() < 1.63 / np.sqrt(200) + 1 / 40  # Kolmogorov, 1 %


BANK = [Gaussian(0.05), Gaussian(0.5), Gaussian(5.0), Linear()]


def grams():
    Ks = [rbf_kernel(X, gamma=g) for g in (0.05, 0.5, 5.0)] + [X @ X.T]
    return [P @ A @ P for A in Ks]


@pytest.mark.parametrize(
    ("targets", "label_kernel", "H"),
    [
        (y, "normalized", number_kernel(y, "normalized")),
        (Y2, "linear", number_kernel(Y2, "linear")),
        (INDICATOR, "jaccard", set_kernel(SETS, "jaccard")),
    ],
    ids=["number", "numbers", "sets"],
)
def test_weights_by_alignment(targets, label_kernel, H):
    model = kl.HSICSubspace(BANK, weights="alignment", label_kernel=label_kernel, reg=1e-2)
    model.fit(X, targets)
    Gs = grams()
    N = np.array([[np.sum(A * B) for B in Gs] for A in Gs])
    a = np.array([np.sum(A * H) for A in Gs])
    root = np.linalg.cholesky(N).T
    v, _ = nnls(root, np.linalg.solve(root.T, a))
    expected = v * 60 / sum(t * np.trace(A) for t, A in zip(v, Gs, strict=True))
    assert_allclose(model.kernel_weights_, expected, rtol=1e-6, atol=1e-9 * expected.max())


def test_weights_by_hsic_are_optimal():
    model = kl.HSICSubspace(BANK, uncorrelated=True, reg=1e-2, tol=1e-8).fit(X, y)
    H = number_kernel(y, "normalized")

    def value(theta):
        G = sum(t * A for t, A in zip(theta, grams(), strict=True))
        return np.trace(H @ G @ np.linalg.inv(G + 1e-2 * np.eye(60)))

    assert value(model.kernel_weights_) == pytest.approx(model.objective_, rel=1e-8)
    traces = np.array([np.trace(A) for A in grams()])
    for seed in range(30):
        other = np.random.default_rng(seed).dirichlet(np.ones(4)) * 60 / traces
        assert value(other) <= model.objective_ * (1 + 1e-7)


@pytest.mark.parametrize("label_kernel", ["normalized", "gaussian"])
def test_weights_by_leave_one_out_of_numbers(label_kernel):
    """The held-out error, every row left out by itself, is no smaller at any nearby weights."""
    model = kl.HSICSubspace(BANK, weights="loo", reg=1e-2, label_kernel=label_kernel).fit(X, Y2)
    T, Gs = standard(Y2), grams()
    d = model.kernel_weights_ * [np.trace(A) for A in Gs] / 60

    def held_out(log_d, log_lam):
        d = np.exp(log_d) / np.exp(log_d).sum()
        A = sum(t * 60 / np.trace(B) * B for t, B in zip(d, Gs, strict=True))
        error = 0.0
        for i in range(60):
            o = np.delete(np.arange(60), i)
            M = np.block([[A[np.ix_(o, o)] + np.exp(log_lam) * np.eye(59), np.ones((59, 1))],
                          [np.ones((1, 59)), np.zeros((1, 1))]])  # fmt: skip
            solved = np.linalg.solve(M, np.vstack([T[o], np.zeros((1, 2))]))
            error += np.sum((T[i] - A[i, o] @ solved[:59] - solved[59]) ** 2)
        off = log_d - log_d.mean()
        return np.log(error / 60) + 0.01 * off @ off

    log_d = np.log(d)
    lams = np.linspace(-9, 4, 27)
    best = min(lams, key=lambda lam: held_out(log_d, lam))
    near = np.linspace(best - 0.5, best + 0.5, 21)
    lam = min(near, key=lambda lam: held_out(log_d, lam))
    here = held_out(log_d, lam)
    assert here == pytest.approx(model.history_[-1]["value"], abs=1e-3)
    for i in range(4):
        for step in (-0.3, 0.3):
            moved = log_d.copy()
            moved[i] += step
            assert held_out(moved, lam) > here - 1e-4


def test_scales_of_columns_find_what_numbers_depend_on():
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(150, 12))
    value = np.sin(2 * rows[:, 3]) + rows[:, 7]
    for criterion in ("gradient", "loo", "alignment"):
        model = kl.FeatureScales(criterion=criterion, n_features=2).fit(rows, value)
        assert_array_equal(model.get_support(indices=True), [3, 7])
        assert model.target_type_ == "numbers"
    # of two numbers on different scales neither is forgotten
    both = np.column_stack([1e-3 * np.sin(2 * rows[:, 3]), 1e3 * np.sin(2 * rows[:, 7])])
    model = kl.FeatureScales(n_features=2).fit(rows, both)
    assert_array_equal(model.get_support(indices=True), [3, 7])
    for criterion in ("gradient", "loo", "alignment"):
        one, other = (
            kl.FeatureScales(criterion=criterion, penalty=0.1).fit(rows, own).scales_
            for own in (both, both * [1e3, 1e-3])
        )
        assert_allclose(one, other, atol=1e-6)
    model = kl.FeatureScales(n_features=2).fit(rows, (both > 0).astype(int))
    assert_array_equal(model.get_support(indices=True), [3, 7])
    assert model.target_type_ == "labels"
    assert_allclose(
        kl.FeatureScales(penalty=0.1).fit(rows, 5 - 7 * value).scales_,
        kl.FeatureScales(penalty=0.1).fit(rows, value).scales_,
    )


def test_components_by_leaving_out_every_row():
    for targets in (y, Y2):
        model = kl.KernelPLSRegressor(GAUSSIAN).fit(X, targets)
        T = targets.reshape(60, -1)
        for a in (1, 2, 5):
            error = 0.0
            for i in range(60):
                o = np.delete(np.arange(60), i)
                said = pls(K[np.ix_(o, o)], T[o], K[[i]][:, o], a)
                error += np.sum((said - T[i]) ** 2 / T.var(axis=0))
            assert model.loo_errors_[a - 1] == pytest.approx(error / T.size, rel=1e-8)
        assert model.n_components_ == 1 + model.loo_errors_.argmin()
        given = kl.KernelPLSRegressor(GAUSSIAN, n_components=model.n_components_).fit(X, targets)
        assert_allclose(given.predict(X_NEW), model.predict(X_NEW))
        assert given.loo_errors_ is None
    rows, progression = load_diabetes(return_X_y=True)
    halves = np.arange(442) % 2 == 0
    model = kl.KernelPLSRegressor().fit(rows[halves], progression[halves])
    assert model.score(rows[~halves], progression[~halves]) > 0.45


@pytest.mark.parametrize("targets", [y, Y2], ids=["one", "two"])
def test_pls_of_numbers_is_that_of_the_regressor(targets):
    model = kl.KernelPLS(GAUSSIAN, n_components=4, target_type="numbers").fit(X, targets)
    same = kl.KernelPLSRegressor(GAUSSIAN, n_components=4).fit(X, targets)
    said = pls(K, targets.reshape(60, -1), rbf_kernel(X_NEW, X, gamma=0.3), 4)
    assert_allclose(model.predict(X_NEW), said.reshape(20, *targets.shape[1:]), atol=1e-8)
    assert_array_equal(model.transform(X_NEW), same.transform(X_NEW))
    assert model.score(X, targets) == same.score(X, targets)
    assert (model.target_type_, hasattr(model, "classes_")) == ("numbers", False)
    alone = kl.KernelPLS(GAUSSIAN, target_type="numbers").fit(X, targets)
    assert alone.n_components_ == targets.reshape(60, -1).shape[1]
    for asked in ("decision_function", "predict_proba", "predict_log_proba", "predict_set"):
        with pytest.raises(ValueError, match=r"is of classes.*fitted to numbers.*KernelRegressor"):
            getattr(model, asked)(X_NEW)
    with pytest.raises(ValueError, match=r"continuous.*target_type='numbers'"):
        kl.KernelPLS().fit(X, y)


def test_pls_of_sets_of_labels():
    model = kl.KernelPLS(GAUSSIAN).fit(X, SETS)
    again = kl.KernelPLS(GAUSSIAN).fit(X, INDICATOR)
    assert (model.target_type_, model.classes_.tolist()) == ("labels", ["a", "b", "c"])
    assert again.classes_.tolist() == [0, 1, 2] and model.n_components_ == 3
    said = pls(K, INDICATOR, rbf_kernel(X_NEW, X, gamma=0.3), 3)
    assert_allclose(model.decision_function(X_NEW), said - 0.5, atol=1e-8)
    assert_array_equal(model.predict(X_NEW), said > 0.5)
    assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))
    right = np.all(model.predict(X) == INDICATOR, axis=1)
    assert model.score(X, INDICATOR) == pytest.approx(right.mean()) and right.mean() > 0.7
    with pytest.raises(ValueError, match=r"sets of labels.*KernelClassifier"):
        model.predict_proba(X_NEW)
    classes = np.arange(60) % 2
    model.fit(X, classes)
    assert model.target_type_ == "classes" and model.predict_proba(X_NEW).shape == (20, 2)
    with pytest.raises(ValueError, match="novelty is of classes"):
        model.fit(X, INDICATOR).novelty(X_NEW)


MODELS = {
    "hsic": lambda: kl.HSICSubspace(reg=1e-2),
    "gaussian labels": lambda: kl.HSICSubspace(reg=1e-2, label_kernel="gaussian"),
    "width": lambda: kl.HSICSubspace(Gaussian("loo"), reg="loo"),
    "landmarks": lambda: kl.HSICSubspace(landmarks=15, random_state=0, label_kernel="gaussian"),
    "bank by alignment": lambda: kl.HSICSubspace(BANK, weights="alignment"),
    "bank by loo": lambda: kl.HSICSubspace(BANK, weights="loo"),
    "alignment": lambda: kl.AlignmentSubspace(tol=1e-6, max_iter=5000),
    "pls": kl.KernelPLSRegressor,
    "pls as told": lambda: kl.KernelPLS(target_type="numbers", n_components=4),
    "scales": lambda: kl.FeatureScales(criterion="loo", penalty=0.1),
}


TARGETS = {"number": y, "numbers": Y2, "sets": INDICATOR}
OF_NUMBERS = ("gaussian labels", "landmarks")  # by their label kernel


@pytest.mark.parametrize(
    ("name", "kind"),
    [(m, t) for m in MODELS for t in TARGETS if not (m in OF_NUMBERS and t == "sets")],
)
def test_weights_are_repetitions_and_order_is_nothing(name, kind):
    targets = TARGETS[kind]
    weight = 1.0 + np.arange(60) % 3
    weight[5] = 0.0
    many = np.repeat(np.arange(60), weight.astype(int))
    many = np.random.default_rng(0).permutation(many)
    weighted = MODELS[name]().fit(X, targets, sample_weight=weight)
    repeated = MODELS[name]().fit(X[many], targets[many])
    plain = MODELS[name]().fit(X, targets)
    close = 1e-4 if name in ("alignment", "scales", "bank by loo") else 1e-7
    said = [model.predict if name == "pls" else model.transform for model in (weighted, repeated)]
    one, other = (np.abs(say(X_NEW)) for say in said)
    assert_allclose(one, other, atol=close * np.abs(one).max())
    without = np.abs(plain.predict(X_NEW) if name == "pls" else plain.transform(X_NEW))
    assert np.abs(without - one).max() > 1e-3 * np.abs(one).max()


def test_all_rows_as_landmarks_are_exact():
    for make in (
        lambda **own: kl.HSICSubspace(GAUSSIAN, reg=1e-2, label_kernel="gaussian", **own),
        lambda **own: kl.HSICSubspace(GAUSSIAN, reg="loo", uncorrelated=True, **own),
        lambda **own: kl.AlignmentSubspace(GAUSSIAN, tol=1e-8, max_iter=5000, **own),
    ):
        exact, by_landmarks = make().fit(X, Y2), make(landmarks=X).fit(X, Y2)
        assert by_landmarks.plan_.representation != exact.plan_.representation
        assert_allclose(by_landmarks.kernel_(X_NEW), exact.kernel_(X_NEW), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_files(name, tmp_path):
    pytest.importorskip("skops")
    model = MODELS[name]().fit(X, Y2)
    kl.save(model, tmp_path / "model.skops")
    again = kl.load(tmp_path / "model.skops")
    assert_array_equal(again.transform(X_NEW), model.transform(X_NEW))
    assert getattr(again, "target_type_", None) == getattr(model, "target_type_", None)


COUNTS = np.argsort(np.argsort(y)) // 2 + 996  # no -1, which may mark rows without label


def test_whole_numbers_of_many_values():
    with pytest.warns(UserWarning, match=r"taken as numbers.*target_type='classes'"):
        guessed = kl.HSICSubspace().fit(X, COUNTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = kl.HSICSubspace(target_type="numbers").fit(X, COUNTS)
        as_real = kl.HSICSubspace().fit(X, COUNTS + 0.5)
        classes = kl.HSICSubspace(target_type="classes").fit(X, COUNTS)
    assert_allclose(guessed.transform(X_NEW), asked.transform(X_NEW))
    assert_allclose(guessed.transform(X_NEW), as_real.transform(X_NEW))
    assert classes.target_type_ == "classes"
    assert len(classes.classes_) == len(np.unique(COUNTS))


@pytest.mark.parametrize("kind", [kl.KernelDiscriminant, kl.KernelPLS, kl.MultiKernelSVC])
def test_classifiers_keep_them_as_classes_and_say_so(kind):
    with pytest.warns(UserWarning, match=r"taken as classes: it has \d+ different whole numbers"):
        model = kind().fit(X, COUNTS)
    assert len(model.classes_) == len(np.unique(COUNTS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind().fit(X, COUNTS.astype(str))


NAN = np.where(np.arange(60) == 7, np.nan, y)
BAD = {
    "missing": ({}, NAN, r"contains NaN.*row 7"),
    "missing among several": (
        {},
        np.where(np.arange(120).reshape(60, 2) == 15, np.nan, Y2),
        r"contains NaN.*row 7",
    ),
    "infinite": ({}, np.where(np.arange(60) == 7, np.inf, y), "infinity"),
    "texts as numbers": ({"target_type": "numbers"}, ["a", "b"] * 30, "'a' in row 0"),
    "texts as labels": ({"target_type": "labels"}, ["a", "b"] * 30, "matrix.*zeros and ones"),
    "numbers as labels": ({"target_type": "labels"}, Y2, "values other than 0 and 1"),
    "numbers as classes": ({"target_type": "classes"}, y, "continuous"),
    "labels as classes": ({"target_type": "classes"}, INDICATOR, "several labels per row"),
    "one value": ({"target_type": "numbers"}, np.full(60, 3.0), "one value on all rows"),
    "one set": ({}, np.ones((60, 2)), "same set of labels"),
    "too few": ({}, y[:50], "inconsistent"),
    "huge": ({}, y * 1e200, "y has values of up to"),
}


@pytest.mark.parametrize("make", [kl.HSICSubspace, kl.AlignmentSubspace, kl.FeatureScales])
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_learned_from_is_said(name, make):
    options, targets, said = BAD[name]
    model = make(**options)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=said):
        model.fit(X, targets)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("make", "targets", "said"),
    [
        (lambda: kl.HSICSubspace(label_kernel="gaussian"), np.arange(60) % 2, "y that are classes"),
        (lambda: kl.HSICSubspace(label_kernel="ordinal"), y, "target_type='classes'"),
        (lambda: kl.HSICSubspace(label_kernel="jaccard"), y, "target_type='labels'"),
        (lambda: kl.HSICSubspace(label_kernel=np.eye(3)), y, r"\(60, 60\)"),
        (lambda: kl.HSICSubspace(label_kernel=-np.eye(60)), y, "not positive semidefinite"),
        (lambda: kl.HSICSubspace(label_kernel=lambda a, b: a), y, "shape"),
        (lambda: kl.AlignmentSubspace(criterion="radius_margin"), y, "margin between classes"),
        (lambda: kl.FeatureScales(criterion="radius_margin"), y, "margin between classes"),
        (lambda: kl.FeatureScales(criterion="margin"), y, "margin between classes"),
        (
            lambda: kl.AlignmentSubspace(criterion="radius_margin", label_kernel="normalized"),
            np.arange(60) % 2,
            "leave label_kernel out",
        ),
    ],
)
def test_what_does_not_go_together_is_said(make, targets, said):
    with pytest.raises(ValueError, match=said):
        make().fit(X, targets)


def test_measures_refuse_other_words():
    with pytest.raises(ValueError, match="target_type='regression'"):
        metrics.hsic(X, y, target_type="regression")
    with pytest.raises(ValueError, match="label_kernel='best'"):
        metrics.alignment(X, y, label_kernel="best")
