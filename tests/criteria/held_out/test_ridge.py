"""Ridge left out: against refits on repeated rows without the row or the group."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.ridge import (
    LEAST_SLACK,
    RidgePath,
    RidgeSolves,
    dual_of_few,
    ridge_at_lam,
    solve_ridge,
    try_ridge,
    with_all_shares,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.kernels import Gaussian, Linear
from oracles import classifier as oracle
from tolerances import EXACT

REGS = np.array([1e-3, 0.1, 3.0])


@pytest.fixture
def X(rng):
    return rng.standard_normal((14, 3))


def counts_of(kind, rng):
    one_hot = np.eye(3)[np.arange(14) % 3]
    if kind == "ones":
        return one_hot
    counts = one_hot * rng.integers(1, 4, size=(14, 1))
    counts[2] = [1, 2, 0]  # equal rows of two classes
    return counts


GROUPS = [(), (np.array([0, 4, 5]), np.array([2, 9]))]
ways = pytest.mark.parametrize("way", [RidgePath, RidgeSolves])
kinds = pytest.mark.parametrize("kind", ["ones", "weights"])


@kinds
@pytest.mark.parametrize("groups", GROUPS, ids=["rows", "groups"])
def test_without_a_fold_and_each_other_row_is_a_refit(kind, groups, X, rng):
    """Rows of the fold by the others; the others without the fold and without themselves."""
    counts, K, reg = counts_of(kind, rng), Gaussian(0.3)(X), 0.1
    T = Targets(counts, groups)
    folds, lam = stratified_folds(T, 3), reg * oracle.ridge_unit(K, counts)
    together = list(groups)
    together += [[i] for i in range(14) if not any(i in g for g in groups)]
    found = RidgeSolves(K.copy(), T).without_folds(reg, folds)
    for fold, scores in enumerate(found):
        out = np.flatnonzero(folds == fold)
        expected = oracle.ridge_left_out(K, counts, lam, [out])
        for unit in together:
            if not np.isin(unit, out).any():
                sets = [np.union1d(out, unit)]
                expected[unit] = oracle.ridge_left_out(K, counts, lam, sets)[unit]
        np.testing.assert_allclose(scores, expected, atol=1e4 * EXACT)
    assert fold == 2


@ways
@kinds
@pytest.mark.parametrize("groups", GROUPS, ids=["rows", "groups"])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()], ids=repr)
def test_left_out_is_a_refit(way, kind, groups, kernel, X, rng):
    counts, K = counts_of(kind, rng), kernel(X)
    scores, least = way(K.copy(), Targets(counts, groups)).held_out(REGS)
    together = list(groups)
    together += [[i] for i in range(14) if not any(i in g for g in groups)]
    for reg, found in zip(REGS, scores, strict=True):
        lam = reg * oracle.ridge_unit(K, counts)
        expected = oracle.ridge_left_out(K, counts, lam, together)
        np.testing.assert_allclose(found, expected, atol=1e3 * EXACT)
    assert (least > LEAST_SLACK).all() and (np.diff(least) > 0).all()


@kinds
@pytest.mark.parametrize("groups", [(), (np.array([0, 4]), np.array([9, 11, 12]))])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()], ids=repr)
def test_the_last_rows_left_out_are_refits(kind, groups, kernel, X, rng):
    """By the last block of the factor alone: equal to refits, and to all rows left out."""
    counts, K, first = counts_of(kind, rng), kernel(X), 6
    solves = RidgeSolves(K.copy(), Targets(counts, groups))
    scores, least = solves.held_out(REGS, first)
    together = [list(g) for g in groups if g[0] >= first]
    together += [[i] for i in range(first, 14) if not any(i in g for g in groups)]
    for reg, found in zip(REGS, scores, strict=True):
        lam = reg * oracle.ridge_unit(K, counts)
        expected = oracle.ridge_left_out(K, counts, lam, together)[first:]
        np.testing.assert_allclose(found, expected, atol=1e3 * EXACT)
    everything, _ = solves.held_out(REGS)
    np.testing.assert_allclose(everything[:, first:], scores, atol=100 * EXACT)
    assert (least > LEAST_SLACK).all()


def test_folds_left_out_together_are_refits_without_them(rng):
    """A fifth of the rows is a block like any group: no fold is factorised anew."""
    X = rng.standard_normal((40, 3))
    counts = np.eye(2)[rng.integers(0, 2, 40)] * rng.integers(1, 4, size=(40, 1))
    folds = [np.flatnonzero(np.arange(40) % 5 == fold) for fold in range(5)]
    K = Gaussian(0.2)(X)
    for way in (RidgePath, RidgeSolves):
        scores, _ = way(K.copy(), Targets(counts, folds)).held_out(REGS)
        for reg, found in zip(REGS, scores, strict=True):
            lam = reg * oracle.ridge_unit(K, counts)
            expected = oracle.ridge_left_out(K, counts, lam, folds)
            np.testing.assert_allclose(found, expected, atol=1e-9)


def test_solves_hold_one_matrix_and_one_reg_does_not_disturb_the_next(rng):
    n = 700
    X, regs = rng.standard_normal((n, 4)), np.array([1.0, 1e-2])
    targets = Targets(np.eye(2)[np.arange(n) % 2])
    K = Gaussian(0.3)(X)
    alone, _ = RidgeSolves(K.copy(), targets).held_out(regs[1:])
    mine = K.copy()
    tracemalloc.start()
    scores, _ = RidgeSolves(mine, targets).held_out(regs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(scores[1], alone[0])
    assert peak < 0.8 * 8 * n * n  # beside K, which is overwritten: panels of it


def test_regs_are_raised_until_every_row_depends_on_others(X, rng):
    """By the smallest power of ten that helps, though not every one is tried."""
    targets, regs = Targets(counts_of("ones", rng)), np.array([1e-13, 2e-13])
    K = Gaussian(30.0)(X)
    solves = RidgeSolves(K.copy(), targets)
    tried = [10.0**power * regs for power in range(14)]
    safe = [RidgeSolves(K.copy(), targets).held_out(r)[1] >= LEAST_SLACK for r in tried]
    power = next(i for i, own in enumerate(safe) if own.any())
    assert power > 3
    found, scores = solves.held_out_safely(regs)
    np.testing.assert_allclose(found, tried[power][safe[power]])
    np.testing.assert_allclose(scores, solves.held_out(found)[0])
    as_they_are, _ = solves.held_out_safely(REGS)
    np.testing.assert_array_equal(as_they_are, REGS)
    assert RidgeSolves(np.ones((14, 14)), targets).held_out_safely(REGS) is None


def test_a_model_of_rows_in_another_order(X, rng):
    targets, order = Targets(counts_of("weights", rng)), rng.permutation(14)
    K, new = Gaussian(0.3)(X), Gaussian(0.3)(rng.standard_normal((5, 3)), X)
    model = RidgeSolves(K.copy(), targets).dual(0.1)
    other = RidgeSolves(K[np.ix_(order, order)], targets.take(order)).dual(0.1)
    np.testing.assert_allclose(
        other.reordered(order).scores(new), model.scores(new), atol=100 * EXACT
    )


@ways
@kinds
def test_new_rows(way, kind, X, rng):
    counts, K = counts_of(kind, rng), Gaussian(0.3)(X)
    new = Gaussian(0.3)(rng.standard_normal((5, 3)), X)
    ridge = way(K.copy(), Targets(counts))
    for reg in REGS:
        expected = oracle.ridge_scores(K, counts, reg * oracle.ridge_unit(K, counts), new)
        np.testing.assert_allclose(ridge.dual(reg).scores(new), expected, atol=100 * EXACT)
        np.testing.assert_allclose(ridge.dual(reg).coef.sum(axis=0), 0, atol=100 * EXACT)
        (path,) = ridge.new_scores(new, [reg])
        np.testing.assert_allclose(path, expected, atol=100 * EXACT)


def test_groups_change_the_answer_and_equal_a_joint_refit(X, rng):
    targets = Targets(counts_of("ones", rng))
    grouped = Targets(targets.counts, (np.arange(5),))
    alone, _ = RidgePath(Gaussian(0.3)(X), targets).held_out(REGS)
    joint, _ = RidgePath(Gaussian(0.3)(X), grouped).held_out(REGS)
    assert np.abs(alone[:, :5] - joint[:, :5]).max() > 1e-3
    np.testing.assert_allclose(alone[:, 5:], joint[:, 5:])


def test_leverage_near_one_is_reported(X, rng):
    """A kernel that sees every row alone: nothing is known of a row that is left out."""
    targets = Targets(counts_of("ones", rng))
    _, least = RidgePath(Gaussian(1e3)(X), targets).held_out(np.array([1e-9, 1.0]))
    assert least[0] < LEAST_SLACK < least[1]


def test_few_regs_are_solved_one_by_one(X, rng):
    targets = Targets(counts_of("ones", rng))
    assert isinstance(solve_ridge(np.eye(14), targets, 3), RidgeSolves)
    assert isinstance(solve_ridge(np.eye(14), targets, 16), RidgePath)


def test_targets_of_some_rows(rng):
    targets = Targets(counts_of("weights", rng), (np.array([0, 4, 5]), np.array([2, 9])))
    part = targets.take(np.array([9, 5, 1, 0]))
    assert [list(group) for group in part.groups] == [[1, 3]]
    np.testing.assert_array_equal(part.counts, targets.counts[[9, 5, 1, 0]])


@pytest.mark.parametrize("groups", GROUPS, ids=["rows", "groups"])
def test_shares_of_all_rows(groups, X, rng):
    """Strongly regularised scores are the class shares, and do not give the label away."""
    targets = Targets(counts_of("weights", rng), groups)
    scores, _ = RidgePath(Gaussian(0.3)(X), targets).held_out(np.array([1e9]))
    assert np.abs(scores[0] - targets.mean).max() > 0.02
    moved = with_all_shares(scores, targets)[0]
    np.testing.assert_allclose(moved, np.tile(targets.mean, (14, 1)), atol=1e-6)


@kinds
def test_at_an_absolute_lam(kind, X, rng):
    counts, K = counts_of(kind, rng), Gaussian(0.3)(X)
    targets, lam = Targets(counts), 0.7
    held, model = ridge_at_lam(K.copy(), targets, lam)
    alone = [[i] for i in range(14)]
    expected = with_all_shares(oracle.ridge_left_out(K, counts, lam, alone), targets)
    np.testing.assert_allclose(held, expected, atol=1e3 * EXACT)
    new = Gaussian(0.3)(rng.standard_normal((5, 3)), X)
    scores = oracle.ridge_scores(K, counts, lam, new)
    np.testing.assert_allclose(model.scores(new), scores, atol=100 * EXACT)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_rows_that_stand_alone_get_more_of_the_penalty(power, X, rng):
    """The smallest of 10, 100, ... times lam at which each row depends on others."""
    K, targets = Gaussian(3.0)(X), Targets(counts_of("ones", rng))
    solves = RidgeSolves(K.copy(), targets)
    unit = solves.centred.unit
    regs = np.logspace(-9, 1, 400)
    border = regs[np.flatnonzero(solves.held_out(regs)[1] >= LEAST_SLACK)[0]]
    reg = 3.0 * border / 10**power  # times 10^power it is above the border, a tenth of that below
    held, model = ridge_at_lam(K.copy(), targets, reg * unit)
    enough = 10.0**power * reg
    np.testing.assert_allclose(model.coef, solves.dual(enough).coef, rtol=1e-6)
    scores, least = solves.held_out(np.array([enough / 10, enough]))
    assert least[0] < LEAST_SLACK <= least[1]
    np.testing.assert_allclose(held, with_all_shares(scores[1], targets), atol=1e-9)


@pytest.mark.parametrize("lam", [1e-5, np.array([1e-5, 2.0, 0.3])])
def test_few_directions_are_solved_alone(lam, rng):
    X = rng.standard_normal((40, 5)) * [1.0, 1e-3, 3.0, 1.0, 1.0]
    X[:, 4] = X[:, 0] - X[:, 3]  # four directions
    counts = np.eye(3)[np.arange(40) % 3] * rng.integers(1, 4, (40, 1))
    targets, K = Targets(counts), X @ X.T
    model, U = dual_of_few(K.copy(), targets, lam)
    assert U.shape == (40, 4)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
    path = RidgePath(K.copy(), targets)
    due = path.dual(lam / path.centred.unit)
    np.testing.assert_allclose(model.coef, due.coef, atol=1e-8 * np.abs(due.coef).max())
    np.testing.assert_allclose(model.scores(K), due.scores(K), atol=1e-9)
    solves = RidgeSolves(K.copy(), targets)
    solves.held_out(np.array([1e-4, 0.1]))  # which leaves G below the diagonal
    seen = solves.seen_dual(lam / solves.centred.unit)
    np.testing.assert_allclose(seen.coef, model.coef, atol=1e-9 * np.abs(model.coef).max())
    assert np.abs(solves.dual(1e-7).coef).max() > 1e3 * np.abs(path.dual(1e-7).coef).max()
    # primal: (X'SX + lam) beta = X'S(Y - mean), rows less their mean
    w, one_lam = counts.sum(axis=1), np.broadcast_to(lam, 3)
    Z, Y = X - w @ X / w.sum(), targets.Y - targets.mean
    for c in range(3):
        A = Z.T @ (w[:, None] * Z) + one_lam[c] * np.eye(5)
        f = Z @ np.linalg.solve(A, Z.T @ (w * Y[:, c])) + targets.mean[c]
        np.testing.assert_allclose(model.scores(K)[:, c], f, atol=1e-10)


def test_no_end_of_a_spectrum_is_no_few_directions(rng):
    X = rng.standard_normal((40, 2))
    targets = Targets(np.eye(2)[np.arange(40) % 2])
    for K in (Gaussian(0.5)(X), Gaussian(1e-3)(X), Linear()(rng.standard_normal((40, 30)))):
        assert dual_of_few(np.array(K), targets, 0.1) is None
        solves = RidgeSolves(np.array(K), targets)
        np.testing.assert_array_equal(solves.seen_dual(0.1).coef, solves.dual(0.1).coef)


def test_rows_that_look_the_same_get_the_shares(rng):
    targets = Targets(counts_of("weights", rng))
    held, model = ridge_at_lam(np.ones((14, 14)), targets, 0.1)
    assert not model.coef.any()
    np.testing.assert_array_equal(model.intercept, targets.mean)
    np.testing.assert_array_equal(held, np.tile(targets.mean, (14, 1)))
    assert try_ridge(np.ones((14, 14)), targets, 1) is None
    assert try_ridge(np.eye(14), targets, 1) is not None


def in_extended_precision(K, K_cross, Y, reg):
    """Scores of new rows by a Cholesky factorisation in 80 bits, rows of equal weight."""
    n = len(K)
    K, K_cross, Y = (np.asarray(A, dtype=np.longdouble) for A in (K, K_cross, Y))
    m = K.mean(axis=0)
    G = K - m - m[:, None] + m.mean()
    A = G + np.longdouble(reg) * np.trace(G) / n * np.eye(n, dtype=np.longdouble)
    L, B = np.zeros_like(A), Y - Y.mean(axis=0)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    for i in range(n):
        B[i] = (B[i] - L[i, :i] @ B[:i]) / L[i, i]
    for i in reversed(range(n)):
        B[i] = (B[i] - L[i + 1 :, i] @ B[i + 1 :]) / L[i, i]
    return Y.mean(axis=0) + (K_cross - K_cross.mean(axis=1, keepdims=True) - m + m.mean()) @ B


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")
@pytest.mark.parametrize("width", [1.0, 10.0, 100.0])
@pytest.mark.parametrize(("reg", "tol"), [(1e-6, 1e-5), (1e-3, 1e-8)])
def test_scores_of_new_rows_where_kernel_values_are_near_one(width, reg, tol, rng):
    """1'A = 0 but for rounding, which a sum of terms that cancel shows: scores were off by 12."""
    X, X_new = rng.normal(size=(120, 5)), rng.normal(size=(20, 5))
    Y = np.eye(2)[(X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)]
    kernel = Gaussian(1 / (10 * width))
    K, K_cross = kernel(X), kernel(X_new, X)
    exact = in_extended_precision(K, K_cross, Y, reg)
    solves, path = RidgeSolves(K.copy(), Targets(Y)), RidgePath(K.copy(), Targets(Y))
    np.testing.assert_allclose(solves.dual(reg).scores(K_cross), exact, atol=tol)
    np.testing.assert_allclose(
        path.new_scores(K_cross, np.array([reg]))[0], path.dual(reg).scores(K_cross), atol=tol
    )
    np.testing.assert_allclose(path.dual(reg).scores(K_cross), exact, atol=tol)


@pytest.mark.slow
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")
@pytest.mark.parametrize(("width", "tol"), [(1, 1e-6), (3, 2e-4), (10, 2e-5), (30, 2e-5)])
def test_no_direction_that_counts_is_left_out(width, tol, rng):
    """Of 500 rows, width in medians, at the smallest regulariser."""
    X, X_new = rng.normal(size=(500, 5)), rng.normal(size=(50, 5))
    Y = np.eye(2)[(X[:, 0] + 0.3 * rng.normal(size=500) > 0).astype(int)]
    kernel = Gaussian(1 / (2 * (width * np.median(pdist(X))) ** 2))
    K, K_cross = kernel(X), kernel(X_new, X)
    exact, path = in_extended_precision(K, K_cross, Y, 1e-6), RidgePath(K.copy(), Targets(Y))
    np.testing.assert_allclose(path.dual(1e-6).scores(K_cross), exact, atol=tol)
    found = path.new_scores(K_cross, np.array([1e-6]))[0]
    np.testing.assert_allclose(found, exact, atol=tol)
