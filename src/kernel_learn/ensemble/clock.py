"""What can still be done in the time that is left."""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kernel_learn.criteria.held_out.ridge import RidgeSolves
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.ensemble.candidates import Candidate

PROBE_ROWS = 600
LEAST_ROWS = 100  # no fit is cut down to fewer
# Refits at three regularisers in units of SMALL_ROWS n^2 + n^3 factorisations, measured at 600,
# 1500 and 3000 rows of 20 columns: plain 1.7, 1.4 and 1.1, on scaled columns 2.7 to 5.4, 1.9 to 3.3
# and 1.1 to 1.4, a hinge of two classes 3.7, 1.9 and 2.5, of more classes one for each.
PLAIN_COST, LEARNED_COST, HINGE_COST = 1.3, 1.6, 6.0
SMALL_ROWS = 1000  # below so many rows it is not the factorisations that take the time


def now() -> float:
    """Seconds on a clock that never goes back."""
    return time.perf_counter()


def cost_units(candidate: Candidate) -> float:
    """What a refit costs in factorisations."""
    if candidate.loss in ("hinge", "combined"):
        return HINGE_COST
    return LEARNED_COST if candidate.learned else PLAIN_COST


@dataclass(frozen=True)
class Clock:
    """Seconds since the start, and seconds per factorisation, measured when first needed."""

    budget: float = np.inf
    start: float = field(default_factory=lambda: now())

    @property
    def left(self) -> float:
        return self.budget - self.spent

    @property
    def spent(self) -> float:
        return now() - self.start

    def before(self, share: float) -> Callable[[], bool]:
        """Whether this share of the budget is still unspent."""
        return lambda: self.budget - self.left < share * self.budget or np.isinf(self.budget)

    @cached_property
    def per_cube(self) -> float:
        """Seconds per n^3 of a factorisation with inverse."""
        targets = Targets(np.eye(2)[np.arange(PROBE_ROWS) % 2])
        K = np.eye(PROBE_ROWS)
        RidgeSolves(K.copy(), targets).held_out(np.ones(1))
        start = now()
        RidgeSolves(K, targets).held_out(np.ones(1))
        return (now() - start) / PROBE_ROWS**3

    def cost(self, candidate: Candidate, n_rows: int) -> float:
        """About how many seconds a refit of this candidate takes."""
        return self.seconds(cost_units(candidate), n_rows)

    def seconds(self, units: float, n_rows: int) -> float:
        """About how many seconds so many factorisations take."""
        return units * self.per_cube * float(n_rows) ** 2 * (n_rows + SMALL_ROWS)

    def affordable(self, candidates: Sequence[Candidate], n_rows: int) -> list[bool]:
        """Which of these, taken in this order, fit into the time that is left."""
        if np.isinf(self.budget):
            return [True] * len(candidates)
        left, found = self.left, []
        for candidate in candidates:
            cost = self.cost(candidate, n_rows)
            found.append(cost <= left)
            left -= cost if found[-1] else 0.0
        return found

    def rows_within(self, seconds: float, units: float, most: int) -> int:
        """The largest n of which so many factorisations take no more than so many seconds."""
        if np.isinf(self.budget):
            return most
        rows = range(min(LEAST_ROWS, most), most + 1)
        fitting = bisect_right(rows, seconds, key=lambda n: self.seconds(units, n))
        return rows[max(fitting - 1, 0)]

    def leaf_rows(self, n_rows: int, n_fits: int, most: int) -> int:
        """Leaves for which n_fits * n_rows * leaf^2 fits into the time that is left."""
        if np.isinf(self.budget):
            return most
        leaf = (max(self.left, 0.0) / (2 * n_fits * n_rows * self.per_cube)) ** 0.5
        return int(np.clip(leaf, min(LEAST_ROWS, most), most))
