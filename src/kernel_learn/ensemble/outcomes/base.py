"""What becomes of held-out scores: probabilities of classes or labels, or predictions of numbers.

Views, kernels, ridge regression, screening, leaves are the same for every kind of target; an
outcome says how scores are judged, how they become predictions and how members are weighted.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.label_targets import LabelMap, LabelTargets
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.stacking import LinearMap
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import Targets

AnyTargets = Targets | LabelTargets | NumberTargets
OutcomeMap = LinearMap | LabelMap | ValueMap


class Said(NamedTuple):
    """What scores say of rows."""

    held: Array  # (n, k) probabilities of classes, or values
    log_odds: Array  # (n, k) of classes, rows of mean zero; (n, 0) of numbers


class Judged(NamedTuple):
    """Scores that were judged: which of several sets of them, and what they become."""

    best: int | Array  # the place of the regulariser, or that of every column of the scores
    loss: float
    said: Said  # of held-out rows
    map: OutcomeMap
    columns: Array | None = None  # of the scores that the map reads, None for all
    crossed: Array | None = None  # log-odds (n, k) where other folds chose, None: the same


class Outcome(Protocol):
    """One kind of target."""

    def choose(
        self, scores: Array, targets: AnyTargets, folds: Array, safe: Array | None = None
    ) -> Judged | None:
        """The best of several sets of held-out scores (R, n, c), of those that are safe (R,)."""

    def fit(self, scores: Array, targets: AnyTargets, folds: Array) -> Judged:
        """One set of held-out scores (n, c)."""

    def say(self, map: OutcomeMap, scores: Array) -> Said:
        """What a map makes of scores."""

    def moved(self, scores: Array, targets: AnyTargets) -> Array:
        """Scores of rows left out as new rows would have them."""

    def weigh(self, held: Array, targets: AnyTargets) -> Array:
        """Weights of members by their held-out predictions (members, n, k), nothing fitted."""

    def fit_weights(self, held: Array, targets: AnyTargets) -> Array:
        """Fitted weights, for many rows."""

    def predicting(self, held: Sequence[Array], weights: Array, targets: AnyTargets) -> Array:
        """The weights of those members that predict, 0 of the others; they sum to one."""

    def mean(self, sums: Array, n: int) -> Array:
        """Predictions (..., k) that were added up over n trees, as their mean."""

    def average(self, said: Sequence[Said], weights: Array, targets: AnyTargets) -> Array:
        """What the average of members says, (n, k)."""

    def loss(self, held: Array, targets: AnyTargets) -> float:
        """By which members are told apart."""

    def error(self, held: Array, targets: AnyTargets) -> float:
        """What is told of a member."""

    def without_members(self, targets: AnyTargets) -> Array:
        """What is said of every row where no kernel tells rows apart, (k,)."""
