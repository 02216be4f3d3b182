"""How much is tried: the members of each quality, and what is carried out for so many rows."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

from kernel_learn.ensemble.candidates import Candidate, Loss, candidates
from kernel_learn.ensemble.cross_validation import REGS
from kernel_learn.representations.plan import Plan, format_bytes, parse_memory
from kernel_learn.warn import warn_user

PLAIN = {
    "fast": {
        "z": "rbf1 rbf3 rbf10 lap1 lap3 lin",
        "q": "rbf3 lap1 lap3 lin",
        "u": "anova",
    },
    "balanced": {
        "z": "rbf1 rbf3 rbf10 lap1 lap3 lin poly3 arc",
        "q": "rbf1 rbf3 exp1 lap1 lap3 lin",
        "u": "anova add",
        "c": "rbf1 rbf3 lin",
    },
}
LEARNED: dict[str, dict[str, str]] = {
    "fast": {},
    "balanced": {"z": "rbf1 exp1 lap1 lap3", "q": "rbf1 exp1 lap1 lap3"},
}
# For tables that follow rules: on 18 sets, in splits of training rows, the squared hinge lowered
# the log loss by 4 % at 8 % more time (by half on balance-scale); one-vs-one ridge did not pay.
MACHINES: dict[str, dict[Loss, str]] = {
    "fast": {},
    "balanced": {"hinge": "arc rbf10"},
}
MOST_MACHINE_CLASSES = 12
# Exact up to so many distinct rows: a Cholesky factorisation and inverse of 5000 rows
# take about 3 s; above, local exact leaves are as good and cheaper.
EXACT_ROWS = 5000
LEAF_ROWS = 2000
NARROW_ABOVE = 2000  # rows; above, narrower widths are tried on NARROW_ROWS of them
NARROW_ROWS = 1500
# Matrices of n x n that an exact fit holds at its peak: dot products, two distances, the kernel,
# its factor and inverse, and what a formula needs on the way; traced from 300 to 2500 rows. A
# fit in a leaf holds fewer statistics.
EXACT_MATRICES, LEAF_MATRICES = 8.5, 6.0
# Copies of the rows beside one per view: as given, distinct and in a part; scaled and its gradient.
ROW_COPIES, LEARNED_ROW_COPIES = 3, 5
LEAST_ROWS = 50  # no fit is cut down to fewer rows for want of memory


@dataclass(frozen=True)
class Quality:
    """What a quality stands for."""

    screen: int  # rows on which all candidates are tried, if there are more
    keep: int  # candidates that are then fitted to all rows
    leaf_members: int  # members that are fitted in leaves
    trees: int  # of leaves


# A third quality (all candidates on 1000 rows, three divisions into parts) took three times as
# long and was no better in splits of the training rows of 21 sets (error -0.4 +- 1.3 %).
QUALITIES = {
    "fast": Quality(400, 4, 2, 1),
    "balanced": Quality(400, 8, 4, 4),
}


@dataclass(frozen=True)
class ClassifierPlan(Plan):
    """What a fit carries out, decided before it starts; prints itself.

    With a budget between ``bytes_least`` and what exact fits take, leaves are
    smaller, and a warning says so: that is another model.
    """

    n_given: int = 0  # rows before equal ones were merged
    narrow_rows: int = 0  # rows on which narrower widths are tried, if there are many
    trees: int = 1  # of leaves
    tried_per_member: int = 2  # kernels that are fitted to the first tree for one that goes on
    views: int | None = None  # that the kernels in leaves may be on, None for any number
    few_rows: int = 0  # rows that stand for all where not all are in memory
    disk_bytes: int = 0  # what the rows take on the disk, 0 where they are in memory

    @property
    def screen_rows(self) -> int:
        """Rows on which candidates are tried; n_rows if all."""
        return self.pool_rows

    @property
    def leaf_rows(self) -> int:
        """Rows of an exact fit at most; n_rows if there is one."""
        return self.block_rows

    @property
    def exact(self) -> bool:
        return self.representation == "gram"

    def __str__(self) -> str:
        rows = f"{self.n_rows} distinct rows of {self.n_given}"
        screen = "all of them" if self.screen_rows >= self.n_rows else f"{self.screen_rows} rows"
        refit = (
            "one exact fit per member"
            if self.exact
            else f"exact fits in leaves of at most {self.leaf_rows} rows"
        )
        if self.representation == "landmarks":
            refit = (
                f"members on {self.n_landmarks} landmarks by moments of all rows, judged on "
                f"{self.few_rows} rows"
            )
        if self.disk_bytes:
            many = "tree" if self.trees == 1 else "trees"
            refit += (
                f", {self.trees} {many} filled from {format_bytes(self.disk_bytes)} on the disk, "
                f"judged on {self.few_rows} rows"
            )
        need, budget = format_bytes(self.bytes_needed), format_bytes(self.budget)
        return (
            f"{rows}: candidates tried on {screen}, {refit}; {need} of a budget of {budget} "
            f"({self.reason})"
        )


@dataclass(frozen=True)
class ClassifierSize:
    """What a plan needs to know of the rows and of what is tried on them."""

    n_given: int
    n_rows: int  # distinct rows
    row_bytes: float  # of a row of the widest view, sources together
    n_columns: int  # of it; gradients are dense
    n_classes: int
    views: int
    learned: int  # candidates on scaled columns
    candidates: int
    n_jobs: int = 1

    def held(self, screen: int, keep: int) -> float:
        """Bytes that grow with the rows: keys and labels, views, scores and probabilities."""
        n, k = self.n_rows, self.n_classes
        scaled = LEARNED_ROW_COPIES * (self.learned > 0)
        rows = (ROW_COPIES + self.views + scaled) * n * self.row_bytes
        rows += 16 * screen * self.n_columns * (self.learned > 0)
        refitted = keep if screen < n else self.candidates
        tried = (len(REGS) * self.learned + 2 * self.candidates) * screen
        return 64 * self.n_given + rows + 8 * k * max(tried, 2 * refitted * n)

    def fits(self, screen: int, narrow: int, leaf: int, exact: bool) -> float:
        """Bytes of the largest exact fit."""
        matrices = EXACT_MATRICES if exact else LEAF_MATRICES
        largest = max(EXACT_MATRICES * max(screen, narrow) ** 2, matrices * leaf**2)
        return 8.0 * self.n_jobs * largest


class TooLargeError(ValueError):
    """A fit that does not fit into memory."""


def plan_classifier(
    size: ClassifierSize, quality: Quality, memory_budget: Any, *, as_it_is: bool = False
) -> ClassifierPlan:
    """Screening above 1.25 times the screen, leaves above EXACT_ROWS or what memory allows.

    Refuses, before anything is allocated, what does not fit; ``as_it_is`` also what would only
    fit with smaller leaves.
    """
    budget, n = parse_memory(memory_budget), size.n_rows
    least = _plan(size, quality, budget, LEAST_ROWS).bytes_needed
    if least > budget:
        raise TooLargeError(
            f"A fit on {n} rows needs {format_bytes(least)} at the least, and the memory budget "
            f"is {format_bytes(budget)}. Raise memory_budget, give fewer rows or columns, or pass "
            "a source of blocks, such as Blocks([(X, y)]), whose rows stay on the disk."
        )
    free = chosen = _plan(size, quality, budget, n)
    if as_it_is and free.bytes_needed > budget:
        raise TooLargeError(f"{format_bytes(free.bytes_needed)} of {format_bytes(budget)}.")
    if free.bytes_needed > budget:
        fitting = bisect_right(
            range(LEAST_ROWS, n), budget, key=lambda m: _plan(size, quality, budget, m).bytes_needed
        )
        chosen = _plan(size, quality, budget, LEAST_ROWS + fitting - 1)
        warn_user(
            f"Fits of {free.leaf_rows} rows would take {format_bytes(free.bytes_needed)}, and the "
            f"memory budget is {format_bytes(budget)}: at most {chosen.leaf_rows} rows are fitted "
            "at a time, which gives another model. Raise memory_budget."
        )
        chosen = replace(chosen, reason="what the memory budget allows")
    return replace(chosen, bytes_least=least)


def _plan(size: ClassifierSize, quality: Quality, budget: int, most: int) -> ClassifierPlan:
    """The plan whose exact fits have at most so many rows."""
    n = size.n_rows
    screen = min(n if n <= 1.25 * quality.screen else quality.screen, most)
    narrow = min(NARROW_ROWS, most, n)
    exact = n <= min(EXACT_ROWS, most)
    leaf = n if exact else min(LEAF_ROWS, most)
    used = narrow if n > NARROW_ABOVE or not exact else 0
    need = size.held(screen, quality.keep) + size.fits(screen, used, leaf, exact)
    return ClassifierPlan(
        representation="gram" if exact else "leaves",
        n_rows=n,
        n_landmarks=leaf,
        block_rows=leaf,
        pool_rows=screen,
        bytes_needed=int(need),
        budget=budget,
        reason="exact" if exact else "too many rows for one exact fit",
        n_given=size.n_given,
        narrow_rows=narrow,
        trees=quality.trees,
    )


def bank(
    quality: str,
    *,
    numbers: bool = True,
    categories: bool = False,
    is_sparse: bool = False,
    n_classes: int = 2,
    prefix: str = "",
) -> list[Candidate]:
    """The candidates of a quality on the views that a table has."""
    plain, learned = dict(PLAIN[quality]), dict(LEARNED[quality])
    if is_sparse:  # ranks do not keep zero zero
        plain.pop("u", None)
    if not numbers:  # all views but codes and blocks of ones are the same
        for name in ("q", "c"):
            plain.pop(name, None)
            learned.pop(name, None)
    if categories:
        plain["u"] = plain["u"] + " ham0.3"
    found: list[Candidate] = []
    for view, kernels in plain.items():
        found += candidates(prefix + view, kernels)
    for loss, kernels in MACHINES[quality].items():
        if n_classes <= MOST_MACHINE_CLASSES:
            found += candidates(f"{prefix}z", kernels, loss=loss)
            if categories:
                found += candidates(f"{prefix}u", "ham0.3 anova", loss=loss)
    for view, kernels in learned.items():
        found += candidates(prefix + view, kernels, learned=True)
    return found
