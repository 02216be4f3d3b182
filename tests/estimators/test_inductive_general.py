"""InductiveKernel: general constraints, penalties, more constraints, scores, own regularisers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn import InductiveKernel
from kernel_learn.constraints import ClassProbabilities, Linear, Pairs, Quadruplets, Triplets
from kernel_learn.criteria.general_forms.penalties import Hinge, Penalty
from kernel_learn.criteria.regularizers import Regularizer
from kernel_learn.interop.files import ModelFileError
from kernel_learn.kernels import Gaussian

X, Y = load_iris(return_X_y=True)
X = scale(X)[::3]
Y = Y[::3]
FIRST = Pairs([[0, 1], [20, 21], [40, 41]], [[0, 20], [20, 40], [1, 41]])
MORE = Triplets([[2, 3, 30], [22, 23, 45]]) + Quadruplets([[5, 6, 5, 25]])


class HalfFrobenius(Regularizer):
    alpha = 1.0

    def value(self, w):
        return float(np.sum((w - 1) ** 2)) / 4

    def minimizer(self, x):
        return np.maximum(1 + 2 * x, 0)


class OwnHinge(Penalty):
    def value(self, t):
        return np.maximum(t, 0)

    def proximal(self, t, step):
        return t - np.clip(t, 0, step)


def test_a_linear_constraint_holds_on_the_learned_kernel():
    C = np.zeros((len(X), len(X)))
    C[:5, 17:22] = 1 / 25
    base = InductiveKernel().fit(X, constraints=FIRST)
    bound = float(np.sum(C * base.kernel_(X))) - 0.2
    model = InductiveKernel(slack=np.inf).fit(X, constraints=Linear(C, bound) + FIRST)
    assert np.sum(C * model.kernel_(X)) <= bound + 1e-6
    assert model.n_constraints_ == 7


@pytest.mark.parametrize("landmarks", ["all", 8])
def test_linear_constraints_on_landmarks_mean_the_learned_kernel_itself(landmarks):
    C = np.random.default_rng(0).normal(size=(len(X), len(X))) / len(X)
    both = InductiveKernel(landmarks=landmarks, random_state=0, tol=1e-9, slack=1e3)
    model = both.fit(X, constraints=Linear([C, -C], [0.1, 0.3]))
    value = np.sum(C * model.kernel_(X))
    z = model.multipliers_ / model.slack_  # what is still in excess of a bound is its price
    assert value - 0.1 <= z[0] + 1e-6 and -value - 0.3 <= z[1] + 1e-6


def test_penalties_change_the_answer_and_a_named_one_is_its_object():
    models = {
        name: InductiveKernel(penalty=name, slack=5.0).fit(X, constraints=FIRST)
        for name in ("squared_hinge", "hinge", "squared", "absolute")
    }
    values = [model.objective_ for model in models.values()]
    assert len(np.unique(np.round(values, 6))) == 4
    assert all(model.gap_ <= 1e-6 * model.objective_ for model in models.values())
    for own in (Hinge(), OwnHinge()):
        same = InductiveKernel(penalty=own, slack=5.0).fit(X, constraints=FIRST)
        assert_allclose(same.metric_, models["hinge"].metric_)


class Largest(Penalty):
    """max(0, t_1, ..., t_m)."""

    def value(self, t):
        return max(0.0, float(np.max(t)))

    def proximal(self, t, step):
        def spent(level):
            return np.sum(np.maximum(t - level, 0) / step) - 1

        level = 0.0 if spent(0.0) <= 0 else brentq(spent, 0.0, t.max(), xtol=1e-14, rtol=1e-15)
        return np.minimum(t, level)


@pytest.mark.parametrize("slack", [0.05, 0.3])
def test_a_penalty_of_the_largest_excess_alone_by_cvxpy(slack):
    cp = pytest.importorskip("cvxpy")
    rng, n = np.random.default_rng(0), 12
    rows = rng.normal(size=(n, 3))
    K = np.exp(-0.3 * np.sum((rows[:, None] - rows) ** 2, axis=2))
    Cs = rng.normal(size=(5, n, n)) / n
    Cs = (Cs + Cs.transpose(0, 2, 1)) / 2
    bounds = np.sum(Cs * K, axis=(1, 2)) - rng.uniform(0.1, 0.5, 5)
    model = InductiveKernel(
        Gaussian(0.3), regularizer="frobenius", penalty=Largest(), slack=slack, landmarks="all"
    ).fit(rows, constraints=Linear(list(Cs), bounds))
    w, U = np.linalg.eigh(K)
    R = (U * np.sqrt(w)) @ U.T
    A = cp.Variable((n, n), PSD=True)
    excess = cp.hstack([cp.trace(R @ C @ R @ A) for C in Cs]) - bounds
    unit = 2 * (1 - K[np.triu_indices(n, 1)].mean())
    price = slack * cp.pos(cp.max(excess)) / unit
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A - np.eye(n)) / 2 + price))
    problem.solve(solver="CLARABEL")
    assert_allclose(model.objective_, problem.value, rtol=1e-5)
    assert_allclose(model.kernel_(rows), R @ A.value @ R, atol=1e-4)


def test_the_trace_norm_by_name_has_low_rank_and_a_small_gap():
    trace = InductiveKernel(regularizer="trace", random_state=0).fit(X, Y)
    alone = InductiveKernel(regularizer="trace_norm", random_state=0).fit(X, Y)
    assert alone.gap_ <= 1e-6 * alone.objective_
    assert alone.rank_ <= trace.rank_ and alone.tau_ == pytest.approx(trace.tau_)
    assert alone.score(X, Y) > 0.9


def test_the_trace_norm_takes_any_penalty():
    """The answer is another one, and a penalty of one's own is its named twin."""
    named, own, plain = (
        InductiveKernel(regularizer="trace_norm", penalty=penalty).fit(X, constraints=FIRST)
        for penalty in ("hinge", OwnHinge(), "squared_hinge")
    )
    assert 0 <= named.gap_ <= 1e-6 * named.objective_
    assert_allclose(own.metric_, named.metric_)
    assert abs(plain.objective_ - named.objective_) > 0.01 * named.objective_


def test_more_constraints_on_the_same_rows():
    grown = InductiveKernel(tol=1e-12).partial_fit(X, constraints=FIRST)
    assert_allclose(grown.metric_, InductiveKernel(tol=1e-12).fit(X, constraints=FIRST).metric_)
    grown.partial_fit(X, constraints=MORE)
    whole = InductiveKernel(tol=1e-12).fit(X, constraints=FIRST + MORE)
    assert grown.n_constraints_ == whole.n_constraints_ == 9
    assert_allclose(grown.metric_, whole.metric_, atol=2e-6)
    assert_allclose(grown.kernel_(X), whole.kernel_(X), atol=2e-6)


@pytest.mark.parametrize("regularizer", ["frobenius", "trace"])
def test_more_constraints_start_from_the_multipliers_before(regularizer):
    options = {"regularizer": regularizer, "slack": 100.0, "tol": 1e-7}
    grown = InductiveKernel(**options).fit(X, constraints=FIRST + MORE)
    grown.partial_fit(X, constraints=Triplets([[0, 1, 33]]))
    whole = InductiveKernel(**options).fit(X, constraints=FIRST + MORE + Triplets([[0, 1, 33]]))
    assert grown.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert grown.n_iter_ < whole.n_iter_


def test_labels_then_constraints_then_a_file(tmp_path):
    pytest.importorskip("skops")
    model = InductiveKernel(random_state=0, n_constraints=40).fit(X, Y)
    probabilities = ClassProbabilities([4], [0], Y)
    model.partial_fit(X, constraints=probabilities)
    path = tmp_path / "model.skops"
    kl.save(model, path)
    loaded = kl.load(path)
    loaded.partial_fit(X, constraints=MORE)
    model.partial_fit(X, constraints=MORE)
    assert_allclose(loaded.metric_, model.metric_, atol=1e-12)
    assert loaded.n_constraints_ == 40 + 2 + 3


def test_other_rows_are_refused_and_the_model_stays():
    model = InductiveKernel().fit(X, constraints=FIRST)
    before = model.metric_
    for other in (X[::-1], X[:45], X + 1):
        with pytest.raises(ValueError, match="not these rows"):
            model.partial_fit(other, constraints=MORE)
    assert model.metric_ is before and model.n_constraints_ == 6


def test_score_by_labels_is_the_nearest_neighbour():
    model = InductiveKernel(random_state=0).fit(X[::2], Y[::2])
    new, labels = X[1::2], Y[1::2]
    K = model.kernel_(new)
    d = np.diag(K)[:, None] + np.diag(K) - 2 * K
    hits = []
    for i in range(len(new)):
        others = [j for j in range(len(new)) if j != i]
        hits.append(labels[min(others, key=lambda j, i=i: d[i, j])] == labels[i])
    assert model.score(new, labels) == pytest.approx(np.mean(hits))
    grid = GridSearchCV(InductiveKernel(random_state=0), {"slack": [0.1, 10.0]}, cv=2).fit(X, Y)
    assert 0.5 < grid.best_score_ <= 1


def test_score_by_constraints_is_the_share_that_is_met():
    model = InductiveKernel(slack=10.0).fit(X, constraints=FIRST + MORE)
    new = scale(load_iris().data)[1::3]
    d = model.distance(new)
    pairs = Pairs([[0, 1], [0, 30]], [[0, 20]], similar_max=0.5, dissimilar_min=1.0)
    met = [d[0, 1] <= 0.5, d[0, 30] <= 0.5, d[0, 20] >= 1.0]
    assert model.score(new, constraints=pairs) == pytest.approx(np.mean(met))
    assert model.score(X, constraints=FIRST + MORE) == pytest.approx(model.constraint_satisfaction_)
    rows = Pairs(X[[[0, 1]]], X[[[0, 20]]], similar_max=9.0, dissimilar_min=9.0)
    assert model.score(X, constraints=rows) == 0.5
    for wrong in ({}, {"y": Y, "constraints": FIRST}):
        with pytest.raises(ValueError, match="one of the two"):
            model.score(X, **wrong)


def test_a_regulariser_of_ones_own_in_a_file(tmp_path):
    pytest.importorskip("skops")
    path = tmp_path / "model.skops"
    model = InductiveKernel(regularizer=HalfFrobenius()).fit(X, constraints=FIRST)
    name = f"{HalfFrobenius.__module__}.HalfFrobenius"
    with pytest.raises(ModelFileError, match=r"HalfFrobenius.*trusted="):
        kl.save(model, path)
    assert not path.exists()
    kl.save(model, path, trusted=[HalfFrobenius])
    with pytest.raises(ModelFileError, match="HalfFrobenius"):
        kl.load(path)
    for trusted in ([HalfFrobenius], [name]):
        loaded = kl.load(path, trusted=trusted)
        assert_allclose(loaded.transform(X), model.transform(X), atol=0)
        assert type(loaded.regularizer) is HalfFrobenius
    with pytest.raises(TypeError, match="a list"):
        kl.load(path, trusted=name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unlabeled": "ignore"}, "no 'ignore'"),
        ({"unlabeled": "?"}, "marks no"),
        ({"penalty": "cubic"}, "penalty='cubic' is not known"),
        ({"penalty": "hinge", "slack": np.inf}, "finite slack"),
        ({"penalty": "hinge", "solver": "uzawa", "regularizer": "frobenius"}, "finite slack"),
        ({"regularizer": "trace_norm", "tau": 1.5}, "less than 1"),
        ({"regularizer": "trace_norm", "solver": "quasi-newton"}, "not strictly convex"),
    ],
)
def test_what_does_not_go_together_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        InductiveKernel(**options).fit(X, Y)


@pytest.mark.parametrize("kind", [kl.HSICSubspace, kl.KernelDiscriminant, kl.KernelPLS])
def test_a_mark_for_rows_without_label_is_not_a_class_in_silence(kind):
    marked = np.where(np.arange(len(Y)) % 5 == 0, -1, Y)
    with pytest.warns(UserWarning, match=rf"-1 beside 3 other labels, and {kind.__name__}"):
        kind().fit(X, marked)
    kind().fit(X, np.where(Y == 0, -1, 1))  # two classes, one of them -1
