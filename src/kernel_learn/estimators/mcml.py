"""Maximally collapsing metric learning."""

from dataclasses import dataclass
from typing import Self

from kernel_learn.arrays import LabelsLike, RowsLike
from kernel_learn.criteria.neighbours import CollapsedClasses, principal_start
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import PAIRWISE, DescentMetric


@dataclass(eq=False, repr=False, kw_only=True)
class KernelMCML(DescentMetric):
    """Maximally collapsing metric learning in a kernel's feature space.

    min over A >= 0 of -mean_i mean_{j of i's class} log p_ij + reg tr A, p_ij the softmax of
    -d_ij over the other rows: convex, with a certified gap (Globerson & Roweis 2006).

    Parameters
    ----------
    kernel, n_components
    reg : float, default=0.001
        Where classes can be separated the bare criterion has no minimum.
    landmarks, memory_budget, random_state
    tol : float, default=1e-3
        Relative gap at which to stop.
    max_iter
    max_rows : int or None, default=1500
        The criterion runs over all pairs of so many rows at most: of more rows it is
        that of a draw (by ``random_state``, each class with its share), which **changes
        the optimum**. None: all rows, in a time that grows with their square. The
        kernel's features are those of all rows either way.

    Attributes
    ----------
    kernel_, objective_, gap_, base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    directions = 20
    _parameters = PAIRWISE

    reg: float = 1e-3
    tol: float = 1e-3
    max_rows: int | None = 1500

    @all_or_nothing
    def fit(self, X: RowsLike, y: LabelsLike) -> Self:
        """Learn the metric from rows X and class labels y."""
        problem = self._prepare(X, y)
        Z, labels = problem.drawn(self.max_rows, self.random_state)
        criterion = CollapsedClasses(Z, labels, float(self.reg))
        result = self._descend(criterion, 2 * principal_start(criterion.Z, self.directions))
        self._store_metric(problem, result.point @ result.point.T)
        return self
