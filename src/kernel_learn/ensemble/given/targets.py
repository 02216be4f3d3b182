"""Targets as a user gives them: classes, labels or numbers, checked, merged with equal rows."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from kernel_learn.arrays import Array, ClassWeight, Keys, Rows
from kernel_learn.criteria.held_out.number_targets import distinct_values
from kernel_learn.ensemble.deduplicate import (
    DistinctRows,
    merge_labelled,
    merge_rows,
    merge_valued,
)
from kernel_learn.fitting.targets import check_real_targets, encode_labels
from kernel_learn.fitting.training import weigh_classes
from kernel_learn.rows.digest import label_keys
from kernel_learn.rows.keys import row_keys
from kernel_learn.rows.labels import check_labels


class GivenTargets(Protocol):
    """One kind of target of every row given."""

    def take(self, rows: Array) -> Self:
        """Of some rows."""

    @property
    def keys(self) -> Keys:
        """64 bits for each row's target."""

    def merge(
        self, X: Rows, weight: Array, groups: Array | None, seed: int, keys: Keys
    ) -> DistinctRows:
        """Equal rows as one, with the targets of all; their order is drawn by the seed."""

    def places(self, rows: DistinctRows) -> Array | None:
        """Which class, or which value of its distinct row, each row has; None of several labels."""


@dataclass(frozen=True)
class GivenClasses:
    """Class labels as indices."""

    classes: Array  # (k,)
    labels: Array  # (n,)
    class_weight: ClassWeight = None

    @classmethod
    def read(cls, y: ArrayLike, class_weight: ClassWeight) -> Self:
        """Labels, checked; which of them are classes is known once their rows' weights are."""
        y = check_labels(y)
        classes, labels = np.unique(y, return_inverse=True)
        return cls(classes, labels, class_weight)

    def take(self, rows: Array) -> Self:
        """Of some rows; classes without rows are dropped, and two must be left."""
        classes, labels = encode_labels(self.classes[self.labels[rows]], None)
        return replace(self, classes=classes, labels=labels)

    @property
    def keys(self) -> Keys:
        return label_keys(self.classes, self.labels)

    def merge(
        self, X: Rows, weight: Array, groups: Array | None, seed: int, keys: Keys
    ) -> DistinctRows:
        k = len(self.classes)
        counts = np.bincount(self.labels, weight, k)
        factors = class_factors(self.class_weight, self.classes, counts)
        return merge_rows(X, self.labels, weight, k, groups, seed, keys, factors)

    def places(self, rows: DistinctRows) -> Array | None:
        return self.labels


@dataclass(frozen=True)
class GivenLabels:
    """Several labels per row."""

    classes: Array  # (L,) their names, or their positions
    there: Array  # (n, L) of 0 and 1

    @classmethod
    def of(cls, classes: Array, there: Array, class_weight: ClassWeight) -> Self:
        """Which labels each row has; classes, of which each row has one, can be weighed."""
        if len(classes) < 2:
            raise ValueError(
                f"y has lists of labels, and {len(classes)} label in all; several are needed. For "
                "one label pass whether it is there, True or False."
            )
        if class_weight is not None:
            raise ValueError(
                f"class_weight={class_weight!r} weighs classes, and y has several labels per row, "
                "none of which excludes another. Leave it out, or pass sample_weight."
            )
        return cls(classes, there)

    def take(self, rows: Array) -> Self:
        return replace(self, there=self.there[rows])

    @property
    def keys(self) -> Keys:
        return row_keys(self.there)

    def merge(
        self, X: Rows, weight: Array, groups: Array | None, seed: int, keys: Keys
    ) -> DistinctRows:
        return merge_labelled(X, self.there, weight, groups, seed, keys)

    def places(self, rows: DistinctRows) -> Array | None:
        return None


@dataclass(frozen=True)
class GivenNumbers:
    """Real targets, one or several."""

    values: Array  # (n, q)
    single: bool  # whether y had one dimension

    @classmethod
    def read(cls, y: ArrayLike) -> Self:
        """Numbers, checked."""
        values = check_real_targets(y)
        return cls(values.reshape(len(values), -1), values.ndim == 1)

    def take(self, rows: Array) -> Self:
        return replace(self, values=self.values[rows])

    @property
    def keys(self) -> Keys:
        return row_keys(self.values)

    def merge(
        self, X: Rows, weight: Array, groups: Array | None, seed: int, keys: Keys
    ) -> DistinctRows:
        return merge_valued(X, self.values, weight, groups, seed, keys)

    def places(self, rows: DistinctRows) -> Array | None:
        return distinct_values(self.values, rows.inverse)[1]


def class_factors(
    class_weight: ClassWeight,
    classes: Array,
    counts: Array,  # (k,) weight of each
) -> Array | None:
    """Factors on the weights of rows, by class, whose weighted mean is one, (k,)."""
    if class_weight is None:
        return None
    factor = weigh_classes(class_weight, classes, counts, classes)
    return np.asarray(factor * counts.sum() / (factor @ counts))
