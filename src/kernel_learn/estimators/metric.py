"""Kernelised metric learning from class labels or side information: LMNN, MCML, RCA, MMC, NCA."""

from typing import Any, Self

import numpy as np

from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.large_margin import LargeMargin
from kernel_learn.criteria.neighbours import (
    Clustering,
    CollapsedClasses,
    NeighbourhoodComponents,
    discriminant_start,
    principal_start,
    within_class_metric,
)
from kernel_learn.criteria.side_information import (
    ClusteringPairs,
    RelativeDistances,
    read_chunklet_rows,
    read_clustering,
    read_triplets,
)
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.metric_base import KernelMetric
from kernel_learn.fitting.parameters import COUNT, FRACTION, NONE, POSITIVE, SUBSPACE
from kernel_learn.fitting.validation import check_n_components
from kernel_learn.solvers.psd import solve_psd
from kernel_learn.solvers.smooth import solve_smooth

DESCENT = SUBSPACE | {"reg": POSITIVE, "tol": POSITIVE, "max_iter": COUNT}
PAIRWISE = DESCENT | {"max_rows": COUNT | NONE}


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
            criterion = read_clustering(constraints, problem.Z, float(self.reg), "KernelMMC")
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
            Z, labels = read_chunklet_rows(constraints, problem.Z, "KernelRCA")
        A = within_class_metric(Z, labels, float(self.reg))
        self._store_metric(problem, A)
        return self


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
