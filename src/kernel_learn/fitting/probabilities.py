"""Probabilities: log-odds from scores, by what the scores of held-out rows say."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import stratified_folds, stratified_rows
from kernel_learn.criteria.held_out.stacking import centered, fit_temperature
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.target_codes import pool_targets
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.representations.base import Combined
from kernel_learn.representations.moment_form import FeatureSample
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import take_rows

ScoreFold = Callable[[Array, Array], Array]  # (inside, outside) -> scores of the rows outside
# Rows whose held-out scores decide the factor on scores, and folds of them.
HELD_OUT_ROWS, FOLDS = 400, 5


@dataclass(frozen=True)
class Sharpness:
    """The factor on scores, and what it makes of held-out rows."""

    factor: float
    log_odds: Array  # (m, k)
    targets: Targets  # of these rows


def fit_sharpness(
    targets: Targets,
    score_fold: ScoreFold,  # (inside, outside) -> (len(outside), q)
    n_rows: int = HELD_OUT_ROWS,
) -> Sharpness:
    """The factor of least log loss on held-out scores; 1 if no row can be held out.

    ``score_fold`` learns from the rows ``inside`` and scores the rows ``outside``.
    """
    rows, scores = held_out_in_folds(targets, score_fold, n_rows)
    return sharpen(class_logits(scores), targets, rows)


def sharpen(logits: Array, targets: Targets, rows: Array) -> Sharpness:
    """By the held-out scores of some rows."""
    some = targets.take(rows)
    factor = fit_temperature(logits, some)[0] if len(rows) else 1.0
    return Sharpness(factor, factor * centered(logits), some)


def choose_rule(targets: Targets, score_fold: ScoreFold) -> tuple[int, Sharpness]:
    """Which of two rules has the smaller held-out log loss, and the factor on its scores.

    ``score_fold`` gives the scores of both side by side, (len(outside), 2 k).
    """
    rows, scores = held_out_in_folds(targets, score_fold)
    if not len(rows):
        return 0, sharpen(np.empty((0, targets.n_classes)), targets, rows)
    some = targets.take(rows)
    both = np.hsplit(scores, 2)
    rule = int(np.argmin([fit_temperature(own, some)[1] for own in both]))
    return rule, sharpen(both[rule], targets, rows)


def held_out_in_folds(
    targets: Targets,
    score_fold: ScoreFold,
    n_rows: int = HELD_OUT_ROWS,
) -> tuple[Array, Array]:
    """Rows, at most about ``n_rows``, and what was learned from the other folds says of them.

    The only row of a class, or its only group, is in every fold that learns, and not held out.
    """
    chosen = np.arange(targets.n)
    if targets.n > n_rows:
        chosen = stratified_rows(targets, n_rows)
    some = targets.take(chosen)
    folds = stratified_folds(some, FOLDS)
    keep_classes(some, folds)
    rows, scores = [np.empty(0, dtype=int)], []
    for fold in np.unique(folds[folds >= 0]):
        outside = chosen[folds == fold]
        rows.append(outside)
        scores.append(score_fold(chosen[folds != fold], outside))
    return np.concatenate(rows), np.concatenate(scores) if scores else np.empty((0, 1))


def keep_classes(targets: Targets, folds: Array) -> None:
    """Take rows or groups out of the folds, to -1, without which a class would not be learned."""
    unit = np.arange(targets.n)
    for group in targets.groups:
        unit[group] = group[0]
    for fold in np.unique(folds):
        for c in np.setdiff1d(targets.majority, targets.majority[folds != fold]):
            first = np.flatnonzero(targets.majority == c)[0]
            folds[unit == unit[first]] = -1


def pool_kernel(
    sample: Combined, source: ArraySource | PooledSource, n_rows: int = HELD_OUT_ROWS
) -> tuple[Targets, Array]:
    """Targets and kernel matrix of the first rows by key: where a fit keeps no rows.

    On landmarks the matrix is that of their features, as the fit and new rows see it: what the
    kernel itself says of held-out rows would be too good.
    """
    rows = source.summary.rows[:n_rows]
    targets = pool_targets(source, n_rows, standardize=False)
    X = to_double(take_rows(source.X, rows))
    if isinstance(sample, FeatureSample):
        Z = sample.see(X)
        return targets, Z @ Z.T
    kernel = sample.kernel
    is_matrix = kernel.input == "matrix"
    return targets, kernel(X, kernel.reference(source.X, rows) if is_matrix else None)


def class_logits(scores: Array) -> Array:
    """Scores of all classes; one machine scores the second of two classes against the first."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.stack([np.zeros(len(scores)), scores.reshape(-1)], axis=1)
    return scores


def parts_bytes(n: int, M: int) -> float:
    """Of four folds of the held-out rows: on their axes, G, its eigenvectors, features, Khat."""
    m = min(n, HELD_OUT_ROWS)
    return 8.0 * m * (3.0 * m + min(M, n) / 2)
