"""Cross-validate candidates: what each says of rows that it has not seen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import ColumnScales, learn_scales
from kernel_learn.criteria.held_out.folds import each_fold
from kernel_learn.criteria.held_out.hinge import HINGE_REGS, fit_hinges
from kernel_learn.criteria.held_out.loo_weights import learn_loo_weights
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import (
    RIDGE_REGS,
    Dual,
    RidgeSolves,
    try_ridge,
)
from kernel_learn.criteria.held_out.stacking import fit_stacking, stack_without_folds
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate, CrossValidated, ViewRows, grouped
from kernel_learn.ensemble.halves import (
    fit_halves,
    halves_of,
    safe_dual,
    scales_of_halves,
    use_halves,
)
from kernel_learn.ensemble.likelihood_fitting import family_of, fit_likelihoods
from kernel_learn.ensemble.outcomes.base import AnyTargets, Judged, Said
from kernel_learn.ensemble.outcomes.kinds import outcome_of, said_by, stacked
from kernel_learn.ensemble.sample import Sample
from kernel_learn.kernels import (
    ColumnKernel,
    Combination,
    Gaussian,
    Kernel,
    Linear,
    evaluate_shared,
)
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.rows.access import take_rows

# Weights of kernels of column groups are learned on at most so many rows: p matrices of n x n are
# held at once.
MOST_WEIGHT_ROWS = 600

Paths = Mapping[Candidate, Array]  # the regularisers that are tried for each candidate


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
    if not group[0].learned:
        results, learned = cross_validate_plain(sample, group, paths), None
    elif use_halves(sample, regs := {one: path_of(one, paths) for one in group}):
        learned = scales_of_halves(sample, group[0].view)
        results = starmap(cross_validated, fit_halves(sample, group[0].view, regs, learned))
    else:
        learned = scales_of_folds(sample, group[0].view)
        results = cross_validate_scaled(sample, group, paths, learned)
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
    for family in grouped((c for c in group if needs_scales(c)), family_of):
        yield from cross_validate_likelihood(sample, family, path_of(family[0], paths))
    for candidate in group:
        if candidate.loss == "likelihood" and candidate.kernel is not None:
            K = np.asarray(candidate.kernel(sample.views[candidate.view]))
            yield from cross_validate_ridge(sample, candidate, K, path_of(candidate, paths))
    plain = [c for c in group if c.loss not in ("combined", "likelihood")]
    for candidate, K in sample.view_rows(group[0].view).grams(plain):
        way = cross_validate_hinges if candidate.loss == "hinge" else cross_validate_ridge
        yield from way(sample, candidate, K, path_of(candidate, paths))
        del K  # a matrix of all rows, before there is another


def needs_scales(candidate: Candidate) -> bool:
    """Whether its scales are still to be learned by marginal likelihood."""
    return candidate.loss == "likelihood" and candidate.kernel is None


def cross_validate_likelihood(
    sample: Sample, group: Sequence[Candidate], path: Array
) -> Iterator[CrossValidated]:
    """Candidates of one family with scales by marginal likelihood."""
    view, targets = group[0].view, sample.targets
    assert isinstance(targets, NumberTargets), "the likelihood is that of numbers"
    blocks = sample.blocks.get(view)
    for fit in fit_likelihoods(sample.views[view], targets, blocks, group, path):
        chosen = sample.outcome.choose(fit.scores, targets, sample.folds, fit.safe)
        if chosen is not None:
            regs = path[chosen.best]
            yield cross_validated(fit.candidate, regs, chosen, fit.ridge.seen_dual(regs))


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
    scores = sample.outcome.moved(scores, sample.targets)
    chosen = sample.outcome.choose(scores, sample.targets, sample.folds, least > LEAST_SLACK)
    if chosen is not None:
        regs = path[chosen.best]
        yield cross_validated(candidate, regs, chosen, ridge.seen_dual(regs))


def cross_validate_hinges(
    sample: Sample, candidate: Candidate, K: Array, path: Array
) -> Iterator[CrossValidated]:
    """A candidate of the squared hinge; the scores of every regulariser are stacked."""
    assert isinstance(sample.targets, Targets), "machines tell classes apart"
    try:
        found = fit_hinges(K, sample.targets, path)
    except np.linalg.LinAlgError:
        return
    stackings = [
        fit_stacking(machines.scores, sample.targets, sample.folds, machines.roles)
        for machines in found
    ]
    r = min(range(len(stackings)), key=lambda i: stackings[i].loss)
    yield cross_validated(candidate, path[r], stacked(r, stackings[r]), found[r].model)


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
    chosen = sample.outcome.choose(held, targets, sample.folds)
    kernel = combined_kernel(Z, targets, groups, candidate.width)
    if chosen is not None and kernel is not None:
        ridge = try_ridge(kernel(Z), targets, len(path))
        if ridge is not None:
            regs = path[chosen.best]
            yield cross_validated(candidate.on_rows(kernel), regs, chosen, ridge.seen_dual(regs))


def combined_kernel(
    Z: Rows,  # (n, d) all columns in one view
    targets: AnyTargets,
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
    held = {c: np.full((len(path_of(c, paths)), *targets.Y.shape), np.nan) for c in group}
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
        chosen = sample.outcome.choose(held[candidate], targets, sample.folds)
        kernel = view.kernel(candidate)
        ridge = try_ridge(view.gram(kernel), targets, 1)
        if chosen is not None and ridge is not None:
            regs = path_of(candidate, paths)[chosen.best]
            model = safe_dual(ridge, regs, view, kernel)
            yield cross_validated(candidate.on_rows(kernel, s), regs, chosen, model)


def scales_of_folds(sample: Sample, view: str) -> list[ColumnScales]:
    """Scales of a view's columns on all rows, then on all rows without each fold."""
    Z, blocks = sample.views[view], sample.blocks.get(view)
    found = [learn_scales(Z, sample.targets, blocks)]
    for inside, _ in each_fold(sample.folds):
        found.append(learn_scales(take_rows(Z, inside), sample.targets.take(inside), blocks))
    return found


def cross_validated(
    candidate: Candidate,
    regs: float | Array,  # of all columns of the scores, or of each
    chosen: Judged,
    model: Dual,
) -> CrossValidated:
    """A candidate whose held-out scores were judged."""
    own = np.broadcast_to(regs, model.coef.shape[1:])
    used = np.unique(own if chosen.columns is None else own[chosen.columns])
    reg = float(used[0]) if len(used) == 1 else float(np.exp(np.mean(np.log(used))))
    return CrossValidated(
        candidate,
        reg,
        chosen.loss,
        chosen.said.held,
        ((model,),),
        (chosen.map,),
        regs=used,
        column_regs=None if np.ndim(regs) == 0 else np.array(own),
        log_odds=chosen.said.log_odds,
        crossed=chosen.crossed,
    )


def weigh(found: Sequence[CrossValidated], targets: AnyTargets) -> Array:
    """Weights of an average of these by what they say of held-out rows, see ``Outcome``."""
    return outcome_of(targets).weigh(np.array([one.held for one in found]), targets)


def average_held(found: Sequence[CrossValidated], weights: Array, targets: AnyTargets) -> Array:
    """Held-out predictions of the average, (n, k)."""
    if not found:
        return np.tile(outcome_of(targets).without_members(targets), (targets.n, 1))
    said = [Said(one.held, one.log_odds) for one in found]
    return outcome_of(targets).average(said, weights, targets)


def crossed_without_folds(
    one: CrossValidated,
    sample: Sample,
    folds: Array,
    learned: Sequence[ColumnScales] | None,  # of all rows, then of each half
) -> CrossValidated:
    """The same with log-odds of every row by scores and a stacking that have not seen its fold.

    Held-out scores of all other rows were told its label, and so is a stacking of these. Where
    classes have few rows that shows: of 200 classes of ten rows, 6.9 % were wrong and 10.1 % of
    new ones. Scales of columns are those of the half that the row is not in. As it is where that
    is not known of scores: of machines.
    """
    c, targets = one.candidate, sample.targets
    if c.loss == "hinge" or not isinstance(targets, Targets):
        return one
    scores = np.empty((len(np.unique(folds)), *targets.Y.shape))
    parts = [(np.arange(targets.n), c.scales)]
    if c.learned and learned is not None:
        halves = each_fold(halves_of(targets))
        parts = [(judged, own.scales) for (_, judged), own in zip(halves, learned[1:], strict=True)]
    for judged, scales in parts:
        view = sample.view_rows(c.view, sample.scaled_rows(c.view, scales, slice(None)))
        kernel = view.kernel(c) if c.learned else one.kernel
        try:
            without = RidgeSolves(view.gram(kernel), targets).without_folds(one.reg, folds)
            for own, found in zip(scores, without, strict=True):
                own[judged] = found[judged]
        except np.linalg.LinAlgError:
            return one
    for own, (inside, _) in zip(scores, each_fold(folds), strict=True):
        own[inside] = sample.outcome.moved(own[inside], targets.take(inside))
    return replace(one, crossed=stack_without_folds(scores, targets, folds))


def cross_chosen_held(
    found: Sequence[CrossValidated],
    targets: AnyTargets,
    folds: Array,
    weigh: Callable[[Array, AnyTargets], Array],
) -> Array | None:
    """Those of the average whose regularisers and weights have not seen the fold that they are of.

    None of numbers, whose weights may have been learned by some rows alone.
    """
    if isinstance(targets, NumberTargets):
        return None
    if not found:
        return average_held(found, np.empty(0), targets)
    crossed = [
        Said(one.held, one.log_odds) if one.crossed is None else said_by(one.crossed)
        for one in found
    ]
    held = np.array([said.held for said in crossed])
    chosen = np.empty(held.shape[1:])
    for inside, outside in each_fold(folds):
        some = targets.take(inside)
        w = weigh(held[:, inside], some)
        said = [Said(own.held[outside], own.log_odds[outside]) for own in crossed]
        chosen[outside] = outcome_of(targets).average(said, w, some)
    return chosen
