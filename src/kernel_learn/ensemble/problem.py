"""What is to be fitted, what came of it, and what is kept to be asked later."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.permutation import permutation_p_value
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, candidates
from kernel_learn.ensemble.clock import Clock
from kernel_learn.ensemble.cross_validation import REGS, Judged, Sample, scales_of_parts
from kernel_learn.ensemble.kept_work import KeptWork
from kernel_learn.ensemble.leaves import LeafMachine
from kernel_learn.ensemble.machine import Machine
from kernel_learn.ensemble.quality import ClassifierPlan, Quality
from kernel_learn.ensemble.spilled_table import SpilledTable
from kernel_learn.ensemble.summary import Member
from kernel_learn.ensemble.table_views import TableView
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table
from kernel_learn.streams.progress import Progress

# Rows on which the permutation test and the relevance of columns are worked out.
PROBE_ROWS = 1000


@dataclass(frozen=True)
class Problem:
    """Distinct rows of a table with their targets, and what may be spent on them."""

    table: Table | SpilledTable
    reader: TableReader
    targets: Targets
    sources: Mapping[str, Array | None]  # named groups of columns; "" is all of them
    candidates: Sequence[Candidate]
    quality: Quality
    plan: ClassifierPlan
    max_members: int
    clock: Clock = field(default_factory=Clock)
    n_jobs: int | None = None
    say: Callable[[str], None] = lambda text: None
    few: Array | None = None  # rows that stand for all where not all are in memory
    progress: Progress | None = None
    kept: KeptWork | None = None  # of an earlier fit to the same rows

    def few_rows(self) -> tuple[Table, Array]:
        """Rows that stand for all, and their weights; all of them if they are in memory."""
        if isinstance(self.table, Table):
            return self.table, self.targets.weight
        few = np.arange(self.targets.n) if self.few is None else self.few
        return self.table[few], self.targets.weight[few]

    @contextmanager
    def watching(self, what: str) -> Iterator[Callable[[int], None]]:
        """What to tell how many rows are done; nobody listens if there is no progress to show."""
        if self.progress is None:
            yield lambda n_rows: None
            return
        self.progress.begin(what, self.targets.n, 0)
        try:
            yield self.progress.at
        finally:
            self.progress.end()


@dataclass(frozen=True)
class Fitted:
    """The machine and what is said of it."""

    machine: Machine | LeafMachine
    members: tuple[Member, ...]
    proba: Array  # (n, k) of the distinct rows, held out
    probe: "Probe"
    plan: ClassifierPlan  # as it was carried out
    judged: Array | None = None  # the distinct rows that proba is of, None for all
    held: Array | None = None  # those that the machine holds, None for all


@dataclass(frozen=True)
class Probe:
    """Some rows, kept to say which columns matter and whether there is any signal."""

    sample: Sample
    owner: Array  # the table's column behind each column of the view
    view: str
    n_columns: int
    learned: Sequence[ColumnScales] | None = None

    @cached_property
    def relevance(self) -> tuple[Array, Array]:
        """Share of each column in the mean squared gradient, and its deviation over the parts."""
        learned = self.learned or scales_of_parts(self.sample, self.view)
        sums = np.array([np.bincount(self.owner, s.relevance, self.n_columns) for s in learned])
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return shares[0], shares[1:].std(axis=0)

    def p_value(self, n_permutations: int, seed: int) -> float:
        """Of a kernel that has not seen the labels: wide, narrow and linear on this view."""
        view = self.sample.view_rows(self.view)
        K = np.zeros((self.sample.targets.n, self.sample.targets.n))
        for candidate in candidates(self.view, "rbf1 rbf10 lin"):
            K_one = view.gram(view.kernel(candidate))
            K += K_one / (np.trace(K_one) or 1.0)
        path = RidgePath(K, self.sample.targets)
        rng = np.random.default_rng(seed)
        return permutation_p_value(path, REGS, n_permutations, rng)


def members_of(judged: Sequence[Judged], weights: Array, targets: Targets) -> tuple[Member, ...]:
    """What is said of the members, by decreasing weight."""
    order = np.argsort(-weights, kind="stable")
    found = [(judged[i], float(weights[i])) for i in order]
    return tuple(
        member_of(one, one.reg, weight, one.loss, one.proba, targets) for one, weight in found
    )


def member_of(
    one: Any,  # with candidate and kernel
    reg: float,
    weight: float,
    loss: float,
    proba: Array,  # (n, k), held out
    targets: Targets,
) -> Member:
    """What is reported of a member: its view, kernel, weight, loss and error."""
    right = np.take_along_axis(targets.counts, proba.argmax(axis=1)[:, None], axis=1).sum()
    view = one.candidate.view + (" scaled" if one.candidate.learned else "")
    error = float(1 - right / targets.total)
    return Member(view, one.kernel, reg, float(weight), loss, error)


def make_probe(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> Probe:
    """One view of all columns on at most ``PROBE_ROWS`` rows: normal scores, if rows are dense.

    In z-scores a noisy column with a few extreme entries looks relevant, as a fit remembers the
    labels of these rows, and hides what the others say from the permutation test.
    """
    name = "z" if "z" in views else next(iter(views))
    if "q" in views and not is_sparse(sample.views["q"]):
        name = "q"
    small = replace(
        sample, views={name: sample.views[name]}, categorical={}, blocks={name: sample.blocks[name]}
    )
    if sample.targets.n > PROBE_ROWS or sample.few is not None:
        small = small.take(stratified_rows(sample.targets, PROBE_ROWS))
    return Probe(small, views[name].owner, name, problem.reader.n_columns, learned.get(name))
