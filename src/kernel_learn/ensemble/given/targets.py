"""Targets as a user gives them: classes or numbers, checked, and merged with equal rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.preprocessing import MultiLabelBinarizer

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
from kernel_learn.rows.access import dense, is_sparse
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
    def read(cls, y: ArrayLike) -> Self | None:
        """An indicator of at least two columns, or lists of labels; None if y is neither."""
        if is_label_lists(y):
            binarizer = MultiLabelBinarizer()
            there = binarizer.fit_transform([list(own) for own in cast(Sequence[list[Any]], y)])
            if len(binarizer.classes_) < 2:
                raise ValueError(
                    f"y has lists of labels, and {len(binarizer.classes_)} label in all; several "
                    "are needed. For one label pass whether it is there, True or False."
                )
            return cls(binarizer.classes_, there.astype(np.float64))
        there = indicator(y)
        return None if there is None else cls(np.arange(there.shape[1]), there)

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


def is_label_lists(y: object) -> bool:
    """Whether each entry is a list, tuple or set of labels, and y is no table of numbers."""
    if not isinstance(y, list | tuple) and not (isinstance(y, np.ndarray) and y.dtype == object):
        return False
    entries = list(y)
    if not entries or not all(isinstance(own, list | tuple | set | frozenset) for own in entries):
        return False
    lengths = {len(own) for own in entries}
    texts = any(isinstance(label, str) for own in entries for label in own)
    sets = any(isinstance(own, set | frozenset) for own in entries)
    return texts or sets or len(lengths) > 1


def indicator(y: object) -> Array | None:
    """A table of 0 and 1 with several columns; None if y is something else."""
    if not (is_sparse(y) or hasattr(y, "shape") or isinstance(y, list)):
        return None
    found = dense(y)
    if found.ndim != 2 or found.shape[1] < 2 or found.shape[0] < 2:
        return None
    if found.dtype.kind not in "biuf" or not np.all((found == 0) | (found == 1)):
        return None
    return found.astype(np.float64)


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
