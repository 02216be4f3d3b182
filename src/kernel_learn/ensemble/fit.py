"""From a table and its targets to a fitted ensemble: screen, cross-validate, weigh, average."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.cross_validation import (
    Paths,
    Sample,
    average_proba,
    cross_validate,
    weigh,
)
from kernel_learn.ensemble.fitted import FittedEnsemble, make_probe
from kernel_learn.ensemble.leaves import fit_in_leaves
from kernel_learn.ensemble.members import average_members
from kernel_learn.ensemble.plan import NARROW_ABOVE
from kernel_learn.ensemble.problem import Problem, fit_views, sample_of
from kernel_learn.ensemble.screening import near_regs, screen, try_narrower, within_time


def fit_classifier(problem: Problem) -> FittedEnsemble:
    """Candidates on some rows, the survivors on all of them, their average."""
    views = fit_views(problem)
    sample = sample_of(problem, views)
    chosen: Sequence[Candidate] = problem.candidates
    paths: Paths | None = None
    learned: dict[str, list[ColumnScales]] = {}
    if problem.plan.screen_rows < sample.targets.n:
        kept, learned = screen(problem, sample)
        in_time = within_time(problem, kept)
        if kept and not (problem.plan.exact and in_time):
            return fit_in_leaves(problem, sample, views, kept, learned)
        if sample.targets.n > NARROW_ABOVE and len(in_time) == len(kept):
            in_time = within_time(problem, try_narrower(problem, sample, kept))
        chosen, paths = [one.candidate for one in in_time], near_regs(in_time)
    found, weights, own = cross_validate_all(problem, sample, chosen, paths)
    targets = sample.targets
    return FittedEnsemble(
        average_members(problem.reader, found, weights, views, sample.views, targets, targets),
        average_proba(found, weights, targets),
        make_probe(sample, views, learned | own, problem.reader.n_columns),
        problem.plan,
    )


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
