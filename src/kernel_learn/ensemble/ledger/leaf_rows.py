"""Models in leaves without some of their rows: a row is in one leaf of each tree.

The members of a leaf are ridge regressions of its rows, at a lam that their equations tell
(``lam_of``). So one row changes what is said in its own leaves alone, exactly as in a fit of all
rows together, and forgetting touches no other leaf. Trees, views, kernels, lams, maps and weights
of members stay.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.leave_out import LeaveOut, lam_of
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import Dual, centre, solve_at_lam, with_all_shares
from kernel_learn.criteria.held_out.stacking import LinearMap, log_losses
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import Targets, positions
from kernel_learn.ensemble.members import Ensemble, Member, TrainingRows
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.pooling import Averages
from kernel_learn.ensemble.trees import Leaf
from kernel_learn.kernels import evaluate_shared
from kernel_learn.kernels.scaled import scale_columns
from kernel_learn.rows.access import row_blocks, take_rows
from kernel_learn.rows.table import Table

NEW_NUMBERS = 2**23  # changes of new rows that are held at a time


def leaf_gram(ensemble: Ensemble, member: Member, rows: Array) -> Array:
    """A member's kernel on the rows of a leaf."""
    return evaluate_shared(member.kernel, ensemble.training.statistics(member, None, rows))


def lam_in_leaf(K: Array, model: Dual, targets: AnyTargets) -> float:
    """Of a model of these rows; 0 if it says the same of all."""
    return lam_of(targets.Y - model.scores(K), model, targets.weight)


def changes_in_leaves(
    ensemble: Ensemble,
    table: Table,
    contrast: Array,  # (n_new, k)
) -> Array:
    """max over training rows j of |contrast'(L(x) - L_{-j}(x))|, (n_new,)."""
    forest = ensemble.forest
    assert forest is not None
    largest = max(len(rows) for tree in forest.leaf_rows for rows in tree)
    found = np.zeros(len(contrast))
    for rows in row_blocks(len(contrast), max(1, NEW_NUMBERS // (largest * ensemble.n_trees))):
        shape = (rows.stop - rows.start, ensemble.targets.n)
        changes = sparse.csr_array(shape)
        some = table[np.arange(rows.start, rows.stop)]
        for leaf, own in _changes(ensemble, some, contrast[rows]):
            assert isinstance(leaf.new, np.ndarray) and leaf.known is not None
            i, j = np.meshgrid(leaf.new, leaf.known, indexing="ij")
            changes = changes + sparse.csr_array((own.ravel(), (i.ravel(), j.ravel())), shape)
        found[rows] = abs(changes).max(axis=1).toarray().ravel()
    return found


def _changes(ensemble: Ensemble, table: Table, contrast: Array) -> Iterator[tuple[Leaf, Array]]:
    """(some new rows of a leaf, what each of its training rows moves in one member)."""
    known: dict[tuple[int, int, int], LeaveOut | None] = {}
    at = (-1, -1)
    for leaf, member, K in ensemble.kernel_blocks(table):
        if at != (leaf.tree, leaf.number):
            known, at = {}, (leaf.tree, leaf.number)  # of one leaf at a time
        key = (id(member), *at)
        if key not in known:
            known[key] = _leave_out(ensemble, member, leaf)
        found, map = known[key], member.map_in(leaf)
        if found is None:
            continue
        assert isinstance(map, LinearMap), "log-odds are linear in scores"
        toward = contrast[leaf.new] @ map.coef.T
        yield leaf, ensemble.weight_of(member) * found.pull(K) * (toward @ found.alone.T)


def _leave_out(ensemble: Ensemble, member: Member, leaf: Leaf) -> LeaveOut | None:
    """None of a model that says the same of all rows, and goes on to."""
    assert leaf.known is not None
    targets = ensemble.targets.take(leaf.known)
    K = leaf_gram(ensemble, member, leaf.known)
    lam = lam_in_leaf(K, member.model_in(leaf), targets)
    return LeaveOut(K, targets.Y, targets.weight, lam) if lam > 0 else None


@dataclass(frozen=True, eq=False)
class LeafScores:
    """What a member says of the training rows of a leaf, each left out with its group there."""

    tree: int
    member: Member
    known: Array  # the rows of the leaf
    targets: AnyTargets  # theirs
    held: Array  # (n_leaf, q)
    calculus: Sequence[tuple[Array, LeaveOut]]  # of columns with one lam; none says the same of all

    def without_each(self, rows: Array) -> Array:
        """Of some of the rows, with each row of the leaf left out too, (len(rows), n_leaf, q)."""
        found = np.repeat(self.held[rows, None], len(self.known), axis=1)
        wanted = positions(rows, len(self.known))
        for columns, calculus in self.calculus:
            units = [unit for unit in calculus.units if (wanted[unit] >= 0).any()]
            for own, residuals in calculus.blocks_without_each(units):
                mine = wanted[own] >= 0
                changes = calculus.residuals[own, None] - residuals
                for c, change in zip(columns, np.moveaxis(changes[mine], -1, 0), strict=True):
                    found[wanted[own[mine]], :, c] += change
        return found


def leaf_scores(ensemble: Ensemble, rows: Array) -> Iterator[LeafScores]:
    """Of every leaf that has some of these rows, and every member."""
    forest, targets = ensemble.forest, ensemble.targets
    assert forest is not None
    is_class = isinstance(targets, Targets)
    for t, tree in enumerate(forest.leaf_rows):
        for number, known in enumerate(tree):
            if not np.isin(known, rows).any():
                continue
            own = targets.take(known)
            for member in ensemble.predicting:
                model, K = member.models[t][number], leaf_gram(ensemble, member, known)
                held, calculus = np.tile(model.intercept, (len(known), 1)), []
                every = np.arange(held.shape[1])
                for columns in [every] if is_class else every[:, None]:
                    part = Dual(model.coef[:, columns], model.intercept[columns])
                    Y = np.asarray(own.Y[:, columns])
                    lam = lam_of(Y - part.scores(K), part, own.weight)
                    if lam > 0:
                        found = LeaveOut(K.copy(), Y, own.weight, lam, own.groups)
                        held[:, columns] = Y - found.residuals
                        calculus.append((columns, found))
                held = with_all_shares(held, own) if is_class else held
                yield LeafScores(t, member, known, own, held, calculus)


# What rows that are judged lose without each of some others, (judged, others), of these scores.
PairLosses = Callable[[Ensemble, Array, Array, Iterator[LeafScores]], Array]


def leaf_row_values(ensemble: Ensemble, losses: PairLosses) -> Array:
    """What all other rows lose without each row, (n,): every row is judged without its group.

    Rows of other leaves change nothing. Trees, kernels, lams, maps and weights stay.
    """
    forest, targets = ensemble.forest, ensemble.targets
    assert forest is not None
    values = np.zeros(targets.n)
    size = max(1, NEW_NUMBERS // (targets.n * targets.Y.shape[1]))
    for rows in forest.leaf_rows[0]:
        for part in (rows[start : start + size] for start in range(0, len(rows), size)):
            leaves = [own for tree in forest.leaf_rows for own in tree if np.isin(own, part).any()]
            others = np.unique(np.concatenate(leaves))
            found = losses(ensemble, part, others, leaf_scores(ensemble, part))
            base = found[np.arange(len(part)), np.searchsorted(others, part)]
            values[others] += (found - base[:, None]).sum(axis=0)
    return values


def pair_scores(found: LeafScores, part: Array, others: Array, n: int) -> tuple[Array, Array]:
    """(places among ``part`` of the leaf's rows, their scores without each of the others)."""
    inside = np.flatnonzero(np.isin(found.known, part))
    scores = np.repeat(found.held[inside, None], len(others), axis=1)
    scores[:, positions(others, n)[found.known]] = found.without_each(inside)
    return positions(part, n)[found.known[inside]], scores


def class_losses(
    ensemble: Ensemble, part: Array, others: Array, scores: Iterator[LeafScores]
) -> Array:
    """Log losses."""
    targets, shares, m = ensemble.class_targets, ensemble.shares, len(others)
    pool = Averages(len(part) * m, targets.prior if shares is None else shares)
    for found in scores:
        places, own = pair_scores(found, part, others, targets.n)
        pairs = (places[:, None] * m + np.arange(m)).ravel()
        logits = found.member.maps[found.tree](own.reshape(len(pairs), -1))
        pool.add(float(ensemble.weight_of(found.member)), logits, pairs)
    lost = log_losses(pool.pooled().proba).reshape(len(part), m, -1)
    return np.asarray(np.einsum("ijc,ic->ij", lost, targets.counts[part]))


def number_losses(
    ensemble: Ensemble, part: Array, others: Array, scores: Iterator[LeafScores]
) -> Array:
    """Squared errors; of several targets as shares of their variances."""
    targets, q = ensemble.targets, ensemble.n_features
    assert isinstance(targets, NumberTargets), "numbers are predicted"
    said = np.zeros((q, len(part), len(others)))
    for found in scores:
        places, own = pair_scores(found, part, others, targets.n)
        map = found.member.maps[found.tree]
        assert isinstance(map, ValueMap)
        weight = np.broadcast_to(ensemble.weight_of(found.member), (q,))
        for t in np.flatnonzero(weight).tolist():
            said[t, places] += weight[t] * map.value(t, own[:, :, map.columns[t]])
    lost = np.zeros(said.shape[1:])
    for t in range(q):
        sums = np.bincount(targets.row, targets.count * targets.values[:, t], targets.n)
        y = sums[part] / targets.weight[part]
        apart = targets.values[:, t] - targets.value_mean[t]
        scale = 1.0 if q == 1 else float(targets.count @ apart**2 / targets.total) or 1.0
        lost += targets.weight[part, None] * (said[t] - y[:, None]) ** 2 / scale
    return lost


def leaves_without(
    ensemble: Ensemble,
    stay: Array,  # distinct rows that do, increasing
    targets: AnyTargets,  # of these
) -> tuple[Ensemble, float]:
    """Members of the leaves that lost rows fitted to the others, and how far they are from solved.

    A leaf of which nothing is left says what is true of all rows on average.
    """
    forest, old = ensemble.forest, ensemble.targets
    assert forest is not None
    place = positions(stay, old.n)
    touched = np.ones(old.n, dtype=bool)
    same = (old.Y[stay] == targets.Y).all(axis=1) & (old.weight[stay] == targets.weight)
    touched[stay[same]] = False
    members, distance = list(ensemble.members), 0.0
    leaf_rows = [[place[rows][place[rows] >= 0] for rows in tree] for tree in forest.leaf_rows]
    for m, member in enumerate(members):
        models = [list(tree) for tree in member.models]
        for t, tree in enumerate(forest.leaf_rows if np.any(member.share) else ()):
            for leaf, rows in enumerate(tree):
                if touched[rows].any():
                    K = leaf_gram(ensemble, member, rows)
                    lam = lam_in_leaf(K, models[t][leaf], old.take(rows))
                    inside = place[rows] >= 0
                    own = targets.take(leaf_rows[t][leaf])
                    K = K[np.ix_(inside, inside)]
                    models[t][leaf], off = _ridge(K, own, lam, targets.mean)
                    distance = max(distance, off)
        members[m] = replace(member, models=tuple(map(tuple, models)))
    known = ensemble.training
    rows_left = {name: take_rows(Z, stay) for name, Z in known.rows.items()}
    training = TrainingRows(known.views, rows_left, targets)
    found = replace(
        ensemble,
        members=members,
        training=training,
        for_features=_for_features(ensemble, training),
        forest=replace(forest, leaf_rows=leaf_rows),
    )
    return found, distance


def _ridge(K: Array, targets: AnyTargets, lam: float, mean: Array) -> tuple[Dual, float]:
    """A ridge regression at lam, and how far its equations are from solved."""
    if not len(K):
        return Dual(np.zeros((0, len(mean))), mean), 0.0
    if not lam > 0 or centre(K.copy(), targets).is_flat:
        return Dual(np.zeros(targets.Y.shape), targets.mean), 0.0
    model, off = solve_at_lam(K, targets, lam)
    return model, float(np.abs(off).max())


def _for_features(ensemble: Ensemble, training: TrainingRows) -> TrainingRows:
    """Rows of the features, drawn anew."""
    old = ensemble.for_features
    rows = stratified_rows(training.targets, old.targets.n)
    spaces = {member.view: member for member in ensemble.predicting}
    some = {
        space: scale_columns(take_rows(training.rows[member.plain_view], rows), member.scales)
        for space, member in spaces.items()
    }
    return TrainingRows(old.views, some, training.targets.take(rows))
