"""Where rows come from: blocks of training rows with their labels and weights."""

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.kernels.pool import column_sums
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.summary import (
    Summary,
    capacity_of,
    label_sums,
    row_bytes,
    summed_labels,
)
from kernel_learn.rows.access import dense, n_rows, row_blocks, take_rows
from kernel_learn.rows.block import Block
from kernel_learn.rows.groups import ranks_of, shared_places
from kernel_learn.rows.keys import digest, row_keys


class Source(Protocol):
    """Rows that are read in blocks, once or, if it ``rewinds``, as often as needed."""

    rewinds: bool

    def blocks(self, rows: int) -> Iterator[Block]:
        """All rows, at most ``rows`` at a time."""


class ArraySource:
    """Rows in memory or mapped into it: an array, sparse matrix, table or strings.

    ``n_classes`` says that labels are class indices; None that they are values.
    Rows of a kernel matrix (``is_matrix``) are all distinct: columns belong to them.
    """

    rewinds = True

    def __init__(
        self,
        X: Rows,
        labels: Array,  # (n,) or (n, q)
        weight: Array | None = None,  # (n,), None for ones
        *,
        n_classes: int | None = None,
        is_matrix: bool = False,
        keys: Keys | None = None,  # of the rows, if they are known
        copied_bytes: float = 0.0,  # of rows that were copied for this source
        groups: Array | None = None,  # (n,) numbers of groups whose rows are left out together
    ) -> None:
        self.X, self.labels, self.n_classes, self.is_matrix = X, labels, n_classes, is_matrix
        self.weight = np.ones(n_rows(X)) if weight is None else weight
        self._keys, self.copied_bytes, self.groups = keys, copied_bytes, groups

    @property
    def n_rows(self) -> int:
        """Rows as given."""
        return n_rows(self.X)

    @property
    def n_targets(self) -> int:
        """Classes, or columns of values."""
        return int(self.labels.shape[1]) if self.n_classes is None else self.n_classes

    @cached_property
    def keys(self) -> Keys:
        """Of the rows' contents; of a kernel matrix their numbers.

        With groups the ranks of contents and groups: equal rows of two groups are two rows.
        """
        if self._keys is not None:
            return self._keys
        if self.is_matrix:
            return np.arange(self.n_rows, dtype=np.uint64)
        keys = self.content_keys
        return keys if self.groups is None else ranks_of(keys, self.groups)

    @cached_property
    def content_keys(self) -> Keys:
        """Of the rows' contents alone."""
        return row_keys(self.X) if self.groups is not None or self._keys is None else self._keys

    @property
    def digest(self) -> str:
        """Which rows they are, in any order; nothing of a kernel matrix."""
        if self.is_matrix:
            return ""
        return digest(self.content_keys)

    def units(self, rows: Array) -> tuple[Array, ...]:
        """Of some rows given, places of those that are left out together, two or more each."""
        return () if self.groups is None else shared_places(self.groups[rows])

    @cached_property
    def _unique(self) -> tuple[Array, Array]:
        _, first, inverse = np.unique(self.keys, return_index=True, return_inverse=True)
        return first, inverse

    @property
    def first(self) -> Array:
        """One index per distinct row, in the order of their keys."""
        return self._unique[0]

    @property
    def inverse(self) -> Array:
        """The distinct row of each row."""
        return self._unique[1]

    @property
    def n_distinct(self) -> int:
        """Rows without their repetitions."""
        return len(self.first)

    @cached_property
    def summary(self) -> Summary:
        """The bottom-k summary, its rows being indices."""
        first, inverse = self._unique
        kept = first[: self.n_rows if self.is_matrix else capacity_of(self.X)]
        return Summary(
            n=float(self.weight.sum()),
            columns=None if self.is_matrix else column_sums(self.X, self.weight),
            counts=self.counts,
            keys=self.keys[kept],
            rows=kept,
            weight=np.bincount(inverse, self.weight, len(first))[: len(kept)],
            labels=summed_labels(inverse, self.labels, self.weight, self.n_classes, len(kept)),
            capacity=len(kept),
            n_known=len(first),
        )

    @property
    def counts(self) -> Array:
        """The weight of each class, or the weighted sum of each value."""
        return label_sums(self.labels, self.weight, self.n_classes)

    def with_labels(self, labels: Array, n_classes: int | None) -> "ArraySource":
        """The same rows with other labels; their keys are not computed again."""
        keys = self.__dict__.get("keys", self._keys)
        other = ArraySource(
            self.X,
            labels,
            self.weight,
            n_classes=n_classes,
            is_matrix=self.is_matrix,
            keys=keys,
            copied_bytes=self.copied_bytes,
            groups=self.groups,
        )
        if "_unique" in self.__dict__:
            other.__dict__["_unique"] = self._unique
        return other

    def with_targets_at(self, shift: Array, scale: Array) -> "ArraySource":
        """The same rows with the values (T - shift) * scale."""
        return self.with_labels((self.labels - shift) * scale, None)

    def target_moments(self) -> Moments:
        """Of the values of all rows, each as often as it counts."""
        return Moments.of_joint(np.array(self.labels, dtype=np.float64), 0, self.weight)

    def reweighted(self, factor: Array) -> "ArraySource":
        """The same rows, their weights times a factor; their keys are not computed again."""
        other = self.with_labels(self.labels, self.n_classes)
        other.weight = self.weight * factor
        return other

    def with_rows(self, X: Rows) -> "ArraySource":
        """The same rows in another form; their keys are not computed again."""
        if X is self.X:
            return self
        other = self.subset(np.arange(self.n_rows))
        other.X = X
        return other

    def subset(self, rows: Array) -> "ArraySource":
        """Some of the rows; all of them in their order are not copied."""
        whole = np.array_equal(rows, np.arange(self.n_rows))
        X = self.X if whole else take_rows(self.X, rows)
        return ArraySource(
            X,
            self.labels[rows],
            self.weight[rows],
            n_classes=self.n_classes,
            is_matrix=self.is_matrix,
            keys=self.keys[rows],
            copied_bytes=self.copied_bytes + (0.0 if whole else n_rows(X) * row_bytes(X)),
            groups=None if self.groups is None else self.groups[rows],
        )

    def blocks(self, rows: int) -> Iterator[Block]:
        """All rows, at most ``rows`` at a time."""
        for part in row_blocks(self.n_rows, rows):
            yield Block(take_rows(self.X, part), self.labels[part], self.weight[part])

    def targets(self, labels: Array) -> Array:
        """Labels as columns of numbers: one-hot, or the values themselves."""
        return labels if self.n_classes is None else one_hot(labels, self.n_classes)

    @property
    def merged_place(self) -> Array:
        """Where each distinct row, in the order of their keys, stands among the merged ones."""
        return np.argsort(np.argsort(self.first))

    def merged(self) -> tuple[Rows, Array, Array]:
        """Distinct rows in their first order, with averaged targets and summed weights."""
        if self.n_distinct == self.n_rows:
            return self.X, self.targets(self.labels), self.weight
        m, order = self.n_distinct, np.argsort(self.first)
        weight = np.bincount(self.inverse, self.weight, m)
        total = dense(summed_labels(self.inverse, self.labels, self.weight, self.n_classes, m))
        total /= weight[:, None]
        return take_rows(self.X, self.first[order]), total[order], weight[order]

    def merged_by_label(self, *, by_content: bool = False) -> tuple["ArraySource", Array, Array]:
        """Equal rows with one label as one row of their summed weight.

        Also which row of it stands for each row given, and the first row of each. In
        their first order, so rows that are distinct stay where they are; or
        ``by_content``, so repeated and weighted rows give the same to the last bit.
        """
        assert self.n_classes is not None
        pairs = self.inverse * self.n_classes + self.labels
        _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        if self.is_matrix or (len(first) == self.n_rows and not by_content):
            return self, np.arange(self.n_rows), np.arange(self.n_rows)
        if not by_content:
            order = np.argsort(first)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            inverse, first = place[inverse], first[order]
        merged = self.subset(first)
        merged.weight = np.bincount(inverse, self.weight, len(first))
        return merged, inverse, first


def one_hot(labels: Array, k: int) -> Array:
    """A row of zeros and a one per label, (n, k)."""
    Y = np.zeros((len(labels), k))
    Y[np.arange(len(labels)), labels] = 1.0
    return Y
