"""Variances of rows, left out and new, against the bordered system solved anew."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.fading import (
    Fading,
    bounded_fading,
    far_factor,
    usual_nearby,
    usual_share,
)
from kernel_learn.criteria.held_out.novelty import Variance, log_tails, novelty_p_values

rng = np.random.default_rng(0)
A = rng.normal(size=(25, 3))
T = rng.normal(size=(7, 3)) * 3
w = rng.uniform(0.5, 3, 25)


def kernel(X, Z):
    return np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(-1)) + 0.2 * X @ Z.T


def naive(rows, weight, lam, x):
    """k(x, x) - [k, 1] Q [k; 1] by the bordered matrix itself."""
    m = len(rows)
    M = np.ones((m + 1, m + 1))
    M[:m, :m] = kernel(rows, rows) + np.diag(lam / weight)
    M[m, m] = 0
    k = np.append(kernel(x[None], rows)[0], 1.0)
    return kernel(x[None], x[None])[0, 0] - k @ np.linalg.solve(M, k)


def test_new_rows():
    v = Variance(kernel(A, A), w, 0.05)(kernel(T, A), np.diag(kernel(T, T)))
    np.testing.assert_allclose(v, [naive(A, w, 0.05, x) for x in T], rtol=1e-9)


@pytest.mark.parametrize("groups", [(), (np.array([0, 3, 8]), np.array([1, 2]))])
def test_rows_left_out(groups):
    """With their group: the variance that a fit of the others gives them."""
    v = Variance(kernel(A, A), w, 0.05, groups).left_out
    own = {int(i): set(map(int, group)) for group in groups for i in group}
    for i in range(len(A)):
        rest = [j for j in range(len(A)) if j not in own.get(i, {i})]
        assert v[i] == pytest.approx(naive(A[rest], w[rest], 0.05, A[i]), rel=1e-9)


def test_p_values_count_rows_at_least_as_unusual():
    left_out, mass = np.array([0.1, 0.2, 0.2, 0.5]), np.ones(4)
    p = novelty_p_values(np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 9.0]), left_out, mass)
    np.testing.assert_allclose(p, np.array([5, 5, 4, 4, 2, 2, 1]) / 5)
    shared = novelty_p_values(np.array([0.15]), left_out, np.array([1.0, 0.5, 0.5, 1.0]))
    assert shared[0] == pytest.approx((1 + 2) / (1 + 3))


def test_fading_is_one_factor_that_changes_nothing_among_the_training_rows():
    L = rng.normal(size=(50, 3))
    fading = Fading(np.zeros(3), np.log(50 * 1000.0))
    near, far = fading(L, np.full(50, 1.0)), fading(L, np.full(50, 100.0))
    np.testing.assert_allclose(near, L, atol=1e-3)
    assert np.abs(far).max() < 1e-4 * np.abs(L).max()
    s = fading.factor(L, np.full(50, 1.5))
    np.testing.assert_allclose(far_factor(np.array([1.0, 1.15, 1.3])), [1, 1 / 2, 1 / 17])
    assert (s > 0).all() and (s <= 1).all()
    np.testing.assert_allclose(fading(L, np.full(50, 1.5)), s[:, None] * L)


def test_far_away_the_class_shares_are_left():
    shares = np.array([0.7, 0.2, 0.1])
    fading = Fading(np.log(shares) - np.log(shares).mean(), 10.0)
    L = fading(np.array([[900.0, -300.0, -600.0]]), np.array([300.0]))[0]
    np.testing.assert_allclose(np.exp(L) / np.exp(L).sum(), shares, atol=0.01)


def test_no_class_is_surer_than_its_rows_allow():
    """Two rows of a thousand: nothing is rarer than one in 50,000."""
    fading = bounded_fading(np.array([0.998, 0.002]), 1000.0)
    L = np.array([[400.0, -400.0], [-400.0, 400.0], [70.0, -70.0]])
    D = fading(L)
    p = 1 / (1 + np.exp(-np.abs(D[:, 0] - D[:, 1])))
    assert (1 - p).min() > 1 / (50 * 1000) / 1.01
    assert ((D[:, 0] > D[:, 1]) == (L[:, 0] > L[:, 1])).all()


def test_a_row_unlike_all_others_does_not_make_everything_usual():
    left_out = np.append(np.linspace(0.7, 0.9, 99), 0.01)
    assert usual_share(left_out) > 0.3
    assert usual_share(left_out[:-1]) == pytest.approx(0.7 * 99 / 104)
    assert usual_share(np.array([0.9, 0.0])) == 1e-3  # all that is far away fades


def test_near_a_row_unlike_all_others_nothing_is_unusual():
    usual = usual_nearby(0.6, np.array([[1.0, 0.0], [0.2, 0.0], [1e-3, 0.01], [0.0, 0.0]]))
    np.testing.assert_allclose(usual[[0, 1, 3]], [0.0, 0.0, 0.6])
    assert usual[2] == pytest.approx(0.6 * (1 - 1.25 * 0.01**0.125))
    np.testing.assert_allclose(usual_nearby(0.6, np.empty((3, 0))), 0.6)


def test_the_variance_far_away():
    v = Variance(np.exp(-((A[:, None] - A[None]) ** 2).sum(-1)), w, 0.05)
    np.testing.assert_allclose(v(np.zeros((1, 25)), np.ones(1)), v.far(np.ones(1)), rtol=1e-12)


def test_tails_grow_by_their_logarithm():
    Z = np.array([-1e300, -30.0, -3.0, -1.0, 0.0, 2.5, 3.0 + 1e-9, 3 * np.e])
    expected = [-3 - 3 * np.log(1e300 / 3), -3 - 3 * np.log(10), -3, -1, 0, 2.5, 3.0 + 1e-9, 6]
    np.testing.assert_allclose(log_tails(Z.copy()), expected, rtol=1e-12)
