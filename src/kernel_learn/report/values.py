"""What a report says of a model that predicts numbers, as plain values that fit into JSON.

R2 = 1 - sum (y - f)^2 / sum (y - mean y)^2 and its interval follow from the RMSE and its interval.
"""

import warnings
from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.intervals import rmse_interval
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.ensemble.assessment import LEVEL, VARIANCE_FACTOR
from kernel_learn.report.held_out import HeldOutAnswers, own_answers
from kernel_learn.report.placing import MOST_POINTS, Facts
from kernel_learn.report.shares import wilson
from kernel_learn.tables.comparing_numbers import held_out_numbers
from kernel_learn.tables.model import TableModel

LOOK_AT = 10
COVERAGES = (0.5, 0.8, 0.9, 0.95)
WHOLE = 0.9  # the coverage by whose width residuals are measured
MOST_RANGES, LEAST_RANGE = 5, 10  # ranges of y, and rows of each


def held_out_predictions(
    model: TableModel,
    frame: Rows,
    y: Array,
    groups: Array | None,
    seed: int,
    said: Array | None = None,
    assessed_by: str | None = None,
) -> HeldOutAnswers:
    """Predictions of training rows by fits that have not seen them."""
    found = own_answers(model, groups, said, assessed_by)
    if found is not None:
        return found
    said = np.empty(len(y))
    for test, part in held_out_numbers(model, frame, y, model.columns_, groups, seed):
        said[test] = part
    return HeldOutAnswers(said, assessed_by or "cross-validation")


def evaluate_values(
    y: Array,
    said: Array,
    kind: str,
    *,
    groups: Array | None = None,
    factor: float = VARIANCE_FACTOR,
    centre: float | None = None,  # what the mean of the training rows says; None: the mean of y
    weight: Array | None = None,  # (n,) how often each row counts; None: all alike
    own: Facts | None = None,  # rmse, low, high: if the estimator tells them
) -> Facts:
    """RMSE, MAE and R2 with 95 % intervals, beside always predicting the mean."""
    n, off = len(y), said - y
    w = np.ones(n) if weight is None else weight

    def mean_of(values: Array) -> float:
        return float(np.average(values, weights=w))

    rmse = {"rmse": float(np.sqrt(mean_of(off**2)))} | rmse_ends(y, said, w, groups, factor)
    rmse |= own or {}
    mean = mean_of(y) if centre is None else centre
    naive = float(np.sqrt(mean_of((y - mean) ** 2)))
    spread = float(np.sqrt(mean_of((y - mean_of(y)) ** 2)))
    mae = mean_of(np.abs(off))
    sums = w * (np.abs(off) - mae)
    if groups is not None:
        sums = np.bincount(np.unique(groups, return_inverse=True)[1], sums)
    reach = 1.96 * float(np.sqrt(factor * np.sum(sums**2)) / w.sum())
    r2 = [1 - (rmse[key] / spread) ** 2 if spread else None for key in ("rmse", "high", "low")]
    return {
        "kind": kind,
        "n": n,
        "weighted": weight is not None,
        **rmse,
        "mae": mae,
        "mae_low": max(0.0, mae - reach),
        "mae_high": mae + reach,
        "r2": r2[0],
        "r2_low": r2[1],
        "r2_high": r2[2],
        "bias": mean_of(off),
        "mean": mean,
        "naive_rmse": naive,
        "naive_mae": mean_of(np.abs(y - mean)),
        "least": float(y.min()),
        "most": float(y.max()),
        "median": float(np.median(y)),
        "points": value_points(y, said),
        "ranges": error_by_range(y, said),
        "bins": truth_by_prediction(y, said),
    }


def rmse_ends(
    y: Array, said: Array, weight: Array, groups: Array | None, factor: float
) -> dict[str, float]:
    """The ends of the interval of the RMSE; rows of weight zero say nothing."""
    kept = np.flatnonzero(weight > 0)
    named = None if groups is None else groups[kept]
    together = [] if named is None else [np.flatnonzero(named == g) for g in np.unique(named)]
    targets = NumberTargets(y[kept, None], np.arange(len(kept)), weight[kept], (), together)
    low, high = rmse_interval(said[kept, None], targets, LEVEL, factor)[0].tolist()
    return {"low": low, "high": high}


def assessed_error(model: TableModel, said: Array) -> dict[str, float]:
    """The error that the estimator gives itself, if it does and it is of these rows."""
    fitted = model.estimator_
    own = getattr(fitted, "held_out_prediction_", None)
    if own is None or np.shape(own) != np.shape(said) or np.ndim(fitted.error_):
        return {}
    low, high = fitted.error_interval_
    return {"rmse": float(fitted.error_), "low": float(low), "high": float(high)}


def value_points(y: Array, said: Array) -> list[list[float | int]]:
    """True and predicted value and number of some rows."""
    n = len(y)
    some = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    return [[float(f"{y[i]:.6g}"), float(f"{said[i]:.6g}"), int(i)] for i in some]


def cut_ranges(values: Array, most: int = MOST_RANGES) -> list[Array]:
    """Rows in ranges of their values, about as many in each; equal values stay together."""
    count = max(1, min(most, len(values) // LEAST_RANGE))
    ends = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)))
    place = np.searchsorted(ends[1:-1], values, side="left")
    return [np.flatnonzero(place == i) for i in np.unique(place)]


def error_by_range(y: Array, said: Array) -> list[Facts]:
    """Errors in ranges of y: too low or too high, and by how much."""
    return [
        {
            "least": float(y[rows].min()),
            "most": float(y[rows].max()),
            "n": len(rows),
            "rmse": float(np.sqrt(np.mean((said - y)[rows] ** 2))),
            "mae": float(np.abs(said - y)[rows].mean()),
            "bias": float((said - y)[rows].mean()),
        }
        for rows in cut_ranges(y)
    ]


def truth_by_prediction(y: Array, said: Array) -> list[Facts]:
    """Means of predicted and true values in ranges of the predicted ones."""
    return [
        {
            "least": float(said[rows].min()),
            "most": float(said[rows].max()),
            "n": len(rows),
            "said": float(said[rows].mean()),
            "true": float(y[rows].mean()),
            "rmse": float(np.sqrt(np.mean((said - y)[rows] ** 2))),
        }
        for rows in cut_ranges(said, 2 * MOST_RANGES)
    ]


def intervals_of(
    model: TableModel, frame: Rows, coverages: Sequence[float] = COVERAGES
) -> list[Array] | None:
    """Intervals (n, 2) for each coverage, if the model has them; infinite ones of few rows."""
    if not hasattr(model, "predict_interval"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # infinite ones are not shown
        return [model.predict_interval(frame, coverage) for coverage in coverages]


def interval_coverage(intervals: Sequence[Array], y: Array, centre: Array | None) -> list[Facts]:
    """How often intervals hold the true value, and how wide they are.

    Around ``centre``, the held-out predictions of training rows; None: where they are.
    """
    found = []
    for asked, ends in zip(COVERAGES, intervals, strict=True):
        if not np.isfinite(ends).all():
            continue
        half = (ends[:, 1] - ends[:, 0]) / 2
        middle = ends.mean(axis=1) if centre is None else centre
        inside = float(np.mean(np.abs(y - middle) <= half * (1 + 1e-12)))
        low, high = wilson(inside, len(y))
        width = float(2 * half.mean())
        found.append({"asked": asked, "found": inside, "low": low, "high": high, "width": width})
    return found


def most_surprising(y: Array, said: Array, intervals: Sequence[Array] | None) -> Array:
    """The rows that are furthest off, measured by what is usual for such rows."""
    return np.argsort(-surprise(y, said, intervals), kind="stable")[:LOOK_AT]


def describe_rows(
    y: Array,
    said: Array,
    intervals: Sequence[Array] | None,
    rows: Array,
    near: tuple[Array, Array] | None,  # rows most alike to each, and how much they are
) -> list[Facts]:
    """Rows with their true and predicted values, and the values of their likes."""
    off = surprise(y, said, intervals)
    found = []
    for i, row in enumerate(rows):
        pairs = () if near is None else zip(near[0][i], near[1][i], strict=True)
        found.append(
            {
                "row": int(row),
                "truth": float(y[row]),
                "said": float(said[row]),
                "times": float(off[row]),
                "neighbours": [
                    {"row": int(j), "value": float(y[j]), "alike": float(a)} for j, a in pairs
                ],
            }
        )
    return found


def surprise(y: Array, said: Array, intervals: Sequence[Array] | None) -> Array:
    """|y - f| in units of half the 90 % interval of each row, or of the whole's own 90 %."""
    off = np.abs(y - said)
    half = np.full(len(y), np.quantile(off, WHOLE))
    if intervals is not None:
        own = np.diff(intervals[COVERAGES.index(WHOLE)], axis=1)[:, 0] / 2
        half = np.where(np.isfinite(own), own, half)
    return off / np.maximum(half, 1e-300)


def held_out_values(
    model: TableModel,
    y: Array,
    held: HeldOutAnswers,
    groups: Array | None,
    intervals: Sequence[Array] | None,
) -> Facts:
    """Figures of held-out rows, and how often intervals of this width hold their values."""
    said, own = held.said, assessed_error(model, held.said)
    found = evaluate_values(y, said, held.words, groups=groups, weight=held.weight, own=own)
    found["assessed"] = held.assessed
    found["coverage"] = [] if intervals is None else interval_coverage(intervals, y, said)
    return found


def judge_new_values(model: TableModel, facts: Facts, frame: Rows, y: Array) -> Facts:
    """The facts with the figures of rows that the model has never seen."""
    seen = model.has_seen(frame)
    if seen.all():
        note = "The rows given as new are those the model was fitted to: they cannot test it."
        return {**facts, "warnings": [*facts["warnings"], note]}
    frame, y = frame.loc[~seen], y[~seen]
    said = model.predict(frame)
    new = evaluate_values(y, said, "new rows", factor=1.0, centre=facts["numbers"]["mean"])
    intervals = intervals_of(model, frame)
    new["coverage"] = [] if intervals is None else interval_coverage(intervals, y, None)
    new["seen"] = int(np.sum(seen))
    if hasattr(model, "novelty"):
        novel = model.novelty(frame)
        least = max(0.01, model.estimator_.novelty_floor() * (1 + 1e-9))
        new["unlike"] = int(np.sum(novel <= least))
    return {**facts, "new_numbers": new}


def range_labels(y: Array) -> tuple[Array, list[str]]:
    """Numbers as at most five ranges: codes, and the names of the ranges in their order."""
    codes, names = np.empty(len(y), dtype=int), []
    for i, rows in enumerate(cut_ranges(y)):
        codes[rows] = i
        names.append(f"{y[rows].min():.4g} to {y[rows].max():.4g}")
    return codes, names
