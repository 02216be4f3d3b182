"""A fitted average of members: what it says of new rows, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.criteria.held_out.stacking import LinearMap, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.cross_validation import Judged
from kernel_learn.ensemble.kernel_features import KernelFeatures, WeightedKernel, weigh_kernels
from kernel_learn.ensemble.table_views import TableView
from kernel_learn.kernels import Combination, evaluate_shared
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

# Members below this share of the heaviest one's weight are not kept.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Part:
    """One member of the average: a kernel on a view, its model and its map to log-odds."""

    kernel: WeightedKernel
    model: Dual
    second: LinearMap
    weight: float


@dataclass(frozen=True)
class Machine:
    """Training rows in the views that are used, and the members on them."""

    kernels: KernelFeatures
    parts: Sequence[Part]

    @property
    def reader(self) -> TableReader:
        return self.kernels.reader

    @property
    def rows(self) -> Mapping[tuple[str, bool], Rows]:
        """Scaled training rows of each place."""
        return self.kernels.rows

    @property
    def targets(self) -> Targets:
        return self.kernels.targets

    def proba(self, table: Table) -> Array:
        """Averaged probabilities, (n_new, k)."""
        P = np.zeros((table.numbers.shape[0], self.targets.n_classes))
        if not self.parts:
            P += self.targets.counts.sum(axis=0) + 0.5
        for rows, part, K in self._kernel_blocks(table):
            P[rows] += part.weight * softmax(part.second(part.model.scores(K)))
        return P / P.sum(axis=1, keepdims=True)

    def contributions(self, table: Table, contrast: Array) -> tuple[Array, Array]:
        """What each training row adds to contrast'logits (n_new, n), and the rest (n_new,).

        With the averaged log-odds L = sum_m weight_m logits_m(x) and contrast (n_new, k):
        contrast_i'L(x_i) = rest_i + sum_j contribution_ij.
        """
        added, rest = np.zeros((len(contrast), self.targets.n)), np.zeros(len(contrast))
        for rows, part, K in self._kernel_blocks(table):
            pull = part.weight * part.model.coef @ part.second.coef
            added[rows] += K * (contrast[rows] @ pull.T)
        for part in self.parts:
            rest += part.weight * (contrast @ part.second(part.model.intercept))
        return added, rest

    def kernel_object(self) -> Combination:
        return self.kernels.kernel_object()

    def features(self, table: Table) -> Array:
        return self.kernels.features(table)

    def _kernel_blocks(self, table: Table) -> Iterator[tuple[slice, Part, Array]]:
        """(rows, member, kernel values of these rows with the training rows)."""
        for place in dict.fromkeys(part.kernel.place for part in self.parts):
            parts = [part for part in self.parts if part.kernel.place == place]
            for rows, S in self.kernels.statistics_blocks(table, place):
                for part in parts:
                    yield rows, part, evaluate_shared(part.kernel.kernel, S)


def build_machine(
    judged: Sequence[Judged],
    weights: Array,
    views: Mapping[str, TableView],
    rows: Mapping[str, Rows],
    reader: TableReader,
    targets: Targets,
) -> Machine:
    """The average of judged members, without those of negligible weight."""
    kept = [
        (one, w) for one, w in zip(judged, weights, strict=True) if w > LEAST_SHARE * weights.max()
    ]
    shares = np.array([w for _, w in kept]) / sum(w for _, w in kept)
    kernels = weigh_kernels([one for one, _ in kept], shares, views, rows, reader, targets)
    parts = [
        Part(kernel, one.model, one.second, float(share))
        for kernel, (one, _), share in zip(kernels.parts, kept, shares, strict=True)
    ]
    return Machine(kernels, tuple(parts))
