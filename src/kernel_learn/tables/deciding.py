"""From held-out probabilities to decisions: thresholds, their costs, and what fits uneven classes.

Of two classes the rarer is the positive one. With a price for each false alarm (fp) and each miss
(fn) the threshold minimises, over held-out rows,

    cost(t) = fp |{p_i >= t, y_i = 0}| + fn |{p_i < t, y_i = 1}|.

Of calibrated probabilities the least is at t = fp / (fp + fn); where several thresholds cost the
same on these rows, the one nearest to it is taken.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.streams.readers import TableError

Figures = dict[str, Any]  # what JSON shows
TOP = 3
WORST_PAIRS = 5
MOST_STEPS = 150  # of a curve that is drawn


@dataclass(frozen=True)
class Wish:
    """How the user wants to decide between two classes."""

    threshold: float | None = None
    costs: "Costs | None" = None

    def __post_init__(self) -> None:
        if self.threshold is not None and self.costs is not None:
            raise TableError("--cost finds the threshold; leave out --threshold, or --cost.")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise TableError(f"--threshold {self.threshold:g}: choose one between 0 and 1.")

    @property
    def is_there(self) -> bool:
        """Whether something was asked for."""
        return self.threshold is not None or self.costs is not None

    def check(self, n_classes: int | None) -> None:
        """Refuse, before the fit, what has no meaning; None: numbers are predicted."""
        if not self.is_there:
            return
        if n_classes != 2:
            what = "the target is a number" if n_classes is None else f"there are {n_classes}"
            raise TableError(f"--threshold and --cost are for two classes, and {what}.")


@dataclass(frozen=True)
class Costs:
    """The price of a false alarm and of a miss."""

    false_positive: float = 1.0
    false_negative: float = 1.0

    @property
    def threshold(self) -> float:
        """Where both mistakes cost the same, of calibrated probabilities."""
        return self.false_positive / (self.false_positive + self.false_negative)


def parse_costs(text: str) -> Costs:
    """``fp=1,fn=20`` as costs."""
    wrong = f"--cost {text!r}: write fp=1,fn=20, the price of a false alarm and of a miss."
    pairs = [part.partition("=")[::2] for part in text.split(",")]
    try:
        found = {key.strip().lower(): float(value) for key, value in pairs}
    except ValueError:
        raise TableError(wrong) from None
    prices = list(found.values())
    if set(found) != {"fp", "fn"} or not all(np.isfinite(prices)) or min(prices) <= 0:
        raise TableError(wrong)
    return Costs(found["fp"], found["fn"])


def positive_class(counts: Array) -> int:
    """The rarer of two classes; the second where both are as frequent."""
    return 0 if counts[0] < counts[1] else 1


def decide_between(P: Array, positive: int, threshold: float) -> Array:
    """Positions of the classes that are said, (n_samples,)."""
    return np.where(P[:, positive] >= threshold, positive, 1 - positive)


def rank_auc(p: Array, is_positive: Array) -> float:
    """The chance that a positive row has more than a negative one; ties count half."""
    n, m = int(is_positive.sum()), int((~is_positive).sum())
    if not n or not m:
        return float("nan")
    from scipy.stats import rankdata  # takes half a second: a wrong price is refused before

    return float((rankdata(p)[is_positive].sum() - n * (n + 1) / 2) / (n * m))


def average_precision(p: Array, is_positive: Array) -> float:
    """The mean precision over the positives, each at the threshold that just finds it."""
    if not is_positive.any():
        return float("nan")
    order = np.argsort(-p, kind="stable")
    found, said = np.cumsum(is_positive[order]), np.arange(1, len(p) + 1)
    last = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)  # of rows with one probability
    gained = np.diff(found[last], prepend=0)
    return float(np.sum(gained * found[last] / said[last]) / is_positive.sum())


def least_cost_threshold(p: Array, is_positive: Array, costs: Costs) -> float:
    """The threshold of least cost, halfway between two probabilities that rows have."""
    values = np.unique(p)
    between = (values[1:] + values[:-1]) / 2
    thresholds = np.concatenate([[values[0] / 2], between, [(values[-1] + 1) / 2]])
    positives, negatives = np.sort(p[is_positive]), np.sort(p[~is_positive])
    missed = np.searchsorted(positives, thresholds)
    alarms = len(negatives) - np.searchsorted(negatives, thresholds)
    total = costs.false_positive * alarms + costs.false_negative * missed
    best = np.flatnonzero(total <= total.min() * (1 + 1e-12))
    return float(thresholds[best[np.argmin(np.abs(thresholds[best] - costs.threshold))]])


def threshold_figures(p: Array, is_positive: Array, threshold: float) -> Figures:
    """What is found and what is missed at a threshold."""
    said = p >= threshold
    hits, alarms = int((said & is_positive).sum()), int((said & ~is_positive).sum())
    positives = int(is_positive.sum())
    return {
        "threshold": threshold,
        "found": hits,
        "positives": positives,
        "false_alarms": alarms,
        "negatives": int((~is_positive).sum()),
        "recall": hits / positives if positives else None,
        "precision": hits / (hits + alarms) if hits + alarms else None,
    }


def two_class_figures(
    P: Array,
    labels: Array,
    *,
    positive: int | None = None,
    threshold: float | None = None,
    costs: Costs | None = None,
) -> Figures:
    """AUC, average precision, and what a threshold finds: as asked for, of least cost, or 0.5.

    Of rows of one class AUC and average precision are None.
    """
    if positive is None:
        positive = positive_class(np.bincount(labels, minlength=2))
    p, is_positive = P[:, positive], labels == positive
    if threshold is None:
        threshold = 0.5 if costs is None else least_cost_threshold(p, is_positive, costs)
    has_both = 0 < is_positive.sum() < len(p)  # rows of one class have no order to judge
    return {
        "positive": positive,
        "auc": rank_auc(p, is_positive) if has_both else None,
        "average_precision": average_precision(p, is_positive) if has_both else None,
        "share": float(is_positive.mean()),
        **threshold_figures(p, is_positive, threshold),
    }


def decision_curve(p: Array, is_positive: Array, most: int = MOST_STEPS) -> list[list[float]]:
    """[threshold, share of alarms that are false ones of all negatives, recall, precision].

    From the strictest threshold down; where many rows differ, at some of their probabilities,
    evenly by how many rows are said to be positive.
    """
    order = np.argsort(-p, kind="stable")
    last = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)  # of rows with one probability
    if len(last) > most:
        last = np.unique(last[np.linspace(0, len(last) - 1, most).round().astype(int)])
    found, said = np.cumsum(is_positive[order])[last], last + 1
    n, m = max(1, int(is_positive.sum())), max(1, int((~is_positive).sum()))
    columns = (p[order[last]], (said - found) / m, found / n, found / said)
    return [[float(f"{value:.5g}") for value in line] for line in zip(*columns, strict=True)]


def decision_figures(P: Array, labels: Array, wish: Wish) -> Figures | None:
    """What fits two classes, or several; nothing of predictions without probabilities."""
    if np.all((P == 0) | (P == 1)):
        return None
    if P.shape[1] > 2:
        return many_class_figures(P, labels)
    return two_class_figures(P, labels, threshold=wish.threshold, costs=wish.costs)


def many_class_figures(P: Array, labels: Array) -> Figures:
    """How often the truth is among the likeliest few, and which classes are taken for which."""
    k = P.shape[1]
    own = P[np.arange(len(P)), labels]
    rank = (own[:, None] < P).sum(axis=1)
    said = P.argmax(axis=1)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (labels, said), 1)
    counts = confusion.sum(axis=1)
    np.fill_diagonal(confusion, 0)
    order = np.argsort(-confusion, axis=None, kind="stable")[:WORST_PAIRS]
    pairs = [divmod(int(i), k) for i in order]
    worst = [[a, b, int(confusion[a, b]), int(counts[a])] for a, b in pairs if confusion[a, b]]
    return {"top": TOP, "top_accuracy": float((rank < TOP).mean()), "worst_pairs": worst}


def ranking_figures(P: Array, labels: Array) -> Figures:
    """AUC, average precision and F1: of two classes for the rarer one, of many the mean over them.

    A class without rows among these has none.
    """
    counts = np.bincount(labels, minlength=P.shape[1])
    present = np.flatnonzero(counts)
    wanted = [positive_class(counts)] if P.shape[1] == 2 else present
    said = P.argmax(axis=1)
    found: dict[str, list[float]] = {"auc": [], "average_precision": [], "f1": [], "recall": []}
    for c in wanted:
        own, hits = labels == c, int(np.sum((said == c) & (labels == c)))
        found["auc"].append(rank_auc(P[:, c], own))
        found["average_precision"].append(average_precision(P[:, c], own))
        found["f1"].append(2 * hits / max(1, int(np.sum(said == c) + own.sum())))
        found["recall"].append(hits / max(1, int(own.sum())))
    return {key: float(np.mean(values)) for key, values in found.items()}
