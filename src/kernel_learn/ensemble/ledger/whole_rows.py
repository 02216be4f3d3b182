"""Shapley values of any function of whole rows: columns join one after the other.

For models of which a column is no part of its own: in leaves, since the leaf of a row hangs on all
columns at once, and of rows that are brought to length one. Columns in which a row and a background
row are equal change nothing, whoever has joined before: of sparse rows few columns are left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy import sparse

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.shapley import MOST_ENUMERATED, PAIRS, values_of_sets
from kernel_learn.rows.access import dense, is_sparse
from kernel_learn.rows.table import Table

SEED = 0  # of permutations: the same for every row, so that the order of rows does not matter


def table_values(
    f: Callable[[Table], Array],  # (., r) of the rows of a table
    table: Table,
    background: Table,
    share: Array,  # (m,) of the background rows
    players: Sequence[Array],  # columns of each
    n_outputs: int,
) -> tuple[Array, Array, bool]:
    """Values and their standard errors, (n, players, r) each, and whether nothing was sampled.

    By all sets of the columns that differ where these are few, else by two permutations and their
    reverses for every background row.
    """
    X, Z, place = joined_cells(table), joined_cells(background), positions_of(table)
    player_of = np.full(X.shape[1], -1)
    for p, columns in enumerate(players):
        player_of[place[columns]] = p
    values = np.zeros((len(table), len(players), n_outputs))
    variance, exact = np.zeros_like(values), True
    for i in range(len(table)):
        x, rng = dense(X[[i]])[0], np.random.default_rng(SEED)
        for j, own in enumerate(share):
            z = dense(Z[[j]])[0]
            differ = np.flatnonzero(x != z)
            active, rank = np.unique(player_of[differ], return_inverse=True)
            if not len(active):
                continue
            way = Way(f, table, x, z, differ, rank)
            if len(active) <= MOST_ENUMERATED:
                inside = np.array(list(product((False, True), repeat=len(active))))
                values[i, active] += own * values_of_sets(way.worth(inside), inside)
                continue
            gains = gains_of_orders(way, len(active), rng)  # (PAIRS, active, r)
            values[i, active] += own * gains.mean(axis=0)
            variance[i, active] += (own * (gains[0] - gains[1]) / 2) ** 2
            exact = False
    return values, np.sqrt(variance), exact


@dataclass(frozen=True, eq=False)
class Way:
    """From a background row to a row, players joining."""

    f: Callable[[Table], Array]
    table: Table  # whose columns these are
    x: Array  # (d,)
    z: Array  # (d,)
    differ: Array  # columns in which they do
    player: Array  # of each of these

    def worth(self, joined: Array) -> Array:
        """f of rows in which some players are those of x, (n, players) to (n, r)."""
        rows = rows_between(self.table, self.x, self.z, self.differ, joined[:, self.player])
        return self.f(rows)


def gains_of_orders(
    way: Way,
    d: int,
    rng: np.random.Generator,
) -> Array:
    """What players add in the mean of an order and its reverse, (PAIRS, d, r)."""
    orders = [rng.permutation(d) for _ in range(PAIRS)]
    ranks = np.argsort([own for one in orders for own in (one, one[::-1])], axis=1)
    joined = ranks[:, None, :] < np.arange(d + 1)[:, None]  # (orders, steps, d)
    v = way.worth(joined.reshape(-1, d)).reshape(len(ranks), d + 1, -1)
    gains = np.take_along_axis(np.diff(v, axis=1), ranks[:, :, None], axis=1)
    return np.asarray(gains.reshape(PAIRS, 2, d, -1).mean(axis=1))


def joined_cells(table: Table) -> Rows:
    """Numbers and codes side by side, (n, d)."""
    if not table.others.shape[1]:
        return table.numbers
    return np.hstack([dense(table.numbers), np.asarray(table.others, dtype=float)])


def positions_of(table: Table) -> Array:
    """Of every column among these, (d,)."""
    place = np.asarray(table.place)
    return np.where(place >= 0, place, table.numbers.shape[1] - 1 - place)


def rows_between(
    table: Table,  # whose columns these are
    x: Array,  # (d,)
    z: Array,  # (d,)
    differ: Array,  # columns in which they do
    joined: Array,  # (n, len(differ)) which of them are those of x
) -> Table:
    """Rows with some columns of x and the others of z."""
    some, m = np.where(joined, x[differ], z[differ]), table.numbers.shape[1]
    if not is_sparse(table.numbers):
        rows = np.tile(z, (len(some), 1))
        rows[:, differ] = some
        numbers = rows[:, :m].astype(table.numbers.dtype)
        return replace(table, numbers=numbers, others=rows[:, m:].astype(table.others.dtype))
    same = np.setdiff1d(np.flatnonzero(z), differ)
    columns = np.concatenate([differ, same])
    values = np.hstack([some, np.tile(z[same], (len(some), 1))])
    ends = np.arange(0, values.size + 1, len(columns))
    shape = (len(some), m)
    cells = sparse.csr_array((values.ravel(), np.tile(columns, len(some)), ends), shape)
    cells.eliminate_zeros()
    cells.sort_indices()
    return replace(table, numbers=cells, others=np.empty((len(some), 0), table.others.dtype))
