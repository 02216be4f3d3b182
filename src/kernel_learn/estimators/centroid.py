"""Kernel orthogonal centroids (KOC)."""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, MemoryBudget, Seed
from kernel_learn.criteria.centroid import orthonormal_centroids
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.kernel_weights import BankWeights
from kernel_learn.fitting.parameters import BANK, COUNT, LANDMARKS, SEEDED, VERBOSE
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.training import Labelled
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.represent import build_features, plan_source
from kernel_learn.rows.access import take_rows

NEEDS = Needs(exact=1.0, features=1.0)
CLUSTER_LANDMARKS = 200


class KernelOrthogonalCentroid(PartialFit, BankWeights, StreamedSubspace):
    """Projection on the span of the class centroids in feature space (KOC).

    The centroids of the classes are orthonormalised: W = E R^{-1} with
    E'KE = R'R and E the class averages. No centring and no parameter; keeps
    the cluster structure of well-separated classes (Park, Jeon & Rosen 2003;
    Wu & Farquhar 2007).

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        How alike two rows are; several kernels as in :class:`HSICSubspace`, combined into one of
        trace n by ``weights``.
    clusters_per_class : int, default=1
        With more than one, each class is first cut into so many clusters by
        k-means in feature space, and every cluster contributes its centroid:
        for classes of several lumps.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the targets, see
        :class:`HSICSubspace`; the same trace for each; centred alignment; relative weights of
        the kernels as given.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`HSICSubspace`.
    memory_budget : int or str, default=None
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None, default=None
        As in :class:`HSICSubspace`; also starts k-means.
    verbose : int, default=0
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel; ``kernel_.coef`` holds W.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
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
        Their names, if X was a frame. There are as many features as linearly
        independent centroids: n_classes * clusters_per_class at most.

    Notes
    -----
    A class with a single member is its own centroid. A class with fewer
    distinct rows than ``clusters_per_class`` gives one cluster per row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import KernelOrthogonalCentroid
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelOrthogonalCentroid().fit_transform(X, y).shape
    (150, 3)
    """

    _parameters = (SEEDED | BANK) | {
        "clusters_per_class": COUNT,
        "landmarks": LANDMARKS,
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        clusters_per_class: int = 1,
        weights: str | ArrayLike = "loo",
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.clusters_per_class = clusters_per_class
        self.weights = weights
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _check_stream(self) -> None:
        if self.clusters_per_class > 1:
            raise ValueError(
                "KernelOrthogonalCentroid(clusters_per_class > 1) clusters all rows of a class, "
                "and those of a stream come and go. Pass clusters_per_class=1, labels that name "
                "the clusters, or the rows as an array."
            )

    def _fit(self, data: Labelled) -> Self:
        clusters = int(self.clusters_per_class)
        self.classes_ = data.classes
        source = data.source
        if clusters > 1:
            data = self._weighed(data.resolved())
            groups = self._clusters(data, clusters)
            source = source.with_labels(groups, int(groups.max()) + 1)
        data, form = self._represent(data, source, needs=NEEDS, center=False)
        sample = self._combine(form, self._bank_weights(form, data.names))
        self._store_kernel(sample.expand(orthonormal_centroids(sample, source.counts)))
        return self

    def _weighed(self, data: Labelled) -> Labelled:
        """A bank as one kernel, weighed by the classes before these are cut into clusters."""
        if data.names is None:
            return data
        data, form = self._represent(data, needs=NEEDS, center=False)
        theta = self._bank_weights(form, data.names)
        assert theta is not None
        return replace(data, kernels=[form.combination(theta)], names=None)

    def _clusters(self, data: Labelled, clusters: int) -> Array:
        """Each row's cluster, numbered through all classes."""
        rng = check_random_state(self.random_state)
        groups = np.zeros(len(data.labels), dtype=np.intp)
        n_groups = 0
        for label in range(len(data.classes)):
            members = np.flatnonzero(data.labels == label)
            found = self._clusters_of(data, members, clusters, rng.randint(2**31 - 1))
            groups[members] = n_groups + found
            n_groups += int(found.max()) + 1
        return groups

    def _clusters_of(self, data: Labelled, members: Array, clusters: int, seed: int) -> Array:
        """k-means on features z(x) of one class, in the order of the rows' contents."""
        if data.source.is_matrix:
            Z, weight = self._matrix_features(data, members), data.weight[members]
            method = KMeans(min(clusters, len(members)), random_state=seed, n_init=3)
            return method.fit(Z, sample_weight=weight).labels_
        source = data.source.subset(members)
        plan = plan_source(data.kernels, source, CLUSTER_LANDMARKS, self.memory_budget)
        features = build_features(data.kernels, source, plan, CLUSTER_LANDMARKS, seed)
        Z = features(take_rows(source.X, source.first))
        weight = np.bincount(source.inverse, source.weight, source.n_distinct)
        method = KMeans(min(clusters, source.n_distinct), random_state=seed, n_init=3)
        return method.fit(Z, sample_weight=weight).labels_[source.inverse]

    def _matrix_features(self, data: Labelled, members: Array) -> Array:
        """Rows of a precomputed matrix in the basis of its eigenvectors, those of one class."""
        K = data.kernel(take_rows(data.X, members), members)
        w, U = linalg.eigh((K + K.T) / 2)
        top = slice(-CLUSTER_LANDMARKS, None)
        return np.asarray(U[:, top] * np.sqrt(np.maximum(w[top], 0.0)))
