"""An ensemble that never saw some of its rows.

Kernels, lams, maps to predictions, weights of members and the statistics of columns stay as they
were chosen; every member is the fit of the rows that remain, and nothing of the others is held: not
in views, held-out figures, the rows that novelty is told from, or ensembles of folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.conformal import HeldOutScores
from kernel_learn.criteria.held_out.folds import stratified_rows
from kernel_learn.criteria.held_out.hinge import hinge_distance, offset_of, refit_hinges
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import Dual, centre, solve_at_lam
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import (
    Targets,
    cut_groups,
    kernel_variance,
    positions,
)
from kernel_learn.ensemble.assessment import Assessment, Fold
from kernel_learn.ensemble.deduplicate import GivenRows
from kernel_learn.ensemble.fitted import PROBE_ROWS, FittedEnsemble, Probe
from kernel_learn.ensemble.ledger.leaf_rows import leaves_without
from kernel_learn.ensemble.ledger.row_values import (
    is_ridge,
    regs_of,
    training_gram,
    used_columns,
)
from kernel_learn.ensemble.members import Ensemble, Member, TrainingRows
from kernel_learn.ensemble.outcomes.base import AnyTargets, OutcomeMap
from kernel_learn.ensemble.summary import member_name
from kernel_learn.fitting.training import check_groups
from kernel_learn.fitting.uncertainty import Calibration, ReferenceRows
from kernel_learn.representations.plan import COMPARED_ROWS
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.columns import TableReader

KEPT = {
    "classes": (
        "kernels, regularisers and weights of members",
        "maps from scores to log-odds",
        "statistics and rank tables of single columns, shares of levels of categories",
        "learned scales of columns",
        "shares of the classes, and how probabilities fade",
        "held-out probabilities of the rows that stay, and the errors told of the fit",
    ),
    "numbers": (
        "kernels, regularisers and weights of members",
        "mean, scale and range of the targets, and whether their logarithms are fitted",
        "quantiles of held-out residuals that lead back from logarithms, of 100 values and more",
        "statistics and rank tables of single columns, shares of levels of categories",
        "learned scales of columns",
        "held-out predictions of the rows that stay, and the errors told of the fit",
    ),
}

ANEW = "Fit the remaining rows anew, or use choices='again'."


@dataclass(frozen=True)
class Forgotten:
    """Certificate of a model without some rows; prints itself."""

    n_rows: int  # forgotten, in all
    digest: str  # of the rows that stay: that of a fit to them alone
    distance: float  # of the members' equations from those of the rows that stay, relative
    redrawn: tuple[str, ...]  # what was drawn anew without the rows
    kept: tuple[str, ...]  # what was chosen with them and stays

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.n_rows} rows forgotten in all; those that stay have the digest "
                f"{self.digest}.",
                f"Distance to a fit of them with the same choices: {self.distance:.1e}.",
                "Drawn anew: " + ("; ".join(self.redrawn) or "nothing") + ".",
                "Kept: " + ("; ".join(self.kept) or "nothing") + ".",
            ]
        )


class Remaining(Protocol):
    """What stays of the distinct rows."""

    kind: ClassVar[str]

    @property
    def rows(self) -> Array:
        """Those that stay, increasing, (n_left,)."""

    def among(self, rows: Array) -> Self:
        """The same for some of the distinct rows, by their places among these."""

    def targets(self, old: Any) -> AnyTargets:
        """Of the rows that stay."""

    def map(self, map: OutcomeMap, old: AnyTargets) -> OutcomeMap:
        """From scores to predictions, without what it has of the rows that are gone."""

    def moved_labels(self, labels: Array) -> Array:
        """Places of labels, or values, of rows given that stay."""


@dataclass(frozen=True)
class ClassesLeft:
    """What stays of rows with classes."""

    rows: Array  # (n_left,) increasing
    counts: Array  # (n, k) of all distinct rows: zero for those that are gone
    kind: ClassVar[str] = "classes"

    def among(self, rows: Array) -> "ClassesLeft":
        stays = np.isin(rows, self.rows)
        return ClassesLeft(np.flatnonzero(stays), self.counts[rows])

    def targets(self, old: Targets) -> Targets:
        some, counts = old.take(self.rows), self.counts[self.rows]
        given = None if some.given is None else some.given * counts.sum(axis=1) / some.weight
        return Targets(counts, some.groups, some.class_factors, given)

    def map(self, map: OutcomeMap, old: AnyTargets) -> OutcomeMap:
        return map

    def moved_labels(self, labels: Array) -> Array:
        return labels


@dataclass(frozen=True)
class ValuesLeft:
    """What stays of rows with numbers, of which each may have several."""

    rows: Array  # (n_left,) increasing
    row: Array  # (m,) the distinct row of each value
    share: Array  # (m,) of its count that stays
    kind: ClassVar[str] = "numbers"

    def among(self, rows: Array) -> "ValuesLeft":
        position = positions(rows, int(self.row[-1]) + 1)[self.row]
        kept = np.flatnonzero(position >= 0)
        kept = kept[np.argsort(position[kept], kind="stable")]
        stays = np.flatnonzero(np.isin(rows, self.rows))
        return ValuesLeft(stays, position[kept], self.share[kept])

    def targets(self, old: NumberTargets) -> NumberTargets:
        stays, position = self.share > 0, positions(self.rows, old.n)
        unseen = old.unseen
        if unseen is not None:
            unseen = position[unseen][position[unseen] >= 0]
        found = replace(
            old,
            values=old.values[stays],
            row=position[old.row[stays]],
            count=(old.count * self.share)[stays],
            groups=cut_groups(old.groups, position),
            unseen=unseen,
            given=None,
        )
        if old.given is None:
            return found
        some = old.take(self.rows)  # which may keep what it works out: the model stays as it is
        return replace(found, given=some.given / some.weight * found.weight)

    def map(self, map: OutcomeMap, old: AnyTargets) -> OutcomeMap:
        assert isinstance(map, ValueMap) and isinstance(old, NumberTargets)
        J = old.judging
        count = (old.count * self.share)[J]
        residuals = tuple(own.take(count > 0, count) for own in map.residuals)
        return replace(map, residuals=residuals)

    def moved_labels(self, labels: Array) -> Array:
        moved = np.cumsum(self.share > 0) - 1
        return np.where(labels >= 0, moved[labels], -1)


def remaining_rows(given: GivenRows, targets: AnyTargets, gone: Array) -> Remaining:
    """Counts without the rows that are gone; a distinct row goes when nothing of it is left."""
    left = np.setdiff1d(np.flatnonzero(given.counting), gone)
    rows = np.unique(given.distinct[left])
    if isinstance(targets, NumberTargets):
        touched = np.isin(np.arange(len(targets.row)), given.labels[gone])
        weight = np.bincount(given.labels[left], given.weight[left], len(targets.row))
        return ValuesLeft(rows, targets.row, np.where(touched, weight / targets.count, 1.0))
    assert isinstance(targets, Targets), "a row has one class"
    counts = np.zeros(targets.counts.shape)
    np.add.at(counts, (given.distinct[left], given.labels[left]), given.weight[left])
    untouched = np.setdiff1d(np.arange(targets.n), given.distinct[gone])
    counts[untouched] = targets.counts[untouched]  # to the last bit
    return ClassesLeft(rows, counts)


def ensemble_without(ensemble: Ensemble, left: Remaining) -> tuple[Ensemble, float]:
    """Members fitted to the rows that stay, and how far their equations are from solved."""
    targets = left.targets(ensemble.targets)
    if ensemble.forest is not None:
        return leaves_without(ensemble, left.rows, targets)
    known = ensemble.training
    training = TrainingRows(
        known.views, {name: take_rows(Z, left.rows) for name, Z in known.rows.items()}, targets
    )
    members, distance = [], 0.0
    for member in ensemble.members:
        if np.any(member.share):
            member, off = member_without(ensemble, member, left, targets)
            distance = max(distance, off)
        members.append(member)
    return replace(ensemble, members=members, training=training, for_features=training), distance


def member_without(
    ensemble: Ensemble, member: Member, left: Remaining, targets: AnyTargets
) -> tuple[Member, float]:
    """A member at the same lam, and how far its equations are from solved.

    Solved again: the factorisation that a downdate starts from is not kept, and to factorise the
    matrix of all rows takes as long as that of those that stay. What a kernel of few
    directions does not see is left out, as in fits.
    """
    K, old = training_gram(ensemble, member), ensemble.targets
    if not is_ridge(member):
        assert isinstance(left, ClassesLeft)
        model = machine_without(K, ensemble.class_targets, member, left)
        own_lam = member.reg * offset_of(member.models[0][0])
        own_targets = left.targets(ensemble.class_targets)
        distance = hinge_distance(K[np.ix_(left.rows, left.rows)], own_targets, own_lam, model)
        return replace(member, models=((model,),)), distance
    unit = kernel_variance(K, old)
    lam = regs_of(member) * unit
    K = K[np.ix_(left.rows, left.rows)]
    if centre(K.copy(), targets).is_flat:
        raise ValueError(
            f"All rows that would be left look the same to a member, {member_name(member)}, and it "
            f"was chosen with others. {ANEW}"
        )
    own_unit = kernel_variance(K, targets)
    model, off = solve_at_lam(K, targets, lam)
    found = replace(
        member,
        reg=member.reg * unit / own_unit,
        regs=None if member.regs is None else member.regs * unit / own_unit,
        models=((model,),),
        maps=(left.map(member.maps[0], old),),
    )
    return found, float(np.abs(off[:, used_columns(member)]).max())


def machine_without(K: Array, old: Targets, member: Member, left: ClassesLeft) -> Dual:
    """A squared-hinge machine: the active set is followed until it is stable."""
    gone = np.setdiff1d(np.arange(old.n), left.rows)
    changed = np.flatnonzero((left.counts != old.counts).any(axis=1))
    whole = Targets(np.where(left.counts.any(axis=1, keepdims=True), left.counts, old.counts))
    model = refit_hinges(K, whole, member.reg, member.models[0][0], gone, changed)
    return Dual(model.coef[left.rows], model.intercept)


def fitted_without(fitted: FittedEnsemble, left: Remaining) -> tuple[FittedEnsemble, float]:
    """The ensemble, its held-out predictions and its probe."""
    ensemble, distance = ensemble_without(fitted.ensemble, left)
    old, n = fitted.ensemble.targets, len(left.rows)
    plan = replace(fitted.plan, n_rows=n)
    probe = probe_without(fitted.probe, old, left)
    found = replace(fitted, ensemble=ensemble, held=fitted.held[left.rows], probe=probe, plan=plan)
    return found, distance


def probe_without(probe: Probe, old: AnyTargets, left: Remaining) -> Probe:
    """Rows of the probe that stay; what was worked out of all of them is worked out again."""
    known = probe.sample_rows if probe.held_rows is None else probe.held_rows
    rows = drawn_before(known, old, PROBE_ROWS, probe.sample.targets.n)
    own = left.among(rows)
    sample = replace(probe.sample.take(own.rows), targets=own.targets(probe.sample.targets))
    moved = np.searchsorted(left.rows, rows[own.rows])
    found = replace(
        probe,
        sample=sample,
        learned=None,
        held=None if probe.held is None else probe.held[own.rows],
        held_rows=None if probe.held_rows is None else moved,
        sample_rows=moved,
    )
    return found if probe.reference is None else reference_without(found, old, left)


def reference_without(probe: Probe, old: AnyTargets, left: Remaining) -> Probe:
    """The rows that novelty is told from, but for those that are gone."""
    reference = probe.reference
    assert reference is not None
    rows = drawn_before(probe.reference_rows, old, COMPARED_ROWS, len(reference.weight))
    own = left.among(rows)
    if len(own.rows) < 2:
        return replace(probe, reference=None)
    targets = own.targets(old.take(rows))
    left_over = take_rows(reference.rows, own.rows)
    return replace(
        probe,
        reference=replace(reference, rows=left_over, weight=targets.weight, groups=targets.groups),
        reference_rows=np.searchsorted(left.rows, rows[own.rows]),
    )


def drawn_before(known: Array | None, old: AnyTargets, most: int, n: int) -> Array:
    """Which of the distinct rows were drawn: as is known, or as a fit to them draws."""
    rows = known
    if rows is None:
        rows = np.arange(old.n) if old.n <= most else stratified_rows(old, most)
    if len(rows) != n:
        raise ValueError(
            "This model has forgotten rows by an earlier version, which did not keep which are "
            "left in its samples. Fit the remaining rows anew."
        )
    return rows


def calibration_without(
    calibration: Calibration, reference: ReferenceRows | None, left: ClassesLeft
) -> Calibration:
    """Held-out scores of the rows that stay."""
    held = calibration.held
    stays = left.counts[held.rows, held.labels] > 0
    place = np.searchsorted(left.rows, held.rows[stays])
    scores = HeldOutScores(held.scores[stays], held.labels[stays], held.mass[stays], place)
    return Calibration(scores, calibration.fading, reference)


def assessment_without(
    found: Assessment, n: int, left: Remaining, reader: TableReader
) -> Assessment:
    """Ensembles of the folds, each without the rows."""
    folds = (fold_without(fold, n, left) for fold in found.folds)
    own = (replace(fold, ensemble=replace(fold.ensemble, reader=reader)) for fold in folds)
    return replace(found, folds=tuple(own))


def fold_without(fold: Fold, n: int, left: Remaining) -> Fold:
    """One of them; its held-out rows are numbered anew."""
    inside = np.setdiff1d(np.arange(n), fold.rows)
    ensemble, _ = ensemble_without(fold.ensemble, left.among(inside))
    return Fold(np.searchsorted(left.rows, np.intersect1d(fold.rows, left.rows)), ensemble)


def check_folds(found: Assessment, left: Remaining) -> None:
    """Refuse to leave the models of folds, which forget the rows too, with nothing to fit."""
    for fold in found.folds:
        if len(np.setdiff1d(left.rows, fold.rows)) < 2:
            raise ValueError(
                "Fewer than two different rows would be left outside a fold of the nested "
                f"assessment, for the model that has not seen the fold. {ANEW}"
            )


def check_rest(given: GivenRows, gone: Array) -> None:
    """Refuse to forget so much that a fit to the rows that stay is refused."""
    left = np.setdiff1d(np.flatnonzero(given.counting), gone)
    if len(np.unique(given.distinct[left])) < 2:
        raise ValueError("Fewer than two different rows would be left: there is nothing to fit.")
    check_groups(given.groups, len(given.distinct), left)


def check_rows_to_forget(rows: Sequence[int] | Array, n: int) -> Array:
    """Places of rows among those given to fit, sorted, each once."""
    found = np.asarray(rows)
    found = found.astype(int) if found.shape == (0,) else found  # [] is a list of nothing
    if found.dtype == bool or found.dtype.kind not in "iu" or found.ndim != 1:
        raise ValueError(
            "rows are places of training rows, a list of integers; a mask m is np.flatnonzero(m)."
        )
    if len(found) and not (found.min() >= 0 and found.max() < n):
        raise ValueError(
            f"rows has {found[(found < 0) | (found >= n)][0]}, and the model was fitted to rows "
            f"0 to {n - 1}."
        )
    return np.unique(found)
