"""Methods that predict numbers, on the same splits of a table, with corrected intervals.

Of each split R2 = 1 - sum (y - f)^2 / sum (y - mean of the test rows)^2, RMSE and MAE.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import GroupKFold, KFold

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.columns import Columns
from kernel_learn.tables.comparing import (
    Values,
    check_groups,
    corrected_interval,
    make_unassessed,
    nan_last,
    none_if_nan,
    try_splits,
)
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.number_methods import NUMBERS

MEASURES = {"r2": r2_score, "rmse": root_mean_squared_error, "mae": mean_absolute_error}
METRICS = ("auto", *MEASURES)


@dataclass(frozen=True)
class NumberScore:
    """One method over all splits."""

    method: str
    figures: dict[str, Array]  # r2, rmse, mae: (n_splits,)
    seconds: Array  # (n_splits,) CPU seconds of a fit and its predictions
    share: float  # test rows over training rows
    failure: str = ""

    def mean(self, metric: str) -> float:
        """The mean over the splits."""
        return float(np.mean(self.figures[metric]))


@dataclass(frozen=True)
class NumberLeaderboard:
    """Scores from the best by a metric; failures last."""

    scores: list[NumberScore]
    n_rows: int
    n_folds: int
    n_repeats: int
    grouped: bool
    metric: str = "rmse"
    n_test: int = 0  # rows that judge fits in blocks, in the place of folds

    def rows(self) -> list[Values]:
        """What tables and JSON show; ``difference`` is the RMSE to that of the best by RMSE."""
        best = min(self.scores, key=lambda score: nan_last(score.mean("rmse")))
        found = []
        for score in self.scores:
            row: Values = {"method": score.method, "seconds": float(np.mean(score.seconds))}
            for metric, values in score.figures.items():
                low, high = corrected_interval(values, score.share)
                low, high = (low, min(high, 1.0)) if metric == "r2" else (max(low, 0.0), high)
                row |= {metric: score.mean(metric)}
                row |= {f"{metric}_low": low, f"{metric}_high": high}
            if not score.failure:
                apart = score.figures["rmse"] - best.figures["rmse"]
                row["difference"] = [
                    float(apart.mean()),
                    *corrected_interval(apart, score.share),
                ]
            row["failure"] = score.failure or None
            found.append({key: none_if_nan(value) for key, value in row.items()})
        return found


def choose_number_metric(metric: str) -> str:
    """The metric that is asked for; auto: the RMSE."""
    if metric not in METRICS:
        raise TableError(f"--metric {metric}: for numbers choose one of {', '.join(METRICS)}.")
    return "rmse" if metric == "auto" else metric


def split_numbers(
    n: int, groups: Array | None, folds: int, repeats: int, seed: int
) -> list[tuple[Array, Array]]:
    """Training and test rows of repeated folds; groups are never torn apart."""
    found: list[tuple[Array, Array]] = []
    for i in range(repeats):
        maker = KFold if groups is None else GroupKFold
        found += maker(folds, shuffle=True, random_state=seed + i).split(np.zeros(n), None, groups)
    return found


def compare_numbers(
    frame: Frame,
    y: Array,
    columns: Columns,
    methods: Sequence[str],
    *,
    groups: Array | None = None,
    folds: int = 5,
    repeats: int = 2,
    most_rows: int = 5000,
    seed: int = 0,
    settings: Sequence[str] = (),
    memory: str | None = None,
    metric: str = "auto",
    step: Callable[[str, int], None] = lambda method, split: None,
) -> NumberLeaderboard:
    """Every method on the same splits. ``step`` is called before each fit.

    ``settings`` are for KernelRegressor.
    """
    metric = choose_number_metric(metric)
    if len(y) > most_rows:
        rows = np.sort(np.random.default_rng(seed).permutation(len(y))[:most_rows])
        frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
        groups = None if groups is None else groups[rows]
    if len(y) < 2 * folds:
        raise TableError(
            f"{folds}-fold cross-validation of numbers needs {2 * folds} rows or more; give more "
            "rows, or --folds 2."
        )
    check_groups(groups, folds)
    splits = split_numbers(len(y), groups, folds, repeats, seed)
    share = 1 / (folds - 1)
    scores = []
    for method in methods:
        model = make_unassessed(method, seed, settings, memory, NUMBERS)
        judge = partial(judge_split, model, frame, y, groups, columns)
        found, reason = try_splits(judge, splits, partial(step, method))
        nothing = [dict.fromkeys([*MEASURES, "seconds"], np.nan)] * len(splits)
        figures = {
            key: np.array([own[key] for own in found or nothing]) for key in [*MEASURES, "seconds"]
        }
        scores.append(NumberScore(method, figures, figures.pop("seconds"), share, reason))
    rank_numbers(scores, metric)
    return NumberLeaderboard(scores, len(y), folds, repeats, groups is not None, metric)


def rank_numbers(scores: list[NumberScore], metric: str) -> None:
    """The best first, failures last."""
    sign = -1 if metric == "r2" else 1
    scores.sort(key=lambda own: (bool(own.failure), nan_last(sign * own.mean(metric))))


def measure_numbers(y: Array, said: Array) -> Values:
    """The measures of predictions."""
    return {name: float(measure(y, said)) for name, measure in MEASURES.items()}


def fit_part(
    model: TableModel, frame: Frame, y: Array, groups: Array | None, columns: Columns, train: Array
) -> TableModel:
    """A model of some rows."""
    inside = None if groups is None else groups[train]
    return clone(model).fit(frame.iloc[train], y[train], inside, columns=columns)


def judge_split(
    model: TableModel,
    frame: Frame,
    y: Array,
    groups: Array | None,
    columns: Columns,
    train: Array,
    test: Array,
) -> Values:
    """The measures of the test rows, and CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of every fit of every method: not the user's concern
        said = fit_part(model, frame, y, groups, columns, train).predict(frame.iloc[test])
    seconds = time.process_time() - start
    return measure_numbers(y[test], said) | {"seconds": seconds}


def held_out_numbers(
    model: TableModel, frame: Frame, y: Array, columns: Columns, groups: Array | None, seed: int = 0
) -> Iterator[tuple[Array, Array]]:
    """(rows, predictions) of each of five folds, by a fit without it."""
    n = len(y) if groups is None else len(np.unique(groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in split_numbers(len(y), groups, max(2, min(5, n)), 1, seed):
            part = fit_part(model, frame, y, groups, columns, train)
            yield test, part.predict(frame.iloc[test])
