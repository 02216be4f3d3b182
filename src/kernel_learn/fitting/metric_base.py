"""What the kernelised metric learners share: features in units of the base kernel's distances."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, Keys, LabelsLike, MemoryBudget, Rows, Seed
from kernel_learn.criteria.draw import draw_rows
from kernel_learn.criteria.neighbours import BLOCK_SIZE
from kernel_learn.fitting.base import SubspaceTransformer
from kernel_learn.fitting.parameters import COUNT, NONE, POSITIVE, SUBSPACE, check_n_components
from kernel_learn.fitting.training import Training, validate_labelled, validate_unlabelled
from kernel_learn.fitting.variance import check_spread, warn_of_scales
from kernel_learn.kernels.base import KernelLike
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.points import exact_points, feature_points
from kernel_learn.representations.represent import build_features, plan_source
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.eigen import learned_directions
from kernel_learn.solvers.psd import Criterion, solve_psd
from kernel_learn.solvers.result import Result
from kernel_learn.warn import warn_user

# What parameters may be where a metric is found by descent, and where all pairs are looked at.
DESCENT = SUBSPACE | {"reg": POSITIVE, "tol": POSITIVE, "max_iter": COUNT}
PAIRWISE = DESCENT | {"max_rows": COUNT | NONE}
EXACT_ROWS = 600
DEFAULT_LANDMARKS = 300
ROW_ARRAYS = 4.0  # n x M arrays that are held at a time
DESCENT_ARRAYS = 48.0  # factors of the metric that L-BFGS holds, with its 20 corrections


class MetricProblem(NamedTuple):
    """What a metric learner learns from."""

    Z: Array  # (n, M) features in units of the root mean squared distance
    labels: Array  # empty where constraints take their place
    features: FeatureMap
    scale: float  # the mean squared distance
    keys: Keys  # of the rows' contents

    def drawn(self, max_rows: int | None, random_state: Seed) -> tuple[Array, Array]:
        """(Z, labels) of the rows whose pairs are looked at."""
        order = np.argsort(self.keys, kind="stable")
        rows = draw_rows(self.labels, order, max_rows, check_random_state(random_state))
        return self.Z[rows], self.labels[rows]


class KernelMetric(SubspaceTransformer):
    """What the kernelised metric learners share: the feature map, and how results are stored.

    Features are whitened and divided by the root mean squared distance of the
    base kernel, so margins and ``reg`` keep their meaning for any kernel.
    """

    n_components: int | None
    tol: float  # of those that descend
    max_iter: int
    pair_bytes = 0.0  # of each pair of rows
    block_arrays = 3.0  # blocks of pairs that are held at a time
    directions = 0  # columns of the factor from which the descent starts

    def __init__(
        self,
        kernel: KernelLike,
        n_components: int | None,
        reg: float,
        landmarks: LandmarksLike,
        memory_budget: MemoryBudget,
        random_state: Seed,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state

    def _prepare(self, X: Rows, y: LabelsLike | None) -> MetricProblem:
        """The rows as features, with their class labels."""
        data = validate_labelled(self, X, y)
        # in float64: what float32 leaves of directions with little variance is their noise
        source = data.source.with_rows(to_double(data.X))
        self.classes_ = data.classes
        self._check_classes(source)
        return self._measure(replace(data, source=source), data.labels)

    def _prepare_rows(self, X: Rows, y: LabelsLike | None) -> MetricProblem:
        """The rows as features, where constraints take the place of labels."""
        if y is not None:
            raise ValueError(
                "Both y and constraints were given. Constraints take the place of labels: "
                "pass one of the two."
            )
        data = validate_unlabelled(self, X)
        source = data.source.with_rows(to_double(data.X))
        return self._measure(replace(data, source=source), np.empty(0, dtype=int))

    def _measure(self, data: Training, labels: Array) -> MetricProblem:
        source = data.source
        n = source.n_rows

        def extra(_: int, M: int) -> float:
            """Of all pairs of rows, blocks of them, features of all rows, and the descent."""
            block = self.block_arrays * min(BLOCK_SIZE, n**2)
            descent = DESCENT_ARRAYS * M * min(M, self.directions)
            return self.pair_bytes * n**2 + 8.0 * (block + ROW_ARRAYS * n * M + descent)

        self.plan_ = plan_source(
            data.kernels,
            source,
            self.landmarks,
            self.memory_budget,
            Needs(6.0, 6.0, reordered=True, extra=extra, remedy="fit it on a subset of the rows"),
            exact_rows=EXACT_ROWS,
            default_landmarks=DEFAULT_LANDMARKS,
        )
        warn_of_scales(self, data.kernels, source)
        data = data.resolved()
        self.base_kernel_ = data.kernel
        if self.plan_.representation == "gram":
            features, points, _ = exact_points(data.kernel, source, np.arange(n), source)
        else:
            features = build_features(
                data.kernels, source, self.plan_, self.landmarks, self.random_state
            )
            points = feature_points(features, source, np.arange(n), source)
        Z = points(np.arange(n))
        m = Z.mean(axis=0)
        scale = 2 * float(np.mean(np.sum((Z - m) ** 2, axis=1))) * n / (n - 1)
        size = float(np.mean(np.einsum("ij,ij->i", Z, Z)))
        check_spread(data.kernel, scale, size, getattr(self, "n_features_in_", None))
        return MetricProblem(Z / np.sqrt(scale), labels, features, scale, source.keys)

    def _check_classes(self, source: ArraySource) -> None:
        assert source.n_classes is not None
        kinds = np.unique(source.inverse * source.n_classes + source.labels)
        if source.n_distinct > 1 and np.bincount(kinds % source.n_classes).max() < 2:
            raise ValueError(
                f"{type(self).__name__} learns from rows of one class that differ, and no class "
                f"has two distinct rows ({source.n_classes} classes, {source.n_distinct} distinct "
                "rows). Check that y holds classes and not numbers of rows."
            )

    def _descend(self, criterion: Criterion, start: Array, slack: float = 1.0) -> Result:
        """The criterion's minimum to ``slack * tol``, with its certificate stored."""
        result = solve_psd(
            criterion, start, tol=slack * float(self.tol), max_iter=int(self.max_iter)
        )
        self._store_certificate(result)
        return result

    def _store_metric(self, problem: MetricProblem, A: Array) -> None:
        """kernel_ from A in scaled features; principal axes of the learned kernel first."""
        wanted = check_n_components(self.n_components, len(A), self)
        w, V = linalg.eigh((A + A.T) / 2)
        if w[-1] <= 0:
            raise ValueError(
                f"{type(self).__name__} found that the best metric is zero: reg={self.reg!r} is "
                "too large for these rows."
            )
        F = learned_directions(w, V, problem.Z.T @ problem.Z)[:, :wanted]
        self._store_factor(problem, F)

    def _store_factor(self, problem: MetricProblem, F: Array) -> None:
        coef = F / np.sqrt(problem.scale)
        self._store_kernel(problem.features.expand(coef, np.zeros(len(F))))

    def _store_certificate(self, result: Result) -> None:
        self.objective_, self.gap_ = result.value, result.gap
        self.n_iter_, self.history_ = result.n_iter, result.history
        if result.status != "optimal":
            warn_user(
                f"{type(self).__name__} stopped after {result.n_iter} iterations at a relative "
                f"gap of {result.relative_gap:.2g}. Raise max_iter, tol or reg.",
                ConvergenceWarning,
            )
