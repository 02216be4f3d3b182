"""From a table and its targets to a fitted machine: screen, judge, weigh, build."""

from collections.abc import Mapping, Sequence

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_parts
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import FOLDS, Judged, Sample, judge, weigh
from kernel_learn.ensemble.leaf_fitting import fit_in_leaves
from kernel_learn.ensemble.machine import build_machine
from kernel_learn.ensemble.problem import Fitted, Problem, make_probe, members_of
from kernel_learn.ensemble.quality import NARROW_ABOVE
from kernel_learn.ensemble.screening import near_regs, screen, try_narrower, within_time
from kernel_learn.ensemble.spilled_table import SpilledTable, SpilledView
from kernel_learn.ensemble.table_views import TableView, fit_view
from kernel_learn.rows.table import Table


def fit_classifier(problem: Problem) -> Fitted:
    """Candidates on some rows, the survivors on all of them, their average."""
    views = fit_views(problem)
    sample = sample_of(problem, views)
    chosen: Sequence[Candidate] = problem.candidates
    regs: Mapping[Candidate, Array] | None = None
    learned: dict[str, list[ColumnScales]] = {}
    if problem.plan.screen_rows < sample.targets.n:
        kept, learned = screen(problem, sample)
        in_time = within_time(problem, kept)
        if kept and not (problem.plan.exact and in_time):
            return fit_in_leaves(problem, sample, views, kept, learned)
        if sample.targets.n > NARROW_ABOVE and len(in_time) == len(kept):
            in_time = within_time(problem, try_narrower(problem, sample, kept))
        kept = in_time
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
        problem.plan,
    )


def fit_views(problem: Problem) -> dict[str, TableView]:
    """The views that the candidates ask for; "genes/z" is the view z of the columns "genes"."""
    table, weight = problem.few_rows()
    views = {}
    for name in dict.fromkeys(candidate.view for candidate in problem.candidates):
        source, _, kind = name.rpartition("/")
        views[name] = fit_view(kind, table, problem.reader, weight, problem.sources[source])
    return views


def sample_of(problem: Problem, views: Mapping[str, TableView]) -> Sample:
    """The problem's rows on all views, with the parts that judge them."""
    groups = [columns for columns in problem.sources.values() if columns is not None]
    return Sample(
        {name: rows_in(view, problem.table) for name, view in views.items()},
        problem.targets,
        {name: view.categorical for name, view in views.items()},
        {name: view.blocks for name, view in views.items()},
        stratified_parts(problem.targets, FOLDS),
        {"z": [np.flatnonzero(np.isin(views["z"].owner, c)) for c in groups]} if groups else {},
        problem.few,
    )


def rows_in(view: TableView, table: Table | SpilledTable) -> Rows:
    """The table's rows in a view; rows on disk when they are asked for."""
    return SpilledView(view, table) if isinstance(table, SpilledTable) else view.rows(table)


def judge_all(
    problem: Problem,
    sample: Sample,
    chosen: Sequence[Candidate],
    regs: Mapping[Candidate, Array] | None,
) -> tuple[list[Judged], Array, dict[str, list[ColumnScales]]]:
    """Members on all rows, their weights, and the column scales learned on the way."""
    if sample.targets.n < 2 or not chosen:
        return [], np.empty(0), {}
    problem.say(f"judging {len(chosen)} candidates on {sample.targets.n} rows")
    found, learned = judge(sample, chosen, regs, problem.clock.before(1.0), problem.n_jobs)
    found = found[: problem.max_members]
    return found, weigh(found, sample.targets) if found else np.empty(0), learned


def held_out_average(judged: Sequence[Judged], weights: Array, targets: Targets) -> Array:
    """The members' held-out probabilities, averaged; the class shares if there is no member."""
    if not judged:
        return np.tile(prior(targets), (targets.n, 1))
    return np.tensordot(weights, np.array([one.proba for one in judged]), 1)


def prior(targets: Targets) -> Array:
    """Shares of the classes, half a count added to each, (k,)."""
    n_c, k = targets.mean * targets.total, targets.n_classes
    return np.asarray((n_c + 0.5) / (targets.total + 0.5 * k))
