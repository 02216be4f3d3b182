"""Relevant component analysis, from class labels or chunklets."""

from typing import Self

from kernel_learn.arrays import LabelsLike, MemoryBudget, RowsLike, Seed
from kernel_learn.criteria.neighbours import within_class_metric
from kernel_learn.criteria.side_information import ChunkletsLike, read_chunklet_rows
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import KernelMetric
from kernel_learn.fitting.parameters import POSITIVE, SUBSPACE
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.landmarks import LandmarksLike


class KernelRCA(KernelMetric):
    """Relevant component analysis in a kernel's feature space (Bar-Hillel et al. 2005).

    A = (C + reg mean-eigenvalue(C) I)^{-1}, C the covariance within classes (chunklets): directions
    in which rows of one class differ count for less. Closed form.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        As in :class:`KernelLMNN`.
    n_components : int or None, default=None
        As in :class:`KernelLMNN`.
    reg : float, default=0.1
        Relative to the mean eigenvalue of C, which is singular in a rich feature space.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`KernelLMNN`.
    memory_budget : int or str, default=None
        As in :class:`KernelLMNN`.
    random_state : int, RandomState or None, default=None
        As in :class:`KernelLMNN`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel, ``transform(X) @ transform(X_ref).T``.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
        Number of features.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    """

    block_arrays = 0.0

    _parameters = SUBSPACE | {"reg": POSITIVE}

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.1,
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)

    @all_or_nothing
    def fit(
        self, X: RowsLike, y: LabelsLike | None = None, *, constraints: ChunkletsLike | None = None
    ) -> Self:
        """Learn the metric from rows X and class labels y, or from constraints.

        ``constraints`` are the number of its chunklet for each row, -1 for none, or
        ``Pairs(similar=S)`` of row indices: rows that pairs join, step by step, are a chunklet.
        Only rows in chunklets count. Dissimilar pairs may be given and say nothing here.
        """
        if constraints is None:
            problem = self._prepare(X, y)
            Z, labels = problem.Z, problem.labels
        else:
            problem = self._prepare_rows(X, y)
            Z, labels = read_chunklet_rows(constraints, problem.Z, "KernelRCA")
        A = within_class_metric(Z, labels, float(self.reg))
        self._store_metric(problem, A)
        return self
