"""Weights of members by how surely the best of them is better.

With l_m(i) the held-out loss of member m on row i and b the member of least
mean loss,

    z_m = mean(l_m - l_b) / (std(l_m - l_b) / sqrt(N)),   weight_m ~ exp(-z_m^2 / 2):

paired, so that the noise of the rows cancels. Nothing is fitted, hence
nothing overfits: with 27 members on 25 to 300 rows greedy selection,
non-negative least squares and stacking all fitted noise. Of many rows, more
than one member deserves weight though the best is surely the best one: then
the few weights are fitted, see ``mixture_weights``.
"""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import Targets

LEAST_PROBABILITY = 1e-9  # of a class, where its logarithm is taken
# Of the heaviest weight: below, a member is surely worse (2.4 standard errors of the paired
# difference), and on more rows its weight only falls.
SURVIVOR_SHARE = 0.05

# Members that do not predict: below NEGLIGIBLE of the heaviest; below LIGHT of the sum if without
# them the held-out log loss of the average does not rise by more than LOSS_RISE of itself.
NEGLIGIBLE, LIGHT, LOSS_RISE = 1e-3, 0.03, 1e-3
TOL, MAX_ITER = 1e-4, 500  # of fitted weights: what they may fall short of the best, in log loss


def ensemble_weights(
    losses: Array,  # (members, n, k): the loss of each row had it each class
    targets: Targets,
) -> Array:
    """Weights of the members, (members,), that sum to one."""
    mean = np.tensordot(losses, targets.counts, 2) / targets.total
    D = losses - losses[mean.argmin()]
    d = mean - mean.min()
    squared = np.tensordot(D * D, targets.counts, 2) / targets.total
    return soft_weights(d, squared, targets.total, 1e-9)


def soft_weights(d: Array, squared: Array, total: float, least: float) -> Array:
    """The weights from means d and mean squares of l_m - l_b, (members,)."""
    std = np.sqrt(np.maximum(squared - d**2, 0.0))
    z = d / np.maximum(std / np.sqrt(total), least)
    w = np.exp(-0.5 * z**2)
    return np.asarray(w / w.sum())


def predicting_shares(
    proba: Sequence[Array],  # (n, k) of each member, held out
    weights: Array,  # (members,) that sum to one
    targets: Targets,
) -> Array:
    """The weights of those that predict, that sum to one, and 0 of the others, (members,).

    Every member costs a prediction as much as the heaviest one, and of eight six often carry
    7 % of the weight. Some of them keep an average from being sure where the heaviest err: the
    lightest are left out one by one as long as held-out rows do not notice.
    """
    rows, classes = np.nonzero(targets.counts)
    counts = targets.counts[rows, classes]
    own = [np.maximum(P[rows, classes], LEAST_PROBABILITY) for P in proba]
    shares = np.array(weights, dtype=np.float64)
    average = sum((w * P for w, P in zip(weights, own, strict=True)), np.zeros(len(rows)))
    most = (1 + LOSS_RISE) * float(counts @ -np.log(average)) if len(shares) else 0.0
    for m in np.argsort(weights, kind="stable")[:-1]:
        rest = average - weights[m] * own[m]
        loss = float(counts @ -np.log(np.maximum(rest / (shares.sum() - weights[m]), 1e-300)))
        if weights[m] > NEGLIGIBLE * weights.max() and (weights[m] >= LIGHT or loss > most):
            continue
        average, shares[m] = rest, 0.0
    return shares / shares.sum() if len(shares) else shares


def mixture_weights(
    proba: Array,  # (members, n, k), held out
    targets: Targets,
) -> Array:
    """Weights of an average of probabilities, for many rows, (members,).

        min over w of -(1/N) sum_ic counts_ic log(sum_m w_m p_m(c | i))   s.t.  w >= 0, sum w = 1

    by w_m <- w_m g_m, g_m = (1/N) sum_ic counts_ic p_m(c | i) / sum_l w_l p_l(c | i). No
    weights are better by more than max_m g_m - 1, which stops the iteration at ``TOL``.
    """
    rows, classes = np.nonzero(targets.counts)
    share = targets.counts[rows, classes] / targets.total
    P = np.maximum(proba[:, rows, classes], 1e-12)
    w = np.full(len(P), 1 / len(P))
    for _ in range(MAX_ITER):
        g = P @ (share / (w @ P))
        w = w * g
        if g.max() - 1 <= TOL:
            break
    return np.asarray(w / w.sum())


def row_mean_and_error(values: Array, weight: Array) -> tuple[float, float]:
    """The weighted mean of values of rows (n,) and its standard error."""
    total = float(weight.sum())
    mean = float(weight @ values / total)
    return mean, float(np.sqrt(weight @ (values - mean) ** 2) / total)


def error_share(
    log_odds: Array,  # (n, k) of held-out rows
    targets: Targets,
) -> float:
    """The share of the rows' weight whose likeliest class is another."""
    right = np.take_along_axis(targets.counts, log_odds.argmax(axis=1)[:, None], axis=1).sum()
    return float(1 - right / targets.total) if targets.n else np.nan


def mean_and_error(values: Array, targets: Targets) -> tuple[float, float]:
    """The weighted mean of values (n, k) and its standard error."""
    mean = float(np.sum(targets.counts * values) / targets.total)
    variance = float(np.sum(targets.counts * (values - mean) ** 2)) / targets.total
    return mean, float(np.sqrt(variance / targets.total))
