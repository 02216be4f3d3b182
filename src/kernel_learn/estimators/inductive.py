"""Inductive regularised kernel learning from pairs, triplets and labels (Jain et al. 2010)."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernel_learn.criteria.constraints import Constraints, Pairs
from kernel_learn.criteria.draw import KINDS, draw_constraints
from kernel_learn.criteria.inductive import NEWTON_BLOCK, NEWTON_SIZE, RegularizedDual
from kernel_learn.criteria.measure import (
    REFERENCE_ROWS,
    BaseReference,
    Measured,
    kernel_values,
    measure_constraints,
)
from kernel_learn.criteria.regularizers import Regularizer, Trace, as_regularizer
from kernel_learn.datasets.blocks import as_source
from kernel_learn.estimators.base import KernelEstimator, all_or_nothing
from kernel_learn.estimators.inductive_streams import read_for_constraints
from kernel_learn.estimators.parameters import (
    ANYTHING,
    COUNT,
    NONE,
    POSITIVE,
    SUBSPACE,
    Read,
    choice,
    instance,
)
from kernel_learn.estimators.unlabelled import labelled_rows
from kernel_learn.estimators.validation import (
    Array,
    check_spread,
    copied_bytes,
    encode_labels,
    validate_rows,
)
from kernel_learn.kernels.base import Kernel, Rows
from kernel_learn.kernels.pairwise import n_rows, take_rows
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.kernels.transformed import TransformedKernel
from kernel_learn.kernels.warn import warn_user
from kernel_learn.representations import (
    ArraySource,
    FeatureMap,
    Needs,
    Plan,
    build_features,
    plan_source,
)
from kernel_learn.representations.gram import to_double
from kernel_learn.representations.points import Points, exact_points, feature_points
from kernel_learn.representations.summary import row_bytes
from kernel_learn.solvers.dual import solve_bregman, solve_quasi_newton, solve_uzawa
from kernel_learn.solvers.eigen import METRIC_RANK, learned_directions
from kernel_learn.solvers.result import Result

# Up to so many constrained rows the problem is solved exactly without being asked
# to: each of some dozen evaluations decomposes a matrix of that size.
EXACT_ROWS = 1000
DEFAULT_LANDMARKS = 500
SOLVERS = ("quasi-newton", "bregman", "uzawa")


class InductiveKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """A kernel function learned from side information, for new rows too.

    Finds k_W(x, y) = phi(x)'W phi(y) with W as close to its prior as the
    constraints allow::

        min over W >= 0 of f(W) + (gamma/2) |s|^2   s.t.  constraints on k_W, up to slack s

    by the smooth dual of that problem, to a certified gap (Jain, Kulis & Dhillon 2010).

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        The base kernel. See :mod:`kernel_learn.kernels`.
    regularizer : {"logdet", "frobenius", "pola", "trace"} or Regularizer, default="logdet"
        f. "logdet": tr W - log det W (ITML); "frobenius": |W - I|^2/2; both start from the
        base kernel. "pola": |W|^2/2; "trace": tau tr W + |W|^2/2 (Trace-SSIKDR), of low
        rank; both start from zero. Or an object with the members of
        :class:`kernel_learn.criteria.regularizers.Regularizer`.
    constraints : {"pairs", "triplets", "similarity", "probability"} or Constraints, \
default="pairs"
        What is drawn from the labels; or constraints themselves, given by rows
        (indices mean the rows of one X: give those to ``fit``).
    n_constraints : int, default=None
        How many are drawn; None: 20 k^2 for k classes, or 10 per labelled row if
        that is more, at most 20 000.
    slack : float, default=1.0
        The price gamma of a violation, relative: gamma = slack / (mean squared
        distance of the base kernel)^2 for each constraint.
    tau : float, default=0.01
        For regularizer="trace": relative to the value from which on the learned
        kernel is zero. The rank falls as tau grows to 1.
    unlabeled : default="raise"
        What marks rows without label, -1 say; None and NaN always do. None: nothing else does.
        "raise": as None, but a -1 among other labels is refused, since it may be either.
        Rows without label act through the rules of the kernel's width, the landmarks and
        ``kernels.GraphDeformed``, and through nothing else.
    n_components : int, default=None
        Reduce the learned kernel to this rank; None keeps it as it is.
    components : {"kernel", "metric"}, default="kernel"
        Which directions come first in ``transform`` and are kept by
        ``n_components``: the top eigenvectors of the learned kernel matrix of the
        constrained rows, or those of W itself.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        What W - alpha I is built on. "all": every constrained row, which is
        exact (Theorem 1). A number, a rule ("uniform", "rpcholesky": a subset;
        "kmeans"; "random": random combinations; "clusters": cluster
        indicators), ``Landmarks(rule, count)``, or rows (or indices): the
        problem then has r x r unknowns for r landmarks. "auto": exact up to
        1000 rows, else 500 landmarks.
    solver : {"quasi-newton", "bregman", "uzawa"}, default="quasi-newton"
        "bregman": cyclic projections, for logdet; "uzawa": for the others.
    tol : float, default=1e-6
        Relative primal-dual gap at which to stop.
    max_iter : int, default=None
        None: 1000, and 20 000 for "uzawa", whose steps are short.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    random_state : int, RandomState or None, default=None
        For drawing constraints and landmarks.

    Attributes
    ----------
    kernel_ : TransformedKernel
        The learned kernel, ``kernel_(X, X_ref=None)``. It is
        ``transform(X) @ transform(X_ref).T`` plus, for regularisers that start from
        the base kernel, alpha (k(x, y) - z(x)'z(y)): zero if x or y lies in the
        span of the landmarks. ``kernel_.coef``, ``kernel_.weights``: S of Jain's Eq. 3.
    embedding_ : SubspaceKernel
        The features of ``transform``; ``embedding_.coef`` (n_landmarks, n_components_).
    base_kernel_ : Kernel
    metric_ : ndarray of shape (M, M)
        A, the learned matrix in whitened features, before any reduction of rank.
    multipliers_ : ndarray of shape (n_constraints_,)
        z, the dual variables.
    rank_ : int
        Rank of the learned kernel on the landmarks' span.
    objective_, dual_objective_, gap_ : float
        Primal value, dual value, and the difference, which bounds the error of both.
    constraint_satisfaction_ : float
        Share of the constraints that ``kernel_`` meets, to within 1 % of the mean squared
        distance of the base kernel.
    n_constraints_, n_iter_, n_components_ : int
    slack_, tau_ : float
        gamma and tau as numbers in the problem (``tau_`` is None but for "trace").
    classes_ : ndarray
        The labels, if there were any.
    history_ : tuple of dict
        ``value`` (primal) and ``lower`` (dual) at every point whose gap was taken.
    plan_ : Plan

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import InductiveKernel
    >>> X, y = load_wine(return_X_y=True)
    >>> model = InductiveKernel(regularizer="trace", random_state=0).fit(scale(X), y)
    >>> model.transform(scale(X)).shape == (178, model.rank_)
    True
    >>> bool(model.gap_ <= 1e-6 * model.objective_)
    True
    """

    _parameters = SUBSPACE | {
        "regularizer": Read(partial(as_regularizer, tau=1.0)),
        "constraints": choice(*KINDS) | instance(Constraints, "a set of constraints"),
        "n_constraints": COUNT | NONE,
        "slack": POSITIVE,
        "tau": POSITIVE,
        "unlabeled": ANYTHING,
        "components": choice("kernel", "metric"),
        "solver": choice(*SOLVERS),
        "tol": POSITIVE,
        "max_iter": COUNT | NONE,
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        regularizer: Any = "logdet",
        constraints: Any = "pairs",
        n_constraints: int | None = None,
        slack: float = 1.0,
        tau: float = 0.01,
        unlabeled: Any = "raise",
        n_components: int | None = None,
        components: str = "kernel",
        landmarks: Any = "auto",
        solver: str = "quasi-newton",
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_budget: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.regularizer = regularizer
        self.constraints = constraints
        self.n_constraints = n_constraints
        self.slack = slack
        self.tau = tau
        self.unlabeled = unlabeled
        self.n_components = n_components
        self.components = components
        self.landmarks = landmarks
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Learn the kernel from labels, or from constraints.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Or a source of blocks, read once: the rows that constraints name by their numbers
            in it are kept, and those of its summary, for landmarks; with labels of its own
            constraints are drawn among the latter.
        y : array-like of shape (n_samples,), default=None
            Class labels; None, NaN or ``unlabeled`` where unknown.
        constraints : Constraints, default=None
            Given in place of y, e.g. ``Pairs(similar=S, dissimilar=D) + Triplets(T)``.

        Returns
        -------
        self
        """
        regularizer = self._regularizer()
        rng = check_random_state(self.random_state)
        source = as_source(X, y)
        if source is not None:
            X, y, constraints = read_for_constraints(self, source, constraints)
        data = self._validate(X, y, constraints, rng)
        self.plan_, landmarks = self._plan(data)
        data = data.resolved()
        measured_rows = self._measure_rows(data, landmarks, rng)
        reference = BaseReference(measured_rows.K)
        n_features = getattr(self, "n_features_in_", None)
        check_spread(data.kernel, reference.scale, reference.mean_diagonal, n_features)
        measured = measure_constraints(
            data.constraints.terms(reference),
            measured_rows.points,
            regularizer.alpha,
            measured_rows.base_values,
        )
        self.slack_ = float(self.slack) / reference.scale**2
        dual = self._dual(regularizer, measured)
        result = self._solve(dual)
        self._store(dual, result, measured, measured_rows, data)
        return self

    def transform(self, X: Any) -> Array:
        """The learned features of each row: their products are the low-rank part of ``kernel_``.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Rows as at fit; for a precomputed kernel K(X, X_train).

        Returns
        -------
        features : ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = validate_rows(self, self.base_kernel_, X, reset=False)
        return self.embedding_.transform(X)

    def distance(self, X: Any, X_ref: Any = None) -> Array:
        """Squared distances k(x, x) + k(y, y) - 2 k(x, y) under the learned kernel.

        Parameters
        ----------
        X, X_ref : rows as at fit
            ``X_ref=None``: X itself.

        Returns
        -------
        distances : ndarray of shape (n_rows, n_ref)
        """
        check_is_fitted(self)
        X = validate_rows(self, self.base_kernel_, X, reset=False)
        if X_ref is not None:
            X_ref = validate_rows(self, self.base_kernel_, X_ref, reset=False)
        D = -2 * self.kernel_(X, X_ref)
        D += self.kernel_.diag(X)[:, None]
        D += self.kernel_.diag(X if X_ref is None else X_ref)
        np.maximum(D, 0.0, out=D)
        if X_ref is None:
            np.fill_diagonal(D, 0.0)
        return D

    def _regularizer(self) -> Any:
        if self.regularizer == "trace" and self.tau >= 1:
            raise ValueError(
                f"InductiveKernel(tau={self.tau!r}): tau is relative to the value from which on "
                "the learned kernel is zero, so it must be less than 1."
            )
        regularizer = as_regularizer(self.regularizer, float(self.tau))
        if self.solver == "bregman" and self.regularizer != "logdet":
            raise ValueError(
                'solver="bregman" projects in closed form, which logdet alone allows; '
                'use "quasi-newton".'
            )
        if self.solver == "uzawa" and np.isfinite(regularizer.domain):
            raise ValueError(
                'solver="uzawa" takes steps of fixed length, and the dual of this regulariser '
                'has a boundary that they would cross; use "quasi-newton" or "bregman".'
            )
        return regularizer

    def _validate(self, X: Any, y: Any, constraints: Any, rng: np.random.RandomState) -> "_Data":
        kernel = as_kernel(self.kernel)
        given = constraints if constraints is not None else self.constraints
        if constraints is not None and y is not None:
            raise ValueError(
                "Both y and constraints were given. Constraints take the place of labels: "
                "pass one of the two."
            )
        if constraints is not None and not isinstance(constraints, Constraints):
            raise ValueError(
                f"constraints={type(constraints).__name__} is not a set of constraints; see "
                "kernel_learn.constraints: Pairs, Triplets, Similarities, ClassProbabilities."
            )
        given_rows, X = X, validate_rows(self, kernel, X, reset=True)
        copied = copied_bytes(X, given_rows)
        n, is_matrix = n_rows(X), kernel.input == "matrix"
        table = _RowTable(kernel, X)
        nothing = np.empty((n, 0))
        whole = source = ArraySource(X, nothing, is_matrix=is_matrix, copied_bytes=copied)
        self._rows_digest = source.digest
        if not isinstance(given, Constraints):
            given = self._draw(source, y, given, rng)
        elif constraints is None and given.holds_indices:
            raise ValueError(
                "InductiveKernel(constraints=) holds row indices, which mean the rows of one X. "
                "Give the rows themselves, or pass these constraints to fit(X, constraints=...)."
            )
        indexed = given.indexed(table.index)
        if table.n_extra:
            more = np.empty((n + table.n_extra, 0))
            rows = table.rows()
            copied += n_rows(rows) * row_bytes(rows)
            source = ArraySource(rows, more, is_matrix=is_matrix, copied_bytes=copied)
            whole = source.subset(np.arange(n))
        warn_of_contradictions(indexed)
        return _Data(kernel, source, whole, indexed, indexed.rows())

    def _draw(
        self, source: ArraySource, y: Any, kind: Any, rng: np.random.RandomState
    ) -> Constraints:
        if y is None:
            raise ValueError(
                "InductiveKernel requires y to be passed, but the target y is None. "
                "Pass labels, or fit(X, constraints=...)."
            )
        check_consistent_length(source.X, y)
        rows, y = labelled_rows(y, self.unlabeled)
        if not len(rows):
            raise ValueError(
                "All rows are unlabelled, so there is nothing to learn from: label some, or "
                "pass constraints."
            )
        self.classes_, labels = encode_labels(y, None)
        if not source.is_matrix:
            order = np.lexsort([labels, source.keys[rows]])
            rows, labels = rows[order], labels[order]
        k = len(self.classes_)
        n = self.n_constraints or min(max(20 * k**2, 10 * len(rows)), 20_000)
        return draw_constraints(kind, rows, labels, n, rng, source.n_rows)

    def _plan(self, data: "_Data") -> tuple[Plan, Any]:
        """How the fit is carried out, and on what landmarks."""
        n_terms = len(data.constraints.terms(UnitReference()).left)

        def extra(n: int, M: int) -> float:
            """Sides of the constraints and their image, features of the rows, Newton's matrices."""
            q = M * (M + 1) // 2
            newton = 8.0 * q * (2 * q + 3 * NEWTON_BLOCK) if q <= NEWTON_SIZE else 0.0
            return 8.0 * M * (4 * n_terms + 2 * len(data.rows)) + newton

        def planned(landmarks: Any, source: ArraySource) -> Plan:
            return plan_source(
                [data.kernel],
                source,
                landmarks,
                self.memory_budget,
                Needs(8.0, 8.0, reordered=True, extra=extra, remedy="fewer constraints"),
                exact_rows=EXACT_ROWS,
                default_landmarks=DEFAULT_LANDMARKS,
            )

        if isinstance(self.landmarks, str) and self.landmarks in ("auto", "all"):
            plan = planned(self.landmarks, data.constrained)
            if plan.representation != "landmarks":
                return plan, self.landmarks
            return planned(plan.n_landmarks, data.whole), plan.n_landmarks
        return planned(self.landmarks, data.whole), self.landmarks

    def _measure_rows(self, data: "_Data", landmarks: Any, rng: Any) -> "_MeasuredRows":
        """The feature map, and the constrained rows in it; each kernel value once."""
        source, rows = data.source, data.rows
        if self.plan_.representation == "gram":
            features, points, K = exact_points(data.kernel, source, rows, data.constrained)
            return _MeasuredRows(features, points, K, None)
        chosen_from = data.whole
        if self.plan_.representation == "explicit":
            chosen_from = data.constrained
        features = build_features([data.kernel], chosen_from, self.plan_, landmarks, rng)
        points = feature_points(features, source, rows, data.constrained)
        few = rows[data.constrained.first[:REFERENCE_ROWS]]
        X_few = to_double(take_rows(source.X, few))
        is_matrix = data.kernel.input == "matrix"
        X_ref = to_double(data.kernel.reference(source.X, few)) if is_matrix else None
        K = data.kernel(X_few, X_ref)
        base_values = partial(kernel_values, kernel=data.kernel, X=source.X)
        is_exact = self.plan_.representation == "explicit"
        return _MeasuredRows(features, points, K, None if is_exact else base_values)

    def _dual(self, regularizer: Regularizer, measured: Measured) -> RegularizedDual:
        dual = RegularizedDual(regularizer, measured.constraints, self.slack_)
        self.tau_ = None
        if regularizer.alpha == 0:
            threshold = dual.zero_threshold()
            if threshold <= 0:
                raise ValueError(
                    f"regularizer={self.regularizer!r} starts from the zero kernel, and the zero "
                    "kernel meets all of these constraints: the answer would be zero. Add "
                    "constraints that ask for distance or similarity (dissimilar pairs, say), or "
                    'use "logdet" or "frobenius", which start from the base kernel.'
                )
            if self.regularizer == "trace":
                self.tau_ = float(self.tau) * threshold
                dual = RegularizedDual(Trace(self.tau_), measured.constraints, self.slack_)
        return dual

    def _solve(self, dual: RegularizedDual) -> Result:
        options: dict[str, Any] = {"tol": float(self.tol)}
        if self.max_iter is not None:
            options["max_iter"] = int(self.max_iter)
        if self.solver == "quasi-newton":
            result = solve_quasi_newton(dual, **options)
        elif self.solver == "uzawa":
            result = solve_uzawa(dual, dual.curvature(), **options)
        else:
            result = solve_bregman(
                dual,
                lambda point: point.A,
                dual.constraints.factors(),
                dual.sign,
                dual.bound,
                dual.gamma,
                **options,
            )
        if result.status != "optimal":
            warn_user(
                f"InductiveKernel stopped after {result.n_iter} iterations at a relative gap of "
                f"{result.relative_gap:.2g} (tol={self.tol:g}). Raise max_iter, or lower slack if "
                "the constraints cannot all be met.",
                ConvergenceWarning,
            )
        return result

    def _store(
        self,
        dual: RegularizedDual,
        result: Result,
        measured: Measured,
        measured_rows: "_MeasuredRows",
        data: "_Data",
    ) -> None:
        features = measured_rows.features
        point = dual.evaluate(result.point)
        assert point is not None
        alpha, A = dual.regularizer.alpha, (point.A + point.A.T) / 2
        self.base_kernel_ = data.kernel
        self.multipliers_, self.metric_ = result.point, A
        self.objective_, self.dual_objective_ = point.primal, point.value
        self.gap_ = point.primal - point.value
        self.n_iter_, self.history_ = result.n_iter, result.history
        self.n_constraints_ = dual.n
        w, V = linalg.eigh(A)
        factor = learned_directions(w, V, measured_rows.points.second_moment())
        if self.components == "metric":
            kept = w > METRIC_RANK * max(w[-1], 0.0)
            factor = (V[:, kept] * np.sqrt(w[kept]))[:, ::-1]
        if self.n_components is not None:
            if self.n_components > factor.shape[1]:
                warn_user(
                    f"n_components={self.n_components} directions were asked for, and the learned "
                    f"kernel has {factor.shape[1]}; transform gives {factor.shape[1]} columns.",
                )
            factor = factor[:, : self.n_components]
            alpha, w, V = 0.0, np.ones(factor.shape[1]), factor
        self.embedding_ = features.expand(factor, np.zeros(len(A)))
        self.rank_ = self.n_components_ = self._n_features_out = factor.shape[1]
        self.kernel_ = transformed_kernel(features, w - alpha, V, alpha)
        self.constraint_satisfaction_ = satisfied_share(
            measured, factor @ factor.T if self.n_components is not None else A, self
        )


class _MeasuredRows(NamedTuple):
    features: FeatureMap
    points: Points  # the constrained rows in them
    K: Array  # the base kernel among (some of) the distinct constrained rows, in key order
    base_values: Any  # <C_c, K>; None where the features reproduce the kernel on these rows


@dataclass(frozen=True)
class _Data:
    kernel: Kernel
    source: ArraySource  # the rows of X, and those that came with the constraints
    whole: ArraySource  # the rows of X
    constraints: Constraints
    rows: Array  # indices of the constrained ones, ascending

    @property
    def X(self) -> Rows:
        return self.source.X

    @cached_property
    def constrained(self) -> ArraySource:
        return self.source.subset(self.rows)

    def resolved(self) -> "_Data":
        pool = self.whole.summary.pool(self.whole.X)
        resolved = replace(self, kernel=self.kernel.resolve_on(pool))
        resolved.__dict__["constrained"] = self.constrained
        return resolved


class UnitReference:
    """Stands for the base kernel's percentiles where only the constraints are counted."""

    def distance(self, q: float) -> float:
        return 1.0

    def similarity(self, q: float) -> float:
        return 1.0


class _RowTable:
    """The rows of X, and the rows that constraints bring along, under one numbering."""

    def __init__(self, kernel: Kernel, X: Rows) -> None:
        self.kernel, self.X = kernel, X
        self.n = n_rows(X)
        self.extra: list[Array] = []
        self.n_extra = 0

    def index(self, tuples: Array, name: str) -> Array:
        if tuples.ndim == 2:
            if tuples.size and tuples.max() >= self.n:
                raise ValueError(
                    f"{name} names row {tuples.max()}, and X has {self.n} rows (indices 0 to "
                    f"{self.n - 1})."
                )
            return tuples
        if self.kernel.input != "vectors":
            raise ValueError(
                f"{name} holds rows of numbers, and a row here is one of {self.kernel.input}: "
                "give indices of rows of X."
            )
        if tuples.shape[2] != self.X.shape[1]:
            raise ValueError(
                f"{name} holds rows of {tuples.shape[2]} columns, and X has {self.X.shape[1]}."
            )
        flat = tuples.reshape(-1, tuples.shape[2]).astype(self.X.dtype)
        start = self.n + self.n_extra
        self.extra.append(flat)
        self.n_extra += len(flat)
        return np.arange(start, start + len(flat)).reshape(tuples.shape[:2])

    def rows(self) -> Rows:
        if not self.extra:
            return self.X
        if sparse.issparse(self.X):
            return stack_sparse([self.X, *map(sparse.csr_matrix, self.extra)])
        return np.concatenate([self.X, *self.extra])


def stack_sparse(parts: list[Any]) -> Any:
    """Sparse rows below each other, CSR."""
    return sparse.vstack(parts, format="csr")


def warn_of_contradictions(constraints: Constraints) -> None:
    """Say how many pairs are listed as similar and as dissimilar."""
    n = sum(family.contradictions() for family in constraints.families if isinstance(family, Pairs))
    if n:
        warn_user(
            f"{n} pairs are listed as similar and as dissimilar; both cannot hold, and the slack "
            "settles between them.",
        )


def transformed_kernel(
    features: FeatureMap, weights: Array, V: Array, alpha: float
) -> TransformedKernel:
    """alpha (k - z'z) + sum_i weights_i (v_i'z)^2 as a kernel on any rows."""
    kept = np.abs(weights) > 1e-14 * max(1.0, float(np.abs(weights).max(initial=0.0)))
    expanded = features.expand(V[:, kept], np.zeros(len(V)))
    return TransformedKernel(
        features.kernels[0], expanded.landmarks, expanded.coef, weights[kept], alpha
    )


def satisfied_share(measured: Measured, A: Array, model: InductiveKernel) -> float:
    """Share of the constraints met, to within a hundredth of the mean squared distance.

    An active constraint is always violated a little, by its multiplier over gamma.
    """
    constraints = measured.constraints
    bound = constraints.bound if model.n_components is None else measured.kernel_bound
    excess = constraints.sign * constraints.inner(A) - bound
    return float(np.mean(excess <= 1e-2 / np.sqrt(model.slack_ / float(model.slack))))
