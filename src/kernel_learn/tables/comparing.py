"""Methods on the same splits of a table, with intervals that allow for overlapping training rows.

Of r times k-fold cross-validation with J = r k errors e_j the mean has the corrected variance

    (1 / J + 1 / (k - 1)) var(e),

1 / (k - 1) being test rows over training rows (Nadeau and Bengio 2003): training sets overlap, and
var(e) / J alone would give intervals that are far too narrow. Student's t with J - 1 degrees.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from kernel_learn.arrays import Array
from kernel_learn.inspection.reading import some_rows
from kernel_learn.model_selection.resampling import corrected_error
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.columns import Columns
from kernel_learn.tables.deciding import ranking_figures
from kernel_learn.tables.methods import CLASSES, Roster, make_model
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.names import METRICS

Values = dict[str, Any]  # what JSON and tables show
FLOOR = 1e-15  # of a probability, for its logarithm
UNEVEN = 0.7  # share of the most frequent class from which accuracy alone says little


@dataclass(frozen=True)
class Score:
    """One method over all splits."""

    method: str
    accuracies: Array  # (n_splits,)
    balanced: Array  # (n_splits,) the same, each class counting alike
    log_losses: Array  # (n_splits,), nan without probabilities
    seconds: Array  # (n_splits,) CPU seconds of a fit and its predictions
    share: float  # test rows over training rows
    failure: str = ""
    others: dict[str, Array] = field(default_factory=dict)  # auc, f1, average_precision, recall

    def of(self, metric: str) -> Array:
        """The values of a metric, (n_splits,); nan where it is not known."""
        own = {"accuracy": self.accuracies, "balanced": self.balanced, "logloss": self.log_losses}
        found = own | {key.replace("_", "-"): values for key, values in self.others.items()}
        return found.get(metric, np.full(len(self.accuracies), np.nan))

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.accuracies))

    @property
    def interval(self) -> tuple[float, float]:
        return corrected_interval(self.accuracies, self.share)

    @property
    def log_loss(self) -> float:
        return float(np.mean(self.log_losses))


@dataclass(frozen=True)
class Leaderboard:
    """Scores from the best by a metric (then by log loss); failures last."""

    scores: list[Score]
    n_rows: int
    n_folds: int
    n_repeats: int
    grouped: bool
    uneven: bool  # most rows are of one class
    left_out: list[str] = field(default_factory=list)  # classes with too few rows
    metric: str = "accuracy"
    n_test: int = 0  # rows of one test share; zero: folds

    def rows(self) -> list[Values]:
        """What tables and JSON show."""
        best = max(self.scores, key=lambda score: np.nan_to_num(score.accuracy, nan=-1.0))
        found = []
        for score in self.scores:
            low, high = score.interval
            row: Values = {
                "method": score.method,
                "accuracy": score.accuracy,
                "low": max(low, 0.0),
                "high": min(high, 1.0),
                "balanced": float(np.mean(score.balanced)),
                "log_loss": None if np.isnan(score.log_loss) else score.log_loss,
                "seconds": float(np.mean(score.seconds)),
                **{key: float(np.mean(values)) for key, values in score.others.items()},
            }
            values = score.of(self.metric)
            low, high = corrected_interval(values, score.share)
            most = np.inf if self.metric == "logloss" else 1.0
            row |= {"value": float(np.mean(values)), "value_low": max(low, 0.0)}
            row["value_high"] = min(high, most)
            if not score.failure:
                difference = score.accuracies - best.accuracies
                row["difference"] = [
                    float(difference.mean()),
                    *corrected_interval(difference, score.share),
                ]
            row["failure"] = score.failure or None
            found.append({key: none_if_nan(value) for key, value in row.items()})
        return found


def none_if_nan(value: object) -> object:
    """A value for JSON, which knows no nan."""
    return None if isinstance(value, float) and np.isnan(value) else value


def corrected_interval(values: Array, share: float, level: float = 0.95) -> tuple[float, float]:
    """Mean plus and minus Student's t times the corrected standard error."""
    J = len(values)
    mean = float(np.mean(values))
    if J < 2 or np.isnan(mean):
        return np.nan, np.nan
    reach = float(stats.t.ppf(0.5 + level / 2, J - 1)) * corrected_error(values, share)
    return mean - reach, mean + reach


def make_splits(
    y: Array, groups: Array | None, folds: int, repeats: int, seed: int
) -> list[tuple[Array, Array]]:
    """Training and test rows of repeated stratified folds; groups are never torn apart."""
    found: list[tuple[Array, Array]] = []
    for i in range(repeats):
        if groups is None:
            plain = StratifiedKFold(folds, shuffle=True, random_state=seed + i)
            found += list(plain.split(y, y))
        else:
            grouped = StratifiedGroupKFold(folds, shuffle=True, random_state=seed + i)
            found += list(grouped.split(y, y, groups))
    return found


def compare(
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
) -> Leaderboard:
    """Every method on the same splits. ``step`` is called before each fit.

    ``settings`` are for KernelClassifier. Classes with fewer rows than folds are left out.
    """
    rows = some_rows(y, most_rows, seed)
    classes, counts = np.unique(y[rows], return_counts=True)
    rare = classes[counts < folds]
    rows = rows[~np.isin(y[rows], rare)]
    if len(classes) - len(rare) < 2:
        raise TableError(
            f"{folds}-fold cross-validation needs two classes of {folds} rows or more; "
            "give more rows, or --folds 2."
        )
    frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
    groups = None if groups is None else groups[rows]
    check_groups(groups, folds)
    splits = make_splits(y, groups, folds, repeats, seed)
    if groups is not None:
        splits = [(train, test) for train, test in splits if len(test)]
    scores = []
    for method in methods:
        model = make_unassessed(method, seed, settings, memory)
        scores.append(_score(method, model, frame, y, groups, columns, splits, folds, step))
    uneven = has_rare_classes(np.unique(y, return_counts=True)[1])
    metric = choose_metric(metric, len(classes) - len(rare), uneven)
    scores.sort(key=lambda score: rank_of(score, metric))
    left_out = [str(name) for name in rare]
    return Leaderboard(
        scores, len(rows), folds, repeats, groups is not None, uneven, left_out, metric
    )


def check_groups(groups: Array | None, folds: int) -> None:
    """Refuse fewer groups than folds."""
    if groups is not None and len(np.unique(groups)) < folds:
        raise TableError(
            f"{folds}-fold cross-validation needs {folds} groups, and there are "
            f"{len(np.unique(groups))}; choose fewer folds with --folds."
        )


def make_unassessed(
    method: str, seed: int, settings: Sequence[str], memory: str | None, roster: Roster = CLASSES
) -> TableModel:
    """A method that is judged here, not by itself; settings are for the task's own."""
    own = settings if method == roster.auto else ()
    model = make_model(method, "target", seed, own, memory, roster)
    if "assess" in model.estimator.get_params():
        model.estimator.set_params(assess=False)
    return model


def choose_metric(metric: str, n_classes: int, uneven: bool) -> str:
    """The metric that is asked for; auto: the one that fits the classes."""
    if metric not in METRICS:
        raise TableError(f"--metric {metric}: choose one of {', '.join(METRICS)}.")
    if metric != "auto":
        return metric
    if not uneven:
        return "accuracy"
    return "average-precision" if n_classes == 2 else "balanced"


def rank_of(score: Score, metric: str) -> tuple[bool, float, float]:
    """Where a method stands: without failure, by the metric, by the log loss."""
    value = float(np.mean(score.of(metric)))
    value = value if metric == "logloss" else -value
    return bool(score.failure), nan_last(value), nan_last(score.log_loss)


def nan_last(value: float) -> float:
    """A value that sorts behind all others where it is not known."""
    return float(np.nan_to_num(value, nan=np.inf))


def _score(
    method: str,
    model: TableModel,
    frame: Frame,
    y: Array,
    groups: Array | None,
    columns: Columns,
    splits: Sequence[tuple[Array, Array]],
    folds: int,
    step: Callable[[str, int], None],
) -> Score:
    """A method that fails on a split is shown with its reason, and the others go on."""
    found, reason = try_splits(
        lambda train, test: _one_split(model, frame, y, groups, columns, train, test),
        splits,
        lambda i: step(method, i),
    )
    if reason:
        nothing = np.full(len(splits), np.nan)
        return Score(method, nothing, nothing, nothing, nothing, 1 / (folds - 1), reason)
    accuracies, balanced, losses, seconds = np.array([own[:4] for own in found]).T
    others = {key: np.array([own[4][key] for own in found]) for key in found[0][4]}
    return Score(method, accuracies, balanced, losses, seconds, 1 / (folds - 1), others=others)


def try_splits(
    judge: Callable[[Array, Array], Any],  # of training and test rows
    splits: Sequence[tuple[Array, Array]],
    step: Callable[[int], None],
) -> tuple[list[Any], str]:
    """What is found on each split, or the reason why a method failed."""
    found = []
    try:
        for i, (train, test) in enumerate(splits):
            step(i)
            found.append(judge(train, test))
    except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
        return [], str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
    return found, ""


def _one_split(
    model: TableModel,
    frame: Frame,
    y: Array,
    groups: Array | None,
    columns: Columns,
    train: Array,
    test: Array,
) -> tuple[float, float, float, float, Values]:
    """Accuracy, balanced accuracy, log loss, CPU seconds, and figures of how rows are ranked."""
    start = time.process_time()
    inside = None if groups is None else groups[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of every fit of every method: not the user's concern
        model.fit(frame.iloc[train], y[train], inside, columns=columns)
        try:
            proba = model.predict_proba(frame.iloc[test])
            said = model.classes_[proba.argmax(axis=1)]
        except AttributeError:
            proba, said = None, model.predict(frame.iloc[test])
    seconds = time.process_time() - start
    right = said == y[test]
    losses = log_loss(proba, model.classes_, y[test])
    scores = decision_scores(model, frame.iloc[test]) if proba is None else proba
    others = {} if scores is None else ranking_of(scores, model.classes_, y[test])
    return float(np.mean(right)), balanced_accuracy(right, y[test]), losses, seconds, others


def decision_scores(model: TableModel, frame: Frame) -> Array | None:
    """Scores of the classes where there are no probabilities, (n_samples, n_classes), if any."""
    decide = getattr(model.estimator_, "decision_function", None)
    if decide is None:
        return None
    scores = np.asarray(decide(model.encode(frame)))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def ranking_of(scores: Array, classes: Array, y: Array) -> Values:
    """Figures of rows whose class the model knows."""
    known = np.isin(y, classes)
    return ranking_figures(scores[known], np.searchsorted(classes, y[known]))


def has_rare_classes(counts: Array) -> bool:
    """Whether most rows are of one class, by the rows of each."""
    return bool(counts.max() > UNEVEN * counts.sum())


def balanced_accuracy(right: Array, y: Array) -> float:
    """The mean over classes of the share of their rows that are right."""
    classes, place = np.unique(y, return_inverse=True)
    return float(np.mean(np.bincount(place, right, len(classes)) / np.bincount(place)))


def log_loss(proba: Array | None, classes: Array, y: Array) -> float:
    """Mean -log of the probability of the true class; nan without probabilities."""
    if proba is None:
        return np.nan
    place = np.searchsorted(classes, y)
    known = (place < len(classes)) & (classes[np.minimum(place, len(classes) - 1)] == y)
    p = np.where(known, proba[np.arange(len(y)), np.minimum(place, len(classes) - 1)], 0.0)
    return float(-np.mean(np.log(np.maximum(p, FLOOR))))


def held_out_probabilities(
    model: TableModel, frame: Frame, y: Array, columns: Columns, groups: Array | None, seed: int = 0
) -> Iterator[tuple[Array, Array]]:
    """(rows, probabilities or one-hot predictions) of each fold, by a fit without it."""
    counts = np.unique(y, return_counts=True)[1]
    folds = int(max(2, min(5, counts.max())))
    classes = np.unique(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in make_splits(y, groups, folds, 1, seed):
            inside = None if groups is None else groups[train]
            part = clone(model).fit(frame.iloc[train], y[train], inside, columns=columns)
            P = np.zeros((len(test), len(classes)))
            known = np.searchsorted(classes, part.classes_)
            try:
                P[:, known] = part.predict_proba(frame.iloc[test])
            except AttributeError:
                said = np.searchsorted(classes, part.predict(frame.iloc[test]))
                P[np.arange(len(test)), said] = 1.0
            yield test, P
