"""Rows divided into folds, or some of them taken: classes by their shares, groups whole."""

from collections.abc import Iterator

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import RowTargets


def stratified_folds(targets: RowTargets, n_folds: int) -> Array:
    """The fold of each row, (n,): classes spread evenly, groups whole, in the rows' order.

    Classes are taken as they first occur, whatever they are called.
    """
    unit = np.arange(targets.n)  # the first row of a group speaks for it
    for group in targets.groups:
        unit[group] = group[0]
    heads = np.flatnonzero(unit == np.arange(targets.n))
    fold, start = np.empty(targets.n, dtype=int), 0
    for c in dict.fromkeys(targets.strata[heads].tolist()):
        mine = heads[targets.strata[heads] == c]
        fold[mine] = (np.arange(len(mine)) + start) % n_folds
        start += len(mine)
    return fold[unit]


def each_fold(folds: Array) -> Iterator[tuple[Array, Array]]:
    """(rows outside a fold, rows in it), fold by fold."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def stratified_rows(targets: RowTargets, n_rows: int) -> Array:
    """About ``n_rows`` rows, the first of each class by its share, at least two; groups whole."""
    chosen = np.zeros(targets.n, dtype=bool)
    chosen[first_by_class(targets.strata, n_rows)] = True
    for group in targets.groups:
        chosen[group] = chosen[group[0]]
    return np.flatnonzero(chosen)


def first_by_class(
    strata: Array,  # (n,) class of each row
    n_rows: int,
) -> Array:
    """About ``n_rows`` rows, the first of each class by its share, at least two; increasing."""
    chosen = np.zeros(len(strata), dtype=bool)
    for c in range(int(strata.max(initial=-1)) + 1):
        mine = np.flatnonzero(strata == c)
        chosen[mine[: max(2, round(n_rows * len(mine) / len(strata)))]] = True
    return np.flatnonzero(chosen)
