"""What passes over a stream leave: a value that adds up, in any order, on any machine.

The state of some rows is their number and digest, their classes, the summary, and,
once a feature map is fixed, the moments of its features and the labels. Of two sets
of rows ``a + b`` is the state of both: a class that only one of them has seen is a
target that is zero on the rows of the other.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.feature_map import FeatureMap, same_array
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.sources import one_hot
from kernel_learn.representations.summary import Summary
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.digest import MODULUS, PassDigest
from kernel_learn.rows.keys import hash_texts, mix_words


@dataclass(frozen=True)
class StreamState:
    """The state of a fit on a stream; ``a + b`` is that of the rows of both.

    ``classes`` are sorted, None where targets are values. ``summary``, ``moments``
    and ``sums`` (weighted sums of the rows of each class) are there if they were asked for.
    """

    n_rows: int
    digest: int  # sum over the rows of a hash of row and label, modulo 2^64
    n_targets: int
    classes: Array | None  # (k,)
    summary: Summary | None = None
    features: FeatureMap | None = None
    moments: Moments | None = None
    sums: Any = None  # (k, d)
    is_faded: bool = False  # whether rows count less than they did when they came

    @classmethod
    def of(
        cls,
        rows: CheckedBlock,
        features: FeatureMap | None = None,
        *,
        classes: Array | None = None,  # known already
        summarize: bool = True,
        last_key: np.uint64 | None = None,  # see Summary.of
        class_sums: bool = False,
        capacity: int | None = None,
    ) -> Self:
        """The state of one block."""
        X, y, weight = rows.X, rows.y, rows.weight
        labels, k = y, None
        if not rows.is_valued:
            own, labels = rows.encoded
            classes = own if classes is None else union_labels(classes, own)
            labels, k = np.searchsorted(classes, own)[labels], len(classes)
        summary = moments = sums = None
        if summarize:
            summary = Summary.of(
                X,
                labels,
                weight,
                n_classes=k,
                keys=rows.keys,
                marks=rows.marks,
                last_key=last_key,
                capacity=capacity,
            )
        if features is not None:
            T = labels if k is None else one_hot(labels, k)
            moments = features.block_moments(X, T, weight)
        if class_sums and k is not None:
            sums = one_hot(labels, k).T * weight @ X
        return cls(
            n_rows=n_rows(X),
            digest=joint_digest(rows, classes, labels),
            n_targets=y.shape[1] if k is None else k,
            classes=classes,
            summary=summary,
            features=features,
            moments=moments,
            sums=sums,
        )

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, StreamState):
            return NotImplemented
        if (self.classes is None) != (other.classes is None):
            raise ValueError("States of class labels and of real targets cannot be added.")
        if self.features is not None and not self.features.equals(other.features):
            raise ValueError(
                "The states to be added have different landmarks or kernels. Fix them once "
                "(landmarks=rows, widths as numbers), or start both from one state."
            )
        a, b = self, other
        if a.classes is not None and not same_array(a.classes, b.classes):
            classes = union_labels(a.classes, b.classes)
            a, b = a.with_classes(classes), b.with_classes(classes)
        return replace(
            a,
            n_rows=a.n_rows + b.n_rows,
            digest=(a.digest + b.digest) % MODULUS,
            summary=a.summary.merge(b.summary) if a.summary and b.summary else None,
            moments=a.moments.merge(b.moments) if a.moments and b.moments else None,
            sums=None if a.sums is None or b.sums is None else a.sums + b.sums,
            is_faded=a.is_faded or b.is_faded,
        )

    def faded(self, factor: float) -> Self:
        """The same rows, each counting so much less."""
        if factor == 1.0:
            return self
        return replace(
            self,
            summary=None if self.summary is None else self.summary.faded(factor),
            moments=None if self.moments is None else self.moments.faded(factor),
            sums=None if self.sums is None else factor * self.sums,
            is_faded=True,
        )

    def with_effective_rows(self) -> Self:
        """Of rows that fade: as many as their weights count for, where that is fewer."""
        n = self.n_rows if self.summary is None else int(self.summary.n)
        return replace(self, n_rows=min(self.n_rows, max(1, n)), is_faded=True)

    def with_classes(self, classes: Array) -> Self:
        """The same rows as part of a sample with these (sorted) classes."""
        if self.classes is None or same_array(self.classes, classes):
            return self
        place, k = np.searchsorted(classes, self.classes), len(classes)
        if not same_array(np.asarray(classes)[np.minimum(place, k - 1)], self.classes):
            raise ValueError("The classes given do not hold those of the state.")
        sums = None
        if self.sums is not None:
            E = np.zeros((k, len(place)))
            E[place, np.arange(len(place))] = 1.0
            sums = E @ self.sums
        return replace(
            self,
            classes=classes,
            n_targets=k,
            summary=None if self.summary is None else self.summary.with_classes(place, k),
            moments=None if self.moments is None else self.moments.with_targets(place, k),
            sums=sums,
        )


@dataclass(frozen=True)
class PassSum:
    """What a pass added up over some rows, with their digest; ``value`` may be nothing."""

    read: PassDigest
    value: Any = None

    @classmethod
    def over(
        cls, blocks: Iterable[CheckedBlock], work: Callable[[Iterator[CheckedBlock]], Any]
    ) -> "PassSum":
        """``work`` on checked rows, which are digested as they are read."""
        found = [PassDigest()]

        def digested() -> Iterator[CheckedBlock]:
            for block in blocks:
                found[0] += block.digest
                yield block

        value = work(digested())
        return cls(found[0], value)

    @property
    def n_rows(self) -> int:
        """How many rows were counted."""
        return self.read.n

    def __add__(self, other: "PassSum") -> "PassSum":
        nothing = self.value is None or other.value is None
        return PassSum(self.read + other.read, None if nothing else self.value + other.value)


def class_places(classes: Array, y: Array) -> Array:
    """Labels as indices of the (sorted) classes that the first pass found."""
    place = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    new = np.flatnonzero(classes[place] != y)
    if len(new):
        raise ValueError(
            f"The source gave the label {y[new[:1]].tolist()[0]!r} in a later pass and not in the "
            "first: it must give the same rows each time."
        )
    return place


def is_text(labels: Array) -> bool:
    """Whether labels are texts, not numbers."""
    return labels.dtype.kind in "OUS"


def union_labels(a: Array, b: Array | None) -> Array:
    """Sorted labels of both; numbers and texts are never the same kind of label."""
    b = a[:0] if b is None else b
    if len(a) and len(b) and is_text(a) != is_text(b):
        raise ValueError(
            f"Labels such as {b.tolist()[0]!r} are {'texts' if is_text(b) else 'numbers'}, and "
            f"others such as {a.tolist()[0]!r} are {'texts' if is_text(a) else 'numbers'}. Make "
            "them all alike."
        )
    return np.union1d(a, b)


def joint_digest(rows: CheckedBlock, classes: Array | None, labels: Array) -> int:
    """The sum of hashes of rows with their labels: of any order, and of one row more another."""
    own = rows.label_keys
    if classes is not None:
        own = hash_texts(str(label).encode() for label in classes.tolist())[labels]
    return int(np.sum(mix_words(rows.keys ^ mix_words(own)), dtype=np.uint64))


def next_state(
    rows: CheckedBlock,
    before: StreamState | None,
    features: FeatureMap | None = None,
    *,
    class_sums: bool = False,
    capacity: int | None = None,
) -> StreamState:
    """The state of a block that will be added to ``before``: nothing is kept that would be cut."""
    summary = None if before is None else before.summary
    return StreamState.of(
        rows,
        features,
        classes=None if before is None else before.classes,
        last_key=None if summary is None else summary.last_key,
        class_sums=class_sums,
        capacity=capacity,
    )


def sum_states(
    blocks: Iterable[CheckedBlock],
    before: StreamState | None,
    features: FeatureMap | None = None,
    *,
    class_sums: bool = False,
) -> StreamState:
    """The state with the rows of all blocks added, of which there is one at the least."""
    for rows in blocks:
        part = next_state(rows, before, features, class_sums=class_sums)
        before = part if before is None else before + part
    assert before is not None
    return before
