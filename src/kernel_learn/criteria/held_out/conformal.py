"""Sets of classes that hold the true one as often as was asked for.

A row's score is 1 - p(its class), p held out. Of N rows and a new one, all exchangeable, the new
one's score is among the smallest ceil(coverage (N + 1)) with probability coverage at least: the
set of the classes whose score is at most the ceil(coverage (N + 1))-th smallest has that
coverage. Rows of one group are not exchangeable, groups are: a group counts one, its
rows share it, and the coverage is that of a row of a new group.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array

# Sums of shares of groups are sums of rounded numbers.
ROUNDING = 1e-9
SAME = 1e-3  # probabilities that differ by less say the same


@dataclass(frozen=True)
class HeldOutScores:
    """1 - p(label) of rows left out, and what each counts."""

    scores: Array  # (m,)
    labels: Array  # (m,) class indices
    mass: Array  # (m,)
    rows: Array  # (m,) which of the held-out rows they are of


def conformal_scores(
    proba: Array,  # (n, k) held out
    counts: Array,  # (n, k) how often each row was seen with each class
    groups: Sequence[Array] = (),  # rows of one group, two or more each
) -> HeldOutScores:
    """Scores of all rows and classes that were seen together."""
    mass = counts.astype(np.float64)
    for rows in groups:
        mass[rows] /= mass[rows].sum()
    if groups:  # a row without a group is one of its own, however often it was seen
        alone = np.ones(len(mass), dtype=bool)
        alone[np.concatenate(list(groups))] = False
        mass[alone] /= mass[alone].sum(axis=1, keepdims=True)
    rows, labels = np.nonzero(mass > 0)
    return HeldOutScores(1.0 - proba[rows, labels], labels, mass[rows, labels], rows)


def threshold(scores: Array, mass: Array, coverage: float) -> float:
    """The ceil(coverage (N + 1))-th smallest score; infinite if there are too few."""
    return float(row_thresholds(scores[None, :], mass, coverage)[0])


def row_thresholds(
    scores: Array,  # (n, m)
    mass: Array,  # (m,) what each column counts
    coverage: float,
) -> Array:
    """The ``threshold`` of every row, (n,)."""
    total = float(mass.sum())
    rank = (coverage - ROUNDING) * (total + 1.0)
    if total < rank:
        return np.full(len(scores), np.inf)
    if np.all(mass == 1.0):
        place = int(np.ceil(rank)) - 1
        return np.asarray(np.partition(scores, place, axis=1)[:, place])
    order = np.argsort(scores, axis=1)
    reached = np.cumsum(mass[order], axis=1)
    place = np.minimum((reached < rank).sum(axis=1), len(mass) - 1)
    return np.take_along_axis(scores, order[np.arange(len(scores)), place][:, None], axis=1)[:, 0]


def least_rows(coverage: float) -> int:
    """How many rows (or groups) there must be for a threshold: coverage (n + 1) <= n."""
    return int(np.ceil((coverage - ROUNDING) / (1.0 - coverage + ROUNDING)))


@dataclass(frozen=True)
class Thresholds:
    """How large the score of a class may be, (k,), and which have too few rows to say."""

    largest: Array  # (k,)
    shares: Array | None = None  # (k,) of the classes: all that is said of rows far from others

    @property
    def void(self) -> Array:
        """Classes that cannot be excluded, by too few rows, (k,)."""
        return np.isinf(self.largest)

    def sets(self, proba: Array) -> Array:
        """The classes that cannot be excluded, the likeliest always among them, (n, k)."""
        found = (1.0 - proba <= self.largest) | self.unknown(proba)[:, None]
        found[np.arange(len(proba)), proba.argmax(axis=1)] = True
        return np.asarray(found)

    def unknown(self, proba: Array) -> Array:
        """Rows of which the class shares are all that is known: nothing can be excluded, (n,)."""
        if self.shares is None:
            return np.zeros(len(proba), dtype=bool)
        return np.asarray(np.abs(proba - self.shares).max(axis=1) < SAME)


def class_thresholds(
    held: HeldOutScores, n_classes: int, coverage: float, *, by_class: bool
) -> Thresholds:
    """One threshold for all classes, or one from the rows of each."""
    if not by_class:
        return Thresholds(np.full(n_classes, threshold(held.scores, held.mass, coverage)))
    own = [held.labels == c for c in range(n_classes)]
    return Thresholds(
        np.array([threshold(held.scores[rows], held.mass[rows], coverage) for rows in own])
    )


def cross_sets(
    proba: Array,  # (folds, n, k) of new rows, by models without each fold
    held: HeldOutScores,
    fold: Array,  # (m,) without which each held-out row was predicted
    coverage: float,
    *,
    by_class: bool,
) -> Array:
    """CV+: each held-out row beside what the model that had not seen it says of the new row.

    A class is excluded if its score is above those of coverage (N + 1) held-out rows, each by its
    own model. All choices inside the folds: the coverage is at least
    1 - 2 (1 - coverage) - sqrt(2 / n) for exchangeable rows (Barber et al. 2021).
    """
    k = proba.shape[2]
    found = np.empty(proba.shape[1:], dtype=bool)
    for c in range(k):
        own = held.labels == c if by_class else np.ones(len(held.labels), dtype=bool)
        below = np.zeros(proba.shape[1])
        for f, P in enumerate(proba):
            rows = np.flatnonzero(own & (fold == f))
            order = rows[np.argsort(held.scores[rows])]
            reached = np.concatenate([[0.0], np.cumsum(held.mass[order])])
            below += reached[np.searchsorted(held.scores[order], 1.0 - P[:, c], side="left")]
        total = held.mass[own].sum() + 1.0
        found[:, c] = below < (coverage - ROUNDING) * total
    likeliest = proba.mean(axis=0).argmax(axis=1)
    found[np.arange(len(found)), likeliest] = True
    return found
