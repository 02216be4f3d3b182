"""Members of an ensemble: which kernels are tried on which views."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.ridge import Dual
from kernel_learn.ensemble.outcomes.base import OutcomeMap
from kernel_learn.kernels import (
    Additive,
    ArcCosine,
    Combination,
    Exponential,
    Gaussian,
    Hamming,
    Kernel,
    Laplacian,
    Linear,
    PairwiseAnova,
    Polynomial,
    SharedStatistics,
)
from kernel_learn.kernels.categorical import hamming
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.rules import MEDIAN_ROWS
from kernel_learn.kernels.shared import evaluate_shared, pair_median
from kernel_learn.rows.access import take_rows

Item = TypeVar("Item")
Loss = Literal["ridge", "hinge", "combined", "likelihood"]
WIDE_FAMILIES = ("rbf", "exp", "lap", "ham")  # those that have a width
SCALED = " scaled"  # the end of the name of a view whose columns carry learned scales
# Of more rows no distances are kept for the next kernel: a table of 5000 rows is 200 MB, and
# to work it out again takes less time than the factorisation that follows.
SHARED_ROWS = 2000
NUMBER_WEIGHT = 1.5  # of a rank difference beside a category that differs


@dataclass(frozen=True)
class Candidate:
    """What is tried: a kernel family of some width on a view, with or without learned scales.

    ``kernel`` and ``scales`` are what these become on rows: candidates are compared without them.
    """

    view: str
    family: str
    width: float = 0.0
    learned: bool = False
    loss: Loss = "ridge"
    kernel: Kernel | None = field(default=None, compare=False, repr=False)
    scales: Array | None = field(default=None, compare=False, repr=False)  # (d,) of the columns

    @property
    def space(self) -> str:
        """The view with or without scales: candidates of one space share their distances."""
        return self.view + SCALED if self.learned else self.view

    def on_rows(self, kernel: Kernel, scales: Array | None = None) -> "Candidate":
        """The same with its width as a number, and with the scales of its columns."""
        return replace(self, kernel=kernel, scales=scales)

    def values(self, S: SharedStatistics) -> Array:
        """The kernel's values on rows."""
        assert self.kernel is not None, "a candidate has a kernel once it is on rows"
        return evaluate_shared(self.kernel, S)

    def __str__(self) -> str:
        width = f"{self.width:g}" if self.width else ""
        return f"{self.view}{' scaled' if self.learned else ''}: {self.family}{width}" + (
            "" if self.loss == "ridge" else f" ({self.loss})"
        )


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """How a candidate does at its best regulariser on held-out rows, and its models of all rows."""

    candidate: Candidate  # on rows: with its kernel and scales
    reg: float
    loss: float
    held: Array  # (n, k) predictions of rows left out
    models: tuple[tuple[Dual, ...], ...] = ()  # per tree and leaf; without trees there is one leaf
    maps: tuple[OutcomeMap, ...] = ()  # from scores to predictions, per tree
    lam: float = 0.0  # reg in the kernel's own unit, where leaves share it
    regs: Array | None = None  # of several targets, of which reg is the geometric mean
    column_regs: Array | None = None  # (c,) of every column of the scores, where each has its own
    # (n, k) of classes, held out, rows of mean zero; of several trees their sum, as of held
    log_odds: Array = field(default_factory=lambda: np.empty((0, 0)))
    crossed: Array | None = None  # those at regularisers that other folds chose, None: the same

    @property
    def kernel(self) -> Kernel:
        assert self.candidate.kernel is not None
        return self.candidate.kernel

    @property
    def scales(self) -> Array | None:
        return self.candidate.scales


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Items of one key side by side, keys in the order in which they come."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def candidates(
    view: str, kernels: str, *, learned: bool = False, loss: Loss = "ridge"
) -> list[Candidate]:
    """Candidates from a line such as "rbf1 rbf3 lin": families, each with its width."""
    found = []
    for word in kernels.split():
        family = word.rstrip("0123456789.")
        found.append(Candidate(view, family, float(word[len(family) :] or 0), learned, loss))
    return found


def narrower(candidate: Candidate) -> Candidate:
    """The same with a third of the width: with more rows narrower kernels pay."""
    return replace(candidate, width=candidate.width / 3, kernel=None)


@dataclass
class ViewRows:
    """The training rows in one view, with the statistics that its kernels share."""

    rows: Rows  # (n, d)
    weight: Array  # (n,)
    categorical: tuple[int, ...] = ()
    _units: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.statistics = SharedStatistics(self.rows, None, self.categorical)
        self.is_large = self.rows.shape[0] > SHARED_ROWS

    def unit(self, name: str) -> float:
        """The median of a distance over all pairs, or the mean squared length ("dot")."""
        if name not in self._units:
            S = self._first_rows if self.is_large else self.statistics
            if name == "dot":
                value = float(np.average(self.statistics.x2, weights=self.weight)) or 1.0
            elif name == "hamming":
                value = pair_median(hamming(S, NUMBER_WEIGHT), self.weight)
            else:
                value = pair_median(S[name], self.weight)
            self._units[name] = value
        return self._units[name]

    def kernel(self, candidate: Candidate) -> Kernel:
        """The candidate's kernel with its width as a number."""
        return FAMILIES[candidate.family](self, candidate.width)

    @cached_property
    def _first_rows(self) -> SharedStatistics:
        """Statistics of the rows that medians are taken over."""
        rows = take_rows(self.rows, slice(0, MEDIAN_ROWS))
        return SharedStatistics(rows, None, self.categorical)

    def gram(self, kernel: Kernel) -> Array:
        """The kernel's values, to be overwritten by whoever asks."""
        if self.is_large:
            return kernel(to_double(self.rows))
        return evaluate_shared(kernel, self.statistics)

    def grams(self, group: Sequence[Candidate]) -> Iterator[tuple[Candidate, Array]]:
        """Each candidate on these rows with its kernel's values, no kernel evaluated twice."""
        for same in grouped(group, lambda c: (c.family, c.width)):
            kernel = self.kernel(same[0])
            K = self.gram(kernel)
            for candidate in same[:-1]:
                yield candidate.on_rows(kernel), K.copy()
            yield same[-1].on_rows(kernel), K
            del K  # before there is another

    def cross(self, rows: Rows) -> SharedStatistics:
        """Statistics of new rows with these."""
        return SharedStatistics(rows, self.rows, self.categorical)


def _codes(view: ViewRows) -> list[int] | None:
    return list(view.categorical) or None


FAMILIES: dict[str, Callable[[ViewRows, float], Kernel]] = {
    "rbf": lambda v, s: Gaussian(1 / (s * v.unit("sqeuclidean"))),
    "exp": lambda v, s: Exponential(1 / (s * float(np.sqrt(v.unit("sqeuclidean"))))),
    "lap": lambda v, s: Laplacian(1 / (s * v.unit("manhattan"))),
    "lin": lambda v, s: Linear(),
    "poly": lambda v, s: Polynomial(int(s), 1 / v.unit("dot"), 1.0),
    "arc": lambda v, s: ArcCosine(0.1 * v.unit("dot")),
    "add": lambda v, s: Additive(_codes(v)),
    "anova": lambda v, s: PairwiseAnova(_codes(v)),
    "linlap": lambda v, s: Combination(
        [Linear(), Laplacian(1 / (s * v.unit("manhattan")))], np.array([1 / v.unit("dot"), 1.0])
    ),
    "pairs": lambda v, s: Combination([Additive(_codes(v)), PairwiseAnova(_codes(v))], np.ones(2)),
    "ham": lambda v, s: Hamming(1 / (s * v.unit("hamming")), list(v.categorical), NUMBER_WEIGHT),
}
