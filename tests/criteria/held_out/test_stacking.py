"""Probabilities from held-out scores, and weights by standard errors."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

from kernel_learn.criteria.held_out.ensemble_weights import ensemble_weights, mean_and_error
from kernel_learn.criteria.held_out.stacking import (
    FACTORS,
    SHRINKAGES,
    TEMPERATURES,
    LinearMap,
    Stacking,
    best_stacking,
    discriminant_directions,
    fit_centroids,
    fit_discriminants,
    fit_map,
    fit_stacking,
    fit_temperature,
    log_loss_path,
    log_losses,
    mend_log_odds,
    rank_scores,
    softmax,
)
from kernel_learn.criteria.held_out.targets import Targets
from oracles import classifier as oracle
from tolerances import EXACT


@pytest.fixture
def counts(rng):
    """Weights from one to three, one row of two classes."""
    counts = np.eye(3)[np.arange(20) % 3] * rng.integers(1, 4, size=(20, 1))
    counts[4] = [0, 2, 1]
    return counts


@pytest.fixture
def scores(counts, rng):
    return counts / counts.sum(axis=1, keepdims=True) + 0.6 * rng.standard_normal((20, 3))


def test_discriminants_count_weights_as_repetitions(scores, counts, rng):
    new = rng.standard_normal((6, 3))
    for g, found in zip(SHRINKAGES, fit_discriminants(scores, counts), strict=True):
        expected = oracle.discriminant_logits(scores, counts, g, new)
        np.testing.assert_allclose(found(new), expected, atol=1e3 * EXACT)


def test_scores_that_sum_to_one_and_classes_without_rows(counts, rng):
    S = rng.dirichlet(np.ones(3), size=20) + counts / counts.sum(axis=1, keepdims=True)
    S /= 2
    counts[:, 2] = 0
    counts[counts.sum(axis=1) == 0, 0] = 1
    for g, found in zip(SHRINKAGES, fit_discriminants(S, counts), strict=True):
        assert np.isfinite(found(S)).all()
        expected = oracle.discriminant_logits(S, counts, g, S)
        np.testing.assert_allclose(found(S), expected, atol=1e-6)


def test_stacking_is_cross_fitted(scores, counts):
    folds = np.arange(20) % 5
    targets = Targets(counts)
    found = fit_stacking(scores, targets, folds)
    losses = {}
    for g in SHRINKAGES:
        L = np.empty((20, 3))
        for part in range(5):
            a, b = folds != part, folds == part
            L[b] = oracle.discriminant_logits(scores[a], counts[a], g, scores[b])
        for t in TEMPERATURES:
            losses[g, t] = oracle.log_loss(t * L, counts), t * L
    (g, t), (loss, logits) = min(losses.items(), key=lambda item: item[1][0])
    assert found.loss == pytest.approx(loss, abs=EXACT)
    np.testing.assert_allclose(found.logits, logits, atol=1e3 * EXACT)
    np.testing.assert_allclose(
        found.map(scores), t * oracle.discriminant_logits(scores, counts, g, scores), atol=1e-6
    )
    np.testing.assert_allclose(found.proba().sum(axis=1), 1)


def test_unmasks_a_middle_class(rng):
    """Three classes on a line: linear scores never put the middle one first."""
    x = np.repeat([-1.0, 0.0, 1.0], 40) + 0.1 * rng.standard_normal(120)
    Y = np.eye(3)[np.repeat([0, 1, 2], 40)]
    A = np.stack([np.ones(120), x], axis=1)
    S = A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    found = fit_stacking(S, Targets(Y), np.arange(120) % 5)
    wrong = [np.mean(P.argmax(axis=1) != Y.argmax(axis=1)) for P in (S, found.proba())]
    assert wrong[0] > 0.2 and wrong[1] < 0.02


def test_centroids_are_a_linear_discriminant(rng):
    labels = rng.integers(0, 4, 80)
    F = rng.normal(size=(80, 2)) @ np.diag([1.0, 3.0]) + rng.normal(size=(4, 2))[labels]
    weight = rng.integers(1, 4, 80)
    odds = fit_centroids(F, np.eye(4)[labels] * weight[:, None])(F)
    rows = np.repeat(np.arange(80), weight)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(F[rows], labels[rows])
    np.testing.assert_allclose(softmax(odds), peer.predict_proba(F), atol=1e-4)


def test_losses(scores, counts):
    targets = Targets(counts)
    found = log_loss_path(scores, targets, np.array([0.5, 2.0]))
    expected = [oracle.log_loss(t * scores, counts) for t in (0.5, 2.0)]
    np.testing.assert_allclose(found, expected, atol=EXACT)
    ranked = rank_scores(np.array([scores, np.zeros_like(scores)]), targets)
    assert ranked[0] < ranked[1] == pytest.approx(np.log(3))


def test_ensemble_weights(counts, rng):
    proba = rng.dirichlet(np.ones(3), size=(4, 20))
    proba[0] = 0.5 * proba[0] + 0.5 * counts / counts.sum(axis=1, keepdims=True)
    proba[1] = 0.98 * proba[0] + 0.02 * proba[1]
    found = ensemble_weights(log_losses(proba), Targets(counts))
    np.testing.assert_allclose(found, oracle.weights_by_standard_errors(proba, counts), atol=EXACT)
    assert found.argmax() == 0 and found.sum() == pytest.approx(1)


def test_a_member_twice_shares_its_weight(counts, rng):
    losses = log_losses(rng.dirichlet(np.ones(3), size=(1, 20)))
    np.testing.assert_allclose(ensemble_weights(np.vstack([losses] * 3), Targets(counts)), 1 / 3)


def test_mean_and_error(counts, rng):
    values = rng.uniform(size=(20, 3))
    units = np.array([values[i, c] for i, c in oracle.repeat(counts)])
    expected = units.mean(), units.std() / np.sqrt(len(units))
    assert mean_and_error(values, Targets(counts)) == pytest.approx(expected)


def test_softmax_of_large_logits():
    assert softmax(np.array([[1e4, 0.0], [0.0, 0.0]])).tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_scores_that_speak_against_their_class_are_left_out(rng):
    """Backwards they would predict every row: what leaving out does where there is no signal."""
    y = np.arange(60) % 3
    Y = np.eye(3)[y]
    backwards = 1 / 3 - 0.01 * Y + 0.001 * rng.standard_normal((60, 3))
    found = fit_stacking(backwards, Targets(Y), np.arange(60) // 3 % 5)
    np.testing.assert_allclose(found.proba(), 1 / 3, atol=1e-6)
    half = backwards.copy()
    half[:, 0] = Y[:, 0] + 0.1 * rng.standard_normal(60)
    P = fit_stacking(half, Targets(Y), np.arange(60) // 3 % 5).proba()
    assert P[y == 0, 0].mean() > 0.9 and 0.4 < P[y == 1, 1].mean() < 0.6
    pairs = fit_discriminants(-Y[:, :1], Y, roles=np.array([[-1.0, 1.0, 0.0]]))[0]
    assert np.abs(pairs.coef).max() > 0


def test_temperature_has_the_least_softened_loss(rng):
    """Held-out logits without an error do not ask for certainty; a factor on them is undone."""
    counts = np.eye(3)[np.arange(60) % 3] * rng.integers(1, 3, size=(60, 1))
    targets = Targets(counts)
    noisy = 2.0 * np.eye(3)[np.arange(60) % 3] + rng.normal(size=(60, 3))
    t, loss = fit_temperature(noisy, targets)
    around = log_loss_path(noisy, targets, t * np.array([0.5, 1.0, 2.0]))
    assert loss == pytest.approx(around[1]) and around.argmin() == 1
    assert fit_temperature(1e4 * noisy, targets)[0] == pytest.approx(1e-4 * t, rel=0.3)
    perfect, _ = fit_temperature(np.eye(3)[np.arange(60) % 3], targets)
    chance = 2 / (np.exp(perfect) + 2)  # what is left to the other classes
    expected = 2 / 3 / (targets.total + 1)
    assert expected / 3 < chance < 3 * expected


@pytest.mark.parametrize("k", [2, 4])
def test_temperature_of_scores_without_an_error_is_what_n_rows_can_tell(k):
    """One count in N + 1 goes to chance: softmax(t) of the own class is N/(N+1) + 1/((N+1)k)."""
    n = 20 * k
    counts = np.eye(k)[np.arange(n) % k]
    t, _ = fit_temperature(counts, Targets(counts))
    share = n / (n + 1) + 1 / ((n + 1) * k)
    wanted = np.log(share * (k - 1) / (1 - share))
    step = FACTORS[1] / FACTORS[0]
    assert wanted / step <= t <= wanted * step
    more = fit_temperature(counts, Targets(5 * counts))[0]
    assert more > t  # and more certainty of more rows


def skewed(rng, n):
    """Scores of two classes, one of them exponential: no Gaussians of one covariance."""
    y = np.repeat([0, 1], n // 2)
    s = np.where(y == 1, rng.exponential(1.0, n), 0.15 * rng.standard_normal(n))
    return np.column_stack([-s, s]), y


def test_mended_log_odds_are_a_logistic_regression_on_them(rng):
    """Of the discriminant's log-odds, pulled to the identity; scikit-learn's, without the pull."""
    S, y = skewed(rng, 2000)
    targets = Targets(np.eye(2)[y])
    folds = np.arange(2000) % 5
    level = fit_stacking(S, targets, folds)
    mended = mend_log_odds(level, targets, folds)
    assert mended.loss < level.loss
    # with many rows nothing is left of the pull
    free = LogisticRegression(C=np.inf).fit(level.logits, y)
    heavy = softmax(fit_map(level.logits, 1000.0 * targets.counts)(level.logits))
    np.testing.assert_allclose(heavy, free.predict_proba(level.logits), atol=5e-3)
    # one map after the other
    after = fit_map(level.logits, targets.counts)(level.map(S))
    np.testing.assert_allclose(mended.map(S), after, atol=1e-9)
    own = -np.log(softmax(mended.logits)[np.arange(2000), y]).mean()
    assert mended.loss == pytest.approx(own)
    new, y_new = skewed(rng, 20_000)
    losses = [
        -np.log(softmax(one.map(new))[np.arange(20_000), y_new]).mean() for one in (mended, level)
    ]
    assert losses[0] < 0.97 * losses[1]


def test_log_odds_of_gaussian_classes_stay_as_they_are(rng):
    y = np.repeat([0, 1, 2], 400)
    S = np.eye(3)[y] + 0.5 * rng.standard_normal((1200, 3))
    targets, folds = Targets(np.eye(3)[y]), np.arange(1200) % 5
    level = fit_stacking(S, targets, folds)
    assert mend_log_odds(level, targets, folds) is level


def test_a_gain_within_its_standard_error_is_none():
    """Log-odds that are a little too small: the gain is above zero and, mostly, within it."""
    small = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        L = 1.5 * rng.standard_normal((300, 2))
        y = (rng.random(300) < softmax(1.3 * L)[:, 1]).astype(int)
        targets, folds = Targets(np.eye(2)[y]), np.arange(300) % 5
        level = Stacking(LinearMap(np.eye(2), np.zeros(2)), 1.0, L)
        gains = np.empty(300)
        for part in range(5):
            inside, outside = folds != part, folds == part
            after = fit_map(L[inside], targets.counts[inside])(L[outside])
            both = np.log(softmax(after)), np.log(softmax(L[outside]))
            gains[outside] = (both[0] - both[1])[np.arange(60), y[outside]]
        error = gains.std(ddof=1) / np.sqrt(300)
        assert (mend_log_odds(level, targets, folds) is level) == (gains.mean() <= error)
        small += 0 < gains.mean() <= error
    assert small >= 2


def test_the_map_of_log_odds_is_where_the_gradient_is_zero(rng):
    """Weights count as rows, and the pull is one of ten rows."""
    L, counts = rng.standard_normal((60, 3)), rng.integers(0, 4, (60, 3)).astype(float)
    found = fit_map(L, counts)
    P = softmax(found(L)) * counts.sum(axis=1, keepdims=True)
    by_coef = L.T @ (P - counts) + 10 * (found.coef - np.eye(3))
    by_intercept = (P - counts).sum(axis=0) + 10 * found.intercept
    assert max(np.abs(by_coef).max(), np.abs(by_intercept).max()) < 1e-4 * counts.sum()


def test_half_a_count_is_added_to_each_class():
    targets = Targets(np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 2.0]]))
    np.testing.assert_array_equal(targets.prior, [5.5 / 8, 2.5 / 8])
    never = Targets(np.array([[4.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(never.prior, [4.5 / 5.5, 0.5 / 5.5, 0.5 / 5.5])
    # scores that say nothing leave these shares
    (first, _) = fit_discriminants(np.zeros((3, 2)), targets.counts)
    np.testing.assert_allclose(softmax(first(np.zeros((1, 2))))[0], targets.prior)


def test_temperatures_count_weights_as_repetitions(rng):
    logits, y = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
    logits[np.arange(40), y] += 1.0
    weight = np.where(logits.argmax(axis=1) == y, 5, 1)
    found = fit_temperature(logits, Targets(np.eye(3)[y] * weight[:, None]))
    rows = np.repeat(np.arange(40), weight)
    repeated = fit_temperature(logits[rows], Targets(np.eye(3)[y[rows]]))
    assert found == pytest.approx(repeated)
    assert found[0] != fit_temperature(logits, Targets(np.eye(3)[y]))[0]


@pytest.mark.parametrize("n", [10, 1000])
def test_one_count_of_all_is_given_to_chance(n):
    """Logits without an error: of N rows the factor gives an error of about 1 / (2 (N + 1))."""
    y = np.arange(n) % 2
    t, _ = fit_temperature(np.eye(2)[y] - 0.5, Targets(np.eye(2)[y]))
    p = 1 / (1 + np.exp(-t))
    assert 1 - p == pytest.approx(0.5 / (n + 1), rel=0.9)


def test_the_best_of_several_scores_is_stacked(scores, counts, rng):
    targets, folds = Targets(counts), np.arange(20) % 5
    noise = rng.standard_normal((2, 20, 3))
    both = np.array([noise[0], scores, noise[1], 0.9 * scores + 0.1 * noise[0]])
    losses = [fit_stacking(S, targets, folds).loss for S in both]
    r, found = best_stacking(both, targets, folds)
    assert found.loss == losses[r] == min(losses)
    safe = np.arange(4) != r
    other, _ = best_stacking(both, targets, folds, safe)
    assert other != r
    assert best_stacking(both, targets, folds, np.zeros(4, bool)) is None


def test_directions_have_unit_spread_and_tell_classes_apart(rng):
    y = np.arange(90) % 3
    S = np.eye(3)[y] + 0.2 * rng.standard_normal((90, 3))
    F = discriminant_directions(S, Targets(np.eye(3)[y]))(S)
    assert F.shape == (90, 2)
    np.testing.assert_allclose(F.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose((F**2).mean(axis=0), 1)
    centres = np.array([F[y == c].mean(axis=0) for c in range(3)])
    nearest = ((F[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == y) > 0.95
