"""Maximally collapsing metric learning."""

from typing import Self

from kernel_learn.arrays import LabelsLike, MemoryBudget, RowsLike, Seed
from kernel_learn.criteria.neighbours import CollapsedClasses, principal_start
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import PAIRWISE, KernelMetric
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.landmarks import LandmarksLike


class KernelMCML(KernelMetric):
    """Maximally collapsing metric learning in a kernel's feature space.

    min over A >= 0 of -mean_i mean_{j of i's class} log p_ij + reg tr A, p_ij the softmax of
    -d_ij over the other rows: convex, with a certified gap (Globerson & Roweis 2006).

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        As in :class:`KernelLMNN`.
    n_components : int or None, default=None
        As in :class:`KernelLMNN`.
    reg : float, default=0.001
        Where classes can be separated the bare criterion has no minimum.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`KernelLMNN`.
    tol : float, default=1e-3
        Relative gap at which to stop.
    max_iter : int, default=1000
        Steps at most.
    max_rows : int or None, default=1500
        The criterion runs over all pairs of so many rows at most: of more rows it is
        that of a draw (by ``random_state``, each class with its share), which **changes
        the optimum**. None: all rows, in a time that grows with their square. The
        kernel's features are those of all rows either way.
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

    directions = 20
    _parameters = PAIRWISE

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-3,
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
    def fit(self, X: RowsLike, y: LabelsLike) -> Self:
        """Learn the metric from rows X and class labels y."""
        problem = self._prepare(X, y)
        Z, labels = problem.drawn(self.max_rows, self.random_state)
        criterion = CollapsedClasses(Z, labels, float(self.reg))
        result = self._descend(criterion, 2 * principal_start(criterion.Z, self.directions))
        self._store_metric(problem, result.point @ result.point.T)
        return self
