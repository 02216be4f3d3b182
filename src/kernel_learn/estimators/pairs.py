"""Same or not: a classifier of pairs of rows."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.constraints import Constraints, Pairs, Triplets
from kernel_learn.estimators.inductive import InductiveKernel
from kernel_learn.estimators.metric import KernelLMNN
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.pages import OwnPage
from kernel_learn.fitting.parameters import (
    FRACTION,
    NONE,
    Condition,
    ParameterTable,
    choice,
    is_whole,
)
from kernel_learn.fitting.state import PlainState
from kernel_learn.fitting.validation import validate_rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.rows.access import is_sparse, n_rows, row_blocks, take_rows
from kernel_learn.rows.coerce import as_array
from kernel_learn.rows.frames import is_frame

BLOCK_ROWS = 64  # of each side; a block of b pairs costs b^2 kernel values of which b are wanted


def takes_constraints(learner: Any) -> bool:
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
        Parts of the pairs. The distances of each part are those of a learner fitted on the
        others, which is cv + 1 fits in all; the learner that predicts is fitted on all pairs.

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

    def __init__(self, learner: Any = None, threshold: Any = "accuracy", *, cv: int = 5) -> None:
        self.learner = learner
        self.threshold = threshold
        self.cv = cv

    @all_or_nothing
    def fit(self, X: Any, pairs: Any, same: Any) -> Self:
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
        X = as_row_sequence(X)
        pairs, same = check_pairs(pairs, same, n_rows(X))
        distances = np.zeros(len(pairs))
        told = pairs[:, 0] != pairs[:, 1]  # a row beside itself says nothing
        pairs, same = pairs[told], same[told]
        parts = min(int(self.cv), int(same.sum()), int((~same).sum()))
        held_out = np.empty(len(pairs))
        part = spread_parts(same, parts)
        for i in range(parts):
            inside, outside = part != i, part == i
            learner = self._learn(X, pairs[inside], same[inside])
            A, B = (take_any_rows(X, pairs[outside, side]) for side in range(2))
            held_out[outside] = learned_distances(learner, A, B)
        self.learner_ = self._learn(X, pairs, same)
        self.threshold_ = choose_threshold(held_out, same, self.threshold)
        distances[told] = held_out
        self.held_out_distances_ = distances
        self.held_out_accuracy_ = float(np.mean((held_out <= self.threshold_) == same))
        self.classes_ = np.array([False, True])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        return self

    def decision_function(self, X_a: Any, X_b: Any) -> Array:
        """threshold - d(x_a, x_b) for each pair of rows, (n_pairs,): positive for the same."""
        check_is_fitted(self)
        return self.threshold_ - learned_distances(self.learner_, X_a, X_b)

    def predict(self, X_a: Any, X_b: Any) -> Array:
        """Whether the i-th rows of X_a and X_b are alike, (n_pairs,) of bool."""
        return np.asarray(self.decision_function(X_a, X_b) >= 0)

    def score(self, X_a: Any, X_b: Any, same: Any) -> float:
        """The share of right answers."""
        same = check_same(same, n_rows(X_a))
        return float(np.mean(self.predict(X_a, X_b) == same))

    def _learn(self, X: Any, pairs: Array, same: Array) -> Any:
        learner = InductiveKernel() if self.learner is None else clone(self.learner)
        return learner.fit(X, constraints=as_constraints(learner, pairs, same))


def as_constraints(learner: Any, pairs: Array, same: Array) -> Constraints:
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


def learned_distances(learner: Any, X_a: Any, X_b: Any) -> Array:
    """k(a, a) + k(b, b) - 2 k(a, b) of the learned kernel for each pair of rows, (n_pairs,)."""
    A, B = (validate_rows(learner, learner.base_kernel_, X, reset=False) for X in (X_a, X_b))
    if n_rows(A) != n_rows(B):
        raise ValueError(f"X_a has {n_rows(A)} rows and X_b has {n_rows(B)}: a pair has one each.")
    return pair_distances(learner.kernel_, A, B)


def pair_distances(kernel: Kernel, A: Rows, B: Rows) -> Array:
    """Squared distances of the rows of A and B, pair by pair, (n,)."""
    D = np.asarray(kernel.diag(A) + kernel.diag(B), dtype=np.float64)
    for rows in row_blocks(n_rows(A), BLOCK_ROWS):
        D[rows] -= 2 * np.diagonal(kernel(take_rows(A, rows), take_rows(B, rows)))
    return np.maximum(D, 0.0)


def choose_threshold(distances: Array, same: Array, rule: Any) -> float:
    """The threshold on the distance, half way between two of them, that is best by the rule.

    The smallest of several alike: "same" is said less often.
    """
    order = np.argsort(distances, kind="stable")
    d, hit = distances[order], same[order]
    # none, or the first 1, 2, ... pairs are called the same; equal distances go together
    ends = np.append(np.flatnonzero(np.diff(d) > 0), len(d) - 1)
    right = np.append(0, np.cumsum(hit)[ends])
    wrong = np.append(0, np.cumsum(~hit)[ends])
    edges = np.append(d[ends[:-1] + 1], 2 * d[-1] if d[-1] > 0 else 1.0)
    cuts = np.append(d[0] / 2, (d[ends] + edges) / 2)
    if d[0] == 0:  # nothing is less than no distance at all
        right, wrong, cuts = right[1:], wrong[1:], cuts[1:]
    positives, negatives = int(same.sum()), int((~same).sum())
    if rule == "accuracy":
        return float(cuts[np.argmax(right + negatives - wrong)])
    if rule == "f1":
        return float(cuts[np.argmax(2 * right / (right + wrong + positives))])
    allowed = wrong <= float(rule) * negatives
    return float(cuts[np.flatnonzero(allowed)[-1]]) if allowed.any() else 0.0


def spread_parts(same: Array, parts: int) -> Array:
    """A part for each pair, both kinds spread evenly."""
    part = np.empty(len(same), dtype=int)
    for kind in (same, ~same):
        part[kind] = np.arange(int(kind.sum())) % parts
    return part


def take_any_rows(X: Any, rows: Array) -> Any:
    """Some of the rows as they were given, lists too."""
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "shape"):
        return take_rows(X, rows)
    return [X[i] for i in rows]


def as_row_sequence(X: Any) -> Any:
    """Rows that can be counted and taken; lists, of strings say, stay as they are."""
    if isinstance(X, list | tuple) or is_sparse(X) or is_frame(X):
        return X
    X = as_array(X, "X")
    if X.ndim == 0:
        raise ValueError("X is a single value, and rows are asked for: Expected 2D array.")
    return X


def check_pairs(pairs: Any, same: Any, n: int) -> tuple[Array, Array]:
    """Pairs of row indices and whether they are the same, checked."""
    pairs = as_array(pairs, "pairs")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"pairs must hold row indices, (n_pairs, 2) integers; it is {pairs.dtype} of shape "
            f"{pairs.shape}."
        )
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < n):
        raise ValueError(
            f"pairs name the rows {pairs.min()} to {pairs.max()}, and X has {n} rows, numbered "
            f"from 0 to {n - 1}."
        )
    same = check_same(same, len(pairs))
    itself = pairs[:, 0] == pairs[:, 1]
    if np.any(itself & ~same):
        raise ValueError(
            f"pairs say that row {pairs[itself & ~same][0, 0]} differs from itself, which no "
            "distance can meet. Leave out such pairs."
        )
    n_same, n_different = int(same[~itself].sum()), int((~same).sum())
    if min(n_same, n_different) < 2:
        raise ValueError(
            f"{n_same} pairs of two rows are the same and {n_different} are different; at "
            "least two of each kind are needed to learn a threshold."
        )
    return pairs, same


def check_same(same: Any, n: int) -> Array:
    """One boolean per pair."""
    same = as_array(same, "same")
    if same.shape != (n,) or not np.isin(same, (0, 1)).all():
        raise ValueError(f"same must hold True or False for each of the {n} pairs.")
    return same.astype(bool)
