"""Cross-validate candidates: what each says of rows that it has not seen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales
from kernel_learn.criteria.held_out.ensemble_weights import ensemble_weights
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.hinge import HINGE_REGS, fit_hinges
from kernel_learn.criteria.held_out.loo_weights import learn_loo_weights
from kernel_learn.criteria.held_out.ridge import (
    LEAST_SLACK,
    RIDGE_REGS,
    Dual,
    RidgePath,
    RidgeSolves,
    try_ridge,
    with_all_shares,
)
from kernel_learn.criteria.held_out.stacking import (
    Stacking,
    best_stacking,
    fit_stacking,
    log_losses,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, CrossValidated, ViewRows, grouped
from kernel_learn.kernels import (
    ColumnKernel,
    Combination,
    Gaussian,
    Kernel,
    Linear,
    SharedStatistics,
    evaluate_shared,
)
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import take_rows

FOLDS = 5
# Weights of kernels of column groups are learned on at most so many rows: p matrices of n x n are
# held at once.
MOST_WEIGHT_ROWS = 600

Paths = Mapping[Candidate, Array]  # the regularisers that are tried for each candidate


@dataclass(frozen=True)
class Sample:
    """Rows in all views with their targets, and the folds of the cross-validation."""

    views: Mapping[str, Rows]
    targets: Targets
    categorical: Mapping[str, tuple[int, ...]]
    blocks: Mapping[str, Array | None]  # columns of a view that share a learned scale
    folds: Array
    column_groups: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    subsample: Array | None = None  # rows that stand for all where not all are in memory

    def take(self, rows: Array) -> "Sample":
        targets = self.targets.take(rows)
        views = {name: take_rows(Z, rows) for name, Z in self.views.items()}
        folds = stratified_folds(targets, FOLDS)
        return replace(self, views=views, targets=targets, folds=folds, subsample=None)

    def scaled_rows(self, view: str, scales: Array | None, rows: Array | slice) -> Rows:
        """Some rows of a view, with its columns scaled if there are scales."""
        return scale_columns(take_rows(self.views[view], rows), scales)

    def view_rows(
        self, name: str, rows: Rows | None = None, weight: Array | None = None
    ) -> ViewRows:
        """The rows of a view, or others in it, with the statistics that kernels share."""
        return ViewRows(
            self.views[name] if rows is None else rows,
            self.targets.weight if weight is None else weight,
            self.categorical.get(name, ()),
        )

    def statistics(self, candidate: Candidate, rows: Array) -> SharedStatistics:
        """Distances and products of some rows as a candidate sees them."""
        Z = self.scaled_rows(candidate.view, candidate.scales, rows)
        return SharedStatistics(Z, None, self.categorical.get(candidate.view, ()))


def cross_validate(
    sample: Sample,
    candidates: Sequence[Candidate],
    paths: Paths | None = None,
    go_on: Callable[[], bool] = lambda: True,
    n_jobs: int | None = None,
) -> tuple[list[CrossValidated], dict[str, list[ColumnScales]]]:
    """All candidates by increasing loss, and the column scales learned on the way.

    The scales of a view are those of all rows, then those without each fold.
    ``go_on`` is asked before every candidate but the first. Spaces (a view,
    scaled or not) are taken side by side in threads if ``n_jobs`` says so.
    """
    groups = grouped(candidates, lambda candidate: candidate.space)
    results = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(cross_validate_space)(sample, group, paths, go_on, must=i == 0)
        for i, group in enumerate(groups)
    )
    found = [one for own, _ in results for one in own]
    views = [group[0].view for group in groups]
    scales = {view: own for view, (_, own) in zip(views, results, strict=True) if own}
    return sorted(found, key=lambda one: one.loss), scales


def cross_validate_space(
    sample: Sample,
    group: Sequence[Candidate],
    paths: Paths | None,
    go_on: Callable[[], bool],
    *,
    must: bool,  # the first candidate is tried in any case
) -> tuple[list[CrossValidated], list[ColumnScales] | None]:
    """The candidates of one space, as far as time allows."""
    found: list[CrossValidated] = []
    if not must and not go_on():
        return found, None
    learned = scales_of_folds(sample, group[0].view) if group[0].learned else None
    results = (
        cross_validate_plain(sample, group, paths)
        if learned is None
        else cross_validate_scaled(sample, group, paths, learned)
    )
    for one in results:
        found.append(one)
        if not go_on():
            break
    return found, learned


def cross_validate_plain(
    sample: Sample, group: Sequence[Candidate], paths: Paths | None
) -> Iterator[CrossValidated]:
    """Candidates of one view by exact leave-one-out."""
    for candidate in group:
        if candidate.loss == "combined":
            yield from cross_validate_combined(sample, candidate, path_of(candidate, paths))
    plain = [candidate for candidate in group if candidate.loss != "combined"]
    for candidate, K in sample.view_rows(group[0].view).grams(plain):
        way = cross_validate_hinges if candidate.loss == "hinge" else cross_validate_ridge
        yield from way(sample, candidate, K, path_of(candidate, paths))


def path_of(candidate: Candidate, paths: Paths | None) -> Array:
    """The regularisers that are tried for a candidate."""
    if paths is None:
        return HINGE_REGS if candidate.loss == "hinge" else RIDGE_REGS
    return paths[candidate]


def cross_validate_ridge(
    sample: Sample, candidate: Candidate, K: Array, path: Array
) -> Iterator[CrossValidated]:
    """One candidate along a path of regularisers. K is overwritten."""
    ridge = try_ridge(K, sample.targets, len(path))
    if ridge is None:
        return
    scores, least = ridge.held_out(path)
    scores = with_all_shares(scores, sample.targets)
    best = best_stacking(scores, sample.targets, sample.folds, least > LEAST_SLACK)
    if best is not None:
        r, stacking = best
        yield with_stacking(candidate, path[r], stacking, ridge.dual(path[r]))


def cross_validate_hinges(
    sample: Sample, candidate: Candidate, K: Array, path: Array
) -> Iterator[CrossValidated]:
    """A candidate of the squared hinge; the scores of every regulariser are stacked."""
    try:
        found = fit_hinges(K, sample.targets, path)
    except np.linalg.LinAlgError:
        return
    stackings = [
        fit_stacking(machines.scores, sample.targets, sample.folds, machines.roles)
        for machines in found
    ]
    r = min(range(len(stackings)), key=lambda i: stackings[i].loss)
    yield with_stacking(candidate, path[r], stackings[r], found[r].model)


def cross_validate_combined(
    sample: Sample, candidate: Candidate, path: Array
) -> Iterator[CrossValidated]:
    """A weighted sum of kernels of column groups: weights and ridge on four folds of five."""
    Z, targets = sample.views[candidate.view], sample.targets
    groups = sample.column_groups[candidate.view]
    held = np.tile(targets.mean, (len(path), targets.n, 1))
    for inside, outside in each_fold(sample.folds):
        some, rows = targets.take(inside), take_rows(Z, inside)
        kernel = combined_kernel(rows, some, groups, candidate.width)
        ridge = None if kernel is None else try_ridge(kernel(rows), some, len(path))
        if kernel is not None and ridge is not None:
            K_cross = kernel(take_rows(Z, outside), rows)
            held[:, outside] += ridge.new_scores(K_cross, path) - some.mean
    best = best_stacking(held, targets, sample.folds)
    kernel = combined_kernel(Z, targets, groups, candidate.width)
    if best is not None and kernel is not None:
        ridge = try_ridge(kernel(Z), targets, len(path))
        if ridge is not None:
            r, stacking = best
            yield with_stacking(candidate.on_rows(kernel), path[r], stacking, ridge.dual(path[r]))


def combined_kernel(
    Z: Rows,  # (n, d) all columns in one view
    targets: Targets,
    groups: Sequence[Array],  # positions of the columns of each group
    width: float,
) -> Kernel | None:
    """sum over groups of weighted Gaussian and linear kernels; None if no group says anything."""
    rows = np.arange(min(MOST_WEIGHT_ROWS, targets.n))
    Z, targets = take_rows(Z, rows), targets.take(rows)
    kernels: list[Kernel] = []
    for columns in groups:
        wide = ViewRows(Z[:, columns], targets.weight).kernel(Candidate("", "rbf", width))
        assert isinstance(wide, Gaussian)
        kernels += [ColumnKernel(wide, columns), ColumnKernel(Linear(), columns)]
    Ks = np.array([kernel(Z) for kernel in kernels])
    try:
        weights = learn_loo_weights(Ks, targets).weights
    except (np.linalg.LinAlgError, ValueError):
        return None
    if not np.isfinite(weights).all() or not weights.any():
        return None
    return Combination(kernels, weights)


def cross_validate_scaled(
    sample: Sample,
    group: Sequence[Candidate],
    paths: Paths | None,
    learned: Sequence[ColumnScales],
) -> Iterator[CrossValidated]:
    """Candidates on scaled columns: scales and ridge on four folds, scores on the fifth."""
    targets, Z = sample.targets, sample.views[group[0].view]
    held = {
        c: np.full((len(path_of(c, paths)), targets.n, targets.n_classes), np.nan) for c in group
    }
    for (inside, outside), scales in zip(each_fold(sample.folds), learned[1:], strict=True):
        rows, some = scale_columns(Z, scales.scales), targets.take(inside)
        view = sample.view_rows(group[0].view, take_rows(rows, inside), some.weight)
        cross = view.cross(take_rows(rows, outside))
        for candidate in group:
            kernel, path = view.kernel(candidate), path_of(candidate, paths)
            ridge = try_ridge(view.gram(kernel), some, len(path))
            held[candidate][:, outside] = targets.mean  # the shares of all rows, not of some
            if ridge is not None:
                K_cross = evaluate_shared(kernel, cross)
                held[candidate][:, outside] += ridge.new_scores(K_cross, path) - some.mean
    s = learned[0].scales
    view = sample.view_rows(group[0].view, scale_columns(Z, s))
    for candidate in group:
        best = best_stacking(held[candidate], targets, sample.folds)
        kernel = view.kernel(candidate)
        ridge = try_ridge(view.gram(kernel), targets, 1)
        if best is not None and ridge is not None:
            r, stacking = best
            reg = path_of(candidate, paths)[r]
            model = safe_dual(ridge, float(reg), view, kernel)
            yield with_stacking(candidate.on_rows(kernel, s), reg, stacking, model)


def scales_of_folds(sample: Sample, view: str) -> list[ColumnScales]:
    """Scales of a view's columns on all rows, then on all rows without each fold."""
    Z, blocks = sample.views[view], sample.blocks.get(view)
    found = [learn_scales(Z, sample.targets, blocks)]
    for inside, _ in each_fold(sample.folds):
        found.append(learn_scales(take_rows(Z, inside), sample.targets.take(inside), blocks))
    return found


def safe_dual(ridge: RidgePath | RidgeSolves, reg: float, view: ViewRows, kernel: Kernel) -> Dual:
    """The model at one reg; by the path where rounding defeats the Cholesky factorisation."""
    try:
        return ridge.dual(reg)
    except np.linalg.LinAlgError:
        return RidgePath(view.gram(kernel), ridge.centred.targets).dual(reg)


def with_stacking(
    candidate: Candidate, reg: float, stacking: Stacking, model: Dual
) -> CrossValidated:
    """A candidate whose held-out scores were stacked."""
    return CrossValidated(
        candidate, float(reg), stacking.loss, stacking.proba(), ((model,),), (stacking.map,)
    )


def weigh(found: Sequence[CrossValidated], targets: Targets) -> Array:
    """Weights of an average of these by their losses row by row, (members,)."""
    return ensemble_weights(np.array([log_losses(one.proba) for one in found]), targets)


def average_proba(found: Sequence[CrossValidated], weights: Array, targets: Targets) -> Array:
    """Held-out probabilities of the average; the class shares if there is no member."""
    if not found:
        return np.tile(targets.prior, (targets.n, 1))
    return np.tensordot(weights, np.array([one.proba for one in found]), 1)
