"""One reading of what a user passes: an estimator, a Pipeline, a search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import Array, Rows
from kernel_learn.fitting.row_validation import validate_rows


@dataclass(frozen=True)
class FittedStep:
    """A step with the attributes that are asked for, and the fitted steps before it."""

    step: Any  # with these attributes
    before: Sequence[BaseEstimator]

    def see(self, X: Rows) -> Rows:
        """Rows as the step sees them."""
        for step in self.before:
            X = step.transform(X)
        return X

    def see_checked(self, X: Rows) -> Rows:
        """Rows as the step's kernels take them."""
        seen = self.see(X)
        if not hasattr(self.step, "base_kernel_"):
            return seen
        return validate_rows(self.step, self.step.base_kernel_, seen, reset=False)

    def transform(self, X: Rows) -> Array:
        """The step's features of rows."""
        return np.asarray(self.step.transform(self.see(X)))

    def feature_names(self, n: int) -> list[str]:
        """Those the step was fitted with, or those the steps before give."""
        names = getattr(self.step, "feature_names_in_", None)
        if names is None and self.before:
            try:
                names = self.before[-1].get_feature_names_out()
            except (AttributeError, ValueError):
                names = None
        if names is None or len(names) != n:
            names = [f"x{i}" for i in range(n)]
        return [str(name) for name in names]


@dataclass(frozen=True)
class Relevance:
    """How much each column counts."""

    values: Array  # (n_features,)
    spread: Array | None  # (n_features,) over cross-validation folds
    names: list[str]

    @property
    def order(self) -> Array:
        """Positions, the most relevant first."""
        return np.argsort(-self.values, kind="stable")


def seek_fitted(estimator: BaseEstimator, *attributes: str) -> FittedStep | None:
    """The last step that has one of the attributes, if there is one."""
    check_is_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)
    is_pipeline = isinstance(estimator, Pipeline)
    steps = [step for _, step in estimator.steps] if is_pipeline else [estimator]
    for i, step in reversed(list(enumerate(steps))):
        if any(getattr(step, name, None) is not None for name in attributes):
            return FittedStep(step, [one for one in steps[:i] if hasattr(one, "transform")])
    return None


def find_fitted(estimator: BaseEstimator, *attributes: str, display: str) -> FittedStep:
    """The last step that has one of the attributes, for a display that needs it."""
    found = seek_fitted(estimator, *attributes)
    if found is None:
        estimator = getattr(estimator, "best_estimator_", estimator)
        raise ValueError(
            f"{display} draws {' or '.join(attributes)}, and {type(estimator).__name__} has none."
        )
    return found


RELEVANCES = ("feature_relevance_", "scales_")  # of a KernelClassifier, of FeatureScales


def read_relevance(found: FittedStep) -> Relevance:
    """Relevance or scale of each column, of a step with one of ``RELEVANCES``."""
    step, spread = found.step, None
    if getattr(step, "feature_relevance_", None) is not None:
        values = np.asarray(step.feature_relevance_, dtype=float)
        spread = np.asarray(step.feature_relevance_std_, dtype=float)
    else:
        values = np.abs(np.asarray(step.scales_, dtype=float))
    return Relevance(values, spread, found.feature_names(len(values)))


def some_rows(
    labels: Array, most: int, random_state: int | np.random.RandomState | None = 0
) -> Array:
    """At most so many positions, each class in its share, in their order."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    rng = check_random_state(random_state)
    shuffled = rng.permutation(n)
    # Every k-th row of the rows sorted by class: shares are kept to within one row.
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return np.sort(by_class[np.linspace(0, n - 1, most).round().astype(int)])
