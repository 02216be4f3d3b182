"""Several labels per row: each is there or not, and all of them share one decomposition."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.stacking import LinearMap, Stacking, best_stacking
from kernel_learn.criteria.held_out.targets import Targets, cut_groups, positions


@dataclass(frozen=True)
class LabelTargets:
    """there[i, l]: how often (with what weight) row i was seen with label l, of weight[i]."""

    there: Array  # (n, L)
    weight: Array  # (n,), positive
    groups: Sequence[Array] = ()
    given: Array | None = None  # (n,) see ``Targets``

    @cached_property
    def Y(self) -> Array:
        """The share of each label in each row, (n, L)."""
        return np.asarray(self.there / self.weight[:, None])

    @cached_property
    def total(self) -> float:
        """N = sum of all weights."""
        return float(self.weight.sum())

    @cached_property
    def mean(self) -> Array:
        """The share of each label, (L,)."""
        return np.asarray(self.there.sum(axis=0) / self.total)

    @property
    def n(self) -> int:
        return len(self.weight)

    @property
    def n_labels(self) -> int:
        return int(self.there.shape[1])

    @cached_property
    def uniform(self) -> bool:
        """Whether every row has weight 1."""
        return bool(np.all(self.weight == 1.0))

    @cached_property
    def strata(self) -> Array:
        """Rows by the rarest label that they have: rare ones are spread evenly over folds."""
        rare_first = np.argsort(self.mean, kind="stable")
        has = self.Y[:, rare_first] >= 0.5
        return np.where(has.any(axis=1), has.argmax(axis=1), self.n_labels)

    @property
    def sums(self) -> Array:
        """weight * Y, (n, L)."""
        return self.there

    # As rows of values, of which each may go to any other row.
    @property
    def row(self) -> Array:
        return np.arange(self.n)

    @property
    def count(self) -> Array:
        return self.weight

    @property
    def seen(self) -> Array:
        return self.Y

    def encode(self, labels: Array) -> Array:
        """Labels of other rows as they are fitted, (m, L)."""
        return labels

    def as_given(self) -> "LabelTargets":
        return self

    def of_label(self, label: int) -> Targets:
        """Whether one label is there, as two classes."""
        there = self.there[:, label]
        return Targets(np.stack([self.weight - there, there], axis=1), self.groups)

    def take(self, rows: Array) -> "LabelTargets":
        """See ``Targets.take``."""
        groups = cut_groups(self.groups, positions(rows, self.n))
        given = None if self.given is None else self.given[rows]
        return LabelTargets(self.there[rows], self.weight[rows], groups, given)


@dataclass(frozen=True)
class LabelMap:
    """From scores to log-odds of every label, by a map of two scores each."""

    maps: tuple[LinearMap, ...]

    def __call__(self, scores: Array) -> Array:
        """Log-odds that each label is not there and that it is, (n, L, 2)."""
        own = [map(both_sides(scores[:, i])) for i, map in enumerate(self.maps)]
        return np.stack(own, axis=1)

    def slope(self, label: int) -> float:
        """What a unit of its score adds to the log-odds of a label against its absence."""
        coef = self.maps[label].coef
        return float(coef[1, 1] - coef[1, 0] - coef[0, 1] + coef[0, 0])


def both_sides(scores: Array) -> Array:
    """Scores of absence and presence, (..., 2): ridge regression of 1 - y is 1 minus that of y."""
    return np.stack([1.0 - scores, scores], axis=-1)


def stack_labels(
    scores: Array,  # (R, n, L) held out
    targets: LabelTargets,
    folds: Array,
    safe: Array | None = None,
) -> list[tuple[int, Stacking]] | None:
    """The best set of scores of every label once stacked, each as two classes."""
    found = [
        best_stacking(both_sides(scores[:, :, i]), targets.of_label(i), folds, safe)
        for i in range(targets.n_labels)
    ]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None
