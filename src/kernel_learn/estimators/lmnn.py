"""Large margin nearest neighbours, from class labels or triplets."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kernel_learn.arrays import Array, LabelsLike, Rows, RowsLike
from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.large_margin import LargeMargin
from kernel_learn.criteria.neighbours import principal_start
from kernel_learn.criteria.side_information import RelativeDistances, read_triplets
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import DESCENT, DescentMetric, MetricProblem
from kernel_learn.fitting.parameters import COUNT, FRACTION, POSITIVE


@dataclass(eq=False, repr=False, kw_only=True)
class KernelLMNN(DescentMetric):
    """Large margin nearest neighbours in a kernel's feature space.

    min over A >= 0 of the mean over rows i of
    (1 - mu) sum_{targets j} d_ij + mu sum_{targets j, impostors l} max(1 + d_ij - d_il, 0),
    plus reg tr A: convex, with a certified gap (Weinberger, Blitzer & Saul 2005). Distances are in
    units of the base kernel's mean squared distance.

    Parameters
    ----------
    kernel, n_components
    reg : float, default=0.01
        Weight of tr A.
    landmarks, memory_budget, random_state
    tol : float, default=1e-2
        Relative gap at which to stop.
    max_iter
    n_neighbors : int, default=3
        Target neighbours of each row.
    mu : float, default=0.5
        Weight of the margin against the pull, between 0 and 1.
    smoothing : float, default=0.1
        The hinge is rounded over this width, which makes the problem smooth and
        changes a margin's loss by half of it at most.

    Attributes
    ----------
    kernel_, objective_, gap_, base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    pair_bytes = 4.0  # an impostor that is listed; seldom more than a twentieth are
    directions = 40

    _parameters = DESCENT | {
        "n_neighbors": COUNT,
        "mu": FRACTION,
        "smoothing": POSITIVE,
    }

    n_neighbors: int = 3
    mu: float = 0.5
    smoothing: float = 0.1
    reg: float = 0.01
    tol: float = 1e-2

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
