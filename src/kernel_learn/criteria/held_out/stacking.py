"""From held-out scores to probabilities.

Ridge scores shrink to the class shares and mask middle and small classes; the
largest is the wrong rule. On scores s_i of rows *left out* a discriminant is
fitted, class means M_c and the pooled covariance W within classes,

    W_g = (W + g tr(W)/q I) / (1 + g),
    logit_c(s) = (s - m)'W_g^{-1}(M_c - m) - 1/2 (M_c - m)'W_g^{-1}(M_c - m)
                 + log((n_c + 1/2) / (N + k/2)),
    probability = softmax(t logit),

g and t by the log loss of folds that the means and W have not seen. On scores
of training rows W would be far too small.

A score must speak for its own class. Where two classes look alike, leaving a
row out pushes its scores away from its own label (the mean of its class
loses it), and read backwards such scores predict every row that was left out
and no new one: on 50 rows with labels by chance to 12 % error. A score whose
mean over its own class is not above that over the others is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ensemble_weights import LEAST_PROBABILITY, mean_and_error
from kernel_learn.criteria.held_out.folds import each_fold
from kernel_learn.criteria.held_out.targets import Targets, smoothed_shares
from kernel_learn.rows.access import row_blocks
from kernel_learn.solvers.smooth import solve_smooth

TEMPERATURES = np.array([0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 8.0, 12.0])
SHRINKAGES = (0.3, 3.0)
FACTORS = np.geomspace(1e-9, 1e3, 121)
RANKING = np.array([1.0, 2.0, 4.0, 8.0])
# Entries of scores that are ranked, and of covariances that are solved for, at a time.
RANKED_ENTRIES, SIDE_BY_SIDE = 2**15, 2**15
PULL = 10.0  # as so many rows
# Regularisers whose scores are stacked; the others are only ranked.
FINALISTS = 2


@dataclass(frozen=True)
class LinearMap:
    """logits = scores @ coef + intercept."""

    coef: Array  # (q, k)
    intercept: Array  # (k,)

    def __call__(self, scores: Array) -> Array:
        return np.asarray(scores @ self.coef + self.intercept)


@dataclass(frozen=True)
class Stacking:
    """The map to log-odds at its temperature, and what it says of held-out rows."""

    map: LinearMap
    loss: float
    logits: Array  # (n, k), cross-fitted
    crossed: Array | None = None  # those of scores that other folds chose, None: the same ones
    shrinkage: int = 0  # which of SHRINKAGES
    temperature: float = 1.0

    def proba(self) -> Array:
        return softmax(self.logits)


def fit_stacking(
    scores: Array,  # (n, q) held out
    targets: Targets,
    folds: Array,  # (n,) the fold of each row
    roles: Array | None = None,  # (q, k), see fit_discriminants
) -> Stacking:
    """The discriminant on all rows, at the shrinkage and temperature of least held-out loss."""
    logits = np.zeros((len(SHRINKAGES), targets.n, targets.n_classes))
    centre = targets.weight @ scores / targets.total
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    F = len(parts)
    moments = score_moments([(scores[rows], targets.counts[rows]) for rows in parts], centre)
    inside = np.ones((F + 1, F))  # the folds that each fit has seen, the last one all of them
    if F > 1:
        inside[np.diag_indices(F)] = 0.0
    for sets in row_blocks(F + 1, max(1, SIDE_BY_SIDE // scores.shape[1] ** 2)):
        coef, intercept = discriminants(moments.summed(inside[sets]), roles)
        for i, outside in enumerate(parts[sets]):
            logits[:, outside] = scores[outside] @ coef[i] + intercept[i, :, None]
    losses = log_loss_path(logits, targets, TEMPERATURES)
    g, t = divmod(int(losses.argmin()), len(TEMPERATURES))
    sharp = float(TEMPERATURES[t])
    return Stacking(
        LinearMap(sharp * coef[-1, g], sharp * intercept[-1, g]),
        float(losses[g, t]),
        sharp * logits[g],
        shrinkage=g,
        temperature=sharp,
    )


def stack_without_folds(
    scores: Array,  # (F, n, q) without each fold, as new rows would have them
    targets: Targets,
    folds: Array,
) -> Array:
    """Logits (n, k) by discriminants to which neither the rows of the fold nor what they said of
    others is known; shrinkage and temperature are those of the rows without the first fold.
    """
    logits, first = np.empty((targets.n, targets.n_classes)), None
    for own, (inside, outside) in zip(scores, each_fold(folds), strict=True):
        some = targets.take(inside)
        first = first or fit_stacking(own[inside], some, folds[inside])
        map = fit_discriminants(own[inside], some.counts)[first.shrinkage]
        logits[outside] = first.temperature * map(own[outside])
    return logits


def best_stacking(
    scores: Array,  # (R, n, q) held out
    targets: Targets,
    folds: Array,
    safe: Array | None = None,  # (R,) where the scores are more than rounding, None for all
) -> tuple[int, Stacking] | None:
    """The best of several sets of scores once stacked, among those that rank first before it."""
    ranks = rank_scores(scores, targets)
    ranks = ranks if safe is None else np.where(safe, ranks, np.inf)
    finalists = [int(r) for r in ranks.argsort()[:FINALISTS] if np.isfinite(ranks[r])]
    found = [(r, fit_stacking(scores[r], targets, folds)) for r in finalists]
    if not found:
        return None
    r, best = min(found, key=lambda one: one[1].loss)
    if len(found) == 1:
        return r, best
    crossed = crossed_logits([one.logits for _, one in found], targets, folds)
    return r, replace(best, crossed=crossed)


def crossed_logits(found: Sequence[Array], targets: Targets, folds: Array) -> Array | None:
    """Of several logits (n, k) those that suit all other folds best, fold by fold.

    None if these are the same for every fold.
    """
    gains = np.array([np.sum(targets.counts * log_softmax(L), axis=1) for L in found])
    best = [int(gains[:, inside].sum(axis=1).argmax()) for inside, _ in each_fold(folds)]
    if len(set(best)) == 1:
        return None
    crossed = np.empty_like(found[0])
    for own, (_, outside) in zip(best, each_fold(folds), strict=True):
        crossed[outside] = found[own][outside]
    return crossed


def mend_log_odds(stacking: Stacking, targets: Targets, folds: Array) -> Stacking:
    """The log-odds after another linear map, where held-out rows gain by it.

    The discriminant takes the scores of a class for Gaussian, with one covariance for all
    classes. Scores of narrow kernels on landmarks are not: on covtype the map takes 13 % off
    the log loss. It is taken if the loss of folds that it has not seen falls by more than the
    standard error of the difference.
    """
    logits = np.empty_like(stacking.logits)
    for inside, outside in each_fold(folds):
        logits[outside] = fit_map(stacking.logits[inside], targets.counts[inside])(
            stacking.logits[outside]
        )
    gains = log_softmax(logits) - log_softmax(stacking.logits)
    gain, error = mean_and_error(gains, targets)
    if gain <= error:
        return stacking
    found = fit_map(stacking.logits, targets.counts)
    composed = LinearMap(
        stacking.map.coef @ found.coef, stacking.map.intercept @ found.coef + found.intercept
    )
    return Stacking(composed, stacking.loss - gain, logits)


def fit_map(
    logits: Array,  # (n, k)
    counts: Array,  # (n, k)
) -> LinearMap:
    """L (I + D) + b of log-odds L, a multinomial regression pulled to what they say already.

    min over D, b of -sum_ic counts_ic log softmax_c(L (I + D) + b) + PULL/2 (|D|^2 + |b|^2)
    """
    k, weight = logits.shape[1], counts.sum(axis=1)
    L = np.hstack([logits, np.ones((len(logits), 1))])
    identity = np.eye(k + 1, k)

    def objective(D: Array) -> tuple[float, Array]:
        log_p = log_softmax(L @ (identity + D))
        value = 0.5 * PULL * float(np.sum(D**2)) - float(np.sum(counts * log_p))
        return value, L.T @ (weight[:, None] * np.exp(log_p) - counts) + PULL * D

    start = np.zeros((k + 1, k))
    D = solve_smooth(objective, start, tol=1e-4 * float(weight.sum()), ftol=1e-8).point
    return LinearMap(np.eye(k) + D[:k], D[k])


def fit_centroids(
    F: Array,  # (n, l)
    counts: Array,  # (n, k)
) -> LinearMap:
    """Log-odds by the distance to class means in the metric of the pooled covariance."""
    weight, n_c = counts.sum(axis=1), counts.sum(axis=0)
    m = weight @ F / weight.sum()
    S = F - m
    M = (counts.T @ S) / n_c[:, None]
    W = ((S * weight[:, None]).T @ S - (M * n_c[:, None]).T @ M) / weight.sum()
    total = float(weight @ np.sum(S**2, axis=1) / weight.sum())
    W[np.diag_indices(len(W))] += 1e-6 * total + np.finfo(float).tiny  # classes that are points
    coef = np.linalg.solve(W, M.T)
    intercept = np.log(n_c / n_c.sum()) - 0.5 * np.sum(M.T * coef, axis=0)
    return LinearMap(coef, intercept - m @ coef)


def fit_temperature(logits: Array, targets: Targets) -> tuple[float, float]:
    """(t, loss): the factor on held-out logits, kept as they are, with the least log loss.

    One count in N + 1 is given to chance: logits without an error must not ask for more
    certainty than N rows can give.
    """
    softened = Targets(
        targets.counts * (targets.total / (targets.total + 1))
        + targets.weight[:, None] / ((targets.total + 1) * targets.n_classes)
    )
    best = int(log_loss_path(logits, softened, FACTORS).argmin())
    return float(FACTORS[best]), float(log_loss_path(logits, targets, FACTORS[[best]])[0])


@dataclass(frozen=True)
class ScoreMoments:
    """Sums over P sets of rows of scores s - centre, which add up: those of folds are worked out
    once, and what a fit without each of five folds would sum anew is most of the time of a
    stacking of many classes. Fits to all sets go side by side, as there are hundreds of small ones.
    """

    n_c: Array  # (P, k) weight of each class
    sums: Array  # (P, k, q) of its scores
    squares: Array  # (P, q, q) sum_i w_i s_i s_i'
    centre: Array  # (q,)

    def summed(self, sets: Array) -> "ScoreMoments":
        """The sums of several sets, those with a one in each line of ``sets`` (P_new, P)."""
        n_c, sums, squares = (
            np.tensordot(sets, own, 1) for own in (self.n_c, self.sums, self.squares)
        )
        return ScoreMoments(n_c, sums, squares, self.centre)


def score_moments(parts: Sequence[tuple[Array, Array]], centre: Array) -> ScoreMoments:
    """The sums of sets of rows, each with its scores (n, q) and counts (n, k)."""
    found = []
    for scores, counts in parts:
        S, weight = scores - centre, counts.sum(axis=1)
        found.append((counts.sum(axis=0), counts.T @ S, (S * weight[:, None]).T @ S))
    n_c, sums, squares = map(np.array, zip(*found, strict=True))
    return ScoreMoments(n_c, sums, squares, centre)


def fit_discriminants(
    scores: Array,  # (n, q)
    counts: Array,  # (n, k)
    roles: Array | None = None,  # (q, k): 1 if the score speaks for the class, -1 if against
) -> list[LinearMap]:
    """One discriminant per shrinkage; a class without rows stands at the centre."""
    weight = counts.sum(axis=1)
    moments = score_moments([(scores, counts)], weight @ scores / weight.sum())
    coef, intercept = discriminants(moments, roles)
    return [LinearMap(own, start) for own, start in zip(coef[0], intercept[0], strict=True)]


def discriminants(moments: ScoreMoments, roles: Array | None = None) -> tuple[Array, Array]:
    """As ``fit_discriminants`` of every set: coef (P, G, q, k) and intercept (P, G, k)."""
    n_c, (k, q) = moments.n_c, moments.sums.shape[1:]
    total, there = n_c.sum(axis=1)[:, None, None], (n_c > 0)[:, :, None]
    m = moments.sums.sum(axis=1, keepdims=True) / total  # (P, 1, q)
    M = moments.sums / np.where(there, n_c[:, :, None], 1.0) - there * m
    kept = _for_their_class(M, n_c, one_hot_roles(k) if roles is None else roles)[:, None, :]
    within = moments.squares - total * m.mT * m - (M * n_c[:, :, None]).mT @ M
    degrees = np.maximum(total - np.count_nonzero(there, axis=1, keepdims=True), 1.0)
    W = kept.mT * kept * within / degrees
    M *= kept
    prior = np.log(smoothed_shares(n_c, total[:, 0]))
    spread = np.maximum(np.trace(W, axis1=1, axis2=2), 0.0) / q
    coef = np.empty((len(n_c), len(SHRINKAGES), q, k))
    for i, g in enumerate(SHRINKAGES):
        W_g = W / (1 + g)
        W_g[:, np.arange(q), np.arange(q)] += (g * spread / (1 + g) + 1e-12)[:, None]
        coef[:, i] = np.linalg.solve(W_g, M.mT)
    intercept = prior[:, None] - 0.5 * np.einsum("pkq,pgqk->pgk", M, coef)
    return coef, intercept - np.einsum("pq,pgqk->pgk", moments.centre + m[:, 0], coef)


def discriminant_directions(scores: Array, targets: Targets) -> LinearMap:
    """The k - 1 directions of held-out scores that tell classes apart, each of unit spread within.

    The columns of coef' of the discriminant span them; the left singular
    vectors of the weighted class means in the within-class metric order them.
    """
    first = fit_discriminants(scores, targets.counts)[0]
    k = targets.n_classes
    logits = first(scores)
    mean = targets.weight @ logits / targets.total
    spread = (targets.counts.T @ (logits - mean)) * np.sqrt(targets.mean)[:, None]
    V = np.linalg.svd(spread, full_matrices=True)[2][: k - 1]
    V *= np.where(V[np.arange(k - 1), np.abs(V).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    coef = first.coef @ V.T
    centre = targets.weight @ scores / targets.total
    F = (scores - centre) @ coef
    size = np.sqrt(np.maximum(targets.weight @ F**2 / targets.total, 1e-300))
    coef = coef / size
    return LinearMap(coef, -centre @ coef)


def one_hot_roles(k: int) -> Array:
    """One score per class, for it and against the others."""
    return 2.0 * np.eye(k) - 1.0


def _for_their_class(
    M: Array,  # (P, k, q) class means
    n_c: Array,  # (P, k)
    roles: Array,  # (q, k)
) -> Array:
    """1 for each score that speaks for its class, 0 for others, (P, q)."""
    means = []
    for side in (roles > 0, roles < 0):
        total = n_c @ side.T
        own = np.einsum("qk,pk,pkq->pq", side, n_c, M)
        means.append(own / np.where(total > 0, total, 1.0))
    return np.asarray(means[0] > means[1], dtype=np.float64)


def log_loss_path(
    logits: Array,  # (..., n, k)
    targets: Targets,
    temperatures: Array,
) -> Array:
    """Mean log loss of softmax(t logits) at every t, (..., T)."""
    D = logits - logits.max(axis=-1, keepdims=True)
    own = np.tensordot(D, targets.counts, 2)
    sums = [np.log(np.exp(t * D).sum(axis=-1)) @ targets.weight for t in temperatures]
    path = np.stack(sums, axis=-1) - np.multiply.outer(own, temperatures)
    return np.asarray(path / targets.total)


def rank_scores(scores: Array, targets: Targets) -> Array:
    """A cheap loss of each set of scores (R, n, k): log loss of softmax(t score), best t."""
    some = max(1, RANKED_ENTRIES // max(1, scores[0].size))
    blocks = [scores[rows] for rows in row_blocks(len(scores), some)]
    return np.concatenate([log_loss_path(S, targets, RANKING).min(axis=-1) for S in blocks])


def softmax(logits: Array) -> Array:
    """exp(logits) with rows that sum to one; no overflow."""
    E = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(E / E.sum(axis=1, keepdims=True))


def centered(logits: Array) -> Array:
    """Each class against the mean of all: rows without their means."""
    return np.asarray(logits - logits.mean(axis=1, keepdims=True))


def log_softmax(logits: Array) -> Array:
    """Logarithms of the probabilities of log-odds, finite where those round to zero."""
    D = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(D - np.log(np.exp(D).sum(axis=1, keepdims=True)))


def log_losses(proba: Array) -> Array:
    """-log p for every row and class, (n, k)."""
    return np.asarray(-np.log(np.maximum(proba, LEAST_PROBABILITY)))
