"""Groups left out together, exactly, against refits without them."""

from importlib import import_module

import numpy as np
import pytest

from kernel_learn.criteria.held_out.loo_weights import LeaveOneOut, learn_bank_weights
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.pls_loo import pls_loo_scores
from kernel_learn.criteria.value_targets import ValueTargets
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.model_selection.leave_one_out import (
    held_out_scores,
    leave_one_out,
    search_leave_one_out,
)
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.represent import plan_source, represent
from kernel_learn.representations.sources import ArraySource

RNG = np.random.default_rng(0)
N = 36
X = RNG.normal(size=(N, 3))
X[7] = X[2]  # equal rows, of two groups
X[9] = X[8]  # and of one
LABELS = RNG.integers(0, 3, N)
GROUPS = RNG.permutation(np.repeat(np.arange(12), 3))
GROUPS[7], GROUPS[2] = 0, 1
GROUPS[9] = GROUPS[8]
WEIGHT = RNG.uniform(0.5, 2.0, N)
KERNELS = [Gaussian(0.3), Linear()]
THETA = np.array([0.7, 0.2])
LAM = 0.4


def kernel_matrix(A, B):
    d = ((A[:, None] - B[None]) ** 2).sum(-1)
    return THETA[0] * np.exp(-0.3 * d) + THETA[1] * A @ B.T


def ridge(K, Y, w, lam):
    """(a, b) by the bordered system."""
    n = len(K)
    A = np.block([[K + lam * np.diag(1 / w), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return found[:n], found[n]


def refits(lam, features=None):
    """What a ridge regression without its group says of every row, and the mean of all."""
    Y, said = np.eye(3)[LABELS], np.empty((N, 3))
    Z = None if features is None else features(X)
    K = kernel_matrix(X, X) if Z is None else Z @ Z.T
    for g in np.unique(GROUPS):
        inside, out = np.flatnonzero(g != GROUPS), np.flatnonzero(g == GROUPS)
        a, b = ridge(K[np.ix_(inside, inside)], Y[inside], WEIGHT[inside], lam)
        said[out] = K[np.ix_(out, inside)] @ a + b
    return said


def sample_of(landmarks="all"):
    source = ArraySource(X, LABELS, WEIGHT, n_classes=3, groups=GROUPS)
    plan = plan_source(KERNELS, source, landmarks, None, Needs(exact=2.0))
    return represent(KERNELS, source, plan, landmarks).at(THETA), source


def moved(said):
    """As new rows would see it: to the class shares of all rows."""
    Y, found = np.eye(3)[LABELS], said.copy()
    mean = WEIGHT @ Y / WEIGHT.sum()
    for g in np.unique(GROUPS):
        rest, own = g != GROUPS, g == GROUPS
        found[own] += mean - WEIGHT[rest] @ Y[rest] / WEIGHT[rest].sum()
    return found


def in_sample(sample, held, said):
    """The refits at the rows of the sample, in the order of its held-out scores."""
    for row, count in zip(held.scores, held.counts, strict=True):
        near = np.abs(said - row).max(axis=1).argmin()
        np.testing.assert_allclose(row, said[near], atol=1e-9)
        assert count[LABELS[near]] > 0


@pytest.mark.parametrize("form", ["decomposed", "factorised", "few", "landmarks", "few landmarks"])
def test_scores_are_those_of_refits(form, monkeypatch):
    sample, source = sample_of(X[:9] + 0.1 if "landmarks" in form else "all")
    if form == "decomposed":
        _ = sample.spectrum
    if form == "few":
        module = import_module("kernel_learn.model_selection.leave_one_out")
        monkeypatch.setattr(module, "SEARCH_ROWS", 14)
    held = held_out_scores(sample, LAM, 14 if form == "few landmarks" else None)
    assert source.n_distinct == N - 1  # equal rows of two groups are two
    whole = "few" not in form
    assert len(held.scores) == (N - 1 if whole else len(held.scores)) >= 14
    assert whole or len(held.scores) < 20
    in_sample(sample, held, moved(refits(LAM, getattr(sample, "see", None))))
    assert all(len(g) > 1 for g in held.groups) and held.is_safe


@pytest.mark.parametrize("landmarks", ["all", 9])
def test_errors_along_the_path(landmarks):
    sample, _ = sample_of(X[:9] + 0.1 if landmarks == 9 else "all")
    lams = [0.05, 0.4, 3.0]
    path = leave_one_out(sample, lams)
    Y = np.eye(3)[LABELS]
    Y[[8, 9]] = WEIGHT[[8, 9]] @ Y[[8, 9]] / WEIGHT[[8, 9]].sum()  # one row, of the mean label
    expected = [
        WEIGHT @ ((Y - refits(lam, getattr(sample, "see", None))) ** 2).sum(1) / WEIGHT.sum()
        for lam in lams
    ]
    np.testing.assert_allclose(path.errors, expected, rtol=1e-9)
    if landmarks == "all":
        found = search_leave_one_out(sample_of()[0], lams, rows=N, steps=9)
        at = [lams.index(lam) for lam in found.lams]
        np.testing.assert_allclose(found.errors, np.array(expected)[at], rtol=1e-9)


def test_weights_of_kernels():
    """The error that weights are learned by, and its derivative."""
    source = ArraySource(X, LABELS, WEIGHT, n_classes=3, groups=GROUPS)
    plan = plan_source(KERNELS, source, "all", None, Needs(exact=2.0))
    form = represent(KERNELS, source, plan, "all")
    error = LeaveOneOut(form, form.targets)
    d = np.array([0.3, 0.7])
    value, by_d, by_lam = error(d, LAM)
    path = leave_one_out(form.at(form.theta_at(d)), [LAM])
    np.testing.assert_allclose(value, path.errors[0], rtol=1e-9)
    step = 1e-6
    for i in range(2):
        up, down = d + step * np.eye(2)[i], d - step * np.eye(2)[i]
        slope = (error(up, LAM)[0] - error(down, LAM)[0]) / (2 * step)
        np.testing.assert_allclose(by_d[i], slope, rtol=1e-6)
    slope = (error(d, LAM + step)[0] - error(d, LAM - step)[0]) / (2 * step)
    np.testing.assert_allclose(by_lam, slope, rtol=1e-6)
    alone = represent(KERNELS, ArraySource(X, LABELS, WEIGHT, n_classes=3), plan, "all")
    assert np.abs(learn_bank_weights(form)[0] - learn_bank_weights(alone)[0]).max() > 1e-4


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_partial_least_squares(kind):
    units = tuple(np.flatnonzero(g == GROUPS) for g in range(12))
    K = kernel_matrix(X, X)
    if kind == "classes":
        targets = Targets(WEIGHT[:, None] * np.eye(3)[LABELS], units)
    else:
        Y = np.random.default_rng(1).normal(size=(N, 2))
        targets = ValueTargets(WEIGHT[:, None] * Y, units, row_weight=WEIGHT)
    scores = pls_loo_scores(K, targets, 3)
    for own in units:
        inside = np.setdiff1d(np.arange(N), own)
        for i in own:  # a fit without the group, and with one of its rows as if that were alone
            rows = np.append(inside, i)
            part = pls_loo_scores(K[np.ix_(rows, rows)], targets.take(rows), 3)[:, -1]
            np.testing.assert_allclose(scores[:, i], part, atol=1e-9)
