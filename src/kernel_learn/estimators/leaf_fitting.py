"""Fit many rows: kernels chosen on some of them, exact fits in leaves of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.criteria.column_scales import ColumnScales
from kernel_learn.criteria.second_level import log_losses
from kernel_learn.criteria.soft_weights import mean_and_error, mixture_weights
from kernel_learn.criteria.targets import Targets
from kernel_learn.estimators.distinct import stratified_rows
from kernel_learn.estimators.features import KernelFeatures, weigh_kernels
from kernel_learn.estimators.judging import Judged, Sample
from kernel_learn.estimators.leaf_tuning import (
    leaf_candidates,
    leaf_scales,
    trials,
    tune_on_leaves,
)
from kernel_learn.estimators.leaves import (
    LeafKernel,
    LeafMachine,
    fit_leaves,
    scaled,
)
from kernel_learn.estimators.problem import Fitted, Problem, make_probe, member_of
from kernel_learn.estimators.quality import LEAF_ROWS
from kernel_learn.estimators.report import Member
from kernel_learn.estimators.table_views import TableView
from kernel_learn.estimators.trees import grow_tree, rows_of_leaves
from kernel_learn.estimators.validation import Array
from kernel_learn.kernels.pairwise import take_rows

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
    n_trees = 1 if hurried else problem.quality.trees
    chosen, guide, judging = choose_kernels(problem, sample, kept, learned, n_members)
    Z = scaled(sample.views[guide[0]], guide[1])
    most = problem.clock.leaf_rows(sample.targets.n, len(chosen) * n_trees, most_rows(problem))
    trees, leaf_rows, members = [], [], []
    sums = [np.zeros(sample.targets.counts.shape) for _ in chosen]
    weights = np.ones(len(chosen))
    for t in range(n_trees):
        trees.append(grow_tree(Z, most, np.random.default_rng(t) if t else None))
        leaf_rows.append(rows_of_leaves(trees[t].leaves(Z)))
        problem.say(f"tree {t + 1}: {len(chosen)} members in {len(leaf_rows[t])} leaves")
        for total, (member, P) in zip(
            sums, fit_leaves(sample, chosen, t, leaf_rows[t], judging), strict=True
        ):
            members.append(member)
            total += P
        weights = weigh(sums, sample, judging)
        heavy = np.sort(np.argsort(-weights, kind="stable")[:n_members])
        heavy = heavy[weights[heavy] > LEAST_SHARE]
        chosen, sums, weights = [chosen[i] for i in heavy], [sums[i] for i in heavy], weights[heavy]
    weights = weights / weights.sum()
    share = {id(one): float(w) / n_trees for one, w in zip(chosen, weights, strict=True)}
    used = dict.fromkeys([guide[0], *(one.candidate.view for one in chosen)])
    machine = LeafMachine(
        features_of(problem, sample, views, chosen, weights),
        {name: views[name] for name in used},
        {name: sample.views[name] for name in used},
        guide,
        trees,
        leaf_rows,
        [replace(m, weight=share[id(m.chosen)]) for m in members if id(m.chosen) in share],
        sample.targets,
    )
    probas = [total / n_trees for total in sums]
    return Fitted(
        machine,
        members_of(chosen, probas, weights, sample.targets),
        np.tensordot(weights, np.array(probas), 1),
        make_probe(problem, sample, views, learned),
        replace(problem.plan, representation="leaves", block_rows=most),
    )


def choose_kernels(
    problem: Problem,
    sample: Sample,
    kept: Sequence[Judged],
    learned: Mapping[str, Sequence[ColumnScales]],
    n_members: int,
) -> tuple[list[LeafKernel], tuple[str, Array | None], Array]:
    """Kernels for the leaves, the view and scales for the trees, and the rows not used for them.

    In a hurry the best of the few rows on which all were tried, at a width
    and lam that suit a leaf, with the scales of those few rows.
    """
    hurried = not np.isinf(problem.clock.budget)
    kept = [one for one in kept if one.candidate.loss in ("ridge", "combined")] or list(kept)
    guide = guide_of(kept, {view: own[0] for view, own in learned.items()})
    Z = scaled(sample.views[guide[0]], guide[1])
    leaves = rows_of_leaves(
        grow_tree(Z, min(most_rows(problem), problem.plan.narrow_rows)).leaves(Z)
    )
    for_scales, for_kernels = divide_leaves(leaves, hurried)
    is_wide = ROWS_PER_SCALE * Z.shape[1] > sum(map(len, for_scales))
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
    chosen = tune_on_leaves(sample, tried, for_kernels, n_members if hurried else 2 * n_members)
    seen = np.concatenate(for_scales) if for_scales and is_wide else np.empty(0, dtype=int)
    return chosen, guide, np.setdiff1d(np.arange(sample.targets.n), seen)


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


def weigh(sums: Sequence[Array], sample: Sample, judging: Array) -> Array:
    """Weights of the kernels' averages over the trees so far."""
    P = np.array([total[judging] for total in sums])
    P /= P.sum(axis=2, keepdims=True)
    return mixture_weights(P, sample.targets.take(judging))


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
