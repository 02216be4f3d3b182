"""Inductive regularised kernel learning from pairs, triplets and labels (Jain et al. 2010)."""

from functools import partial
from typing import Self

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernel_learn.arrays import Array, DataLike, LabelsLike, MemoryBudget, Rows, RowsLike, Seed
from kernel_learn.criteria.constraint_terms import Terms
from kernel_learn.criteria.constraints import Constraints
from kernel_learn.criteria.draw import KINDS, draw_constraints
from kernel_learn.criteria.general_forms.penalties import Penalty, PricedPenalty, as_penalty
from kernel_learn.criteria.inductive import RegularizedDual
from kernel_learn.criteria.inductive_solve import SOLVERS, Solution, solve_inductive
from kernel_learn.criteria.learned_metric import satisfied_share, transformed_kernel
from kernel_learn.criteria.measure import BaseReference, Measured, measure_constraints
from kernel_learn.criteria.regularizers import Regularizer, as_regularizer
from kernel_learn.fitting.base import FitsAndTransforms, KernelEstimator, all_or_nothing
from kernel_learn.fitting.block_results import on_sources
from kernel_learn.fitting.inductive_problem import (
    build_dual,
    met_share,
    nearest_accuracy,
    read_parts,
)
from kernel_learn.fitting.inductive_rows import (
    ConstrainedRows,
    Earlier,
    check_constraints,
    number_rows,
    ordered_digest,
    refuse_hard,
    warn_of_contradictions,
)
from kernel_learn.fitting.inductive_streams import read_for_constraints
from kernel_learn.fitting.parameters import (
    COUNT,
    INFINITE,
    NONE,
    POSITIVE,
    SUBSPACE,
    UNLABELED,
    Read,
    choice,
    instance,
)
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.fitting.targets import encode_labels, labelled_rows
from kernel_learn.fitting.training import copied_bytes
from kernel_learn.fitting.variance import check_spread, warn_of_scales
from kernel_learn.kernels.base import KernelLike
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.points import Points
from kernel_learn.representations.sources import ArraySource
from kernel_learn.representations.summary import row_bytes
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.named_columns import take_named
from kernel_learn.solvers.eigen import METRIC_RANK, learned_directions
from kernel_learn.streams.sources import as_source
from kernel_learn.warn import warn_user


class InductiveKernel(ClassNamePrefixFeaturesOutMixin, FitsAndTransforms, KernelEstimator):
    """A kernel function learned from side information, for new rows too.

    Finds k_W(x, y) = phi(x)'W phi(y) with W as close to its prior as the
    constraints allow::

        min over W >= 0 of f(W) + slack * sum_c p(excess of constraint c under k_W)

    by the smooth dual of that problem, to a certified gap (Jain, Kulis & Dhillon 2010).

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        The base kernel. See :mod:`kernel_learn.kernels`.
    regularizer : {"logdet", "frobenius", "pola", "trace", "trace_norm"} or Regularizer, \
default="logdet"
        f. "logdet": tr W - log det W (ITML); "frobenius": |W - I|^2/2; both start from the
        base kernel. "pola": |W|^2/2; "trace": tau tr W + |W|^2/2 (Trace-SSIKDR), of low
        rank; "trace_norm": tau tr W alone; these start from zero. Or an object with the members
        of :class:`kernel_learn.criteria.regularizers.Regularizer`.
    penalty : {"squared_hinge", "hinge", "squared", "absolute"} or Penalty, \
default="squared_hinge"
        p, the price of an excess t of a constraint, in units of the base kernel's mean squared
        distance: max(t, 0)^2/2, max(t, 0), t^2/2, |t|. Or an object with the members of
        :class:`kernel_learn.criteria.general_forms.penalties.Penalty`.
    constraints : {"pairs", "triplets", "similarity", "probability"} or Constraints, \
default="pairs"
        What is drawn from the labels; or constraints themselves, given by rows
        (indices mean the rows of one X: give those to ``fit``).
    n_constraints : int, default=None
        How many are drawn; None: 20 k^2 for k classes, or 10 per labelled row if
        that is more, at most 20 000.
    slack : float, default=1.0
        The price of a violation, the same for each constraint; of the squared hinge gamma =
        slack / (mean squared distance of the base kernel)^2. inf: no violation is allowed, and
        constraints that cannot all be met are refused by name.
    tau : float, default=0.01
        For regularizer="trace" and "trace_norm": relative to the value from which on the learned
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
    solver : {"auto", "quasi-newton", "bregman", "uzawa"}, default="auto"
        "auto": for logdet Newton's method on the metric itself (no fewer constraints than
        features, at most 500 of these, slack up to 10) or an interior-point method (dearer
        slack, hard constraints); else "quasi-newton", on the dual. "bregman": cyclic
        projections, for logdet; "uzawa": for the others. Penalties other than the squared hinge
        and "trace_norm" have their own, proximal, under "auto".
    tol : float, default=1e-6
        Relative primal-dual gap at which to stop.
    max_iter : int, default=None
        None: as many as the solver's steps are short, from 100 for Newton's to 20 000 for "uzawa".
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
    objective_ : float
        Primal value.
    dual_objective_ : float
        Dual value.
    gap_ : float
        The difference, which bounds the error of both.
    constraint_satisfaction_ : float
        Share of the constraints that ``kernel_`` meets, to within 1 % of the mean squared
        distance of the base kernel.
    n_constraints_ : int
        Number of constraints.
    n_iter_ : int
        Iterations of the solver.
    n_components_ : int
        Number of features.
    slack_ : float
        gamma as a number in the problem.
    tau_ : float or None
        tau as a number in the problem, for "trace" and "trace_norm".
    constraints_ : Constraints
        Those it was fitted to, drawn or given; ``partial_fit`` adds to them.
    classes_ : ndarray
        The labels, if there were any.
    history_ : tuple of dict
        ``value`` (primal) and ``lower`` (dual, where it has one) at every point whose gap was
        taken.
    plan_ : Plan

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import InductiveKernel
    >>> X, y = load_wine(return_X_y=True)
    >>> model = InductiveKernel(regularizer="trace", random_state=0).fit(scale(X), y)
    >>> model.transform(scale(X)).shape
    (178, 5)
    >>> print(f"{model.dual_objective_:.2f} <= optimum <= {model.objective_:.2f}")
    89.70 <= optimum <= 89.70
    """

    _parameters = SUBSPACE | {
        "regularizer": Read(partial(as_regularizer, tau=1.0)),
        "penalty": Read(as_penalty),
        "constraints": choice(*KINDS) | instance(Constraints, "a set of constraints"),
        "n_constraints": COUNT | NONE,
        "slack": POSITIVE | INFINITE,
        "tau": POSITIVE,
        "unlabeled": UNLABELED,
        "components": choice("kernel", "metric"),
        "solver": choice(*SOLVERS),
        "tol": POSITIVE,
        "max_iter": COUNT | NONE,
    }

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        regularizer: str | Regularizer = "logdet",
        penalty: str | Penalty = "squared_hinge",
        constraints: str | Constraints = "pairs",
        n_constraints: int | None = None,
        slack: float = 1.0,
        tau: float = 0.01,
        unlabeled: object = "raise",
        n_components: int | None = None,
        components: str = "kernel",
        landmarks: LandmarksLike = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.regularizer = regularizer
        self.penalty = penalty
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
    def fit(
        self, X: DataLike, y: LabelsLike | None = None, *, constraints: Constraints | None = None
    ) -> Self:
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
        return self._fit(X, y, constraints, None)

    def partial_fit(
        self, X: RowsLike, y: LabelsLike | None = None, *, constraints: Constraints | None = None
    ) -> Self:
        """Add constraints on the same rows: the model of all constraints so far.

        It is the model that ``fit`` gives of their sum.

        Parameters
        ----------
        X : rows as at fit
            The same rows in the same order as before; other rows are refused.
        y : array-like of shape (n_samples,), default=None
            Labels from which constraints are drawn, in place of ``constraints``.
        constraints : Constraints, default=None
            More constraints.

        Returns
        -------
        self
        """
        if "constraints_" not in self.__dict__:
            return self.fit(X, y, constraints=constraints)
        if as_source(X, y) is not None:
            raise TypeError(
                "X is a source of blocks, and partial_fit adds constraints on rows in memory: pass "
                "them as an array, or all constraints to fit(source)."
            )
        validate_rows(self, self.base_kernel_, X, reset=False)  # as many columns, by their names
        earlier = Earlier(self.constraints_, self._order_digest, self.multipliers_)
        return self._fit_more(X, y, constraints, earlier)

    @all_or_nothing
    def _fit_more(
        self,
        X: RowsLike,
        y: LabelsLike | None,
        constraints: Constraints | None,
        earlier: Earlier,
    ) -> Self:
        return self._fit(X, y, constraints, earlier)

    def _fit(
        self,
        X: DataLike,
        y: LabelsLike | None,
        constraints: Constraints | None,
        earlier: Earlier | None,
    ) -> Self:
        regularizer, penalty = read_parts(self)
        rng = check_random_state(self.random_state)
        source = as_source(X, y)
        if source is not None:
            X, y, constraints = read_for_constraints(self, source, constraints)
        data = self._validate(X, y, constraints, rng, earlier)
        self.plan_, landmarks = data.plan(self.landmarks, self.memory_budget, float(self.slack))
        warn_of_scales(self, [data.kernel], data.whole)
        data = data.resolved()
        features, points, K = data.measure(self.plan_, landmarks, rng)
        reference = BaseReference(K)
        n_features = getattr(self, "n_features_in_", None)
        check_spread(data.kernel, reference.scale, reference.mean_diagonal, n_features)
        terms = data.constraints.terms(reference)
        base_values = data.base_values(self.plan_)
        measured = measure_constraints(terms, points, regularizer.alpha, base_values)
        self.slack_ = float(self.slack) / reference.scale**2
        price = PricedPenalty(penalty, float(self.slack), reference.scale) if penalty else None
        dual, self.tau_ = build_dual(regularizer, measured.constraints, self, self.slack_, price)
        begin = None if earlier is None else earlier.begin(dual.n)
        solution = self._solve(dual, terms, price, begin)
        self.base_kernel_ = data.kernel
        self._store(dual, solution, measured, features, points, reference.scale)
        return self

    @on_sources
    def transform(self, X: DataLike) -> Array:
        """The learned features of each row: their products are the low-rank part of ``kernel_``.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Rows as at fit; for a precomputed kernel K(X, X_train). Or a source of blocks;
            ``out=path`` writes the features to a .npy file, block by block.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components_)
            Of a source an iterator of them, one for each block; with ``out`` its path.
        """
        check_is_fitted(self)
        X = validate_rows(self, self.base_kernel_, X, reset=False)
        return self.embedding_.transform(X)

    def distance(self, X: RowsLike, X_ref: RowsLike | None = None) -> Array:
        """Squared distances k(x, x) + k(y, y) - 2 k(x, y) under the learned kernel.

        Parameters
        ----------
        X : rows as at fit
            The rows of the result.
        X_ref : rows as at fit, default=None
            Its columns; None: X itself.

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

    def score(
        self, X: RowsLike, y: LabelsLike | None = None, *, constraints: Constraints | None = None
    ) -> float:
        """How well the learned kernel does on rows: by their labels, or by constraints on them.

        Parameters
        ----------
        X : rows as at fit
            Any rows; those of the fit, too.
        y : array-like of shape (n_samples,), default=None
            Labels: the score is the share of the labelled rows whose nearest other one has their
            label.
        constraints : Constraints, default=None
            In place of y, on these rows: the score is the share that the learned kernel meets,
            to within 1 % of the base kernel's mean squared distance.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        check_is_fitted(self)
        X, y = take_named({"X": X, "y": y}).values()
        if (y is None) == (constraints is None):
            raise ValueError("score needs labels y or constraints, one of the two.")
        if y is None:
            check_constraints(constraints)
            assert constraints is not None
            X = validate_rows(self, self.base_kernel_, X, reset=False)
            return met_share(constraints, X, self.base_kernel_, self.kernel_)
        check_consistent_length(X, y)
        D = self.distance(X)
        rows, labels = labelled_rows(y, self.unlabeled)
        if len(rows) < 2:
            raise ValueError("score compares each labelled row with the others: label two or more.")
        return nearest_accuracy(D[np.ix_(rows, rows)], np.asarray(labels))

    def _validate(
        self,
        X: Rows,
        y: LabelsLike | None,
        constraints: Constraints | None,
        rng: np.random.RandomState,
        earlier: Earlier | None,
    ) -> ConstrainedRows:
        kernel = as_kernel(self.kernel)
        given = constraints if constraints is not None else self.constraints
        if constraints is not None and y is not None:
            raise ValueError(
                "Both y and constraints were given. Constraints take the place of labels: "
                "pass one of the two."
            )
        if constraints is not None:
            check_constraints(constraints)
        given_rows, X = X, validate_rows(self, kernel, X, reset=True)
        copied = copied_bytes(X, given_rows)
        n, is_matrix = n_rows(X), kernel.input == "matrix"
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
        self._order_digest = ordered_digest(source)
        if earlier is not None:
            given = earlier.with_more(given, self._order_digest)
        self.constraints_ = given
        given.check_rows(n)
        indexed, rows = number_rows(kernel, X, given)
        if n_rows(rows) > n:
            copied += n_rows(rows) * row_bytes(rows)
            more = np.empty((n_rows(rows), 0))
            source = ArraySource(rows, more, is_matrix=is_matrix, copied_bytes=copied)
            whole = source.subset(np.arange(n))
        warn_of_contradictions(indexed)
        return ConstrainedRows(kernel, source, whole, indexed, indexed.rows())

    def _draw(
        self, source: ArraySource, y: LabelsLike | None, kind: str, rng: np.random.RandomState
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

    def _solve(
        self, dual: RegularizedDual, terms: Terms, price: PricedPenalty | None, begin: Array | None
    ) -> Solution:
        solution = solve_inductive(
            dual,
            solver=self.solver,
            slack=float(self.slack),
            tol=float(self.tol),
            max_iter=None if self.max_iter is None else int(self.max_iter),
            price=price,
            begin=begin,
        )
        result = solution.result
        if result.status == "optimal":
            return solution
        violation = dual.sign * dual.constraints.inner(solution.A) - dual.bound
        sizes = dual.constraints.sizes()
        if solution.infeasible:
            refuse_hard(terms, solution.z * sizes, proven=True)
        if not np.isfinite(self.slack) and np.any(violation > max(self.tol, 1e-6) * sizes):
            refuse_hard(terms, np.maximum(violation, 0.0), proven=False)
        remedy = "Raise max_iter, or lower slack if the constraints cannot all be met."
        if self.solver == "bregman":
            remedy = 'Cyclic projections are slow here; solver="auto" is not.'
        warn_user(
            f"InductiveKernel stopped after {result.n_iter} iterations at a relative gap of "
            f"{result.relative_gap:.2g} (tol={self.tol:g}). {remedy}",
            ConvergenceWarning,
        )
        return solution

    def _store(
        self,
        dual: RegularizedDual,
        solution: Solution,
        measured: Measured,
        features: FeatureMap,
        points: Points,
        scale: float,
    ) -> None:
        alpha, A = dual.regularizer.alpha, (solution.A + solution.A.T) / 2
        self.multipliers_, self.metric_ = solution.z, A
        self.objective_, self.dual_objective_ = solution.value, solution.lower
        self.gap_ = solution.value - solution.lower
        self.n_iter_, self.history_ = solution.result.n_iter, solution.result.history
        self.n_constraints_ = dual.n
        w, V = linalg.eigh(A)
        factor = learned_directions(w, V, points.second_moment())
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
        reduced = self.n_components is not None
        self.constraint_satisfaction_ = satisfied_share(
            measured, factor @ factor.T if reduced else A, scale, is_reduced=reduced
        )
