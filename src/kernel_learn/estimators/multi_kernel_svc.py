"""Support vector machines on a learned combination of kernels (SM1, SM2, SM2_C)."""

from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernel_learn.arrays import (
    Array,
    ClassWeight,
    LabelsLike,
    MemoryBudget,
    Rows,
    Seed,
    WeightsLike,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.margin_weights import MarginWeights
from kernel_learn.fitting.base import all_or_nothing
from kernel_learn.fitting.block_mkl import LandmarkMachines, machine_sharpness
from kernel_learn.fitting.kernel_weights import Weighed
from kernel_learn.fitting.parameters import (
    CLASS_WEIGHT,
    LANDMARKS,
    POSITIVE,
    RANDOM,
    WEIGHTS,
    choice,
)
from kernel_learn.fitting.predictions import MachineClassifier, SharpenedScores
from kernel_learn.fitting.row_validation import validate_rows
from kernel_learn.fitting.training import Labelled, TrainingLike, class_prices
from kernel_learn.kernels.bank import Combination
from kernel_learn.kernels.base import BLOCK_SIZE, KernelsLike, check_kernel_values
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.represent import plan_source, represent
from kernel_learn.representations.sources import ArraySource, one_hot
from kernel_learn.rows.access import n_rows, row_blocks, take_rows
from kernel_learn.solvers.margin import Loss, one_vs_rest_signs

NEEDS = Needs(exact=4.0, weights=4.0, compared=True)
LOSSES = ("hinge", "squared_hinge")


class MultiKernelSVC(SharpenedScores, MachineClassifier, LandmarkMachines):
    """Support vector classifier on a combination of kernels, weights learned with it.

    min over weights of the optimum of the machine, a convex problem (Lanckriet
    et al. 2004): SM1 with the hinge loss, SM2 with its square, SM2_C if ``C``
    is learned too. Several classes are told apart one against the rest, with
    the same weights for all. The combined kernel has mean diagonal one, so
    that C means what it means for a Gaussian kernel, whatever the bank.

    Parameters
    ----------
    kernel : list, dict, str, Kernel or callable, default="gaussian"
        A bank: a list or a dict of kernels, ``"precomputed"`` with a stack of
        kernel matrices (n, n, p). One kernel is a bank of one.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Of a row inside its margin: max(0, 1 - y f), or half of its square.
    C : float or "learn", default=1.0
        The price of a margin error. "learn" (squared hinge only): 1/C is the
        weight of the identity as one more kernel.
    class_weight : dict or "balanced", default=None
        Factors on C.
    weights : {"learn", "loo", "uniform", "alignment"} or array-like, default="learn"
        As in :class:`HSICSubspace`. "alignment" and "loo" centre the kernels; "loo" needs a
        number for C.
    solver : {"auto", "newton", "silp", "bundle", "sdp"}, default="auto"
        As in :class:`HSICSubspace`.
    tol : float, default=1e-06
        As in :class:`HSICSubspace`.
    max_iter : int, default=100
        As in :class:`HSICSubspace`.
    landmarks : "all", "auto", int, str, Landmarks or array, default="all"
        "all": exact. Else features of landmarks, as in :class:`HSICSubspace`, which need
        ``loss="squared_hinge"`` and a number for C; a stream always has them.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; what does not fit is evaluated again when needed.
    random_state : int, RandomState or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    kernel_weights_ : ndarray of shape (n_kernels,)
        Weights on the kernels as given; kernels of weight zero are never
        evaluated again.
    kernel_names_ : ndarray of str
        Their names.
    C_ : float
        The C used, on the combined kernel.
    objective_ : float
        The primal objective, summed over the machines.
    gap_ : float
        No weights and no machines have an objective smaller by more than this.
    n_iter_ : int
        Iterations of the solver.
    history_ : tuple of dict
        The value, and what is known of its distance from the optimum, at each iteration.
    weights_report_ : WeightsReport
        The criterion at the weights chosen, at uniform ones and at the best single kernel; the
        error by five folds with all kernels, and without each beside its weight.
    kernel_ : Combination
        The learned kernel.
    base_kernel_ : Combination
        The same.
    support_ : ndarray of shape (n_support,)
        Training rows (among those of positive weight) that carry a machine (not there with
        landmarks);
        of equal rows with one label the first.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        alpha times the sign of each row; one machine for two classes.
    intercept_ : ndarray of shape (n_machines,)
    sharpness_ : float
        ``predict_proba`` is softmax(sharpness_ * decision values), fitted to the scores of up to
        400 rows by five-fold cross-validation of the machines with the weights found.
    classes_ : ndarray of shape (n_classes,)
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import MultiKernelSVC
    >>> from kernel_learn.kernels import Gaussian, Linear
    >>> X, y = load_wine(return_X_y=True)
    >>> model = MultiKernelSVC([Gaussian(0.1), Linear()]).fit(scale(X)[::2], y[::2])
    >>> print(f"{model.score(scale(X)[1::2], y[1::2]):.2f}")
    0.99
    """

    _parameters = WEIGHTS | {
        "loss": choice(*LOSSES),
        "C": POSITIVE | choice("learn"),
        "class_weight": CLASS_WEIGHT,
        "landmarks": LANDMARKS,
        "random_state": RANDOM,
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        loss: Loss = "hinge",
        C: float | str = 1.0,
        class_weight: ClassWeight = None,
        weights: str | ArrayLike = "learn",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        landmarks: LandmarksLike = "all",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.C = C
        self.class_weight = class_weight
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.landmarks = landmarks
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
        """Learn weights and machines.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
            Or a stack of kernel matrices (n_samples, n_samples, n_kernels), or a source of
            blocks that can be read again.
        y : array-like of shape (n_samples,); None for a source
            Labels of the rows; none where the source has them.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for each row: a row of weight 2 is two rows.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group (of one patient, say) are left out together: what is said of
            held-out rows, and the coverage of sets, is then that for a row of a new group. Of
            rows in memory.

        Returns
        -------
        self
        """
        self._check_learned_C()
        data = self._rows(X, y, sample_weight, groups)
        self._fit_rows(data)
        self._judge_without_each(data, type(self)._fit_rows, "five folds of the machines")
        return self

    def _fit_rows(self, data: Labelled) -> Self:
        self._start_weights()
        chosen = self._landmark_plan(data)
        if chosen is not None:
            return self._fit_on_landmarks(data, chosen)
        self.classes_ = data.classes
        source, _, first = data.source.merged_by_label(by_content=True)
        data = replace(data, source=source)
        self.plan_ = plan_source(
            data.kernels, source, "all", self.memory_budget, NEEDS, merge=False
        )
        data = data.resolved()
        signs = one_vs_rest_signs(source.labels, len(data.classes))
        prices = class_prices(self.class_weight, data)[source.labels]
        form = represent(
            data.kernels,
            source.with_labels(signs, None),
            self.plan_,
            merge=False,
            center=False,
            weigh_rows=False,
        )
        criterion = partial(MarginWeights, signs=signs, C=self.C, loss=self.loss, prices=prices)
        names = data.names or ["kernel"]
        found = self._weigh_bank(form, names, criterion)
        self.C_ = found.criterion.learned_C(found.result.point)
        assert isinstance(form, GramForm)
        self._store_machines(source, form, found, first, data.source)
        return self

    def _check_learned_C(self) -> None:
        if not isinstance(self.C, str):
            return
        if self.loss != "squared_hinge":
            raise ValueError(
                f"MultiKernelSVC(C='learn', loss={self.loss!r}): C must be a positive number, "
                "or 'learn' with loss='squared_hinge'."
            )
        if self._weighs_by_loo:
            raise ValueError(
                "MultiKernelSVC(C='learn', weights='loo'): C is learned as one more weight of "
                "the machine's own criterion. Give a number for C, or weights='learn'."
            )

    def _store_machines(
        self,
        source: ArraySource,
        form: GramForm,
        found: Weighed[MarginWeights],
        first: Array,
        given: ArraySource,  # the rows before they were merged
    ) -> None:
        """The machines on the combined kernel with the C found: prediction and objective agree."""
        K = form.combine(form.point(found.theta))
        form.release()
        start = None if self.C == "learn" else found.criterion.alpha
        solution = found.criterion.machines(K, self.C_, start)
        self.objective_ = float(solution.primal.sum())
        carries = np.abs(solution.alpha).max(axis=1)
        support = np.flatnonzero(carries > 1e-12 * carries.max())
        support = support[np.argsort(first[support])]
        self.support_ = first[support]
        self.dual_coef_ = solution.A[support].T
        self.intercept_ = solution.intercept
        self.kernel_ = self.base_kernel_ = Combination(list(form.kernels), found.theta)
        self._support_rows = self.kernel_.reference(source.X, support)
        told = np.flatnonzero(source.weight > 0)
        counts = one_hot(source.labels, len(self.classes_)) * source.weight[:, None]
        boxes = found.criterion.boxes(self.C_)[told]
        K = K if len(told) == len(K) else K[np.ix_(told, told)]
        targets = Targets(counts[told], source.units(told))
        self._sharpen(machine_sharpness(K, targets, boxes, self.loss), given)

    def _machine_values(self, X: Rows) -> Array:
        check_is_fitted(self)
        X = validate_rows(self, self.base_kernel_, X, reset=False)
        if not hasattr(self, "dual_coef_"):
            return self._landmark_values(X)
        return machine_values(self.kernel_, X, self._support_rows, self.dual_coef_, self.intercept_)


def machine_values(
    kernel: Combination, X: Rows, support: Rows, dual_coef: Array, intercept: Array
) -> Array:
    """k(x, support) dual_coef' + intercept in row blocks, (n_rows, n_machines)."""
    values = np.empty((n_rows(X), len(intercept)))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_blocks(len(values), max(1, BLOCK_SIZE // max(1, dual_coef.shape[1]))):
            values[rows] = kernel(take_rows(X, rows), support) @ dual_coef.T + intercept
    check_kernel_values(values, kernel, X)
    return values
