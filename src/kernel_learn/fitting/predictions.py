"""How scores become predictions."""

import numpy as np

from kernel_learn.arrays import Array, DataLike, Rows
from kernel_learn.fitting.block_results import ScoredClassifier, on_sources
from kernel_learn.fitting.probabilities import ProbabilityMixin


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


class ProbabilityClassifier(ProbabilityMixin, ScoreClassifier):
    """A ``ScoreClassifier`` whose scores are log probabilities up to a constant."""

    def _logits(self, X: Rows) -> Array:
        return self._class_scores(X)
