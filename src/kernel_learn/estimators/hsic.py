"""Subspace kernels by dependence on the labels: HSIC and uHSIC."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from kernel_learn.arrays import Array, LabelsLike, MemoryBudget, Rows, RowsLike, Seed, WeightsLike
from kernel_learn.criteria.hsic import Dependence
from kernel_learn.criteria.kernel_weights import LabelResolvent, ProjectedDependence
from kernel_learn.criteria.labels import LabelKernel, factor_of_counts
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.kernel_weights import WeightLearner
from kernel_learn.fitting.loo_selection import EXACT_LOO_ROWS, LeaveOneOutChoice
from kernel_learn.fitting.parameters import (
    ARRAY,
    BOOLEAN,
    FUNCTION,
    MOMENT_REGS,
    STREAMED,
    WEIGHTS,
    check_n_components,
    check_regs,
    choice,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.training import Labelled, validate_labelled
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.representations.base import Combined, Representation
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.eigen import solve_top_eigen

NEEDS = Needs(exact=2.0)  # G, and the copy that is factorised
CHOICE_NEEDS = Needs(exact=4.2)  # G, its eigenvectors, and the workspace for them
PATH_NEEDS = Needs(exact=4.5)
# A label kernel on a stream with more rows than this is not one of its classes.
LABEL_ROWS = 20_000


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
        Number of features; None means n_classes - 1, the rank of centred labels.
    reg : float, list of float, "loo" or "gcv", default=1e-3
        Regularisation relative to the kernel: lambda = reg * tr(G) / n. A list,
        or "loo" for one from 1e-6 to 100: the value with the smallest
        leave-one-out error, as in :class:`KernelDiscriminant`.
    uncorrelated : bool, default=False
        False: an orthogonal projection in feature space (HSIC). True: features
        that are uncorrelated on the training rows, up to ``reg`` (uHSIC).
    label_kernel : {"normalized", "indicator"}, callable or array, default="normalized"
        Similarity of labels. "normalized": each class counts the same;
        "indicator": each pair of equal labels counts the same; a function of
        two label arrays or a matrix over the classes (sorted) or the samples.
    weights : {"learn", "loo", "uniform", "alignment"} or array-like, default="learn"
        With several kernels: learned together with the subspace; by the exact
        leave-one-out error of ridge regression on the one-hot labels, whatever
        the estimator (with landmarks by generalised cross-validation); the same
        trace for each; centred alignment with the labels; or relative weights
        of the kernels as given.
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

    _parameters = (
        STREAMED
        | WEIGHTS
        | {
            "reg": MOMENT_REGS,
            "uncorrelated": BOOLEAN,
            "label_kernel": choice("normalized", "indicator") | FUNCTION | ARRAY,
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
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Labelled) -> Self:
        regs = self._regs()
        self._start_weights()
        data = self._choose_width(data, regs)
        self.classes_ = data.classes
        source, mixing = self._labels(data)
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
        data = worker._choose_width(validate_labelled(worker, X, y, sample_weight), regs)
        if data.names is not None:
            raise ValueError("A bank of kernels has no path: its weights depend on reg.")
        source, mixing = worker._labels(data)
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
        shape = np.shape(self.label_kernel)  # type: ignore[arg-type]
        if len(shape) == 2 and shape[0] > LABEL_ROWS:
            raise ValueError(
                f"label_kernel has the shape {shape}: similarities of samples need all rows "
                "at once. Pass similarities of the classes, or the rows as an array."
            )

    def _labels(self, data: Labelled) -> tuple[ArraySource | PooledSource, Array]:
        """The rows with the targets T of the label kernel, and its mixing: L = T mixing."""
        kernel: Rows = self.label_kernel  # a matrix, if it has a shape
        if data.kept is not None and np.shape(kernel) == (data.n_given, data.n_given):
            kernel = np.asarray(kernel)[np.ix_(data.kept, data.kept)]
        T, mixing = factor_of_counts(kernel, data.counts, data.classes, data.source.n_rows)
        return data.source if T is None else data.source.with_labels(T, None), mixing

    def _weights(self, data: Labelled, form: Representation, regs: list[float]) -> Array | None:
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
        targets = self._one_hot(data) if self._weighs_by_loo else None
        return self._weigh_bank(form, data.names, criterion, loo_targets=targets).theta

    def _one_hot(self, data: Labelled) -> Array | None:
        """The one-hot labels of the form's rows, if similarities of rows are its targets."""
        kernel: Rows = self.label_kernel  # a matrix, if it has a shape
        if np.shape(kernel) != (data.n_given, data.n_given):
            return None
        if self.plan_.representation != "gram":
            raise ValueError(
                "HSICSubspace(weights='loo') with similarities of the samples as label_kernel is "
                "exact: pass landmarks='all', or similarities of the classes."
            )
        return data.source.merged()[1]

    def _criterion(self, sample: Combined, mixing: Array) -> Dependence:
        return Dependence(sample, mixing, uncorrelated=self.uncorrelated)

    def _n_wanted(self, data: Labelled) -> int:
        return check_n_components(self.n_components, len(data.classes) - 1, self)
