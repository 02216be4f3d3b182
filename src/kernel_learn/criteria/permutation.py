"""Is there any signal at all? Held-out error against that of shuffled labels."""

import numpy as np

from kernel_learn.criteria.ridge import LEAST_SLACK, RidgePath
from kernel_learn.representations.base import Array


def permutation_p_value(
    path: RidgePath, regs: Array, n_permutations: int, rng: np.random.Generator
) -> float:
    """P(shuffled labels are predicted as well as the labels): (1 + #{E_b <= E}) / (1 + B).

    E = min over reg of sum_i w_i |y_i - loo_i|^2, the smallest held-out squared
    error along the path, for the labels and for each shuffling alike, so that
    choosing reg is part of what is tested. The kernel must not have seen the
    labels. With L the shuffled labels side by side, S^{1/2} (Y - mu), one
    product U'L and one U diag(w/(w + lam)) U'L per reg serve all of them.
    """
    T, root = path.centred.targets, path.centred.root
    orders = [np.arange(T.n), *(rng.permutation(T.n) for _ in range(n_permutations))]
    p = T.weight / T.total
    columns = [T.Y[order] - p @ T.Y[order] for order in orders]
    L = np.hstack(columns) * root[:, None]
    UT_L = path.U.T @ L
    best = np.full(len(orders), np.inf)
    for lam in np.asarray(regs) * path.centred.unit:
        share = path.w / (path.w + lam)
        slack = 1.0 - p - (path.U * path.U) @ share
        if slack.min() < LEAST_SLACK:
            continue
        residual = (L - path.U @ (share[:, None] * UT_L)) / slack[:, None]
        errors = np.sum(residual**2, axis=0).reshape(len(orders), -1).sum(axis=1)
        best = np.minimum(best, errors)
    as_good = int(np.sum(best[1:] <= best[0] * (1 + 1e-12)))
    return (1 + as_good) / (1 + n_permutations)
