"""Targets of rows that come in blocks: gathered in one pass, or told by what was kept of it."""

from dataclasses import dataclass, field, replace

import numpy as np

from kernel_learn.arrays import Array, ClassWeight
from kernel_learn.criteria.held_out.number_targets import merge_values
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.given.targets import (
    GivenClasses,
    GivenLabels,
    GivenNumbers,
    GivenTargets,
    class_factors,
)
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.representations.block import CheckedBlock
from kernel_learn.representations.state import StreamState, class_places
from kernel_learn.rows.access import dense
from kernel_learn.rows.labels import check_two_classes


@dataclass
class GatheredTargets:
    """The labels or values of all blocks, labels in four bytes each."""

    class_weight: ClassWeight = None
    _classes: list[Array] = field(default_factory=list)  # of each block
    _parts: list[Array] = field(default_factory=list)

    def add(self, block: CheckedBlock) -> None:
        """Those of one more block."""
        if block.is_valued:
            self._parts.append(block.y)
            return
        own, labels = block.encoded
        self._classes.append(own)
        self._parts.append(labels.astype(np.int32))

    def all(self, single: bool, is_set: bool) -> GivenTargets:
        """As if they had been given at once; ``single``: values were one-dimensional."""
        if not self._classes:
            values = np.concatenate(self._parts)
            if is_set:
                return GivenLabels.of(np.arange(values.shape[1]), values, self.class_weight)
            return GivenNumbers(values, single)
        classes = check_two_classes(np.unique(np.concatenate(self._classes)))
        labels = [
            np.searchsorted(classes, own)[part]
            for own, part in zip(self._classes, self._parts, strict=True)
        ]
        return GivenClasses(classes, np.concatenate(labels), self.class_weight)


@dataclass(frozen=True)
class SampledTargets:
    """Targets of the rows that a pass has kept, and how those of all rows are read again."""

    given: GivenTargets
    targets: AnyTargets  # of the rows kept, in the order that was asked for
    factor: Array | None = None  # (k,) of classes

    @classmethod
    def of(
        cls, state: StreamState, order: Array, single: bool, class_weight: ClassWeight
    ) -> "SampledTargets":
        """From what a pass has kept; of numbers the means of equal rows."""
        summary = state.summary
        assert summary is not None
        if state.classes is None:
            weight, values = summary.weight[order], dense(summary.labels)[order]
            merged = merge_values(values / weight[:, None], weight, np.arange(len(order)))
            # all rows may have values that these have not: no logarithm
            return cls(GivenNumbers(values[:0], single), merged.as_given())
        classes = check_two_classes(state.classes)
        own = class_factors(class_weight, classes, summary.counts)
        factor = np.ones(len(classes)) if own is None else own
        counts = summary.labels[order].toarray() * factor
        given = GivenClasses(classes, np.empty(0, dtype=int), class_weight)
        return cls(given, Targets(counts, (), own), factor)

    def read(self, block: CheckedBlock) -> CheckedBlock:
        """A block with class indices, and weights by class."""
        if self.factor is None:
            return block
        assert isinstance(self.given, GivenClasses)
        labels = class_places(self.given.classes, block.y)
        return replace(block, y=labels, weight=block.weight * self.factor[labels])
