"""The plan of KernelClassifier: pure arithmetic, so its borders are exact."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from kernel_learn.ensemble.clock import SMALL_ROWS
from kernel_learn.ensemble.leaves import FIRST_LOOK_ROWS
from kernel_learn.ensemble.plan import (
    EXACT_MATRICES,
    EXACT_ROWS,
    GOOD_LEAF_ROWS,
    LARGE_MATRICES,
    LEAF_ROWS,
    LEAST_ROWS,
    NARROW_ABOVE,
    EnsembleSize,
    _plan_on_disk,
    plan_ensemble,
    plan_landmarks,
    plan_spilled,
    with_three_regs,
)
from kernel_learn.ensemble.quality import MOST_MACHINE_CLASSES, QUALITIES, TableViews, bank

SIZE = EnsembleSize(
    n_given=3000,
    n_rows=3000,
    row_bytes=80.0,
    n_columns=10,
    n_outputs=3,
    views=3,
    learned=4,
    candidates=20,
)
QUALITY = QUALITIES["balanced"]


def planned(size=SIZE, budget="8GB"):
    return plan_ensemble(size, QUALITY, budget)


def test_rows_before_merging_cost_their_keys_and_labels():
    more = planned(replace(SIZE, n_given=4000))
    assert more.bytes_needed - planned().bytes_needed == 64 * 1000
    assert more.bytes_least - planned().bytes_least == 64 * 1000


def test_jobs_hold_a_fit_each():
    for n, fit in ((1500, EXACT_MATRICES), (EXACT_ROWS, LARGE_MATRICES)):
        size = replace(SIZE, n_rows=n)
        more = planned(replace(size, n_jobs=2)).bytes_needed - planned(size).bytes_needed
        assert more == pytest.approx(8.0 * fit * n**2, abs=1)


def test_more_rows_never_need_less():
    """Above those that keep their statistics a matrix is one of few."""
    needs = [planned(replace(SIZE, n_rows=n)).bytes_needed for n in range(1500, EXACT_ROWS, 50)]
    assert needs == sorted(needs)


def test_screening_begins_above_a_quarter_more_than_the_screen():
    border = int(1.25 * QUALITY.screen)
    for n, screen in ((border, border), (border + 1, QUALITY.screen)):
        assert planned(replace(SIZE, n_rows=n)).screen_rows == screen


def test_exact_up_to_a_number_of_rows():
    assert planned(replace(SIZE, n_rows=EXACT_ROWS)).exact
    above = planned(replace(SIZE, n_rows=EXACT_ROWS + 1))
    assert not above.exact and above.leaf_rows < EXACT_ROWS


def halved(n, most):
    """(rows, leaves) of a tree that cuts in two until leaves are small."""
    leaves = 1
    while n / leaves > most:
        leaves *= 2
    return n / leaves, leaves


def work(n):
    """Of a plan that keeps as many members as it may: factorisations, in units of one of 1000 rows.

    A path is eight of them, for ten families at three widths in leaves.
    """

    def units(rows):
        return rows**2 * (rows + SMALL_ROWS) / 1000**3

    plan, keep = planned(replace(SIZE, n_rows=n)), QUALITY.keep
    total = 8 * 30 * units(plan.screen_rows)
    if plan.screen_rows == n:
        return total
    if plan.exact:
        narrow = 2 * keep * 3 * units(plan.narrow_rows) if n > NARROW_ABOVE else 0.0
        return total + narrow + (keep + 2 * with_three_regs(keep, n)) * units(n)
    leaf, leaves = halved(n, plan.narrow_rows)
    part, parts = halved(leaf, FIRST_LOOK_ROWS)
    total += 8 * 30 * parts * units(part)
    rounds = min(6, leaves - min(4, leaves // 3))
    total += sum(
        tried * regs for tried, regs in [(20, 3), (13, 3), (8, 3), (8, 3), (8, 3), (8, 3)][:rounds]
    ) * units(leaf)
    leaf, leaves = halved(n, plan.leaf_rows)
    return total + (2 + plan.trees - 1) * QUALITY.leaf_members * leaves * units(leaf)


def test_work_grows_no_faster_than_the_square_of_the_rows():
    """A step at 2000 rows was 1.8, and from 5000 to 6000 rows the exponent was 3.3."""
    sizes = np.array([500, 1000, 2000, 3000, 5000, 6000, 10_000, 20_000, 50_000, 100_000])
    exponents = np.diff(np.log([work(n) for n in sizes])) / np.diff(np.log(sizes))
    assert exponents.max() < 2.15  # beside the factorisations are things that grow more slowly
    doubled = [work(2 * n) / work(n) for n in range(500, 60_000, 250)]
    assert max(doubled) < 2**2.15
    steps = [work(n + 1) / work(n) for n in range(501, 10_000)]
    assert max(steps) < 1.2


def test_regularisers_become_fewer_as_rows_grow():
    counts = [with_three_regs(8, n) for n in range(600, 6001)]
    assert counts == sorted(counts, reverse=True) and np.diff(counts).min() == -1
    assert (counts[0], with_three_regs(8, 2000), with_three_regs(8, 3000), counts[-1]) == (
        8,
        8,
        4,
        0,
    )


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_less_memory_gives_the_largest_fits_that_it_holds(share):
    free = planned()
    budget = int(free.bytes_least + share * (free.bytes_needed - free.bytes_least))
    with pytest.warns(UserWarning, match="which gives another model"):
        chosen = planned(budget=budget)
    assert chosen.bytes_needed <= budget < free.bytes_needed
    assert LEAST_ROWS <= chosen.leaf_rows < free.leaf_rows
    with pytest.warns(UserWarning, match="which gives another model"):
        tighter = planned(budget=chosen.bytes_needed - 1)
    assert tighter.leaf_rows == chosen.leaf_rows - 1  # not a row fewer than need be


def test_refused_below_the_least():
    least = planned().bytes_least
    with pytest.warns(UserWarning, match="another model"):
        assert planned(budget=least).leaf_rows == LEAST_ROWS
    with pytest.raises(ValueError, match="at the least"):
        planned(budget=least - 1)


def test_machines_are_tried_up_to_a_number_of_classes():
    def losses(n_classes):
        return {one.loss for one in bank("balanced", TableViews(), n_classes)}

    assert losses(MOST_MACHINE_CLASSES) == {"ridge", "hinge"}
    assert losses(MOST_MACHINE_CLASSES + 1) == {"ridge"}


def test_views_are_those_that_a_table_has():
    def views(**options):
        return {one.view for one in bank("balanced", TableViews(**options))}

    assert views() == {"z", "q", "u", "c"}
    assert views(is_sparse=True) == {"z", "q", "c"}  # ranks do not keep zero zero
    assert views(numbers=False, categories=True) == {"z", "u"}
    assert views(prefix="own ") == {"own z", "own q", "own u", "own c"}


def test_categories_add_their_kernels():
    def families(categories):
        found = bank("balanced", TableViews(categories=categories))
        return {(one.view, one.family, one.loss) for one in found if one.view == "u"}

    assert families(True) - families(False) == {
        ("u", "ham", "ridge"),
        ("u", "ham", "hinge"),
        ("u", "anova", "hinge"),
    }


def test_a_plan_says_what_is_so():
    """No landmarks where there are none, one leaf of all rows, nothing on the disk."""
    exact = planned()
    assert (exact.representation, exact.leaf_rows, exact.trees) == ("exact", 3000, 1)
    assert (exact.n_landmarks, exact.block_rows, exact.subsample_rows, exact.disk_bytes) == (
        None,
        0,
        0,
        0,
    )
    many = planned(replace(SIZE, n_rows=20_000))
    assert (many.representation, many.trees) == ("leaves", QUALITY.trees)
    spilled = plan_spilled(SIZE, QUALITY, "20MB", 240_000)
    assert (spilled.representation, spilled.disk_bytes) == ("leaves", 240_000)
    assert spilled.n_landmarks is None and 0 < spilled.subsample_rows <= 3000
    assert spilled.bytes_least <= spilled.bytes_needed <= spilled.budget == 20e6
    landmarks = plan_landmarks(replace(SIZE, n_rows=1000), QUALITY, "20MB", 5000)
    assert (landmarks.representation, landmarks.n_rows) == ("landmarks", 5000)
    assert landmarks.leaf_rows == 0 and landmarks.subsample_rows == 1000
    assert 0 < landmarks.n_landmarks <= 1000 and landmarks.block_rows > 0


def test_on_the_disk_trees_become_fewer_before_leaves_become_small():
    size, seen = replace(SIZE, n_rows=500_000), []
    for budget in (100 * 10**6, 130 * 10**6, 180 * 10**6, 250 * 10**6, 310 * 10**6, 400 * 10**6):
        chosen = plan_spilled(size, QUALITY, budget, 1)
        need = partial(_plan_on_disk, size, QUALITY, budget, 1, chosen.trees, chosen.most_views)
        leaf = chosen.leaf_rows
        assert chosen.bytes_needed == need(leaf).bytes_needed <= budget
        assert leaf == LEAF_ROWS or need(leaf + 1).bytes_needed > budget
        seen.append((chosen.trees, chosen.most_views, leaf >= GOOD_LEAF_ROWS))
    small, good = [(1, 1, False), (1, 2, False)], [(1, 2, True), (2, 2, True)]
    assert seen == [*small, *good, (4, 1, True), (4, 2, True)]


def test_as_many_landmarks_as_fit():
    size = replace(SIZE, n_rows=2000)
    found = [plan_landmarks(size, QUALITY, budget, 5000) for budget in ("1GB", "30MB", "12MB")]
    assert [plan.n_landmarks for plan in found] == [1000, 315, 132]  # three quarters each time
    assert all(plan.bytes_needed <= plan.budget for plan in found)
