"""Real targets of distinct rows, one or several: what was seen of each row, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.target_transforms import Transform, fit_transforms
from kernel_learn.criteria.held_out.targets import cut_groups, positions


@dataclass(frozen=True)
class NumberTargets:
    """values[j] was seen count[j] times at the distinct row row[j].

    Equal rows are one row here, whose values stay what they were: Y are their means, on which
    ridge regression depends alone, and errors are those of the values. The columns of Y are
    ``transforms`` of the targets.
    """

    values: Array  # (m, q)
    row: Array  # (m,), not decreasing; every row is there
    count: Array  # (m,), positive
    transforms: tuple[Transform, ...]
    groups: Sequence[Array] = ()
    unseen: Array | None = None  # rows that judge, where the others have learned; None for all
    given: Array | None = None  # (n,) see ``Targets``

    @property
    def n(self) -> int:
        return int(self.row[-1]) + 1

    @property
    def n_targets(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def seen(self) -> Array:
        """Every value in every transform, (m, c)."""
        return self.encode(self.values)

    @cached_property
    def weight(self) -> Array:
        """How often each row was seen, (n,)."""
        return np.bincount(self.row, self.count, self.n)

    @cached_property
    def Y(self) -> Array:
        """Mean transformed targets of each row, (n, c)."""
        return self.means(self.seen)

    @cached_property
    def total(self) -> float:
        """N = sum of all weights."""
        return float(self.count.sum())

    @cached_property
    def mean(self) -> Array:
        """(c,)."""
        return np.asarray(self.weight @ self.Y / self.total)

    @cached_property
    def within(self) -> Array:
        """sum over values of count * (value - mean of its row)^2 of every transform, (c,)."""
        return np.asarray(self.count @ (self.seen - self.Y[self.row]) ** 2)

    @property
    def value_mean(self) -> Array:
        """Of the targets as given, (q,)."""
        return np.asarray(self.count @ self.values / self.total)

    @property
    def strata(self) -> Array:
        """All rows alike."""
        return np.zeros(self.n, dtype=int)

    @cached_property
    def uniform(self) -> bool:
        """Whether every row has weight 1."""
        return bool(np.all(self.weight == 1.0))

    @cached_property
    def judging(self) -> Array:
        """The values by which is judged, positions among all, (j,)."""
        if self.unseen is None:
            return np.arange(len(self.row))
        return np.flatnonzero(np.isin(self.row, self.unseen))

    @property
    def sums(self) -> Array:
        """weight * Y, (n, c)."""
        return self.weight[:, None] * self.Y

    def encode(self, values: Array) -> Array:
        """Values (m, q), of other rows too, as they are fitted, (m, c)."""
        return np.stack([transform.forward(values) for transform in self.transforms], axis=1)

    def means(self, seen: Array) -> Array:
        """The means of something that was seen with every value, (m, c), over rows, (n, c)."""
        sums = [np.bincount(self.row, self.count * column, self.n) for column in seen.T]
        return np.stack(sums, axis=1) / self.weight[:, None]

    def take(self, rows: Array) -> "NumberTargets":
        """The targets of some rows, all of which judge; see ``Targets.take``."""
        position = positions(rows, self.n)
        kept = np.flatnonzero(position[self.row] >= 0)
        kept = kept[np.argsort(position[self.row[kept]], kind="stable")]
        return replace(
            self,
            values=self.values[kept],
            row=position[self.row[kept]],
            count=self.count[kept],
            groups=cut_groups(self.groups, position),
            unseen=None,
            given=None if self.given is None else self.given[rows],
        )

    def afresh(self) -> "NumberTargets":
        """With transforms that know these values and no others."""
        return merge_values(self.values, self.count, self.row, self.groups)

    def as_given(self) -> "NumberTargets":
        """Every target as it is and no other column."""
        plain = tuple(one for one in self.transforms if not one.is_log)
        return replace(self, transforms=plain)


def distinct_values(values: Array, inverse: Array) -> tuple[Array, Array]:
    """Where each value of a row is first given, by row and value; which of them each is."""
    keys = np.column_stack([inverse, values])
    order = np.lexsort(keys.T[::-1])
    sorted_keys = keys[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = np.any(sorted_keys[1:] != sorted_keys[:-1], axis=1)
    place = np.empty(len(order), dtype=int)
    place[order] = np.cumsum(fresh) - 1
    return order[fresh], place


def merge_values(
    values: Array,  # (n_given, q)
    weight: Array,  # (n_given,), positive
    inverse: Array,  # (n_given,) the distinct row of each
    groups: Sequence[Array] = (),
) -> NumberTargets:
    """Targets of distinct rows; a value that a row has twice counts twice.

    Sorted by row and value: the order in which rows were given does not matter.
    """
    first, place = distinct_values(values, inverse)
    count = np.bincount(place, weight)
    row = inverse[first]
    # Weights below one per row say how rows compare, not how few there are.
    count = count * max(1.0, (row[-1] + 1) / count.sum())
    own = values[first]
    return NumberTargets(own, row, count, tuple(fit_transforms(own, count)), groups)
