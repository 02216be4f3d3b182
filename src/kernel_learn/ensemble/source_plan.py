"""What a fit on rows that stay on the disk carries out, and what of it is in memory."""

from bisect import bisect_right
from dataclasses import replace
from typing import Any

from kernel_learn.ensemble.cross_validation import REGS
from kernel_learn.ensemble.quality import (
    EXACT_MATRICES,
    LEAF_MATRICES,
    LEAF_ROWS,
    LEAST_ROWS,
    NARROW_ROWS,
    ClassifierPlan,
    ClassifierSize,
    Quality,
    TooLargeError,
)
from kernel_learn.representations.plan import format_bytes, parse_memory
from kernel_learn.representations.summary import CAPACITY
from kernel_learn.streams.blocks import READ_ROWS

# Rows that stand for all of them: views are fitted to these, trees grown and members judged on
# them. Copies of them while views are fitted (sorting), and those that views keep.
FEW_SHARE, FEW_COPIES, FEW_KEPT = 8, 14, 4
# Bytes of a row that is not there: its key, label, weight, place, and these sorted; its part.
ROW_BYTES = 96
# Trees become fewer before leaves become smaller than this. What is known of both is of fits in
# memory: leaves of 1000 rows 16.2 %, of 2000 15.7 % error (covtype, 20,000 rows); one tree 10.2 %,
# four 9.6 % (phoneme, 4000 rows).
GOOD_LEAF_ROWS = 1000
VIEWS = 2  # that the kernels in leaves are on, if memory is short one
LANDMARKS = 1000
LEAF_COPIES = 8  # of the rows of a leaf, in two views, scaled, and for distances


def plan_spilled(
    size: ClassifierSize, quality: Quality, memory_budget: Any, disk_bytes: int
) -> ClassifierPlan:
    """Leaves filled from the disk: as many trees as fit with leaves of a good size.

    The model holds all distinct rows (in float32) and coefficients for each tree. Refuses what
    does not fit with one tree of the smallest leaves.
    """
    budget = parse_memory(memory_budget)
    options = [
        (trees, views)
        for trees in dict.fromkeys([quality.trees, max(1, quality.trees // 2), 1])
        for views in (VIEWS, 1)
    ]
    least = _plan(size, quality, budget, LEAST_ROWS, 1, 1, disk_bytes)
    if least.bytes_needed > budget:
        raise TooLargeError(
            f"A fit on {size.n_rows} rows that stay on the disk needs "
            f"{format_bytes(least.bytes_needed)} at the least, and the memory budget is "
            f"{format_bytes(budget)}. Raise memory_budget, or give fewer rows or columns."
        )
    chosen = least
    for least_leaf in (GOOD_LEAF_ROWS, LEAST_ROWS):
        for trees, views in options:

            def plan_of(leaf: int, t: int = trees, v: int = views) -> ClassifierPlan:
                return _plan(size, quality, budget, leaf, t, v, disk_bytes)

            leaves = range(LEAST_ROWS, LEAF_ROWS + 1)
            fitting = bisect_right(leaves, budget, key=lambda m: plan_of(m).bytes_needed)
            if LEAST_ROWS + fitting - 1 >= least_leaf:
                chosen = plan_of(LEAST_ROWS + fitting - 1)
                return replace(chosen, bytes_least=least.bytes_needed)
    return replace(chosen, bytes_least=least.bytes_needed)


def plan_landmarks(
    size: ClassifierSize,  # of the rows that stand for all
    quality: Quality,
    memory_budget: Any,
    n_distinct: int,  # about
) -> ClassifierPlan:
    """Moments of all rows on as many landmarks as fit, up to ``LANDMARKS``."""
    budget, k, few = parse_memory(memory_budget), size.n_classes, size.n_rows
    screen, narrow = min(quality.screen, few), min(NARROW_ROWS, few)
    held = (FEW_KEPT + size.views + 2) * few * size.row_bytes + 8 * k * few * quality.leaf_members
    while True:
        choosing = _choosing(size, screen, narrow)
        if choosing + held <= budget or narrow <= LEAST_ROWS:
            break
        narrow, screen = narrow * 3 // 4, min(screen, narrow * 3 // 4)
    M = min(LANDMARKS, few)
    while True:
        square = 8.0 * (M + k) ** 2
        block = max(LEAST_ROWS, int(min(READ_ROWS, budget / FEW_SHARE / (24 * (M + k)))))
        moments = (2 * quality.leaf_members + 6) * square + 24 * M * max(block, few)
        need = held + max(choosing, moments, (FEW_COPIES - FEW_KEPT) * few * size.row_bytes)
        if need <= budget or M <= LEAST_ROWS:
            break
        M = M * 3 // 4
    if need > budget:
        raise TooLargeError(
            f"A fit on {M} landmarks needs {format_bytes(need)}, and the memory budget is "
            f"{format_bytes(budget)}. Raise memory_budget, or give fewer columns."
        )
    return ClassifierPlan(
        representation="landmarks",
        n_rows=n_distinct,
        n_landmarks=M,
        block_rows=block,
        pool_rows=screen,
        bytes_needed=int(need),
        budget=budget,
        reason="no room on the disk",
        n_given=size.n_given,
        narrow_rows=narrow,
        few_rows=few,
    )


def rows_for_all(row_bytes: float, quality: Quality, memory_budget: Any) -> int:
    """How many rows stand for all of them."""
    room = parse_memory(memory_budget) / FEW_SHARE / (FEW_COPIES * max(row_bytes, 1.0))
    return int(min(CAPACITY, max(room, 2 * quality.screen)))


def _choosing(size: ClassifierSize, screen: int, narrow: int) -> float:
    """Bytes while members are chosen: the matrices of some rows, and scores of all candidates."""
    matrices = 8.0 * size.n_jobs * EXACT_MATRICES * max(screen, narrow) ** 2
    scores = len(REGS) * size.learned + 2 * size.candidates
    return matrices + 8 * size.n_classes * screen * scores


def _plan(
    size: ClassifierSize,
    quality: Quality,
    budget: int,
    most: int,
    trees: int,
    views: int,
    disk_bytes: int,
) -> ClassifierPlan:
    n, k = size.n_rows, size.n_classes
    few = min(n, rows_for_all(size.row_bytes, quality, budget))
    screen, narrow = min(quality.screen, most), min(NARROW_ROWS, most)
    held = ROW_BYTES * size.n_given + 8 * k * n + FEW_KEPT * few * size.row_bytes
    choosing = _choosing(size, screen, narrow)
    model = views * n * size.row_bytes / 2
    model += trees * n * (8 + 8 * k * quality.leaf_members)
    leaf = 8 * LEAF_MATRICES * most**2 + LEAF_COPIES * most * size.row_bytes
    leaf += 8 * k * few * 4 * quality.leaf_members
    need = held + max((FEW_COPIES - FEW_KEPT) * few * size.row_bytes, choosing, model + leaf)
    return ClassifierPlan(
        representation="leaves",
        n_rows=n,
        n_landmarks=most,
        block_rows=most,
        pool_rows=screen,
        bytes_needed=int(need),
        budget=budget,
        reason="more rows than memory holds",
        n_given=size.n_given,
        narrow_rows=narrow,
        trees=trees,
        tried_per_member=1 if trees == 1 else 2,
        views=views,
        few_rows=few,
        disk_bytes=disk_bytes,
    )
