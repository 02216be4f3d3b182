"""Leave-one-out against refits without the row, the rows of a group, or some of the rows."""

import numpy as np
import pytest

from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.model_selection import leave_groups_out, leave_one_out, search_leave_one_out
from kernel_learn.model_selection.leave_one_out import LeaveOneOutPath
from kernel_learn.representations import ArraySource, GramForm, plan_source, represent

RNG = np.random.default_rng(0)
X = RNG.normal(size=(36, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=36) > 0).astype(int) + (X[:, 1] > 0.8)
T = np.eye(3)[Y]
KERNELS = [Gaussian(0.2), Linear(), Gaussian(2.0)]
THETA = np.array([0.7, 0.0, 1.6])
LAMS = [0.03, 0.5, 4.0]


def ridge(K, T, weight, lam, K_new):
    """min sum s_i |t_i - f(x_i)|^2 + lam |f|^2 with an intercept, and its values on new rows."""
    n = len(K)
    S = np.diag(weight)
    system = np.block([[S @ K + lam * np.eye(n), weight[:, None]], [weight @ K, weight.sum()]])
    right = np.vstack([S @ T, weight @ T])
    solution = np.linalg.solve(system, right)
    return K_new @ solution[:-1] + solution[-1]


def refits(K, weight, lam, groups):
    scores = np.empty(T.shape)
    for group in np.unique(groups):
        out = groups == group
        inside = ~out
        scores[out] = ridge(
            K[np.ix_(inside, inside)], T[inside], weight[inside], lam, K[np.ix_(out, inside)]
        )
    return scores


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bank", [False, True])
def test_scores_and_errors_are_those_of_refits(weighted, bank):
    weight = 1.0 + np.arange(36) % 3 if weighted else np.ones(36)
    kernels, theta = (KERNELS, THETA) if bank else (KERNELS[:1], np.ones(1))
    K = sum(w * kernel(X) for w, kernel in zip(theta, kernels, strict=True))
    sample = GramForm(kernels, X, T, weight).at(theta)
    path = leave_one_out(sample, LAMS, keep_scores=True)
    for lam, scores, error in zip(LAMS, path.scores, path.errors, strict=True):
        expected = refits(K, weight, lam, np.arange(36))
        np.testing.assert_allclose(scores, expected, atol=1e-9)
        squared = weight @ np.sum((T - expected) ** 2, axis=1) / weight.sum()
        assert error == pytest.approx(squared, rel=1e-8)
    assert sample.is_decomposed  # the fit that follows decomposes nothing again


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_left_out_together(weighted):
    weight = 1.0 + np.arange(36) % 3 if weighted else np.ones(36)
    groups = np.arange(36) // 4
    sample = GramForm(KERNELS, X, T, weight).at(THETA)
    K = sum(w * kernel(X) for w, kernel in zip(THETA, KERNELS, strict=True))
    scores = leave_groups_out(sample, 0.3, groups)
    np.testing.assert_allclose(scores, refits(K, weight, 0.3, groups), atol=1e-9)
    singles = leave_groups_out(sample, 0.3, np.arange(36))
    path = leave_one_out(sample, [0.3], keep_scores=True)
    np.testing.assert_allclose(singles, path.scores[0], atol=1e-10)
    assert np.abs(singles - scores).max() > 1e-3
    with pytest.raises(ValueError, match="one per row"):
        leave_groups_out(sample, 0.3, groups[:5])


def test_landmark_rows_are_exact_with_the_moments_of_all_rows():
    """Every row a landmark: the errors of some rows are those of the exact sample."""
    source = ArraySource(X, Y, n_classes=3)
    plan = plan_source(KERNELS[:1], source, len(X))
    form = represent(KERNELS[:1], source, plan, len(X))
    sample = form.at(np.ones(1))
    exact = leave_one_out(GramForm(KERNELS[:1], X, T).at(np.ones(1)), LAMS, keep_scores=True)
    path = leave_one_out(sample, LAMS, at_most=10, keep_scores=True)
    rows = source.summary.rows[:10]
    np.testing.assert_allclose(path.scores, exact.scores[:, rows], atol=1e-8)
    errors = np.mean(np.sum((T[rows] - exact.scores[:, rows]) ** 2, axis=2), axis=1)
    np.testing.assert_allclose(path.errors, errors, rtol=1e-7)


def test_some_rows_stand_for_all_and_landmarks_for_none():
    """Landmarks are outlying rows: those judged are the others, where not all are judged."""
    source = ArraySource(X, Y, n_classes=3)
    form = represent(KERNELS[:1], source, plan_source(KERNELS[:1], source, 8), 8, random_state=0)
    landmarks = {tuple(row) for row in form.features.landmarks}

    def judged(at_most):
        return [tuple(row) for rows, _, _ in form.merged_blocks(at_most) for row in rows]

    by_key = [tuple(row) for row in X[source.summary.rows]]
    others = [row for row in by_key if row not in landmarks]
    assert judged(10) == others[:10] and by_key[:10] != others[:10]
    assert judged(36) == judged(50) == by_key
    assert judged(34) == others  # all that there are


@pytest.mark.parametrize("weighted", [False, True])
def test_search_finds_what_the_whole_path_finds(weighted):
    weight = 1.0 + np.arange(36) % 3 if weighted else np.ones(36)
    order = RNG.permutation(36)
    form = GramForm(KERNELS[:1], X, T, weight, order=order)
    lams = list(np.geomspace(1e-3, 1e3, 13))
    whole = leave_one_out(form.at(np.ones(1)), lams, keep_scores=True)
    sample = form.at(np.ones(1))
    residuals, leverage, share = sample.left_out(0.5, 9)
    scores = leave_one_out(form.at(np.ones(1)), [0.5], keep_scores=True).scores[0]
    few = order[:9]
    expected = np.sqrt(weight[few])[:, None] * (T[few] - scores[few])
    np.testing.assert_allclose(residuals, expected, atol=1e-9)
    np.testing.assert_allclose(share, weight[few] / weight.sum())
    assert np.all((leverage > 0) & (leverage < 1))
    found = search_leave_one_out(sample, lams, rows=36, steps=13)
    assert found.lams[found.best] == pytest.approx(whole.lams[whole.best])
    assert len(found.lams) <= 4
    at = np.searchsorted(whole.lams, found.lams * 0.999)
    np.testing.assert_allclose(found.errors, whole.errors[at], rtol=1e-7)
    assert not sample.is_decomposed


def test_search_walks_downhill_from_a_bad_start():
    """The part of the rows says something else than the whole; the walk corrects it."""
    form = GramForm(KERNELS[2:], X, T, order=np.argsort(Y, kind="stable"))
    lams = list(np.geomspace(1e-3, 1e3, 13))
    whole = leave_one_out(form.at(np.ones(1)), lams)
    found = search_leave_one_out(form.at(np.ones(1)), lams, rows=36, steps=13)
    assert found.lams[found.best] == pytest.approx(whole.lams[whole.best])


def test_search_takes_small_and_decomposed_samples():
    form = GramForm(KERNELS[:1], X, T)
    lams = list(np.geomspace(1e-3, 1e3, 13))
    expected = search_leave_one_out(form.at(np.ones(1)), lams, rows=20)
    sample = form.at(np.ones(1))
    assert len(sample.spectrum.w)
    found = search_leave_one_out(sample, lams, rows=20)
    np.testing.assert_array_equal(found.lams, expected.lams)
    small = search_leave_one_out(form.at(np.ones(1)), lams)  # fewer rows than it would look at
    assert small.lams[small.best] in lams


def test_the_strongest_regularisation_among_equals():
    """Whatever the order of the lams, and up to rounding of the errors."""
    errors = np.array([0.5, 0.2, 0.2, 0.2 * (1 + 1e-12), 0.3])
    for order in (np.arange(5), np.arange(5)[::-1], np.array([2, 0, 3, 1, 4])):
        lams = np.array([1e-3, 1e-2, 1e-1, 1.0, 10.0])[order]
        path = LeaveOneOutPath(lams, errors[order], np.zeros(5))
        assert path.lams[path.best] == 1.0
    unsafe = LeaveOneOutPath(np.array([1.0, 3.0, 2.0]), np.full(3, np.inf), np.ones(3))
    assert unsafe.best == 1
