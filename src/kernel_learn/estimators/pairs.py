"""Same or not: a classifier of pairs of rows."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from kernel_learn.arrays import Array, Rows, RowsLike
from kernel_learn.criteria.constraints import Constraints, Pairs, Triplets
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.lmnn import KernelLMNN
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.pages import OwnPage
from kernel_learn.fitting.pairs import (
    as_row_sequence,
    check_pairs,
    check_same,
    choose_threshold,
    learned_distances,
    spread_folds,
    take_any_rows,
)
from kernel_learn.fitting.parameters import (
    FRACTION,
    NONE,
    Condition,
    ParameterTable,
    choice,
    is_whole,
)
from kernel_learn.fitting.state import PlainState
from kernel_learn.rows.access import n_rows


def takes_constraints(learner: BaseEstimator) -> bool:
    """InductiveKernel, KernelMMC, KernelRCA, KernelLMNN; not those that learn from labels alone."""
    return hasattr(learner, "fit") and has_fit_parameter(learner, "constraints")


class PairClassifier(OwnPage, PlainState, BaseEstimator):
    """Whether two rows are alike, by a learned distance and a learned threshold.

    Two rows are predicted to be the same if d(x_a, x_b) <= threshold, d the squared
    distance under a kernel that was learned from pairs.

    Parameters
    ----------
    learner : estimator, default=None
        What learns the kernel from pairs: :class:`InductiveKernel` (None stands for it),
        :class:`KernelMMC`, :class:`KernelRCA` or :class:`KernelLMNN`.
    threshold : {"accuracy", "f1"} or float, default="accuracy"
        What the threshold is best at among pairs that the kernel was not learned from: the
        share of right answers, the F1 score of "same", or a number between 0 and 1: the
        largest threshold at which no larger share of the different pairs is called the same (a
        false-positive rate).
    cv : int, default=5
        Cross-validation folds of the pairs. The distances of a fold are those of a learner fitted
        on the others, which is cv + 1 fits in all; the learner that predicts is fitted on all
        pairs.

    Attributes
    ----------
    learner_ : estimator
        Fitted on all pairs; ``learner_.kernel_`` is the learned kernel.
    threshold_ : float
    held_out_distances_ : ndarray of shape (n_pairs,)
        The squared distances that chose the threshold; zero for a row beside itself.
    held_out_accuracy_ : float
        The share of these pairs that the threshold has right.
    classes_ : ndarray, [False, True]
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    Pairs that share rows are not independent: where the same rows are in many pairs, the
    held-out figure is a little too good for rows that are new.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import InductiveKernel, PairClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X = scale(X)
    >>> pairs = np.random.default_rng(0).integers(0, 178, size=(200, 2))
    >>> same = y[pairs[:, 0]] == y[pairs[:, 1]]
    >>> model = PairClassifier(InductiveKernel()).fit(X, pairs, same)
    >>> model.predict(X[:3], X[60:63])
    array([False, False, False])
    """

    _parameters: ClassVar[ParameterTable] = {
        "learner": NONE | Condition(("a learner that takes constraints",), takes_constraints),
        "threshold": choice("accuracy", "f1") | FRACTION,
        "cv": Condition(("an integer of at least 2",), lambda cv: is_whole(cv, 2)),
    }

    def __init__(
        self,
        learner: BaseEstimator | None = None,
        threshold: str | float = "accuracy",
        *,
        cv: int = 5,
    ) -> None:
        self.learner = learner
        self.threshold = threshold
        self.cv = cv

    @all_or_nothing
    def fit(self, X: RowsLike, pairs: ArrayLike, same: ArrayLike) -> Self:
        """Learn the kernel and the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Rows that pairs point into.
        pairs : array-like of shape (n_pairs, 2)
            Indices of rows of X.
        same : array-like of bool of shape (n_pairs,)
            Whether the two rows of each pair are alike.

        Returns
        -------
        self
        """
        rows = as_row_sequence(X)
        ends, alike = check_pairs(pairs, same, n_rows(rows))
        distances = np.zeros(len(ends))
        told = ends[:, 0] != ends[:, 1]  # a row beside itself says nothing
        ends, alike = ends[told], alike[told]
        n_folds = min(int(self.cv), int(alike.sum()), int((~alike).sum()))
        held_out = np.empty(len(ends))
        fold = spread_folds(alike, n_folds)
        for i in range(n_folds):
            inside, outside = fold != i, fold == i
            learner = self._learn(rows, ends[inside], alike[inside])
            A, B = (take_any_rows(rows, ends[outside, side]) for side in range(2))
            held_out[outside] = learned_distances(learner, A, B)
        self.learner_ = self._learn(rows, ends, alike)
        self.threshold_ = choose_threshold(held_out, alike, self.threshold)
        distances[told] = held_out
        self.held_out_distances_ = distances
        self.held_out_accuracy_ = float(np.mean((held_out <= self.threshold_) == alike))
        self.classes_ = np.array([False, True])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        return self

    def decision_function(self, X_a: RowsLike, X_b: RowsLike) -> Array:
        """threshold - d(x_a, x_b) for each pair of rows, (n_pairs,): positive for the same."""
        check_is_fitted(self)
        return self.threshold_ - learned_distances(self.learner_, X_a, X_b)

    def predict(self, X_a: RowsLike, X_b: RowsLike) -> Array:
        """Whether the i-th rows of X_a and X_b are alike, (n_pairs,) of bool."""
        return np.asarray(self.decision_function(X_a, X_b) >= 0)

    def score(self, X_a: RowsLike, X_b: RowsLike, same: ArrayLike) -> float:
        """The share of right answers."""
        alike = check_same(same, n_rows(X_a))
        return float(np.mean(self.predict(X_a, X_b) == alike))

    def _learn(self, X: Rows, pairs: Array, same: Array) -> BaseEstimator:
        learner = InductiveKernel() if self.learner is None else clone(self.learner)
        return learner.fit(X, constraints=as_constraints(learner, pairs, same))


def as_constraints(learner: BaseEstimator, pairs: Array, same: Array) -> Constraints:
    """The pairs, or for a learner of triplets those that two pairs of one row make."""
    if not isinstance(learner, KernelLMNN):
        return Pairs(pairs[same], pairs[~same])
    sides = np.concatenate([pairs, pairs[:, ::-1]])
    alike = np.concatenate([same, same])
    near, far = sides[alike], sides[~alike]
    triplets = [
        (i, j, other) for i, j in near.tolist() for other in far[far[:, 0] == i, 1].tolist()
    ]
    if not triplets:
        raise ValueError(
            "KernelLMNN learns from triplets, and no row is in a similar and in a dissimilar pair. "
            "Give pairs that share rows, or another learner."
        )
    return Triplets(np.array(triplets))
