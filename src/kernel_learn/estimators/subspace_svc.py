"""A subspace kernel and its support vector machines, learned together (SVM_joint, uSVM_joint)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

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
from kernel_learn.criteria.held_out.stacking import fit_centroids
from kernel_learn.criteria.joint_problem import DualMap, DualProblem, JointProblem, RowMap, map_dual
from kernel_learn.criteria.joint_rows import JointRows
from kernel_learn.criteria.margin_weights import (
    MarginWeights,
    ProjectedForm,
    ProjectedMarginWeights,
    SubspaceMarginWeights,
)
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.block_svc import BlockMachines
from kernel_learn.fitting.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    POSITIVE,
    REGS,
    SUBSPACE,
    WEIGHTS,
    check_n_components,
    check_parameters,
    check_regs,
    choice,
)
from kernel_learn.fitting.predictions import MachineClassifier, SharpenedScores
from kernel_learn.fitting.probabilities import choose_rule, fit_sharpness, parts_bytes
from kernel_learn.fitting.training import Labelled, TrainingLike, class_prices
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.kernels.resolve import is_bank
from kernel_learn.representations.base import Combined, Representation
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.choice import solve_simplex
from kernel_learn.solvers.eigen import fix_signs
from kernel_learn.solvers.joint import JointSolution, solve_alternating, solve_closed, solve_exact
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.warn import warn_user

# G, its eigenvectors, the rows on them, Khat, and what LIBSVM holds of it; on features the
# rows on their axes, once and scaled.
EXACT_NEEDS = Needs(exact=5.5, rows=3.5, compared=True, extra=parts_bytes)
# One reg: G, the inverse of G + lam which becomes Khat, and what LIBSVM holds of it.
CLOSED_NEEDS = {True: Needs(exact=2.6, rows=3.5, compared=True, extra=parts_bytes)}
CLOSED_NEEDS[False] = replace(CLOSED_NEEDS[True], exact=3.6)  # and the inverse itself
LEAST_CLOSED_REG = 1e-9  # below, G + lam may not be positive definite in floating point
BANK_NEEDS = Needs(exact=5.5, weights=6.0, compared=True, extra=parts_bytes)
LEAST_WEIGHT = 1e-12  # beside the largest


class MarginPath(NamedTuple):
    """Machines for a grid of ``regs`` and ``Cs``, and their bounds.

    Decision values of ``(regs[i], Cs[j])`` on new rows are
    ``k(X_new, landmarks) @ coefs[i, j] + intercepts[i, j]``.
    """

    coefs: Array  # (n_regs, n_Cs, n_landmarks, n_machines)
    intercepts: Array  # (n_regs, n_Cs, n_machines)
    upper_bounds: Array  # (n_regs, n_Cs)
    lower_bounds: Array  # (n_regs, n_Cs)


class SubspaceSVC(SharpenedScores, MachineClassifier, BlockMachines):
    """Subspace kernel and support vector machines, optimal for each other (SVM_joint, uSVM_joint).

    One machine per class (one for two classes), all on one kernel of rank
    ``n_components`` that is chosen with them (Chen et al. 2008, sections 3.2
    and 4.3). For n_components >= n_classes that is solved exactly: the
    machines are those of the kernel G (G + lam)^{-1} G, or G (G + lam)^{-1},
    and their weights span the subspace.

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        See :mod:`kernel_learn.kernels`; ``Gaussian("loo")`` as in
        :class:`HSICSubspace`. ``"precomputed"``: X is a kernel
        matrix, or a stack of p of them (n, n, p). Several kernels (a list, a
        dict of names, a stack) are combined into one of trace n, by ``weights``.
    C : float, default=1.0
        The price of a margin error.
    loss : {"auto", "hinge", "squared_hinge"}, default="auto"
        C sum max(0, 1 - y f), or C / 2 times the sum of its square, which is solved in passes
        over blocks of rows (n_components >= n_classes only, or 1 for two classes). "auto":
        the hinge; the square for a source of blocks, and with landmarks for more than 20,000
        rows.
    reg : float, list of float or "loo", default=1e-2
        Regularisation relative to the kernel: lambda = reg * tr(G) / n. A list,
        or "loo" for one from 1e-6 to 100: the value with the smallest
        leave-one-out error of ridge regression on the one-hot labels, which the
        decomposition of the fit gives for all values.
    uncorrelated : bool, default=True
        True: features that are uncorrelated on the training rows, up to
        ``reg`` (uSVM_joint). False: an orthogonal projection (SVM_joint).
    n_components : int, default=None
        Number of features; None means n_classes. Fewer than the machines make
        the problem harder: bounds and a rounded subspace then, see ``gap_``.
        Rows are then classified by the class means in the subspace (their
        within-class metric) where the log loss of held-out rows is smaller so:
        ``decision_function`` gives these log-odds, up to ``sharpness_``.
        Machines that fit all rows on their margins have weights of rank
        n_classes - 1, and so many features are all there are.
    method : {"exact", "alternating"}, default="exact"
        "alternating" is the iteration of the paper. It oscillates; it is here
        to reproduce that, keeps the best of its rounds, and warns.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        "auto": exact where that is affordable, else 1000 landmarks. "all":
        exact. A number, a rule ("rpcholesky", "uniform", "kmeans", "stratified"),
        ``Landmarks(rule, count)``, or the rows (or their indices) themselves.
        With several kernels and the hinge the fit is exact: "auto" or "all".
    class_weight : dict or "balanced", default=None
        Factors on C for the rows of each class.
    weights : {"learn", "loo", "uniform", "alignment"} or array-like, default="learn"
        With several kernels: learned with the subspace and the machines
        (SVM_mkl, section 5.5), a convex problem with ``uncorrelated=True``; otherwise it is
        neither convex nor concave in the weights, and the search is local: no worse than
        uniform weights or any kernel alone; ``gap_`` bounds what other weights could gain. Or by
        the leave-one-out error of ridge regression, see :class:`HSICSubspace`; the same trace
        for each; centred alignment; relative weights of the kernels as given.
    solver : {"auto", "newton", "silp", "bundle", "sdp"}, default="auto"
        How weights are learned; see :class:`HSICSubspace`.
    tol : float, default=1e-6
        Relative distance of the two bounds that counts as solved (with
        n_components < n_classes 1e-3, if ``tol`` is smaller).
    max_iter : int, default=None
        Steps of the accelerated method for n_components < n_classes (None:
        5000), rounds of the alternation (None: 10), steps on the weights of
        several kernels (None: 100). A closed form has none.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    random_state : int, RandomState or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel: ``kernel_(X, X_ref)`` on any rows; its features are
        those of ``transform``; ``kernel_.coef`` (n_landmarks, n_components).
    reg_ : float
        lambda.
    loo_regs_ : ndarray or None
        The values of ``reg`` tried, if several were.
    loo_errors_ : ndarray or None
        Their leave-one-out errors.
    reg_rule_ : str or None
        "loo" or "gcv": which of the two they are.
    coef_ : ndarray of shape (n_machines, n_components_)
        Weights of the machines on those features.
    intercept_ : ndarray of shape (n_machines,)
    support_ : ndarray of shape (n_support,)
        Indices of the training rows with a weight in any machine.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        y * alpha of these rows.
    upper_bound_ : float
        The value of the machines on the learned subspace.
    lower_bound_ : float
        A proven lower bound of what any subspace can reach.
    relaxed_bound_ : float
        The best upper bound of the convex problem; ``upper_bound_`` unless
        n_components < n_classes.
    gap_ : float
        upper_bound_ - lower_bound_; ``gap_.structural`` is the part between
        the relaxed problem's bound and the best subspace found. With learned weights of
        ``uncorrelated=False`` the lower bound is that of machines on the sum of the projected
        kernels, which need not be reached: a few per cent can remain. With
        ``weights="loo"`` nan: the weights have no bound.
    objective_ : float
        ``upper_bound_``.
    history_ : tuple of dict
        ``lower`` and ``upper`` bound per iteration.
    n_iter_ : int
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given. The bounds then hold
        for all weights if they were learned and n_components >= n_classes; the
        weights of fewer features are those of n_classes.
    kernel_names_ : ndarray of str
        Their names.
    weights_report_ : WeightsReport
        The criterion at the weights chosen, at uniform ones and at the best single kernel; the
        held-out error with all kernels, and without each beside its weight.
    sharpness_ : float
        The factor on decision values in ``predict_proba``: that of least log
        loss on scores of up to 400 training rows by five-fold cross-validation:
        subspace and machines of four folds, from the kernel values that are
        there, score the fifth. Where machines are solved in blocks: on up to 2000
        rows, each left out by a step of Newton.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    landmark_residual_ : float or None
        Share of the trace that the landmarks leave out; as in :class:`HSICSubspace`.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import SubspaceSVC
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SubspaceSVC(C=10, reg=0.1).fit(scale(X), y)
    >>> model.transform(scale(X)).shape
    (178, 3)
    >>> print(f"{model.lower_bound_:.4f} <= optimum <= {model.upper_bound_:.4f}")
    267.2192 <= optimum <= 267.2192
    """

    _parameters = (
        SUBSPACE
        | WEIGHTS
        | {
            "C": POSITIVE,
            "loss": choice("auto", "hinge", "squared_hinge"),
            "reg": REGS,
            "uncorrelated": BOOLEAN,
            "method": choice("exact", "alternating"),
            "class_weight": CLASS_WEIGHT,
        }
    )

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        C: float = 1.0,
        loss: str = "auto",
        reg: float | Sequence[float] | str = 1e-2,
        uncorrelated: bool = True,
        n_components: int | None = None,
        method: Literal["exact", "alternating"] = "exact",
        landmarks: LandmarksLike = "auto",
        class_weight: ClassWeight = None,
        weights: str | ArrayLike = "learn",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.reg = reg
        self.uncorrelated = uncorrelated
        self.n_components = n_components
        self.method = method
        self.landmarks = landmarks
        self.class_weight = class_weight
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.memory_budget = memory_budget
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: TrainingLike,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the subspace and the machines.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, strings, or a source of blocks
            Rows, (n_samples, ...). A source must be one that can be read again.
        y : array-like of shape (n_samples,)
            Class labels; None for a source.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 is two rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group (of one patient, say) are left out together: what is said of
            held-out rows, and the coverage of sets, is then that for a row of a new group. Of
            rows in memory.

        Returns
        -------
        self
        """
        data = self._rows(X, y, sample_weight, groups)
        self._fit_rows(data)
        by = "leave-one-out" if self._goes_in_blocks(data) else "five folds of the machines"
        self._judge_without_each(data, type(self)._fit_rows, by)
        return self

    def _fit_rows(self, data: Labelled) -> Self:
        self._start_weights()
        self.__dict__.pop("_log_odds", None)  # of a fit with fewer features than classes
        regs = self._regs()
        if self._goes_in_blocks(data):
            return self._fit_in_blocks(data, regs)
        rows = self._prepare(data, regs)
        self.reg_ = self._choose_reg(rows.sample, regs)
        solution, coordinates = self._solve_at(rows, self.reg_, float(self.C))
        descent = (self.history_, self.n_iter_)
        self._store(solution, rows, coordinates, data.source)
        if rows.weights_searched:
            self.history_, self.n_iter_ = descent
            if rows.weights_lower is None:
                self.gap_ = type(solution.gap)(np.nan)
        if rows.weights_lower is not None and not solution.subspace_fixed:
            self.lower_bound_: float = min(solution.lower, rows.weights_lower)
            self.gap_ = type(solution.gap)(max(self.upper_bound_ - self.lower_bound_, 0.0))
        return self

    def path(
        self, X: RowsLike, y: LabelsLike, Cs: Sequence[float], regs: Sequence[float] | None = None
    ) -> MarginPath:
        """Machines for all ``regs`` (default: ``reg``) and ``Cs``; the estimator stays as it is.

        One eigendecomposition serves the whole grid; each C starts from the
        solution of the one before, the first C of each reg from that of the
        reg before. The landmarks are the rows of X if the
        plan is exact (each row once if rows are repeated).
        """
        check_parameters(self)
        regs = check_regs(self.reg if regs is None else regs, self)
        Cs = check_regs(Cs, self, "C")
        worker = type(self)(**self.get_params(deep=False))
        if is_bank(self.kernel):
            raise ValueError("A bank of kernels has no path: its weights depend on reg and C.")
        rows = worker._prepare(worker._rows(X, y), regs)
        _ = rows.spectrum  # once, for the whole grid
        coefs, intercepts, bounds = [], [], []
        starts: dict[float, Array] = {}  # C -> the last solution for it
        for reg in regs:
            last = Cs[0]
            for C in Cs:
                problem, coordinates = rows.problem(rows.lam(reg), C)
                start = starts[last] * (C / last) if last in starts else None
                solution = worker._solve(problem, rows, start)
                starts[C], last = solution.machines.alpha, C
                weights = solution.directions @ solution.coef.T
                learned = rows.sample.expand(coordinates.lift(weights))
                coefs.append(learned.coef)
                intercepts.append(solution.machines.intercept - learned.offset)
                bounds.append((solution.upper, solution.lower))
        grid = (len(regs), len(Cs))
        upper, lower = np.array(bounds).T.reshape(2, *grid)
        return MarginPath(
            np.stack(coefs).reshape(*grid, *coefs[0].shape),
            np.stack(intercepts).reshape(*grid, -1),
            upper,
            lower,
        )

    def _machine_values(self, X: Rows) -> Array:
        F = self._features(X)
        if hasattr(self, "_log_odds"):
            return self._log_odds(F)
        return F @ self.coef_.T + self.intercept_

    def _prepare(self, data: Labelled, regs: Sequence[float] = ()) -> JointRows:
        if not data.weight.all():  # in a kernel matrix: a box that is all but closed
            data.source.weight = np.maximum(data.weight, LEAST_WEIGHT * data.weight.max())
        data = self._choose_width(data, regs)
        self.classes_ = data.classes
        price = class_prices(self.class_weight, data)
        n_machines = 1 if len(data.classes) == 2 else len(data.classes)
        n_wanted = check_n_components(self.n_components, len(data.classes), self)
        if n_wanted > len(data.classes):
            warn_user(
                f"n_components={n_wanted} directions were asked for, and {n_machines} "
                f"machine{'s' * (n_machines > 1)} of {len(data.classes)} classes determine "
                f"{n_machines}; transform gives {n_machines} "
                f"column{'s' * (n_machines > 1)}.",
            )
        self._check_bank(data)
        # weighted and repeated rows give the same, whatever the order
        repeats = data.source.n_distinct < data.source.n_rows or bool(np.any(data.weight != 1))
        source, inverse, _ = data.source.merged_by_label(by_content=repeats)
        share, kept = data.weight / source.weight[inverse], data.kept
        data = replace(data, source=source)
        several = data.names is not None
        needs = BANK_NEEDS if several else self._needs(n_wanted >= n_machines)
        data, form = self._represent(data, needs=needs, merge=False, is_exact=several)
        sample, weights_lower = self._weights(data, form, price)
        return JointRows(
            sample=sample,
            X=source.X,
            labels=source.labels,
            n_classes=len(data.classes),
            weight=source.weight,
            price=price,
            inverse=inverse,
            share=share,
            kept=np.arange(len(inverse)) if kept is None else kept,
            n_components=min(n_wanted, n_machines),
            uncorrelated=self.uncorrelated,
            weights_lower=weights_lower,
            weights_searched=several and (self._weighs_by_loo or self._learns_projected),
            units=source.units(np.arange(source.n_rows)),
        )

    @property
    def _learns_projected(self) -> bool:
        """Whether weights are learned by a problem that is not convex."""
        learns = isinstance(self.weights, str) and self.weights == "learn"
        return learns and not self.uncorrelated

    def _needs(self, is_closed: bool) -> Needs:
        if is_closed and self.method == "exact" and isinstance(self.reg, Real):
            return (
                CLOSED_NEEDS[self.uncorrelated]
                if float(self.reg) > LEAST_CLOSED_REG
                else EXACT_NEEDS
            )
        return EXACT_NEEDS

    def _check_bank(self, data: Labelled) -> None:
        if data.names is None:
            return
        if not (isinstance(self.landmarks, str) and self.landmarks in ("auto", "all")):
            raise ValueError(
                "SubspaceSVC with several kernels and the hinge is exact: landmarks must be 'auto' "
                "or 'all'. Landmarks need loss='squared_hinge'."
            )
        learns = isinstance(self.weights, str) and self.weights == "learn"
        if learns and not isinstance(self.reg, Real):
            raise ValueError(
                "SubspaceSVC(weights='learn') learns weights at one reg: give a number for reg, "
                "or weights='loo'."
            )

    def _weights(
        self, data: Labelled, form: Representation, price: Array
    ) -> tuple[Combined, float | None]:
        """The sample at the weights, and a lower bound over all weights if they were learned."""
        if data.names is None:
            return self._combine(form), None
        learns = isinstance(self.weights, str) and self.weights == "learn"
        if not isinstance(self.reg, Real) or not (self.uncorrelated or learns):
            return self._combine(form, self._weigh_without_criterion(form, data.names)), None
        signs, prices = one_vs_rest_signs(data.labels, len(data.classes)), price[data.labels]
        criterion = partial(
            SubspaceMarginWeights if self.uncorrelated else ProjectedMarginWeights,
            signs=signs,
            C=float(self.C),
            reg=float(self.reg),
            prices=prices,
        )
        theta, result, _ = self._weigh_bank(form, data.names, criterion)
        if not self._learns_projected:
            lower = result.value - result.gap if learns else None
            return self._combine(form, theta), lower
        assert isinstance(form, GramForm)
        below = ProjectedForm(form, float(self.reg))
        sample = self._combine(form, theta)
        if form.p == 1:  # its matrix may be the sample's own
            return sample, result.value
        bound = solve_simplex(
            MarginWeights(below, signs, float(self.C), prices=prices),
            tol=self.tol,
            max_iter=self._weight_steps,
        )
        return sample, bound.value - bound.gap

    def _solve_at(
        self, rows: JointRows, lam: float, C: float
    ) -> tuple[JointSolution, RowMap | DualMap]:
        """One lam: a factorisation in place of an eigendecomposition where that is enough."""
        if self.method == "exact" and rows.is_closed and not rows.sample.is_decomposed:
            dual = map_dual(rows.sample, lam, self.uncorrelated)
            if dual is not None:
                closed = DualProblem(dual.Khat, rows.signs, rows.boxes(C))
                solution = solve_closed(closed, tol=self.tol)
                self._warn_if_apart(solution)
                return solution, dual
        problem, coordinates = rows.problem(lam, C)
        return self._solve(problem, rows), coordinates

    def _solve(
        self, problem: JointProblem, rows: JointRows, start: Array | None = None
    ) -> JointSolution:
        if self.method == "alternating":
            solution = solve_alternating(
                problem, rows.label_factor, tol=self.tol, max_iter=self.max_iter
            )
        else:
            solution = solve_exact(
                problem,
                tol=self.tol,
                max_iter=self.max_iter,
                start=start,
                L=rows.label_factor,
            )
        self._warn_if_apart(solution)
        return solution

    def _warn_if_apart(self, solution: JointSolution) -> None:
        if solution.met:
            return
        bounds = f"the optimum lies between {solution.lower:.6g} and {solution.relaxed:.6g}"
        if self.method == "alternating":
            text = (
                f"The alternation did not converge in {solution.n_iter} rounds, as it cannot be "
                f"expected to; its best bounds say that {bounds}. method='exact' solves it."
            )
        else:
            text = (
                f"The bounds did not meet to tol={self.tol:g} in {solution.n_iter} steps; "
                f"{bounds}. Allow more steps (max_iter) or a larger tol, or scale C down."
            )
        warn_user(text, ConvergenceWarning)

    def _store(
        self,
        solution: JointSolution,
        rows: JointRows,
        coordinates: RowMap | DualMap,
        given: ArraySource,  # the rows before they were merged
    ) -> None:
        machines = solution.machines
        # signs by the machines' weights: those of the axes depend on how they were found
        self.coef_ = fix_signs(solution.coef)
        flip = np.where(np.sum(self.coef_ * solution.coef, axis=0) < 0, -1.0, 1.0)
        self.intercept_ = machines.intercept
        self.upper_bound_ = self.objective_ = solution.upper
        self.lower_bound_ = solution.lower
        self.relaxed_bound_ = solution.relaxed
        self.gap_ = solution.gap
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter
        # a row that stands for several shares its part among them
        A = machines.A[rows.inverse] * rows.share[:, None]
        support = np.flatnonzero(A.any(axis=1))
        self.support_, self.dual_coef_ = rows.kept[support], A[support].T
        part = partial(rows.score_fold, reg=self.reg_ / rows.lam(1.0), C=float(self.C))
        if rows.is_closed or isinstance(coordinates, DualMap):
            sharpness = fit_sharpness(rows.targets, part)
        else:
            # some classes are never the largest of so few values: class means may decide
            rule, sharpness = choose_rule(rows.targets, part)
            if rule == 1:
                F = rows.on_axes(np.sqrt(coordinates.spectrum / rows.spectrum.w))
                F = F @ (solution.directions * flip)
                self._log_odds = fit_centroids(F, rows.targets.counts)
        self._sharpen(sharpness, given)
        self._store_kernel(rows.sample.expand(coordinates.lift(solution.directions * flip)))
        if self.n_components is not None and self.n_components_ < rows.n_components:
            warn_user(
                f"n_components={self.n_components} directions were asked for, and the weights of "
                f"the machines have rank {self.n_components_}; transform gives "
                f"{self.n_components_} columns.",
            )
