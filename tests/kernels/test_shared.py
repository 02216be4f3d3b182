"""Kernels of several statistics: against their definition, and from shared statistics."""

import math

import numpy as np
import pytest
from scipy import sparse

from extras import optional
from kernel_learn.kernels import (
    Additive,
    ArcCosine,
    Exponential,
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    Matching,
    PairwiseAnova,
    Polynomial,
    SharedStatistics,
    as_kernel,
    evaluate_shared,
    pairwise,
)
from kernel_learn.testing import check_kernel
from oracles import naive
from tolerances import EXACT, KERNEL

pd = optional("pandas")


def columns(x, y, categorical):
    return [
        float(a == b) if c in categorical else 1 - abs(a - b)
        for c, (a, b) in enumerate(zip(x, y, strict=True))
    ]


def additive(x, y, categorical=()):
    return math.fsum(columns(x, y, categorical)) / len(x)


def pairs(x, y, categorical=()):
    k = columns(x, y, categorical)
    d = len(k)
    total = math.fsum(k[a] * k[b] for a in range(d) for b in range(d) if a != b)
    return total / (d * (d - 1))


def arc_cosine(x, y, bias):
    a, b = naive.linear(x, x) + bias, naive.linear(y, y) + bias
    t = math.acos(min(1.0, max(-1.0, (naive.linear(x, y) + bias) / math.sqrt(a * b))))
    return math.sqrt(a * b) / math.pi * (math.sin(t) + (math.pi - t) * math.cos(t))


def hamming(x, y, gamma, categorical, weight):
    differ = sum(x[c] != y[c] for c in categorical)
    rest = [c for c in range(len(x)) if c not in categorical]
    return math.exp(-gamma * (differ + weight * math.fsum(abs(x[c] - y[c]) for c in rest)))


@pytest.fixture
def X(rng):
    """Within [0, 1]; the first two columns hold few values; a row twice."""
    X = rng.uniform(size=(15, 5))
    X[:, :2] = rng.integers(0, 3, size=(15, 2)) / 2
    X[7] = X[3]
    return X


CASES = [
    (Additive(), additive, {}),
    (Additive(categorical=[0, 1]), additive, {"categorical": (0, 1)}),
    (PairwiseAnova(), pairs, {}),
    (PairwiseAnova(categorical=[1, -5]), pairs, {"categorical": (0, 1)}),
    (PairwiseAnova(categorical="all"), pairs, {"categorical": range(5)}),
    (Matching(), additive, {"categorical": range(5)}),
    (Hamming(0.4), hamming, {"gamma": 0.4, "categorical": range(5), "weight": 0}),
    (Hamming(0.4, [0, 1], 2.0), hamming, {"gamma": 0.4, "categorical": (0, 1), "weight": 2.0}),
    (ArcCosine(0.3), arc_cosine, {"bias": 0.3}),
    (ArcCosine(0.0), arc_cosine, {"bias": 0.0}),
]
every_case = pytest.mark.parametrize(
    "kernel, definition, parameters", CASES, ids=[f"{c[0]!r}" for c in CASES]
)


@every_case
def test_definition(kernel, definition, parameters, X, monkeypatch):
    expected = naive.gram(definition, X, **parameters)
    # sin t + (pi - t) cos t is flat at t = 0, so that acos(1 - eps) costs no digits
    np.testing.assert_allclose(kernel(X), expected, atol=10 * KERNEL)
    np.testing.assert_allclose(kernel(X[:4], X), expected[:4], atol=10 * KERNEL)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), atol=10 * KERNEL)
    monkeypatch.setattr(pairwise, "PANEL_ROWS", 4)
    np.testing.assert_allclose(kernel(X), expected, atol=10 * KERNEL)


@every_case
def test_keeps_its_promises(kernel, definition, parameters, X):
    check_kernel(kernel, X)


@pytest.mark.parametrize("kernel", [ArcCosine(), Hamming(), Hamming("auto", [0])], ids=repr)
def test_rules_keep_their_promises(kernel, X):
    check_kernel(kernel, X)


def test_rules(X):
    assert ArcCosine().resolve(X).bias == pytest.approx(0.1 * np.mean(np.sum(X**2, axis=1)))
    H = [[sum(a != b for a, b in zip(x, y, strict=True)) for y in X] for x in X]
    assert 1 / Hamming().resolve(X).gamma == pytest.approx(np.median(H))
    assert Hamming("auto").resolve(X).gamma == pytest.approx(1 / 5)
    weight = np.array([1, 2, 3] * 5)
    for kernel in (ArcCosine(), Hamming()):
        weighted, repeated = kernel.resolve(X, weight), kernel.resolve(np.repeat(X, weight, axis=0))
        for name, value in weighted.get_params().items():
            assert value == repeated.get_params()[name] or value == pytest.approx(
                repeated.get_params()[name]
            )


@pytest.mark.parametrize(
    "name", ["arc_cosine", "additive", "pairwise_anova", "matching", "hamming"]
)
def test_names(name, X):
    assert as_kernel(name).resolve(X)(X).shape == (15, 15)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.7),
        Laplacian(0.3),
        Exponential(0.9),
        Linear(),
        Polynomial(3, 0.5),
        ArcCosine(0.3),
        Additive(),
        PairwiseAnova(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_shared_statistics_give_the_kernel_itself(kernel, form, X):
    rows = form(X)
    S, cross = SharedStatistics(rows), SharedStatistics(rows[:4], rows)
    for _ in range(2):  # the second time from what is kept
        np.testing.assert_allclose(evaluate_shared(kernel, S), kernel(X), atol=EXACT**0.5)
        np.testing.assert_allclose(evaluate_shared(kernel, cross), kernel(X)[:4], atol=EXACT**0.5)


def test_statistics_are_computed_once(X, monkeypatch):
    calls = []
    original = SharedStatistics._manhattan
    monkeypatch.setattr(
        SharedStatistics, "_manhattan", lambda self: calls.append(1) or original(self)
    )
    S = SharedStatistics(X)
    for kernel in (Laplacian(1.0), Laplacian(0.1), Additive(), PairwiseAnova()):
        evaluate_shared(kernel, S)
    assert len(calls) == 1


def test_distances_of_a_row_to_itself_make_no_row_a_near_one(rng, monkeypatch):
    X = rng.normal(size=(30, 4))
    X[7] = X[3] + 1e-9  # the one pair whose |x|^2 + |y|^2 - 2x'y has lost its digits
    asked, differences = [], pairwise.squared_differences

    def count(X, X_ref, i, j):
        asked.extend(zip(i.tolist(), j.tolist(), strict=True))
        return differences(X, X_ref, i, j)

    monkeypatch.setattr(pairwise, "squared_differences", count)
    D = SharedStatistics(X)["euclidean"]
    assert sorted(asked) == [(3, 7), (7, 3)]
    assert not D.diagonal().any()
    expected = [[math.dist(x, y) for y in X] for x in X]
    np.testing.assert_allclose(D, expected, rtol=EXACT, atol=EXACT)


def test_one_column_has_no_pairs(X):
    """Exactly zero: (1 - D)^2 - (1 - 2 D + D^2) leaves 2e-16, which looked like variance."""
    for rows in (X[:, :1], sparse.csr_matrix(X[:, :1])):
        assert not PairwiseAnova()(rows).any() and not PairwiseAnova().diag(rows).any()


def test_mixed_kernels_share(X):
    S = SharedStatistics(X, None, categorical=[0, 1])
    for kernel in (Additive([0, 1]), PairwiseAnova([0, 1]), Hamming(0.3, [0, 1])):
        np.testing.assert_allclose(evaluate_shared(kernel, S), kernel(X), atol=KERNEL)


def test_median_counts_weights_as_repetitions(X):
    weight = np.array([1, 2, 3] * 5)
    S, repeated = SharedStatistics(X), SharedStatistics(np.repeat(X, weight, axis=0))
    for name in ("sqeuclidean", "manhattan"):
        assert S.median(name, weight) == pytest.approx(repeated.median(name), abs=1e-12)


def test_wide_rows_of_zeros_are_compared_entry_by_entry(rng):
    rows = sparse.random(20, 300, density=0.03, format="csr", random_state=0)
    expected = naive.gram(naive.manhattan, rows.toarray())
    for form in (rows, rows.toarray()):
        np.testing.assert_allclose(SharedStatistics(form)["manhattan"], expected, atol=KERNEL)


def test_rows_of_few_columns_are_compared_with_sparse_ones():
    known = sparse.random(20, 300, density=0.1, format="csr", random_state=0)
    rows = sparse.hstack([known[:, :40], sparse.csr_matrix((20, 260))]).tocsr()
    expected = naive.gram(naive.manhattan, rows.toarray(), known.toarray())
    np.testing.assert_allclose(SharedStatistics(rows, known)["manhattan"], expected, atol=KERNEL)


def test_frames_of_strings_with_missing_entries():
    frame = pd.DataFrame(
        {"colour": ["red", None, "blue", None], "size": [1.0, 2.0, np.nan, 2.0], "u": [0, 0, 1, 1]}
    )
    K = Matching()(frame)
    assert K[1, 3] == pytest.approx(2 / 3) and K[0, 1] == pytest.approx(1 / 3) and K[2, 2] == 1
    np.testing.assert_allclose(K, Additive(categorical="all")(frame))
    np.testing.assert_allclose(Matching()(frame.to_numpy(dtype=object)), K)
    mixed = Hamming(1.0, ["colour", "size"], weight=2.0)
    np.testing.assert_allclose(-np.log(mixed(frame))[0], [0, 2, 4, 4], atol=KERNEL)
    assert np.array_equal(mixed(frame[:2], frame), mixed(frame)[:2])


@pytest.mark.parametrize("kernel", [Matching(), Hamming(0.5), Additive(categorical="all")], ids=str)
def test_equal_numbers_are_one_category(kernel):
    """Of arrays, frames and objects alike."""
    X = np.array([[0.0, 1.0, -0.0], [-0.0, 1.0, 2.0], [0.0, -1.0, 0.0]])
    K = kernel(X + 0.0)
    for form in (X, pd.DataFrame(X), X.astype(object), pd.DataFrame(X, dtype=object)):
        np.testing.assert_array_equal(kernel(form), K)
        np.testing.assert_array_equal(kernel(form, X + 0.0), K)


def test_refusals(X):
    with pytest.raises(ValueError, match=r"columns within \[0, 1\]"):
        Additive()(X + 0.5)
    with pytest.raises(ValueError, match=r"columns within \[0, 1\]"):
        PairwiseAnova()(X, X - 1)
    with pytest.raises(ValueError, match=r"names the columns \['a'\]"):
        Additive(["a"])(X)
    with pytest.raises(ValueError, match="bias must be"):
        ArcCosine(-1.0).resolve(X)
    with pytest.raises(ValueError, match="weight must not be negative"):
        Hamming(weight=-1.0).resolve(X)
    with pytest.raises(ValueError, match="no variance"):
        Hamming("scale").resolve(X)
    with pytest.raises(ValueError, match="X has 4 columns and X_ref has 5"):
        ArcCosine(1.0)(X[:, :4], X)
