"""Machines with squared hinge, each row left out, against refits."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.block_machines import (
    group_scores_without,
    penalty_without,
    scores_without,
)
from kernel_learn.solvers.block_newton import solve_squared_hinges

LAM, C = 0.3, np.array([2.0, 0.7])  # prices of the two sides


def penalty_root(Z, weight, uncorrelated):
    """Eigenvalues, axes and scale of F on rows Z (n, r)."""
    mean = weight @ Z / weight.sum()
    w, U = np.linalg.eigh((Z - mean).T @ ((Z - mean) * weight[:, None]))
    scale = np.sqrt(1 / (w + LAM) if uncorrelated else w / (w + LAM))
    return w, U, scale, mean


def machine(F, counts):
    """One machine on rows that were seen with both signs, counts (n, 2)."""
    rows = np.vstack([F, F])
    signs = np.repeat([1.0, -1.0], len(F))[:, None]
    prices = (counts * C).T.reshape(-1)
    blocks = [(rows[prices > 0], signs[prices > 0], prices[prices > 0])]
    return solve_squared_hinges(lambda: blocks, F.shape[1], 1, tol=1e-13)


@pytest.mark.parametrize("uncorrelated", [True, False])
def test_scores_are_those_of_refits(uncorrelated):
    rng = np.random.default_rng(0)
    n, r = 60, 5
    Z = rng.normal(size=(n, r))
    y = Z[:, 0] + 0.8 * rng.normal(size=n) > 0
    counts = np.stack([y, ~y], axis=1).astype(float)
    counts[:20] *= 2.0
    counts[:6] += 1.0  # seen with both
    weight = counts.sum(axis=1)
    w, U, scale, mean = penalty_root(Z, weight, uncorrelated)
    F = (Z - mean) @ U * scale
    found = machine(F, counts)
    without = penalty_without(F, weight, weight.sum(), w, LAM, uncorrelated)
    prices = (counts * C)[:, None, :]
    scores = scores_without(F, prices, found.point, found.factors, without)[:, 0]
    refits, moved = [], []
    for i in range(n):
        left = np.arange(n) != i
        _, U_i, scale_i, mean_i = penalty_root(Z[left], weight[left], uncorrelated)
        F_i = (Z - mean_i) @ U_i * scale_i
        other = machine(F_i[left], counts[left]).point[:, 0]
        own = F_i @ other[:-1] + other[-1]
        refits.append(own[i])
        was = F @ found.point[:-1, 0] + found.point[-1, 0]
        sides = [(np.sign(1 - s * own) != np.sign(1 - s * was))[left] for s in (1, -1)]
        moved.append(np.any(counts[left].T[[0, 1]] * np.array(sides) > 0))
    refits, moved = np.array(refits), np.array(moved)
    assert 10 < np.sum(~moved) < n
    np.testing.assert_allclose(scores[~moved], refits[~moved], atol=1e-8)
    np.testing.assert_allclose(scores, refits, atol=0.1)
    trained = F @ found.point[:-1, 0] + found.point[-1, 0]
    assert np.abs(scores - refits).mean() < 0.1 * np.abs(trained - refits).mean()


@pytest.mark.parametrize("uncorrelated", [True, False])
@pytest.mark.parametrize("size", [1, 3])
def test_groups_are_left_out_as_a_whole(uncorrelated, size):
    """Exactly where no other row changes its side, nearly elsewhere; rows with weights."""
    rng = np.random.default_rng(1)
    n, r = 90, 4
    Z = rng.normal(size=(n, r))
    y = Z[:, 0] + 0.8 * rng.normal(size=n) > 0
    counts = np.stack([y, ~y], axis=1) * rng.uniform(0.05, 0.2, size=(n, 1)) * 20**uncorrelated
    counts[::5] += 0.02  # seen with both
    weight = counts.sum(axis=1)
    w, U, scale, mean = penalty_root(Z, weight, uncorrelated)
    F = (Z - mean) @ U * scale
    found = machine(F, counts)
    was = F @ found.point[:-1, 0] + found.point[-1, 0]
    off, kept = [], 0
    for start in range(0, n, size):
        own = np.arange(start, start + size)
        left = np.setdiff1d(np.arange(n), own)
        scores = group_scores_without(
            F[own],
            weight[own],
            (counts[own] * C)[:, None, :],
            found.point,
            found.factors,
            float(weight.sum()),
            w,
            LAM,
            uncorrelated,
        )[:, 0]
        _, U_g, scale_g, mean_g = penalty_root(Z[left], weight[left], uncorrelated)
        F_g = (Z - mean_g) @ U_g * scale_g
        other = machine(F_g[left], counts[left]).point[:, 0]
        said = F_g @ other[:-1] + other[-1]
        sides = [(np.sign(1 - s * said) != np.sign(1 - s * was))[left] for s in (1, -1)]
        off.append(np.abs(scores - said[own]).max())
        if not np.any(counts[left].T * np.array(sides) > 0):
            kept += 1
            np.testing.assert_allclose(scores, said[own], atol=1e-8)
    assert 3 < kept <= n // size and max(off) < 0.2
