"""Which candidates go on: on few rows all of them, on more rows the best and narrower ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.ensemble_weights import SURVIVOR_SHARE
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import PATH_REGS
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import WIDE_FAMILIES, Candidate, CrossValidated, narrower
from kernel_learn.ensemble.clock import cost_units
from kernel_learn.ensemble.cross_validation import cross_validate, weigh
from kernel_learn.ensemble.likelihood_fitting import learn_scales_again
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.plan import (
    NARROW_ABOVE,
    SCALES_AGAIN_ABOVE,
    classes_to_try,
    with_three_regs,
)
from kernel_learn.ensemble.problem import Problem
from kernel_learn.ensemble.sample import Sample

# Of the time that is left. What 400 rows rank first is not what more rows do: of 3000 rows and half
# the time of the whole fit, members in the order of 400 rows had 2.7 % errors, all of them 1.6.
NARROW_SHARE = 0.3
LEAST_UNSEEN = 0.1  # of the rows; there are fewer where nearly all are in a few large groups
REFIT_REGS = 10.0 ** np.array([-0.5, 0.0, 0.5])


def screen(
    problem: Problem, sample: Sample
) -> tuple[list[CrossValidated], dict[str, list[ColumnScales]]]:
    """Try all candidates on some rows; the heaviest go on."""
    some = taken(sample, screened_rows(problem, sample))
    problem.say(f"trying {len(problem.candidates)} candidates on {some.targets.n} rows")
    found, learned = cross_validate(
        some, problem.candidates, None, problem.clock.before(0.4), problem.n_jobs
    )
    kept = survivors(found, some.targets, problem.quality.keep)
    if is_refined(sample.targets) and not any(one.candidate.learned for one in kept):
        # more rows may speak for it: scales are learned worst from few (20 columns, 2000 rows:
        # 5.4 % of new rows were wrong without scaled columns, 3.1 with them)
        kept += [one for one in found if one.candidate.learned][:1]
    return kept, learned


def screened_rows(problem: Problem, sample: Sample) -> Array:
    """The rows on which all candidates are tried."""
    return rows_to_try(sample.targets, problem.plan.screen_rows)


def rows_to_try(targets: AnyTargets, n_rows: int) -> Array:
    """About so many rows; those of some classes where all would have but a few rows each.

    Kernels that tell fifty of 400 classes apart tell all: the same error (14.4 %, 4000 rows) in a
    third of the time, most of which was spent on discriminants of 400 classes of two rows.
    """
    if not isinstance(targets, Targets):
        return stratified_rows(targets, n_rows)
    classes = list(dict.fromkeys(targets.strata.tolist()))  # whatever they are called
    some = classes[: classes_to_try(n_rows, len(classes))]
    rows = np.flatnonzero(np.isin(targets.strata, some))
    return np.asarray(rows[stratified_rows(targets.take(rows), n_rows)])


def taken(sample: Sample, rows: Array) -> Sample:
    """Some rows, with the classes that they have."""
    some = sample.take(rows)
    if not isinstance(some.targets, Targets):
        return some
    there = some.targets.counts.any(axis=0)
    return replace(some, targets=Targets(some.targets.counts[:, there], some.targets.groups))


def judged_by(sample: Sample, unseen: Array | None) -> Sample:
    """With numbers judged by rows on which no kernel was learned."""
    targets = sample.targets
    if not isinstance(targets, NumberTargets):
        return sample
    return replace(sample, targets=replace(targets, unseen=unseen))


def unseen_rows(problem: Problem, sample: Sample) -> Array | None:
    """Rows on which, and on whose kin, no kernel is chosen; None if too few to judge by."""
    targets = sample.targets
    seen = np.zeros(targets.n, dtype=bool)
    seen[screened_rows(problem, sample)] = True
    if is_refined(targets) and not isinstance(targets, NumberTargets):
        seen[rows_to_try(targets, problem.plan.narrow_rows)] = True
    for group in targets.groups:
        seen[group] = seen[group].any()
    unseen = np.flatnonzero(~seen)
    return unseen if len(unseen) >= LEAST_UNSEEN * targets.n else None


def is_refined(targets: AnyTargets) -> bool:
    """Whether these are rows enough for narrower kernels, or better scales."""
    few = SCALES_AGAIN_ABOVE if isinstance(targets, NumberTargets) else NARROW_ABOVE
    return bool(targets.n > few)


def refine(
    problem: Problem, sample: Sample, kept: Sequence[CrossValidated]
) -> list[CrossValidated]:
    """What more rows deserve: narrower kernels, or of numbers better scales."""
    targets = sample.targets
    if isinstance(targets, NumberTargets):
        return learn_scales_again(kept, sample.take(screened_rows(problem, sample)))
    return try_narrower(problem, sample, kept)


def survivors(
    found: Sequence[CrossValidated], targets: AnyTargets, keep: int
) -> list[CrossValidated]:
    """The heaviest candidates, of several targets by the heaviest weight."""
    if not found:
        return []
    weights = weigh(found, targets).reshape(len(found), -1).max(axis=1)
    heaviest = weights.argsort(kind="stable")[::-1][:keep]
    return [found[i] for i in heaviest if weights[i] > SURVIVOR_SHARE * weights.max()]


def near_regs(found: Sequence[CrossValidated]) -> dict[Candidate, Array]:
    """A few values around the one that each candidate had."""
    return {one.candidate: _near(one) for one in found}


def _near(one: CrossValidated) -> Array:
    """A few values around the regularisers that its targets had, few enough to be solved for."""
    if one.regs is None or len(one.regs) == 1:
        return np.asarray(one.reg * REFIT_REGS)
    low, high = one.regs.min() * REFIT_REGS[0], one.regs.max() * REFIT_REGS[-1]
    return np.geomspace(low, high, PATH_REGS)


def same_regs(found: Sequence[CrossValidated]) -> dict[Candidate, Array]:
    """The one that each candidate had, or those of its targets."""
    return {one.candidate: np.array([one.reg]) if one.regs is None else one.regs for one in found}


def refit_regs(found: Sequence[CrossValidated], targets: AnyTargets) -> dict[Candidate, Array]:
    """Those tried on all rows, the heaviest first: of many rows the lightest keep what they had.

    Numbers had theirs from the screened rows only.
    """
    if isinstance(targets, NumberTargets):
        return near_regs(found)
    several = with_three_regs(len(found), targets.n)
    return near_regs(found[:several]) | same_regs(found[several:])


def try_narrower(
    problem: Problem, sample: Sample, kept: Sequence[CrossValidated]
) -> list[CrossValidated]:
    """Survivors and their narrower kin on more rows: widths narrow as rows grow."""
    units = sum(cost_units(one.candidate) for one in kept)
    most = problem.plan.narrow_rows
    n_rows = problem.clock.rows_within(NARROW_SHARE * problem.clock.left, 2 * units, most)
    some = taken(sample, rows_to_try(sample.targets, n_rows))
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
