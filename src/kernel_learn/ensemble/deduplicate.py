"""Equal rows as one row: merged with their weights and labels before anything is chosen."""

from dataclasses import dataclass, replace

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.number_targets import NumberTargets, merge_values
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.variance import check_distinct
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.summary import summed_labels
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.columns import ReadRows
from kernel_learn.rows.groups import ranks_of, shared_places
from kernel_learn.rows.rank_keys import rank_order
from kernel_learn.rows.table import Table


@dataclass(frozen=True)
class DistinctRows:
    """One index per distinct row, in an order that the content of the rows decides."""

    first: Array  # (n,) positions of the distinct rows among the rows given
    inverse: Array  # (n_given,) the distinct row of each row given
    targets: Targets | LabelTargets | NumberTargets
    digest: str  # of the rows given
    squares: Array | None = None  # (n,) sums of squared weights of the rows given, None: one each


@dataclass(frozen=True)
class GivenRows:
    """What is kept of the rows given: which distinct row each is, and what it carries."""

    distinct: Array  # (n_given,) the distinct row of each, -1 for a row of weight zero
    # (n_given,) places of their labels among the classes, or of numbers among the values that the
    # targets hold; -1 likewise
    labels: Array
    weight: Array  # (n_given,) what each adds to the counts of its distinct row
    keys: Keys  # (n_given,) of their contents, 0 for a row of weight zero
    rows: ReadRows | Rows | None = None  # the distinct rows; in earlier files numbers, or nothing
    sample_weight: Array | None = None  # (n_given,) as given, with that
    groups: Array | None = None  # (n_given,) likewise

    @property
    def counting(self) -> Array:
        """Which rows have weight, (n_given,) booleans."""
        return self.distinct >= 0

    def take(self, rows: Array) -> "GivenRows":
        """Some of them; distinct rows keep their numbers."""
        weight, groups = self.sample_weight, self.groups
        return GivenRows(
            self.distinct[rows],
            self.labels[rows],
            self.weight[rows],
            self.keys[rows],
            self.rows,
            None if weight is None else weight[rows],
            None if groups is None else groups[rows],
        )


def given_rows(
    rows: DistinctRows,
    labels: Array,  # (n_kept,)
    weight: Array,  # (n_kept,)
    keys: Keys,  # (n_kept,)
    kept: Array,  # (n_kept,) where they stand
    n_given: int,
) -> GivenRows:
    """Rows of positive weight among all rows given."""
    targets = rows.targets
    factors = targets.class_factors if isinstance(targets, Targets) else None
    own = weight if factors is None else weight * factors[labels]
    own = own * (targets.total / own.sum())
    found = GivenRows(
        np.full(n_given, -1), np.full(n_given, -1), np.zeros(n_given), np.zeros(n_given, np.uint64)
    )
    found.distinct[kept], found.labels[kept] = rows.inverse, labels
    found.weight[kept], found.keys[kept] = own, keys
    return found


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
    """Merge equal rows; their order is drawn by ``seed`` from ``rank_order``.

    Of rows on the disk from that of their contents. Rows that are all the same are refused.
    """
    first, inverse, digest = _find_distinct(X, groups, seed, keys)
    given = rows_given(inverse, weight, groups)
    weight = weight if class_factors is None else weight * class_factors[labels]
    counts = summed_labels(inverse, labels, weight, n_classes, len(first)).toarray()
    # Weights below one per row say how rows compare, not how few there are.
    factor = max(1.0, len(first) / counts.sum())
    targets = Targets(counts * factor, _group_indices(groups, first), class_factors, given)
    squares = _squares(inverse, weight * factor, groups)
    return DistinctRows(first, inverse, targets, digest, squares)


def merge_valued(
    X: Rows,
    values: Array,  # (n_given, q)
    weight: Array,  # (n_given,), positive
    groups: Array | None = None,
    seed: int = 0,
    keys: Keys | None = None,
) -> DistinctRows:
    """As ``merge_rows``, of rows with numbers: all that were seen of a row stay with it."""
    first, inverse, digest = _find_distinct(X, groups, seed, keys)
    targets = merge_values(values, weight, inverse, _group_indices(groups, first))
    targets = replace(targets, given=rows_given(inverse, weight, groups))
    return DistinctRows(first, inverse, targets, digest)


def merge_labelled(
    X: Rows,
    labels: Array,  # (n_given, L) of 0 and 1
    weight: Array,  # (n_given,), positive
    groups: Array | None = None,
    seed: int = 0,
    keys: Keys | None = None,
) -> DistinctRows:
    """As ``merge_rows``, of rows with several labels."""
    first, inverse, digest = _find_distinct(X, groups, seed, keys)
    n = len(first)
    there = np.stack([np.bincount(inverse, weight * own, n) for own in labels.T], axis=1)
    total = np.bincount(inverse, weight, n)
    scale = max(1.0, n / total.sum())
    given = rows_given(inverse, weight, groups)
    targets = LabelTargets(there * scale, total * scale, _group_indices(groups, first), given)
    return DistinctRows(first, inverse, targets, digest, _squares(inverse, weight * scale, groups))


def _find_distinct(
    X: Rows, groups: Array | None, seed: int, keys: Keys | None
) -> tuple[Array, Array, str]:
    """(positions of distinct rows, the distinct row of each row, digest of the rows)."""
    nothing = np.empty((n_rows(X), 0))
    source = ArraySource(X, nothing, keys=keys)
    check_distinct(source)
    digest = source.digest
    if groups is not None:
        source = ArraySource(X, nothing, keys=ranks_of(source.keys, groups))
    order = np.random.default_rng(seed).permutation(source.n_distinct)
    if isinstance(X, Table):  # in memory, where columns can be sorted
        order = rank_order(X[source.first])[order]
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    return source.first[order], rank[source.inverse], digest


def rows_given(inverse: Array, weight: Array, groups: Array | None) -> Array | None:
    """How many rows were given as each distinct row; None where that is what they weigh.

    Equal rows of one group are no more than one.
    """
    if groups is not None:
        return np.ones(int(inverse.max()) + 1)
    return None if np.all(weight == 1.0) else np.bincount(inverse).astype(np.float64)


def _squares(inverse: Array, weight: Array, groups: Array | None) -> Array | None:
    """Sums of squared weights; equal rows of one group are no more than one."""
    return None if groups is not None else np.bincount(inverse, weight**2)


def _group_indices(groups: Array | None, first: Array) -> tuple[Array, ...]:
    return () if groups is None else shared_places(groups[first])
