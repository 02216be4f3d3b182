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

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import Targets

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
    std = np.sqrt(np.maximum(squared - d**2, 0.0))
    z = d / np.maximum(std / np.sqrt(targets.total), 1e-9)
    w = np.exp(-0.5 * z**2)
    return np.asarray(w / w.sum())


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


def mean_and_error(values: Array, targets: Targets) -> tuple[float, float]:
    """The weighted mean of values (n, k) and its standard error."""
    mean = float(np.sum(targets.counts * values) / targets.total)
    variance = float(np.sum(targets.counts * (values - mean) ** 2)) / targets.total
    return mean, float(np.sqrt(variance / targets.total))
