"""Discriminant analysis in the span of the class centroids (AKDA/QR)."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernel_learn.arrays import Array, MemoryBudget, Rows
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.kernel_weights import BankWeights
from kernel_learn.fitting.parameters import (
    BANK,
    COUNT,
    MEMORY,
    NONE,
    POSITIVE,
    VERBOSE,
    ParameterTable,
    check_n_components,
)
from kernel_learn.fitting.training import Labelled, Training, is_of_vectors
from kernel_learn.fitting.variance import check_variance
from kernel_learn.kernels.bank import Combination, evaluate_bank
from kernel_learn.kernels.base import Kernel, KernelsLike
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.plan import Plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.represent import plan_source
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.access import is_sparse
from kernel_learn.rows.table import as_in, vectors_of
from kernel_learn.solvers.eigen import solve_centroid_discriminant
from kernel_learn.streams.progress import CallbackSupport


class KernelDiscriminantQR(CallbackSupport, BankWeights, StreamedSubspace):
    """Approximate kernel discriminant analysis from n x k kernel values (AKDA/QR).

    The centroids c of the classes are taken in input space; k(x, c) are k
    numbers per row, whitened by K(c, c) = R'R, and discriminant analysis is
    done in those k dimensions (Xiong, Ye, Li, Janardan & Cherkassky 2004).
    Time and memory grow linearly with the number of rows.

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        On vectors or some columns of numbers: rows are averaged. Several kernels as in
        :class:`HSICSubspace`, combined into one of trace n by ``weights``.
    n_components : int, default=None
        None means n_classes.
    reg : float, default=1e-3
        mu = reg * tr(S_t) / n is added to the total scatter.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the targets, here
        the generalised one on the n x k values of each kernel; the same trace for each; centred
        alignment; relative weights of the kernels as given.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    verbose : int, default=0
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel; ``kernel_.landmarks`` are the class centroids,
        ``kernel_.coef`` is R^{-1} V.
    eigenvalues_ : ndarray of shape (n_components_,)
        v'S_b v of each feature v, scaled to v'(S_t + mu I)v = 1. S_b is taken
        at the centroids' images, which are no class means of the features, so
        a value may exceed one; the last of n_classes is zero.
    reg_ : float
        mu.
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
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    A class with a single member has that row as its centroid. Classes whose
    centroids coincide share their features, and there are fewer of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn import KernelDiscriminantQR
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelDiscriminantQR().fit_transform(X, y).shape
    (150, 3)
    """

    _parameters: ClassVar[ParameterTable] = BANK | {
        "n_components": COUNT | NONE,
        "reg": POSITIVE,
        "memory_budget": MEMORY,
        "verbose": VERBOSE,
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-3,
        weights: str | ArrayLike = "loo",
        memory_budget: MemoryBudget = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.weights = weights
        self.memory_budget = memory_budget
        self.verbose = verbose

    streams, needs_class_sums = True, True

    def _fit(self, data: Labelled) -> Self:
        if not is_of_vectors(data):
            raise ValueError(
                f"KernelDiscriminantQR averages rows, and {data.kernel!r} takes rows that cannot "
                "be averaged. Use KernelOrthogonalCentroid or KernelDiscriminant."
            )
        self.classes_ = data.classes
        source = data.source
        if isinstance(source, PooledSource):
            self.plan_, state = source.plan, source.state
            assert state.features is not None and state.moments is not None
            features, moments = state.features, state.moments
        else:
            self.plan_ = self._plan_centroids(data.kernels, source)
            features = self._stream_features(data, self.plan_)
            moments = features.moments(source, self.plan_.block_rows)
        if data.names is not None:
            theta = self._bank_weights(MomentForm(features, moments), data.names)
            assert theta is not None
            features, moments = combine_centroids(features, moments, theta)
        self.base_kernel_ = features.kernels[0]
        sample = MomentForm(features, moments).at(np.ones(1))
        check_variance(sample, self.n_features_in_)
        self.reg_ = float(self.reg) * sample.trace / sample.n
        V, self.eigenvalues_ = solve_centroid_discriminant(
            sample.operator,
            features(features.landmarks),
            data.counts,
            self.reg_,
            check_n_components(self.n_components, len(data.classes), self),
        )
        self._store_kernel(sample.expand(V))
        self._warn_if_fewer()
        return self

    def _plan_stream(self, kernels: list[Kernel], pool: PooledSource) -> Plan:
        pool.check_rewinds("KernelDiscriminantQR", "twice, once for the centroids of the classes")
        return self._plan_centroids(kernels, pool)

    def _plan_centroids(self, kernels: list[Kernel], source: ArraySource | PooledSource) -> Plan:
        """k landmarks, given and not chosen."""
        few = np.zeros(source.n_targets, int)
        return plan_source(kernels, source, few, self.memory_budget)

    def _stream_features(self, data: Training, chosen: Plan) -> FeatureMap:
        data = data.resolved()
        assert isinstance(data, Labelled)
        return FeatureMap.whitened(data.kernels, class_means(data).astype(data.X.dtype))


def combine_centroids(
    features: FeatureMap, moments: Moments, theta: Array
) -> tuple[FeatureMap, Moments]:
    """The map of k = sum_i theta_i k_i on the same centroids c, and its moments; no row is read.

    k_i(c, x) lies in the range of K_i = K_i(c, c), so that it is K_i T_i z_i(x): the combined
    features T'k(c, x) are T' [theta_1 K_1 T_1, ..., theta_p K_p T_p] z(x).
    """
    centroids = to_double(features.landmarks)
    combined = FeatureMap.whitened(
        [Combination(features.kernels, theta)], features.landmarks, features.landmarks
    )
    Ks = dict(evaluate_bank(features.kernels, centroids))
    T = combined.whiten[0]
    assert T is not None
    parts = [
        theta[i] * (T.T @ (Ks[i] @ T_i)) for i, T_i in enumerate(features.whiten) if T_i is not None
    ]
    return combined, moments.mapped(np.hstack(parts))


def class_means(data: Labelled) -> Rows:
    """Weighted means of the rows of each class, (k, d); sparse for sparse rows."""
    if isinstance(data.source, PooledSource):
        sums, counts = data.source.state.sums, data.counts
        return sparse.diags(1 / counts) @ sums if is_sparse(sums) else sums / counts[:, None]
    n, k = len(data.labels), len(data.classes)
    average: Array = data.weight / data.counts[data.labels]
    E = sparse.csr_matrix((average, (data.labels, np.arange(n))), shape=(k, n))
    return as_in(data.X, E @ vectors_of(data.X))
