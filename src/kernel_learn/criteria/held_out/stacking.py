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

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ensemble_weights import mean_and_error
from kernel_learn.criteria.held_out.folds import each_fold
from kernel_learn.criteria.held_out.targets import Targets, smoothed_shares
from kernel_learn.solvers.smooth import solve_smooth

TEMPERATURES = np.array([0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 8.0, 12.0])
SHRINKAGES = (0.3, 3.0)
FACTORS = np.geomspace(1e-9, 1e3, 121)
RANKING = np.array([1.0, 2.0, 4.0, 8.0])
LEAST_PROBABILITY = 1e-9
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
    for inside, outside in each_fold(folds):
        maps = fit_discriminants(scores[inside], targets.counts[inside], roles)
        for i, discriminant in enumerate(maps):
            logits[i, outside] = discriminant(scores[outside])
    losses = np.array([log_loss_path(L, targets, TEMPERATURES) for L in logits])
    g, t = divmod(int(losses.argmin()), len(TEMPERATURES))
    final = fit_discriminants(scores, targets.counts, roles)[g]
    sharp = float(TEMPERATURES[t])
    return Stacking(
        LinearMap(sharp * final.coef, sharp * final.intercept),
        float(losses[g, t]),
        sharp * logits[g],
    )


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
    return min(found, key=lambda one: one[1].loss) if found else None


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


def fit_discriminants(
    scores: Array,  # (n, q)
    counts: Array,  # (n, k)
    roles: Array | None = None,  # (q, k): 1 if the score speaks for the class, -1 if against
) -> list[LinearMap]:
    """One discriminant per shrinkage; a class without rows stands at the centre."""
    weight, n_c = counts.sum(axis=1), counts.sum(axis=0)
    total, k, q = float(weight.sum()), counts.shape[1], scores.shape[1]
    m = weight @ scores / total
    S = scores - m
    M = (counts.T @ S) / np.where(n_c > 0, n_c, 1.0)[:, None]
    S, M = _for_their_class(S, M, n_c, one_hot_roles(k) if roles is None else roles)
    within = (S * weight[:, None]).T @ S - (M * n_c[:, None]).T @ M
    W = within / max(total - np.count_nonzero(n_c), 1.0)
    prior = np.log(smoothed_shares(n_c, total))
    spread, maps = max(float(np.trace(W)), 0.0) / q, []
    for g in SHRINKAGES:
        W_g = W / (1 + g)
        W_g[np.diag_indices(q)] += g * spread / (1 + g) + 1e-12
        coef = np.linalg.solve(W_g, M.T)
        intercept = prior - 0.5 * np.sum(M.T * coef, axis=0)
        maps.append(LinearMap(coef, intercept - m @ coef))
    return maps


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


def _for_their_class(S: Array, M: Array, n_c: Array, roles: Array) -> tuple[Array, Array]:
    """Centred scores and class means without the scores that speak against their class."""
    means = []
    for side in (roles > 0, roles < 0):
        share = side * n_c
        total = share.sum(axis=1)
        means.append(np.sum(share.T * M, axis=0) / np.where(total > 0, total, 1.0))
    kept = (means[0] > means[1]).astype(np.float64)
    return S * kept, M * kept


def log_loss_path(logits: Array, targets: Targets, temperatures: Array) -> Array:
    """Mean log loss of softmax(t logits) at every t."""
    top = logits.max(axis=1, keepdims=True)
    D = logits - top
    own = float(np.sum(targets.counts * D))
    sums = np.array([targets.weight @ np.log(np.exp(t * D).sum(axis=1)) for t in temperatures])
    return np.asarray((sums - temperatures * own) / targets.total)


def rank_scores(scores: Array, targets: Targets) -> Array:
    """A cheap loss of each set of scores (R, n, k): log loss of softmax(t score), best t."""
    return np.array([log_loss_path(S, targets, RANKING).min() for S in scores])


def softmax(logits: Array) -> Array:
    """exp(logits) with rows that sum to one; no overflow."""
    E = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(E / E.sum(axis=1, keepdims=True))


def log_softmax(logits: Array) -> Array:
    """Logarithms of the probabilities of log-odds, finite where those round to zero."""
    D = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(D - np.log(np.exp(D).sum(axis=1, keepdims=True)))


def log_losses(proba: Array) -> Array:
    """-log p for every row and class, (n, k)."""
    return np.asarray(-np.log(np.maximum(proba, LEAST_PROBABILITY)))
