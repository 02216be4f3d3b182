"""A fitted average of members: what it says of new rows, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernel_learn.criteria.column_scales import scale_columns
from kernel_learn.criteria.ridge import Dual, RidgePath
from kernel_learn.criteria.second_level import (
    LinearMap,
    fit_discriminants,
    rank_scores,
    softmax,
)
from kernel_learn.criteria.targets import Targets
from kernel_learn.estimators.judging import REGS, Judged
from kernel_learn.estimators.members import Candidate
from kernel_learn.estimators.table import TableReader
from kernel_learn.estimators.table_views import RawView, TableView
from kernel_learn.estimators.validation import Array
from kernel_learn.kernels import (
    Combination,
    Kernel,
    SharedStatistics,
    evaluate_shared,
)
from kernel_learn.kernels.base import Rows
from kernel_learn.kernels.pairwise import row_blocks, take_rows
from kernel_learn.kernels.table import Table
from kernel_learn.kernels.viewed import ViewKernel

# Entries of one block of kernel values between new rows and training rows.
BLOCK_ENTRIES = 2**22
# Members below this share of the heaviest one's weight are not kept.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Part:
    """One member of the average: a kernel on a view, its model and its map to log-odds."""

    candidate: Candidate
    kernel: Kernel
    model: Dual
    second: LinearMap
    scales: Array | None
    weight: float
    mean_diagonal: float

    @property
    def place(self) -> tuple[str, bool]:
        return self.candidate.place


@dataclass(frozen=True)
class Machine:
    """Training rows in the views that are used, and the members on them."""

    reader: TableReader
    views: Mapping[str, TableView]
    rows: Mapping[tuple[str, bool], Rows]  # scaled training rows of each place
    parts: Sequence[Part]
    targets: Targets

    def __getstate__(self) -> dict[str, Any]:
        """Places as pairs: the keys of a model file are texts."""
        return {**vars(self), "rows": [(*place, rows) for place, rows in self.rows.items()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rows = {(view, learned): rows for view, learned, rows in state["rows"]}
        vars(self).update({**state, "rows": rows})

    @property
    def n_rows(self) -> int:
        return self.targets.n

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
        added, rest = np.zeros((len(contrast), self.n_rows)), np.zeros(len(contrast))
        for rows, part, K in self._kernel_blocks(table):
            pull = part.weight * part.model.coef @ part.second.coef
            added[rows] += K * (contrast[rows] @ pull.T)
        for part in self.parts:
            rest += part.weight * (contrast @ part.second(part.model.intercept))
        return added, rest

    def kernel_object(self) -> Combination:
        """sum of weight * kernel / mean diagonal, each on its view."""
        kernels = [
            ViewKernel(
                part.kernel, RawView(self.reader, self.views[part.candidate.view], part.scales)
            )
            for part in self.parts
        ]
        return Combination(kernels, self._kernel_weights)

    def _raw_view(self, part: Part) -> RawView:
        return RawView(self.reader, self.views[part.candidate.view], part.scales)

    def features(self, table: Table) -> Array:
        """Discriminant features of the combined kernel, (n_new, k - 1)."""
        if not self.parts:
            return np.zeros((table.numbers.shape[0], self.targets.n_classes - 1))
        model, projection = self._discriminant
        F = np.empty((table.numbers.shape[0], projection.coef.shape[1]))
        totals: dict[tuple[int, int], Array] = {}
        for rows, part, K in self._kernel_blocks(table):
            block = (rows.start, rows.stop)
            weighted = part.weight / part.mean_diagonal * K
            totals[block] = totals[block] + weighted if block in totals else weighted
        for (start, stop), K in totals.items():
            F[start:stop] = projection(model.scores(K))
        return F

    @property
    def _kernel_weights(self) -> Array:
        return np.array([part.weight / part.mean_diagonal for part in self.parts])

    @cached_property
    def _discriminant(self) -> tuple[Dual, LinearMap]:
        """The ridge model of the combined kernel and the directions that tell classes apart.

        Worked out when first asked for: one decomposition of the combined kernel.
        """
        K = np.zeros((self.n_rows, self.n_rows))
        for place in dict.fromkeys(part.place for part in self.parts):
            S = self._statistics(place, None)
            for part in self.parts:
                if part.place == place:
                    K += part.weight / part.mean_diagonal * evaluate_shared(part.kernel, S)
        path = RidgePath(K, self.targets)
        scores, least = path.held_out(REGS)
        ranks = np.where(least > 1e-5, rank_scores(scores, self.targets), np.inf)
        best = int(ranks.argmin())
        return path.dual(REGS[best]), discriminant_directions(scores[best], self.targets)

    def _statistics(self, place: tuple[str, bool], rows: Rows | None) -> SharedStatistics:
        categorical = self.views[place[0]].categorical
        if rows is None:
            return SharedStatistics(self.rows[place], None, categorical)
        return SharedStatistics(rows, self.rows[place], categorical)

    def _kernel_blocks(self, table: Table) -> Iterator[tuple[slice, Part, Array]]:
        """(rows, member, kernel values of these rows with the training rows)."""
        n_new = table.numbers.shape[0]
        size = max(1, BLOCK_ENTRIES // max(self.n_rows, 1))
        for place in dict.fromkeys(part.place for part in self.parts):
            parts = [part for part in self.parts if part.place == place]
            Z = self.views[place[0]].rows(table)
            if parts[0].scales is not None:
                Z = scale_columns(Z, parts[0].scales)
            for rows in row_blocks(n_new, size):
                S = self._statistics(place, take_rows(Z, rows))
                for part in parts:
                    yield rows, part, evaluate_shared(part.kernel, S)


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
    total = sum(w for _, w in kept)
    scaled = {}
    parts = []
    for one, w in kept:
        place, Z = one.candidate.place, rows[one.candidate.view]
        if place not in scaled:
            scaled[place] = Z if one.scales is None else scale_columns(Z, one.scales)
        diagonal = one.kernel.diag(scaled[place])
        mean = float(np.average(diagonal, weights=targets.weight)) or 1.0
        parts.append(
            Part(
                one.candidate, one.kernel, one.model, one.second, one.scales, float(w / total), mean
            )
        )
    used = {name: views[name] for name in dict.fromkeys(part.candidate.view for part in parts)}
    return Machine(reader, used, scaled, tuple(parts), targets)


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
