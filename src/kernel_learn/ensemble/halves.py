"""Scaled columns of many rows: scales from one half, exact leave-one-out on the other.

The scales of one half do not know the labels of the other. A ridge fit to all rows with them
says, exactly, what it would of each row of the other half without that row; with the halves
changed over, every row is held out of the scales and of the fit. The rows that are judged come
last in the factorisation, which then asks for little more than itself. Five folds of scales and
ridge would take fifteen factorisations of four fifths of the rows for three regularisers; this
takes five of all rows, or two for one regulariser.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.ridge import (
    PATH_REGS,
    Dual,
    RidgePath,
    RidgeSolves,
    try_ridge,
)
from kernel_learn.ensemble.candidates import Candidate, ViewRows
from kernel_learn.ensemble.outcomes.base import AnyTargets, Judged
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import Kernel
from kernel_learn.rows.access import take_rows

# Rows from which on scales are learned on halves, and the most that they are learned from.
HALVES_FROM, MOST_SCALE_ROWS = 501, 1500

# A candidate, its regulariser or that of each column of the scores, and the model.
Fitted = tuple[Candidate, float | Array, Judged, Dual]


def use_halves(sample: Sample, regs: Mapping[Candidate, Array]) -> bool:
    """Whether half of the rows are enough to learn scales from, and regularisers are few."""
    few = all(len(path) <= PATH_REGS for path in regs.values())
    return few and sample.targets.n >= HALVES_FROM


def halves_of(targets: AnyTargets) -> Array:
    """The half of each row, (n,)."""
    return stratified_folds(targets, 2)


def scales_of_halves(sample: Sample, view: str) -> list[ColumnScales]:
    """Scales of a view's columns on all rows, then on each half, each on so many rows at most.

    Where a half has so many rows, those of the first are as good as those of all.
    """
    halves = [inside for inside, _ in each_fold(halves_of(sample.targets))]
    found = [scales_of_rows(sample, view, rows[:MOST_SCALE_ROWS]) for rows in halves]
    if len(halves[0]) >= MOST_SCALE_ROWS:
        return [found[0], *found]
    return [scales_of_rows(sample, view, np.arange(sample.targets.n)[:MOST_SCALE_ROWS]), *found]


def scales_of_rows(sample: Sample, view: str, rows: Array) -> ColumnScales:
    """Scales of a view's columns on some rows."""
    Z = take_rows(sample.views[view], rows)
    return learn_scales(Z, sample.targets.take(rows), sample.blocks.get(view))


def fit_halves(
    sample: Sample,
    name: str,  # of the view
    paths: Mapping[Candidate, Array],  # the regularisers of each candidate
    learned: Sequence[ColumnScales],  # of all rows, then of each half
) -> Iterator[Fitted]:
    """Candidates with their best regulariser, the stacking of held-out scores, and the model.

    The regulariser is chosen in the first of the two fits, which is the model too if its scales
    are those of all rows.
    """
    targets = sample.targets
    held = {c: np.tile(targets.mean, (targets.n, 1)) for c in paths}
    own_regs, models = dict[Candidate, float | Array](), dict[Candidate, tuple[Kernel, Dual]]()
    for (known, judged), own in zip(each_fold(halves_of(targets)), learned[1:], strict=True):
        order = np.concatenate([known, judged])
        view = scaled_view(sample, name, own, order)
        for c, path in paths.items():
            kernel = view.kernel(c)
            K = view.gram(kernel)
            fit = judge_last(sample, K, order, len(known), path, own_regs.get(c))
            if fit is not None:
                own_regs[c], held[c][judged], model = fit
                if own is learned[0]:
                    models[c] = kernel, model.reordered(order)
    view = scaled_view(sample, name, learned[0], slice(None))
    for c, path in paths.items():
        reg = own_regs.get(c, float(path[0]))
        found = models.get(c) or fit_all(view, c, targets, reg)
        if found is not None:
            scores = sample.outcome.moved(held[c], targets)
            chosen = sample.outcome.fit(scores, targets, sample.folds)
            yield c.on_rows(found[0], learned[0].scales), reg, chosen, found[1]


def scaled_view(sample: Sample, name: str, scales: ColumnScales, order: Array | slice) -> ViewRows:
    """Rows of a view with its columns scaled, in some order."""
    rows = sample.scaled_rows(name, scales.scales, order)
    return sample.view_rows(name, rows, sample.targets.weight[order])


def judge_last(
    sample: Sample,
    K: Array,  # of the rows in an order, overwritten
    order: Array,
    first: int,  # the rows from this one on are judged
    path: Array,
    known: float | Array | None = None,  # what was chosen before, for each column if they differ
) -> tuple[float | Array, Array, Dual] | None:
    """The best regulariser, the held-out scores of the last rows there, and the model."""
    rows = order[first:]
    ridge = RidgeSolves(K, sample.targets.take(order))
    found = ridge.held_out_safely(path if known is None else np.unique(known), first)
    if found is None:
        return None
    regs, scores = found
    best = best_of(sample, rows, scores) if known is None else nearest_places(regs, known)
    places = np.broadcast_to(best, scores.shape[-1:])
    at_best = scores[places, :, np.arange(len(places))].T
    return regs[best], at_best, ridge.seen_dual(regs[best])


def best_of(
    sample: Sample,
    rows: Array,
    scores: Array,  # (R, rows, c) of rows left out
) -> int | Array:
    """The place of the best regulariser for some rows, of each column if they may differ."""
    some = sample.targets.take(rows)
    if len(scores) == 1:
        return 0
    chosen = sample.outcome.choose(sample.outcome.moved(scores, some), some, sample.folds[rows])
    return 0 if chosen is None else chosen.best


def nearest_places(regs: Array, known: float | Array) -> int | Array:
    """The places of known values among regs, which may all have been raised, and thinned."""
    raised = np.asarray(known * (regs[-1] / np.max(known)))
    return np.abs(np.log(regs) - np.log(raised)[..., None]).argmin(axis=-1)


def fit_all(
    view: ViewRows, candidate: Candidate, targets: AnyTargets, reg: float | Array
) -> tuple[Kernel, Dual] | None:
    """The kernel and the model of all rows; None if they look the same to the kernel."""
    kernel = view.kernel(candidate)
    ridge = try_ridge(view.gram(kernel), targets, 1)
    return None if ridge is None else (kernel, safe_dual(ridge, reg, view, kernel))


def safe_dual(
    ridge: RidgePath | RidgeSolves, reg: float | Array, view: ViewRows, kernel: Kernel
) -> Dual:
    """The model at one reg, or at one for each target.

    By the path where rounding defeats the Cholesky factorisation.
    """
    try:
        return ridge.seen_dual(reg)
    except np.linalg.LinAlgError:
        return RidgePath(view.gram(kernel), ridge.centred.targets).dual(reg)
