"""Several labels per row as an outcome: every label by stacking, with weights of its own."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ensemble_weights import (
    ensemble_weights,
    mixture_weights,
    predicting_shares,
)
from kernel_learn.criteria.held_out.label_targets import (
    LabelMap,
    LabelTargets,
    both_sides,
    stack_labels,
)
from kernel_learn.criteria.held_out.ridge import with_all_shares
from kernel_learn.criteria.held_out.stacking import centered, log_losses, softmax
from kernel_learn.ensemble.outcomes.base import Judged, Said
from kernel_learn.ensemble.pooling import pool_held_out


class LabelOutcome:
    """Probabilities of labels; log losses judge, label by label."""

    def choose(
        self, scores: Array, targets: LabelTargets, folds: Array, safe: Array | None = None
    ) -> Judged | None:
        found = stack_labels(scores, targets, folds, safe)
        if found is None:
            return None
        logits = np.stack([stacking.logits for _, stacking in found], axis=1)
        loss = float(np.mean([stacking.loss for _, stacking in found]))
        map = LabelMap(tuple(stacking.map for _, stacking in found))
        return Judged(np.array([r for r, _ in found]), loss, labels_said_by(logits), map)

    def fit(self, scores: Array, targets: LabelTargets, folds: Array) -> Judged:
        found = self.choose(scores[None], targets, folds)
        assert found is not None, "scores are finite"
        return found

    def say(self, map: LabelMap, scores: Array) -> Said:
        return labels_said_by(map(scores))

    def moved(self, scores: Array, targets: LabelTargets) -> Array:
        return with_all_shares(scores, targets)

    def weigh(self, held: Array, targets: LabelTargets) -> Array:
        weights = [
            ensemble_weights(log_losses(both_sides(held[:, :, i])), targets.of_label(i))
            for i in range(targets.n_labels)
        ]
        return np.stack(weights, axis=1)

    def fit_weights(self, held: Array, targets: LabelTargets) -> Array:
        weights = [
            mixture_weights(both_sides(held[:, :, i]), targets.of_label(i))
            for i in range(targets.n_labels)
        ]
        return np.stack(weights, axis=1)

    def predicting(self, held: Sequence[Array], weights: Array, targets: LabelTargets) -> Array:
        if not held:
            return weights
        shares = [
            predicting_shares([both_sides(P[:, i]) for P in held], own, targets.of_label(i))
            for i, own in enumerate(weights.T)
        ]
        return np.stack(shares, axis=1)

    def mean(self, sums: Array, n: int) -> Array:
        return np.asarray(sums / n)

    def average(self, said: Sequence[Said], weights: Array, targets: LabelTargets) -> Array:
        found = np.empty(said[0].held.shape)
        for i in range(targets.n_labels):
            log_odds = [one.log_odds[:, 2 * i : 2 * i + 2] for one in said]
            held = [both_sides(one.held[:, i]) for one in said]
            prior = targets.of_label(i).prior
            found[:, i] = pool_held_out(log_odds, held, weights[:, i], prior).proba[:, 1]
        return found

    def loss(self, held: Array, targets: LabelTargets) -> float:
        return float(targets.weight @ label_losses(held, targets) / targets.total)

    def error(self, held: Array, targets: LabelTargets) -> float:
        return float(targets.weight @ hamming_losses(held, targets) / targets.total)

    def without_members(self, targets: LabelTargets) -> Array:
        return np.array([targets.of_label(i).prior[1] for i in range(targets.n_labels)])


def labels_said_by(
    logits: Array,  # (n, L, 2)
) -> Said:
    """Probabilities that labels are there, and centred log-odds side by side."""
    n, k, _ = logits.shape
    flat = logits.reshape(n * k, 2)
    return Said(softmax(flat)[:, 1].reshape(n, k), centered(flat).reshape(n, 2 * k))


def label_losses(held: Array, targets: LabelTargets) -> Array:
    """The log loss of every row, mean over the labels, (n,)."""
    absent, there = np.moveaxis(log_losses(both_sides(held)), -1, 0)
    return np.asarray(np.mean(targets.Y * there + (1 - targets.Y) * absent, axis=1))


def hamming_losses(held: Array, targets: LabelTargets) -> Array:
    """The share of labels that are wrong in every row, (n,)."""
    return np.asarray(np.mean(np.where(held > 0.5, 1 - targets.Y, targets.Y), axis=1))
