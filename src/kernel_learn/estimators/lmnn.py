"""Large margin nearest neighbours, from class labels or triplets."""

from typing import Self

import numpy as np

from kernel_learn.arrays import Array, LabelsLike, MemoryBudget, Rows, RowsLike, Seed
from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.large_margin import LargeMargin
from kernel_learn.criteria.neighbours import principal_start
from kernel_learn.criteria.side_information import RelativeDistances, read_triplets
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import DESCENT, KernelMetric, MetricProblem
from kernel_learn.fitting.parameters import COUNT, FRACTION, POSITIVE
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.landmarks import LandmarksLike


class KernelLMNN(KernelMetric):
    """Large margin nearest neighbours in a kernel's feature space.

    min over A >= 0 of the mean over rows i of
    (1 - mu) sum_{targets j} d_ij + mu sum_{targets j, impostors l} max(1 + d_ij - d_il, 0),
    plus reg tr A: convex, with a certified gap (Weinberger, Blitzer & Saul 2005). Distances are in
    units of the base kernel's mean squared distance.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    n_components : int, default=None
        Keep so many principal directions of the learned kernel; None: all.
    n_neighbors : int, default=3
        Target neighbours of each row.
    mu : float, default=0.5
        Weight of the margin against the pull, between 0 and 1.
    smoothing : float, default=0.1
        The hinge is rounded over this width, which makes the problem smooth and
        changes a margin's loss by half of it at most.
    reg : float, default=0.01
        Weight of tr A.
    landmarks : default="auto"
        As in :class:`HSICSubspace`; "auto": exact up to 600 rows, else 300 landmarks.
    tol : float, default=1e-2
        Relative gap at which to stop.
    max_iter : int, default=1000
        Steps at most.
    memory_budget : int or str, default=None
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None, default=None
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel, ``transform(X) @ transform(X_ref).T``.
    objective_ : float
        Value of the problem above.
    gap_ : float
        A bound on its distance from the optimum.
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

    pair_bytes = 4.0  # an impostor that is listed; seldom more than a twentieth are
    directions = 40

    _parameters = DESCENT | {
        "n_neighbors": COUNT,
        "mu": FRACTION,
        "smoothing": POSITIVE,
    }

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        n_neighbors: int = 3,
        mu: float = 0.5,
        smoothing: float = 0.1,
        reg: float = 0.01,
        landmarks: LandmarksLike = "auto",
        tol: float = 1e-2,
        max_iter: int = 1000,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.n_neighbors, self.mu, self.smoothing = n_neighbors, mu, smoothing
        self.tol, self.max_iter = tol, max_iter

    @all_or_nothing
    def fit(
        self, X: RowsLike, y: LabelsLike | None = None, *, constraints: Constraints | None = None
    ) -> Self:
        """Learn the metric from rows X and class labels y, or ``constraints=Triplets(...)``.

        Of triplets (i, j, l) of row indices it is the mean over them of
        (1 - mu) d_ij + mu max(margin + d_ij - d_il, 0) that is made small, the margin being 1
        where none is given, like ``reg`` in units of the base kernel's mean squared distance.
        """
        if constraints is not None:
            return self._fit_triplets(X, y, constraints)
        problem = self._prepare(X, y)
        criterion = LargeMargin(
            problem.Z,
            problem.labels,
            int(self.n_neighbors),
            float(self.mu),
            float(self.reg),
            float(self.smoothing),
        )
        start = criterion.scaled(principal_start(criterion.Z, self.directions))
        return self._learn(problem, criterion, start)

    def _fit_triplets(self, X: Rows, y: LabelsLike | None, constraints: Constraints) -> Self:
        problem = self._prepare_rows(X, y)
        Z = problem.Z
        triplets, margin = read_triplets(constraints, len(Z), "KernelLMNN")
        i, j, other = triplets.T
        criterion = RelativeDistances(
            Z[i] - Z[j],
            Z[i] - Z[other],
            np.where(np.isnan(margin), 1.0, margin / problem.scale),
            float(self.mu),
            float(self.reg),
            float(self.smoothing),
        )
        return self._learn(problem, criterion, principal_start(criterion.Z, self.directions))

    def _learn(
        self, problem: MetricProblem, criterion: LargeMargin | RelativeDistances, start: Array
    ) -> Self:
        L = criterion.metric(self._descend(criterion, start).point)
        self._store_metric(problem, L @ L.T)
        return self
