"""Members and their average: what it says of new rows, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np
from scipy import linalg
from scipy.special import expit, logit

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.label_targets import LabelMap, LabelTargets, both_sides
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS, Dual, RidgePath, centre
from kernel_learn.criteria.held_out.stacking import (
    LinearMap,
    discriminant_directions,
    rank_scores,
)
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import SCALED, CrossValidated, grouped
from kernel_learn.ensemble.outcomes.base import AnyTargets, OutcomeMap
from kernel_learn.ensemble.outcomes.kinds import outcome_of
from kernel_learn.ensemble.pooling import Averages, Pooled
from kernel_learn.ensemble.trees import Forest, Leaf
from kernel_learn.ensemble.views import RawView, TableView
from kernel_learn.kernels import Combination, Kernel, SharedStatistics, evaluate_shared
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.kernels.viewed import ViewKernel
from kernel_learn.representations.linalg import LEAST_SLACK
from kernel_learn.rows.access import row_blocks, take_rows
from kernel_learn.rows.columns import TableReader
from kernel_learn.rows.table import Table

# Entries of one block of kernel values between new rows and training rows: with its distances it
# stays in the cache (10,000 rows, 1000 training rows: half the time of blocks of 2**22).
BLOCK_ENTRIES = 2**17
DEPENDENCE_REG = 1e-3  # of features of numbers, as HSICSubspace has it


@dataclass(frozen=True, eq=False)
class Member:
    """One kernel of the average: how well it does, and what of it predicts."""

    view: str  # and whether its columns are scaled
    kernel: Kernel
    reg: float
    weight: float
    loss: float  # held-out log loss; of numbers the squared error as a share of the variance
    error: float  # held-out error; of numbers its root mean square
    scales: Array | None = field(default=None, repr=False)  # (d,) of the view's columns
    # Of the average, 0 if it does not predict; one for each of several targets, (q,).
    share: float | Array = field(default=0.0, repr=False)
    factor: float = field(default=0.0, repr=False)  # of the kernel in the sum of kernels
    models: Sequence[Sequence[Dual]] = field(default=(), repr=False)  # per tree and leaf
    maps: Sequence[OutcomeMap] = field(default=(), repr=False)  # to predictions, per tree
    # Of every column of the scores where each has its own, (c,); reg is their geometric mean.
    regs: Array | None = field(default=None, repr=False)

    @property
    def plain_view(self) -> str:
        """The view before its columns are scaled."""
        return self.view.removesuffix(SCALED)

    def model_in(self, leaf: Leaf) -> Dual:
        """Scores of rows in a leaf."""
        return self.models[leaf.tree][leaf.number]

    def map_in(self, leaf: Leaf) -> OutcomeMap:
        """From such scores to predictions."""
        return self.maps[leaf.tree]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows in the views that members see, with their targets."""

    views: Mapping[str, TableView]
    rows: Mapping[str, Rows]  # of each view, scaled or, where one copy serves all, not yet
    targets: AnyTargets

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
    shares: Array | None = None  # (k,) of the classes; None in files of averaged probabilities

    @property
    def predicting(self) -> list[Member]:
        """The members that are heavy enough to predict."""
        return [member for member in self.members if np.any(member.share)]

    @property
    def member_shares(self) -> Array:
        """Of each member in the average, (members,) of classes, otherwise (members, q)."""
        if not self.members:
            return np.empty(0)
        shares = np.stack(np.broadcast_arrays(*[member.share for member in self.members]))
        return shares if isinstance(self.targets, Targets) else shares.reshape(len(shares), -1)

    @property
    def targets(self) -> AnyTargets:
        return self.training.targets

    @property
    def class_targets(self) -> Targets:
        """The targets of an ensemble of classes."""
        assert isinstance(self.targets, Targets), "rows have one class each"
        return self.targets

    @property
    def n_trees(self) -> int:
        return 1 if self.forest is None else len(self.forest.trees)

    def weight_of(self, member: Member) -> float | Array:
        """A member's weight in the average over members and trees."""
        return member.share / self.n_trees

    def predict(self, table: Table) -> Array:
        """What the average says of new rows, (n_new, k): probabilities, or values."""
        if isinstance(self.targets, NumberTargets):
            return self.values(table)
        if isinstance(self.targets, LabelTargets):
            return np.asarray(expit(self.label_odds(table)))
        return self.proba(table)

    def label_odds(self, table: Table) -> Array:
        """Averaged log-odds that labels are there, (n_new, L)."""
        both = np.stack([pooled.faded for pooled in self.label_pools(table)], axis=1)
        return np.asarray(both[:, :, 1] - both[:, :, 0])

    def label_pools(self, table: Table) -> list[Pooled]:
        """For each label averages over the members, of absence and presence; or its share."""
        n_new = table.numbers.shape[0]
        nobody = outcome_of(self.targets).without_members(self.targets)
        pools = [Averages(n_new, both_sides(share)) for share in nobody]
        if not self.predicting:
            for share, pool in zip(nobody, pools, strict=True):
                pool.add(1.0, np.log(np.tile(both_sides(share), (n_new, 1))))
        for leaf, member, K in self.kernel_blocks(table):
            logits = member.map_in(leaf)(member.model_in(leaf).scores(K))
            weight = np.broadcast_to(self.weight_of(member), (len(pools),))
            for i, pool in enumerate(pools):
                pool.add(weight[i], logits[:, i], leaf.new)
        return [pool.pooled() for pool in pools]

    def values(self, table: Table) -> Array:
        """Averaged predictions of numbers, (n_new, q)."""
        nobody = outcome_of(self.targets).without_members(self.targets)
        found = np.tile(0.0 * nobody if self.predicting else nobody, (table.numbers.shape[0], 1))
        for leaf, member, K in self.kernel_blocks(table):
            map = member.map_in(leaf)
            assert isinstance(map, ValueMap), "numbers are predicted"
            found[leaf.new] += self.weight_of(member) * map(member.model_in(leaf).scores(K))
        return found

    def proba(self, table: Table) -> Array:
        """Averaged probabilities, (n_new, k)."""
        pooled = self.pooled(table)
        if self.shares is None and self.predicting:
            return pooled.mean_proba / pooled.mean_proba.sum(axis=1, keepdims=True)
        return pooled.proba

    def pooled(self, table: Table) -> Pooled:
        """Averages over the members; without any the class shares."""
        shares = class_shares(self.targets) if self.shares is None else self.shares
        assert shares is not None, "classes are averaged"
        pool = Averages(table.numbers.shape[0], shares)
        for leaf, member, K in self.kernel_blocks(table):
            logits = member.map_in(leaf)(member.model_in(leaf).scores(K))
            pool.add(float(self.weight_of(member)), logits, leaf.new)
        if not self.predicting:
            pool.add(1.0, np.log(np.tile(shares, (table.numbers.shape[0], 1))))
        return pool.pooled()

    def contributions(self, table: Table, contrast: Array) -> tuple[Array, Array]:
        """What each training row adds to contrast'logits (n_new, n), and the rest (n_new,).

        With the averaged log-odds L = sum_m weight_m logits_m(x) and contrast (n_new, k):
        contrast_i'L(x_i) = rest_i + sum_j contribution_ij. Rows of other leaves add nothing.
        """
        added, rest = np.zeros((len(contrast), self.targets.n)), np.zeros(len(contrast))
        for leaf, member, K in self.kernel_blocks(table):
            map = member.map_in(leaf)
            assert isinstance(map, LinearMap), "log-odds are linear in scores"
            pull = self.weight_of(member) * member.model_in(leaf).coef @ map.coef
            added[leaf.pairs] += K * (contrast[leaf.new] @ pull.T)
        # added up as probabilities are in leaves, and in the members' order without
        groups = [self.predicting] if self.forest is None else by_view(self.predicting)
        for leaf in self._leaves(table):
            for member in chain(*groups):
                map = member.map_in(leaf)
                assert isinstance(map, LinearMap)
                logits = map(member.model_in(leaf).intercept)
                rest[leaf.new] += self.weight_of(member) * (contrast[leaf.new] @ logits)
        if not self.predicting:
            shares = self.class_targets.prior if self.shares is None else self.shares
            rest += contrast @ np.log(shares)
        return added, rest

    def value_contributions(self, table: Table, target: int) -> tuple[Array, Array]:
        """What each training row adds to L(x) of a number (n_new, n), and the rest.

        L is the prediction before members are kept within what was seen. A member says p(f) at
        the score f = f_0 + sum_j k_j a_j, where p of a logarithm is not linear: what its rows
        have moved, p(f) - p(f_0), is divided among them as f - f_0 is.
        """
        n_new = table.numbers.shape[0]
        added, rest = np.zeros((n_new, self.targets.n)), np.zeros(n_new)
        for leaf, member, K in self.kernel_blocks(table):
            map, model = member.map_in(leaf), member.model_in(leaf)
            assert isinstance(map, ValueMap), "numbers are predicted"
            weight = np.broadcast_to(self.weight_of(member), (len(map.columns),))[target]
            column = map.columns[target]
            parts = K * model.coef[:, column]
            moved = parts.sum(axis=1)
            start = map.unbounded(target, model.intercept[[column]])[0]
            lifted = map.unbounded(target, model.intercept[column] + moved) - start
            slope = np.divide(lifted, moved, out=np.zeros_like(moved), where=moved != 0)
            added[leaf.pairs] += weight * slope[:, None] * parts
            rest[leaf.new] += weight * start
        if not self.predicting:
            rest += outcome_of(self.targets).without_members(self.targets)[target]
        return added, rest

    def label_contributions(self, table: Table, label: int) -> tuple[Array, Array]:
        """What each training row adds to the averaged log-odds L(x) of a label, and the rest."""
        n_new = table.numbers.shape[0]
        added, rest = np.zeros((n_new, self.targets.n)), np.zeros(n_new)
        for leaf, member, K in self.kernel_blocks(table):
            map, model = member.map_in(leaf), member.model_in(leaf)
            assert isinstance(map, LabelMap), "labels are predicted"
            weight = np.broadcast_to(self.weight_of(member), (len(map.maps),))[label]
            start = map(model.intercept[None, :])[0, label]
            added[leaf.pairs] += weight * map.slope(label) * K * model.coef[:, label]
            rest[leaf.new] += weight * (start[1] - start[0])
        if not self.predicting:
            rest += logit(outcome_of(self.targets).without_members(self.targets)[label])
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

    @property
    def n_features(self) -> int:
        """Of ``features``: one less than classes, or as many as targets."""
        if isinstance(self.targets, NumberTargets):
            return self.targets.n_targets
        if isinstance(self.targets, LabelTargets):
            return self.targets.n_labels
        return self.targets.n_classes - 1

    def features(self, table: Table) -> Array:
        """Features of that sum, (n_new, n_features): discriminant ones, or those of HSIC."""
        n_new, known = table.numbers.shape[0], self.for_features
        if not self.predicting:
            return np.zeros((n_new, self.n_features))
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

        Of numbers those on which they depend most, see ``dependence_directions``.

        Worked out when first asked for: one decomposition of the combined kernel.
        """
        targets = self.for_features.targets
        K = np.zeros((targets.n, targets.n))
        for group in by_view(self.predicting):
            K += sum_kernels(group, self.for_features.statistics(group[0]))
        if not isinstance(targets, Targets):
            return dependence_directions(K, targets)
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

    def kernel_blocks(self, table: Table) -> Iterator[tuple[Leaf, Member, Array]]:
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


def class_shares(targets: AnyTargets) -> Array | None:
    """Of classes; numbers and labels have none that sum to one."""
    return targets.prior if isinstance(targets, Targets) else None


def dependence_directions(
    K: Array, targets: NumberTargets | LabelTargets
) -> tuple[Dual, LinearMap]:
    """HSIC with the linear label kernel, as in ``criteria.hsic.Dependence``. K is overwritten.

    max over W of tr(W'G LL'G W) s.t. W'(G + lam)W = I: with L the centred targets, in their own
    units, in the metric of the weights, B = (G + lam)^{-1} G L and L'G B = R diag(e) R',
    W = B R e^{-1/2}.
    As many features as targets.
    """
    plain = targets.as_given()
    centred = centre(K, plain)
    units = np.ones(1)
    if isinstance(plain, NumberTargets):
        units = np.array([one.scale for one in plain.transforms])
    L, G = centred.labels * (units / units.max()), centred.G  # features have no common factor
    if centred.is_flat:  # features of rows that all look the same are zero
        q = L.shape[1]
        return Dual(np.zeros_like(L), np.zeros(q)), LinearMap(np.eye(q), np.zeros(q))
    GL = G @ L
    G[np.diag_indices(len(G))] += DEPENDENCE_REG * centred.unit
    B = linalg.solve(G, GL, assume_a="pos")
    e, V = np.linalg.eigh(GL.T @ B)
    e, V = np.maximum(e[::-1], 0.0), V[:, ::-1]
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(len(V))] < 0, -1.0, 1.0)
    size = np.sqrt(np.where(e > 1e-12 * e.max(initial=0.0), e, np.inf))
    A = centred.dual(B @ (V / size)).coef
    return Dual(A, -centred.m @ A), LinearMap(np.eye(len(V)), np.zeros(len(V)))


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
    targets: AnyTargets,
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
    weights: Array,  # (members,), or (members, q) of several targets
    shares: Array,  # of those that predict, 0 of the others
    known: TrainingRows,  # as candidates see them, scaled
    targets: AnyTargets,  # of the held-out rows
) -> list[Member]:
    """What predicts, and what is told of it."""
    members = []
    for one, weight, share in zip(found, weights, shares, strict=True):
        member = Member(
            one.candidate.space,
            one.kernel,
            one.reg,
            float(np.mean(weight)),
            one.loss,
            outcome_of(targets).error(one.held, targets),
        )
        if np.any(share):
            diagonal = one.kernel.diag(known.rows[member.view])
            mean = float(np.average(diagonal, weights=known.targets.weight)) or 1.0
            member = replace(
                member,
                scales=one.scales,
                share=share.item() if np.size(share) == 1 else share,
                factor=float(np.mean(share) / mean),
                models=one.models,
                maps=one.maps,
                regs=one.column_regs,
            )
        members.append(member)
    return members


def average_members(
    reader: TableReader,
    found: Sequence[CrossValidated],
    weights: Array,  # (members,), or (members, q) of several targets
    views: Mapping[str, TableView],
    rows: Mapping[str, Rows],  # of each view
    targets: AnyTargets,  # of these rows
    held_out: AnyTargets,  # of the held-out rows
) -> Ensemble:
    """The average of members without trees; the lightest do not predict."""
    shares = outcome_of(held_out).predicting([one.held for one in found], weights, held_out)
    kept = [one for one, share in zip(found, shares, strict=True) if np.any(share)]
    known = see_rows(kept, views, rows, targets)
    members = make_members(found, weights, shares, known, held_out)
    return Ensemble(reader, members, known, known, shares=class_shares(held_out))
