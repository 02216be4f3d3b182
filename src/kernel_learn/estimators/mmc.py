"""Metric learning for clustering, from class labels or pairs."""

from typing import Self

import numpy as np

from kernel_learn.arrays import LabelsLike, MemoryBudget, RowsLike, Seed
from kernel_learn.criteria.neighbours import Clustering, principal_start
from kernel_learn.criteria.side_information import ChunkletsLike, ClusteringPairs, read_clustering
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import PAIRWISE, KernelMetric
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.landmarks import LandmarksLike


class KernelMMC(KernelMetric):
    """Metric learning for clustering in a kernel's feature space (Xing et al. 2002).

    max over A >= 0 of the mean distance sqrt(d_ij) of rows of different classes, subject to
    mean d_ij <= 1 over rows of the same class: convex, with a certified gap.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        As in :class:`KernelLMNN`.
    n_components : int or None, default=None
        As in :class:`KernelLMNN`.
    reg : float, default=0.1
        Added to the scatter of the similar pairs, relative to its mean eigenvalue:
        in a rich feature space some direction has none of it, and the bare
        problem no maximum.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`KernelLMNN`.
    tol : float, default=1e-3
        Relative gap at which to stop.
    max_iter : int, default=1000
        Steps at most.
    max_rows : int or None, default=1500
        As in :class:`KernelMCML`.
    memory_budget : int or str, default=None
        As in :class:`KernelLMNN`.
    random_state : int, RandomState or None, default=None
        As in :class:`KernelLMNN`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel, ``transform(X) @ transform(X_ref).T``.
    objective_ : float
        The mean distance that was maximised.
    gap_ : float
        Bound on its distance from the optimum.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
        Number of features.
    n_iter_ : int
        Iterations of the solver.
    history_ : tuple of dict
        The value, and what is known of its distance from the optimum, at each iteration.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    """

    directions = 20
    _parameters = PAIRWISE

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.1,
        landmarks: LandmarksLike = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_rows: int | None = 1500,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.tol, self.max_iter, self.max_rows = tol, max_iter, max_rows

    @all_or_nothing
    def fit(
        self, X: RowsLike, y: LabelsLike | None = None, *, constraints: ChunkletsLike | None = None
    ) -> Self:
        """Learn the metric from rows X and class labels y, or from constraints.

        ``constraints`` are ``Pairs(similar=S, dissimilar=D)`` of row indices, in whose means the
        criterion is taken then, or the number of its chunklet for each row, -1 for none: rows of
        one chunklet are similar, rows of two are not.
        """
        criterion: Clustering | ClusteringPairs
        if constraints is None:
            problem = self._prepare(X, y)
            Z, labels = problem.drawn(self.max_rows, self.random_state)
            criterion = Clustering(Z, labels, float(self.reg))
        else:
            problem = self._prepare_rows(X, y)
            criterion = read_clustering(constraints, problem.Z, float(self.reg), "KernelMMC")
        result = self._descend(criterion, principal_start(criterion.Z, self.directions), slack=2.0)
        # value = -q^2 for the best scale, q the mean distance at mean_S d = 1
        self.objective_ = float(np.sqrt(-result.value))
        self.gap_ = float(np.sqrt(-result.value + result.gap)) - self.objective_
        L = criterion.metric(result.point)
        self._store_metric(problem, L @ L.T)
        return self
