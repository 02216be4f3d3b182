"""How much is tried: the members of each quality, and what is carried out for so many rows."""

from dataclasses import dataclass
from typing import Any

from kernel_learn.estimators.members import Candidate, Loss, candidates
from kernel_learn.representations.plan import format_bytes, parse_memory

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
# Matrices of n x n that an exact refit holds at its peak: dot products, three distances, the
# kernel and a copy of it, its factor and inverse, and what a formula needs on the way.
EXACT_MATRICES = 10


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
    "balanced": Quality(400, 8, 4, 2),
}


@dataclass(frozen=True)
class ClassifierPlan:
    """What a fit carries out, decided before it starts; prints itself."""

    n_given: int
    n_rows: int  # distinct rows
    screen_rows: int  # rows on which candidates are tried; n_rows if all
    narrow_rows: int  # rows on which narrower widths are tried, if there are many
    leaf_rows: int  # rows of a leaf at most; n_rows if there is one exact fit
    bytes_needed: int
    budget: int

    @property
    def exact(self) -> bool:
        return self.leaf_rows >= self.n_rows

    def __str__(self) -> str:
        rows = f"{self.n_rows} distinct rows of {self.n_given}"
        screen = "all of them" if self.screen_rows >= self.n_rows else f"{self.screen_rows} rows"
        refit = (
            "one exact fit per member"
            if self.exact
            else f"exact fits in leaves of at most {self.leaf_rows} rows"
        )
        need, budget = format_bytes(self.bytes_needed), format_bytes(self.budget)
        return f"{rows}: candidates tried on {screen}, {refit}; {need} of a budget of {budget}"


def plan_classifier(
    n_given: int, n_rows: int, quality: Quality, memory_budget: Any
) -> ClassifierPlan:
    """Screening above 1.25 times the screen, leaves above EXACT_ROWS or what memory allows."""
    budget = parse_memory(memory_budget)
    affordable = int((budget / (8 * EXACT_MATRICES)) ** 0.5)
    if affordable < 50:
        raise ValueError(
            f"memory_budget={memory_budget!r} leaves room for kernels of {affordable} rows. "
            "Give at least 200 kB."
        )
    screen = n_rows if n_rows <= 1.25 * quality.screen else quality.screen
    screen = min(screen, affordable)
    narrow = min(NARROW_ROWS, affordable, n_rows)
    leaf = n_rows if n_rows <= min(EXACT_ROWS, affordable) else min(LEAF_ROWS, affordable)
    largest = max(screen, leaf, narrow if n_rows > NARROW_ABOVE else 0)
    peak = 8 * EXACT_MATRICES * largest**2
    return ClassifierPlan(n_given, n_rows, screen, narrow, leaf, peak, budget)


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
