"""Kernel partial least squares, for classes and for real targets."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils import Tags

from kernel_learn.arrays import Array, DataLike, MemoryBudget, Seed
from kernel_learn.criteria.held_out.ridge import centre
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.block_results import ScoredRegressor, on_sources
from kernel_learn.fitting.parameters import STREAMED, check_n_components
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.predictions import ScoreClassifier, SharpenedScores
from kernel_learn.fitting.probabilities import ScoreFold, fit_sharpness, pool_kernel
from kernel_learn.fitting.training import Labelled, Training, Valued
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.base import Combined
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.solvers.pls import solve_pls


class _KernelPLS(PartialFit, StreamedSubspace):
    """Scores t = Phi r, orthonormal on the training rows, and regression of the targets on them."""

    n_components: int | None

    _parameters = STREAMED

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _solve(self, data: Training, default: int) -> tuple[Training, Combined]:
        wanted = check_n_components(self.n_components, default, self)
        data, form = self._represent(data, needs=Needs(exact=1.0, features=1.0, columns=8.0))
        sample = self._combine(form)
        found = solve_pls(sample, wanted)
        self._store_kernel(sample.expand(found.R))
        self.loadings_ = found.P
        self.intercept_ = data.source.counts / sample.n
        return data, sample

    def _regress(self, F: Array) -> Array:
        """Fitted targets, (n_rows, q): mean + F P."""
        return F @ self.loadings_.astype(F.dtype) + self.intercept_.astype(F.dtype)


class KernelPLS(SharpenedScores, ScoreClassifier, _KernelPLS):
    """Kernel partial least squares on class labels (Rosipal & Trejo 2001).

    Features are found one after the other, each of largest covariance with
    what is left of the one-hot labels; rows are classified by least squares on
    them. A transformer and a classifier.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    n_components : int, default=None
        Number of features; None means n_classes.
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
        Class frequencies.
    sharpness_ : float
        ``predict_proba`` is softmax(sharpness_ * scores), fitted to the scores of up to 400 rows
        by five-fold cross-validation: five small fits.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    classes_ : ndarray of shape (n_classes,)
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

    def _fit(self, data: Labelled) -> Self:
        self.classes_ = data.classes
        solved, sample = self._solve(data, default=len(data.classes))
        self.sharpness_ = fit_sharpness(*self._parts(solved, sample))
        self._warn_if_fewer()
        return self

    def _parts(self, data: Training, sample: Combined) -> tuple[Targets, ScoreFold]:
        """Labels of some rows, and what the scores of some of them say of others."""
        if isinstance(sample, Gram):
            told = np.flatnonzero(sample.weight > 0)
            told = told[np.argsort(np.argsort(sample.order)[told])]  # in the order of their keys
            root = sample.root_weight[told]
            Y = sample.targets[told] / root[:, None] + sample.target_mean
            targets = Targets(np.maximum(sample.weight[told, None] * Y, 0.0))

            def block(a: Array, b: Array) -> Array:
                G = sample.operator[np.ix_(told[a], told[b])]
                return np.asarray(G / root[a][:, None] / root[b])
        else:
            targets, K = pool_kernel(data.kernel, data.source)

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


class KernelPLSRegressor(ScoredRegressor, _KernelPLS):
    """Kernel partial least squares for real targets, several at once (Rosipal & Trejo 2001).

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    n_components : int, default=None
        Number of scores; None means 10, or fewer if they exhaust the targets.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from kernel_learn import KernelPLSRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> print(f"{KernelPLSRegressor(n_components=3).fit(X, y).score(X, y):.1f}")
    0.6
    """

    learns_values = True

    def _fit(self, data: Valued) -> Self:
        self._single = data.single
        self._solve(data, default=10)
        self._warn_if_fewer()
        return self

    @on_sources
    def predict(self, X: DataLike) -> Array:
        """Targets, (n_samples,) or (n_samples, n_targets) as at fit."""
        values = self._regress(self._features(X))
        return values[:, 0] if self._single else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
