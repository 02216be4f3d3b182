"""Probabilities: log-odds from scores, by what the scores of rows left out say."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.folds import stratified_folds, stratified_rows
from kernel_learn.criteria.held_out.stacking import fit_temperature, log_softmax, softmax
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.gram import to_double
from kernel_learn.rows.access import dense, take_rows

# Rows whose held-out scores decide the factor on scores, and parts of them.
HELD_OUT_ROWS, PARTS = 400, 5


class ProbabilityMixin:
    """Probabilities from ``_logits(X)``: log-odds (n, k) by a second level on held-out scores.

    The second level is a discriminant on scores of rows left out (KernelDiscriminant, the members
    of KernelClassifier), or one factor on them, which keeps the winners: ``SharpenedScores``.
    """

    @on_sources
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, (n_samples, n_classes)."""
        check_is_fitted(self)
        return softmax(self._logits(X))

    @on_sources
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of ``predict_proba``, finite where those round to zero."""
        check_is_fitted(self)
        return log_softmax(self._logits(X))

    def _logits(self, X: Any) -> Array:
        raise NotImplementedError


class SharpenedScores(ProbabilityMixin):
    """softmax(sharpness_ * decision values): the likeliest class is the predicted one.

    ``fit`` sets ``sharpness_ = fit_sharpness(targets, score_part)``.
    """

    sharpness_: float

    def _logits(self, X: Any) -> Array:
        return self.sharpness_ * class_logits(self.decision_function(X))  # type: ignore[attr-defined]


def fit_sharpness(
    targets: Targets,
    score_part: Callable[[Array, Array], Array],  # (inside, outside) -> (len(outside), q)
    n_rows: int = HELD_OUT_ROWS,
) -> float:
    """The factor of least log loss on held-out scores; 1 if no row can be held out.

    ``score_part`` learns from the rows ``inside`` and scores the rows ``outside``.
    """
    rows, scores = held_out_in_parts(targets, score_part, n_rows)
    if not len(rows):
        return 1.0
    return fit_temperature(class_logits(scores), targets.take(rows))[0]


def choose_rule(targets: Targets, score_part: Callable[[Array, Array], Array]) -> tuple[int, float]:
    """Which of two rules has the smaller held-out log loss, and the factor on its scores.

    ``score_part`` gives the scores of both side by side, (len(outside), 2 k).
    """
    rows, scores = held_out_in_parts(targets, score_part)
    if not len(rows):
        return 0, 1.0
    some = targets.take(rows)
    found = [fit_temperature(own, some) for own in np.hsplit(scores, 2)]
    rule = int(np.argmin([loss for _, loss in found]))
    return rule, found[rule][0]


def held_out_in_parts(
    targets: Targets,
    score_part: Callable[[Array, Array], Array],
    n_rows: int = HELD_OUT_ROWS,
) -> tuple[Array, Array]:
    """Rows, at most about ``n_rows``, and what was learned from the other parts says of them.

    The only row of a class is in every part that learns, and not held out.
    """
    chosen = np.arange(targets.n)
    if targets.n > n_rows:
        chosen = stratified_rows(targets, n_rows)
    some = targets.take(chosen)
    part = stratified_folds(some, PARTS)
    part[np.bincount(some.majority, minlength=some.n_classes)[some.majority] < 2] = -1
    rows, scores = [np.empty(0, dtype=int)], []
    for fold in np.unique(part[part >= 0]):
        outside = chosen[part == fold]
        rows.append(outside)
        scores.append(score_part(chosen[part != fold], outside))
    return np.concatenate(rows), np.concatenate(scores) if scores else np.empty((0, 1))


def pool_kernel(kernel: Kernel, source: Any) -> tuple[Targets, Array]:
    """Labels of some rows, the first by key, and their kernel matrix: where a fit keeps no rows."""
    summary = source.summary
    rows = summary.rows[: min(HELD_OUT_ROWS, len(summary.rows))]
    targets = Targets(dense(summary.labels[: len(rows)]))
    X = to_double(take_rows(source.X, rows))
    is_matrix = kernel.input == "matrix"
    return targets, kernel(X, kernel.reference(source.X, rows) if is_matrix else None)


def class_logits(scores: Array) -> Array:
    """Scores of all classes; one machine scores the second of two classes against the first."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.stack([np.zeros(len(scores)), scores.reshape(-1)], axis=1)
    return scores
