"""Kernels whose scales are learned by marginal likelihood, judged by rows that have not seen them.

Leave-one-out of learned scales on their own rows is too good (0.117 where new rows had 0.174). So
scales are learned without a part of the rows, ridge regression on all rows with these scales is
left one out, and what that says of the part is read off; the kernel of all rows comes last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.marginal_likelihood import (
    LearnedScales,
    learn_likelihood_scales,
)
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import RidgePath, RidgeSolves, try_ridge
from kernel_learn.ensemble.candidates import Candidate, CrossValidated
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import Combination
from kernel_learn.kernels.scaled import ScaledKernel
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.rows.access import take_rows

WITH_LINEAR = "+lin"  # the end of the family of a kernel with a linear part
FEW_ROWS, FEW_PARTS, PARTS = 400, 3, 2  # below so many rows three parts, else two
SCALE_ROWS, STEPS = 250, 30  # from which scales are learned without a part
FINAL_ROWS, FINAL_STEPS = 350, 15  # and then of all rows, from the mean of those
MANY_SCALE_ROWS, MANY_STEPS = 500, 25  # where there are more rows than candidates were tried on


class LikelihoodFit(NamedTuple):
    """A candidate with its learned kernel, and its held-out scores along a path."""

    candidate: Candidate
    scores: Array  # (R, n, c)
    safe: Array  # (R,)
    ridge: RidgePath | RidgeSolves  # of all rows


def family_of(candidate: Candidate) -> str:
    """Candidates with and without a linear part share their scales."""
    return candidate.family.removesuffix(WITH_LINEAR)


def on_scales(candidate: Candidate, learned: LearnedScales) -> Candidate:
    """The candidate with the kernel of learned scales."""
    return candidate.on_rows(learned.kernel(linear=candidate.family.endswith(WITH_LINEAR)))


def scales_of(candidate: Candidate) -> Array | None:
    """The scales in the candidate's kernel, in which rows are neighbours."""
    kernel = candidate.kernel
    if isinstance(kernel, Combination):
        kernel = kernel.kernels[0]
    return kernel.scales if isinstance(kernel, ScaledKernel) else None


def fit_likelihoods(
    Z: Rows,  # (n, d) in the candidates' view
    targets: NumberTargets,
    blocks: Array | None,  # columns that share a scale
    group: Sequence[Candidate],  # of one family
    path: Array,
) -> Iterator[LikelihoodFit]:
    """The candidates of one family, each with the kernel of all rows."""
    family = family_of(group[0])
    scores = [np.tile(targets.mean, (len(path), targets.n, 1)) for _ in group]
    safe = np.ones((len(group), len(path)), dtype=bool)
    points = []
    folds = stratified_folds(targets, FEW_PARTS if targets.n < FEW_ROWS else PARTS)
    for inside, outside in each_fold(folds):
        learned = learn_likelihood_scales(
            take_rows(Z, inside),
            targets.take(inside),
            family,
            blocks,
            most_rows=SCALE_ROWS,
            max_iter=STEPS,
        )
        points.append(learned.point)
        for c, candidate in enumerate(group):
            ridge = try_ridge(_gram(candidate, learned, Z), targets, len(path))
            if ridge is not None:
                held, least = ridge.held_out(path)
                scores[c][:, outside] = held[:, outside]
                safe[c] &= least > LEAST_SLACK
                del held  # before there is another
            del ridge
    final = learn_likelihood_scales(
        Z,
        targets,
        family,
        blocks,
        most_rows=SCALE_ROWS * 2 if targets.n < FEW_ROWS else FINAL_ROWS,
        max_iter=FINAL_STEPS,
        start=np.mean(points, axis=0),
    )
    for c, candidate in enumerate(group):
        ridge = try_ridge(_gram(candidate, final, Z), targets, 1)
        if ridge is not None:
            yield LikelihoodFit(on_scales(candidate, final), scores[c], safe[c], ridge)


def learn_scales_again(kept: Sequence[CrossValidated], few: Sample) -> list[CrossValidated]:
    """Survivors where there are many rows, with scales from more of those that were screened."""
    assert isinstance(few.targets, NumberTargets)
    learned: dict[tuple[str, str], LearnedScales] = {}
    found = []
    for one in kept:
        view, family = key = one.candidate.view, family_of(one.candidate)
        if one.candidate.loss == "likelihood":
            if key not in learned:
                learned[key] = learn_likelihood_scales(
                    few.views[view],
                    few.targets,
                    family,
                    few.blocks.get(view),
                    most_rows=MANY_SCALE_ROWS,
                    max_iter=MANY_STEPS,
                )
            one = replace(one, candidate=on_scales(one.candidate, learned[key]))
        found.append(one)
    return found


def _gram(candidate: Candidate, learned: LearnedScales, Z: Rows) -> Array:
    kernel = on_scales(candidate, learned).kernel
    assert kernel is not None
    return np.asarray(kernel(Z))
