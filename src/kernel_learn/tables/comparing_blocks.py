"""Methods on a table that is read in blocks: one test share judges all of them.

The test rows are cut into J parts with the same shares of the classes. The J accuracies are of
different rows and one fit, so that their mean has the variance var / J: nothing overlaps.
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
from kernel_learn.tables.methods import AUTO, make_model
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
) -> Leaderboard:
    """Every method fitted to all rows but the test share, and judged by that.

    ``settings`` are for KernelClassifier; ``told`` hears how many rows of a pass were read.
    """
    scores, labels = [], np.empty(0)
    for method in methods:
        model = make_model(method, target, seed, settings if method == AUTO else (), memory)
        if "assess" in model.estimator.get_params():  # it is judged here
            model.estimator.set_params(assess=False)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                judged = fit_in_blocks(model, table, sample, columns, test, partial(told, method))
        except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            reason = (str(error).strip() or repr(error)).splitlines()[0]
            nothing = np.full(PARTS, np.nan)
            scores.append(Score(method, nothing, nothing, nothing, nothing, 0.0, reason))
            continue
        seconds, labels = time.process_time() - start, judged.y
        scores.append(score_of(method, judged, model.classes_, seconds))
    classes, counts = np.unique(labels, return_counts=True)
    uneven = bool(len(counts)) and has_rare_classes(counts)
    metric = choose_metric(metric, len(classes), uneven)
    scores.sort(key=lambda score: rank_of(score, metric))
    return Leaderboard(scores, n_rows, 0, 0, False, uneven, metric=metric, n_test=len(labels))


def score_of(method: str, judged: JudgedRows, classes: Array, seconds: float) -> Score:
    """The figures of one method, each for every part of the test rows."""
    assert judged.said is not None
    order = np.argsort(judged.y, kind="stable")
    n_parts = min(PARTS, max(1, len(order) // 2))
    found, others = [], []
    for part in (order[i::n_parts] for i in range(n_parts)):
        P, y = judged.said[part], judged.y[part]
        right = classes[P.argmax(axis=1)] == y
        loss = np.nan if np.all((P == 0) | (P == 1)) else log_loss(P, classes, y)
        found.append((float(np.mean(right)), balanced_accuracy(right, y), loss))
        others.append(ranking_of(P, classes, y))
    accuracies, balanced, losses = np.array(found).T
    more = {key: np.array([own[key] for own in others]) for key in others[0]}
    spent = np.full(n_parts, seconds)
    return Score(method, accuracies, balanced, losses, spent, 0.0, others=more)
