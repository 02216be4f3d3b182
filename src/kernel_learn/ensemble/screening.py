"""Which candidates go on: on few rows all of them, on more rows the best and narrower ones."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import WIDE_FAMILIES, Candidate, CrossValidated, narrower
from kernel_learn.ensemble.cross_validation import Sample, cross_validate, weigh
from kernel_learn.ensemble.problem import Problem

SURVIVOR_SHARE = 0.01  # of the heaviest weight
REFIT_REGS = 10.0 ** np.array([-0.5, 0.0, 0.5])


def screen(
    problem: Problem, sample: Sample
) -> tuple[list[CrossValidated], dict[str, list[ColumnScales]]]:
    """Try all candidates on some rows; the heaviest go on."""
    some = sample.take(stratified_rows(sample.targets, problem.plan.screen_rows))
    problem.say(f"trying {len(problem.candidates)} candidates on {some.targets.n} rows")
    found, learned = cross_validate(
        some, problem.candidates, None, problem.clock.before(0.4), problem.n_jobs
    )
    return survivors(found, some.targets, problem.quality.keep), learned


def survivors(found: Sequence[CrossValidated], targets: Targets, keep: int) -> list[CrossValidated]:
    """The heaviest candidates."""
    if not found:
        return []
    weights = weigh(found, targets)
    heaviest = weights.argsort(kind="stable")[::-1][:keep]
    return [found[i] for i in heaviest if weights[i] > SURVIVOR_SHARE * weights.max()]


def near_regs(found: Sequence[CrossValidated]) -> dict[Candidate, Array]:
    """A few values around the one that each candidate had."""
    return {one.candidate: one.reg * REFIT_REGS for one in found}


def try_narrower(
    problem: Problem, sample: Sample, kept: Sequence[CrossValidated]
) -> list[CrossValidated]:
    """Survivors and their narrower kin on more rows: widths narrow as rows grow."""
    units = sum(problem.clock.cost(one.candidate, 1) for one in kept) / problem.clock.per_cube
    most = problem.plan.narrow_rows
    n_rows = problem.clock.rows_within(0.2 * problem.clock.left, 2 * units, most)
    some = sample.take(stratified_rows(sample.targets, n_rows))
    regs = near_regs(kept)
    for one in kept:
        if one.candidate.family in WIDE_FAMILIES:
            regs[narrower(one.candidate)] = one.reg * REFIT_REGS
    problem.say(f"trying {len(regs)} candidates on {some.targets.n} rows")
    found, _ = cross_validate(some, list(regs), regs, problem.clock.before(0.6), problem.n_jobs)
    return survivors(found, some.targets, len(kept))


def within_time(problem: Problem, kept: Sequence[CrossValidated]) -> list[CrossValidated]:
    """Those that can be fitted to all rows in the time that is left, the heaviest first."""
    n = problem.targets.n
    fits = problem.clock.affordable([one.candidate for one in kept], n)
    return [one for one, fits_in in zip(kept, fits, strict=True) if fits_in]
