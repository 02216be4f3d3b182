"""InductiveKernel from rows and side information to a kernel on new rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from extras import optional
from kernel_learn import InductiveKernel, Landmarks
from kernel_learn.constraints import ClassProbabilities, Pairs, Triplets
from kernel_learn.kernels import Gaussian, Spectrum
from oracles import inductive as oracle

pd = optional("pandas")

X, y = load_wine(return_X_y=True)
X = scale(X)
X.setflags(write=False)
y.setflags(write=False)
X_NEW = X[:30] + 0.1
S = np.array([[i, j] for i in range(0, 40, 3) for j in (i + 1, i + 5)])
D = np.array([[i, 177 - i] for i in range(40)])
NAMES = ("logdet", "frobenius", "pola", "trace")


def small(n=14):
    """A few rows with pairs, and the pairs' matrices on the kernel."""
    rows = np.concatenate([np.arange(n // 2), np.arange(177, 177 - n // 2, -1)])
    similar = np.array([[0, 1], [2, 3], [7, 8], [1, 4]])
    dissimilar = np.array([[0, 7], [1, 9], [5, 10], [6, 12]])
    pairs = Pairs(similar, dissimilar, similar_max=0.2, dissimilar_min=1.7)
    Cs = []
    for i, j in np.vstack([similar, dissimilar]):
        e = np.zeros(n)
        e[i], e[j] = 1, -1
        Cs.append(np.outer(e, e))
    signs = np.array([1] * 4 + [-1] * 4)
    return X[rows], pairs, Cs, signs, np.array([0.2] * 4 + [-1.7] * 4)


@pytest.mark.parametrize("name", NAMES)
def test_equals_cvxpy_on_the_kernel_matrix(name):
    """Theorem 1: the learned function on the training rows is the learned matrix."""
    X_s, pairs, Cs, signs, bounds = small()
    model = InductiveKernel(Gaussian(0.05), regularizer=name, landmarks=np.arange(14), tol=1e-8)
    model.fit(X_s, constraints=pairs)
    K = rbf_kernel(X_s, gamma=0.05)
    value, K_W = oracle.reduced(
        name, K, np.eye(14), Cs, signs, bounds, model.slack_, model.tau_ or 0.0
    )
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert_allclose(model.kernel_(X_s), K_W, atol=2e-3)
    assert 0 <= model.gap_ <= 1e-8 * model.objective_


@pytest.mark.parametrize("name", NAMES)
def test_few_landmarks_are_jains_reduced_problem(name):
    """Theorems 2 and 3: r x r unknowns, with the bounds corrected for what z'z leaves out."""
    X_s, pairs, Cs, signs, bounds = small()
    chosen = np.array([0, 3, 8, 11, 13])
    model = InductiveKernel(Gaussian(0.05), regularizer=name, landmarks=chosen, tol=1e-8)
    model.fit(X_s, constraints=pairs)
    K = rbf_kernel(X_s, gamma=0.05)
    J = np.eye(14)[:, chosen]
    value, K_W = oracle.reduced(name, K, J, Cs, signs, bounds, model.slack_, model.tau_ or 0.0)
    constant = 14 - 5 if name == "logdet" else 0  # tr I - log det I on the rest of the space
    assert model.objective_ + constant == pytest.approx(value, rel=1e-5)
    assert_allclose(model.kernel_(X_s), K_W, atol=2e-3)
    assert model.metric_.shape == (5, 5)


@pytest.mark.parametrize("name", NAMES)
def test_all_constrained_rows_are_exact(name):
    """Theorem 1: S lives on the constrained rows; more landmarks change nothing."""
    pairs = Pairs(S, D)
    exact = InductiveKernel(regularizer=name, tol=1e-9).fit(X, constraints=pairs)
    assert exact.plan_.representation == "gram"
    assert len(exact.kernel_.landmarks) == len(pairs.rows()) < len(X)
    full = InductiveKernel(regularizer=name, landmarks=X, tol=1e-9).fit(X, constraints=pairs)
    assert_allclose(full.kernel_(X_NEW, X), exact.kernel_(X_NEW, X), atol=3e-4)


@pytest.mark.parametrize("rule", ["random", "clusters", "kmeans", "uniform", "rpcholesky"])
def test_landmark_rules_reduce_the_unknowns(rule):
    model = InductiveKernel(landmarks=Landmarks(rule, 12), random_state=0).fit(X, y)
    assert model.metric_.shape == (12, 12)
    assert model.transform(X_NEW).shape == (30, 12)
    exact = InductiveKernel(random_state=0).fit(X, y)
    assert np.abs(model.kernel_(X) - exact.kernel_(X)).max() > 1e-3
    score = cross_val_score(make_pipeline(model, KNeighborsClassifier(5)), X, y, cv=3).mean()
    assert score > 0.9


@pytest.mark.parametrize("rule", ["random", "clusters"])
def test_as_many_combinations_as_rows_are_the_full_problem(rule):
    """Theorem 2 with an invertible J."""
    part = np.arange(0, 178, 6)
    X_p, y_p = X[part], y[part]
    options = {"n_constraints": 60, "random_state": 0, "tol": 1e-9}
    full = InductiveKernel(Gaussian(0.1), landmarks=np.arange(len(part)), **options).fit(X_p, y_p)
    J = InductiveKernel(Gaussian(0.1), landmarks=Landmarks(rule, len(part)), **options)
    J.fit(X_p, y_p)
    assert J.objective_ == pytest.approx(full.objective_, rel=1e-6)
    assert_allclose(J.kernel_(X_NEW), full.kernel_(X_NEW), atol=1e-4)


@pytest.mark.parametrize("name", ["logdet", "frobenius"])
@pytest.mark.parametrize("landmarks", ["all", 10])
def test_constraints_that_ask_nothing_return_the_base_kernel(name, landmarks):
    idle = Pairs(S, similar_max=10.0)
    model = InductiveKernel(regularizer=name, landmarks=landmarks, random_state=0)
    model.fit(X, constraints=idle)
    assert_allclose(model.kernel_(X_NEW, X), model.base_kernel_(X_NEW, X), atol=1e-12)
    assert model.constraint_satisfaction_ == 1.0
    assert model.gap_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["pola", "trace"])
def test_constraints_that_zero_meets_are_refused(name):
    with pytest.raises(ValueError, match="zero kernel meets all"):
        InductiveKernel(regularizer=name).fit(X, constraints=Pairs(S))


@pytest.mark.parametrize("name", NAMES)
def test_kernel_transform_and_distance(name):
    model = InductiveKernel(regularizer=name, landmarks=60, random_state=0).fit(X, y)
    F, F_ref = model.transform(X_NEW), model.transform(X)
    extra = 0.0
    if name in ("logdet", "frobenius"):  # alpha (k - z'z), which no transform can carry
        base, landmarks = model.base_kernel_, model.kernel_.landmarks
        K_l = base(X_NEW, landmarks)
        extra = base(X_NEW, X) - K_l @ np.linalg.pinv(base(landmarks)) @ base(landmarks, X)
        assert np.abs(extra).max() > 1e-3
    K = model.kernel_(X_NEW, X)
    assert_allclose(K, F @ F_ref.T + extra, atol=1e-6)
    assert_allclose(model.kernel_.diag(X_NEW), np.diag(model.kernel_(X_NEW)), atol=1e-10)
    K_all = model.kernel_(X_NEW)
    assert np.linalg.eigvalsh(K_all)[0] > -1e-8
    d = np.diag(K_all)
    assert_allclose(model.distance(X_NEW), d[:, None] + d - 2 * K_all, atol=1e-9)
    expected = d[:, None] + model.kernel_.diag(X) - 2 * K
    assert_allclose(model.distance(X_NEW, X), np.maximum(expected, 0), atol=1e-9)
    assert np.all(np.diag(model.distance(X_NEW)) == 0)


def test_with_all_rows_as_landmarks_only_new_pairs_differ():
    model = InductiveKernel(random_state=0, landmarks=X).fit(X, y)
    F, F_ref = model.transform(X_NEW), model.transform(X)
    assert_allclose(model.kernel_(X_NEW, X), F @ F_ref.T, atol=1e-7)
    assert np.abs(model.kernel_(X_NEW) - F @ F.T).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_certificates_and_multipliers_recomputed(name):
    pairs = Pairs(S, D)
    model = InductiveKernel(regularizer=name).fit(X, constraints=pairs)
    assert model.gap_ == pytest.approx(model.objective_ - model.dual_objective_)
    assert 0 <= model.gap_ <= 1e-6 * model.objective_
    distances = model.distance(X)
    base = model.base_kernel_(X[pairs.rows()])
    d = np.diag(base)
    quantiles = np.percentile((d[:, None] + d - 2 * base)[np.triu_indices(len(base), 1)], [5, 95])
    excess = np.concatenate(
        [distances[S[:, 0], S[:, 1]] - quantiles[0], quantiles[1] - distances[D[:, 0], D[:, 1]]]
    )
    scale_of_multipliers = max(1.0, model.multipliers_.max())
    assert_allclose(
        model.multipliers_,
        model.slack_ * np.maximum(excess, 0),
        atol=1e-2 * scale_of_multipliers,
    )
    assert model.constraint_satisfaction_ == pytest.approx(
        np.mean(excess <= 0.01 * np.sqrt(1 / model.slack_)), abs=1e-9
    )
    last = model.history_[-1]
    assert last["value"] - last["lower"] == pytest.approx(model.gap_, abs=1e-9)
    assert model.n_iter_ == len(model.history_)


def test_each_solver_gives_the_same_kernel():
    exact = InductiveKernel(random_state=0, n_constraints=100, tol=1e-8).fit(X, y)
    cyclic = InductiveKernel(random_state=0, n_constraints=100, tol=1e-8, solver="bregman")
    assert_allclose(cyclic.fit(X, y).kernel_(X), exact.kernel_(X), atol=1e-3)
    options = {"regularizer": "trace", "n_constraints": 100, "random_state": 0, "tol": 1e-8}
    exact = InductiveKernel(**options).fit(X, y)
    uzawa = InductiveKernel(**options, solver="uzawa").fit(X, y)
    assert_allclose(uzawa.kernel_(X), exact.kernel_(X), atol=1e-3)
    assert uzawa.n_iter_ > exact.n_iter_


def test_unlabelled_rows_change_nothing_by_themselves():
    """They act through the width, the landmarks and the graph: with those fixed, not at all."""
    labels = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    labelled = labels != -1
    for landmarks in ("all", X[:20]):
        options = {"random_state": 0, "landmarks": landmarks, "tol": 1e-9, "unlabeled": -1}
        with_them = InductiveKernel(Gaussian(0.05), **options).fit(X, labels)
        without = InductiveKernel(Gaussian(0.05), **options).fit(X[labelled], labels[labelled])
        assert_allclose(with_them.kernel_(X_NEW), without.kernel_(X_NEW), atol=1e-7)
    by_rule = InductiveKernel(random_state=0, unlabeled=-1).fit(X, labels)
    alone = InductiveKernel(random_state=0).fit(X[labelled], labels[labelled])
    assert by_rule.base_kernel_.gamma != alone.base_kernel_.gamma


def test_a_minus_one_among_labels_is_refused():
    """It may be a class or a mark; of {-1, 0, 1} a class was dropped silently."""
    for labels in (np.where(y == 0, -1, 1), y - 1, (y - 1.0), list(y - 1)):
        with pytest.raises(ValueError, match=r"unlabeled=-1.*unlabeled=None"):
            InductiveKernel().fit(X, labels)
    assert list(InductiveKernel(unlabeled=None).fit(X, y - 1).classes_) == [-1, 0, 1]
    assert list(InductiveKernel(unlabeled=-1).fit(X, y - 1).classes_) == [0, 1]
    names = np.where(np.arange(len(y)) % 4 == 0, "?", np.array(["a", "b", "c"])[y])
    assert list(InductiveKernel(unlabeled="?").fit(X, names).classes_) == ["a", "b", "c"]
    assert list(InductiveKernel().fit(X, names).classes_) == ["?", "a", "b", "c"]


@pytest.mark.parametrize("unlabeled", ["raise", -1, None])
@pytest.mark.parametrize("mark", [None, np.nan, "NA"])
def test_none_and_nan_are_never_labels(unlabeled, mark):
    mark = pd.NA if mark == "NA" else mark
    known = np.arange(len(y)) % 3 == 0
    options = {"unlabeled": unlabeled, "random_state": 0, "kernel": Gaussian(0.05)}
    expected = InductiveKernel(**options).fit(X[known], y[known])
    names = np.array(["a", "b", "c"], dtype=object)[y]
    for labels in (y, names):
        marked = [label if k else mark for label, k in zip(labels, known, strict=True)]
        model = InductiveKernel(**options).fit(X, np.array(marked, dtype=object))
        assert_allclose(model.kernel_(X_NEW), expected.kernel_(X_NEW), atol=1e-6)
    if mark is np.nan:
        model = InductiveKernel(**options).fit(X, np.where(known, y, np.nan))
        assert_allclose(model.kernel_(X_NEW), expected.kernel_(X_NEW), atol=1e-6)
    with pytest.raises(ValueError, match="All rows are unlabelled"):
        InductiveKernel(**options).fit(X, np.array([mark] * len(y), dtype=object))


def test_rows_and_indices_are_the_same_constraints():
    by_index = Pairs(S, D) + Triplets(np.column_stack([S[:20], D[:20, 1]]))
    T = np.column_stack([S[:20], D[:20, 1]])
    by_row = Pairs(X[S], X[D]) + Triplets(X[T])
    a = InductiveKernel().fit(X, constraints=by_index)
    b = InductiveKernel().fit(X, constraints=by_row)
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-5)
    assert_allclose(a.kernel_(X_NEW), b.kernel_(X_NEW), atol=1e-3)
    c = InductiveKernel().fit(sparse.csr_matrix(X), constraints=by_row)
    assert_allclose(c.kernel_(sparse.csr_matrix(X_NEW)), b.kernel_(X_NEW), atol=1e-6)
    signs = np.repeat([1, -1], [len(S), len(D)])
    d = InductiveKernel().fit(X, constraints=Pairs.from_signs(np.vstack([S, D]), signs))
    e = InductiveKernel().fit(X, constraints=Pairs(S, D))
    assert_allclose(d.kernel_(X_NEW), e.kernel_(X_NEW), atol=1e-12)


def test_row_pairs_survive_cross_validation():
    model = InductiveKernel(constraints=Pairs(X[S], X[D]), regularizer="trace", tau=0.3)
    pipeline = make_pipeline(model, KNeighborsClassifier(5))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    with pytest.raises(ValueError, match="holds row indices"):
        InductiveKernel(constraints=Pairs(S, D)).fit(X)


@pytest.mark.parametrize("kind", ["pairs", "triplets", "similarity", "probability"])
def test_every_kind_is_drawn_from_labels(kind):
    model = InductiveKernel(constraints=kind, n_constraints=50, random_state=0).fit(X, y)
    assert model.n_constraints_ == (100 if kind == "probability" else 50)  # and positive sums
    other = InductiveKernel(constraints=kind, n_constraints=50, random_state=1).fit(X, y)
    assert np.abs(model.kernel_(X) - other.kernel_(X)).max() > 1e-6


def test_order_of_rows_does_not_matter(rng):
    order = rng.permutation(len(y))
    for landmarks in ("all", Landmarks("random", 20), Landmarks("clusters", 10), 30):
        a = InductiveKernel(landmarks=landmarks, random_state=0, tol=1e-9).fit(X, y)
        b = InductiveKernel(landmarks=landmarks, random_state=0, tol=1e-9)
        b.fit(X[order], y[order])
        assert_allclose(a.kernel_(X_NEW), b.kernel_(X_NEW), atol=1e-4)


def test_rescaling_the_base_kernel_rescales_the_learned_one():
    for name in NAMES:
        a, b = (
            InductiveKernel(
                lambda A, B, c=c: c * rbf_kernel(A, B, 0.05),
                regularizer=name,
                random_state=0,
                tol=1e-10,  # the kernel is known to the root of the gap
                max_iter=5000,
            ).fit(X, y)
            for c in (1.0, 1e4)
        )
        assert_allclose(b.kernel_(X_NEW) / 1e4, a.kernel_(X_NEW), atol=1e-4)
        assert b.rank_ == a.rank_


def test_slack_tau_and_components_change_the_answer():
    satisfied = [
        InductiveKernel(slack=slack, random_state=0).fit(X, y).constraint_satisfaction_
        for slack in (0.01, 1.0, 30.0)
    ]
    assert satisfied[0] < satisfied[1] < satisfied[2]
    ranks = [
        InductiveKernel(regularizer="trace", tau=tau, random_state=0).fit(X, y).rank_
        for tau in (0.003, 0.1, 0.9)
    ]
    assert ranks[0] > ranks[1] > ranks[2] >= 1
    full = InductiveKernel(random_state=0).fit(X, y)
    two = InductiveKernel(random_state=0, n_components=2).fit(X, y)
    assert two.rank_ == two.transform(X).shape[1] == 2
    assert_allclose(two.transform(X), full.transform(X)[:, :2], atol=1e-10)
    assert_allclose(two.kernel_(X_NEW), two.transform(X_NEW) @ two.transform(X_NEW).T, atol=1e-10)
    metric = InductiveKernel(random_state=0, n_components=2, components="metric").fit(X, y)
    assert np.abs(metric.kernel_(X) - two.kernel_(X)).max() > 1e-2
    w = np.linalg.eigvalsh(metric.metric_)
    assert np.trace(two.metric_ @ two.metric_) >= w[-1] ** 2
    with pytest.warns(UserWarning, match="directions were asked for"):
        InductiveKernel(regularizer="trace", tau=0.5, n_components=150).fit(X, y)


def test_components_are_the_kernel_matrix_top_eigenvectors():
    model = InductiveKernel(random_state=0, n_components=3).fit(X, y)
    full = InductiveKernel(random_state=0).fit(X, y)
    w = np.linalg.eigvalsh(full.kernel_(X))[::-1]
    F = model.transform(X)
    assert_allclose(F.T @ F, np.diag(w[:3]), atol=1e-5 * w[0])


def test_infeasible_constraints_end_in_slack():
    # 0-1-2 close to each other and 0-2 far apart, on a line: cannot be
    line = np.linspace(0, 1, 10)[:, None]
    pairs = Pairs([[0, 1], [1, 2]], [[0, 2]], similar_max=0.01, dissimilar_min=1.0)
    for name in NAMES:
        model = InductiveKernel("linear", regularizer=name).fit(line, constraints=pairs)
        assert model.gap_ <= 1e-6 * model.objective_
        assert model.constraint_satisfaction_ < 1
    with pytest.warns(UserWarning, match="1 pairs are listed as similar and as dissimilar"):
        both = InductiveKernel().fit(X, constraints=Pairs([[0, 1], [2, 3]], [[1, 0]]))
    assert np.isfinite(both.objective_)
    twice = InductiveKernel().fit(X, constraints=Pairs(np.vstack([S, S]), D))
    once = InductiveKernel().fit(X, constraints=Pairs(S, D))
    assert twice.n_constraints_ == once.n_constraints_ + len(S)
    d_twice, d_once = (m.distance(X)[S[:, 0], S[:, 1]].mean() for m in (twice, once))
    assert d_twice < d_once  # what is said twice counts twice


def test_newton_has_the_objective_of_the_dual_solver():
    options = {"landmarks": 20, "random_state": 0, "tol": 1e-10}
    new = InductiveKernel(**options).fit(X, y)
    old = InductiveKernel(**options, solver="quasi-newton", max_iter=5000).fit(X, y)
    assert new.objective_ == pytest.approx(old.objective_, rel=2e-9)
    assert new.n_iter_ < 25 < old.n_iter_
    assert_allclose(new.kernel_(X_NEW), old.kernel_(X_NEW), atol=1e-4)


def test_dear_slack_converges_to_hard_constraints():
    pairs = Pairs(S[:6], D[:6])
    soft = [
        InductiveKernel(slack=slack).fit(X, constraints=pairs).objective_
        for slack in (1e4, 1e6, np.inf)
    ]
    assert soft[0] < soft[1] < soft[2] < soft[0] * 1.01
    for regularizer in ("logdet", "frobenius"):
        hard = InductiveKernel(slack=np.inf, regularizer=regularizer).fit(X, constraints=pairs)
        assert hard.constraint_satisfaction_ == 1.0
        assert 0 <= hard.gap_ <= 1e-6 * hard.objective_
        assert hard.slack_ == np.inf
    drawn = InductiveKernel(slack=1e4, landmarks=15, random_state=0).fit(X, y)  # contradictory
    assert drawn.gap_ <= 1e-6 * drawn.objective_


def test_hard_constraints_that_exclude_each_other_are_named():
    line = np.linspace(0, 1, 10)[:, None]
    pairs = Pairs([[0, 1], [1, 2]], [[0, 2]], similar_max=0.01, dissimilar_min=1.0)
    for regularizer in ("logdet", "frobenius", "pola"):
        model = InductiveKernel("linear", slack=np.inf, regularizer=regularizer)
        with pytest.raises(ValueError, match=r"d\(0, 2\) >= 1.*finite slack"):
            model.fit(line, constraints=pairs)
        assert not hasattr(model, "kernel_")
    for parameters in ({"solver": "bregman"}, {"regularizer": "trace"}):
        with pytest.raises(ValueError, match="finite slack"):
            InductiveKernel(slack=np.inf, **parameters).fit(X, constraints=Pairs(S, D))


def test_cyclic_projections_say_where_they_stall():
    model = InductiveKernel("linear", slack=100.0, solver="bregman", random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .*Cyclic projections"):
        model.fit(X[::6], y[::6])
    assert model.n_iter_ < 1000
    assert model.gap_ > 1e-6 * model.objective_


def test_works_with_scikit_learn():
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 30))])
    model = InductiveKernel(regularizer="trace", tau=0.3, random_state=0)
    knn = make_pipeline(model, KNeighborsClassifier(5))
    assert (
        cross_val_score(knn, noisy, y).mean()
        > cross_val_score(KNeighborsClassifier(5), noisy, y).mean() + 0.01
    )
    fitted = clone(model).fit(noisy, y)
    assert SVC(kernel=fitted.kernel_).fit(noisy, y).score(noisy, y) > 0.95
    D_train = fitted.distance(noisy)
    by_distance = KNeighborsClassifier(5, metric="precomputed").fit(np.sqrt(D_train), y)
    assert by_distance.score(np.sqrt(D_train), y) > 0.95
    clusters = KMeans(3, n_init=5, random_state=0).fit_predict(fitted.transform(noisy))
    assert max(np.bincount(y[clusters == c]).max() / np.sum(clusters == c) for c in range(3)) > 0.9
    again = InductiveKernel(kernel=fitted.kernel_, random_state=0).fit(noisy, y)
    assert again.transform(noisy[:3]).shape[0] == 3


def test_other_inputs():
    words = ["abcabc", "bcabca", "cabcab", "abcbca", "xyzxyz", "zyxzyx", "yzxyzx", "xxyyzz"]
    model = InductiveKernel(Spectrum(2), random_state=0).fit(words, ["a"] * 4 + ["b"] * 4)
    d = model.distance(["abcab", "zxyzx"], words)
    assert d[0, :4].mean() < d[0, 4:].mean()
    K = rbf_kernel(X, gamma=0.05)
    given = InductiveKernel("precomputed", constraints="pairs", random_state=0)
    given.fit(K, constraints=Pairs(S, D))
    direct = InductiveKernel(Gaussian(0.05)).fit(X, constraints=Pairs(S, D))
    assert_allclose(
        given.transform(K[:9]) @ given.transform(K).T,
        direct.transform(X[:9]) @ direct.transform(X).T,
        atol=1e-6,
    )
    assert_allclose(given.kernel_(K), direct.kernel_(X), atol=1e-6)
    with pytest.raises(ValueError, match="precomputed base kernel"):
        given.kernel_(K[:5])
    single = InductiveKernel(Gaussian(0.05)).fit(X.astype("f4"), constraints=Pairs(S, D))
    assert single.transform(X_NEW.astype("f4")).dtype == np.float32
    assert_allclose(single.kernel_(X_NEW.astype("f4")), direct.kernel_(X_NEW), atol=2e-2)
    linear = InductiveKernel("linear").fit(X, y)
    assert linear.plan_.representation == "explicit"
    assert linear.metric_.shape == (13, 13)
    assert_allclose(linear.kernel_(X_NEW), X_NEW @ linear.metric_ @ X_NEW.T, atol=1e-8)


def test_fitted_models_pickle_and_parameters_stay():
    kernel = Gaussian()
    model = InductiveKernel(kernel, landmarks=X[:20].copy(), random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.kernel_(X_NEW), model.kernel_(X_NEW))
    assert model.kernel is kernel
    assert kernel.gamma == "median"
    assert_array_equal(model.landmarks, X[:20])
    assert list(model.get_feature_names_out()[:1]) == ["inductivekernel0"]


def test_says_when_it_did_not_converge():
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = InductiveKernel(max_iter=2, random_state=0).fit(X, y)
    assert model.gap_ > 1e-6 * model.objective_


def bad(**parameters):
    return lambda: InductiveKernel(**parameters).fit(X, y)


def explicit(make):
    return lambda: InductiveKernel().fit(X, constraints=make())


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (bad(regularizer="entropy"), "regularizer='entropy' is not known"),
        (bad(regularizer=object()), "is not known"),
        (bad(constraints="quadruplets"), "constraints must be 'pairs'"),
        (bad(slack=0), "slack must be a positive"),
        (bad(slack=-np.inf), "slack must be a positive"),
        (bad(regularizer="trace", tau=1.0), "less than 1"),
        (bad(tau=-1), "tau must be a positive"),
        (bad(tol=0), "tol must be"),
        (bad(n_constraints=0), "n_constraints must be"),
        (bad(max_iter=0), "max_iter must be"),
        (bad(n_components=0), "n_components must be"),
        (bad(components="pca"), "components"),
        (bad(solver="newton"), "solver='newton'"),
        (bad(solver="bregman", regularizer="pola"), "logdet alone"),
        (bad(solver="uzawa"), "boundary"),
        (bad(landmarks="best"), "landmarks"),
        (bad(landmarks="all", memory_budget="100kB"), "memory budget"),
        (bad(landmarks=20, memory_budget="1MB"), "fewer constraints"),
        (lambda: InductiveKernel().fit(X), "requires y"),
        (
            lambda: InductiveKernel(unlabeled=-1).fit(X, np.full(len(y), -1)),
            "All rows are unlabelled",
        ),
        (
            lambda: InductiveKernel(unlabeled=-1).fit(X, np.where(y == 0, 0, -1)),
            "at least 2 classes",
        ),
        (lambda: InductiveKernel().fit(X, y, constraints=Pairs(S, D)), "Both y and constraints"),
        (lambda: InductiveKernel().fit(X, constraints=(S, D)), "not a set of constraints"),
        (lambda: InductiveKernel().fit(np.ones_like(X), y), "zero variance"),
        (lambda: InductiveKernel("precomputed").fit(X @ X.T, constraints=Pairs(X[S])), "indices"),
        (explicit(lambda: Pairs()), "no constraint"),
        (explicit(lambda: Pairs([[0, 178]])), "names row 178"),
        (explicit(lambda: Pairs([[0, -1]])), "negative index"),
        (explicit(lambda: Pairs([[3, 3]])), "row 3 with itself"),
        (explicit(lambda: Pairs([[0.5, 1]])), "integers of shape"),
        (explicit(lambda: Pairs(S[:, [0, 1, 1]])), "integers of shape"),
        (explicit(lambda: Pairs(S, X[D])), "indices in one argument"),
        (explicit(lambda: Pairs(X[S][:, :, :5])), "5 columns"),
        (explicit(lambda: Pairs(np.full((3, 2, 13), np.nan))), "not finite"),
        (explicit(lambda: Pairs(S, D, similar_max=-1)), "not negative"),
        (explicit(lambda: Pairs(S, D, similar_max=[1, 2])), "one number or"),
        (explicit(lambda: Triplets([[0, 0, 1]])), "with itself"),
        (explicit(lambda: Triplets([[0, 1, 2]], margin=np.nan)), "finite"),
        (explicit(lambda: Triplets([])), "no constraint"),
        (explicit(lambda: ClassProbabilities([0], [7], y)), "no row has that label"),
        (explicit(lambda: ClassProbabilities([0, 1], [0], y)), "one class for each"),
        (explicit(lambda: ClassProbabilities([500], [0], y)), "names row 500"),
        (
            explicit(lambda: ClassProbabilities([0], [0], y, at_least=0.9, at_most=0.1)),
            "contradict",
        ),
        (lambda: Pairs.from_signs(S, np.zeros(len(S))), "signs must"),
        (lambda: Pairs(S) + 3, "unsupported operand"),
        (lambda: InductiveKernel().fit(X[:4], np.arange(4)), None),
    ],
)
def test_bad_input_says_what_and_what_to_do(call, match):
    if match is None:
        call()  # one row per class: dissimilar pairs alone, which logdet can use
        return
    with pytest.raises((ValueError, TypeError), match=match):
        call()
