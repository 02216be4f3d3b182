"""From a table and its targets to a fitted machine: screen, judge, weigh, build."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kernel_learn.criteria.column_scales import ColumnScales
from kernel_learn.criteria.permutation import permutation_p_value
from kernel_learn.criteria.ridge import RidgePath
from kernel_learn.criteria.targets import Targets
from kernel_learn.estimators.distinct import stratified_parts, stratified_rows
from kernel_learn.estimators.judging import (
    FOLDS,
    REGS,
    Judged,
    Sample,
    judge,
    scales_of_parts,
    weigh,
)
from kernel_learn.estimators.machine import Machine, build_machine
from kernel_learn.estimators.members import Candidate, candidates
from kernel_learn.estimators.quality import ClassifierPlan, Quality
from kernel_learn.estimators.report import Member, Members
from kernel_learn.estimators.table import Table, TableReader
from kernel_learn.estimators.table_views import TableView, fit_view
from kernel_learn.estimators.validation import Array

# Rows on which the permutation test and the relevance of columns are worked out.
PROBE_ROWS = 1000
SURVIVOR_SHARE = 0.01  # of the heaviest weight
REFIT_REGS = 10.0 ** np.array([-0.5, 0.0, 0.5])


@dataclass(frozen=True)
class Problem:
    """Distinct rows of a table with their targets, and what may be spent on them."""

    table: Table
    reader: TableReader
    targets: Targets
    sources: Mapping[str, Array | None]  # named groups of columns; "" is all of them
    candidates: Sequence[Candidate]
    quality: Quality
    plan: ClassifierPlan
    max_members: int
    deadline: float = np.inf  # in seconds from the start
    say: Callable[[str], None] = lambda text: None
    start: float = field(default_factory=time.perf_counter)

    def before(self, share: float) -> Callable[[], bool]:
        """Whether this share of the time budget is still unspent."""
        return lambda: time.perf_counter() - self.start < share * self.deadline


@dataclass(frozen=True)
class Fitted:
    """The machine and what is said of it."""

    machine: Machine
    members: Members
    proba: Array  # (n, k) of the distinct rows, held out
    probe: "Probe"


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


def fit_classifier(problem: Problem) -> Fitted:
    """Candidates on some rows, the survivors on all of them, their average."""
    views = fit_views(problem)
    sample = sample_of(problem, views)
    chosen: Sequence[Candidate] = problem.candidates
    regs: Mapping[Candidate, Array] | None = None
    learned: dict[str, list[ColumnScales]] = {}
    if problem.plan.screen_rows < sample.targets.n:
        chosen, regs, learned = screen(problem, sample)
    judged, weights, own = judge_all(problem, sample, chosen, regs)
    rows = {name: sample.views[name] for name in views}
    machine = build_machine(judged, weights, views, rows, problem.reader, sample.targets)
    proba = held_out_average(judged, weights, sample.targets)
    return Fitted(
        machine,
        members_of(judged, weights, sample.targets),
        proba,
        make_probe(problem, sample, views, learned | own),
    )


def fit_views(problem: Problem) -> dict[str, TableView]:
    """The views that the candidates ask for; "genes/z" is the view z of the columns "genes"."""
    views = {}
    for name in dict.fromkeys(candidate.view for candidate in problem.candidates):
        source, _, kind = name.rpartition("/")
        views[name] = fit_view(
            kind, problem.table, problem.reader, problem.targets.weight, problem.sources[source]
        )
    return views


def sample_of(problem: Problem, views: Mapping[str, TableView]) -> Sample:
    return Sample(
        {name: view.rows(problem.table) for name, view in views.items()},
        problem.targets,
        {name: view.categorical for name, view in views.items()},
        {name: view.blocks for name, view in views.items()},
        stratified_parts(problem.targets, FOLDS),
    )


def screen(
    problem: Problem, sample: Sample
) -> tuple[list[Candidate], dict[Candidate, Array], dict[str, list[ColumnScales]]]:
    """Try all candidates on some rows; the heaviest go on, with regularisers near their own."""
    part = sample.take(stratified_rows(sample.targets, problem.plan.screen_rows))
    problem.say(f"trying {len(problem.candidates)} candidates on {part.targets.n} rows")
    found, learned = judge(part, problem.candidates, None, problem.before(0.4))
    kept = survivors(found, part.targets, problem.quality.keep)
    return [one.candidate for one in kept], near_regs(kept), learned


def survivors(found: Sequence[Judged], targets: Targets, keep: int) -> list[Judged]:
    """The heaviest candidates by soft weights."""
    if not found:
        return []
    weights = weigh(found, targets)
    heaviest = weights.argsort(kind="stable")[::-1][:keep]
    return [found[i] for i in heaviest if weights[i] > SURVIVOR_SHARE * weights.max()]


def near_regs(found: Sequence[Judged]) -> dict[Candidate, Array]:
    return {one.candidate: one.reg * REFIT_REGS for one in found}


def judge_all(
    problem: Problem,
    sample: Sample,
    chosen: Sequence[Candidate],
    regs: Mapping[Candidate, Array] | None,
) -> tuple[list[Judged], Array, dict[str, list[ColumnScales]]]:
    """Members on all rows and their weights; over several divisions into parts if asked for."""
    judged: list[Judged] = []
    weights: list[Array] = []
    learned: dict[str, list[ColumnScales]] = {}
    for repeat in range(problem.quality.repeats):
        if repeat and not problem.before(0.9 * repeat / (repeat + 1))():
            break
        folds = stratified_parts(sample.targets, FOLDS, seed=repeat)
        problem.say(f"judging {len(chosen)} candidates on {sample.targets.n} rows")
        if sample.targets.n < 2:
            break
        found, own = judge(replace(sample, folds=folds), chosen, regs, problem.before(1.0))
        found = found[: problem.max_members]
        learned = learned or own
        if found:
            judged += found
            weights.append(weigh(found, sample.targets))
    shares = np.concatenate(weights) / len(weights) if weights else np.empty(0)
    return judged, shares, learned


def held_out_average(judged: Sequence[Judged], weights: Array, targets: Targets) -> Array:
    """The members' held-out probabilities, averaged; the class shares if there is no member."""
    if not judged:
        return np.tile(prior(targets), (targets.n, 1))
    return np.tensordot(weights, np.array([one.proba for one in judged]), 1)


def prior(targets: Targets) -> Array:
    n_c, k = targets.mean * targets.total, targets.n_classes
    return np.asarray((n_c + 0.5) / (targets.total + 0.5 * k))


def members_of(judged: Sequence[Judged], weights: Array, targets: Targets) -> Members:
    """What is said of the members, by decreasing weight."""
    found = []
    for i in np.argsort(-weights, kind="stable"):
        one = judged[i]
        right = np.take_along_axis(targets.counts, one.proba.argmax(axis=1)[:, None], axis=1).sum()
        found.append(
            Member(
                one.candidate.view + (" scaled" if one.candidate.learned else ""),
                one.kernel,
                one.reg,
                float(weights[i]),
                one.loss,
                float(1 - right / targets.total),
            )
        )
    return Members(found)


def make_probe(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> Probe:
    """The view z of all columns on at most ``PROBE_ROWS`` rows."""
    name = "z" if "z" in views else next(iter(views))
    small = replace(
        sample, views={name: sample.views[name]}, categorical={}, blocks={name: sample.blocks[name]}
    )
    if sample.targets.n > PROBE_ROWS:
        small = small.take(stratified_rows(sample.targets, PROBE_ROWS))
    return Probe(small, views[name].owner, name, problem.reader.n_columns, learned.get(name))
