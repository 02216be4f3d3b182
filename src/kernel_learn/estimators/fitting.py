"""From a table and its targets to a fitted machine: screen, judge, weigh, build."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kernel_learn.criteria.column_scales import ColumnScales
from kernel_learn.criteria.permutation import permutation_p_value
from kernel_learn.criteria.ridge import RidgePath
from kernel_learn.criteria.second_level import log_losses
from kernel_learn.criteria.soft_weights import mean_and_error
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
    weigh_probabilities,
)
from kernel_learn.estimators.leaves import (
    LeafMachine,
    fit_leaves,
    grow_tree,
    scaled,
    tune_on_leaves,
)
from kernel_learn.estimators.machine import Machine, build_machine
from kernel_learn.estimators.members import Candidate, candidates, narrower
from kernel_learn.estimators.quality import NARROW_ABOVE, ClassifierPlan, Quality
from kernel_learn.estimators.report import Member, Members
from kernel_learn.estimators.table import Table, TableReader
from kernel_learn.estimators.table_views import TableView, fit_view
from kernel_learn.estimators.validation import Array

# Rows on which the permutation test and the relevance of columns are worked out.
PROBE_ROWS = 1000
SURVIVOR_SHARE = 0.01  # of the heaviest weight
TUNING_LEAVES = 2
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
    n_jobs: int | None = None
    say: Callable[[str], None] = lambda text: None
    start: float = field(default_factory=time.perf_counter)

    def before(self, share: float) -> Callable[[], bool]:
        """Whether this share of the time budget is still unspent."""
        return lambda: time.perf_counter() - self.start < share * self.deadline


@dataclass(frozen=True)
class Fitted:
    """The machine and what is said of it."""

    machine: Machine | LeafMachine
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
        kept, learned = screen(problem, sample)
        if not problem.plan.exact:
            return fit_in_leaves(problem, sample, views, kept, learned)
        if sample.targets.n > NARROW_ABOVE:
            kept = try_narrower(problem, sample, kept, problem.quality.keep)[0]
        chosen, regs = [one.candidate for one in kept], near_regs(kept)
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


def fit_in_leaves(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    kept: Sequence[Judged],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> Fitted:
    """More rows than one exact fit takes: the heaviest members in the leaves of some trees."""
    quality = problem.quality
    found, part, seen = try_narrower(
        problem, sample, kept, min(quality.leaf_members, problem.max_members)
    )
    weights = weigh(found, part.targets)
    small = build_machine(found, weights, views, part.views, problem.reader, part.targets)
    guide = guide_of(found, learned)
    Z = scaled(sample.views[guide[0]], guide[1])
    trees, leaf_rows = [], []
    for t in range(quality.trees):
        rng = np.random.default_rng(t) if t else None
        trees.append(grow_tree(Z, problem.plan.leaf_rows, rng))
        place = trees[t].leaves(Z)
        leaf_rows.append([np.flatnonzero(place == leaf) for leaf in range(place.max() + 1)])
    some = leaf_rows[0][:: max(1, len(leaf_rows[0]) // TUNING_LEAVES)][:TUNING_LEAVES]
    chosen, lams = tune_on_leaves(sample, found, some)
    judging = np.setdiff1d(np.arange(sample.targets.n), seen)
    problem.say(f"{len(chosen)} members in {len(leaf_rows[0])} leaves of {quality.trees} trees")
    fits = fit_leaves(sample, chosen, lams, leaf_rows, judging)
    weights = weigh_trees(
        [P[judging] for _, P in fits], sample.targets.take(judging), quality.trees
    )
    members = [replace(m, weight=float(w)) for (m, _), w in zip(fits, weights, strict=True)]
    used = dict.fromkeys([guide[0], *(one.candidate.view for one in chosen)])
    machine = LeafMachine(
        small,
        {name: views[name] for name in used},
        {name: sample.views[name] for name in used},
        guide,
        trees,
        leaf_rows,
        members,
        sample.targets,
    )
    proba = np.tensordot(weights, np.array([P for _, P in fits]), 1)
    return Fitted(
        machine,
        members_of(
            [replace(m.judged, proba=P, loss=loss_of(P, sample.targets)) for m, P in fits],
            weights,
            sample.targets,
        ),
        proba,
        make_probe(problem, sample, views, learned),
    )


def weigh_trees(probas: Sequence[Array], targets: Targets, n_trees: int) -> Array:
    """Soft weights of members averaged over the trees, which all count the same."""
    n_members = len(probas) // n_trees
    means = [np.mean(probas[m::n_members], axis=0) for m in range(n_members)]
    return np.tile(weigh_probabilities(means, targets) / n_trees, n_trees)


def guide_of(
    found: Sequence[Judged], learned: Mapping[str, Sequence[ColumnScales]]
) -> tuple[str, Array | None]:
    """The view in which rows are neighbours: scaled columns if some were learned."""
    for view, scales in learned.items():
        return view, scales[0].scales
    return found[0].candidate.view, found[0].scales


def try_narrower(
    problem: Problem, sample: Sample, kept: Sequence[Judged], keep: int
) -> tuple[list[Judged], Sample, Array]:
    """Survivors and their narrower kin on more rows: widths narrow as rows grow."""
    rows = stratified_rows(sample.targets, problem.plan.narrow_rows)
    part = sample.take(rows)
    regs = near_regs(kept)
    for one in kept:
        if one.candidate.family in ("rbf", "exp", "lap"):
            regs[narrower(one.candidate)] = one.reg * REFIT_REGS
    problem.say(f"trying {len(regs)} candidates on {part.targets.n} rows")
    found, _ = judge(part, list(regs), regs, problem.before(0.6), problem.n_jobs)
    return survivors(found, part.targets, keep), part, rows


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
    groups = [columns for columns in problem.sources.values() if columns is not None]
    return Sample(
        {name: view.rows(problem.table) for name, view in views.items()},
        problem.targets,
        {name: view.categorical for name, view in views.items()},
        {name: view.blocks for name, view in views.items()},
        stratified_parts(problem.targets, FOLDS),
        {"z": [np.flatnonzero(np.isin(views["z"].owner, c)) for c in groups]} if groups else {},
    )


def screen(problem: Problem, sample: Sample) -> tuple[list[Judged], dict[str, list[ColumnScales]]]:
    """Try all candidates on some rows; the heaviest go on."""
    part = sample.take(stratified_rows(sample.targets, problem.plan.screen_rows))
    problem.say(f"trying {len(problem.candidates)} candidates on {part.targets.n} rows")
    found, learned = judge(part, problem.candidates, None, problem.before(0.4), problem.n_jobs)
    return survivors(found, part.targets, problem.quality.keep), learned


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
        found, own = judge(
            replace(sample, folds=folds), chosen, regs, problem.before(1.0), problem.n_jobs
        )
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


def loss_of(proba: Array, targets: Targets) -> float:
    return mean_and_error(log_losses(proba), targets)[0]


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
