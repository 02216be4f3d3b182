"""Members on landmarks: one pass over all rows adds up the moments of every member's features.

Where neither memory nor the disk holds the rows. With z(x) the landmark features of a member's
kernel, C = Z'PZ and S = Z'PY, its ridge model is B = (C + lam)^{-1} S; rows of the sample on which
members were chosen are left out of it exactly. Landmarks cost error where kernels are narrow.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, Dual
from kernel_learn.criteria.held_out.stacking import FINALISTS
from kernel_learn.ensemble.candidates import CrossValidated
from kernel_learn.ensemble.cross_validation import (
    average_held,
    cross_chosen_held,
    cross_validated,
)
from kernel_learn.ensemble.fitted import FittedEnsemble, make_probe
from kernel_learn.ensemble.leaf_checkpoint import work_key
from kernel_learn.ensemble.members import average_members
from kernel_learn.ensemble.outcomes.base import Judged
from kernel_learn.ensemble.problem import Problem, fit_views, sample_of
from kernel_learn.ensemble.sample import Sample
from kernel_learn.ensemble.screening import is_refined, screen, try_narrower
from kernel_learn.ensemble.views import TableView
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.model_selection import held_out_scores, leave_one_out
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.landmarks import select_rpcholesky
from kernel_learn.representations.moment_form import FeatureSample, MomentForm
from kernel_learn.representations.moments import Moments
from kernel_learn.rows.access import n_rows, take_rows
from kernel_learn.rows.block import Block


def fit_on_landmarks(
    problem: Problem,  # of a sample of the rows
    read: Callable[[int], Iterator[Block]],  # all rows once more, so many at a time
    seed: int,
) -> FittedEnsemble:
    """Kernels chosen on the sample, each fitted to all rows on landmarks.

    Landmarks are rows of the sample, one set for all members.
    """
    views = fit_views(problem)
    sample = sample_of(problem, views)
    kept, learned = screen(problem, sample)
    if kept and is_refined(sample.targets):
        kept = try_narrower(problem, sample, kept)
    kept = [one for one in kept if one.candidate.loss != "hinge"] or kept
    kept = kept[: min(problem.quality.leaf_members, problem.max_members)]
    members: list[CrossValidated] = []
    n_landmarks = problem.plan.n_landmarks or 0
    landmarks = np.arange(min(n_landmarks, sample.targets.n))
    if kept:
        landmarks = draw_landmarks(sample, kept[0], n_landmarks, seed)
        problem.say(f"{len(kept)} members on {len(landmarks)} landmarks")
        maps = [feature_map(sample, one, landmarks) for one in kept]
        moments = add_moments(problem, views, kept, landmarks, maps, read)
        found = [
            cross_validate_moments(sample, one, features, own)
            for one, features, own in zip(kept, maps, moments, strict=True)
        ]
        members = sorted((one for one in found if one is not None), key=lambda one: one.loss)
    weights = np.empty(0)
    if members:
        held = np.array([one.held for one in members])
        weights = sample.outcome.fit_weights(held, sample.targets)
    rows = {name: take_rows(Z, landmarks) for name, Z in sample.views.items()}
    known, held_out = sample.targets.take(landmarks), sample.targets
    ensemble = average_members(problem.reader, members, weights, views, rows, known, held_out)
    said = average_held(members, ensemble.member_shares, held_out)
    return FittedEnsemble(
        ensemble,
        said,
        make_probe(sample, views, learned, problem.reader.n_columns, said),
        replace(problem.plan, n_landmarks=len(landmarks)),
        np.arange(sample.targets.n),
        landmarks,
        cross_chosen_held(members, held_out, sample.folds, sample.outcome.fit_weights),
    )


def draw_landmarks(sample: Sample, one: CrossValidated, count: int, seed: int) -> Array:
    """Rows of the sample, by the kernel of its heaviest member."""
    Z = scale_columns(sample.views[one.candidate.view], one.scales)
    count = min(count, n_rows(Z))
    rng = check_random_state(seed)
    return np.sort(select_rpcholesky(count, one.kernel, Z, sample.targets.weight, rng)[0])


def feature_map(sample: Sample, one: CrossValidated, landmarks: Array) -> FeatureMap:
    """Features of a member's kernel at these rows of the sample."""
    Z = take_rows(sample.views[one.candidate.view], landmarks)
    return FeatureMap.whitened([one.kernel], scale_columns(Z, one.scales))


def add_moments(
    problem: Problem,
    views: Mapping[str, TableView],
    kept: Sequence[CrossValidated],
    landmarks: Array,
    maps: Sequence[FeatureMap],
    read: Callable[[int], Iterator[Block]],
) -> list[Moments]:
    """The moments of every member's features and the labels, in one pass."""
    found: list[Moments] = []
    before, key = 0, work_key(landmarks, kept, problem.plan.block_rows)
    if problem.kept:
        found, before = problem.kept.sums_of(key)
    done = 0
    with problem.watching("pass 2 of 2, moments") as at:
        for table, labels, weight in read(problem.plan.block_rows):
            done += len(weight)
            if done <= before:
                continue
            T = problem.targets.encode(labels)
            rows = {name: views[name].rows(table) for name in {one.candidate.view for one in kept}}
            new = [
                features.block_moments(
                    scale_columns(rows[one.candidate.view], one.scales), T, weight
                )
                for one, features in zip(kept, maps, strict=True)
            ]
            found = [a.merge(b) for a, b in zip(found, new, strict=True)] if found else new
            if problem.kept:
                problem.kept.keep_sums(key, found, done)
            at(done)
    return found


def cross_validate_moments(
    sample: Sample, one: CrossValidated, features: FeatureMap, moments: Moments
) -> CrossValidated | None:
    """A member at its best regulariser, by leave-one-out on the sample's rows."""
    rows = scale_columns(sample.views[one.candidate.view], one.scales)
    known = sample.targets
    source = SampleRows(rows, np.arange(known.n), known.weight, known.sums)
    form = MomentForm(features, moments, source=source)  # type: ignore[arg-type]
    if not form.alive.any():
        return None
    combined = form.at(np.ones(1))
    unit = combined.trace / combined.n
    path = leave_one_out(combined, (RIDGE_REGS * unit).tolist(), at_most=sample.targets.n)
    best: tuple[Judged, float] | None = None
    for r in path.errors.argsort()[:FINALISTS]:
        if np.isfinite(path.errors[r]):
            held = held_out_scores(combined, float(path.lams[r]), sample.targets.n)
            fitted = sample.outcome.fit(held.scores, sample.targets, sample.folds)
            if best is None or fitted.loss < best[0].loss:
                best = fitted, float(RIDGE_REGS[r])
    if best is None:
        return None
    chosen, reg = best
    model = ridge_model(combined, reg * unit)
    return cross_validated(one.candidate, np.full(known.Y.shape[1], reg), chosen, model)


def ridge_model(sample: FeatureSample, lam: float) -> Dual:
    """scores(x) = mu + (z(x) - mean)'B as coefficients of k(x, landmarks)."""
    spectrum = sample.spectrum
    B = spectrum.U @ (spectrum.U.T @ sample.targets / (spectrum.w + lam)[:, None])
    own = sample.expand(B)
    return Dual(own.coef.astype(np.float64), sample.target_mean - own.offset)


class SampleRows(NamedTuple):
    """The rows of the cross-validation, as a sample of moments asks for them."""

    X: Rows
    rows: Array
    weight: Array
    labels: Array  # (n, k)
    groups: Array | None = None

    @property
    def summary(self) -> "SampleRows":
        return self

    @property
    def n_distinct(self) -> int:
        return len(self.rows)
