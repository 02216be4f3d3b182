"""What a fit of an ensemble carries out, decided before it starts, and what of it is in memory."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

import numpy as np

from kernel_learn.arrays import MemoryBudget
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import RIDGE_REGS
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import SHARED_ROWS
from kernel_learn.ensemble.outcomes.base import AnyTargets
from kernel_learn.ensemble.quality import Quality
from kernel_learn.representations.plan import format_bytes, parse_memory
from kernel_learn.representations.summary import CAPACITY
from kernel_learn.streams.blocks import READ_ROWS
from kernel_learn.warn import warn_user

# Exact up to so many distinct rows: a Cholesky factorisation and the inverse of its factor of 5000
# rows take about 2 s; above, local exact leaves are as good and cheaper.
EXACT_ROWS = 5000
LEAF_ROWS = 2000
# Above so many rows narrower widths are tried, on half of them and on NARROW_ROWS at most: on as
# many from 2000 rows on, one row more made 1.8 times the work.
NARROW_ABOVE, NARROW_ROWS = 1000, 1500
SCALES_AGAIN_ABOVE = 2000  # rows of numbers; above, scales are learned once more
# Fits of all rows at three regularisers up to so many; above, the lightest have one, so that the
# factorisations times the rows stay what they are and time grows as the square of the rows. One
# for all from 2000 rows on had 1.006 of the log loss (10 inner splits, errors .995).
THREE_REGS_UP_TO = 2000
# Matrices of n x n that an exact fit holds at its peak: dot products, two distances, the kernel,
# its factor and inverse, and what a formula needs on the way; traced from 300 to 2000 rows. A
# fit in a leaf holds fewer statistics, and so does one of numbers beyond the screened rows: their
# kernels are on scaled columns, which share none (4.2 matrices of 800 to 1800 rows). Of more than
# SHARED_ROWS rows no statistics are kept, and the factor takes the kernel's place (a squared
# hinge holds two more).
EXACT_MATRICES, LEAF_MATRICES, LARGE_MATRICES = 8.5, 6.0, 4.0
# Copies of the rows beside one per view: as given, distinct and in a fold; scaled and its gradient;
# sorted columns and their ranks.
ROW_COPIES, LEARNED_ROW_COPIES, RANK_COPIES = 3, 5, 2
SMEARING_BYTES = 2048  # of the held-out residuals of a member and target
LEAST_ROWS = 50  # no fit is cut down to fewer rows for want of memory
# Rows that stand for all of them: views are fitted to these, trees grown and members validated
# on them. Copies of them while views are fitted (sorting), and those that views keep.
SUBSAMPLE_SHARE, SUBSAMPLE_COPIES, SUBSAMPLE_KEPT = 8, 14, 4
# Bytes of a row that is not there: its key, label, weight, position, and these sorted; its fold.
ROW_BYTES = 96
# Trees become fewer before leaves become smaller than this. What is known of both is of fits in
# memory: leaves of 1000 rows 16.2 %, of 2000 15.7 % error (covtype, 20,000 rows); one tree 10.2 %,
# four 9.6 % (phoneme, 4000 rows).
GOOD_LEAF_ROWS = 1000
FEWEST_VIEWS = (2, 1)  # that the kernels in leaves are on, if memory is short one
LANDMARKS = 1000
LEAF_COPIES = 8  # of the rows of a leaf, in two views, scaled, and for distances

# An assessment repeats the whole fit without each fold. Over 453 draws of 21 kinds of tables (24 to
# 150 rows) 34.2 % of new rows were wrong, by five folds 33.1 %, by ten 33.2 and by leave-one-out
# 29.8; five folds are off by 8.3 % (root mean square), ten by 8.0, five folds twice by 7.3. Five
# take 4.6 times the time of the fit, the others twice that. Of more than MOST_IN_FIVE distinct rows
# three, which take twice the time; fits of less than two thirds of the rows say little of one of
# all. Of more than MOST_NESTED those rows judge on which no kernel was chosen, and so they do of
# numbers above MOST_IN_FIVE.
FOLDS, MOST_IN_FIVE = 5, 500
FEWEST_FOLDS, MOST_NESTED = 3, 1000
# Where a quarter of the rows, or more, are of classes of fewer than FEW_PER_CLASS, a third of the
# rows is too much to leave out (100 classes of ten rows: 9.6 % wrong of three folds, 7.4 of five,
# 6.8 of new rows), and of more than MOST_NESTED rows it shows that held-out scores of all others
# were told a row's label: BLOCKS folds are left out of these scores and of what is fitted to them.
# So it does of more than MOST_CLASSES classes, whatever their size (by chance, eight draws: of 15
# classes 90.9 % wrong and 93.3 of new rows, of 20 91.1 and 94.9, with blocks 94.7; of 10 and 12 in
# line with new rows).
FEW_PER_CLASS, MOST_CLASSES, BLOCKS = 30, 10, 10
TRIED_PER_CLASS = 8  # rows at the least, or those of fewer classes are tried

Form = Literal["exact", "leaves", "landmarks"]


@dataclass(frozen=True)
class EnsemblePlan:
    """What a fit carries out, decided before it starts; prints itself.

    With a budget between ``bytes_least`` and what exact fits take, leaves are
    smaller, and a warning says so: that is another model.
    """

    representation: Form  # how members are fitted to all rows
    n_rows: int  # distinct ones
    n_given: int  # before equal ones were merged
    screen_rows: int  # on which candidates are tried; n_rows if all
    narrow_rows: int  # on which narrower widths are tried, above NARROW_ABOVE
    bytes_needed: int
    budget: int
    reason: str
    bytes_least: int = 0
    leaf_rows: int = 0  # of one exact fit at most: n_rows if there is one leaf, 0 on landmarks
    trees: int = 1
    tried_per_member: int = 2  # kernels that are fitted to the first tree for one that goes on
    most_views: int | None = None  # that the kernels in leaves may be on, None for any number
    n_landmarks: int | None = None  # None where there are none
    subsample_rows: int = 0  # that stand for all where not all are in memory
    block_rows: int = 0  # read at a time, 0 where rows are at hand
    disk_bytes: int = 0  # what the rows take on the disk, 0 where they are not there
    folds: int = 0  # without which the fit is repeated to assess it, 0: it is not
    blocks: int = 0  # folds without which scores are worked out for that, 0: single rows
    screen_classes: int = 0  # whose rows candidates are tried on, 0: all

    @property
    def exact(self) -> bool:
        return self.representation == "exact"

    def __str__(self) -> str:
        rows = f"{self.n_rows} distinct rows of {self.n_given}"
        screen = "all of them" if self.screen_rows >= self.n_rows else f"{self.screen_rows} rows"
        screen += f" of {self.screen_classes} classes" if self.screen_classes else ""
        refit = (
            "one exact fit per member"
            if self.exact
            else f"exact fits in leaves of at most {self.leaf_rows} rows"
        )
        if self.representation == "landmarks":
            refit = (
                f"members on {self.n_landmarks} landmarks by moments of all rows, validated on "
                f"{self.subsample_rows} rows"
            )
        if self.disk_bytes:
            many = "tree" if self.trees == 1 else "trees"
            refit += (
                f", {self.trees} {many} filled from {format_bytes(self.disk_bytes)} on the disk, "
                f"validated on {self.subsample_rows} rows"
            )
        need, budget = format_bytes(self.bytes_needed), format_bytes(self.budget)
        return (
            f"{rows}: candidates tried on {screen}, {refit}; {need} of a budget of {budget} "
            f"({self.reason})"
        )


@dataclass(frozen=True)
class EnsembleSize:
    """What a plan needs to know of the rows and of what is tried on them."""

    n_given: int
    n_rows: int  # distinct rows
    row_bytes: float  # of a row of the widest view, sources together
    n_columns: int  # of it; gradients are dense
    n_outputs: int  # columns of scores: classes, or transforms of targets
    views: int
    learned: int  # candidates on scaled columns whose scores are held at a time
    candidates: int
    n_jobs: int = 1
    folds: int = 0  # without which the fit is to be repeated
    blocks: int = 0  # without which scores are to be worked out
    n_classes: int = 0  # 0 where there are none, or several per row
    shares_statistics: bool = True  # kernels of fits beyond the screened rows
    has_ranks: bool = True  # views hold sorted columns and their ranks
    smears: bool = False  # members hold held-out residuals

    @property
    def folds_held(self) -> float:
        """Bytes of the fits without each fold, which are kept: rows in views, and coefficients.

        About half of the candidates predict.
        """
        rows = self.n_rows * max(self.folds - 1, 0)  # of all fits together
        views = self.views + RANK_COPIES * self.has_ranks
        maps = self.candidates * self.n_outputs
        kept = rows * (views * self.row_bytes + 4 * maps)
        return kept + self.folds * SMEARING_BYTES * maps * self.smears

    def held(self, screen: int, keep: int) -> float:
        """Bytes that grow with the rows: keys and labels, views, scores and probabilities."""
        n, k = self.n_rows, self.n_outputs
        scaled = LEARNED_ROW_COPIES * (self.learned > 0)
        ranks = RANK_COPIES * self.has_ranks
        rows = (ROW_COPIES + self.views + ranks + scaled) * n * self.row_bytes
        rows += 16 * screen * self.n_columns * (self.learned > 0)
        refitted = keep if screen < n else self.candidates
        tried = (len(RIDGE_REGS) * max(self.learned, 1) + 2 * self.candidates) * screen
        return 64 * self.n_given + rows + 8 * k * max(tried, 2 * refitted * n)

    def fits(self, screen: int, narrow: int, leaf: int, exact: bool) -> float:
        """Bytes of the largest exact fit."""
        matrices = EXACT_MATRICES if exact and self.shares_statistics else LEAF_MATRICES
        own = matrices * min(leaf, SHARED_ROWS) ** 2 if exact else matrices * leaf**2
        if exact and leaf > SHARED_ROWS:
            own = max(own, LARGE_MATRICES * leaf**2)
        narrower = matrices if exact else EXACT_MATRICES
        largest = max(EXACT_MATRICES * screen**2, narrower * narrow**2, own)
        return 8.0 * self.n_jobs * largest

    def plan(
        self, form: Form, screen: int, narrow: int, need: float, budget: int, reason: str
    ) -> EnsemblePlan:
        """What all plans of these rows say."""
        n = self.n_rows
        tried = classes_to_try(screen, self.n_classes)
        some = tried if screen < n and tried < self.n_classes else 0
        plan = EnsemblePlan(form, n, self.n_given, screen, narrow, int(need), budget, reason)
        return replace(plan, screen_classes=some)


class TooLargeError(ValueError):
    """A fit that does not fit into memory."""


def plan_ensemble(
    size: EnsembleSize, quality: Quality, memory_budget: MemoryBudget, *, as_it_is: bool = False
) -> EnsemblePlan:
    """Screening above 1.25 times the screen, leaves above EXACT_ROWS or what memory allows.

    Refuses, before anything is allocated, what does not fit; ``as_it_is`` also what would only
    fit with smaller leaves.
    """
    budget, n = parse_memory(memory_budget), size.n_rows
    plan = partial(_plan_in_memory, size, quality, budget)
    least = plan(LEAST_ROWS).bytes_needed
    if least > budget:
        raise TooLargeError(
            f"A fit on {n} rows needs {format_bytes(least)} at the least, and the memory budget "
            f"is {format_bytes(budget)}. Raise memory_budget, give fewer rows or columns, or pass "
            "a source of blocks, such as Blocks([(X, y)]), whose rows stay on the disk."
        )
    free = chosen = plan(n)
    if as_it_is and free.bytes_needed > budget:
        raise TooLargeError(f"{format_bytes(free.bytes_needed)} of {format_bytes(budget)}.")
    if free.bytes_needed > budget:
        chosen = plan(_largest(plan, range(LEAST_ROWS, n), budget))
        warn_user(
            f"Fits of {free.leaf_rows} rows would take {format_bytes(free.bytes_needed)}, and the "
            f"memory budget is {format_bytes(budget)}: at most {chosen.leaf_rows} rows are fitted "
            "at a time, which gives another model. Raise memory_budget."
        )
        chosen = replace(chosen, reason="what the memory budget allows")
    need = int(chosen.bytes_needed + size.folds_held)
    if chosen.exact and need <= budget:
        chosen = replace(chosen, bytes_needed=need, folds=size.folds, blocks=size.blocks)
    return replace(chosen, bytes_least=least)


def with_three_regs(n_members: int, n_rows: int) -> int:
    """How many members, the heaviest, are fitted to all rows at three regularisers, not at one."""
    return int(n_members * np.clip((3 * THREE_REGS_UP_TO / n_rows - 1) / 2, 0.0, 1.0))


def folds_to_assess(targets: AnyTargets, *, hurried: bool = False) -> tuple[int, int]:
    """Without how many folds the fit to these distinct rows is to be repeated, and without how
    many its scores are to be worked out: in a hurry both, as there may be no time to repeat it.
    """
    few, n = few_per_class(targets), targets.n
    if n > (MOST_IN_FIVE if isinstance(targets, NumberTargets) else MOST_NESTED):
        many = isinstance(targets, Targets) and targets.n_classes > MOST_CLASSES
        return 0, BLOCKS if few or many else 0
    return FOLDS if few or n <= MOST_IN_FIVE else FEWEST_FOLDS, BLOCKS if few and hurried else 0


def classes_to_try(n_rows: int, n_classes: int) -> int:
    """How many classes so many rows can stand for, a handful of rows each."""
    return min(n_classes, max(2, n_rows // TRIED_PER_CLASS))


def few_per_class(targets: AnyTargets) -> bool:
    """Whether many rows are of classes of few rows."""
    if not isinstance(targets, Targets):
        return False
    sizes = np.bincount(targets.majority)
    return bool(sizes[sizes < FEW_PER_CLASS].sum() > targets.n / 4)


def _largest(plan: Callable[[int], EnsemblePlan], rows: range, budget: int) -> int:
    """The largest number of rows of one exact fit with which a plan keeps to the budget."""
    return rows.start + bisect_right(rows, budget, key=lambda m: plan(m).bytes_needed) - 1


def _plan_in_memory(size: EnsembleSize, quality: Quality, budget: int, most: int) -> EnsemblePlan:
    """The plan whose exact fits have at most so many rows."""
    n = size.n_rows
    screen = min(n if n <= 1.25 * quality.screen else quality.screen, most)
    narrow = min(NARROW_ROWS, most, max(n // 2, 1))
    exact = n <= min(EXACT_ROWS, most)
    leaf = n if exact else min(LEAF_ROWS, most)
    used = narrow if n > NARROW_ABOVE or not exact else 0
    need = size.held(screen, quality.keep) + size.fits(screen, used, leaf, exact)
    if exact:
        return replace(size.plan("exact", screen, narrow, need, budget, "exact"), leaf_rows=leaf)
    why = "too many rows for one exact fit"
    plan = size.plan("leaves", screen, narrow, need, budget, why)
    return replace(plan, leaf_rows=leaf, trees=quality.trees)


def plan_spilled(
    size: EnsembleSize, quality: Quality, memory_budget: MemoryBudget, disk_bytes: int
) -> EnsemblePlan:
    """Leaves filled from the disk: as many trees as fit with leaves of a good size.

    The model holds all distinct rows (in float32) and coefficients for each tree. Refuses what
    does not fit with one tree of the smallest leaves.
    """
    budget = parse_memory(memory_budget)
    options = [
        (trees, views)
        for trees in dict.fromkeys([quality.trees, max(1, quality.trees // 2), 1])
        for views in FEWEST_VIEWS
    ]
    least = _plan_on_disk(size, quality, budget, disk_bytes, 1, 1, LEAST_ROWS)
    if least.bytes_needed > budget:
        raise TooLargeError(
            f"A fit on {size.n_rows} rows that stay on the disk needs "
            f"{format_bytes(least.bytes_needed)} at the least, and the memory budget is "
            f"{format_bytes(budget)}. Raise memory_budget, or give fewer rows or columns."
        )
    leaves = range(LEAST_ROWS, LEAF_ROWS + 1)
    for least_leaf, (trees, views) in product((GOOD_LEAF_ROWS, LEAST_ROWS), options):
        plan = partial(_plan_on_disk, size, quality, budget, disk_bytes, trees, views)
        largest = _largest(plan, leaves, budget)
        if largest >= least_leaf:
            return replace(plan(largest), bytes_least=least.bytes_needed)
    return replace(least, bytes_least=least.bytes_needed)


def plan_landmarks(
    size: EnsembleSize,  # of the rows that stand for all
    quality: Quality,
    memory_budget: MemoryBudget,
    n_distinct: int,  # about
) -> EnsemblePlan:
    """Moments of all rows on as many landmarks as fit, up to ``LANDMARKS``."""
    budget, k, n = parse_memory(memory_budget), size.n_outputs, size.n_rows
    screen, narrow = min(quality.screen, n), min(NARROW_ROWS, max(n // 2, 1))
    held = (SUBSAMPLE_KEPT + size.views + 2) * n * size.row_bytes + 8 * k * n * quality.leaf_members
    while True:
        choosing = _choosing(size, screen, narrow)
        if choosing + held <= budget or narrow <= LEAST_ROWS:
            break
        narrow, screen = narrow * 3 // 4, min(screen, narrow * 3 // 4)
    M = min(LANDMARKS, n)
    while True:
        square = 8.0 * (M + k) ** 2
        block = max(LEAST_ROWS, int(min(READ_ROWS, budget / SUBSAMPLE_SHARE / (24 * (M + k)))))
        moments = (2 * quality.leaf_members + 6) * square + 24 * M * max(block, n)
        need = held + max(
            choosing, moments, (SUBSAMPLE_COPIES - SUBSAMPLE_KEPT) * n * size.row_bytes
        )
        if need <= budget or M <= LEAST_ROWS:
            break
        M = M * 3 // 4
    if need > budget:
        raise TooLargeError(
            f"A fit on {M} landmarks needs {format_bytes(need)}, and the memory budget is "
            f"{format_bytes(budget)}. Raise memory_budget, or give fewer columns."
        )
    plan = size.plan("landmarks", screen, narrow, need, budget, "no room on the disk")
    return replace(plan, n_rows=n_distinct, n_landmarks=M, subsample_rows=n, block_rows=block)


def rows_for_all(row_bytes: float, quality: Quality, memory_budget: MemoryBudget) -> int:
    """How many rows stand for all of them."""
    room = parse_memory(memory_budget) / SUBSAMPLE_SHARE / (SUBSAMPLE_COPIES * max(row_bytes, 1.0))
    return int(min(CAPACITY, max(room, 2 * quality.screen)))


def _choosing(size: EnsembleSize, screen: int, narrow: int) -> float:
    """Bytes while members are chosen: the matrices of some rows, and scores of all candidates."""
    matrices = 8.0 * size.n_jobs * EXACT_MATRICES * max(screen, narrow) ** 2
    scores = len(RIDGE_REGS) * size.learned + 2 * size.candidates
    return matrices + 8 * size.n_outputs * screen * scores


def _plan_on_disk(
    size: EnsembleSize,
    quality: Quality,
    budget: int,
    disk_bytes: int,
    trees: int,
    views: int,
    most: int,
) -> EnsemblePlan:
    """The plan of so many trees and views whose leaves have at most so many rows."""
    n, k = size.n_rows, size.n_outputs
    some = min(n, rows_for_all(size.row_bytes, quality, budget))
    screen, narrow = min(quality.screen, most), min(NARROW_ROWS, most)
    held = ROW_BYTES * size.n_given + 8 * k * n + SUBSAMPLE_KEPT * some * size.row_bytes
    choosing = _choosing(size, screen, narrow)
    model = views * n * size.row_bytes / 2
    model += trees * n * (8 + 8 * k * quality.leaf_members)
    leaf = 8 * LEAF_MATRICES * most**2 + LEAF_COPIES * most * size.row_bytes
    leaf += 8 * k * some * 4 * quality.leaf_members
    need = held + max(
        (SUBSAMPLE_COPIES - SUBSAMPLE_KEPT) * some * size.row_bytes, choosing, model + leaf
    )
    plan = size.plan("leaves", screen, narrow, need, budget, "more rows than memory holds")
    return replace(
        plan,
        leaf_rows=most,
        trees=trees,
        tried_per_member=1 if trees == 1 else 2,
        most_views=views,
        subsample_rows=some,
        disk_bytes=disk_bytes,
    )
