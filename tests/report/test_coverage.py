"""Coverage on held-out rows and rows unlike all others, worked out the slow way."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("skrub")

from kernel_learn import KernelDiscriminant
from kernel_learn.fitting.uncertainty import make_reference
from kernel_learn.kernels import Gaussian
from kernel_learn.report.coverage import (
    coverage_line,
    find_unlike,
    held_out_coverage,
    held_out_sets,
    left_out_novelty,
    new_coverage,
)

rng = np.random.default_rng(0)


def probabilities(n=400, k=3, sharp=1.0):
    """Held-out probabilities, and labels drawn from them."""
    L = sharp * rng.normal(size=(n, k))
    P = np.exp(L) / np.exp(L).sum(axis=1, keepdims=True)
    return P, np.array([rng.choice(k, p=p) for p in P])


def test_a_row_does_not_help_to_make_its_own_set():
    P, labels = probabilities(60)
    sets = held_out_sets(P, labels, None, 0.8)
    for i in range(10):
        others = labels.copy()
        others[i] = (labels[i] + 1) % 3
        np.testing.assert_array_equal(held_out_sets(P, others, None, 0.8)[i], sets[i])


def test_sets_of_groups_are_made_by_other_groups():
    P, labels = probabilities(60)
    groups = np.repeat(np.arange(20), 3)
    sets = held_out_sets(P, labels, groups, 0.8)
    other = labels.copy()
    other[:3] = (labels[:3] + 1) % 3
    np.testing.assert_array_equal(held_out_sets(P, other, groups, 0.8)[:3], sets[:3])


def test_coverage_is_what_was_asked_for():
    P, labels = probabilities(2000)
    for line in held_out_coverage(P, labels, None):
        assert line["low"] - 0.01 <= line["asked"] <= line["high"] + 0.01 or line["size"] < 1.05
        assert 1 <= line["size"] <= 3
    sizes = [line["size"] for line in held_out_coverage(P, labels, None)]
    assert sizes == sorted(sizes)


def test_what_so_few_rows_cannot_tell_is_left_out():
    P, labels = probabilities(30)
    assert [line["asked"] for line in held_out_coverage(P, labels, None)] == [
        *(0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    ]


def test_a_line_by_hand():
    labels = np.repeat([0, 1], [30, 10])
    sets = np.zeros((40, 2), dtype=bool)
    sets[:, 0] = True
    sets[30:34, 1] = True
    line = coverage_line(0.9, sets, labels)
    assert (line["covered"], line["size"], line["single"]) == (34 / 40, 1.1, 0.9)
    assert (line["worst"], line["worst_covered"]) == (0, 1.0)  # the other has too few rows
    assert line["low"] < 34 / 40 < line["high"]


def test_novelty_of_rows_that_were_seen_is_that_without_them():
    """p = (1 + how many of the others are as unusual) / (1 + n), by a double loop."""
    X = np.vstack([rng.normal(size=(40, 2)), [[9.0, 9.0]]])
    reference = make_reference(Gaussian(), X, np.ones(41))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z = np.where(np.abs(Z) > 3, np.sign(Z) * 3 * (1 + np.log(np.maximum(np.abs(Z), 3) / 3)), Z)
    v = []
    for i in range(41):
        rest = np.delete(np.arange(41), i)
        kernel = reference.resolved
        K, lam = kernel(Z[rest]), 0.01
        A = np.linalg.inv(K + lam * np.eye(40))
        u = A.sum(axis=1)
        k = kernel(Z[[i]], Z[rest])[0]
        v.append(1.0 - k @ A @ k + (1 - k @ u) ** 2 / u.sum())
    v = np.array(v)
    expected = [(1 + np.sum(np.delete(v, i) >= v[i] * (1 - 1e-9))) / 42 for i in range(41)]
    np.testing.assert_allclose(left_out_novelty(reference, X), expected, atol=1e-9)
    new = rng.normal(size=(5, 2)) + 0.5
    np.testing.assert_allclose(left_out_novelty(reference, new), reference.p_values(new))


def test_the_row_that_is_like_no_other_is_named():
    X = np.vstack([rng.normal(size=(120, 2)), [[40.0, -40.0]]])
    y = np.append(np.arange(120) % 2, 1)
    X[:120, 0] += 2 * y[:120]
    model = KernelDiscriminant(kernel=Gaussian(), reg=1e-2).fit(X, y)
    wrapped = SimpleNamespace(estimator_=model)
    P = model.predict_proba(X)
    found = find_unlike(wrapped, X, P, y, P > 0.1, P.argmax(axis=1))
    assert found["rows"][0]["row"] == 120 and found["count"] <= 3 and found["of"] == 121
    lines = new_coverage(wrapped, P, y)
    for line in lines:
        inside = model.predict_set(X, line["asked"])[np.arange(121), y]
        assert line["covered"] == pytest.approx(inside.mean())
    assert find_unlike(SimpleNamespace(estimator_=object()), X, P, y, P > 0.1, y) is None
