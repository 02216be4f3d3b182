"""SubspaceSVC: a saddle point, proven; features, decisions, probabilities."""

import os
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from kernel_learn import SubspaceSVC
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.joint_problem import JointProblem
from kernel_learn.datasets import find_data
from kernel_learn.estimators import subspace_svc
from kernel_learn.fitting.probabilities import held_out_in_folds
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.solvers.joint import label_directions, solve_exact, solve_linear
from kernel_learn.solvers.margin import one_vs_rest_signs, solve_margin
from oracles import margin as oracle
from oracles.hsic import center

X, y = load_wine(return_X_y=True)
X = scale(X)
X.setflags(write=False)
y.setflags(write=False)
X_NEW = X[:30] + 0.1
FORMS = pytest.mark.parametrize("uncorrelated", [False, True], ids=["joint", "ujoint"])


def rows_of(name):
    """Rows and labels of a set, thinned to what a test can afford."""
    if name == "wine":
        return X, y
    if "KERNEL_LEARN_DATA" not in os.environ:
        pytest.skip("KERNEL_LEARN_DATA is not set")
    X_set, y_set = find_data().load(name)
    part = slice(None, None, 11 if name == "segment" else 1)
    return scale(X_set[:, X_set.std(axis=0) > 0][part]), np.unique(
        y_set[part], return_inverse=True
    )[1]


@pytest.mark.data
@pytest.mark.parametrize("name", ["wine", "segment", "11_Tumors"])
@FORMS
def test_saddle_point(name, uncorrelated):
    X_set, y_set = rows_of(name)
    k = len(np.unique(y_set))
    gamma = 0.5 / X_set.shape[1]
    G = center(rbf_kernel(X_set, gamma=gamma))
    signs = one_vs_rest_signs(y_set, k)
    for reg in (1e-3, 1e-1):
        lam = reg * np.trace(G) / len(G)
        Khat = oracle.joint_kernel(G, lam, uncorrelated)
        for C in (1.0, 30.0):
            model = SubspaceSVC(Gaussian(gamma), C=C, reg=reg, uncorrelated=uncorrelated)
            model.fit(X_set, y_set)
            value = model.upper_bound_
            assert -1e-12 * value <= model.gap_ <= 1e-5 * value
            A = np.zeros(signs.shape)
            A[model.support_] = model.dual_coef_.T
            alpha = signs * A
            # D(alpha) and the primal value from Khat, by their definitions
            dual = alpha.sum() - 0.5 * np.sum(A * (Khat @ A))
            slack = np.maximum(0, 1 - signs * (Khat @ A + model.intercept_))
            assert dual == pytest.approx(model.lower_bound_, rel=1e-7)
            assert 0.5 * np.sum(A * (Khat @ A)) + C * slack.sum() == pytest.approx(value, rel=1e-7)
            for j in range(signs.shape[1]):
                residual = oracle.kkt_residual(
                    Khat, signs[:, j], C, alpha[:, j], model.intercept_[j]
                )
                assert residual < 1e-3
            # the machines on the learned kernel, solved anew, have the same value
            F = model.transform(X_set)
            again = solve_linear(F, signs, np.full(len(F), C), 1e-7)
            assert float(again.primal.sum()) == pytest.approx(value, rel=1e-5)
            assert float(again.dual.sum()) == pytest.approx(value, rel=1e-5)


@FORMS
@pytest.mark.parametrize(("C", "reg"), [(0.3, 1e-1), (3.0, 1e-2), (30.0, 1e-3)])
def test_value_is_that_of_the_semidefinite_programme(uncorrelated, C, reg):
    rows = np.arange(0, 180, 6)[:30] % len(y)
    model = SubspaceSVC(Gaussian(0.05), C=C, reg=reg, uncorrelated=uncorrelated)
    model.fit(X[rows], y[rows])
    G = center(rbf_kernel(X[rows], gamma=0.05))
    assert model.reg_ == pytest.approx(reg * np.trace(G) / len(G))
    Khat = oracle.joint_kernel(G, model.reg_, uncorrelated)
    value = oracle.joint_value(Khat, one_vs_rest_signs(y[rows], 3), C, 3)
    assert model.upper_bound_ == pytest.approx(value, rel=1e-5)
    assert model.lower_bound_ == pytest.approx(value, rel=1e-5)


@FORMS
@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("reg", [1e-6, 1e-2])
def test_a_factorisation_gives_what_the_spectrum_gives(uncorrelated, repeats, reg, monkeypatch):
    """One reg needs no eigenvectors."""
    rows = np.concatenate([np.arange(len(y))] + [np.arange(60)] * (repeats - 1))
    options = {"C": 3.0, "uncorrelated": uncorrelated, "tol": 1e-8}
    closed = SubspaceSVC(Gaussian(0.05), reg=reg, **options).fit(X[rows], y[rows])
    monkeypatch.setattr(subspace_svc, "map_dual", lambda *_: None)
    spectral = SubspaceSVC(Gaussian(0.05), reg=reg, **options).fit(X[rows], y[rows])
    assert closed.upper_bound_ == pytest.approx(spectral.upper_bound_, rel=1e-7)
    assert closed.lower_bound_ == pytest.approx(spectral.lower_bound_, rel=1e-7)
    assert closed.sharpness_ == pytest.approx(spectral.sharpness_, rel=1e-6)
    for A in (X, X_NEW):
        assert_allclose(closed.decision_function(A), spectral.decision_function(A), atol=2e-4)
        assert_allclose(closed.kernel_(A), spectral.kernel_(A), atol=1e-3)
    F = closed.transform(X)
    assert_allclose(F @ closed.coef_.T + closed.intercept_, closed.decision_function(X))


@FORMS
@pytest.mark.parametrize("n_components", [1, 2])
def test_fewer_features_than_classes(uncorrelated, n_components):
    rows = np.arange(0, len(y), 6)
    options = {"C": 3.0, "reg": 0.1, "uncorrelated": uncorrelated}
    model = SubspaceSVC(Gaussian(0.05), n_components=n_components, **options)
    model.fit(X[rows], y[rows])
    G = center(rbf_kernel(X[rows], gamma=0.05))
    signs = one_vs_rest_signs(y[rows], 3)
    Khat = oracle.joint_kernel(G, model.reg_, uncorrelated)
    value = oracle.joint_value(Khat, signs, 3.0, n_components)
    assert model.lower_bound_ <= value * (1 + 1e-6)
    assert model.relaxed_bound_ >= value * (1 - 1e-6)
    assert model.relaxed_bound_ - model.lower_bound_ <= 1.01e-3 * model.relaxed_bound_
    # the value of the rounded subspace, from its features alone
    F = model.transform(X[rows])
    assert F.shape[1] == n_components
    boxes = np.full(len(rows), 3.0)
    machines = solve_linear(F, signs, boxes, 1e-7)
    assert float(machines.primal.sum()) == pytest.approx(model.upper_bound_, rel=1e-5)
    # never worse than truncating the solution of l = k
    full = SubspaceSVC(Gaussian(0.05), **options).fit(X[rows], y[rows])
    truncated = solve_linear(full.transform(X[rows])[:, :n_components], signs, boxes, 1e-7)
    assert model.upper_bound_ <= float(truncated.primal.sum()) * (1 + 1e-6)
    assert full.upper_bound_ <= model.relaxed_bound_ * (1 + 1e-9)  # fewer features cost


def test_structural_gap_says_so():
    """With l = 2 of ten digits the eigenvalues tie: no subspace reaches the relaxed value."""
    X_digits, y_digits = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y_digits))[:100]
    model = SubspaceSVC(n_components=2, C=10.0, tol=1e-2).fit(X_digits[rows], y_digits[rows])
    assert model.gap_.structural > 0
    assert model.gap_ == pytest.approx(model.upper_bound_ - model.lower_bound_)
    assert model.gap_.structural == pytest.approx(model.upper_bound_ - model.relaxed_bound_)
    assert "structural" in str(model.gap_)
    copy = pickle.loads(pickle.dumps(model.gap_))
    assert (copy, copy.structural) == (model.gap_, model.gap_.structural)
    exact = SubspaceSVC().fit(X, y)
    assert exact.gap_.structural == 0
    assert "structural" not in str(exact.gap_)


def test_local_improvement_helps(monkeypatch):
    from kernel_learn.solvers import joint, saddle

    X_digits, y_digits = load_digits(return_X_y=True)
    rows = np.arange(0, 600, 10)
    options = {"n_components": 3, "tol": 1e-2, "C": 10.0}
    improved = SubspaceSVC(**options).fit(X_digits[rows], y_digits[rows])
    monkeypatch.setattr(saddle, "FACTOR_STEPS", 0)
    monkeypatch.setattr(joint, "STARTS", 0)
    rounded = SubspaceSVC(**options).fit(X_digits[rows], y_digits[rows])
    assert improved.upper_bound_ < rounded.upper_bound_ * (1 - 1e-4)


def test_the_alternation_starts_from_what_the_labels_have():
    """Centred labels of three classes have two directions; the third is rounding."""
    rng = np.random.default_rng(0)
    L = np.eye(3)[rng.integers(0, 3, 40)]
    F = rng.normal(size=(40, 7))
    start = label_directions(F, L - L.mean(axis=0))
    assert start.shape == (7, 2)
    assert_allclose(start.T @ start, np.eye(2), atol=1e-12)


@FORMS
def test_alternation_oscillates_and_says_so(uncorrelated):
    options = {"C": 10.0, "reg": 0.1, "uncorrelated": uncorrelated}
    exact = SubspaceSVC(Gaussian(0.05), **options).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="did not converge in 6 rounds"):
        model = SubspaceSVC(Gaussian(0.05), method="alternating", max_iter=6, **options).fit(X, y)
    upper = np.array([bound["upper"] for bound in model.history_])
    lower = np.array([bound["lower"] for bound in model.history_])
    value = exact.upper_bound_
    assert len(upper) == model.n_iter_ == 6
    assert upper.min() >= value * (1 - 1e-4)  # true bounds, all of them
    assert lower.max() <= value * (1 + 1e-6)
    assert model.upper_bound_ == upper.min()
    assert model.lower_bound_ == lower.max()
    assert not np.all(np.diff(upper) <= 0)  # no descent
    assert model.gap_ > 1e-2 * value
    assert np.all(np.isfinite(model.predict_proba(X)))


@FORMS
@pytest.mark.parametrize("landmarks", ["all", 40])
def test_decision_function_is_a_linear_machine_on_the_features(uncorrelated, landmarks):
    model = SubspaceSVC(
        Gaussian(0.05), C=5.0, uncorrelated=uncorrelated, landmarks=landmarks, random_state=0
    ).fit(X, y)
    F = model.transform(X)
    assert_allclose(
        model.decision_function(X_NEW), model.transform(X_NEW) @ model.coef_.T + model.intercept_
    )
    for j, column in enumerate(one_vs_rest_signs(y, 3).T):
        machine = solve_linear(F, column[:, None], np.full(len(F), 5.0), 1e-9)
        w = F.T @ machine.A[:, 0]
        assert_allclose(w, model.coef_[j], atol=1e-3 * np.abs(w).max())
    if landmarks == "all":
        G = center(rbf_kernel(X, gamma=0.05))
        Khat = oracle.joint_kernel(G, model.reg_, uncorrelated)
        solution = solve_margin(Khat, one_vs_rest_signs(y, 3), 5.0)
        ours = Khat @ solution.A + solution.intercept
        assert_allclose(model.decision_function(X), ours, atol=2e-3)
    assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
    assert_allclose(model.kernel_(X_NEW, X), model.transform(X_NEW) @ F.T, atol=1e-10)


@FORMS
def test_all_rows_as_landmarks_are_exact(uncorrelated):
    exact = SubspaceSVC(Gaussian(0.05), uncorrelated=uncorrelated, landmarks="all").fit(X, y)
    other = SubspaceSVC(Gaussian(0.05), uncorrelated=uncorrelated, landmarks=len(X)).fit(X, y)
    assert (exact.plan_.representation, other.plan_.representation) == ("gram", "landmarks")
    assert other.upper_bound_ == pytest.approx(exact.upper_bound_, rel=2e-6)
    assert other.gap_ <= 1e-6 * other.upper_bound_
    assert_allclose(other.decision_function(X_NEW), exact.decision_function(X_NEW), atol=1e-3)


def test_many_rows_with_landmarks(rng):
    n = 20_000
    labels = rng.integers(0, 3, n)
    rows = rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[labels]
    model = SubspaceSVC(landmarks=30, random_state=0).fit(rows, labels)
    assert model.gap_ <= 1e-6 * model.upper_bound_
    assert model.score(rows[:2000], labels[:2000]) > 0.7
    with pytest.raises(ValueError, match="memory budget"):
        SubspaceSVC(landmarks=300, memory_budget="10MB", random_state=0).fit(rows, labels)


def test_repeated_rows_are_rows():
    """A row three times is one row with three times the box; labels may contradict each other."""
    times = 1 + np.arange(len(y)) % 3
    order = np.repeat(np.arange(len(y)), times)
    labels = y[order].copy()
    labels[::7] = (labels[::7] + 1) % 3
    model = SubspaceSVC(Gaussian(0.05), C=2.0).fit(X[order], labels)
    G = center(rbf_kernel(X[order], gamma=0.05))
    Khat = oracle.joint_kernel(G, model.reg_, True)
    solution = solve_margin(Khat, one_vs_rest_signs(labels, 3), 2.0)
    assert model.upper_bound_ == pytest.approx(float(solution.primal.sum()), rel=1e-5)
    A = np.zeros((len(order), 3))
    A[model.support_] = model.dual_coef_.T
    assert np.abs(A).max() <= 2.0 * (1 + 1e-9)
    assert_allclose(Khat @ A + model.intercept_, model.decision_function(X[order]), atol=1e-6)
    lam = model.reg_
    assert lam == pytest.approx(1e-2 * np.trace(G) / len(G))


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [None, 2])
def test_path_is_many_fits(n_components):
    Cs, regs = [0.5, 1.0, 20.0], [1e-2, 1.0]
    template = SubspaceSVC(Gaussian(0.05), n_components=n_components)
    path = template.path(X, y, Cs, regs)
    assert not hasattr(template, "kernel_")
    assert path.coefs.shape == (2, 3, len(X), 3)
    K = rbf_kernel(X_NEW, X, gamma=0.05)
    for i, reg in enumerate(regs):
        for j, C in enumerate(Cs):
            model = clone(template).set_params(C=C, reg=reg).fit(X, y)
            assert path.upper_bounds[i, j] == pytest.approx(model.upper_bound_, rel=2e-3)
            assert path.lower_bounds[i, j] <= path.upper_bounds[i, j]
            if n_components is None:
                ours = K @ path.coefs[i, j] + path.intercepts[i, j]
                assert_allclose(ours, model.decision_function(X_NEW), atol=5e-3)
    one = template.set_params(n_components=None).path(X, y, [1.0])
    assert one.coefs.shape[:2] == (1, 1)


def test_two_classes_are_one_machine():
    rows = y < 2
    model = SubspaceSVC().fit(X[rows], y[rows])
    assert model.coef_.shape == (1, 1)
    assert model.dual_coef_.shape[0] == 1
    assert model.decision_function(X).shape == (len(X),)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), 2)
    assert_array_equal(model.predict(X), (proba[:, 1] > 0.5).astype(int))
    assert_allclose(np.exp(model.predict_log_proba(X)), proba)
    assert model.upper_bound_ - model.lower_bound_ <= 1e-6 * model.upper_bound_


def test_class_weight_changes_the_machines():
    plain = SubspaceSVC(C=0.1, uncorrelated=False).fit(X, y)
    balanced = SubspaceSVC(C=0.1, uncorrelated=False, class_weight="balanced").fit(X, y)
    heavy = SubspaceSVC(C=0.1, uncorrelated=False, class_weight={2: 50.0}).fit(X, y)
    assert plain.upper_bound_ < heavy.upper_bound_
    assert np.sum(heavy.predict(X) == 2) >= np.sum(plain.predict(X) == 2)
    assert np.abs(balanced.coef_ @ balanced.coef_.T - plain.coef_ @ plain.coef_.T).max() > 1e-6


def test_probabilities_are_calibrated():
    X_digits, y_digits = load_digits(return_X_y=True)
    X_digits = X_digits[:900]
    y_digits = y_digits[:900]
    train = np.arange(900) % 2 == 0
    for uncorrelated in (False, True):
        model = SubspaceSVC(uncorrelated=uncorrelated).fit(X_digits[train], y_digits[train])
        loss = log_loss(y_digits[~train], model.predict_proba(X_digits[~train]))
        sharpness = model.sharpness_
        best = np.inf
        for factor in np.geomspace(0.05, 20, 30):
            model.sharpness_ = factor * sharpness
            proba = model.predict_proba(X_digits[~train])
            best = min(best, log_loss(y_digits[~train], proba))
        assert loss < 1.2 * best  # close to the best temperature, which held-out labels tell
        assert loss < 0.3


@pytest.mark.parametrize("uncorrelated", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("landmarks", ["all", 20])
def test_held_out_scores_are_those_of_refits(uncorrelated, n_classes, landmarks):
    """Four parts of the rows alone, fitted anew, score the fifth."""
    rows = np.flatnonzero(y < n_classes)[::3]
    X_s, y_s = np.vstack([X[rows], X[rows[:3]]]), np.append(y[rows], y[rows[:3]])
    kernel = Gaussian(0.05)
    options = {"C": 3.0, "uncorrelated": uncorrelated, "random_state": 0}
    model = SubspaceSVC(kernel, landmarks=landmarks, **options)
    prepared = model._prepare(model._rows(X_s, y_s))
    targets = Targets(np.eye(n_classes)[prepared.labels] * prepared.weight[:, None])
    held, scores = held_out_in_folds(targets, partial(prepared.score_fold, reg=1e-1, C=3.0))
    assert_array_equal(np.sort(held), np.arange(len(rows)))  # equal rows with one label are one
    scores = scores[np.argsort(held)]
    part = stratified_folds(targets, 5)
    if landmarks != "all":
        kernel, features = "linear", prepared.on_axes(np.ones(len(prepared.spectrum.w)))
    else:
        features = prepared.X
    for fold in range(5):
        inside = np.repeat(np.flatnonzero(part != fold), prepared.weight[part != fold].astype(int))
        refit = SubspaceSVC(kernel, reg=1e-1, tol=1e-8, **options).fit(
            features[inside], prepared.labels[inside]
        )
        expected = refit.decision_function(features[part == fold])
        found = scores[part == fold]
        assert_allclose(found[:, 0] if n_classes == 2 else found, expected, atol=0.02)


@pytest.mark.parametrize("name", ["wide", "few rows"])
def test_probabilities_do_not_collapse(name):
    """Rows on their bounds: without it each machine turned against its row."""
    rng = np.random.default_rng(0)
    n, d = (60, 2000) if name == "wide" else (120, 60)
    labels = np.arange(n) % 3
    rows = rng.normal(size=(n, d)) + 3.0 * (np.arange(d) % 20 == labels[:, None])
    model = SubspaceSVC().fit(rows[::2], labels[::2])
    proba = model.predict_proba(rows[1::2])
    assert model.score(rows[1::2], labels[1::2]) > 0.9
    assert log_loss(labels[1::2], proba) < 0.6 < np.log(3)
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(rows[1::2]))


def test_a_class_of_one_row_has_probabilities():
    labels = np.append(y, 3)
    model = SubspaceSVC().fit(np.vstack([X, X[:1] + 5]), labels)
    assert model.predict_proba(X[:4]).shape == (4, 4)
    pair = SubspaceSVC().fit(X[[0, -1]], y[[0, -1]])
    assert pair.sharpness_ == 1.0


def test_options_change_the_answer():
    base = SubspaceSVC().fit(X, y)
    for options in ({"C": 5.0}, {"reg": 1.0}, {"uncorrelated": False}, {"kernel": "laplacian"}):
        other = SubspaceSVC(**options).fit(X, y)
        assert other.upper_bound_ != pytest.approx(base.upper_bound_, rel=1e-3)
    assert SubspaceSVC(n_components=2).fit(X, y).transform(X).shape[1] == 2


def test_features_feed_other_classifiers():
    model = make_pipeline(SubspaceSVC(reg=0.1), KNeighborsClassifier(5))
    assert cross_val_score(model, X, y).mean() > 0.95
    assert cross_val_score(SubspaceSVC(reg=0.1), X, y).mean() > 0.95
    assert SVC(kernel=SubspaceSVC().fit(X, y).kernel_).fit(X, y).score(X, y) > 0.95


def test_precomputed_frames_and_names():
    K = rbf_kernel(X, gamma=0.05)
    direct = SubspaceSVC(Gaussian(0.05)).fit(X, y)
    given = SubspaceSVC("precomputed").fit(K, y)
    K_new = rbf_kernel(X_NEW, X, gamma=0.05)
    assert_allclose(given.decision_function(K_new), direct.decision_function(X_NEW), atol=1e-6)
    names = load_wine().target_names[y]
    named = SubspaceSVC(Gaussian(0.05)).fit(X, names)
    assert_array_equal(named.predict(X), load_wine().target_names[direct.predict(X)])
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    out = SubspaceSVC().set_output(transform="pandas").fit(frame, y).transform(frame)
    assert list(out.columns) == ["subspacesvc0", "subspacesvc1", "subspacesvc2"]
    copy = pickle.loads(pickle.dumps(named))
    assert_array_equal(copy.predict_proba(X_NEW), named.predict_proba(X_NEW))


def test_float32_rows():
    double = SubspaceSVC(Gaussian(0.05)).fit(X, y)
    single = SubspaceSVC(Gaussian(0.05)).fit(X.astype(np.float32), y)
    assert single.transform(X_NEW.astype(np.float32)).dtype == np.float32
    assert_array_equal(single.predict(X.astype(np.float32)), double.predict(X))


def test_bad_input():
    for options, message in [
        ({"C": np.inf}, "C=inf.*positive finite"),
        ({"C": 0}, "positive finite"),
        ({"reg": 0}, "reg=0.*positive finite"),
        ({"reg": -1.0}, "positive finite"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"method": "newton"}, "method='newton'"),
        ({"n_components": 0}, "n_components"),
        ({"class_weight": {0: -1.0}}, "positive and finite"),
        ({"class_weight": {0: 0.0}}, "leave out its rows"),
        ({"class_weight": {7: 1.0}}, "not in class_weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            SubspaceSVC(**options).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes"):
        SubspaceSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="positive finite"):
        SubspaceSVC().path(X, y, [1.0, np.inf])
    with pytest.warns(UserWarning, match="n_components=7"):
        SubspaceSVC(n_components=7).fit(X, y)


def test_interpolating_machines_have_one_direction_less():
    """All rows on their margins: A is the image of centred signs, of rank k - 1."""
    model = SubspaceSVC(C=1000.0, reg=1e-3).fit(X, y)
    assert model.transform(X).shape[1] == 2
    with pytest.warns(UserWarning, match="n_components=3.*rank 2"):
        SubspaceSVC(C=1000.0, reg=1e-3, n_components=3).fit(X, y)


def test_cut_short_says_how_far():
    with pytest.warns(ConvergenceWarning, match="the optimum lies between"):
        model = SubspaceSVC(n_components=1, max_iter=1, C=10.0).fit(X, y)
    assert model.lower_bound_ < model.relaxed_bound_


def test_fit_is_silent_and_leaves_inputs_alone():
    X_iris, y_iris = load_iris(return_X_y=True)
    before = X_iris.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SubspaceSVC()
        params = model.get_params()
        model.fit(X_iris, y_iris)
    assert_array_equal(X_iris, before)
    assert model.get_params() == params


def test_a_class_in_the_middle_of_few_features(rng):
    """One feature, three classes in a row: no machine tells the middle one from the rest."""
    labels = np.arange(120) % 3
    rows = rng.normal(size=(120, 2)) + np.outer(labels - 1, [4.0, 0.0])
    model = SubspaceSVC(Linear(), n_components=1).fit(rows[:60], labels[:60])
    values = model.transform(rows) @ model.coef_.T + model.intercept_
    assert np.mean(values.argmax(axis=1)[60:] == labels[60:]) < 0.8
    assert model.score(rows[60:], labels[60:]) > 0.9
    scores, proba = model.decision_function(rows), model.predict_proba(rows)
    assert_array_equal(model.predict(rows), scores.argmax(axis=1))
    sharp = np.exp(model.sharpness_ * (scores - scores.max(axis=1, keepdims=True)))
    sharp /= sharp.sum(axis=1, keepdims=True)
    near = model.novelty(rows) > model.novelty_floor()  # row 109 is less like those of fit than any
    assert_array_equal(np.flatnonzero(~near), [109])
    assert_allclose(proba[near], sharp[near], atol=0.01)  # but for a lead of log(50 n) at most
    assert log_loss(labels[60:], proba[60:]) < 0.3
    model.fit(rows, labels > 0)  # two classes: one machine decides, and nothing is left
    values = model.transform(rows) @ model.coef_.T + model.intercept_
    assert_allclose(model.decision_function(rows), values[:, 0])


def test_the_better_of_two_starts():
    """The HSIC subspace as one more start never ends above the descent without it."""
    rows = slice(None, None, 4)
    F = scale(X[rows])
    signs = one_vs_rest_signs(y[rows], 3)
    L = np.eye(3)[y[rows]] - np.eye(3)[y[rows]].mean(axis=0)
    better = []
    for C in (0.1, 1.0, 10.0):
        problem = JointProblem(F, signs, np.full(len(F), C), 1, F @ F.T)
        alone = solve_exact(problem, tol=1e-4, bound=False).upper
        both = solve_exact(problem, tol=1e-4, bound=False, L=L).upper
        assert both <= alone * (1 + 1e-9)
        better.append(both < alone * (1 - 1e-4))
    assert any(better)
