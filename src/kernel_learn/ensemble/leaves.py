"""Many rows: exact fits in leaves of trees, where a narrow kernel sees all it needs.

Each leaf has exact kernel fits of its own at widths and lam found beforehand
(``leaf_tuning``), leave-one-out within the leaf, and one second level for all
leaves. Several trees along different directions are averaged: a row near the
edge of one leaf is inside another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.column_scales import scale_columns
from kernel_learn.criteria.held_out.ridge import LEAST_SLACK, Dual, RidgeSolves, with_all_shares
from kernel_learn.criteria.held_out.stacking import LinearMap, fit_second_level, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate
from kernel_learn.ensemble.cross_validation import Sample
from kernel_learn.ensemble.kept_work import KeptWork, LeafFit
from kernel_learn.ensemble.kernel_features import KernelFeatures
from kernel_learn.ensemble.table_views import TableView
from kernel_learn.ensemble.trees import Tree
from kernel_learn.kernels import Kernel, SharedStatistics, evaluate_shared
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.rows.access import row_blocks, take_rows
from kernel_learn.rows.table import Table

BLOCK_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class LeafKernel:
    """A kernel on a view, scaled or not, at the width and lam that suit the leaves."""

    candidate: Candidate
    kernel: Kernel
    scales: Array | None  # (d,) of the view's columns
    reg: float  # lam relative to the kernel in the leaves on which it was chosen
    lam: float


@dataclass(frozen=True)
class LeafMember:
    """A member on one tree: a model per leaf, one map to log-odds."""

    chosen: LeafKernel
    tree: int
    models: Sequence[Dual]
    second: LinearMap
    weight: float = 0.0


@dataclass(frozen=True)
class LeafMachine:
    """Trees, the training rows of their leaves, and the members on them.

    A sum of kernels in leaves has no one expansion: the features are those of
    the members' kernels, at their weights, on some of the rows.
    """

    kernels: KernelFeatures
    views: Mapping[str, TableView]
    rows: Mapping[str, Rows]  # training rows in each view, not scaled; those of a source in float32
    guide: tuple[str, Array | None]  # view and scales in which the trees were grown
    trees: Sequence[Tree]
    leaf_rows: Sequence[Sequence[Array]]  # per tree and leaf
    members: Sequence[LeafMember]
    targets: Targets

    @property
    def reader(self):
        return self.kernels.reader

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
        for place in dict.fromkeys(member.chosen.candidate.place for member in members):
            mine = [member for member in members if member.chosen.candidate.place == place]
            view, scales = place[0], mine[0].chosen.scales
            S = SharedStatistics(
                scaled(take_rows(new[view], rows), scales),
                scaled(to_double(take_rows(self.rows[view], known)), scales),
                self.views[view].categorical,
            )
            for member in mine:
                yield member, evaluate_shared(member.chosen.kernel, S)

    def features(self, table: Table) -> Array:
        return self.kernels.features(table)

    def kernel_object(self):
        return self.kernels.kernel_object()


def fit_leaves(
    sample: Sample,
    chosen: Sequence[LeafKernel],
    tree: int,
    leaves: Sequence[Array],
    watched: Array,  # rows whose held-out scores are kept
    judging: Array,  # of these, those that neither scales nor widths have seen
    at: Callable[[int], None] = lambda n_rows: None,  # told how many rows are done
    kept: KeptWork | None = None,
) -> list[tuple[LeafMember, Array]]:
    """Every kernel on one tree, with its held-out probabilities (n_watched, k)."""
    scores = np.zeros((len(chosen), len(watched), sample.targets.n_classes))
    seat = np.full(sample.targets.n, -1)  # where a row's scores go, if they are kept
    seat[watched] = np.arange(len(watched))
    models: list[list[Dual]] = [[] for _ in chosen]
    done = 0
    for rows in leaves:
        seen = np.flatnonzero(seat[rows] >= 0)
        fit = partial(fit_one_leaf, sample, chosen, rows, seen)
        fits = fit() if kept is None else kept.leaf(rows, chosen, fit)
        for m, (model, held) in enumerate(fits):
            scores[m, seat[rows[seen]]] = held
            models[m].append(model)
        done += len(rows)
        at(done)
    judges, folds = sample.targets.take(watched[judging]), sample.folds[watched[judging]]
    found = []
    for m, one in enumerate(chosen):
        level = fit_second_level(scores[m, judging], judges, folds)
        P = softmax(level.map(scores[m]))
        P[judging] = level.proba()
        found.append((LeafMember(one, tree, tuple(models[m]), level.map), P))
    return found


def fit_one_leaf(
    sample: Sample, chosen: Sequence[LeafKernel], rows: Array, seen: Array
) -> list[LeafFit]:
    """All kernels on the rows of a leaf, with the held-out scores of those that are seen."""
    part, found = sample.targets.take(rows), {}
    for place in dict.fromkeys(one.candidate.place for one in chosen):
        mine = [m for m, one in enumerate(chosen) if one.candidate.place == place]
        S = leaf_statistics(sample, place[0], chosen[mine[0]].scales, rows)
        for m in mine:
            K = evaluate_shared(chosen[m].kernel, S)
            held, model = _fit_leaf(K, part, chosen[m].lam)
            found[m] = LeafFit(model, held[seen])
    return [found[m] for m in range(len(chosen))]


def leaf_statistics(
    sample: Sample, view: str, scales: Array | None, rows: Array
) -> SharedStatistics:
    """Distances and products of some rows on a view, scaled or not."""
    Z = scaled(take_rows(sample.views[view], rows), scales)
    return SharedStatistics(Z, None, sample.categorical.get(view, ()))


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


def scaled(Z: Rows, scales: Array | None) -> Rows:
    """Rows with their columns scaled, if there are scales."""
    return Z if scales is None else scale_columns(Z, scales)
