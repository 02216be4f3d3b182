"""Judge candidates by what they say of rows that they have not seen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales, scale_columns
from kernel_learn.criteria.held_out.ensemble_weights import soft_weights
from kernel_learn.criteria.held_out.folds import stratified_parts
from kernel_learn.criteria.held_out.hinge import REGS as HINGE_REGS
from kernel_learn.criteria.held_out.hinge import fit_hinges
from kernel_learn.criteria.held_out.ridge import (
    LEAST_SLACK,
    Dual,
    RidgePath,
    RidgeSolves,
    solve_ridge,
    with_all_shares,
)
from kernel_learn.criteria.held_out.stacking import (
    LinearMap,
    SecondLevel,
    fit_second_level,
    log_losses,
    rank_scores,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, ViewRows
from kernel_learn.ensemble.combined_kernel import combined_kernel
from kernel_learn.kernels import Kernel, evaluate_shared
from kernel_learn.rows.access import take_rows

REGS = 10.0 ** np.arange(-6, 1.51, 0.5)
FOLDS = 5
# Regularisers whose scores go through the second level; the others are only ranked.
FINALISTS = 2


@dataclass(frozen=True)
class Judged:
    """A candidate at its best regulariser: how it was judged, and its model of all rows."""

    candidate: Candidate
    kernel: Kernel
    reg: float
    loss: float
    proba: Array  # (n, k), held out
    model: Dual
    second: LinearMap
    scales: Array | None = None  # (d,) of the view's columns


@dataclass(frozen=True)
class Sample:
    """Rows in all views with their targets, and the parts of the cross-fits."""

    views: Mapping[str, Rows]
    targets: Targets
    categorical: Mapping[str, tuple[int, ...]]
    blocks: Mapping[str, Array | None]  # columns of a view that share a learned scale
    folds: Array
    column_groups: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    few: Array | None = None  # rows that stand for all where not all are in memory

    def take(self, rows: Array) -> "Sample":
        targets = self.targets.take(rows)
        views = {name: take_rows(Z, rows) for name, Z in self.views.items()}
        folds = stratified_parts(targets, FOLDS)
        return replace(self, views=views, targets=targets, folds=folds, few=None)

    def view_rows(self, name: str, rows: Rows | None = None, weight: Array | None = None):
        return ViewRows(
            self.views[name] if rows is None else rows,
            self.targets.weight if weight is None else weight,
            self.categorical.get(name, ()),
        )


def judge(
    sample: Sample,
    candidates: Sequence[Candidate],
    regs: Mapping[Candidate, Array] | None = None,
    go_on: Callable[[], bool] = lambda: True,
    n_jobs: int | None = None,
) -> tuple[list[Judged], dict[str, list[ColumnScales]]]:
    """All candidates by increasing loss, and the column scales learned on the way.

    The scales of a view are those of all rows, then those without each part.
    ``go_on`` is asked before every candidate but the first. Places (a view,
    scaled or not) are judged side by side in threads if ``n_jobs`` says so.
    """
    places = list(dict.fromkeys(candidate.place for candidate in candidates))
    groups = [[c for c in candidates if c.place == place] for place in places]
    results = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(judge_place)(sample, group, regs, go_on, must=place == places[0])
        for place, group in zip(places, groups, strict=True)
    )
    found = [one for judged, _ in results for one in judged]
    scales = {place[0]: own for place, (_, own) in zip(places, results, strict=True) if own}
    return sorted(found, key=lambda one: one.loss), scales


def judge_place(
    sample: Sample,
    group: Sequence[Candidate],
    regs: Mapping[Candidate, Array] | None,
    go_on: Callable[[], bool],
    *,
    must: bool,  # the first candidate is judged in any case
) -> tuple[list[Judged], list[ColumnScales] | None]:
    """The candidates of one place, as far as time allows."""
    found: list[Judged] = []
    if not must and not go_on():
        return found, None
    learned = scales_of_parts(sample, group[0].view) if group[0].learned else None
    judged = (
        judge_plain(sample, group, regs)
        if learned is None
        else judge_scaled(sample, group, regs, learned)
    )
    for one in judged:
        found.append(one)
        if not go_on():
            break
    return found, learned


def judge_plain(
    sample: Sample, group: Sequence[Candidate], regs: Mapping[Candidate, Array] | None
) -> Iterator[Judged]:
    """Candidates of one view by exact leave-one-out."""
    combined = [candidate for candidate in group if candidate.loss == "combined"]
    for candidate in combined:
        yield from judge_combined(sample, candidate, regs)
    plain = [candidate for candidate in group if candidate.loss != "combined"]
    view = sample.view_rows(group[0].view)
    for candidate, kernel, K in view.grams(plain):
        judging = judge_hinges if candidate.loss == "hinge" else judge_ridge
        path = None if regs is None else regs[candidate]
        yield from judging(sample, candidate, kernel, K, path)


def judge_ridge(
    sample: Sample, candidate: Candidate, kernel: Kernel, K: Array, path: Array | None
) -> Iterator[Judged]:
    """One candidate along a path of regularisers. K is overwritten."""
    path = REGS if path is None else path
    ridge = ridge_of(K, sample.targets, len(path))
    if ridge is None:
        return
    scores, least = ridge.held_out(path)
    scores = with_all_shares(scores, sample.targets)
    best = best_second_level(scores, least > LEAST_SLACK, sample)
    if best is not None:
        r, second = best
        yield _judged(candidate, kernel, float(path[r]), second, ridge.dual(path[r]))


def judge_hinges(
    sample: Sample, candidate: Candidate, kernel: Kernel, K: Array, path: Array | None
) -> Iterator[Judged]:
    """A candidate of the squared hinge; every regulariser goes through the second level."""
    path = HINGE_REGS if path is None else path
    try:
        found = fit_hinges(K, sample.targets, path)
    except np.linalg.LinAlgError:
        return
    levels = [
        fit_second_level(machines.scores, sample.targets, sample.folds, machines.roles)
        for machines in found
    ]
    r = min(range(len(levels)), key=lambda i: levels[i].loss)
    yield _judged(candidate, kernel, float(path[r]), levels[r], found[r].model)


def judge_combined(
    sample: Sample, candidate: Candidate, regs: Mapping[Candidate, Array] | None
) -> Iterator[Judged]:
    """A weighted sum of kernels of column groups: weights and ridge on four parts of five."""
    Z, targets = sample.views[candidate.view], sample.targets
    groups, path = sample.column_groups[candidate.view], REGS if regs is None else regs[candidate]
    held = np.tile(targets.mean, (len(path), targets.n, 1))
    for part in np.unique(sample.folds):
        inside, outside = (np.flatnonzero(m) for m in (sample.folds != part, sample.folds == part))
        some, rows = targets.take(inside), take_rows(Z, inside)
        kernel = combined_kernel(rows, some, groups, candidate.width)
        ridge = None if kernel is None else ridge_of(kernel(rows), some, len(path))
        if kernel is not None and ridge is not None:
            K_cross = kernel(take_rows(Z, outside), rows)
            held[:, outside] += new_scores(ridge, K_cross, path) - some.mean
    best = best_second_level(held, np.ones(len(path), bool), sample)
    kernel = combined_kernel(Z, targets, groups, candidate.width)
    if best is not None and kernel is not None:
        ridge = ridge_of(kernel(Z), targets, len(path))
        if ridge is not None:
            r, second = best
            yield _judged(candidate, kernel, float(path[r]), second, ridge.dual(path[r]))


def judge_scaled(
    sample: Sample,
    group: Sequence[Candidate],
    regs: Mapping[Candidate, Array] | None,
    learned: Sequence[ColumnScales],
) -> Iterator[Judged]:
    """Candidates on scaled columns: scales and ridge on four parts, scores on the fifth."""
    targets, Z = sample.targets, sample.views[group[0].view]
    paths = {c: REGS if regs is None else regs[c] for c in group}
    held = {c: np.full((len(paths[c]), targets.n, targets.n_classes), np.nan) for c in group}
    for part, scales in zip(np.unique(sample.folds), learned[1:], strict=True):
        inside, outside = (np.flatnonzero(m) for m in (sample.folds != part, sample.folds == part))
        rows, some = scale_columns(Z, scales.scales), targets.take(inside)
        view = sample.view_rows(group[0].view, take_rows(rows, inside), some.weight)
        cross = view.cross(take_rows(rows, outside))
        for candidate in group:
            kernel, path = view.kernel(candidate), paths[candidate]
            ridge = ridge_of(view.gram(kernel), some, len(path))
            held[candidate][:, outside] = targets.mean  # the shares of all rows, not of some
            if ridge is not None:
                K_cross = evaluate_shared(kernel, cross)
                held[candidate][:, outside] += new_scores(ridge, K_cross, path) - some.mean
    s = learned[0].scales
    view = sample.view_rows(group[0].view, scale_columns(Z, s))
    for candidate in group:
        best = best_second_level(held[candidate], np.ones(len(paths[candidate]), bool), sample)
        kernel = view.kernel(candidate)
        ridge = ridge_of(view.gram(kernel), targets, 1)
        if best is not None and ridge is not None:
            r, second = best
            reg = float(paths[candidate][r])
            yield _judged(candidate, kernel, reg, second, safe_dual(ridge, reg, view, kernel), s)


def scales_of_parts(sample: Sample, view: str) -> list[ColumnScales]:
    """Scales of a view's columns on all rows, then on all rows without each part."""
    Z, blocks = sample.views[view], sample.blocks.get(view)
    found = [learn_scales(Z, sample.targets, blocks)]
    for part in np.unique(sample.folds):
        inside = np.flatnonzero(sample.folds != part)
        found.append(learn_scales(take_rows(Z, inside), sample.targets.take(inside), blocks))
    return found


def ridge_of(K: Array, targets: Targets, n_regs: int) -> RidgePath | RidgeSolves | None:
    """The ridge fits of a Gram matrix; None if all rows look the same to the kernel."""
    size = float(np.abs(K).max(initial=0.0))
    ridge = solve_ridge(K, targets, n_regs)
    if not np.isfinite(ridge.centred.unit) or ridge.centred.unit <= 1e-12 * size:
        return None
    return ridge


def new_scores(ridge: RidgePath | RidgeSolves, K_cross: Array, path: Array) -> Array:
    """Scores of new rows at every reg, (R, n_new, k)."""
    if isinstance(ridge, RidgePath):
        return ridge.new_scores(K_cross, path)
    return np.array([ridge.dual(reg).scores(K_cross) for reg in path])


def safe_dual(ridge: RidgePath | RidgeSolves, reg: float, view: ViewRows, kernel: Kernel) -> Dual:
    """The model at one reg; by the path where rounding defeats the Cholesky factorisation."""
    try:
        return ridge.dual(reg)
    except np.linalg.LinAlgError:
        return RidgePath(view.gram(kernel), ridge.centred.targets).dual(reg)


def best_second_level(scores: Array, safe: Array, sample: Sample) -> tuple[int, SecondLevel] | None:
    """The best regulariser after the second level, among those that rank first before it."""
    if not safe.any():
        return None
    ranks = np.where(safe, rank_scores(scores, sample.targets), np.inf)
    finalists = [int(r) for r in ranks.argsort()[:FINALISTS] if np.isfinite(ranks[r])]
    levels = [(r, fit_second_level(scores[r], sample.targets, sample.folds)) for r in finalists]
    return min(levels, key=lambda level: level[1].loss) if levels else None


def weigh(judged: Sequence[Judged], targets: Targets) -> Array:
    """Soft weights of judged members, (members,)."""
    return weigh_probabilities([one.proba for one in judged], targets)


def weigh_probabilities(probas: Sequence[Array], targets: Targets) -> Array:
    """Soft weights from held-out probabilities (n, k) of each member."""
    return soft_weights(np.array([log_losses(P) for P in probas]), targets)


def _judged(
    candidate: Candidate,
    kernel: Kernel,
    reg: float,
    second: SecondLevel,
    model: Dual,
    scales: Array | None = None,
) -> Judged:
    return Judged(candidate, kernel, reg, second.loss, second.proba(), model, second.map, scales)
