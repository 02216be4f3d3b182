"""Neighbourhood components analysis."""

from dataclasses import dataclass
from typing import Self

from kernel_learn.arrays import LabelsLike, RowsLike
from kernel_learn.criteria.neighbours import NeighbourhoodComponents, discriminant_start
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import DESCENT, KernelMetric
from kernel_learn.fitting.parameters import check_n_components
from kernel_learn.solvers.smooth import solve_smooth


@dataclass(eq=False, repr=False, kw_only=True)
class KernelNCA(KernelMetric):
    """Neighbourhood components analysis in a kernel's feature space (Goldberger et al. 2005).

    max over L of the mean probability that a row's random neighbour is of its class, less
    reg |L|^2. Not convex; starts from the discriminant directions and never ends below them.

    Parameters
    ----------
    kernel
    n_components : int, default=None
        Rows of L; None: n_classes - 1.
    reg : float, default=0.0001
        Weight of |L|^2.
    landmarks, memory_budget, random_state
    tol : float, default=1e-5
        Largest entry of the gradient at which to stop.
    max_iter : int, default=200
        Steps at most.

    Attributes
    ----------
    kernel_, objective_
    grad_norm_ : float
        Norm of its gradient at the end.
    base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    _parameters = DESCENT

    reg: float = 1e-4
    tol: float = 1e-5
    max_iter: int = 200

    @all_or_nothing
    def fit(self, X: RowsLike, y: LabelsLike) -> Self:
        """Learn the map from rows X and class labels y."""
        problem = self._prepare(X, y)
        wanted = check_n_components(self.n_components, len(self.classes_) - 1, self)
        wanted = min(wanted, problem.Z.shape[1])
        criterion = NeighbourhoodComponents(problem.Z, problem.labels, float(self.reg))
        L = discriminant_start(problem.Z, problem.labels, wanted)
        result = solve_smooth(
            criterion.value_and_gradient,
            L,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            maximize=True,
        )
        self._store_result(result)
        self._store_factor(problem, result.point.T)
        return self
