"""Weights of members that predict numbers, for every target its own.

As in ``ensemble_weights``; the loss is the absolute error, which a few giant rows do not decide,
and b the member of least squared error. Of many rows the weights are those of least squares.
"""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ensemble_weights import soft_weights
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.solvers.qp import solve_simplex_qp


def value_weights(
    held: Array,  # (members, n, q) predictions of rows left out
    targets: NumberTargets,
) -> Array:
    """Weights by absolute errors for every target, (members, q)."""
    J = targets.judging
    count = targets.count[J]
    total = float(count.sum())
    weights = np.empty((len(held), targets.n_targets))
    for target in range(targets.n_targets):
        y = targets.values[J, target]
        E = held[:, targets.row[J], target] - y
        D = np.abs(E)
        D -= D[((E * E) @ count).argmin()]
        d = np.maximum(D @ count / total, 0.0)
        least = 1e-9 * float(np.abs(y).max(initial=0.0)) + np.finfo(float).tiny
        weights[:, target] = soft_weights(d, (D * D) @ count / total, total, least)
    return weights


def least_squares_weights(
    held: Array,  # (members, n, q) predictions of rows left out
    targets: NumberTargets,
) -> Array:
    """Weights of least squared error for every target, for many rows, (members, q).

    min over w of sum_j count_j (sum_m w_m p_m(j) - y_j)^2   s.t.  w >= 0, sum w = 1

    As the weights sum to one this is w'Hw, H the products of the members' errors.
    """
    J = targets.judging
    count = targets.count[J]
    start = np.full(len(held), 1 / len(held))
    weights = np.empty((len(held), targets.n_targets))
    for target in range(targets.n_targets):
        E = held[:, targets.row[J], target] - targets.values[J, target]
        H = (E * count) @ E.T / count.sum()
        if H.any():
            weights[:, target] = solve_simplex_qp(H, np.zeros(len(H)), start)
        else:  # every member is right everywhere
            weights[:, target] = start
    return weights
