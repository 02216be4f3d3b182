"""Neighbourhood components analysis."""

from typing import Self

from kernel_learn.arrays import LabelsLike, MemoryBudget, RowsLike, Seed
from kernel_learn.criteria.neighbours import NeighbourhoodComponents, discriminant_start
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import DESCENT, KernelMetric
from kernel_learn.fitting.parameters import check_n_components
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.solvers.smooth import solve_smooth


class KernelNCA(KernelMetric):
    """Neighbourhood components analysis in a kernel's feature space (Goldberger et al. 2005).

    max over L of the mean probability that a row's random neighbour is of its class, less
    reg |L|^2. Not convex; starts from the discriminant directions and never ends below them.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        As in :class:`KernelLMNN`.
    n_components : int, default=None
        Rows of L; None: n_classes - 1.
    reg : float, default=0.0001
        Weight of |L|^2.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`KernelLMNN`.
    tol : float, default=1e-5
        Largest entry of the gradient at which to stop.
    max_iter : int, default=200
        Steps at most.
    memory_budget : int or str, default=None
        As in :class:`KernelLMNN`.
    random_state : int, RandomState or None, default=None
        As in :class:`KernelLMNN`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel, ``transform(X) @ transform(X_ref).T``.
    objective_ : float
        Value of the problem above.
    grad_norm_ : float
        Norm of its gradient at the end.
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

    _parameters = DESCENT

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-4,
        landmarks: LandmarksLike = "auto",
        tol: float = 1e-5,
        max_iter: int = 200,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.tol, self.max_iter = tol, max_iter

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
