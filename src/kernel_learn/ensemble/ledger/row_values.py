"""What single training rows are worth to an ensemble, and how far each moves a prediction.

At a fixed second level (kernels, lams, maps to log-odds and weights of members stay) an ensemble of
ridge regressions is known without any row or pair of rows (``criteria.held_out.leave_out``).
Squared-hinge machines have no such formula for pairs: they do not take part in the values of rows,
and are solved again without each row that counts in them for ``stability``.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.hinge import refit_hinges
from kernel_learn.criteria.held_out.leave_out import LeaveOut
from kernel_learn.criteria.held_out.ridge import with_all_shares
from kernel_learn.criteria.held_out.stacking import LinearMap, log_losses
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import kernel_variance, units_of
from kernel_learn.ensemble.ledger.leaf_rows import (
    NEW_NUMBERS,
    changes_in_leaves,
    class_losses,
    leaf_row_values,
)
from kernel_learn.ensemble.members import Ensemble, Member
from kernel_learn.ensemble.pooling import Averages
from kernel_learn.kernels import evaluate_shared
from kernel_learn.rows.access import take_rows
from kernel_learn.rows.table import Table

HELD_NUMBERS = 2**25  # log-odds of pairs of rows that are held at a time


def is_ridge(member: Member) -> bool:
    """Whether its model is a ridge regression: its coefficients sum to zero, a machine's do not."""
    coef = member.models[0][0].coef
    return bool(np.abs(coef.sum(axis=0)).max() <= 1e-7 * np.abs(coef).sum())


def training_gram(ensemble: Ensemble, member: Member) -> Array:
    """The member's kernel on the training rows, (n, n)."""
    return evaluate_shared(member.kernel, ensemble.training.statistics(member))


def regs_of(member: Member) -> float | Array:
    """Of all columns of the scores, or of each."""
    return member.reg if member.regs is None else member.regs


def used_columns(member: Member) -> Array:
    """Those columns of the scores that its predictions depend on."""
    map = member.maps[0]
    n_columns = member.models[0][0].coef.shape[1]
    return map.columns if isinstance(map, ValueMap) else np.arange(n_columns)


def leave_out_of(ensemble: Ensemble, member: Member, column: int | None = None) -> LeaveOut:
    """The calculus of a member that is a ridge regression; of one column where they differ."""
    K, targets = training_gram(ensemble, member), ensemble.targets
    reg, Y = regs_of(member), targets.Y
    if column is not None:
        Y, reg = Y[:, [column]], np.broadcast_to(reg, Y.shape[1:])[column]
    lam = float(reg) * kernel_variance(K, targets)
    return LeaveOut(K, Y, targets.weight, lam, targets.groups)


def row_values(ensemble: Ensemble) -> Array:
    """By how much the log loss of all other rows rises without each row, (n,).

    Every row is predicted without itself (its group), by the ridge regressions of the average.
    """
    if ensemble.forest is not None:
        return leaf_row_values(ensemble, class_losses)
    members = [member for member in ensemble.predicting if is_ridge(member)]
    n, k = ensemble.class_targets.counts.shape
    if not members:
        if ensemble.predicting:
            raise ValueError(
                "All members of this ensemble are squared-hinge machines, which have no formula "
                "for pairs of rows left out: there are no values of rows. Fit with quality='fast'."
            )
        return np.zeros(n)
    values = np.zeros(n)
    for units in chunks(units_of(n, ensemble.targets.groups), max(1, HELD_NUMBERS // (n * k))):
        values += _values_of_units(ensemble, members, units)
    return values


def _values_of_units(
    ensemble: Ensemble, members: Sequence[Member], units: Sequence[Array]
) -> Array:
    """What some rows, left out, lose without each row, (n,)."""
    targets, shares = ensemble.class_targets, ensemble.shares
    rows = np.concatenate(units)
    place = np.empty(targets.n, dtype=int)
    place[rows] = np.arange(len(rows))
    n, k = targets.counts.shape
    pool = Averages(len(rows) * n, targets.prior if shares is None else shares)
    total = sum(member.share for member in members)
    for member in members:
        found, map = leave_out_of(ensemble, member), member.maps[0]
        held = with_all_shares(targets.Y - found.residuals, targets)
        for own, without in found.blocks_without_each(units):
            scores = held[own, None] + found.residuals[own, None] - without
            pairs = (place[own][:, None] * n + np.arange(n)).ravel()
            pool.add(float(member.share / total), map(scores.reshape(len(pairs), -1)), pairs)
    losses = log_losses(pool.pooled().proba).reshape(len(rows), n, k)
    losses = np.einsum("ijc,ic->ij", losses, targets.counts[rows])
    return np.asarray((losses - losses[np.arange(len(rows)), rows][:, None]).sum(axis=0))


def chunks(units: Sequence[Array], n_rows: int) -> Iterator[list[Array]]:
    """Units side by side, about so many rows at a time."""
    part: list[Array] = []
    for unit in units:
        part.append(unit)
        if sum(map(len, part)) >= n_rows:
            yield part
            part = []
    if part:
        yield part


def largest_changes(
    ensemble: Ensemble,
    table: Table,
    contrast: Array,  # (n_new, k)
) -> Array:
    """max over training rows j of |contrast'(L(x) - L_{-j}(x))|, (n_new,)."""
    if ensemble.forest is not None:
        return changes_in_leaves(ensemble, table, contrast)
    n_new, n = len(contrast), ensemble.targets.n
    changes = np.zeros((n_new, n))
    for member in ensemble.predicting:
        map = member.maps[0]
        assert isinstance(map, LinearMap), "log-odds are linear in scores"
        Z, toward = ensemble.training.new_rows(member, table), contrast @ map.coef.T
        ridge = leave_out_of(ensemble, member) if is_ridge(member) else None
        machines = None if ridge is not None else _machines_without_each(ensemble, member)
        for start in range(0, n_new, max(1, NEW_NUMBERS // n)):
            rows = slice(start, start + max(1, NEW_NUMBERS // n))
            S = ensemble.training.statistics(member, take_rows(Z, rows))
            K = evaluate_shared(member.kernel, S)
            if ridge is not None:
                changes[rows] += member.share * ridge.pull(K) * (toward[rows] @ ridge.alone.T)
            for j, (coef, intercept) in (machines or {}).items():
                moved = (K @ coef + intercept) * toward[rows]
                changes[rows, j] += member.share * moved.sum(axis=1)
    return np.asarray(np.abs(changes).max(axis=1))


def _machines_without_each(ensemble: Ensemble, member: Member) -> dict[int, tuple[Array, Array]]:
    """What a machine loses without each row that counts in it: coefficients and offset."""
    K, model = training_gram(ensemble, member), member.models[0][0]
    found, nobody = {}, np.empty(0, dtype=int)
    for j in np.flatnonzero(model.coef.any(axis=1)):
        left = refit_hinges(K, ensemble.class_targets, member.reg, model, np.array([j]), nobody)
        found[int(j)] = (model.coef - left.coef, model.intercept - left.intercept)
    return found
