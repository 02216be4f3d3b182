"""Is there any signal at all? Held-out error against that of shuffled labels."""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import LEAST_SLACK, RidgePath, leave_out
from kernel_learn.criteria.held_out.targets import Targets


def permutation_p_value(
    path: RidgePath, regs: Array, n_permutations: int, rng: np.random.Generator
) -> float:
    """P(shuffled labels are predicted as well as the labels): (1 + #{E_b <= E}) / (1 + B).

    E = min over reg of sum_i w_i |y_i - loo_i|^2, the smallest held-out squared
    error along the path, for the labels and for each shuffling alike, so that
    choosing reg is part of what is tested. The kernel must not have seen the
    labels. With L the shuffled labels side by side, S^{1/2} (Y - mu), one
    product U'L and one U diag(w/(w + lam)) U'L per reg serve all of them.

    Rows of one group are not independent: they are left out together, and a
    group keeps one label, which is shuffled among groups. Where labels differ
    within a group that would test something else, and is refused.
    """
    T, root = path.centred.targets, path.centred.root
    unit = _units(T)
    heads = np.unique(unit)
    place = np.searchsorted(heads, unit)
    shuffled = (heads[rng.permutation(len(heads))][place] for _ in range(n_permutations))
    orders = [np.arange(T.n), *shuffled]
    p = T.weight / T.total
    columns = [T.Y[order] - p @ T.Y[order] for order in orders]
    L = np.hstack(columns) * root[:, None]
    UT_L = path.U.T @ L
    best = np.full(len(orders), np.inf)
    for reg in np.asarray(regs):
        slack, blocks = path.slack(reg)
        share = path.w / (path.w + reg * path.centred.unit)
        residual = L - path.U @ (share[:, None] * UT_L)
        without, least = leave_out(T.groups, residual, slack, blocks)
        if least < LEAST_SLACK:
            continue
        errors = np.sum(without**2, axis=0).reshape(len(orders), -1).sum(axis=1)
        best = np.minimum(best, errors)
    as_good = int(np.sum(best[1:] <= best[0] * (1 + 1e-12)))
    return (1 + as_good) / (1 + n_permutations)


def _units(targets: Targets) -> Array:
    """The first row of each row's group, (n,)."""
    unit = np.arange(targets.n)
    for group in targets.groups:
        if np.ptp(targets.Y[group], axis=0).max() > 0:
            raise ValueError(
                "Rows of one group have different labels, and permutation_p_value shuffles labels "
                "of whole groups. Fit one row per group to ask this."
            )
        unit[group] = group[0]
    return unit
