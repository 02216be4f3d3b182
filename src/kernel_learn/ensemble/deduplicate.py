"""Equal rows as one row: merged with their weights and labels before anything is chosen."""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.variance import check_distinct
from kernel_learn.representations import ArraySource
from kernel_learn.representations.summary import summed_labels


@dataclass(frozen=True)
class DistinctRows:
    """One index per distinct row, in an order that the content of the rows decides."""

    first: Array  # (n,) positions of the distinct rows among the rows given
    inverse: Array  # (n_given,) the distinct row of each row given
    targets: Targets
    digest: str  # of the rows given


def merge_rows(
    X: Rows,  # (n_given, d): a table, an array or CSR; equal rows are merged
    labels: Array,  # (n_given,) indices into the classes
    weight: Array,  # (n_given,), positive
    n_classes: int,
    groups: Array | None = None,  # (n_given,); rows of different groups are not merged
    seed: int = 0,
    keys: Keys | None = None,  # of the rows, if they are known
    class_factors: Array | None = None,  # (k,) on the weights
) -> DistinctRows:
    """Merge equal rows; their order is drawn by ``seed`` from the order of their keys.

    Rows that are all the same are refused.
    """
    weight = weight if class_factors is None else weight * class_factors[labels]
    source = ArraySource(X, labels, weight, n_classes=n_classes, keys=keys)
    check_distinct(source)
    digest = source.digest
    if groups is not None:
        both = np.empty(len(groups), dtype=[("key", np.uint64), ("group", groups.dtype)])
        both["key"], both["group"] = source.keys, groups
        ranks = np.unique(both, return_inverse=True)[1].astype(np.uint64)
        source = ArraySource(X, labels, weight, n_classes=n_classes, keys=ranks)
    order = np.random.default_rng(seed).permutation(source.n_distinct)
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    first, inverse = source.first[order], rank[source.inverse]
    counts = summed_labels(inverse, labels, weight, n_classes, len(first)).toarray()
    # Weights below one per row say how rows compare, not how few there are.
    counts *= max(1.0, len(first) / counts.sum())
    targets = Targets(counts, _group_indices(groups, first), class_factors)
    return DistinctRows(first, inverse, targets, digest)


def _group_indices(groups: Array | None, first: Array) -> tuple[Array, ...]:
    if groups is None:
        return ()
    mine = groups[first]
    order = np.argsort(mine, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(mine[order])) + 1)
    return tuple(np.sort(part) for part in parts if len(part) > 1)
