"""Subspace kernels by dependence on the labels: HSIC and uHSIC."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from kernel_learn.arrays import Array, LabelsLike, MemoryBudget, RowsLike, Seed, WeightsLike
from kernel_learn.criteria.hsic import Dependence
from kernel_learn.criteria.kernel_weights import LabelResolvent, ProjectedDependence
from kernel_learn.criteria.labels import LabelKernel
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.kernel_weights import WeightLearner
from kernel_learn.fitting.loo_selection import EXACT_LOO_ROWS, LeaveOneOutChoice
from kernel_learn.fitting.parameters import (
    BOOLEAN,
    LABEL_KERNEL,
    MOMENT_REGS,
    STREAMED,
    TARGET_TYPE,
    UNLABELED,
    WEIGHTS,
    check_n_components,
    check_regs,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.target_codes import check_label_stream, code_targets, ridge_targets
from kernel_learn.fitting.training import Labelled, Valued, store_targets, validate_targets
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.representations.base import Combined, Representation
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.solvers.eigen import solve_top_eigen

NEEDS = Needs(exact=2.0)  # G, and the copy that is factorised
CHOICE_NEEDS = Needs(exact=4.2)  # G, its eigenvectors, and the workspace for them
PATH_NEEDS = Needs(exact=4.5)


class RegularizationPath(NamedTuple):
    """Coefficients and criterion values for a list of ``reg``."""

    coefs: Array  # (n_regs, n_landmarks, n_components)
    values: Array  # (n_regs,)


class HSICSubspace(PartialFit, LeaveOneOutChoice, WeightLearner, StreamedSubspace):
    """Subspace kernel with the largest dependence on the labels (HSIC, uHSIC).

    Finds the few directions in the kernel's feature space whose kernel agrees
    best with the labels, in closed form: one Cholesky factorisation and an
    eigenproblem of the size of the number of classes (Chen et al. 2008,
    sections 3.1 and 4.2).

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        See :mod:`kernel_learn.kernels`. ``Gaussian("loo")`` (any kernel of a
        distance): of seven widths around the median the one with the smallest
        leave-one-out error, at its best ``reg``. ``"precomputed"``: X is a kernel
        matrix, or a stack of p of them (n, n, p). Several kernels (a list, a
        dict of names, a stack) are combined into one of trace n, by ``weights``.
    n_components : int, default=None
        Number of features; None means n_classes - 1, the rank of centred labels, or as many as
        there are numbers or labels.
    reg : float, list of float, "loo" or "gcv", default=1e-3
        Regularisation relative to the kernel: lambda = reg * tr(G) / n. A list,
        or "loo" for one from 1e-6 to 100: the value with the smallest
        leave-one-out error, as in :class:`KernelDiscriminant`.
    uncorrelated : bool, default=False
        False: an orthogonal projection in feature space (HSIC). True: features
        that are uncorrelated on the training rows, up to ``reg`` (uHSIC).
    label_kernel : str, callable, Kernel or array, default="normalized"
        Similarity of targets. "normalized": each class, label or number (of variance one) counts
        the same. Of classes: "indicator", each pair of equal labels counts the same; "ordinal",
        1 - |i - j| / (n_classes - 1) of the classes i and j in sorted order; a function of two
        label arrays or a matrix over the classes (sorted). Of numbers: "linear", or "gaussian"
        (of median width), which finds any dependence. Of sets of labels: "linear", the number of
        labels that two rows share, or "jaccard", the share of labels that they do. Of any: a
        matrix over the samples; of numbers and sets a function of two arrays of them, or a kernel.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is. "auto": texts and few whole numbers are classes; real numbers are numbers, and,
        with a warning, so are whole ones of more than 20 values with fewer than 5 rows each; a
        matrix of zeros and ones, or a set of labels for each row, are labels; any other matrix
        is several numbers. Of a stream that is more than memory holds whole numbers are classes.
    unlabeled : default="raise"
        What marks rows without a target, -1 say, beside None and NaN; None: nothing else does.
        These rows are joined with all others in a graph that deforms the kernel,
        ``kernels.GraphDeformed`` (give it as ``kernel`` for other settings), and the fit is that
        of the other rows. "raise": every row has a target, and None and NaN are refused.
    weights : {"learn", "loo", "uniform", "alignment"} or array-like, default="learn"
        With several kernels: learned together with the subspace; by the exact
        leave-one-out error of ridge regression on the one-hot labels, or the
        numbers, whatever the estimator (with landmarks by generalised
        cross-validation); the same trace for each; centred alignment with the
        targets; or relative weights of the kernels as given.
    solver : {"auto", "newton", "silp", "bundle", "sdp"}, default="auto"
        How weights are learned; all reach the same optimum. "sdp" needs the
        extra ``sdp`` and is for tens of rows.
    tol : float, default=1e-6
        Certified relative gap at which weights are final.
    max_iter : int, default=100
        Steps at most.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        "auto": exact where that is affordable, else 1000 landmarks. "all":
        exact. A number, a rule ("rpcholesky", "uniform", "kmeans", "stratified"),
        ``Landmarks(rule, count)``, or the rows (or their indices) themselves.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.
    random_state : int, RandomState or None, default=None
        For the choice of landmarks.
    verbose : int, default=0
        1: while a source is read, say how far it is and how long it will take.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel: ``kernel_(X, X_ref)`` on any rows; its features are
        those of ``transform``; ``kernel_.coef`` (n_landmarks, n_components)
        holds the coefficients W.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    reg_ : float
        lambda.
    loo_regs_ : ndarray or None
        The values of ``reg`` tried, if several were.
    loo_errors_ : ndarray or None
        Their leave-one-out errors.
    reg_rule_ : str or None
        "loo" or "gcv": which of the two they are.
    objective_ : float
        tr(K_w H), the dependence of the learned kernel on the labels.
    eigenvalues_ : ndarray of shape (n_components_,)
        Each feature's share of ``objective_``.
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
    gap_ : float
        No weights have an ``objective_`` larger by more than this (all
        features taken); 0 for one kernel, nan with ``weights="loo"``.
    n_iter_ : int
        Steps of the solver.
    history_ : tuple of dict
        The criterion at each (with ``weights="loo"`` the logarithm of the held-out error,
        "value", and "grad_norm").
    weights_report_ : WeightsReport
        The criterion at the weights chosen, at uniform weights and at the best
        single kernel; ``print(model.weights_report_)``.
    classes_ : ndarray of shape (n_classes,)
        Of sets of labels the labels; numbers have none.
    target_type_ : str
        What y was taken for.
    n_components_ : int
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    landmark_residual_ : float or None
        Share of the trace of the kernel matrix that the landmarks leave out: 0
        for an exact fit, None for rules that do not measure it.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    Weights with ``uncorrelated=True`` (HSIC_mkl, Chen et al. 2008, section 5)
    minimise J = tr(H) - ``objective_``, which is convex if all n_classes - 1
    features count; with fewer ``n_components`` the weights are those of all of
    them. With ``uncorrelated=False`` the dependence is convex in the weights
    and its maximum a single kernel: "learn" finds it exactly by trying each,
    whatever the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import HSICSubspace
    >>> X, y = load_wine(return_X_y=True)
    >>> model = HSICSubspace(uncorrelated=True).fit(scale(X), y)
    >>> model.transform(scale(X)).shape
    (178, 2)
    """

    learns_unlabelled = True

    _parameters = (
        STREAMED
        | WEIGHTS
        | {
            "reg": MOMENT_REGS,
            "uncorrelated": BOOLEAN,
            "label_kernel": LABEL_KERNEL,
            "target_type": TARGET_TYPE,
            "unlabeled": UNLABELED,
        }
    )

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float | Sequence[float] | str = 1e-3,
        uncorrelated: bool = False,
        label_kernel: LabelKernel = "normalized",
        target_type: str = "auto",
        unlabeled: object = "raise",
        weights: str | ArrayLike = "learn",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.uncorrelated = uncorrelated
        self.label_kernel = label_kernel
        self.target_type = target_type
        self.unlabeled = unlabeled
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Labelled | Valued) -> Self:
        regs = self._regs()
        self._start_weights()
        data = self._choose_width(data, regs)
        store_targets(self, data)
        source, mixing = code_targets(data, self.label_kernel)
        decomposes = len(regs) > 1 and source.n_distinct <= EXACT_LOO_ROWS
        needs = CHOICE_NEEDS if decomposes else NEEDS
        data, form = self._represent(data, source, needs=needs, mixing=mixing)
        sample = self._combine(form, self._weights(data, form, regs))
        self.reg_ = self._choose_reg(sample, regs, source.rewinds)
        B, M = self._criterion(sample, mixing).candidates(self.reg_)
        result = solve_top_eigen(M, self._n_wanted(data))
        self.objective_ = result.value
        self.eigenvalues_ = result.values
        self._store_kernel(sample.expand(B @ result.point))
        self._warn_if_fewer()
        return self

    def path(
        self, X: RowsLike, y: LabelsLike, regs: Sequence[float], sample_weight: WeightsLike = None
    ) -> RegularizationPath:
        """Solutions for all ``regs`` from one eigendecomposition; the estimator stays as it is.

        The features of ``regs[i]`` are ``k(X_new, landmarks) @ coefs[i]`` less
        their training mean. The landmarks are the rows of X if the plan is
        exact. Where a solution has lower rank, its last columns are zero.

        Returns
        -------
        path : (coefs, values)
            Arrays (n_regs, n_landmarks, n_components) and (n_regs,).
        """
        regs = check_regs(regs, self)
        worker = type(self)(**self.get_params(deep=False))
        data = worker._choose_width(validate_targets(worker, X, y, sample_weight), regs)
        if data.names is not None:
            raise ValueError("A bank of kernels has no path: its weights depend on reg.")
        source, mixing = code_targets(data, worker.label_kernel)
        data, form = worker._represent(data, source, needs=PATH_NEEDS, merge=False)
        sample = worker._combine(form)
        lams = [reg * sample.trace / sample.n for reg in regs]
        U, b, M = worker._criterion(sample, mixing).candidates_path(lams)
        results = [solve_top_eigen(M_i, worker._n_wanted(data)) for M_i in M]
        n_columns = max(result.point.shape[1] for result in results)
        directions = np.zeros((b.shape[1], len(regs), n_columns))
        for i, result in enumerate(results):
            directions[:, i, : result.point.shape[1]] = b[i] @ result.point
        coef = sample.expand(U @ directions.reshape(len(directions), -1)).coef
        coefs = coef.reshape(len(coef), len(regs), n_columns).transpose(1, 0, 2)
        return RegularizationPath(coefs, np.array([result.value for result in results]))

    def _check_stream(self) -> None:
        check_label_stream(self.label_kernel)

    def _weights(
        self, data: Labelled | Valued, form: Representation, regs: list[float]
    ) -> Array | None:
        """Weights of the kernels of a bank; None for one kernel, which stays what it is."""
        if data.names is None:
            return None
        reg: float | Literal["learn"] = regs[0] if len(regs) == 1 else "learn"
        if reg == "learn" and not self.uncorrelated:
            if isinstance(self.weights, str) and self.weights == "learn":
                raise ValueError(
                    "HSICSubspace(uncorrelated=False, weights='learn') compares kernels at one "
                    "reg: give a number for reg, or weights='loo'."
                )
            return self._weigh_without_criterion(form, data.names)
        criterion: Callable[..., LabelResolvent | ProjectedDependence] = partial(
            LabelResolvent, reg=reg
        )
        if not self.uncorrelated:
            criterion = partial(
                ProjectedDependence, reg=float(reg), n_components=self._n_wanted(data)
            )
        targets = ridge_targets(self, data) if self._weighs_by_loo else None
        return self._weigh_bank(form, data.names, criterion, loo_targets=targets).theta

    def _criterion(self, sample: Combined, mixing: Array) -> Dependence:
        return Dependence(sample, mixing, uncorrelated=self.uncorrelated)

    def _n_wanted(self, data: Labelled | Valued) -> int:
        most = data.source.n_targets
        return check_n_components(self.n_components, most - isinstance(data, Labelled), self)
