"""Is there any signal at all? Held-out error against that of shuffled labels."""

from collections.abc import Callable

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import RowTargets, Targets
from kernel_learn.representations.linalg import LEAST_SLACK, leave_out

# Labels are shuffled among at most so many rows; more are counted in proportion.
MOST_ROWS = 10**5


def permutation_p_value(
    path: RidgePath, regs: Array, n_permutations: int, rng: np.random.Generator
) -> float:
    """P(shuffled labels are predicted as well as the labels): (1 + #{E_b <= E}) / (1 + B).

    E = min over reg of sum_i w_i |y_i - loo_i|^2, the smallest held-out squared
    error along the path, for the labels and for each shuffling alike, so that
    choosing reg is part of what is tested. The kernel must not have seen the
    labels. With L the shuffled labels side by side, S^{1/2} (Y - mu), one
    product U'L and one U diag(w/(w + lam)) U'L per reg serve all of them.

    Labels are shuffled among the rows as they were given, and equal rows are merged after that:
    mean labels of merged rows are no labels that another row could have had.

    Rows of one group are not independent: they are left out together, and a
    group keeps one label, which is shuffled among groups. Where labels differ
    within a group that would test something else, and is refused.
    """
    T, root = path.centred.targets, path.centred.root
    assert isinstance(T, Targets | NumberTargets | LabelTargets)
    single = _shuffle_rows(T) if isinstance(T, Targets) else _shuffle_values(T)
    shuffle = _shuffle_groups(T) if T.groups else single
    labels = [T.Y, *(shuffle(rng) for _ in range(n_permutations))]
    p = T.weight / T.total
    L = np.hstack([Y - p @ Y for Y in labels]) * root[:, None]
    UT_L = path.U.T @ L
    best = np.full(len(labels), np.inf)
    for reg in np.asarray(regs):
        slack, blocks = path.slack(reg)
        share = path.w / (path.w + reg * path.centred.unit)
        residual = L - path.U @ (share[:, None] * UT_L)
        without, least = leave_out(T.groups, residual, slack, blocks)
        if least < LEAST_SLACK:
            continue
        errors = np.sum(without**2, axis=0).reshape(len(labels), -1).sum(axis=1)
        best = np.minimum(best, errors)
    as_good = int(np.sum(best[1:] <= best[0] * (1 + 1e-12)))
    return (1 + as_good) / (1 + n_permutations)


Shuffle = Callable[[np.random.Generator], Array]  # mean labels of merged rows, (n, k)


def _shuffle_rows(targets: Targets) -> Shuffle:
    """Each label of a row as it was given may go anywhere, whatever the rows weigh."""
    merged, labels = np.nonzero(targets.counts)
    counts = targets.counts[merged, labels]
    copies = _copies(counts, merged, targets)
    weight = np.repeat(counts / copies, copies)  # of each row as given
    merged, labels = np.repeat(merged, copies), np.repeat(labels, copies)
    shape = targets.counts.shape

    def shuffle(rng: np.random.Generator) -> Array:
        cells = merged * shape[1] + labels[rng.permutation(len(labels))]
        found = np.bincount(cells, weight, shape[0] * shape[1]).reshape(shape)
        return np.asarray(found / targets.weight[:, None])

    return shuffle


def _shuffle_values(targets: NumberTargets | LabelTargets) -> Shuffle:
    """The same of numbers: each value that was seen may go to any row."""
    copies = _copies(targets.count, targets.row, targets)
    weight, row = np.repeat(targets.count / copies, copies), np.repeat(targets.row, copies)
    seen = np.repeat(targets.seen, copies, axis=0)

    def shuffle(rng: np.random.Generator) -> Array:
        moved = seen[rng.permutation(len(seen))]
        sums = [np.bincount(row, weight * column, targets.n) for column in moved.T]
        return np.asarray(np.stack(sums, axis=1) / targets.weight[:, None])

    return shuffle


def _copies(counts: Array, row: Array, targets: Targets | NumberTargets | LabelTargets) -> Array:
    """How many rows as given each count stands for, not many more than ``MOST_ROWS`` in all.

    A row of weight two is no two rows, whose labels could differ: shuffled as if it were, labels
    are nearer to each other than those of the rows, and no signal is seen.
    """
    if targets.given is not None:
        counts = counts * (targets.given / targets.weight)[row]
    rows = np.round(counts * min(1.0, MOST_ROWS / counts.sum()))
    return np.asarray(np.maximum(1, rows).astype(int))


def _shuffle_groups(targets: RowTargets) -> Shuffle:
    """Whole groups change their labels; a row without a group is one by itself."""
    heads, group = np.unique(_first_of_group(targets), return_inverse=True)

    def shuffle(rng: np.random.Generator) -> Array:
        return np.asarray(targets.Y[heads[rng.permutation(len(heads))][group]])

    return shuffle


def _first_of_group(targets: RowTargets) -> Array:
    """The first row of each row's group, (n,)."""
    first = np.arange(targets.n)
    for group in targets.groups:
        if np.ptp(targets.Y[group], axis=0).max() > 0:
            raise ValueError(
                "Rows of one group have different labels, and permutation_p_value shuffles labels "
                "of whole groups. Fit one row per group to ask this."
            )
        first[group] = group[0]
    return first
