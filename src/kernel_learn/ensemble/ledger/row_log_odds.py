"""The log-odds that an ensemble averages, and what leads from them to the probabilities.

    log-odds of predict_proba(x) = prior + fading(x) (L(x) - prior),

of every class, or of every label that a row may have. L is linear in every member, and fading the
product of two factors towards the same prior: how far members agree (``pooling``), and how like the
training rows a row is (``criteria.held_out.fading``).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.fading import bounded_fading
from kernel_learn.criteria.held_out.label_targets import LabelTargets
from kernel_learn.ensemble.members import Ensemble
from kernel_learn.fitting.uncertainty import Calibration, ReferenceRows
from kernel_learn.rows.table import Table


@dataclass(frozen=True)
class RowLogOdds:
    """L(x) of new rows; ``fading`` is None where probabilities were averaged, in earlier files."""

    log_odds: Array  # (n, k), rows of mean zero
    prior: Array  # (k,) of mean zero
    winners: Array  # (n,) the class predicted
    fading: Array | None  # (n,)

    @property
    def faded(self) -> Array:
        """Log-odds of ``predict_proba``, (n, k)."""
        assert self.fading is not None
        return np.asarray(self.prior + self.fading[:, None] * (self.log_odds - self.prior))


def row_log_odds(
    ensemble: Ensemble,
    table: Table,
    calibration: Calibration | None,
    in_view: Callable[[Table], Rows],  # rows as the calibration's reference takes them
) -> RowLogOdds:
    """The averaged log-odds of new rows with both factors."""
    pooled = ensemble.pooled(table)
    if ensemble.shares is None:
        return RowLogOdds(pooled.log_odds, pooled.prior, pooled.mean_proba.argmax(axis=1), None)
    fading, prior = pooled.fading, pooled.prior
    agreed = prior + fading[:, None] * (pooled.log_odds - prior)
    if calibration is not None:
        fading = fading * calibration.factor(agreed, lambda: in_view(table))
    return RowLogOdds(pooled.log_odds, prior, agreed.argmax(axis=1), fading)


@dataclass(frozen=True)
class LabelLogOdds:
    """L(x) of new rows for each of several labels: that it is there against that it is not."""

    log_odds: Array  # (n, n_labels)
    prior: Array  # (n_labels,) of the label's share
    fading: Array  # (n, n_labels)

    @property
    def faded(self) -> Array:
        """Log-odds of ``predict_proba``, (n, n_labels)."""
        return np.asarray(self.prior + self.fading * (self.log_odds - self.prior))


def label_log_odds(
    ensemble: Ensemble,
    table: Table,
    reference: ReferenceRows | None,
    in_view: Callable[[Table], Rows],
) -> LabelLogOdds:
    """The averaged log-odds of each of several labels with both factors."""
    targets = ensemble.targets
    assert isinstance(targets, LabelTargets), "rows have several labels"
    less = None if reference is None else reference.less_known(in_view(table))
    log_odds, prior, fading = [], [], []
    for label, pooled in enumerate(ensemble.label_pools(table)):
        own, agreement = targets.of_label(label), pooled.fading
        agreed = pooled.prior + agreement[:, None] * (pooled.log_odds - pooled.prior)
        fading.append(agreement * bounded_fading(own.prior, own.total).factor(agreed, less))
        log_odds.append(pooled.log_odds[:, 1] - pooled.log_odds[:, 0])
        prior.append(pooled.prior[1] - pooled.prior[0])
    return LabelLogOdds(np.stack(log_odds, axis=1), np.array(prior), np.stack(fading, axis=1))
