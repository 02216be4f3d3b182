"""Members and their average: what it says of new rows, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import LEAST_SLACK, RIDGE_REGS, Dual, RidgePath
from kernel_learn.criteria.held_out.stacking import (
    LinearMap,
    discriminant_directions,
    rank_scores,
    softmax,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import SCALED, CrossValidated, grouped
from kernel_learn.ensemble.trees import Forest, Leaf
from kernel_learn.ensemble.views import RawView, TableView
from kernel_learn.kernels import Combination, Kernel, SharedStatistics, evaluate_shared
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.kernels.viewed import ViewKernel
from kernel_learn.rows.access import row_blocks, take_rows
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

# Members below this share of the heaviest one's weight are told of and do not predict.
NEGLIGIBLE = 1e-3
# Entries of one block of kernel values between new rows and training rows.
BLOCK_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class Member:
    """One kernel of the average: how well it does, and what of it predicts."""

    view: str  # and whether its columns are scaled
    kernel: Kernel
    reg: float
    weight: float
    loss: float  # held-out log loss
    error: float  # held-out error
    scales: Array | None = field(default=None, repr=False)  # (d,) of the view's columns
    share: float = field(default=0.0, repr=False)  # of the average, 0 if it is negligible
    factor: float = field(default=0.0, repr=False)  # of the kernel in the sum of kernels
    models: Sequence[Sequence[Dual]] = field(default=(), repr=False)  # per tree and leaf
    maps: Sequence[LinearMap] = field(default=(), repr=False)  # to log-odds, per tree

    @property
    def plain_view(self) -> str:
        """The view before its columns are scaled."""
        return self.view.removesuffix(SCALED)

    def model_in(self, leaf: Leaf) -> Dual:
        """Scores of rows in a leaf."""
        return self.models[leaf.tree][leaf.number]

    def map_in(self, leaf: Leaf) -> LinearMap:
        """From such scores to log-odds."""
        return self.maps[leaf.tree]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows in the views that members see, with their targets."""

    views: Mapping[str, TableView]
    rows: Mapping[str, Rows]  # of each view, scaled or, where one copy serves all, not yet
    targets: Targets

    def new_rows(self, member: Member, table: Table) -> Rows:
        """New rows as a member sees them but for its scales."""
        return self.views[member.plain_view].rows(table)

    def statistics(
        self, member: Member, new: Rows | None = None, known: Array | None = None
    ) -> SharedStatistics:
        """What kernels need of rows as a member sees them: new ones with these, or these alone."""
        if member.view in self.rows:
            scales, rows = None, self.rows[member.view]
        else:
            scales, rows = member.scales, self.rows[member.plain_view]
        rows = rows if known is None else take_rows(rows, known)
        rows = scale_columns(to_double(rows), scales)
        codes = self.views[member.plain_view].categorical
        if new is None:
            return SharedStatistics(rows, None, codes)
        return SharedStatistics(scale_columns(new, member.scales), rows, codes)


def by_view(members: Sequence[Member]) -> list[list[Member]]:
    """Members that share their distances side by side."""
    return grouped(members, lambda member: member.view)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members, the rows they were fitted to, and the trees whose leaves have models of their own.

    Without trees all rows are one leaf. A sum of kernels in leaves has no one expansion: there
    the features are those of the members' kernels, at their weights, on some of the rows.
    """

    reader: TableReader
    members: Sequence[Member]
    training: TrainingRows
    for_features: TrainingRows  # the same without trees
    forest: Forest | None = None

    @property
    def predicting(self) -> list[Member]:
        """The members that are not negligible."""
        return [member for member in self.members if member.share > 0]

    @property
    def targets(self) -> Targets:
        return self.training.targets

    @property
    def n_trees(self) -> int:
        return 1 if self.forest is None else len(self.forest.trees)

    def weight_of(self, member: Member) -> float:
        """A member's weight in the average over members and trees."""
        return member.share / self.n_trees

    def proba(self, table: Table) -> Array:
        """Averaged probabilities, (n_new, k)."""
        P = np.zeros((table.numbers.shape[0], self.targets.n_classes))
        if not self.predicting:
            return P + self.targets.prior
        for leaf, member, K in self._kernel_blocks(table):
            logits = member.map_in(leaf)(member.model_in(leaf).scores(K))
            P[leaf.new] += self.weight_of(member) * softmax(logits)
        return P / P.sum(axis=1, keepdims=True)

    def contributions(self, table: Table, contrast: Array) -> tuple[Array, Array]:
        """What each training row adds to contrast'logits (n_new, n), and the rest (n_new,).

        With the averaged log-odds L = sum_m weight_m logits_m(x) and contrast (n_new, k):
        contrast_i'L(x_i) = rest_i + sum_j contribution_ij. Rows of other leaves add nothing.
        """
        added, rest = np.zeros((len(contrast), self.targets.n)), np.zeros(len(contrast))
        for leaf, member, K in self._kernel_blocks(table):
            pull = self.weight_of(member) * member.model_in(leaf).coef @ member.map_in(leaf).coef
            added[leaf.pairs] += K * (contrast[leaf.new] @ pull.T)
        # added up as probabilities are in leaves, and in the members' order without
        groups = [self.predicting] if self.forest is None else by_view(self.predicting)
        for leaf in self._leaves(table):
            for member in chain(*groups):
                logits = member.map_in(leaf)(member.model_in(leaf).intercept)
                rest[leaf.new] += self.weight_of(member) * (contrast[leaf.new] @ logits)
        return added, rest

    def kernel_object(self) -> Combination:
        """sum of factor * kernel, each on its view: an object that takes rows as the user does."""
        kernels = [
            ViewKernel(
                member.kernel,
                RawView(self.reader, self.training.views[member.plain_view], member.scales),
            )
            for member in self.predicting
        ]
        return Combination(kernels, np.array([member.factor for member in self.predicting]))

    def features(self, table: Table) -> Array:
        """Discriminant features of that sum, (n_new, k - 1)."""
        n_new, known = table.numbers.shape[0], self.for_features
        if not self.predicting:
            return np.zeros((n_new, self.targets.n_classes - 1))
        model, projection = self.discriminant
        scores = np.tile(model.intercept, (n_new, 1))
        for group in by_view(self.predicting):
            Z = known.new_rows(group[0], table)
            for rows in row_blocks(n_new, max(1, BLOCK_ENTRIES // known.targets.n)):
                S = known.statistics(group[0], take_rows(Z, rows))
                scores[rows] += sum_kernels(group, S) @ model.coef
        return projection(scores)

    @cached_property
    def discriminant(self) -> tuple[Dual, LinearMap]:
        """The ridge model of the sum and the directions that tell classes apart.

        Worked out when first asked for: one decomposition of the combined kernel.
        """
        targets = self.for_features.targets
        K = np.zeros((targets.n, targets.n))
        for group in by_view(self.predicting):
            K += sum_kernels(group, self.for_features.statistics(group[0]))
        path = RidgePath(K, targets)
        scores, least = path.held_out(RIDGE_REGS)
        ranks = np.where(least > LEAST_SLACK, rank_scores(scores, targets), np.inf)
        best = int(ranks.argmin())
        return path.dual(RIDGE_REGS[best]), discriminant_directions(scores[best], targets)

    def _leaves(self, table: Table) -> Iterator[Leaf]:
        """New rows and training rows, leaf by leaf; without trees there is one."""
        if self.forest is None:
            yield Leaf(0, 0, slice(0, table.numbers.shape[0]), None)
        else:
            yield from self.forest.leaves(self.training.views[self.forest.view].rows(table))

    def _kernel_blocks(self, table: Table) -> Iterator[tuple[Leaf, Member, Array]]:
        """(some new rows of a leaf, member, kernel values with the leaf's training rows)."""
        groups = by_view(self.predicting)
        views = [self.training.new_rows(group[0], table) for group in groups]
        for whole in self._leaves(table):
            n_known = self.targets.n if whole.known is None else len(whole.known)
            for leaf in whole.blocks(max(1, BLOCK_ENTRIES // max(n_known, 1))):
                for group, Z in zip(groups, views, strict=True):
                    S = self.training.statistics(group[0], take_rows(Z, leaf.new), leaf.known)
                    for member in group:
                        yield leaf, member, evaluate_shared(member.kernel, S)


def sum_kernels(members: Sequence[Member], S: SharedStatistics) -> Array:
    """sum of factor * kernel on one view, (rows, training rows)."""
    K = np.zeros(S.shape)
    for member in members:
        K += member.factor * evaluate_shared(member.kernel, S)
    return K


def see_rows(
    found: Sequence[CrossValidated],
    views: Mapping[str, TableView],
    rows: Mapping[str, Rows],  # of each view
    targets: Targets,
) -> TrainingRows:
    """Rows as candidates see them, scaled."""
    spaces = {one.candidate.space: one.candidate for one in found}
    used = dict.fromkeys(one.candidate.view for one in found)
    return TrainingRows(
        {name: views[name] for name in used},
        {space: scale_columns(rows[c.view], c.scales) for space, c in spaces.items()},
        targets,
    )


def make_members(
    found: Sequence[CrossValidated],
    weights: Array,  # (members,)
    shares: Array,  # of those that predict, 0 of the others
    known: TrainingRows,  # as candidates see them, scaled
    targets: Targets,  # of the held-out rows
) -> list[Member]:
    """What predicts, and what is told of it."""
    members = []
    for one, weight, share in zip(found, weights, shares, strict=True):
        winners = one.proba.argmax(axis=1)[:, None]
        right = np.take_along_axis(targets.counts, winners, axis=1).sum()
        member = Member(
            one.candidate.space,
            one.kernel,
            one.reg,
            float(weight),
            one.loss,
            float(1 - right / targets.total),
        )
        if share > 0:
            diagonal = one.kernel.diag(known.rows[member.view])
            mean = float(np.average(diagonal, weights=known.targets.weight)) or 1.0
            member = replace(
                member,
                scales=one.scales,
                share=float(share),
                factor=float(share / mean),
                models=one.models,
                maps=one.maps,
            )
        members.append(member)
    return members


def average_members(
    reader: TableReader,
    found: Sequence[CrossValidated],
    weights: Array,  # (members,)
    views: Mapping[str, TableView],
    rows: Mapping[str, Rows],  # of each view
    targets: Targets,  # of these rows
    held_out: Targets,  # of the held-out rows
) -> Ensemble:
    """The average of members without trees; those of negligible weight do not predict."""
    heavy = weights > NEGLIGIBLE * weights.max(initial=0.0)
    shares = np.where(heavy, weights, 0.0) / sum(weights[heavy])
    kept = [one for one, is_heavy in zip(found, heavy, strict=True) if is_heavy]
    known = see_rows(kept, views, rows, targets)
    members = make_members(found, weights, shares, known, held_out)
    return Ensemble(reader, members, known, known)
