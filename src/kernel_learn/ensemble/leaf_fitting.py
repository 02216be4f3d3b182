"""Fit many rows: kernels chosen on some of them, exact fits in leaves of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.column_scales import ColumnScales
from kernel_learn.criteria.held_out.ensemble_weights import mean_and_error, mixture_weights
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.stacking import log_losses
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.cross_validation import Judged, Sample
from kernel_learn.ensemble.kernel_features import KernelFeatures, weigh_kernels
from kernel_learn.ensemble.leaf_tuning import (
    leaf_candidates,
    leaf_scales,
    trials,
    tune_on_leaves,
)
from kernel_learn.ensemble.leaves import (
    LeafKernel,
    LeafMachine,
    fit_leaves,
    scaled,
)
from kernel_learn.ensemble.problem import Fitted, Problem, make_probe, member_of
from kernel_learn.ensemble.quality import LEAF_ROWS
from kernel_learn.ensemble.spilled_table import in_memory
from kernel_learn.ensemble.summary import Member
from kernel_learn.ensemble.table_views import TableView
from kernel_learn.ensemble.trees import Tree, divide
from kernel_learn.rows.access import take_rows

# Leaves in which scales, and others in which widths and lam are found, at most.
SCALE_LEAVES, TUNING_LEAVES = 4, 6
# Scales have seen the labels. So few numbers learned from so many rows do not show in what is
# held out (covtype, 54 columns: 13.3 % held out, 12.7 % on new rows; MNIST, 784: 5.7 and 5.6 %).
# Of more columns they are learned from half of the rows of their leaves, and the others judge; not
# from whole leaves, since a second level that misses regions is off (log loss 0.40, not 0.38).
ROWS_PER_SCALE = 5
# In a hurry: the share of the time left for this, and its cost in factorisations with inverse, an
# eigendecomposition and a second level for each of three widths.
HURRIED_SHARE, TUNING_COST = 0.2, 30.0
LEAST_SHARE = 0.02  # members of a smaller weight are not kept


def fit_in_leaves(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    kept: Sequence[Judged],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> Fitted:
    """More rows than one exact fit takes: the best kernels in the leaves of some trees.

    On the first tree twice as many, of which those with the largest weights go on.
    Under a time budget one kernel and one tree, with leaves as large as time allows.
    """
    hurried = not np.isinf(problem.clock.budget)
    n_members = 1 if hurried else min(problem.quality.leaf_members, problem.max_members)
    n_trees = 1 if hurried else problem.plan.trees
    watched = np.arange(sample.targets.n) if sample.few is None else sample.few
    judges = sample.targets.take(watched)
    chosen, guide, seen = choose_kernels(problem, sample, kept, learned, n_members)
    judging = np.flatnonzero(~np.isin(watched, seen))
    most = problem.clock.leaf_rows(sample.targets.n, len(chosen) * n_trees, most_rows(problem))
    trees, leaf_rows, members = [], [], []
    sums = [np.zeros(judges.counts.shape) for _ in chosen]
    weights = np.ones(len(chosen))
    for t in range(n_trees):
        tree, leaves = divide_sample(sample, guide, most, np.random.default_rng(t) if t else None)
        trees.append(tree)
        leaf_rows.append(leaves)
        problem.say(f"tree {t + 1}: {len(chosen)} members in {len(leaves)} leaves")
        with problem.watching(f"tree {t + 1} of {n_trees}") as at:
            fits = fit_leaves(sample, chosen, t, leaves, watched, judging, at, problem.kept)
        for total, (member, P) in zip(sums, fits, strict=True):
            members.append(member)
            total += P
        weights = weigh(sums, judges, judging)
        heavy = np.sort(np.argsort(-weights, kind="stable")[:n_members])
        heavy = heavy[weights[heavy] > LEAST_SHARE]
        chosen, sums, weights = [chosen[i] for i in heavy], [sums[i] for i in heavy], weights[heavy]
        members = [one for one in members if any(one.chosen is kernel for kernel in chosen)]
    weights = weights / weights.sum()
    share = {id(one): float(w) / n_trees for one, w in zip(chosen, weights, strict=True)}
    used = dict.fromkeys(one.candidate.view for one in chosen)
    machine = LeafMachine(
        features_of(problem, sample, views, chosen, weights),
        {name: views[name] for name in dict.fromkeys([guide[0], *used])},
        in_memory({name: sample.views[name] for name in used}),
        guide,
        trees,
        leaf_rows,
        [replace(m, weight=share[id(m.chosen)]) for m in members],
        sample.targets,
    )
    probas = [total / n_trees for total in sums]
    return Fitted(
        machine,
        members_of(chosen, probas, weights, judges),
        np.tensordot(weights, np.array(probas), 1),
        make_probe(problem, sample, views, learned),
        replace(problem.plan, representation="leaves", block_rows=most, trees=n_trees),
        sample.few,
    )


def choose_kernels(
    problem: Problem,
    sample: Sample,
    kept: Sequence[Judged],
    learned: Mapping[str, Sequence[ColumnScales]],
    n_members: int,
) -> tuple[list[LeafKernel], tuple[str, Array | None], Array]:
    """Kernels for the leaves, the view and scales for the trees, and rows that these have learned.

    In a hurry the best of the few rows on which all were tried, at a width
    and lam that suit a leaf, with the scales of those few rows.
    """
    hurried = not np.isinf(problem.clock.budget)
    kept = [one for one in kept if one.candidate.loss in ("ridge", "combined")] or list(kept)
    guide = guide_of(kept, {view: own[0] for view, own in learned.items()})
    leaves = divide_sample(sample, guide, min(most_rows(problem), problem.plan.narrow_rows))[1]
    for_scales, for_kernels = divide_leaves(leaves, hurried)
    n_columns = sample.views[guide[0]].shape[1]
    is_wide = ROWS_PER_SCALE * n_columns > sum(map(len, for_scales))
    for_scales = [rows[::2] if is_wide else rows for rows in for_scales]
    few = problem.plan.narrow_rows
    if hurried:
        few = problem.clock.rows_within(HURRIED_SHARE * problem.clock.left, TUNING_COST, few)
        for_kernels = [rows[:few] for rows in for_kernels]
        candidates = [one.candidate for one in kept[:1]]
        scales = {view: own[0] for view, own in learned.items()}
    else:
        candidates = leaf_candidates(kept, problem.candidates)
        views = dict.fromkeys(one.view for one in candidates if one.learned)
        problem.say(f"scales of columns from {sum(map(len, for_scales))} rows in leaves")
        scales = leaf_scales(sample, list(views), for_scales)
        guide = guide_of(kept, scales)
    without_width = {o.candidate: o.kernel for o in kept if o.candidate.loss == "combined"}
    some = stratified_rows(sample.targets, few)
    tried = list(trials(sample, candidates, scales, without_width, some))
    problem.say(f"trying {len(tried)} kernels in {len(for_kernels)} leaves")
    n_kept = n_members if hurried else problem.plan.tried_per_member * n_members
    chosen = tune_on_leaves(sample, tried, for_kernels, n_kept, problem.plan.views)
    seen = np.concatenate(for_scales) if for_scales and is_wide else np.empty(0, dtype=int)
    return chosen, guide, seen


def divide_sample(
    sample: Sample,
    guide: tuple[str, Array | None],
    most: int,
    rng: np.random.Generator | None = None,
) -> tuple[Tree, list[Array]]:
    """A tree in the guide's view and scales, and the rows of its leaves."""
    Z, scales = sample.views[guide[0]], guide[1]
    return divide(
        lambda rows: scaled(take_rows(Z, rows), scales), sample.targets.n, most, rng, sample.few
    )


def divide_leaves(leaves: Sequence[Array], hurried: bool) -> tuple[list[Array], list[Array]]:
    """Leaves for scales and others for kernels, both from all over the tree."""
    if hurried:
        return [], [leaves[len(leaves) // 2]]
    n_scales = max(1, min(SCALE_LEAVES, len(leaves) // 3))
    at = set(np.linspace(0, len(leaves) - 1, n_scales, dtype=int))
    others = [rows for i, rows in enumerate(leaves) if i not in at] or list(leaves)
    few = np.linspace(0, len(others) - 1, min(TUNING_LEAVES, len(others)), dtype=int)
    return [leaves[i] for i in sorted(at)], [others[i] for i in few]


def features_of(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    chosen: Sequence[LeafKernel],
    weights: Array,
) -> KernelFeatures:
    """The members' kernels as one, with features from some of the rows."""
    rows = stratified_rows(sample.targets, problem.plan.narrow_rows)
    few = {
        name: take_rows(sample.views[name], rows)
        for name in dict.fromkeys(one.candidate.view for one in chosen)
    }
    return weigh_kernels(chosen, weights, views, few, problem.reader, sample.targets.take(rows))


def weigh(sums: Sequence[Array], judges: Targets, judging: Array) -> Array:
    """Weights of the kernels' averages over the trees so far."""
    P = np.array([total[judging] for total in sums])
    P /= P.sum(axis=2, keepdims=True)
    return mixture_weights(P, judges.take(judging))


def most_rows(problem: Problem) -> int:
    """Of a leaf: what the plan allows, and no more than pays."""
    return min(problem.plan.leaf_rows, LEAF_ROWS)


def guide_of(
    kept: Sequence[Judged], scales: Mapping[str, ColumnScales]
) -> tuple[str, Array | None]:
    """The view in which rows are neighbours: scaled columns if some were learned."""
    for view, own in scales.items():
        return view, own.scales
    return kept[0].candidate.view, kept[0].scales


def members_of(
    chosen: Sequence[LeafKernel], probas: Sequence[Array], weights: Array, targets: Targets
) -> tuple[Member, ...]:
    """What is said of the kernels, each averaged over the trees, by decreasing weight."""
    return tuple(
        member_of(one, one.reg, w, mean_and_error(log_losses(P), targets)[0], P, targets)
        for one, P, w in sorted(
            zip(chosen, probas, weights, strict=True), key=lambda found: -found[2]
        )
    )
