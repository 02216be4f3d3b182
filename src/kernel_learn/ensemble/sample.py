"""Rows in all views with their targets: what candidates are tried on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.ensemble.candidates import Candidate, ViewRows
from kernel_learn.ensemble.outcomes.base import AnyTargets, Outcome
from kernel_learn.ensemble.outcomes.kinds import outcome_of
from kernel_learn.kernels import SharedStatistics
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import take_rows

FOLDS = 5


def rows_of_one_group_alone(targets: AnyTargets) -> AnyTargets:
    """Rows that are all of one group as rows by themselves: without it none would be left."""
    whole = any(len(group) == targets.n for group in targets.groups)
    return replace(targets, groups=()) if whole else targets


@dataclass(frozen=True)
class Sample:
    """Rows in all views with their targets, and the folds of the cross-validation."""

    views: Mapping[str, Rows]
    targets: AnyTargets
    categorical: Mapping[str, tuple[int, ...]]
    blocks: Mapping[str, Array | None]  # columns of a view that share a learned scale
    folds: Array
    column_groups: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    subsample: Array | None = None  # rows that stand for all where not all are in memory

    @property
    def outcome(self) -> Outcome:
        """How held-out scores are judged."""
        return outcome_of(self.targets)

    def take(self, rows: Array) -> "Sample":
        targets = rows_of_one_group_alone(self.targets.take(rows))
        views = {name: take_rows(Z, rows) for name, Z in self.views.items()}
        folds = stratified_folds(targets, FOLDS)
        return replace(self, views=views, targets=targets, folds=folds, subsample=None)

    def scaled_rows(self, view: str, scales: Array | None, rows: Array | slice) -> Rows:
        """Some rows of a view, with its columns scaled if there are scales."""
        return scale_columns(take_rows(self.views[view], rows), scales)

    def view_rows(
        self, name: str, rows: Rows | None = None, weight: Array | None = None
    ) -> ViewRows:
        """The rows of a view, or others in it, with the statistics that kernels share."""
        return ViewRows(
            self.views[name] if rows is None else rows,
            self.targets.weight if weight is None else weight,
            self.categorical.get(name, ()),
        )

    def statistics(self, candidate: Candidate, rows: Array) -> SharedStatistics:
        """Distances and products of some rows as a candidate sees them."""
        Z = self.scaled_rows(candidate.view, candidate.scales, rows)
        return SharedStatistics(Z, None, self.categorical.get(candidate.view, ()))
