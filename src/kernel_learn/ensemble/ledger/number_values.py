"""What single training rows are worth where numbers are predicted, and how far each moves one.

Scores without a row, or a pair of rows, are known exactly (``criteria.held_out.leave_out``), and
what a member makes of scores, logarithms and the bounds of what was seen included, is worked out
of them as ``predict`` does: nothing here is linearised. Kernels, lams, maps and weights stay.
"""

from collections.abc import Iterator

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.leave_out import LeaveOut
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import units_of
from kernel_learn.ensemble.ledger.jackknife import Jackknife
from kernel_learn.ensemble.ledger.leaf_rows import leaf_row_values, number_losses
from kernel_learn.ensemble.ledger.row_values import (
    HELD_NUMBERS,
    chunks,
    leave_out_of,
)
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.rows.table import Table


def number_row_values(ensemble: Ensemble) -> Array:
    """By how much the squared error of all other rows rises without each row, (n,).

    Every row is predicted without itself (its group). Of several targets the sum of their errors,
    each as a share of its variance.
    """
    targets = ensemble.targets
    assert isinstance(targets, NumberTargets), "numbers are predicted"
    if ensemble.forest is not None:
        return leaf_row_values(ensemble, number_losses)
    n, values = targets.n, np.zeros(targets.n)
    for target in range(targets.n_targets):
        scale = 1.0 if targets.n_targets == 1 else _variance(targets, target)
        for units in chunks(units_of(n, targets.groups), max(1, HELD_NUMBERS // n)):
            values += _losses_of_units(ensemble, target, units) / scale
    return values


def _variance(targets: NumberTargets, target: int) -> float:
    y = targets.values[:, target] - targets.value_mean[target]
    return float(targets.count @ y**2 / targets.total) or 1.0


def _losses_of_units(ensemble: Ensemble, target: int, units: list[Array]) -> Array:
    """What some rows, left out, lose without each row, (n,)."""
    targets = ensemble.targets
    assert isinstance(targets, NumberTargets)
    n, rows = targets.n, np.concatenate(units)
    place = np.empty(n, dtype=int)
    place[rows] = np.arange(len(rows))
    said = np.zeros((len(rows), n))
    for map, weight, column, found in _ridges(ensemble, target):
        for own, without in found.blocks_without_each(units):
            scores = targets.Y[own, column][:, None] - without[:, :, 0]
            said[place[own]] += weight * map.value(target, scores)
    y = np.bincount(targets.row, targets.count * targets.values[:, target], n) / targets.weight
    errors = targets.weight[rows, None] * (said - y[rows, None]) ** 2
    return np.asarray((errors - errors[np.arange(len(rows)), rows][:, None]).sum(axis=0))


def _ridges(ensemble: Ensemble, target: int) -> Iterator[tuple[ValueMap, float, int, LeaveOut]]:
    """Members that predict a target: map, weight, the column of their scores, its calculus."""
    for member in ensemble.predicting:
        map = member.maps[0]
        assert isinstance(map, ValueMap), "numbers are predicted"
        weight = float(np.broadcast_to(member.share, (len(map.columns),))[target])
        if weight > 0:
            column = int(map.columns[target])
            yield map, weight, column, leave_out_of(ensemble, member, column)


def largest_value_changes(ensemble: Ensemble, table: Table) -> Array:
    """max over training rows j of the change of the prediction without j, (n_new, q)."""
    each = np.arange(ensemble.targets.n)
    without_rows = Jackknife(ensemble, list(each[:, None]), each)
    said = ensemble.values(table)
    largest = np.zeros(said.shape)
    for rows, without in without_rows.blocks(table):
        largest[rows] = np.abs(said[rows, None] - without).max(axis=1)
    return largest
