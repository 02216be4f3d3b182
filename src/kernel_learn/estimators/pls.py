"""Kernel partial least squares, for classes, sets of labels and real targets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import (
    Array,
    DataLike,
    MemoryBudget,
    Rows,
    Seed,
    TargetsLike,
    WeightsLike,
)
from kernel_learn.criteria.held_out.conformal import Thresholds
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.ridge import centre
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.pls_loo import SIDE_BY_SIDE, mean_squares, pls_loo_scores
from kernel_learn.fitting.base import GroupedSubspace
from kernel_learn.fitting.block_results import ScoredRegressor, on_sources
from kernel_learn.fitting.kernel_weights import BankWeights
from kernel_learn.fitting.parameters import (
    BANK,
    STREAMED,
    TARGET_TYPE,
    UNLABELED,
    check_n_components,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.predictions import ScoreClassifier, SharpenedScores
from kernel_learn.fitting.probabilities import (
    FOLDS,
    HELD_OUT_ROWS,
    ScoreFold,
    fit_sharpness,
    held_out_in_folds,
    parts_bytes,
    pool_kernel,
)
from kernel_learn.fitting.target_codes import pool_targets
from kernel_learn.fitting.training import Labelled, Training, Valued, store_targets
from kernel_learn.fitting.uncertainty import (
    HeldOutIntervals,
    HeldOutResiduals,
    ReferenceRows,
    reference_of,
)
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.representations.base import Combined
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.groups import shared_places
from kernel_learn.rows.targets import TargetType
from kernel_learn.solvers.pls import solve_pls

# Of so many components the best number, by the errors of so many rows left out: half a second.
MOST_COMPONENTS, LOO_ROWS = 30, 500
NEEDS = Needs(exact=1.0, features=1.0, columns=8.0)


class _KernelPLS(PartialFit, BankWeights, GroupedSubspace):
    """Scores t = Phi r, orthonormal on the training rows, and regression of the targets on them."""

    n_components: int | None

    learns_unlabelled = True

    _parameters = (STREAMED | BANK) | {"unlabeled": UNLABELED}

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        unlabeled: object = "raise",
        weights: str | ArrayLike = "loo",
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.unlabeled = unlabeled
        self.weights = weights
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _solve(
        self,
        data: Training,
        n_components: Callable[[Training, Combined], int],
        needs: Needs = NEEDS,
    ) -> tuple[Training, Combined]:
        data, form = self._represent(data, needs=needs)
        sample = self._combine(form, self._bank_weights(form, data.names))
        found = solve_pls(sample, n_components(data, sample))
        self._store_kernel(sample.expand(found.R))
        self.loadings_ = found.P
        self.intercept_ = data.source.counts / sample.n
        return data, sample

    def _regress(self, F: Array) -> Array:
        """Fitted targets, (n_rows, q): mean + F P."""
        return F @ self.loadings_.astype(F.dtype) + self.intercept_.astype(F.dtype)

    def _values(self, F: Array) -> Array:
        """Fitted numbers, (n_rows,) or (n_rows, q) as at fit."""
        values = self._regress(F)
        return values[:, 0] if self._single else values


class KernelPLS(SharpenedScores, ScoreClassifier, _KernelPLS):
    """Kernel partial least squares on class labels (Rosipal & Trejo 2001).

    Features are found one after the other, each of largest covariance with
    what is left of the one-hot labels; rows are classified by least squares on
    them. A transformer and a classifier; of several labels per row, or of
    numbers, a transformer whose ``predict`` gives labels or numbers.

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        How alike two rows are; several kernels as in :class:`HSICSubspace`, combined into one of
        trace n by ``weights``.
    n_components : int, default=None
        Number of features; None means n_classes, or as many as there are labels or numbers.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is. "auto": a matrix of zeros and ones, or a set of labels for each row, are labels;
        everything else is classes, and real numbers are refused. "numbers": one or several for
        each row, as in :class:`KernelPLSRegressor`, which chooses how many features.
    unlabeled : default="raise"
        What marks rows without a target, -1 say, beside None and NaN; None: nothing else does.
        These rows are joined with all others in a graph that deforms the kernel,
        ``kernels.GraphDeformed`` (give it as ``kernel`` for other settings), and the fit is that
        of the other rows. "raise": every row has a target, and None and NaN are refused.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the targets, see
        :class:`HSICSubspace`; the same trace for each; centred alignment; relative weights of
        the kernels as given.
    landmarks : "auto", "all", int, str, Landmarks or array
        As in :class:`HSICSubspace`.
    memory_budget : int or str
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None
        As in :class:`HSICSubspace`.
    verbose : int
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel; ``kernel_.coef`` is U (T'GU)^{-1} in the letters of
        the paper: training scores are orthonormal.
    loadings_ : ndarray of shape (n_components_, n_classes)
        T'Y.
    intercept_ : ndarray of shape (n_classes,)
        Class frequencies; mean targets.
    target_type_ : str
        What y was taken for.
    sharpness_ : float
        ``predict_proba`` is softmax(sharpness_ * scores), fitted to the scores of up to 400 rows
        by five-fold cross-validation: five small fits.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
        Of sets of labels the labels; numbers have none.
    n_components_ : int
        Number of features.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    landmark_residual_ : float or None
        Share of the trace that the landmarks leave out; as in :class:`HSICSubspace`.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import KernelPLS
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{KernelPLS(n_components=5).fit(X, y).score(X, y):.2f}")
    0.99
    """

    _parameters = _KernelPLS._parameters | {"target_type": TARGET_TYPE}

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        target_type: str = "auto",
        unlabeled: object = "raise",
        weights: str | ArrayLike = "loo",
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel,
            n_components=n_components,
            unlabeled=unlabeled,
            weights=weights,
            landmarks=landmarks,
            memory_budget=memory_budget,
            random_state=random_state,
            verbose=verbose,
        )
        self.target_type = target_type

    def _fit(self, data: Labelled | Valued) -> Self:
        store_targets(self, data)
        wanted = check_n_components(self.n_components, data.source.n_targets, self)
        if isinstance(data, Labelled):
            solved, sample = self._solve(data, lambda *_: wanted, replace(NEEDS, compared=True))
            self._sharpen(fit_sharpness(*self._parts(solved, sample)), solved.source)
        else:
            self._single = data.single
            self.__dict__.pop("_calibration", None)  # of an earlier fit
            self._solve(data, lambda *_: wanted)
        self._warn_if_fewer()
        return self

    @property
    def _kind(self) -> TargetType:
        """What was fitted; files of earlier versions have classes."""
        check_is_fitted(self)
        return getattr(self, "target_type_", "classes")

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """The most likely class of each row, (n_samples,).

        Of sets of labels which of them are there: 0 and 1, (n_samples, n_labels). Of numbers
        their values, (n_samples,) or (n_samples, n_targets) as at fit.
        """
        kind = self._kind
        if kind == "classes":
            return super().predict(X)
        F = self._features(X)
        return self._values(F) if kind == "numbers" else (self._regress(F) > 0.5).astype(int)

    @on_sources
    def decision_function(self, X: DataLike) -> Array:
        """Scores of the classes, (n_samples, n_classes); the difference (n_samples,) for two.

        Of sets of labels the fitted zeros and ones less a half, (n_samples, n_labels).
        """
        if self._kind == "labels":
            return self._regress(self._features(X)) - 0.5
        self._need_classes("decision_function")
        return super().decision_function(X)

    def score(
        self, X: DataLike, y: TargetsLike | None = None, sample_weight: WeightsLike = None
    ) -> float:
        """Accuracy; of sets of labels the share of rows with all of them right; R^2 of numbers."""
        if self._kind != "numbers":
            return super().score(X, y, sample_weight)
        same = KernelPLSRegressor()
        same.__dict__.update(vars(self))
        return same.score(X, y, sample_weight)

    def _faded_logits(self, X: Rows) -> Array:
        self._need_classes("predict_proba")
        return super()._faded_logits(X)

    def _thresholds(self, coverage: float, by_class: bool) -> Thresholds:
        self._need_classes("predict_set")
        return super()._thresholds(coverage, by_class)

    def _reference(self) -> ReferenceRows:
        self._need_classes("novelty")
        return super()._reference()

    def _need_classes(self, asked: str) -> None:
        kind = self._kind
        if kind != "classes":
            what, other = ("numbers", "Regressor")
            if kind == "labels":
                what, other = "sets of labels", "Classifier"
            raise ValueError(
                f"KernelPLS.{asked} is of classes, and this one was fitted to {what}: see predict, "
                f"or take Kernel{other}."
            )

    def _parts(self, data: Training, sample: Combined) -> tuple[Targets, ScoreFold]:
        """Labels of some rows, and what the scores of some of them say of others."""
        if isinstance(sample, Gram):
            told = np.flatnonzero(sample.weight > 0)
            told = told[np.argsort(np.argsort(sample.order)[told])]  # in the order of their keys
            root = sample.root_weight[told]
            Y = sample.targets[told] / root[:, None] + sample.target_mean
            units = () if sample.groups is None else shared_places(sample.groups[told])
            targets = Targets(np.maximum(sample.weight[told, None] * Y, 0.0), units)

            def block(a: Array, b: Array) -> Array:
                G = sample.operator[np.ix_(told[a], told[b])]
                return np.asarray(G / root[a][:, None] / root[b])
        else:
            targets, K = pool_kernel(sample, data.source)

            def block(a: Array, b: Array) -> Array:
                return np.asarray(K[np.ix_(a, b)])

        def score_fold(inside: Array, outside: Array) -> Array:
            part = targets.take(inside)
            K_in, K_out = block(inside, inside), block(outside, inside)
            return score_rows(K_in, part, K_out, self.n_components_)

        return targets, score_fold

    def _scores(self, F: Array) -> Array:
        return self._regress(F)


@dataclass
class _Part:
    """Some rows of a sample, for :func:`solve_pls`."""

    operator: Array
    targets: Array

    def pairing(self, A: Array, O_A: Array) -> Array:
        return O_A


def score_rows(K: Array, targets: Targets, K_cross: Array, n_components: int) -> Array:
    """Partial least squares of some rows, and the scores of others, (n_new, k)."""
    centred = centre(K, targets)
    found = solve_pls(_Part(centred.G, centred.labels), n_components)
    A = (centred.root[:, None] * found.R) @ found.P  # centred: 1'A = 0
    p = targets.weight / targets.total
    A = A - np.outer(p, A.sum(axis=0))
    return np.asarray(K_cross @ A + targets.mean - centred.m @ A)


def component_errors(scores: Array, targets: Targets) -> Array:
    """Of 1, 2, ... components, relative to the variance of the targets, averaged over these."""
    variance = targets.weight @ (targets.Y - targets.mean) ** 2 / targets.total
    varies = variance > 0
    squares = mean_squares(scores, targets)
    return np.asarray(np.sum(squares[:, varies] / variance[varies], axis=1) / len(varies))


def first_least(errors: Array) -> int:
    """Where the least error is, the first of equal ones."""
    return int(np.flatnonzero(errors <= errors.min() * (1 + 1e-9))[0])


def choice_bytes(n: int) -> float:
    """Of the rows that choose the number of components: their kernel matrix, and their fits."""
    m = min(n, LOO_ROWS)
    return 8.0 * m * (1.5 * m + SIDE_BY_SIDE * (MOST_COMPONENTS + 16))


class KernelPLSRegressor(HeldOutIntervals, ScoredRegressor, _KernelPLS):
    """Kernel partial least squares for real targets, several at once (Rosipal & Trejo 2001).

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        How alike two rows are; several kernels as in :class:`HSICSubspace`, combined into one of
        trace n by ``weights``.
    n_components : int, default=None
        Number of scores; None: of up to 30 the number with the smallest leave-one-out error on
        at most 500 rows, the first by content. Each row is left out of a fit of its own.
    unlabeled : default="raise"
        What marks rows without a target, -1 say, beside None and NaN; None: nothing else does.
        These rows are joined with all others in a graph that deforms the kernel,
        ``kernels.GraphDeformed`` (give it as ``kernel`` for other settings), and the fit is that
        of the other rows. "raise": every row has a target, and None and NaN are refused.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the targets, see
        :class:`HSICSubspace`; the same trace for each; centred alignment; relative weights of
        the kernels as given.
    landmarks : "auto", "all", int, str, Landmarks or array
        As in :class:`HSICSubspace`.
    memory_budget : int or str
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None
        As in :class:`HSICSubspace`.
    verbose : int
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel.
    loadings_ : ndarray of shape (n_components_, n_targets)
        Weights of the features in each target.
    intercept_ : ndarray of shape (n_targets,)
        The mean target.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
    n_components_ : int
        Number of features.
    loo_errors_ : ndarray or None
        If the number was chosen: the leave-one-out squared errors of 1, 2, ... of them, relative
        to the variance of the targets, averaged over these.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    landmark_residual_ : float or None
        Share of the trace that the landmarks leave out; as in :class:`HSICSubspace`.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernel_learn import KernelPLSRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLSRegressor().fit(X, y)
    >>> model.n_components_
    2
    """

    learns_values = True

    def _fit(self, data: Valued) -> Self:
        self._single = data.single
        self.loo_errors_: Array | None = None
        self.__dict__.pop("_calibration", None)  # of an earlier fit
        n = data.source.n_distinct
        held = choice_bytes(n) if self.n_components is None else parts_bytes(n, n)
        needs = replace(NEEDS, compared=True, extra=lambda n, M: held)
        solved, _ = self._solve(data, self._choose, needs)
        self._calibrate(solved)
        self._warn_if_fewer()
        return self

    def _choose(self, data: Training, sample: Combined) -> int:
        """How many components; what is said of rows held out is kept for ``_calibrate``."""
        n_rows = HELD_OUT_ROWS if self.n_components is not None else LOO_ROWS
        targets, K = pool_kernel(sample, data.source, n_rows)
        told = np.flatnonzero(targets.weight > 0)  # rows of a kernel matrix may not count
        if len(told) < len(K):
            targets, K = targets.take(told), K[np.ix_(told, told)]
        if self.n_components is not None:
            wanted = check_n_components(self.n_components, 1, self)

            def score_fold(inside: Array, outside: Array) -> Array:
                K_in, K_out = K[np.ix_(inside, inside)], K[np.ix_(outside, inside)]
                return score_rows(K_in, targets.take(inside), K_out, wanted)

            rows, scores = held_out_in_folds(targets, score_fold)
            self._held_out = (told[rows], scores)
            return wanted
        scores = pls_loo_scores(K, targets, MOST_COMPONENTS)
        self.loo_errors_ = component_errors(scores, targets)
        best = first_least(self.loo_errors_)
        held = np.empty_like(scores[best])  # of each fold by the number that the others choose
        for inside, outside in each_fold(stratified_folds(targets, FOLDS)):
            own = first_least(component_errors(scores[:, inside], targets.take(inside)))
            held[outside] = scores[own][outside]
        self._held_out = (told, held)
        return 1 + best

    def _calibrate(self, data: Training) -> None:
        """Keep the sizes of residuals: of every value of a row in memory, else of their mean."""
        (rows, scores), source = self.__dict__.pop("_held_out"), data.source
        if len(rows) < 2:
            return
        if isinstance(source, ArraySource):
            place = np.full(source.n_distinct, -1)
            place[rows] = np.arange(len(rows))
            seen = np.flatnonzero((place[source.inverse] >= 0) & (source.weight > 0))
            values, mass = source.labels[seen], source.weight[seen]
            if source.groups is not None:  # each of them weighs one
                of = source.groups[seen]
                mass = mass / np.bincount(of, mass)[of]
            scores = scores[place[source.inverse[seen]]]
        else:
            targets = pool_targets(source, int(rows.max()) + 1, standardize=False)
            values, mass = targets.Y[rows], targets.weight[rows]
        reference = reference_of(self.base_kernel_, source)
        self._calibration = HeldOutResiduals(
            np.abs(values - scores), np.asarray(mass, float), reference
        )

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """Targets, (n_samples,) or (n_samples, n_targets) as at fit."""
        return self._values(self._features(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
