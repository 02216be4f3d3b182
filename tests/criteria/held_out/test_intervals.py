"""Intervals of numbers against counting, and of the root mean squared error against simulation."""

import numpy as np
import pytest

from kernel_learn.criteria.held_out.intervals import (
    jackknife_intervals,
    rmse_interval,
    value_masses,
)
from kernel_learn.criteria.held_out.number_targets import merge_values


def cross_intervals(said, sizes, mass, fold, coverage):
    """CV+: values beside what the model without their fold says."""
    centres = said[fold].T
    return jackknife_intervals(centres, np.broadcast_to(sizes, centres.shape), mass, coverage)


def test_a_group_counts_one_and_a_row_alone_counts_one():
    count, row = np.array([2.0, 1.0, 1.0, 3.0]), np.array([0, 0, 1, 2])
    np.testing.assert_array_equal(value_masses(count, row, ()), count)
    mass = value_masses(count, row, (np.array([0, 2]),))
    np.testing.assert_allclose(mass, [2 / 6, 1 / 6, 1.0, 3 / 6])


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_cross_intervals_are_order_statistics(coverage, rng):
    """Of N values the ceil(coverage (N + 1))-th from either end, counted one by one."""
    m = 19
    sizes, fold = rng.exponential(size=m), np.arange(m) % 3
    said = rng.normal(size=(3, 4))
    found = cross_intervals(said, sizes, np.ones(m), fold, coverage)
    place = int(np.ceil(coverage * (m + 1) - 1e-9))
    for i in range(4):
        ends = [said[f, i] for f in fold]
        above = sorted(c + s for c, s in zip(ends, sizes, strict=True))
        below = sorted((c - s for c, s in zip(ends, sizes, strict=True)), reverse=True)
        np.testing.assert_allclose(found[i], [below[place - 1], above[place - 1]])


def test_too_few_rows_say_nothing():
    said = np.zeros((2, 1))
    for m, finite in ((8, False), (9, True)):
        found = cross_intervals(said, np.ones(m), np.ones(m), np.arange(m) % 2, 0.9)
        assert np.isfinite(found).all() == finite


def test_weights_of_values_are_repetitions(rng):
    said, sizes = rng.normal(size=(2, 3)), rng.exponential(size=12)
    mass, fold = rng.integers(1, 4, size=12), np.arange(12) % 2
    found = cross_intervals(said, sizes, mass.astype(float), fold, 0.8)
    again = cross_intervals(
        said, np.repeat(sizes, mass), np.ones(mass.sum()), np.repeat(fold, mass), 0.8
    )
    np.testing.assert_allclose(found, again)


def test_the_interval_of_the_error_holds_it(rng):
    """In 95 % of draws, of rows and of groups whose rows err together."""
    for size in (1, 4):
        groups = tuple(np.arange(160).reshape(-1, size)) if size > 1 else ()
        inside = 0
        for _ in range(300):
            y = np.repeat(rng.normal(size=160 // size), size)
            targets = merge_values(y[:, None], np.ones(160), np.arange(160), groups)
            low, high = rmse_interval(np.zeros((160, 1)), targets, 0.95, 1.0)[0]
            inside += low <= 1.0 <= high
        assert 0.9 <= inside / 300 <= 0.985
