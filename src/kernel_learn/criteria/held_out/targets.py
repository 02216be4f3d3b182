"""Class labels of distinct rows: how much of each class a row carries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from kernel_learn.arrays import Array


class RowTargets(Protocol):
    """What ridge regression asks of targets: mean values of distinct rows, and their weights."""

    @property
    def Y(self) -> Array:
        """What is fitted: the mean of each row, (n, q)."""

    @property
    def weight(self) -> Array:
        """How much each row counts, (n,)."""

    @property
    def total(self) -> float:
        """N = sum of all weights."""

    @property
    def mean(self) -> Array:
        """The weighted mean of Y, (q,)."""

    @property
    def n(self) -> int:
        """How many distinct rows there are."""

    @property
    def groups(self) -> Sequence[Array]:
        """Rows that are left out together, two or more each."""

    @property
    def strata(self) -> Array:
        """Rows of one number are spread evenly over folds, (n,); from 0 on."""

    def take(self, rows: Array) -> Self:
        """The targets of some rows."""


@dataclass(frozen=True)
class Targets:
    """counts[i, c]: how often (with what weight) row i was seen with class c.

    Equal rows are one row here. ``groups`` are increasing index arrays of
    rows that are left out together, two or more each.
    """

    counts: Array  # (n, k), not negative, no row of zeros
    groups: Sequence[Array] = ()
    class_factors: Array | None = None  # (k,) that are in the counts
    given: Array | None = None  # (n,) how many rows were given as each, None: as many as it weighs

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
        """The heaviest class of each row, (n,); of equal ones the one that is heavier in all."""
        heaviest = self.counts == self.counts.max(axis=1, keepdims=True)
        return np.asarray((heaviest * self.counts.sum(axis=0)).argmax(axis=1))

    @property
    def strata(self) -> Array:
        """Classes are spread evenly over folds."""
        return self.majority

    @cached_property
    def uniform(self) -> bool:
        """Whether every row has weight 1."""
        return bool(np.all(self.weight == 1.0))

    def take(self, rows: Array) -> "Targets":
        """The targets of some rows; rows whose group is cut keep their part of it."""
        groups = cut_groups(self.groups, positions(rows, self.n))
        given = None if self.given is None else self.given[rows]
        return Targets(self.counts[rows], groups, self.class_factors, given)

    @property
    def sums(self) -> Array:
        """weight * Y, (n, k)."""
        return self.counts

    def encode(self, labels: Array) -> Array:
        """Labels of other rows as they are fitted: one-hot, (m, k)."""
        return np.eye(self.n_classes)[labels]

    def as_given(self) -> "Targets":
        """As rows were seen, whatever their classes count."""
        factors = 1.0 if self.class_factors is None else self.class_factors
        return Targets(self.counts / factors, self.groups, given=self.given)


def positions(rows: Array, n: int) -> Array:
    """Where each of n rows stands among some of them, -1 if it does not, (n,)."""
    found = np.full(n, -1)
    found[rows] = np.arange(len(rows))
    return found


def units_of(n: int, groups: Sequence[Array]) -> list[Array]:
    """Groups, and every other row alone."""
    inside = np.concatenate([*groups, np.empty(0, int)]).astype(int)
    return [*groups, *np.setdiff1d(np.arange(n), inside)[:, None]]


def cut_groups(groups: Sequence[Array], position: Array) -> tuple[Array, ...]:
    """Groups of the rows that have a position; of one row there is none."""
    parts = [np.sort(position[group][position[group] >= 0]) for group in groups]
    return tuple(part for part in parts if len(part) > 1)


def kernel_variance(K: Array, targets: RowTargets) -> float:
    """tr(G) / N = sum_i p_i Kc_ii, p the rows' shares of the weight."""
    p = targets.weight / targets.total
    return float(p @ np.diagonal(K) - p @ K @ p)


def smoothed_shares(
    n_c: Array,  # (..., k) how often each class was seen
    total: float | Array,
) -> Array:
    """(n_c + 1/2) / (N + k/2): a class that was not seen is not ruled out."""
    return np.asarray((n_c + 0.5) / (total + 0.5 * n_c.shape[-1]))
