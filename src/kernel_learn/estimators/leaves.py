"""Many rows: exact fits in leaves of a tree, where a narrow kernel sees all it needs.

Rows are cut in two across a direction of large spread until no part has more
than so many rows. Each leaf has exact kernel fits of its own at widths and
lam found beforehand, leave-one-out within the leaf, and one second level for
all leaves. Several trees along different directions are averaged: a row near
the edge of one leaf is inside another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernel_learn.criteria.column_scales import scale_columns
from kernel_learn.criteria.ridge import LEAST_SLACK, Dual, RidgeSolves, with_all_shares
from kernel_learn.criteria.second_level import (
    LinearMap,
    SecondLevel,
    fit_second_level,
    rank_scores,
    softmax,
)
from kernel_learn.criteria.targets import Targets
from kernel_learn.estimators.judging import Judged, Sample
from kernel_learn.estimators.machine import Machine
from kernel_learn.estimators.table_views import TableView
from kernel_learn.estimators.validation import Array
from kernel_learn.kernels import Kernel, SharedStatistics, evaluate_shared
from kernel_learn.kernels.base import Rows
from kernel_learn.kernels.pairwise import row_blocks, take_rows
from kernel_learn.kernels.stationary import Stationary
from kernel_learn.kernels.table import Table

DIRECTIONS = 4  # of largest spread, mixed at random for all trees but the first
POWER_ROUNDS = 6
BLOCK_ENTRIES = 2**22
LEAF_REGS = 10.0 ** np.array([-0.75, 0.0, 0.75])
NARROWER = 3.0


@dataclass(frozen=True)
class Tree:
    """Inner nodes: x goes to ``below`` if x'direction <= threshold, else to ``above``.

    Nodes are numbered from 0; -1 - l is the leaf l.
    """

    directions: Array  # (nodes, d)
    thresholds: Array  # (nodes,)
    below: Array  # (nodes,)
    above: Array  # (nodes,)

    def leaves(self, Z: Rows) -> Array:
        """The leaf of each row, (n,)."""
        place = np.zeros(Z.shape[0], dtype=int) if len(self.thresholds) else np.full(Z.shape[0], -1)
        for node in range(len(self.thresholds)):  # parents come before their children
            here = np.flatnonzero(place == node)
            if len(here):
                low = take_rows(Z, here) @ self.directions[node] <= self.thresholds[node]
                place[here] = np.where(low, self.below[node], self.above[node])
        return -1 - place


def grow_tree(Z: Rows, most_rows: int, rng: np.random.Generator | None = None) -> Tree:
    """Cut across the direction of largest spread at the median until leaves are small.

    With ``rng``: across a random mix of the first directions, near the median.
    """
    directions: list[Array] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    waiting, n_leaves = [(np.arange(Z.shape[0]), -1, 0)], 0
    while waiting:
        rows, parent, side = waiting.pop(0)
        cut = _cut(take_rows(Z, rows), rng) if len(rows) > most_rows else None
        if cut is None:
            n_leaves += 1
            place = -n_leaves
        else:
            direction, threshold, low = cut
            place = len(thresholds)
            directions.append(direction)
            thresholds.append(threshold)
            children.append([0, 0])
            waiting += [(rows[low], place, 0), (rows[~low], place, 1)]
        if parent >= 0:
            children[parent][side] = place
    below, above = np.array(children, dtype=int).reshape(-1, 2).T
    return Tree(np.array(directions).reshape(-1, Z.shape[1]), np.array(thresholds), below, above)


def _cut(Z: Rows, rng: np.random.Generator | None) -> tuple[Array, float, Array] | None:
    """A direction, a threshold and the rows below it; None if all rows are the same."""
    V = spread_directions(Z)
    mix = np.eye(V.shape[1])[0] if rng is None else rng.standard_normal(V.shape[1])
    share = 0.5 if rng is None else rng.uniform(0.4, 0.6)
    direction = V @ (mix / np.linalg.norm(mix))
    t = Z @ direction
    threshold = float(np.quantile(t, share))
    low = t <= threshold
    if low.all():  # many rows at the threshold: those below it, if any
        threshold = float(np.nextafter(threshold, -np.inf))
        low = t <= threshold
    return None if low.all() or not low.any() else (direction, threshold, low)


def spread_directions(Z: Rows) -> Array:
    """About the first principal directions, (d, q): power iteration, sparse rows stay sparse."""
    d = Z.shape[1]
    q = min(DIRECTIONS, d)
    mean = np.asarray(Z.mean(axis=0)).ravel()
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((d, q)))[0]
    for _ in range(POWER_ROUNDS):
        F = Z @ V - mean @ V
        V = np.linalg.qr(Z.T @ F - np.outer(mean, F.sum(axis=0)))[0]
    F = Z @ V - mean @ V
    return np.asarray(V @ np.linalg.svd(F, full_matrices=False)[2].T)


@dataclass(frozen=True)
class LeafMember:
    """A member on one tree: a model per leaf, one map to log-odds."""

    judged: Judged  # its kernel, view and scales
    tree: int
    models: Sequence[Dual]
    second: LinearMap
    weight: float = 0.0


@dataclass(frozen=True)
class LeafMachine:
    """Trees, the training rows of their leaves, and the members on them.

    ``small`` is the exact machine of the rows on which the members were
    chosen; its kernel and its features stand for the whole.
    """

    small: Machine
    views: Mapping[str, TableView]
    rows: Mapping[str, Rows]  # training rows in each view, not scaled
    guide: tuple[str, Array | None]  # view and scales in which the trees were grown
    trees: Sequence[Tree]
    leaf_rows: Sequence[Sequence[Array]]  # per tree and leaf
    members: Sequence[LeafMember]
    targets: Targets

    @property
    def reader(self):
        return self.small.reader

    def proba(self, table: Table) -> Array:
        """Averaged probabilities, (n_new, k)."""
        P = np.zeros((table.numbers.shape[0], self.targets.n_classes))
        for rows, _, member, model, K in self._kernel_blocks(table):
            P[rows] += member.weight * softmax(member.second(model.scores(K)))
        return P / P.sum(axis=1, keepdims=True)

    def contributions(self, table: Table, contrast: Array) -> tuple[Array, Array]:
        """As ``Machine.contributions``; rows of other leaves add nothing."""
        added, rest = np.zeros((len(contrast), self.targets.n)), np.zeros(len(contrast))
        for rows, known, member, model, K in self._kernel_blocks(table):
            pull = member.weight * model.coef @ member.second.coef
            added[np.ix_(rows, known)] += K * (contrast[rows] @ pull.T)
            rest[rows] += member.weight * (contrast[rows] @ member.second(model.intercept))
        return added, rest

    def _kernel_blocks(
        self, table: Table
    ) -> Iterator[tuple[Array, Array, LeafMember, Dual, Array]]:
        """(new rows, training rows, member, its model there, kernel values of both)."""
        view, scales = self.guide
        Z_guide = scaled(self.views[view].rows(table), scales)
        new = {name: self.views[name].rows(table) for name in self.views}
        for t, tree in enumerate(self.trees):
            place = tree.leaves(Z_guide)
            for leaf in np.unique(place):
                here, known = np.flatnonzero(place == leaf), self.leaf_rows[t][leaf]
                for block in row_blocks(len(here), max(1, BLOCK_ENTRIES // len(known))):
                    for member, K in self._leaf_kernels(t, here[block], known, new):
                        yield here[block], known, member, member.models[leaf], K

    def _leaf_kernels(
        self, t: int, rows: Array, known: Array, new: Mapping[str, Rows]
    ) -> Iterator[tuple[LeafMember, Array]]:
        members = [member for member in self.members if member.tree == t]
        for place in dict.fromkeys(member.judged.candidate.place for member in members):
            mine = [member for member in members if member.judged.candidate.place == place]
            view, scales = place[0], mine[0].judged.scales
            S = SharedStatistics(
                scaled(take_rows(new[view], rows), scales),
                scaled(take_rows(self.rows[view], known), scales),
                self.views[view].categorical,
            )
            for member in mine:
                yield member, evaluate_shared(member.judged.kernel, S)

    def features(self, table: Table) -> Array:
        return self.small.features(table)

    def kernel_object(self):
        return self.small.kernel_object()


def fit_leaves(
    sample: Sample,
    chosen: Sequence[Judged],
    lams: Sequence[float],
    tree_leaves: Sequence[Sequence[Array]],
    judging: Array,  # rows that neither scales nor widths have seen
) -> list[tuple[LeafMember, Array]]:
    """Every member on every tree, with its held-out probabilities (n, k)."""
    found = []
    for t, leaves in enumerate(tree_leaves):
        scores = np.zeros((len(chosen), *sample.targets.counts.shape))
        models: list[list[Dual]] = [[] for _ in chosen]
        for rows in leaves:
            part = sample.targets.take(rows)
            for place in dict.fromkeys(one.candidate.place for one in chosen):
                S = None
                for m, one in enumerate(chosen):
                    if one.candidate.place != place:
                        continue
                    if S is None:
                        Z = scaled(take_rows(sample.views[place[0]], rows), one.scales)
                        S = SharedStatistics(Z, None, sample.categorical.get(place[0], ()))
                    K = evaluate_shared(one.kernel, S)
                    scores[m, rows], model = _fit_leaf(K, part, lams[m])
                    models[m].append(model)
        for m, one in enumerate(chosen):
            level = _level(scores[m], sample, judging)
            member = LeafMember(one, t, tuple(models[m]), level.map)
            found.append((member, softmax(level.map(scores[m]))))
            found[-1][1][judging] = level.proba()
    return found


def _fit_leaf(K: Array, targets: Targets, lam: float) -> tuple[Array, Dual]:
    """Held-out scores and the model of one leaf at an absolute lam."""
    solves = RidgeSolves(K, targets)
    unit = solves.centred.unit
    if not unit > 1e-12 * float(np.abs(solves.centred.m).max()):  # all rows look the same
        return _shares(targets)
    reg = lam / unit
    scores, least = solves.held_out(np.array([reg]))
    if least[0] < LEAST_SLACK:  # rows that stand alone: more of the penalty
        return _fit_leaf_again(solves, reg)
    return with_all_shares(scores[0], targets), solves.dual(reg)


def _fit_leaf_again(solves: RidgeSolves, reg: float) -> tuple[Array, Dual]:
    """At the smallest of 10, 100, ... times reg at which every row depends on others."""
    targets = solves.centred.targets
    for power in range(1, 12):
        scores, least = solves.held_out(np.array([10.0**power * reg]))
        if least[0] >= LEAST_SLACK:
            return with_all_shares(scores[0], targets), solves.dual(10.0**power * reg)
    return _shares(targets)


def _shares(targets: Targets) -> tuple[Array, Dual]:
    shares = np.tile(targets.mean, (targets.n, 1))
    return shares, Dual(np.zeros(targets.counts.shape), targets.mean)


def tune_on_leaves(
    sample: Sample, chosen: Sequence[Judged], leaves: Sequence[Array]
) -> tuple[list[Judged], list[float]]:
    """Members with the width and the absolute lam that suit the rows' density in leaves."""
    tuned, lams = [], []
    for one in chosen:
        kernels = [one.kernel, *_narrower(one.kernel)]
        regs = one.reg * LEAF_REGS
        losses, units = _leaf_losses(sample, one, kernels, regs, leaves)
        while not np.isfinite(losses).any() and regs[0] < 1:
            regs = 10 * regs  # so small a lam leaves nothing of a row that is left out
            losses, units = _leaf_losses(sample, one, kernels, regs, leaves)
        if np.isfinite(losses).any():
            i, r = divmod(int(losses.argmin()), len(regs))
            tuned.append(replace(one, kernel=kernels[i], reg=float(regs[r])))
            lams.append(float(regs[r] * units[i]))
    return tuned, lams


def _leaf_losses(
    sample: Sample, one: Judged, kernels: Sequence[Kernel], regs: Array, leaves: Sequence[Array]
) -> tuple[Array, Array]:
    """Held-out losses (kernels, regs) over leaves, inf where they are rounding, and lam / reg."""
    Z = sample.views[one.candidate.view]
    categorical = sample.categorical.get(one.candidate.view, ())
    losses, units = np.zeros((len(kernels), len(regs))), np.zeros(len(kernels))
    for rows in leaves:
        S = SharedStatistics(scaled(take_rows(Z, rows), one.scales), None, categorical)
        part = sample.targets.take(rows)
        for i, kernel in enumerate(kernels):
            solves = RidgeSolves(evaluate_shared(kernel, S), part)
            units[i] += solves.centred.unit / len(leaves)
            scores, least = solves.held_out(regs)
            ranks = rank_scores(with_all_shares(scores, part), part)
            losses[i] += part.total * np.where(least > LEAST_SLACK, ranks, np.inf)
    return losses, units


def _narrower(kernel: Kernel) -> list[Kernel]:
    """With more rows narrower kernels pay."""
    if not isinstance(kernel, Stationary):
        return []
    return [type(kernel)(NARROWER * float(kernel.gamma))]


def _level(scores: Array, sample: Sample, judging: Array) -> SecondLevel:
    return fit_second_level(scores[judging], sample.targets.take(judging), sample.folds[judging])


def scaled(Z: Rows, scales: Array | None) -> Rows:
    """Rows with their columns scaled, if there are scales."""
    return Z if scales is None else scale_columns(Z, scales)
