"""How scores become predictions."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, DataLike, Rows
from kernel_learn.criteria.held_out.ensemble_weights import error_share
from kernel_learn.criteria.held_out.stacking import log_softmax, softmax
from kernel_learn.criteria.held_out.targets import smoothed_shares
from kernel_learn.fitting.block_results import ScoredClassifier, on_sources
from kernel_learn.fitting.probabilities import Sharpness, class_logits
from kernel_learn.fitting.uncertainty import HeldOutSets, calibrate_rows, reference_of
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource


class ScoreClassifier(ScoredClassifier):
    """A classifier by ``_scores(F)``: one score per class from the features, the largest wins."""

    @on_sources
    def decision_function(self, X: DataLike) -> Array:
        """Scores of the classes, (n_samples, n_classes); the difference (n_samples,) for two."""
        scores = self._class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """The most likely class of each row, (n_samples,)."""
        winners = np.argmax(self._class_scores(X), axis=1)
        return self.classes_[winners]

    def _class_scores(self, X: Rows) -> Array:
        return self._scores(self._features(X))


class MachineClassifier(ScoredClassifier):
    """A classifier by ``_machine_values(X)``: one machine per class, or one for two classes."""

    @on_sources
    def decision_function(self, X: DataLike) -> Array:
        """Values of the machines, (n_samples, n_classes); of the one machine, (n_samples,)."""
        values = self._machine_values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """The class of the largest value, (n_samples,)."""
        values = self.decision_function(X)
        winners = (values > 0).astype(int) if values.ndim == 1 else np.argmax(values, axis=1)
        return self.classes_[winners]


class ProbabilityMixin(HeldOutSets):
    """Probabilities from ``_logits(X)``: log-odds (n, k) by stacking on held-out scores.

    The stacking is a discriminant on held-out scores (KernelDiscriminant, the members of
    KernelClassifier), or one factor on them, which keeps the winners: ``SharpenedScores``.
    """

    @on_sources
    def predict_proba(self, X: DataLike) -> Array:
        """Probabilities of the classes, (n_samples, n_classes).

        Far from the training rows they fade to the class shares.
        """
        check_is_fitted(self)
        return softmax(self._faded_logits(X))

    @on_sources
    def predict_log_proba(self, X: DataLike) -> Array:
        """Logarithms of ``predict_proba``, finite where those round to zero."""
        check_is_fitted(self)
        return log_softmax(self._faded_logits(X))

    def _logits(self, X: Rows) -> Array:
        raise NotImplementedError


class SharpenedScores(ProbabilityMixin):
    """softmax(sharpness_ * decision values): the likeliest class is the predicted one.

    Except far from the training rows, where probabilities fade to the class shares and
    predictions stay. ``fit`` calls ``_sharpen``.
    """

    sharpness_: float

    def _sharpen(self, found: Sharpness, source: ArraySource | PooledSource) -> None:
        """Keep the factor on scores, and what the held-out rows say of others."""
        self.sharpness_ = found.factor
        self._held_out_error = error_share(found.log_odds, found.targets)
        self.__dict__.pop("_calibration", None)  # of an earlier fit
        if not found.targets.n:
            return
        reference = reference_of(self.base_kernel_, source)  # type: ignore[attr-defined]
        total = float(source.counts.sum())  # of all rows, of which a stream keeps some
        shares = smoothed_shares(source.counts, total)
        self._calibration = calibrate_rows(shares, found.log_odds, found.targets, total, reference)

    def _logits(self, X: Rows) -> Array:
        return self.sharpness_ * class_logits(self.decision_function(X))  # type: ignore[attr-defined]


class ProbabilityClassifier(ProbabilityMixin, ScoreClassifier):
    """A ``ScoreClassifier`` whose scores are log probabilities up to a constant."""

    def _logits(self, X: Rows) -> Array:
        return self._class_scores(X)
