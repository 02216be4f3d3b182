"""The leave-out calculus against refits."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.leave_out import LeaveOut, absolute, inverse_at, squared
from oracles.refits import predict_without, row_values

LAM = 0.3


@pytest.fixture(params=["plain", "weights", "groups", "duplicates"])
def case(request, rng):
    n = 60 if request.param == "plain" else 30
    X = rng.standard_normal((n, 3))
    Y = rng.standard_normal((n, 2))
    weight, groups = np.ones(n), []
    if request.param != "plain":
        weight = rng.uniform(0.3, 3.0, n)
    if request.param == "groups":
        groups = [np.array([0, 5, 9]), np.array([2, 3])]
    if request.param == "duplicates":
        X[10:15] = X[:5]
    X_new = rng.standard_normal((7, 3))
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    K_new = np.exp(-0.3 * ((X_new[:, None] - X) ** 2).sum(axis=2))
    return K, K_new, Y, weight, groups


def made(case):
    K, _, Y, weight, groups = case
    return LeaveOut(K.copy(), Y, weight, LAM, groups)


def test_residuals(case):
    K, _, Y, weight, _ = case
    found = made(case)
    assert found.is_safe and len(np.concatenate(found.units)) == len(K)
    for unit in found.units:
        expected = Y[unit] - predict_without(K, K[unit], Y, weight, LAM, unit)
        np.testing.assert_allclose(found.residuals[unit], expected, atol=1e-10)


@pytest.mark.parametrize("loss", [squared, absolute])
def test_values(case, loss):
    K, _, Y, weight, _ = case
    found = made(case)
    expected = row_values(K, Y, weight, LAM, found.units, loss)
    np.testing.assert_allclose(found.values(loss), expected, rtol=1e-9, atol=1e-10)


def test_values_in_small_blocks(case, monkeypatch):
    whole = made(case).values(squared)
    monkeypatch.setattr("kernel_learn.criteria.held_out.leave_out.BLOCK_NUMBERS", 200)
    np.testing.assert_allclose(made(case).values(squared), whole, rtol=1e-12)


def test_both_ways_without_each_agree(case):
    found = made(case)
    for unit in found.units[len(found.groups) :]:
        np.testing.assert_allclose(
            found.residuals_without_each(unit), found._alone_without_each(unit), atol=1e-12
        )


def test_new_rows_without_each(case):
    K, K_new, Y, weight, _ = case
    found = made(case)
    np.testing.assert_allclose(
        found.pull(K_new) @ Y, predict_without(K, K_new, Y, weight, LAM, []), atol=1e-10
    )
    changes = found.pull(K_new)[:, :, None] * found.alone
    whole = predict_without(K, K_new, Y, weight, LAM, [])
    for j in range(0, len(K), 3):
        expected = whole - predict_without(K, K_new, Y, weight, LAM, [j])
        np.testing.assert_allclose(changes[:, j], expected, atol=1e-10)


def test_a_row_that_decides_about_itself_is_told():
    K = np.eye(4) * 1e8
    assert not LeaveOut(K, np.eye(4)[:, :2], np.ones(4), 1e-3).is_safe


def test_rounding_below_zero_counts_as_zero(rng):
    V = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    G = (V * [1e8, 1.0, 0, 0, 0, -1e-4]) @ V.T
    expected = (V / (np.array([1e8, 1.0, 0, 0, 0, 0]) + 1e-5)) @ V.T
    np.testing.assert_allclose(inverse_at(G, 1e-5), expected, rtol=1e-5, atol=1.0)
