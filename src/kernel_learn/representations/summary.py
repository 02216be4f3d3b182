"""A sample in brief: sums over all rows, and the rows with the smallest keys.

Every row has a 64-bit key by its content. Of the distinct rows those with the
k smallest keys are kept, with their summed weights and labels: a row among the
last k smallest was among the k smallest ever since it first came, so its sums
are complete, whatever the order and the size of the blocks. Two summaries merge
into that of all their rows. Everything that is chosen (widths, landmarks, graph
nodes) is chosen from it, so an array and a stream give the same model.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Keys, Rows
from kernel_learn.kernels.pool import ColumnSums, Pool, column_sums
from kernel_learn.rows.access import dense, is_sparse, n_rows, take_rows
from kernel_learn.rows.keys import row_keys
from kernel_learn.rows.table import Table

# Rows that a summary keeps at the most, and what they may take. It does not depend
# on a budget: how much memory there is must not change what is chosen.
CAPACITY = 20_000
CAPACITY_BYTES = 256 * 10**6


@dataclass(frozen=True)
class Summary:
    """n, class counts and column sums of all rows; keys, rows, weights and labels of some.

    ``rows`` are the rows themselves, or their indices where they are in memory.
    """

    n: float  # sum of weights
    counts: Array  # (k,) weight of each class, or (q,) weighted sums of values
    columns: ColumnSums | None  # None if rows are not numbers
    keys: Keys  # (m,) ascending
    rows: Rows  # (m, ...)
    weight: Array  # (m,)
    labels: Rows  # CSR (m, k) weight per class, or (m, q) weighted sums of values
    capacity: int
    n_known: int | None = None  # distinct rows, None once some were left out
    # (m, 2): how often each row came, and the sum of the marks of its labels and weights, both
    # modulo 2^64. None of rows in memory, and in files of before there was such a record.
    seen: Keys | None = None

    @classmethod
    def of(
        cls,
        X: Rows,
        labels: Array,  # (n,) class indices or (n, q) values
        weight: Array | None = None,
        *,
        n_classes: int | None = None,
        capacity: int | None = None,
        keys: Keys | None = None,  # of the rows, if they are known
        marks: Keys | None = None,  # (n,) of their labels and weights
        last_key: np.uint64 | None = None,  # rows with larger keys will not be needed
    ) -> Self:
        """The summary of one block of rows."""
        capacity = capacity_of(X) if capacity is None else capacity
        w = np.ones(n_rows(X)) if weight is None else weight
        keys = row_keys(X) if keys is None else keys
        keys, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        m = len(first) if last_key is None else int(np.searchsorted(keys, last_key, "right"))
        everything = cls(
            n=float(w.sum()),
            counts=label_sums(labels, w, n_classes),
            columns=column_sums(X, w),
            keys=keys[:m],
            rows=take_rows(X, first[:m]),
            weight=np.bincount(inverse, w, len(first)).astype(np.float64)[:m],
            labels=summed_labels(inverse, labels, w, n_classes, m),
            capacity=capacity,
            n_known=len(first) if m == len(first) else None,
            seen=None if marks is None else summed_marks(inverse, marks, m),
        )
        return everything._cut()

    @property
    def last_key(self) -> np.uint64 | None:
        """The largest key that a row may have to be kept, if there are enough with smaller ones."""
        return self.keys[-1] if len(self.keys) >= self.capacity else None

    def with_classes(self, place: Array, n_classes: int) -> Self:
        """The same with more classes; class c of before is now class ``place[c]``."""
        counts = np.zeros(n_classes)
        counts[place] = self.counts
        own = sparse.coo_array(self.labels)
        cells = (own.coords[0], place[own.coords[1]])
        labels = sparse.csr_array((own.data, cells), shape=(len(self.keys), n_classes))
        return replace(self, counts=counts, labels=labels)

    def with_targets_at(self, shift: Array, scale: Array) -> Self:  # (q,) each
        """The same rows with the values (T - shift) * scale."""
        labels = (dense(self.labels) - self.weight[:, None] * shift) * scale
        return replace(self, counts=(self.counts - self.n * shift) * scale, labels=labels)

    def faded(self, factor: float) -> Self:
        """Of the same rows, each counting so much less."""
        columns = self.columns
        if columns is not None:
            columns = replace(columns, n=factor * columns.n, squares=factor * columns.squares)
        return replace(
            self,
            n=factor * self.n,
            counts=factor * self.counts,
            columns=columns,
            weight=factor * self.weight,
            labels=factor * self.labels,
        )

    def merge(self, other: Self) -> Self:
        """The summary of the rows of both."""
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        m = len(keys)
        first = np.zeros(m, int)
        first[place[::-1]] = np.arange(len(place))[::-1]
        labels = _adding(place, np.ones(len(place)), m) @ stack_rows(self.labels, other.labels)
        columns = None
        if self.columns is not None and other.columns is not None:
            columns = self.columns.merge(other.columns)
        both_known = self.n_known is not None and other.n_known is not None
        seen = None
        if self.seen is not None and other.seen is not None:
            seen = np.zeros((m, 2), dtype=np.uint64)
            np.add.at(seen, place, np.concatenate([self.seen, other.seen]))
        return type(self)(
            n=self.n + other.n,
            counts=self.counts + other.counts,
            columns=columns,
            keys=keys,
            rows=take_rows(stack_rows(self.rows, other.rows), first),
            weight=np.bincount(place, np.concatenate([self.weight, other.weight]), m),
            labels=labels,
            capacity=min(self.capacity, other.capacity),
            n_known=m if both_known else None,
            seen=seen,
        )._cut()

    def _cut(self) -> Self:
        """At most ``capacity`` rows."""
        if len(self.keys) <= self.capacity:
            return self
        kept = slice(0, self.capacity)
        return replace(
            self,
            keys=self.keys[kept],
            rows=take_rows(self.rows, kept),
            weight=self.weight[kept],
            labels=self.labels[kept],
            n_known=None,
            seen=None if self.seen is None else self.seen[kept],
        )

    @property
    def n_distinct(self) -> int:
        """Exact up to the capacity, else estimated from the largest key that was kept.

        Keys are uniform: if the k-th smallest is the share u of all keys there are
        about (k - 1)/u rows, to a relative error of 1/sqrt(k).
        """
        if self.n_known is not None:
            return self.n_known
        return int((len(self.keys) - 1) / (float(self.keys[-1]) / 2.0**64))

    def pool(self, X: Rows | None = None) -> Pool:
        """The kept rows as rules see them; of the array X if ``rows`` are its indices."""
        if X is None:
            return Pool(self.rows, None, self.weight, self.columns)
        whole = len(self.rows) == n_rows(X) and self.columns is None
        if whole and np.array_equal(self.rows, np.arange(len(self.rows))):
            return Pool(X, None, self.weight, self.columns)  # a kernel matrix, not copied
        return Pool(X, self.rows, self.weight, self.columns)


def label_sums(labels: Array, weight: Array, n_classes: int | None) -> Array:
    """The weight of each class, (k,), or the weighted sum of each value, (q,)."""
    if n_classes is None:
        return np.asarray(weight @ labels)
    return np.bincount(labels, weight, n_classes).astype(np.float64)


def capacity_of(X: Rows) -> int:
    """How many rows like these a summary keeps."""
    return max(2, int(min(CAPACITY, CAPACITY_BYTES / max(1.0, row_bytes(X)))))


def row_bytes(X: Rows) -> float:
    """Bytes of a row, on average; of a string or another object that of a pointer."""
    n = max(1, n_rows(X))
    if is_sparse(X):
        return 1.5 * float(X.data.nbytes) / n  # the column indices are half as long
    if isinstance(X, Table | np.ndarray):
        return float(X.nbytes) / n
    return 64.0


def summed_labels(
    groups: Array,  # (n,)
    labels: Array,  # (n,) class indices or (n, q) values
    weight: Array,  # (n,)
    n_classes: int | None,
    m: int,
) -> Rows:
    """Of the groups 0..m-1: the weight of each class, CSR (m, k), or sums of values, (m, q)."""
    few = groups < m
    if not few.all():
        groups, labels, weight = groups[few], labels[few], weight[few]
    if n_classes is not None:
        return sparse.csr_array((weight, (groups, labels)), shape=(m, n_classes))
    return _adding(groups, weight, m) @ labels


def summed_marks(groups: Array, marks: Keys, m: int) -> Keys:
    """Of the groups 0..m-1: how many rows each has, and the sum of their marks, (m, 2)."""
    few = groups < m
    found = np.zeros((m, 2), dtype=np.uint64)
    np.add.at(found[:, 0], groups[few], np.uint64(1))
    np.add.at(found[:, 1], groups[few], marks[few])
    return found


def _adding(groups: Array, weight: Array, m: int) -> Rows:
    """The matrix (m, n) that adds up weighted rows by group."""
    return sparse.csr_array((weight, (groups, np.arange(len(groups)))), shape=(m, len(groups)))


def stack_rows(*parts: Rows) -> Rows:
    """The rows of all parts, one below the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Table):
        numbers = stack_rows(*(part.numbers for part in parts))
        others = np.vstack([part.others for part in parts])
        return Table(first.names, numbers, others, first.place)
    if is_sparse(first):
        return sparse.vstack(parts, format="csr")
    return np.concatenate([np.asarray(part) for part in parts])
