"""What is to be fitted, and what may be spent on it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.clock import Clock
from kernel_learn.ensemble.leaf_checkpoint import LeafCheckpoint
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.plan import EnsemblePlan
from kernel_learn.ensemble.quality import Quality
from kernel_learn.ensemble.sample import FOLDS, Sample
from kernel_learn.ensemble.spilled_table import SpilledTable, SpilledView
from kernel_learn.ensemble.views import TableView, UniformScores, fit_view
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table
from kernel_learn.streams.progress import Progress


@dataclass(frozen=True)
class Problem:
    """Distinct rows of a table with their targets, and what may be spent on them."""

    table: Table | SpilledTable
    reader: TableReader
    targets: AnyTargets
    sources: Mapping[str, Array | None]  # named groups of columns; "" is all of them
    candidates: Sequence[Candidate]
    quality: Quality
    plan: EnsemblePlan
    max_members: int
    clock: Clock = field(default_factory=Clock)
    n_jobs: int | None = None
    say: Callable[[str], None] = lambda text: None
    subsample: Array | None = None  # rows that stand for all where not all are in memory
    progress: Progress | None = None
    kept: LeafCheckpoint | None = None  # of an earlier fit to the same rows

    def watching(self, what: str) -> AbstractContextManager[Callable[[int], None]]:
        """What to tell how many rows are done; nobody listens if there is no progress to show."""
        if self.progress is None:
            return nullcontext(lambda n_rows: None)
        return self.progress.watching(what, self.targets.n)


def fit_views(problem: Problem) -> dict[str, TableView]:
    """The views that the candidates ask for; "genes/z" is the view z of the columns "genes".

    Sorted cells and their ranks, which two views of the same columns have in common, are held once.
    """
    table, weight = problem.table, problem.targets.weight
    if isinstance(table, SpilledTable):
        rows = np.arange(len(weight)) if problem.subsample is None else problem.subsample
        table, weight = table[rows], weight[rows]
    views: dict[str, TableView] = {}
    ranked: dict[str, UniformScores] = {}
    for name in dict.fromkeys(candidate.view for candidate in problem.candidates):
        source, _, kind = name.rpartition("/")
        view = fit_view(kind, table, problem.reader, weight, problem.sources[source])
        own = view.of_numbers
        if isinstance(own, UniformScores):
            first = ranked.setdefault(source, own)
            own.knots_, own.ranks_ = first.knots_, first.ranks_
        views[name] = view
    return views


def sample_of(problem: Problem, views: Mapping[str, TableView]) -> Sample:
    """The problem's rows on all views, with the folds of the cross-validation."""
    groups = [columns for columns in problem.sources.values() if columns is not None]
    owners = [np.flatnonzero(np.isin(views["z"].owner, c)) for c in groups]
    return Sample(
        {name: rows_in(view, problem.table) for name, view in views.items()},
        problem.targets,
        {name: view.categorical for name, view in views.items()},
        {name: view.blocks for name, view in views.items()},
        stratified_folds(problem.targets, FOLDS),
        {"z": [own for own in owners if len(own)]} if groups else {},
        problem.subsample,
    )


def rows_in(view: TableView, table: Table | SpilledTable) -> Rows:
    """The table's rows in a view; rows on disk when they are asked for."""
    return SpilledView(view, table) if isinstance(table, SpilledTable) else view.rows(table)
