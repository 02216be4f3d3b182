"""Kernelised metric learning from class labels or side information: LMNN, MCML, RCA, MMC, NCA."""

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.draw import draw_rows
from kernel_learn.criteria.large_margin import LargeMargin
from kernel_learn.criteria.neighbours import (
    BLOCK_SIZE,
    Clustering,
    CollapsedClasses,
    NeighbourhoodComponents,
    principal_start,
    within_class,
    within_class_metric,
)
from kernel_learn.criteria.side_information import (
    ClusteringPairs,
    RelativeDistances,
    chunklets_of,
    read_chunklets,
    read_pairs,
    read_triplets,
)
from kernel_learn.estimators.base import SubspaceTransformer, all_or_nothing
from kernel_learn.estimators.parameters import COUNT, FRACTION, NONE, POSITIVE, SUBSPACE
from kernel_learn.estimators.validation import (
    Array,
    Training,
    check_n_components,
    check_spread,
    validate_labelled,
    validate_unlabelled,
)
from kernel_learn.kernels.rows import Keys
from kernel_learn.kernels.warn import warn_user
from kernel_learn.representations import (
    ArraySource,
    FeatureMap,
    Needs,
    build_features,
    plan_source,
)
from kernel_learn.representations.gram import to_double
from kernel_learn.representations.points import exact_points, feature_points
from kernel_learn.solvers.eigen import learned_directions
from kernel_learn.solvers.psd import solve_psd
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth

DESCENT = SUBSPACE | {"reg": POSITIVE, "tol": POSITIVE, "max_iter": COUNT}
PAIRWISE = DESCENT | {"max_rows": COUNT | NONE}
EXACT_ROWS = 600
DEFAULT_LANDMARKS = 300
ROW_ARRAYS = 4.0  # n x M arrays that are held at a time
DESCENT_ARRAYS = 48.0  # factors of the metric that L-BFGS holds, with its 20 corrections


class _Problem(NamedTuple):
    Z: Array  # (n, M) features in units of the root mean squared distance
    labels: Array  # empty where constraints take their place
    features: FeatureMap
    scale: float  # the mean squared distance
    keys: Keys  # of the rows' contents

    def drawn(self, max_rows: int | None, random_state: Any) -> tuple[Array, Array]:
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
    pair_bytes = 0.0  # of each pair of rows
    block_arrays = 3.0  # blocks of pairs that are held at a time
    directions = 0  # columns of the factor from which the descent starts

    def __init__(
        self,
        kernel: Any,
        n_components: int | None,
        reg: float,
        landmarks: Any,
        memory_budget: float | str | None,
        random_state: Any,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state

    def _prepare(self, X: Any, y: Any) -> _Problem:
        """The rows as features, with their class labels."""
        data = validate_labelled(self, X, y)
        # in float64: what float32 leaves of directions with little variance is their noise
        source = data.source.with_rows(to_double(data.X))
        self.classes_ = data.classes
        self._check_classes(source)
        return self._measure(replace(data, source=source), data.labels)

    def _prepare_rows(self, X: Any, y: Any) -> _Problem:
        """The rows as features, where constraints take the place of labels."""
        if y is not None:
            raise ValueError(
                "Both y and constraints were given. Constraints take the place of labels: "
                "pass one of the two."
            )
        data = validate_unlabelled(self, X)
        source = data.source.with_rows(to_double(data.X))
        return self._measure(replace(data, source=source), np.empty(0, dtype=int))

    def _measure(self, data: Training, labels: Array) -> _Problem:
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
        return _Problem(Z / np.sqrt(scale), labels, features, scale, source.keys)

    def _check_classes(self, source: ArraySource) -> None:
        assert source.n_classes is not None
        kinds = np.unique(source.inverse * source.n_classes + source.labels)
        if source.n_distinct > 1 and np.bincount(kinds % source.n_classes).max() < 2:
            raise ValueError(
                f"{type(self).__name__} learns from rows of one class that differ, and no class "
                f"has two distinct rows ({source.n_classes} classes, {source.n_distinct} distinct "
                "rows). Check that y holds classes and not numbers of rows."
            )

    def _store_metric(self, problem: _Problem, A: Array) -> None:
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

    def _store_factor(self, problem: _Problem, F: Array) -> None:
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
    objective_, gap_ : float
        Value of the problem above, and a bound on its distance from the optimum.
    base_kernel_, classes_, n_components_, n_iter_, history_, plan_
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
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        n_neighbors: int = 3,
        mu: float = 0.5,
        smoothing: float = 0.1,
        reg: float = 0.01,
        landmarks: Any = "auto",
        tol: float = 1e-2,
        max_iter: int = 1000,
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.n_neighbors, self.mu, self.smoothing = n_neighbors, mu, smoothing
        self.tol, self.max_iter = tol, max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
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
        result = solve_psd(
            criterion,
            criterion.scaled(principal_start(criterion.Z, self.directions)),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._store_certificate(result)
        L = criterion.metric(result.point)
        self._store_metric(problem, L @ L.T)
        return self

    def _fit_triplets(self, X: Any, y: Any, constraints: Constraints) -> Self:
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
        result = solve_psd(
            criterion,
            principal_start(criterion.Z, self.directions),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._store_certificate(result)
        L = criterion.metric(result.point)
        self._store_metric(problem, L @ L.T)
        return self


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
    objective_, gap_ : float
        Value of the problem above, and a bound on its distance from the optimum.
    base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    directions = 20
    _parameters = PAIRWISE

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-3,
        landmarks: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_rows: int | None = 1500,
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.tol, self.max_iter, self.max_rows = tol, max_iter, max_rows

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric from rows X and class labels y."""
        problem = self._prepare(X, y)
        Z, labels = problem.drawn(self.max_rows, self.random_state)
        criterion = CollapsedClasses(Z, labels, float(self.reg))
        result = solve_psd(
            criterion,
            2 * principal_start(criterion.Z, self.directions),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._store_certificate(result)
        self._store_metric(problem, result.point @ result.point.T)
        return self


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
    base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    directions = 20
    _parameters = PAIRWISE

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.1,
        landmarks: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_rows: int | None = 1500,
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.tol, self.max_iter, self.max_rows = tol, max_iter, max_rows

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
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
            criterion = self._constrained(problem, constraints)
        result = solve_psd(
            criterion,
            principal_start(criterion.Z, self.directions),
            tol=2 * float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._store_certificate(result)
        # value = -q^2 for the best scale, q the mean distance at mean_S d = 1
        self.objective_ = float(np.sqrt(-result.value))
        self.gap_ = float(np.sqrt(-result.value + result.gap)) - self.objective_
        L = criterion.metric(result.point)
        self._store_metric(problem, L @ L.T)
        return self

    def _constrained(self, problem: _Problem, constraints: Any) -> Clustering | ClusteringPairs:
        Z, n = problem.Z, len(problem.Z)
        chunks = read_chunklets(constraints, n, "KernelMMC")
        if chunks is not None:
            rows = np.flatnonzero(chunks >= 0)
            labels = np.unique(chunks[rows], return_inverse=True)[1]
            check_told(len(rows) - labels.max(initial=-1) - 1, "rows of one chunklet", "KernelMMC")
            check_told(labels.max(initial=0), "chunklets beside the first", "KernelMMC")
            return Clustering(Z[rows], labels, float(self.reg))
        similar, dissimilar = read_pairs(constraints, n, "KernelMMC")
        check_told(len(similar), "similar pairs", "KernelMMC")
        check_told(len(dissimilar), "dissimilar pairs", "KernelMMC")
        near, far = (Z[pairs[:, 0]] - Z[pairs[:, 1]] for pairs in (similar, dissimilar))
        check_told(float(np.abs(near).max()), "similar pairs of rows that differ", "KernelMMC")
        return ClusteringPairs(near, far, float(self.reg))


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
    base_kernel_, classes_, n_components_, plan_
    """

    block_arrays = 0.0

    _parameters = SUBSPACE | {"reg": POSITIVE}

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.1,
        landmarks: Any = "auto",
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
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
            chunks = read_chunklets(constraints, len(problem.Z), "KernelRCA")
            if chunks is None:
                similar, _ = read_pairs(constraints, len(problem.Z), "KernelRCA")
                check_told(len(similar), "similar pairs", "KernelRCA")
                chunks = chunklets_of(similar, len(problem.Z))
            rows = np.flatnonzero(chunks >= 0)
            Z, labels = problem.Z[rows], np.unique(chunks[rows], return_inverse=True)[1]
            spread = float(np.abs(within_class(Z, labels)).max(initial=0.0))
            check_told(spread, "rows of one chunklet that differ", "KernelRCA")
        A = within_class_metric(Z, labels, float(self.reg))
        self._store_metric(problem, A)
        return self


def check_told(amount: float, what: str, owner: str) -> None:
    """Refuse constraints that say nothing."""
    if not amount > 0:
        raise ValueError(f"{owner} has nothing to learn from: the constraints hold no {what}.")


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
    objective_, grad_norm_ : float
    base_kernel_, classes_, n_components_, n_iter_, history_, plan_
    """

    _parameters = DESCENT

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 1e-4,
        landmarks: Any = "auto",
        tol: float = 1e-5,
        max_iter: int = 200,
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, n_components, reg, landmarks, memory_budget, random_state)
        self.tol, self.max_iter = tol, max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the map from rows X and class labels y."""
        problem = self._prepare(X, y)
        wanted = check_n_components(self.n_components, len(self.classes_) - 1, self)
        wanted = min(wanted, problem.Z.shape[1])
        criterion = NeighbourhoodComponents(problem.Z, problem.labels, float(self.reg))
        L = self._start(problem, wanted)
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

    def _start(self, problem: _Problem, wanted: int) -> Array:
        """Directions that tell class means apart in RCA's metric, then principal ones."""
        Z, labels = problem.Z, problem.labels
        A = within_class_metric(Z, labels, 0.1)
        w, V = linalg.eigh(A)
        root = (V * np.sqrt(w)) @ V.T
        means = np.array([Z[labels == c].mean(axis=0) for c in range(len(self.classes_))])
        spread = (means[labels] - Z.mean(axis=0)) @ root
        total = (Z - Z.mean(axis=0)) @ root
        _, U = linalg.eigh(spread.T @ spread + 1e-6 * total.T @ total)
        L = (root @ U[:, ::-1][:, :wanted]).T
        F = Z @ L.T
        size = 2 * float(np.mean(np.sum((F - F.mean(axis=0)) ** 2, axis=1)))
        return np.asarray(L * np.sqrt(10.0 / size))
