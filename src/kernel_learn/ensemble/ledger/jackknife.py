"""What an ensemble of numbers says of new rows without each of its training rows, or groups.

At a fixed second level, as in ``row_values``: kernels, lams, maps to numbers and weights of members
stay. The scores of a member without any unit are linear in k(x) (``models_without``): those of all
units are one product with a matrix that is made when rows first ask for it. In leaves, a unit that
is not in a row's leaf changes nothing there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.leave_out import models_without
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import units_of
from kernel_learn.ensemble.members import Ensemble, Member
from kernel_learn.ensemble.trees import Leaf
from kernel_learn.kernels import evaluate_shared
from kernel_learn.rows.access import row_blocks
from kernel_learn.rows.table import Table

HELD_NUMBERS = 2**22  # predictions of new rows that are held at a time


@dataclass(frozen=True, eq=False)
class WithoutEach:
    """A member in a leaf without each unit that has rows there."""

    units: Array  # their places among all
    models: Sequence[Dual]  # of each target, a column for each unit


@dataclass(frozen=True, eq=False)
class Jackknife:
    """An ensemble without each of some units of its rows."""

    ensemble: Ensemble
    units: Sequence[Array]  # training rows that are left out together
    unit_of: Array  # (n,) of each training row, -1 if it stays
    _without: dict[tuple[int, int, int], WithoutEach] = field(default_factory=dict, repr=False)

    def blocks(self, table: Table) -> Iterator[tuple[slice, Array]]:
        """(some new rows, their predictions without each unit (rows, units, q))."""
        size = max(1, HELD_NUMBERS // (len(self.units) * self.ensemble.n_features))
        for rows in row_blocks(table.numbers.shape[0], size):
            yield rows, self.predict(table[np.arange(rows.start, rows.stop)])

    def predict(self, table: Table) -> Array:
        """Predictions without each unit, (n_new, units, q)."""
        ensemble = self.ensemble
        if not ensemble.predicting:
            return np.repeat(ensemble.predict(table)[:, None], len(self.units), axis=1)
        shape = (table.numbers.shape[0], len(self.units), ensemble.n_features)
        found = np.zeros((shape[2], *shape[:2]))
        for leaf, member, K in ensemble.kernel_blocks(table):
            map, without = member.map_in(leaf), self._in_leaf(member, leaf)
            assert isinstance(map, ValueMap), "numbers are predicted"
            weight = np.broadcast_to(ensemble.weight_of(member), shape[2:])
            whole = without.units.shape == shape[1:2]
            said = None if whole else map(member.model_in(leaf).scores(K))
            for target in np.flatnonzero(weight).tolist():
                if said is None:
                    values = map.value(target, without.models[target].scores(K))
                else:  # the units of other leaves change nothing
                    values = np.repeat(said[:, target, None], shape[1], axis=1)
                    if len(without.units):
                        own = map.value(target, without.models[target].scores(K))
                        values[:, without.units] = own
                values *= weight[target]
                found[target, leaf.new] += values
        return np.moveaxis(found, 0, -1)

    def _in_leaf(self, member: Member, leaf: Leaf) -> WithoutEach:
        key = (id(member), leaf.tree, leaf.number)
        if key not in self._without:
            self._without[key] = self._leave_out(member, leaf)
        return self._without[key]

    def _leave_out(self, member: Member, leaf: Leaf) -> WithoutEach:
        targets, model, map = self.ensemble.targets, member.model_in(leaf), member.map_in(leaf)
        known = np.arange(targets.n) if leaf.known is None else leaf.known
        numbers, units = units_among(self.units, known, targets.n)
        S = self.ensemble.training.statistics(member, None, leaf.known)
        K, weight = evaluate_shared(member.kernel, S), targets.weight[known]
        assert isinstance(map, ValueMap), "numbers are predicted"
        models = []
        for column in map.columns if units else ():
            own = Dual(model.coef[:, [column]], model.intercept[[column]])
            models.append(models_without(K.copy(), targets.Y[known, column], own, weight, units))
        return WithoutEach(numbers, models)


def without_each(ensemble: Ensemble, rows: Array) -> Jackknife:
    """The ensemble without each of some rows, or its group."""
    n, groups = ensemble.targets.n, ensemble.targets.groups
    wanted, unit_of = np.isin(np.arange(n), rows), np.full(n, -1)
    units = [unit for unit in units_of(n, groups) if wanted[unit].any()]
    for number, unit in enumerate(units):
        unit_of[unit] = number
    return Jackknife(ensemble, units, unit_of)


def units_among(units: Sequence[Array], known: Array, n: int) -> tuple[Array, list[Array]]:
    """The units that have rows among those known, and these rows by their places there."""
    place = np.full(n, -1)
    place[known] = np.arange(len(known))
    inside = [place[unit][place[unit] >= 0] for unit in units]
    numbers = np.array([u for u, rows in enumerate(inside) if len(rows)], dtype=int)
    return numbers, [inside[u] for u in numbers]
