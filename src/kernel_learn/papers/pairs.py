"""Pairs of rows for Jain et al. (2010), drawn here and nowhere else.

The library draws pairs in an order that may change with its code. A page
should not, so its pairs come from NumPy's RandomState, whose streams are
frozen, over the pairs i < j of the rows in their given order.
"""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.constraints import Pairs


def number_of_pairs(y: Array) -> int:
    """20 k^2 for k classes, or 10 for each row if that is more; at most 20 000."""
    return min(max(20 * len(np.unique(y)) ** 2, 10 * len(y)), 20_000)


def draw_balanced_pairs(
    y: Array,  # (n,) labels
    seed: int,
    n_pairs: int | None = None,  # None: number_of_pairs(y)
) -> Pairs:
    """Half of the pairs similar, half dissimilar, each uniformly; all there are if fewer."""
    rng = np.random.RandomState(seed)
    n = number_of_pairs(y) if n_pairs is None else n_pairs
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    chosen = [
        np.sort(rng.permutation(np.flatnonzero(kind))[:count])
        for kind, count in ((same, n - n // 2), (~same, n // 2))
    ]
    similar, dissimilar = (np.column_stack([i[rows], j[rows]]) for rows in chosen)
    return Pairs(similar, dissimilar)
