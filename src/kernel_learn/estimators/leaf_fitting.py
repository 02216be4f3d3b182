"""Fit many rows: members chosen on some of them, exact fits in leaves of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.criteria.column_scales import ColumnScales
from kernel_learn.criteria.second_level import log_losses
from kernel_learn.criteria.soft_weights import mean_and_error
from kernel_learn.criteria.targets import Targets
from kernel_learn.estimators.judging import Judged, Sample, weigh, weigh_probabilities
from kernel_learn.estimators.leaves import (
    LeafMachine,
    fit_leaves,
    grow_tree,
    scaled,
    tune_on_leaves,
)
from kernel_learn.estimators.machine import build_machine
from kernel_learn.estimators.problem import Fitted, Problem, make_probe, members_of
from kernel_learn.estimators.quality import LEAF_ROWS
from kernel_learn.estimators.selecting import try_narrower
from kernel_learn.estimators.table_views import TableView
from kernel_learn.estimators.validation import Array

TUNING_LEAVES = 2


def fit_in_leaves(
    problem: Problem,
    sample: Sample,
    views: Mapping[str, TableView],
    kept: Sequence[Judged],
    learned: Mapping[str, Sequence[ColumnScales]],
) -> Fitted:
    """More rows than one exact fit takes: the heaviest members in the leaves of some trees.

    Under a time budget one member and one tree, with leaves as large as time allows.
    """
    kept = [one for one in kept if one.candidate.loss in ("ridge", "combined")] or list(kept)
    hurried = not np.isinf(problem.clock.budget)
    n_members = 1 if hurried else min(problem.quality.leaf_members, problem.max_members)
    n_trees = 1 if hurried else problem.quality.trees
    found, part, seen = try_narrower(problem, sample, kept, n_members)
    weights = weigh(found, part.targets)
    small = build_machine(found, weights, views, part.views, problem.reader, part.targets)
    guide = guide_of(found, learned)
    Z = scaled(sample.views[guide[0]], guide[1])
    most = min(problem.plan.leaf_rows, LEAF_ROWS)
    most = problem.clock.leaf_rows(sample.targets.n, len(found) * n_trees, most)
    trees = [grow_tree(Z, most, np.random.default_rng(t) if t else None) for t in range(n_trees)]
    leaf_rows = [rows_of_leaves(tree.leaves(Z)) for tree in trees]
    some = leaf_rows[0][:: max(1, len(leaf_rows[0]) // TUNING_LEAVES)][:TUNING_LEAVES]
    chosen, lams = tune_on_leaves(sample, found, some)
    judging = np.setdiff1d(np.arange(sample.targets.n), seen)
    problem.say(f"{len(chosen)} members in {len(leaf_rows[0])} leaves of {n_trees} trees")
    fits = fit_leaves(sample, chosen, lams, leaf_rows, judging)
    judged_by = sample.targets.take(judging)
    weights = weigh_trees([P[judging] for _, P in fits], judged_by, n_trees)
    members = [replace(m, weight=float(w)) for (m, _), w in zip(fits, weights, strict=True)]
    used = dict.fromkeys([guide[0], *(one.candidate.view for one in chosen)])
    machine = LeafMachine(
        small,
        {name: views[name] for name in used},
        {name: sample.views[name] for name in used},
        guide,
        trees,
        leaf_rows,
        members,
        sample.targets,
    )
    proba = np.tensordot(weights, np.array([P for _, P in fits]), 1)
    return Fitted(
        machine,
        members_of(
            [replace(m.judged, proba=P, loss=loss_of(P, sample.targets)) for m, P in fits],
            weights,
            sample.targets,
        ),
        proba,
        make_probe(problem, sample, views, learned),
        replace(problem.plan, representation="leaves", block_rows=most),
    )


def rows_of_leaves(place: Array) -> list[Array]:
    """The rows of each leaf."""
    return [np.flatnonzero(place == leaf) for leaf in range(int(place.max()) + 1)]


def weigh_trees(probas: Sequence[Array], targets: Targets, n_trees: int) -> Array:
    """Soft weights of members averaged over the trees, which all count the same."""
    n_members = len(probas) // n_trees
    means = [np.mean(probas[m::n_members], axis=0) for m in range(n_members)]
    return np.tile(weigh_probabilities(means, targets) / n_trees, n_trees)


def guide_of(
    found: Sequence[Judged], learned: Mapping[str, Sequence[ColumnScales]]
) -> tuple[str, Array | None]:
    """The view in which rows are neighbours: scaled columns if some were learned."""
    for view, scales in learned.items():
        return view, scales[0].scales
    return found[0].candidate.view, found[0].scales


def loss_of(proba: Array, targets: Targets) -> float:
    """Mean log loss of held-out probabilities."""
    return mean_and_error(log_losses(proba), targets)[0]
