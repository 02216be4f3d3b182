"""How well a fit will do: figures by predictions of which nothing was chosen by the judged rows.

Kernels, regularisers and weights of members are chosen by leave-one-out, and the smallest of many
noisy errors is too small: labels by chance on 40 rows looked like 44 % error. Here the whole
procedure, views, screening, members, scales and weights, is carried out without each of five folds
and judged on it, of more than 500 rows without each of three. Of more than 1000, kernels and widths
are chosen on some of the rows: the others judge, by regularisers and weights that are chosen
without the fold of each. In leaves all rows judge in this way. Where classes have few rows there
are five folds up to 1000 rows, and above scores and stacking are without the judged rows too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import stats

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.targets import RowTargets
from kernel_learn.ensemble.fitted import FittedEnsemble
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.ensemble.plan import FEWEST_FOLDS
from kernel_learn.ensemble.problem import Problem
from kernel_learn.ensemble.sample import rows_of_one_group_alone
from kernel_learn.ensemble.spilled_table import SpilledTable
from kernel_learn.rows.table import Table

LEVEL = 0.95
# The rows of a fold share a fit, and fits share rows: over 20 draws of each of these 21 kinds the
# variance of the error was 1.3 times that of independent rows, 2 at the most. Of 1, 1.25, 1.5,
# 1.75, 2 and 2.25 this is the least whose intervals held in 95 % of the draws of each of 7 tables,
# sizes together (1: in 84 to 95 %); docs/results/assessment.md has draws that did not choose it.
VARIANCE_FACTOR = 1.75

Way = Literal["nested", "unseen", "weights", "loo"]
WORDS: dict[Way, str] = {
    "nested": "nested cross-validation",
    "unseen": "cross-validation on rows that chose no kernel",
    "weights": "cross-validation of weights, members chosen by the same rows (optimistic on few)",
    "loo": "leave-one-out",
}
Fit = Callable[[Problem], FittedEnsemble]
Predict = Callable[[Ensemble, Table], Array]


@dataclass(frozen=True, eq=False)
class Fold:
    """An ensemble, and the distinct rows that it has not seen."""

    rows: Array
    ensemble: Ensemble


@dataclass(frozen=True, eq=False)
class Assessment:
    """How predictions of rows by fits without them came about."""

    way: Way
    folds: Sequence[Fold] = ()  # empty unless nested
    hurried: bool = False  # whether time allowed fewer of them than there should be

    @property
    def words(self) -> str:
        """How the figures came about."""
        few = f" of {len(self.folds)} folds, all that time allowed" if self.hurried else ""
        return WORDS[self.way] + few


def assess(
    problem: Problem, fitted: FittedEnsemble, fit: Fit, predict: Predict, *, nested: bool
) -> tuple[Assessment, Array]:
    """Held-out predictions of the rows (n, ...), by the best way that rows and time allow.

    Figures are of all of them, or of ``fitted.unseen`` if the way says so.
    """
    if not nested:
        return Assessment("loo"), fitted.held
    wanted = folds_wanted(problem, fitted)
    n_folds = folds_in_time(problem, wanted)
    if n_folds >= FEWEST_FOLDS:
        problem.say(f"assessing by {n_folds} fits, each without one fold of the rows")
        folds = refit_without(problem, fit, n_folds)
        found = Assessment("nested", folds, hurried=n_folds < wanted)
        return found, predict_folds(problem, folds, predict)
    if fitted.cross_chosen is not None:
        way: Way = "weights" if fitted.unseen is None else "unseen"
        return Assessment(way), fitted.cross_chosen
    return Assessment("loo"), fitted.held


def folds_wanted(problem: Problem, fitted: FittedEnsemble) -> int:
    """Those of the plan; as few as will do where no rows but those that chose kernels could judge.

    So it is where nearly all rows are in a few large groups.
    """
    if not can_refit(problem, fitted):
        return 0
    plan = problem.plan
    all_chose = fitted.unseen is None and plan.screen_rows < plan.n_rows
    return max(plan.folds, FEWEST_FOLDS) if all_chose else plan.folds


def can_refit(problem: Problem, fitted: FittedEnsemble) -> bool:
    """Whether the whole fit can be repeated: rows in memory, members not in leaves."""
    return fitted.plan.exact and not isinstance(problem.table, SpilledTable)


def folds_in_time(problem: Problem, wanted: int) -> int:
    """How many fits such as the one that was made fit into the time that is left."""
    clock = problem.clock
    return wanted if np.isinf(clock.budget) else int(np.clip(clock.left / clock.spent, 0, wanted))


def refit_without(problem: Problem, fit: Fit, n_folds: int) -> tuple[Fold, ...]:
    """The fit of all rows but each fold's; classes spread evenly, groups whole."""
    folds = stratified_folds(problem.targets, n_folds)
    return tuple(
        Fold(outside, fit(of_rows(problem, inside)).ensemble)
        for inside, outside in each_fold(folds)
    )


def of_rows(problem: Problem, rows: Array) -> Problem:
    """The same problem with some of its rows, and nobody told of it."""
    n = len(rows)
    plan = replace(
        problem.plan,
        n_rows=n,
        n_given=n,
        screen_rows=min(n, problem.plan.screen_rows),
        narrow_rows=min(n, problem.plan.narrow_rows),
        leaf_rows=n,
        folds=0,
        blocks=0,
    )
    table, targets = problem.table[rows], rows_of_one_group_alone(problem.targets.take(rows))
    if isinstance(targets, NumberTargets):
        targets = targets.afresh()  # the range of the others' values is not known to it
    return replace(
        problem, table=table, targets=targets, plan=plan, progress=None, say=lambda text: None
    )


def predict_folds(problem: Problem, folds: Sequence[Fold], predict: Predict) -> Array:
    """What each fold's ensemble says of the fold's rows, (n, ...)."""
    parts = [predict(fold.ensemble, problem.table[fold.rows]) for fold in folds]
    found = np.empty((problem.targets.n, *parts[0].shape[1:]))
    for fold, part in zip(folds, parts, strict=True):
        found[fold.rows] = part
    return found


def effective_number(
    targets: RowTargets,
    squared_weight: Array | None = None,  # (n,) of the rows that were merged, None if none were
) -> float:
    """So many rows of equal weight know a mean as well: (sum w)^2 / sum w^2, a group is one row."""
    squares = targets.weight**2 if squared_weight is None else squared_weight.copy()
    for group in targets.groups:
        squares[group] = 0.0
        squares[group[0]] = targets.weight[group].sum() ** 2
    return float(targets.total**2 / squares.sum())


def error_interval(
    error: float,
    n: float,  # rows, see effective_number
) -> tuple[float, float]:
    """The 95 % interval of Clopper and Pearson, with fewer rows for those that share a fit."""
    tail, fewer = 1 - LEVEL, n / VARIANCE_FACTOR
    wrong, right = error * fewer, (1 - error) * fewer
    low = stats.beta.ppf(tail / 2, wrong, right + 1) if wrong > 1e-9 else 0.0
    high = stats.beta.ppf(1 - tail / 2, wrong + 1, right) if right > 1e-9 else 1.0
    return float(low), float(high)
