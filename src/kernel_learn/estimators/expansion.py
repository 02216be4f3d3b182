"""Support vector machines on a few expansion points that are learned."""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernel_learn.arrays import (
    Array,
    ClassWeight,
    LabelsLike,
    MemoryBudget,
    Rows,
    RowsLike,
    Seed,
    WeightsLike,
)
from kernel_learn.criteria.expansion import ExpansionMargin
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.fitting.base import SubspaceTransformer, all_or_nothing
from kernel_learn.fitting.kernel_weights import BankWeights
from kernel_learn.fitting.parameters import (
    ARRAY,
    BANK,
    BOOLEAN,
    CLASS_WEIGHT,
    COUNT,
    POSITIVE,
    SEEDED,
    choice,
)
from kernel_learn.fitting.predictions import MachineClassifier, SharpenedScores
from kernel_learn.fitting.probabilities import Sharpness, fit_sharpness
from kernel_learn.fitting.training import Labelled, class_prices, is_of_vectors
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.kernels.pool import ColumnSums
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.landmarks import Landmarks, LandmarksLike, select_landmarks
from kernel_learn.representations.plan import Needs, Plan
from kernel_learn.representations.represent import plan_source
from kernel_learn.representations.sources import one_hot
from kernel_learn.rows.access import dense, take_rows
from kernel_learn.rows.table import as_in, vectors_of
from kernel_learn.solvers.margin import Loss, one_vs_rest_signs
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth
from kernel_learn.warn import warn_user

INITS = ("kmeans", "uniform", "rpcholesky")
# Arrays of the size of k(x, points) that the machines and their gradient hold.
ROW_ARRAYS = 6.0
# Weights of a bank: exact for so many rows, else as memory allows.
WEIGHT_NEEDS, EXACT_ROWS = Needs(exact=2.0), 2000


class ExpansionSVC(SharpenedScores, MachineClassifier, BankWeights, SubspaceTransformer):
    """Support vector machine whose kernel expansion has a given number of points.

    An ordinary SVM keeps a large part of the training rows. Here the subspace
    spanned by ``n_points`` points is learned together with the machine: the
    points start at cluster centres and move by gradient so that the margins
    grow (sparse large margin classifier, Wu et al. 2005; the special case of
    the subspace kernel in Wu & Farquhar 2007, section 3.2). One-vs-rest with
    common points. A prediction costs ``n_points`` kernel
    values.

    Parameters
    ----------
    kernel : str, Kernel, scikit-learn kernel, list or dict, default="gaussian"
        On vectors or some columns of numbers; to move points it must have a derivative
        (Gaussian, Matern, Exponential, Polynomial, Linear). Several kernels as in
        :class:`HSICSubspace`, combined into one of trace n by ``weights`` before the points move.
    n_points : int, default=20
        How many points the machine has.
    C : float, default=1.0
        Price of a margin error.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        C / 2 times the sum of max(0, 1 - y f)^2, or C sum max(0, 1 - y f), the machine of
        :class:`sklearn.svm.SVC`. The points move on a smooth function with the square, on one
        with edges with the hinge: a descent may end at an edge.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the labels, see
        :class:`HSICSubspace`; the same trace for each; centred alignment; relative weights of
        the kernels as given.
    init : {"kmeans", "uniform", "rpcholesky"} or array of shape (n_points, n_features)
        Where the points start.
    move_points : bool, default=True
        False keeps the points where they start: a Nystroem machine.
    class_weight : dict or "balanced", default=None
        Factors on C for the rows of each class.
    tol : float, default=1e-3
        Stop when the largest entry of the gradient, in units of the columns'
        standard deviations, is at most this share of the first objective.
    max_iter : int, default=100
        Steps at most.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    random_state : int, RandomState or None, default=None
        For the start of the points.

    Attributes
    ----------
    expansion_points_ : ndarray of shape (n_points, n_features)
    kernel_ : SubspaceKernel
        The learned kernel on the points' span; ``kernel_.landmarks`` are the
        points, ``kernel_.coef`` is W with WW' = K_ZZ^{-1}.
    sharpness_ : float
        ``predict_proba`` is softmax(sharpness_ * decision values), fitted to the scores of up to
        400 rows by five-fold cross-validation: points and machines of four folds score the fifth.
    coef_ : ndarray of shape (n_machines, n_points)
        Weights on the features; one machine for two classes.
    intercept_ : ndarray of shape (n_machines,)
    objective_ : float
        Sum of the machines' primal objectives.
    grad_norm_ : float
        Norm of its gradient at the end.
    n_iter_ : int
        Iterations of the solver.
    history_ : tuple of dict
        "value" and "grad_norm" at each.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
        Number of features.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernel_learn import ExpansionSVC
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = ExpansionSVC(n_points=6, C=10, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00
    """

    landmarks: LandmarksLike = "auto"  # of many rows, for the weights of a bank

    _parameters = (SEEDED | BANK) | {
        "n_points": COUNT,
        "C": POSITIVE,
        "loss": choice("hinge", "squared_hinge"),
        "init": choice(*INITS) | ARRAY,
        "move_points": BOOLEAN,
        "class_weight": CLASS_WEIGHT,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_points: int = 20,
        C: float = 1.0,
        loss: Loss = "squared_hinge",
        weights: str | ArrayLike = "loo",
        init: str | ArrayLike = "kmeans",
        move_points: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-3,
        max_iter: int = 100,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_points = n_points
        self.C = C
        self.loss = loss
        self.weights = weights
        self.init = init
        self.move_points = move_points
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: RowsLike,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the points and the machines.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Or a source of blocks whose rows fit into memory.
        y : array-like of shape (n_samples,); None for a source
            Labels of the rows; none where the source has them.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for each row: a row of weight 2 is two rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group (of one patient, say) are left out together: what is said of
            held-out rows, and the coverage of sets, is then that for a row of a new group. Of
            rows in memory.
        """
        data = self._rows(X, y, sample_weight, groups)
        self._check_init(data)
        if not is_of_vectors(data):
            raise ValueError(
                f"ExpansionSVC moves points among vectors, and {data.kernel!r} takes other rows."
            )
        data = self._weighed(data, self._plan(data))
        self.classes_, self.base_kernel_ = data.classes, data.kernel
        scale = _column_scale(vectors_of(data.X), data.weight)
        criterion = ExpansionMargin(
            data.kernel,
            data.X,
            self._signs(data),
            self._boxes(data, float(self.C)),
            scale,
            self.loss,
        )
        first = points = self._first_points(data)
        if self.move_points:
            result, unit = self._move(criterion, first)
            self._store_result(result)
            points = result.point * scale
            if result.status == "stopped":
                warn_user(
                    f"ExpansionSVC stopped after {result.n_iter} iterations with a gradient of "
                    f"{result.grad_norm / unit:.2g} of the first objective (tol={self.tol:g}); "
                    "raise max_iter or tol.",
                    ConvergenceWarning,
                )
        self._sharpen(self._sharpness(criterion, first, data), data.source)
        self._store_machines(criterion, points.astype(data.X.dtype), data)
        return self

    def _move(self, criterion: ExpansionMargin, points: Array) -> tuple[Result, float]:
        """The points where the descent ends, and the objective where it began."""
        start = points / criterion.scale
        unit, _ = criterion.value_and_gradient(start)
        found = solve_smooth(
            criterion.value_and_gradient, start, tol=self.tol * unit, max_iter=self.max_iter
        )
        return found, unit

    def _check_init(self, data: Labelled) -> None:
        shape = () if isinstance(self.init, str) else np.shape(self.init)
        if shape and (len(shape) != 2 or not shape[0] or shape[1] != data.X.shape[1]):
            raise ValueError(
                f"init has shape {shape}; points are (n_points, {data.X.shape[1]}), one at least."
            )

    def _plan(self, data: Labelled) -> Plan:
        """k(x, points) of all rows, its features, and their derivatives."""
        points: LandmarksLike = self.init
        if isinstance(points, str):
            points = Landmarks("rpcholesky", int(self.n_points))
        needs = Needs(rows=ROW_ARRAYS, compared=True)
        return plan_source([data.kernel], data.source, points, self.memory_budget, needs)

    def _weighed(self, data: Labelled, plan: Plan) -> Labelled:
        """One kernel without rules; sets ``plan_``, of the bank's weights where that takes more."""
        if data.names is None:
            self.plan_ = plan
            return data.resolved()
        few = data.source.n_distinct <= EXACT_ROWS
        data, form = self._represent(data, needs=WEIGHT_NEEDS, is_exact=few)
        theta = self._bank_weights(form, data.names)
        assert theta is not None
        self.plan_ = max(plan, self.plan_, key=lambda one: one.bytes_least)
        return replace(data, kernels=[form.combination(theta)], names=None)

    def _store_machines(self, criterion: ExpansionMargin, points: Array, data: Labelled) -> None:
        K_xz, W = criterion.features(points)
        F = K_xz @ W
        V, _, value = criterion.machines(F)
        if not self.move_points:
            self.objective_, self.n_iter_, self.history_ = value, 1, ({"value": value},)
            self.grad_norm_ = np.nan
        self.expansion_points_ = points
        self.coef_, self.intercept_ = V[:-1].T, V[-1]
        offset = np.zeros(W.shape[1], dtype=points.dtype)
        rows = as_in(data.X, points)
        self._store_kernel(SubspaceKernel(criterion.kernel, rows, W.astype(points.dtype), offset))

    def _sharpness(self, criterion: ExpansionMargin, first: Array, data: Labelled) -> Sharpness:
        """The factor on decision values, from rows that neither machines nor points have seen.

        The points of four folds start where all did, which no label has moved.
        """
        source, _, told = data.source.merged_by_label(by_content=True)
        boxes = source.weight / data.weight[told] * criterion.C[told]

        def score_fold(inside: Array, outside: Array) -> Array:
            X = take_rows(source.X, inside)
            part = ExpansionMargin(
                criterion.kernel,
                X,
                criterion.signs[told[inside]],
                boxes[inside],
                criterion.scale,
                criterion.loss,
            )
            points = first
            if self.move_points:
                points = self._move(part, first)[0].point * criterion.scale
            K, W = part.features(points)
            V = part.machines(K @ W)[0]
            F = part.kernel(take_rows(source.X, outside), as_in(X, points)) @ W
            return np.asarray(F @ V[:-1] + V[-1])

        counts = one_hot(source.labels, len(data.classes)) * source.weight[:, None]
        return fit_sharpness(Targets(counts, source.units(np.arange(source.n_rows))), score_fold)

    def _first_points(self, data: Labelled) -> Array:
        if not isinstance(self.init, str):
            return np.array(self.init, dtype=np.float64)
        chosen = select_landmarks(
            self.init,  # type: ignore[arg-type]
            int(self.n_points),
            data.kernel,
            data.X,
            data.source.summary.rows,
            data.source.summary.weight,
            check_random_state(self.random_state),
        )
        return dense(vectors_of(chosen.rows)).astype(np.float64)

    def _signs(self, data: Labelled) -> Array:
        return one_vs_rest_signs(data.labels, len(data.classes))

    def _boxes(self, data: Labelled, C: float) -> Array:
        return C * class_prices(self.class_weight, data)[data.labels] * data.weight

    def _machine_values(self, X: Rows) -> Array:
        F = self._features(X)
        return F @ self.coef_.T.astype(F.dtype) + self.intercept_.astype(F.dtype)


def _column_scale(X: Rows, weight: Array) -> Array:
    """Standard deviations of the columns, one where a column is constant."""
    sums = ColumnSums.of(X, weight)
    variance = sums.squares / sums.n
    return np.sqrt(np.where(variance > 0, variance, 1.0))
