"""Rows divided into folds, or some of them taken: classes by their shares, groups whole."""

from collections.abc import Iterator

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.targets import RowTargets, units_of


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
    """About ``n_rows`` rows, the first of each class by its share, at least two; groups whole.

    A group is taken if more than half of its rows are wanted, and the first one of a class of
    which nothing is there yet. Where groups are so large that this would be less than half of the
    rows, parts of them are taken.
    """
    strata = targets.strata
    if not targets.groups:
        return first_by_class(strata, n_rows)
    units = sorted(units_of(targets.n, targets.groups), key=lambda rows: int(rows[0]))
    chosen, short = np.zeros(targets.n, dtype=bool), rows_of_classes(strata, n_rows)
    for rows in units:
        own = np.bincount(strata[rows], minlength=len(short))
        if 2 * np.minimum(own, np.maximum(short, 0)).sum() > len(rows):
            chosen[rows] = True
            short -= own
        if (short <= 0).all():
            break
    if 2 * np.count_nonzero(chosen) < min(n_rows, targets.n):
        return first_by_class(strata, n_rows)
    for c in np.setdiff1d(strata, strata[chosen]):
        chosen[next(rows for rows in units if c in strata[rows])] = True
    return np.flatnonzero(chosen)


def first_by_class(
    strata: Array,  # (n,) class of each row
    n_rows: int,
) -> Array:
    """About ``n_rows`` rows, the first of each class by its share, at least two; increasing."""
    chosen = np.zeros(len(strata), dtype=bool)
    for c, count in enumerate(rows_of_classes(strata, n_rows)):
        chosen[np.flatnonzero(strata == c)[:count]] = True
    return np.flatnonzero(chosen)


def rows_of_classes(
    strata: Array,  # (n,) class of each row
    n_rows: int,
) -> Array:
    """How many of about ``n_rows`` rows are of each class: by its share, at least two, (k,)."""
    return np.array([max(2, round(n_rows * own / len(strata))) for own in np.bincount(strata)])
