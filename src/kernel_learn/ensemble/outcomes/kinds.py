"""The outcomes: classes by stacking, labels likewise, numbers by errors."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ensemble_weights import (
    NEGLIGIBLE,
    ensemble_weights,
    error_share,
    mean_and_error,
    mixture_weights,
    predicting_shares,
)
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.criteria.held_out.ridge import with_all_shares
from kernel_learn.criteria.held_out.stacking import (
    LinearMap,
    Stacking,
    best_stacking,
    centered,
    fit_stacking,
    log_losses,
    softmax,
)
from kernel_learn.criteria.held_out.target_transforms import ValueMap
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.held_out.value_weights import least_squares_weights, value_weights
from kernel_learn.criteria.held_out.values import choose_values, squared_errors, squared_share
from kernel_learn.ensemble.outcomes.base import AnyTargets, Judged, Outcome, Said
from kernel_learn.ensemble.outcomes.labels import LabelOutcome
from kernel_learn.ensemble.pooling import pool_held_out


class ClassOutcome:
    """Probabilities of classes by stacking; the log loss judges."""

    def choose(
        self, scores: Array, targets: Targets, folds: Array, safe: Array | None = None
    ) -> Judged | None:
        found = best_stacking(scores, targets, folds, safe)
        return None if found is None else stacked(found[0], found[1])

    def fit(self, scores: Array, targets: Targets, folds: Array) -> Judged:
        return stacked(0, fit_stacking(scores, targets, folds))

    def say(self, map: LinearMap, scores: Array) -> Said:
        return said_by(map(scores))

    def moved(self, scores: Array, targets: Targets) -> Array:
        return with_all_shares(scores, targets)

    def average(self, said: Sequence[Said], weights: Array, targets: Targets) -> Array:
        held, log_odds = [one.held for one in said], [one.log_odds for one in said]
        return pool_held_out(log_odds, held, weights, targets.prior).proba

    def weigh(self, held: Array, targets: Targets) -> Array:
        return ensemble_weights(np.array([log_losses(P) for P in held]), targets)

    def fit_weights(self, held: Array, targets: Targets) -> Array:
        return mixture_weights(held, targets)

    def predicting(self, held: Sequence[Array], weights: Array, targets: Targets) -> Array:
        return predicting_shares(held, weights, targets)

    def mean(self, sums: Array, n: int) -> Array:
        return np.asarray(sums / sums.sum(axis=-1, keepdims=True))

    def loss(self, held: Array, targets: Targets) -> float:
        return mean_and_error(log_losses(held), targets)[0]

    def error(self, held: Array, targets: Targets) -> float:
        return error_share(held, targets)

    def without_members(self, targets: Targets) -> Array:
        return targets.prior


class NumberOutcome:
    """Predictions of numbers; squared and absolute errors judge."""

    def choose(
        self, scores: Array, targets: NumberTargets, folds: Array, safe: Array | None = None
    ) -> Judged | None:
        found = choose_values(scores, targets, safe)
        if found is None:
            return None
        said = Said(found.held, np.empty((targets.n, 0)))
        return Judged(found.best, found.loss, said, found.map, found.map.columns)

    def fit(self, scores: Array, targets: NumberTargets, folds: Array) -> Judged:
        found = self.choose(scores[None], targets, folds)
        assert found is not None, "scores are finite"
        return found

    def say(self, map: ValueMap, scores: Array) -> Said:
        return Said(map(scores), np.empty((len(scores), 0)))

    def moved(self, scores: Array, targets: NumberTargets) -> Array:
        return scores

    def average(self, said: Sequence[Said], weights: Array, targets: NumberTargets) -> Array:
        return np.einsum("mq,mnq->nq", weights, np.array([one.held for one in said]))

    def weigh(self, held: Array, targets: NumberTargets) -> Array:
        if targets.unseen is not None:  # many rows judge
            return least_squares_weights(held, targets)
        return value_weights(held, targets)

    def fit_weights(self, held: Array, targets: NumberTargets) -> Array:
        return least_squares_weights(held, targets)

    def predicting(self, held: Sequence[Array], weights: Array, targets: NumberTargets) -> Array:
        heavy = weights > NEGLIGIBLE * weights.max(axis=0, initial=0.0)
        shares = np.where(heavy, weights, 0.0)
        return np.asarray(shares / shares.sum(axis=0))

    def mean(self, sums: Array, n: int) -> Array:
        return np.asarray(sums / n)

    def loss(self, held: Array, targets: NumberTargets) -> float:
        return squared_share(held, targets)

    def error(self, held: Array, targets: NumberTargets) -> float:
        return float(np.sqrt(np.mean(squared_errors(held, targets))))

    def without_members(self, targets: NumberTargets) -> Array:
        return targets.value_mean


def stacked(best: int, stacking: Stacking) -> Judged:
    """Stacked scores as an outcome."""
    said = said_by(stacking.logits)
    return Judged(best, stacking.loss, said, stacking.map, crossed=stacking.crossed)


def said_by(logits: Array) -> Said:
    """Probabilities and centred log-odds."""
    return Said(softmax(logits), centered(logits))


def outcome_of(targets: AnyTargets) -> Outcome:
    """How these targets are judged."""
    return OUTCOMES[type(targets)]


OUTCOMES: dict[type, Outcome] = {
    Targets: ClassOutcome(),  # type: ignore[dict-item]
    LabelTargets: LabelOutcome(),  # type: ignore[dict-item]
    NumberTargets: NumberOutcome(),  # type: ignore[dict-item]
}
