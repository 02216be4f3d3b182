"""Weighted kernels on their views as one kernel, and its discriminant features."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import scale_columns
from kernel_learn.criteria.held_out.ridge import LEAST_SLACK, Dual, RidgePath
from kernel_learn.criteria.held_out.stacking import LinearMap, fit_discriminants, rank_scores
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import REGS
from kernel_learn.ensemble.table_views import RawView, TableView
from kernel_learn.kernels import Combination, Kernel, SharedStatistics, evaluate_shared
from kernel_learn.kernels.viewed import ViewKernel
from kernel_learn.rows.access import row_blocks, take_rows
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

# Entries of one block of kernel values between new rows and training rows.
BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class WeightedKernel:
    """A kernel on a view, scaled or not, and its factor in the sum."""

    candidate: Candidate
    kernel: Kernel
    scales: Array | None
    factor: float

    @property
    def place(self) -> tuple[str, bool]:
        return self.candidate.place


@dataclass(frozen=True)
class KernelFeatures:
    """sum of factor * kernel, each on its view, and rows from which its features are learned."""

    reader: TableReader
    views: Mapping[str, TableView]
    rows: Mapping[tuple[str, bool], Rows]  # scaled training rows of each place
    parts: Sequence[WeightedKernel]
    targets: Targets

    def __getstate__(self) -> dict[str, Any]:
        """Places as pairs: the keys of a model file are texts."""
        return {**vars(self), "rows": [(*place, rows) for place, rows in self.rows.items()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = {(view, learned): rows for view, learned, rows in state["rows"]}
        vars(self).update({**state, "rows": rows})

    def kernel_object(self) -> Combination:
        """The sum, an object that takes rows as the user has them."""
        kernels = [
            ViewKernel(
                part.kernel, RawView(self.reader, self.views[part.candidate.view], part.scales)
            )
            for part in self.parts
        ]
        return Combination(kernels, np.array([part.factor for part in self.parts]))

    def features(self, table: Table) -> Array:
        """Discriminant features of the sum, (n_new, k - 1)."""
        n_new = table.numbers.shape[0]
        if not self.parts:
            return np.zeros((n_new, self.targets.n_classes - 1))
        model, projection = self._discriminant
        scores = np.tile(model.intercept, (n_new, 1))
        for place in dict.fromkeys(part.place for part in self.parts):
            for rows, S in self.statistics_blocks(table, place):
                scores[rows] += self._sum(place, S) @ model.coef
        return projection(scores)

    def statistics_blocks(
        self, table: Table, place: tuple[str, bool]
    ) -> Iterator[tuple[slice, SharedStatistics]]:
        """(rows, statistics of these rows with the training rows)."""
        Z = self.views[place[0]].rows(table)
        scales = next(part.scales for part in self.parts if part.place == place)
        Z = Z if scales is None else scale_columns(Z, scales)
        size = max(1, BLOCK_ENTRIES // max(self.targets.n, 1))
        for rows in row_blocks(table.numbers.shape[0], size):
            yield rows, self._statistics(place, take_rows(Z, rows))

    def _statistics(self, place: tuple[str, bool], rows: Rows | None) -> SharedStatistics:
        categorical = self.views[place[0]].categorical
        if rows is None:
            return SharedStatistics(self.rows[place], None, categorical)
        return SharedStatistics(rows, self.rows[place], categorical)

    def _sum(self, place: tuple[str, bool], S: SharedStatistics) -> Array:
        """The kernels of one place, (rows, training rows)."""
        K = np.zeros(S.shape)
        for part in self.parts:
            if part.place == place:
                K += part.factor * evaluate_shared(part.kernel, S)
        return K

    @cached_property
    def _discriminant(self) -> tuple[Dual, LinearMap]:
        """The ridge model of the sum and the directions that tell classes apart.

        Worked out when first asked for: one decomposition of the combined kernel.
        """
        K = np.zeros((self.targets.n, self.targets.n))
        for place in dict.fromkeys(part.place for part in self.parts):
            K += self._sum(place, self._statistics(place, None))
        path = RidgePath(K, self.targets)
        scores, least = path.held_out(REGS)
        ranks = np.where(least > LEAST_SLACK, rank_scores(scores, self.targets), np.inf)
        best = int(ranks.argmin())
        return path.dual(REGS[best]), discriminant_directions(scores[best], self.targets)


def weigh_kernels(
    chosen: Sequence[Any],  # with candidate, kernel and scales
    weights: Array,
    views: Mapping[str, TableView],
    rows: Mapping[str, Rows],  # of each view
    reader: TableReader,
    targets: Targets,
) -> KernelFeatures:
    """sum of weight * kernel / mean diagonal."""
    places, parts = {}, []
    for one, weight in zip(chosen, weights, strict=True):
        place, Z = one.candidate.place, rows[one.candidate.view]
        if place not in places:
            places[place] = Z if one.scales is None else scale_columns(Z, one.scales)
        mean = float(np.average(one.kernel.diag(places[place]), weights=targets.weight)) or 1.0
        parts.append(WeightedKernel(one.candidate, one.kernel, one.scales, float(weight / mean)))
    used = {name: views[name] for name in dict.fromkeys(part.candidate.view for part in parts)}
    return KernelFeatures(reader, used, places, tuple(parts), targets)


def discriminant_directions(scores: Array, targets: Targets) -> LinearMap:
    """The k - 1 directions of held-out scores that tell classes apart, each of unit spread within.

    The columns of coef' of the discriminant span them; the left singular
    vectors of the weighted class means in the within-class metric order them.
    """
    first = fit_discriminants(scores, targets.counts)[0]
    k = targets.n_classes
    logits = first(scores)
    mean = targets.weight @ logits / targets.total
    spread = (targets.counts.T @ (logits - mean)) * np.sqrt(targets.mean)[:, None]
    V = np.linalg.svd(spread, full_matrices=True)[2][: k - 1]
    V *= np.where(V[np.arange(k - 1), np.abs(V).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    coef = first.coef @ V.T
    centre = targets.weight @ scores / targets.total
    F = (scores - centre) @ coef
    size = np.sqrt(np.maximum(targets.weight @ F**2 / targets.total, 1e-300))
    coef = coef / size
    return LinearMap(coef, -centre @ coef)
