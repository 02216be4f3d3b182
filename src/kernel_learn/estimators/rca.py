"""Relevant component analysis, from class labels or chunklets."""

from dataclasses import dataclass
from typing import Self

from kernel_learn.arrays import LabelsLike, RowsLike
from kernel_learn.criteria.neighbours import within_class_metric
from kernel_learn.criteria.side_information import ChunkletsLike, read_chunklet_rows
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import KernelMetric
from kernel_learn.fitting.parameters import POSITIVE, SUBSPACE


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRCA(KernelMetric):
    """Relevant component analysis in a kernel's feature space (Bar-Hillel et al. 2005).

    A = (C + reg mean-eigenvalue(C) I)^{-1}, C the covariance within classes (chunklets): directions
    in which rows of one class differ count for less. Closed form.

    Parameters
    ----------
    kernel, n_components
    reg : float, default=0.1
        Relative to the mean eigenvalue of C, which is singular in a rich feature space.
    landmarks, memory_budget, random_state

    Attributes
    ----------
    kernel_, base_kernel_, classes_, n_components_, plan_
    """

    block_arrays = 0.0

    _parameters = SUBSPACE | {"reg": POSITIVE}

    reg: float = 0.1

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
