"""Class labels of distinct rows: how much of each class a row carries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array


@dataclass(frozen=True)
class Targets:
    """counts[i, c]: how often (with what weight) row i was seen with class c.

    Equal rows are one row here. ``groups`` are increasing index arrays of
    rows that are left out together, two or more each.
    """

    counts: Array  # (n, k), not negative, no row of zeros
    groups: Sequence[Array] = ()
    class_factors: Array | None = None  # (k,) that are in the counts

    @cached_property
    def weight(self) -> Array:
        """w_i = sum_c counts_ic, (n,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def Y(self) -> Array:
        """The mean one-hot label of each row, (n, k)."""
        return self.counts / self.weight[:, None]

    @cached_property
    def total(self) -> float:
        """N = sum of all weights."""
        return float(self.counts.sum())

    @cached_property
    def mean(self) -> Array:
        """The share of each class, (k,)."""
        return np.asarray(self.counts.sum(axis=0) / self.total)

    @cached_property
    def prior(self) -> Array:
        """The share of each class with half a count added to it, (k,)."""
        return smoothed_shares(self.counts.sum(axis=0), self.total)

    @property
    def n(self) -> int:
        return int(self.counts.shape[0])

    @property
    def n_classes(self) -> int:
        return int(self.counts.shape[1])

    @cached_property
    def majority(self) -> Array:
        """The heaviest class of each row, (n,)."""
        return np.asarray(self.counts.argmax(axis=1))

    @cached_property
    def uniform(self) -> bool:
        """Whether every row has weight 1."""
        return bool(np.all(self.weight == 1.0))

    def take(self, rows: Array) -> "Targets":
        """The targets of some rows; rows whose group is cut keep their part of it."""
        position = np.full(self.n, -1)
        position[rows] = np.arange(len(rows))
        parts = [np.sort(position[group][position[group] >= 0]) for group in self.groups]
        groups = tuple(part for part in parts if len(part) > 1)
        return Targets(self.counts[rows], groups, self.class_factors)

    def without_class_factors(self) -> "Targets":
        """As rows were seen, whatever their classes count."""
        factors = 1.0 if self.class_factors is None else self.class_factors
        return Targets(self.counts / factors, self.groups)


def kernel_variance(K: Array, targets: Targets) -> float:
    """tr(G) / N = sum_i p_i Kc_ii, p the rows' shares of the weight."""
    p = targets.weight / targets.total
    return float(p @ np.diagonal(K) - p @ K @ p)


def smoothed_shares(
    n_c: Array,  # (k,) how often each class was seen
    total: float,
) -> Array:
    """(n_c + 1/2) / (N + k/2): a class that was not seen is not ruled out."""
    return np.asarray((n_c + 0.5) / (total + 0.5 * len(n_c)))
