"""From a table and its targets to a fitted ensemble: screen, cross-validate, weigh, average."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.cross_validation import (
    Paths,
    average_held,
    cross_chosen_held,
    cross_validate,
    crossed_without_folds,
    weigh,
)
from kernel_learn.ensemble.fitted import FittedEnsemble, make_probe
from kernel_learn.ensemble.leaves import fit_in_leaves
from kernel_learn.ensemble.members import average_members
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.problem import Problem, fit_views, sample_of
from kernel_learn.ensemble.sample import Sample
from kernel_learn.ensemble.screening import (
    is_refined,
    judged_by,
    refine,
    refit_regs,
    screen,
    unseen_rows,
    within_time,
)


def fit_ensemble(problem: Problem) -> FittedEnsemble:
    """Candidates on some rows, the survivors on all of them, their average."""
    views = fit_views(problem)
    sample = sample_of(problem, views)
    chosen: Sequence[Candidate] = problem.candidates
    paths: Paths | None = None
    learned: dict[str, list[ColumnScales]] = {}
    unseen: Array | None = None
    if problem.plan.screen_rows < sample.targets.n:
        kept, learned = screen(problem, sample)
        in_time = within_time(problem, kept)
        if kept and not (problem.plan.exact and in_time):
            return fit_in_leaves(problem, sample, views, kept, learned)
        unseen = unseen_rows(problem, sample)
        sample = judged_by(sample, unseen)
        if is_refined(sample.targets):
            refined = refine(problem, sample, kept)
            in_time = within_time(problem, refined) or refined[:1]
        chosen, paths = [one.candidate for one in in_time], refit_regs(in_time, sample.targets)
    found, weights, own = cross_validate_all(problem, sample, chosen, paths)
    targets, rows = sample.targets, sample.views
    ensemble = average_members(problem.reader, found, weights, views, rows, targets, targets)
    held = average_held(found, ensemble.member_shares, targets)
    crossed: Sequence[CrossValidated] = found
    if problem.plan.blocks:
        crossed = without_blocks(problem, sample, found, ensemble.member_shares, own)
        unseen = unseen if crossed else None
    return FittedEnsemble(
        ensemble,
        held,
        make_probe(
            sample, views, learned | own, problem.reader.n_columns, held, judging_rows(targets)
        ),
        problem.plan,
        cross_chosen=cross_chosen_held(
            crossed or found, targets, sample.folds, sample.outcome.weigh
        ),
        unseen=unseen,
    )


def without_blocks(
    problem: Problem,
    sample: Sample,
    found: Sequence[CrossValidated],
    shares: Array,
    learned: dict[str, list[ColumnScales]],
) -> Sequence[CrossValidated]:
    """Those that predict as they are without each fold; none if there is no time for that."""
    targets, n_folds = sample.targets, problem.plan.blocks
    heavy = [one for one, share in zip(found, shares, strict=True) if share > 0]
    if not all(problem.clock.affordable([one.candidate for one in heavy], targets.n)):
        return []
    problem.say(f"working out scores without each of {n_folds} folds")
    folds = stratified_folds(targets, n_folds)
    return [
        crossed_without_folds(one, sample, folds, learned.get(one.candidate.view)) for one in heavy
    ]


def judging_rows(targets: AnyTargets) -> Array | None:
    """Rows that judge numbers, None for all."""
    return targets.unseen if isinstance(targets, NumberTargets) else None


def cross_validate_all(
    problem: Problem, sample: Sample, chosen: Sequence[Candidate], paths: Paths | None
) -> tuple[list[CrossValidated], Array, dict[str, list[ColumnScales]]]:
    """Members on all rows, their weights, and the column scales learned on the way."""
    if sample.targets.n < 2 or not chosen:
        return [], np.empty(0), {}
    problem.say(f"cross-validating {len(chosen)} candidates on {sample.targets.n} rows")
    go_on = problem.clock.before(1.0)
    found, learned = cross_validate(sample, chosen, paths, go_on, problem.n_jobs)
    found = found[: problem.max_members]
    return found, weigh(found, sample.targets) if found else np.empty(0), learned
