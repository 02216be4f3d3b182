"""Methods on a table that is read in blocks: one test share judges all of them.

The test rows are cut into J parts with the same shares of the classes, or values alike. The J
figures are of different rows and one fit, so that their mean has the variance var / J: nothing
overlaps.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableFiles
from kernel_learn.tables.columns import Columns
from kernel_learn.tables.comparing import (
    Leaderboard,
    Score,
    balanced_accuracy,
    choose_metric,
    has_rare_classes,
    log_loss,
    rank_of,
    ranking_of,
)
from kernel_learn.tables.comparing_numbers import (
    MEASURES,
    NumberLeaderboard,
    NumberScore,
    choose_number_metric,
    measure_numbers,
    rank_numbers,
)
from kernel_learn.tables.methods import CLASSES, Roster, make_model
from kernel_learn.tables.number_methods import NUMBERS
from kernel_learn.tables.streaming import HeldShare, JudgedRows, fit_in_blocks

PARTS = 10


def compare_in_blocks(
    table: TableFiles,
    sample: Frame,  # of some rows, the target in it
    columns: Columns,
    methods: Sequence[str],
    *,
    target: str,
    n_rows: int,
    test: HeldShare,
    seed: int = 0,
    settings: Sequence[str] = (),
    memory: str | None = None,
    metric: str = "auto",
    told: Callable[[str, int], None] = lambda method, rows: None,
    roster: Roster = CLASSES,
) -> Leaderboard | NumberLeaderboard:
    """Every method fitted to all rows but the test share, and judged by that.

    ``settings`` are for the first method of the roster, KernelClassifier or KernelRegressor;
    ``told`` hears how many rows of a pass were read.
    """
    numbers = roster is NUMBERS
    scores: list[Score] = []
    number_scores: list[NumberScore] = []
    labels = np.empty(0)
    for method in methods:
        own = settings if method == roster.auto else ()
        model = make_model(method, target, seed, own, memory, roster)
        if "assess" in model.estimator.get_params():  # it is judged here
            model.estimator.set_params(assess=False)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                judged = fit_in_blocks(
                    model,
                    table,
                    sample,
                    columns,
                    test,
                    partial(told, method),
                    is_regression=numbers,
                )
        except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            reason = (str(error).strip() or repr(error)).splitlines()[0]
            nothing = np.full(PARTS, np.nan)
            if numbers:
                figures = dict.fromkeys(MEASURES, nothing)
                number_scores.append(NumberScore(method, figures, nothing, 0.0, reason))
            else:
                scores.append(Score(method, nothing, nothing, nothing, nothing, 0.0, reason))
            continue
        seconds, labels = time.process_time() - start, judged.y
        if numbers:
            number_scores.append(number_score_of(method, judged, seconds))
        else:
            scores.append(score_of(method, judged, model.classes_, seconds))
    if numbers:
        metric = choose_number_metric(metric)
        rank_numbers(number_scores, metric)
        return NumberLeaderboard(number_scores, n_rows, 0, 0, False, metric, len(labels))
    classes, counts = np.unique(labels, return_counts=True)
    uneven = bool(len(counts)) and has_rare_classes(counts)
    metric = choose_metric(metric, len(classes), uneven)
    scores.sort(key=lambda score: rank_of(score, metric))
    return Leaderboard(scores, n_rows, 0, 0, False, uneven, metric=metric, n_test=len(labels))


def score_of(method: str, judged: JudgedRows, classes: Array, seconds: float) -> Score:
    """The figures of one method, each for every part of the test rows."""
    assert judged.said is not None
    found, others = [], []
    for part in parts_of(judged.y):
        P, y = judged.said[part], judged.y[part]
        right = classes[P.argmax(axis=1)] == y
        loss = np.nan if np.all((P == 0) | (P == 1)) else log_loss(P, classes, y)
        found.append((float(np.mean(right)), balanced_accuracy(right, y), loss))
        others.append(ranking_of(P, classes, y))
    accuracies, balanced, losses = np.array(found).T
    more = {key: np.array([own[key] for own in others]) for key in others[0]}
    spent = np.full(len(found), seconds)
    return Score(method, accuracies, balanced, losses, spent, 0.0, others=more)


def number_score_of(method: str, judged: JudgedRows, seconds: float) -> NumberScore:
    """The same of a method that predicts numbers."""
    assert judged.said is not None
    found = [measure_numbers(judged.y[part], judged.said[part]) for part in parts_of(judged.y)]
    figures = {name: np.array([own[name] for own in found]) for name in MEASURES}
    return NumberScore(method, figures, np.full(len(found), seconds), 0.0)


def parts_of(y: Array) -> list[Array]:
    """The test rows in parts with the same shares of the classes, or of small and large values."""
    order = np.argsort(y, kind="stable")
    n_parts = min(PARTS, max(1, len(order) // 2))
    return [order[i::n_parts] for i in range(n_parts)]
