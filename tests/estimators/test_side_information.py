"""Metric learners on pairs, chunklets and triplets: against CVXPY, and against labels."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import kernel_learn as kl
from kernel_learn.constraints import Pairs, Similarities, Triplets
from kernel_learn.criteria.side_information import ClusteringPairs, RelativeDistances, chunklets_of
from oracles import metric as oracle

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::5], y[::5]  # 30 rows
RNG = np.random.default_rng(0)
ALL = np.array([(i, j) for i in range(30) for j in range(i)])
SAME = y[ALL[:, 0]] == y[ALL[:, 1]]
FEW = RNG.permutation(len(ALL))[:60]
SIMILAR, DISSIMILAR = ALL[FEW][SAME[FEW]], ALL[FEW][~SAME[FEW]]
TRIPLETS = np.array(
    [(i, j, k) for i, j in SIMILAR for k in RNG.permutation(30)[:9] if y[k] != y[i]]
)


def distances(model, A=X):
    F = model.transform(A)
    return np.sum((F[:, None] - F) ** 2, axis=2)


def test_mmc_is_the_papers_problem_on_the_pairs():
    model = kl.KernelMMC("linear", reg=0.1, tol=1e-5).fit(X, constraints=Pairs(SIMILAR, DISSIMILAR))
    Z = oracle.scaled(X)
    value, A = oracle.mmc_pairs(Z, SIMILAR, DISSIMILAR, 0.1)
    assert model.objective_ == pytest.approx(value, rel=1e-4)
    assert model.objective_ + model.gap_ >= value * (1 - 1e-7)
    d = np.array([[(a - b) @ A @ (a - b) for b in Z] for a in Z])
    np.testing.assert_allclose(distances(model), d, atol=2e-2 * d.max())
    assert not hasattr(model, "classes_")


def test_all_pairs_are_labels():
    pairs = Pairs(ALL[SAME], ALL[~SAME])
    labels = kl.KernelMMC(tol=1e-4).fit(X, y)
    constrained = kl.KernelMMC(tol=1e-4).fit(X, constraints=pairs)
    assert constrained.objective_ == pytest.approx(labels.objective_, rel=1e-3)
    chunks = kl.KernelMMC(tol=1e-4).fit(X, constraints=y)
    np.testing.assert_allclose(chunks.transform(X), labels.transform(X), atol=1e-8)
    expected = distances(kl.KernelRCA().fit(X, y))
    for constraints in (pairs, Pairs(ALL[SAME]), y):
        found = kl.KernelRCA().fit(X, constraints=constraints)
        np.testing.assert_allclose(distances(found), expected, atol=1e-8)


def test_chunklets_leave_rows_out():
    chunks = np.where(np.arange(30) % 2 == 0, y, -1)
    inside = chunks >= 0
    model = kl.KernelRCA("linear").fit(X, constraints=chunks)
    Z = oracle.scaled(X)
    U = np.vstack([Z[inside & (y == c)] - Z[inside & (y == c)].mean(axis=0) for c in range(3)])
    C = U.T @ U / len(U)
    A = np.linalg.inv(C + 0.1 * np.trace(C) / 4 * np.eye(4))
    d = np.array([[(a - b) @ A @ (a - b) for b in Z] for a in Z])
    np.testing.assert_allclose(distances(model), d, rtol=1e-6, atol=1e-8)
    other = kl.KernelMMC("linear").fit(X, constraints=chunks)
    whole = kl.KernelMMC("linear").fit(X, y)
    assert np.abs(distances(other) - distances(whole)).max() > 1e-3


def test_pairs_join_rows_to_chunklets():
    found = chunklets_of(np.array([[0, 1], [1, 4], [2, 3]]), 7)
    assert found[0] == found[1] == found[4] and found[2] == found[3] != found[0]
    np.testing.assert_array_equal(found[[5, 6]], -1)


@pytest.mark.parametrize("margin", [None, 0.5])
def test_lmnn_is_its_problem_on_the_triplets(margin):
    model = kl.KernelLMNN("linear", tol=1e-4, smoothing=1e-3, mu=0.7)
    model.fit(X, constraints=Triplets(TRIPLETS, margin=margin))
    n = len(X)
    unit = np.sum((X[:, None] - X) ** 2) / (n * (n - 1))
    value, _ = oracle.lmnn_triplets(
        oracle.scaled(X), TRIPLETS, 0.7, 0.01, 1.0 if margin is None else margin / unit
    )
    rounded = 0.7 * 1e-3 / 2  # what the rounding of the hinge takes at most
    assert value - rounded - 1e-9 <= model.objective_ <= value * (1 + 1e-3)
    assert model.objective_ - model.gap_ <= value


@pytest.mark.parametrize("name", ["pairs", "triplets"])
def test_gradients(name, rng):
    U, V = rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    criterion = {
        "pairs": ClusteringPairs(U, V, 0.1),
        "triplets": RelativeDistances(U, V, np.ones(20), 0.5, 0.1, 0.1),
    }[name]
    L, direction = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    value, gradient = criterion.evaluate(L)
    steps = 10.0 ** np.array([-2.0, -2.5, -3.0])
    rest = [
        abs(criterion.evaluate(L + h * direction)[0] - value - h * np.sum(gradient * direction))
        for h in steps
    ]
    assert np.polyfit(np.log(steps), np.log(rest), 1)[0] == pytest.approx(2, abs=0.1)
    whole, G = criterion.complete(L)
    assert whole == pytest.approx(value)
    np.testing.assert_allclose(2 * G @ L, gradient, atol=1e-12)


@pytest.mark.parametrize("learner", [kl.KernelMMC(), kl.KernelRCA(), kl.KernelLMNN()], ids=repr)
def test_pairs_classifier_takes_them(learner):
    pairs = ALL[FEW]
    model = kl.PairClassifier(learner, cv=3).fit(X, pairs, SAME[FEW])
    rest = np.setdiff1d(np.arange(len(ALL)), FEW)
    score = model.score(X[ALL[rest, 0]], X[ALL[rest, 1]], SAME[rest])
    assert score > np.mean(~SAME[rest]) + 0.05


@pytest.mark.parametrize(
    ("model", "constraints", "match"),
    [
        (kl.KernelMMC(), Pairs(SIMILAR), "no dissimilar pairs"),
        (kl.KernelMMC(), Pairs(None, DISSIMILAR), "no similar pairs"),
        (kl.KernelMMC(), Triplets(TRIPLETS), "learns from Pairs"),
        (kl.KernelMMC(), Similarities(SIMILAR, DISSIMILAR), "learns from Pairs"),
        (kl.KernelMMC(), Pairs(SIMILAR, DISSIMILAR, similar_max=1.0), "no bounds on single"),
        (kl.KernelMMC(), np.zeros(30, dtype=int), "no chunklets beside the first"),
        (kl.KernelMMC(), np.arange(30), "no rows of one chunklet"),
        (kl.KernelRCA(), np.arange(30), "no rows of one chunklet that differ"),
        (kl.KernelRCA(), np.full(30, -1), "no rows of one chunklet that differ"),
        (kl.KernelRCA(), np.zeros(9, dtype=int), "for each of the 30 rows"),
        (kl.KernelRCA(), Pairs(SIMILAR + 20, DISSIMILAR), "X has 30 rows"),
        (kl.KernelRCA(), Pairs(X[SIMILAR], X[DISSIMILAR]), "by the indices"),
        (kl.KernelLMNN(), Pairs(SIMILAR, DISSIMILAR), "learns from Triplets"),
    ],
)
def test_what_is_refused(model, constraints, match):
    with pytest.raises(ValueError, match=match):
        model.fit(X, constraints=constraints)
    with pytest.raises(ValueError, match="Both y and constraints"):
        model.fit(X, y, constraints=constraints)
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X)
