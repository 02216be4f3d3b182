"""Many rows: exact fits in leaves of trees, where a narrow kernel sees all it needs.

Kernels are chosen on some rows. Each leaf has exact kernel fits of its own at
widths and lam found beforehand (``leaf_tuning``), leave-one-out within the
leaf, and one stacking for all leaves. Several trees along different
directions are averaged: a row near the edge of one leaf is inside another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import Dual, ridge_at_lam
from kernel_learn.ensemble.candidates import CrossValidated, grouped
from kernel_learn.ensemble.cross_validation import average_held, cross_chosen_held
from kernel_learn.ensemble.fitted import FittedEnsemble, make_probe
from kernel_learn.ensemble.leaf_checkpoint import LeafCheckpoint, LeafFit
from kernel_learn.ensemble.leaf_tuning import (
    leaf_candidates,
    leaf_scales,
    narrowed,
    tune_on_leaves,
)
from kernel_learn.ensemble.likelihood_fitting import learn_scales_again, scales_of
from kernel_learn.ensemble.members import (
    Ensemble,
    TrainingRows,
    class_shares,
    make_members,
    see_rows,
)
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.outcomes.kinds import outcome_of
from kernel_learn.ensemble.plan import LEAF_ROWS
from kernel_learn.ensemble.problem import Problem
from kernel_learn.ensemble.sample import Sample
from kernel_learn.ensemble.screening import screened_rows
from kernel_learn.ensemble.spilled_table import in_memory
from kernel_learn.ensemble.trees import Forest, Tree, divide
from kernel_learn.ensemble.views import TableView
from kernel_learn.rows.access import take_rows

# Leaves in which scales, and others in which widths and lam are found, at most.
SCALE_LEAVES, TUNING_LEAVES = 4, 6
FIRST_LOOK_ROWS = 750  # of the parts of the first of these
# Scales have seen the labels. So few numbers learned from so many rows do not show in what is
# held out (covtype, 54 columns: 13.3 % held out, 12.7 % on new rows; MNIST, 784: 5.7 and 5.6 %).
# Of more columns they are learned from half of the rows of their leaves, and the others are not
# seen; not from whole leaves: a stacking that misses regions is off (log loss 0.40, not 0.38).
ROWS_PER_SCALE = 5
# In a hurry: the share of the time left for this, and its cost in factorisations with inverse, an
# eigendecomposition and a stacking for each of three widths.
HURRIED_SHARE, TUNING_COST = 0.2, 30.0
LEAST_LEAF_WEIGHT = 0.02  # members of a smaller weight do not go on to the next tree

TreeView = tuple[str, Array | None]  # a view and the scales of its columns, in which trees grow


def fit_in_leaves(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    kept: Sequence[CrossValidated],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> FittedEnsemble:
    """More rows than one exact fit takes: the best kernels in the leaves of some trees.

    On the first tree twice as many, of which those with the largest weights go on.
    Under a time budget one kernel and one tree, with leaves as large as time allows.
    """
    hurried = not np.isinf(problem.clock.budget)
    n_members = 1 if hurried else min(problem.quality.leaf_members, problem.max_members)
    n_trees = 1 if hurried else problem.plan.trees
    watched = np.arange(sample.targets.n) if sample.subsample is None else sample.subsample
    held_out = sample.targets.take(watched)
    chosen, tree_view, seen = choose_kernels(problem, sample, kept, learned, n_members)
    unseen = np.flatnonzero(~np.isin(watched, seen))
    most = problem.clock.leaf_rows(sample.targets.n, len(chosen) * n_trees, most_rows(problem))
    trees: list[Tree] = []
    leaf_rows: list[list[Array]] = []
    weights = np.ones(len(chosen))
    for t in range(n_trees):
        rng = np.random.default_rng(t) if t else None
        tree, leaves = divide_sample(sample, tree_view, most, rng)
        trees.append(tree)
        leaf_rows.append(leaves)
        problem.say(f"tree {t + 1}: {len(chosen)} members in {len(leaves)} leaves")
        with problem.watching(f"tree {t + 1} of {n_trees}") as at:
            chosen = fit_leaves(
                sample, chosen, leaves, watched, unseen, at, problem.kept, problem.n_jobs
            )
        weights = weigh_trees(chosen, held_out, unseen)
        largest = weights.reshape(len(chosen), -1).max(axis=1)  # of several targets
        heavy = np.sort(np.argsort(-largest, kind="stable")[:n_members])
        heavy = heavy[largest[heavy] > LEAST_LEAF_WEIGHT]
        chosen, weights = [chosen[i] for i in heavy], weights[heavy]
    weights = weights / weights.sum(axis=0)
    chosen = [averaged(one, n_trees, held_out) for one in chosen]
    ensemble = in_forest(
        problem, sample, views, chosen, weights, held_out, Forest(*tree_view, trees, leaf_rows)
    )
    held = average_held(chosen, weights, held_out)
    return FittedEnsemble(
        ensemble,
        held,
        make_probe(sample, views, learned, problem.reader.n_columns, held, unseen),
        replace(problem.plan, representation="leaves", leaf_rows=most, trees=n_trees),
        sample.subsample,
        cross_chosen=cross_chosen_held(
            chosen, held_out, sample.folds[watched], sample.outcome.fit_weights
        ),
    )


def averaged(one: CrossValidated, n_trees: int, held_out: AnyTargets) -> CrossValidated:
    """With the means of what it says of held-out rows over trees, and its loss."""
    P = one.held / n_trees
    loss = outcome_of(held_out).loss(P, held_out)
    return replace(one, held=P, log_odds=one.log_odds / n_trees, loss=loss)


def in_forest(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    chosen: Sequence[CrossValidated],
    weights: Array,
    held_out: AnyTargets,  # of the held-out rows
    forest: Forest,
) -> Ensemble:
    """The average of members in leaves, with features from some of the rows."""
    used = dict.fromkeys(one.candidate.view for one in chosen)
    known = TrainingRows(
        {name: views[name] for name in dict.fromkeys([forest.view, *used])},
        in_memory({name: sample.views[name] for name in used}),
        sample.targets,
    )
    rows = stratified_rows(sample.targets, problem.plan.narrow_rows)
    some = {name: take_rows(sample.views[name], rows) for name in used}
    for_features = see_rows(chosen, views, some, sample.targets.take(rows))
    members = make_members(chosen, weights, weights, for_features, held_out)
    return Ensemble(problem.reader, members, known, for_features, forest, class_shares(held_out))


def choose_kernels(
    problem: Problem,
    sample: Sample,
    kept: Sequence[CrossValidated],
    learned: Mapping[str, Sequence[ColumnScales]],
    n_members: int,
) -> tuple[list[CrossValidated], TreeView, Array]:
    """Kernels for the leaves, the view and scales for the trees, and rows that these have learned.

    In a hurry the best of the few rows on which all were tried, at a width
    and lam that suit a leaf, with the scales of those few rows.
    """
    hurried = not np.isinf(problem.clock.budget)
    kept = [one for one in kept if one.candidate.loss != "hinge"] or list(kept)
    screened = screened_rows(problem, sample)
    if isinstance(sample.targets, NumberTargets) and not hurried:
        kept = learn_scales_again(kept, sample.take(screened))
    scales = {view: own[0] for view, own in learned.items()}
    tree_view = view_of_trees(kept, scales)
    leaves = divide_sample(sample, tree_view, min(most_rows(problem), problem.plan.narrow_rows))[1]
    for_scales, for_kernels = divide_leaves(leaves, hurried)
    n_columns = sample.views[tree_view[0]].shape[1]
    is_wide = ROWS_PER_SCALE * n_columns > sum(map(len, for_scales))
    for_scales = [rows[::2] if is_wide else rows for rows in for_scales]
    n_rows = problem.plan.narrow_rows
    if hurried:
        n_rows = problem.clock.rows_within(HURRIED_SHARE * problem.clock.left, TUNING_COST, n_rows)
        for_kernels = [rows[:n_rows] for rows in for_kernels]
        candidates = [one.candidate for one in kept[:1]]
    else:
        candidates = leaf_candidates(kept, problem.candidates)
        own = dict.fromkeys(one.view for one in candidates if one.learned)
        problem.say(f"scales of columns from {sum(map(len, for_scales))} rows in leaves")
        scales = leaf_scales(sample, list(own), for_scales)
        tree_view = view_of_trees(kept, scales)
    some = stratified_rows(sample.targets, n_rows)
    tried = list(narrowed(sample, candidates, scales, some))
    problem.say(f"trying {len(tried)} kernels in {len(for_kernels)} leaves")
    n_kept = n_members if hurried else problem.plan.tried_per_member * n_members
    rounds = tuning_rounds(sample, tree_view, for_kernels)
    chosen = tune_on_leaves(sample, tried, rounds, n_kept, problem.plan.most_views, least=n_members)
    if isinstance(sample.targets, NumberTargets):
        return chosen, tree_view, screened
    seen = np.concatenate(for_scales) if for_scales and is_wide else np.empty(0, dtype=int)
    return chosen, tree_view, seen


def divide_sample(
    sample: Sample, tree_view: TreeView, most: int, rng: np.random.Generator | None = None
) -> tuple[Tree, list[Array]]:
    """A tree in a view with scales, and the rows of its leaves."""
    rows = partial(sample.scaled_rows, *tree_view)
    return divide(rows, sample.targets.n, most, rng, sample.subsample)


def divide_leaves(leaves: Sequence[Array], hurried: bool) -> tuple[list[Array], list[Array]]:
    """Leaves for scales and others for kernels, both from all over the tree."""
    if hurried:
        return [], [leaves[len(leaves) // 2]]
    n_scales = max(1, min(SCALE_LEAVES, len(leaves) // 3))
    at = set(np.linspace(0, len(leaves) - 1, n_scales, dtype=int))
    others = [rows for i, rows in enumerate(leaves) if i not in at] or list(leaves)
    spread = np.linspace(0, len(others) - 1, min(TUNING_LEAVES, len(others)), dtype=int)
    return [leaves[i] for i in sorted(at)], [others[i] for i in spread]


def tuning_rounds(
    sample: Sample, tree_view: TreeView, leaves: Sequence[Array]
) -> list[Sequence[Array]]:
    """The first leaf in parts of at most ``FIRST_LOOK_ROWS``, the others, and the first once more.

    In parts all kernels are tried along the whole path, which took two thirds of the time of a fit
    of 6000 rows. Rows are as close there as in the leaf, and fewer: what is chosen is chosen on
    whole leaves (covtype, 6000 rows: 1.01 of the log loss with the parts among them).
    """
    first, *others = leaves
    if not others:
        return [leaves]
    _, places = divide(
        lambda at: sample.scaled_rows(*tree_view, first[at]), len(first), FIRST_LOOK_ROWS
    )
    return [[first[part] for part in places], *([rows] for rows in [*others, first])]


def weigh_trees(chosen: Sequence[CrossValidated], held_out: AnyTargets, unseen: Array) -> Array:
    """Weights of the kernels' averages over the trees so far."""
    outcome = outcome_of(held_out)
    P = outcome.mean(np.array([one.held[unseen] for one in chosen]), len(chosen[0].maps))
    return outcome.fit_weights(P, held_out.take(unseen))


def most_rows(problem: Problem) -> int:
    """Of a leaf: what the plan allows, and no more than pays."""
    return min(problem.plan.leaf_rows, LEAF_ROWS)


def view_of_trees(kept: Sequence[CrossValidated], scales: Mapping[str, ColumnScales]) -> TreeView:
    """The view in which rows are neighbours: scaled columns if some were learned."""
    for view, own in scales.items():
        return view, own.scales
    candidate = kept[0].candidate
    likely = scales_of(candidate) if candidate.loss == "likelihood" else None
    return candidate.view, kept[0].scales if likely is None else likely


def fit_leaves(
    sample: Sample,
    chosen: Sequence[CrossValidated],
    leaves: Sequence[Array],  # of one tree
    watched: Array,  # rows whose held-out scores are kept
    unseen: Array,  # of these, those that neither scales nor widths have seen
    at: Callable[[int], None] = lambda n_rows: None,  # told how many rows are done
    kept: LeafCheckpoint | None = None,
    n_jobs: int | None = None,
) -> list[CrossValidated]:
    """Every kernel with its models on one more tree, its held-out probabilities added up.

    Leaves are fitted side by side in threads if ``n_jobs`` says so and their rows are in memory.
    """
    scores = np.zeros((len(chosen), len(watched), sample.targets.Y.shape[1]))
    seat = np.full(sample.targets.n, -1)  # where a row's scores go, if they are kept
    seat[watched] = np.arange(len(watched))
    models: list[list[Dual]] = [[] for _ in chosen]
    done = 0

    def fit_leaf(rows: Array) -> tuple[Array, Sequence[LeafFit]]:
        seen = np.flatnonzero(seat[rows] >= 0)
        fit = partial(fit_one_leaf, sample, chosen, rows, seen)
        return rows[seen], fit() if kept is None else kept.leaf(rows, chosen, fit)

    fitted_leaves: Iterable[tuple[Array, Sequence[LeafFit]]] = map(fit_leaf, leaves)
    if n_jobs is not None and kept is None and sample.subsample is None:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        fitted_leaves = parallel(delayed(fit_leaf)(rows) for rows in leaves)
    for rows, (kept_rows, fits) in zip(leaves, fitted_leaves, strict=True):
        for m, (model, held) in enumerate(fits):
            scores[m, seat[kept_rows]] = held
            models[m].append(model)
        done += len(rows)
        at(done)
    targets, folds = sample.targets.take(watched[unseen]), sample.folds[watched[unseen]]
    found = []
    for one, own, S in zip(chosen, models, scores, strict=True):
        fitted = sample.outcome.fit(S[unseen], targets, folds)
        P, L = sample.outcome.say(fitted.map, S)
        P[unseen], L[unseen] = fitted.said
        found.append(
            replace(
                one,
                held=one.held + P if one.models else P,
                log_odds=one.log_odds + L if one.models else L,
                models=(*one.models, tuple(own)),
                maps=(*one.maps, fitted.map),
            )
        )
    return found


def fit_one_leaf(
    sample: Sample, chosen: Sequence[CrossValidated], rows: Array, seen: Array
) -> list[LeafFit]:
    """All kernels on the rows of a leaf, with the held-out scores of those that are seen."""
    targets, found = sample.targets.take(rows), {}

    def moved(scores: Array) -> Array:
        return sample.outcome.moved(scores, targets)

    for same in grouped(range(len(chosen)), lambda m: chosen[m].candidate.space):
        S = sample.statistics(chosen[same[0]].candidate, rows)
        for m in same:
            K = chosen[m].candidate.values(S)
            held, model = ridge_at_lam(K, targets, chosen[m].lam, moved)
            found[m] = LeafFit(model, held[seen])
    return [found[m] for m in range(len(chosen))]
