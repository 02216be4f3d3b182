"""Scales of columns inside a kernel: feature selection and scaling."""

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernel_learn.arrays import Array, LabelsLike, MemoryBudget, Rows, RowsLike, WeightsLike
from kernel_learn.criteria.held_out.column_scales import learn_scales
from kernel_learn.criteria.held_out.folds import each_fold, stratified_folds
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.scale_search import CRITERIA, eliminate, search_scales
from kernel_learn.fitting.base import FitsAndTransforms, KernelEstimator, all_or_nothing
from kernel_learn.fitting.parameters import (
    COUNT,
    KERNEL,
    LIST,
    MEMORY,
    NONE,
    NOT_NEGATIVE,
    TARGET_TYPE,
    ParameterTable,
    choice,
)
from kernel_learn.fitting.scale_path import ScaleStep, at_columns, choose_penalty, ridge_scores
from kernel_learn.fitting.target_codes import check_targets_vary, pool_targets
from kernel_learn.fitting.training import store_targets, validate_targets
from kernel_learn.fitting.variance import check_spread, warn_of_scales
from kernel_learn.kernels.base import Kernel, KernelLike
from kernel_learn.kernels.pairwise import to_double
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.kernels.scaled import ScaledKernel, scale_columns
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.represent import plan_source
from kernel_learn.rows.access import dense, is_sparse, take_rows
from kernel_learn.warn import warn_user

# Rows, the first by their keys, from which scales are learned: a step on so many is an
# inverse of their size, a second.
SEARCH_ROWS = 2000
FOLDS = 5
# penalty="auto": shares of the largest scale, and prices of the mean scale.
THRESHOLDS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5)
PRICES = (0.1, 0.3, 1.0, 3.0, 10.0)
# While columns are eliminated a scale is not less: the number of columns is met exactly.
LEAST_SCALE = 1e-3


class FeatureScales(FitsAndTransforms, SelectorMixin, KernelEstimator):
    """Scales of the columns inside a kernel, k(s * x, s * y), learned from targets.

    A column of scale zero is dropped (Wu & Farquhar 2007, section 3.1). A transformer and a
    selector: ``transform`` gives the columns that are left, times their scales.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        A kernel of vectors. What the scales are learned with, and what ``kernel_`` puts them into.
    criterion : {"gradient", "loo", "alignment", "margin", "radius_margin"}, default="gradient"
        "gradient": the mean squared gradient of a ridge fit along each column, the rule of
        :class:`KernelClassifier`; two fits, whatever the number of columns. The others
        by descent on a criterion of the kernel matrix: the leave-one-out squared error of
        ridge regression, the centred alignment with the targets, or, of classes, the optimum of
        support vector machines with squared hinge (their margins, and the rows inside), or the
        radius-margin bound.
    penalty : float, sequence of floats or "auto", default="auto"
        The price of the 1-norm. For "gradient" it is what is taken from every scale, the
        largest being one; for the others it multiplies the mean scale, the start being one,
        beside the criterion (relative error, one less alignment, the optimum over that at the
        start, logarithm of the bound).
        Several values are a path, of which the one with the least error in five-fold
        cross-validation is chosen, the scales being learned without the fold. "auto": a path, and
        all columns alike unless the scales are clearly better.
    n_features : int, default=None
        Keep so many columns (the 0-norm), by dropping at most half of them at a time. ``penalty``
        must then be one number; "auto" is 0 for "gradient" and 1 for the descents.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`. Numbers are learned from as of variance one.
    max_iter : int, default=100
        Iterations of each descent.
    memory_budget : int or str, default=None
        Bytes, or "2GB"; None means half of the free memory.

    Attributes
    ----------
    scales_ : ndarray of shape (n_features_in_,)
        s; of mean square one over the columns that are left for "gradient".
    kernel_ : ScaledKernel
        k(s * x, s * y), usable as ``kernel=`` elsewhere. Rules of k (``gamma="median"``) were
        resolved on the scaled rows.
    base_kernel_ : Kernel
        k, without rules.
    penalty_ : float or None
        The penalty that was chosen; None for all columns alike.
    path_ : tuple of dict
        "penalty", "n_features", "scales" and, if it was cross-validated, "error", the mean
        squared error of held-out rows, for every penalty tried.
    history_ : tuple of dict
        "value" of every step at the chosen penalty: the criterion and its penalty, or, for
        "gradient", the sum of the mean squared gradients.
    n_iter_ : int
    classes_ : ndarray of shape (n_classes,)
        Of sets of labels the labels; numbers have none.
    target_type_ : str
        What y was taken for.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    Columns should be on one scale before (``StandardScaler``). Of more than 2,000 distinct
    rows the first by content are taken. The descents are local, and hold dense rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernel_learn import FeatureScales
    >>> X = np.random.default_rng(0).normal(size=(150, 40))
    >>> y = X[:, 3] * X[:, 7] > 0
    >>> FeatureScales(n_features=2).fit(X, y).get_support(indices=True)
    array([3, 7])
    """

    _parameters: ClassVar[ParameterTable] = {
        "kernel": KERNEL,
        "criterion": choice("gradient", *CRITERIA),
        "penalty": choice("auto") | NOT_NEGATIVE | LIST,
        "n_features": COUNT | NONE,
        "target_type": TARGET_TYPE,
        "max_iter": COUNT,
        "memory_budget": MEMORY,
    }

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        criterion: str = "gradient",
        penalty: str | float | Sequence[float] = "auto",
        n_features: int | None = None,
        target_type: str = "auto",
        max_iter: int = 100,
        memory_budget: MemoryBudget = None,
    ) -> None:
        self.kernel = kernel
        self.criterion = criterion
        self.penalty = penalty
        self.n_features = n_features
        self.target_type = target_type
        self.max_iter = max_iter
        self.memory_budget = memory_budget

    @all_or_nothing
    def fit(self, X: RowsLike, y: LabelsLike, sample_weight: WeightsLike = None) -> Self:
        """Learn the scales; see :meth:`HSICSubspace.fit` for the arguments."""
        penalties = self._check_penalties()
        kernel = as_kernel(self.kernel)
        if kernel.input != "vectors":
            raise ValueError(
                f"FeatureScales multiplies columns of numbers, and {kernel!r} takes "
                f"{kernel.input}. Give it a kernel of vectors."
            )
        data = validate_targets(self, X, y, sample_weight)
        warn_of_scales(self, data.kernels, data.source)
        if self.n_features is not None:
            self._check_n_features()
        if self.criterion in ("margin", "radius_margin") and data.kind != "classes":
            raise ValueError(
                f"FeatureScales(criterion={self.criterion!r}) has a margin between classes, and y "
                f"was taken as {data.kind}. Use another criterion."
            )
        store_targets(self, data)
        summary = data.source.summary
        few = slice(0, min(SEARCH_ROWS, len(summary.rows)))
        source = data.source.subset(np.sort(summary.rows[few]))
        self.plan_ = plan_source([kernel], source, "all", self.memory_budget, self._needs())
        targets = pool_targets(data.source, few.stop, standardize=data.kind == "numbers")
        check_targets_vary(targets)
        rows = to_double(take_rows(data.X, summary.rows[few]))
        plain = kernel.resolve(rows, targets.weight)
        p = targets.weight / targets.total
        K = plain(rows)
        diagonal = float(p @ np.diagonal(K))
        check_spread(plain, diagonal - float(p @ K @ p), diagonal, self.n_features_in_)
        del K
        path = self._path(rows, targets, penalties)
        best, errors = 0, None
        if len(path) > 1:
            errors = self._cross_validate(rows, targets, penalties)[: len(path)]
            best = choose_penalty(path, errors, targets.weight)
        self._store(path, best, errors, rows, targets)
        return self

    def transform(self, X: RowsLike) -> Rows:
        """The columns that are left, times their scales, (n_samples, n_columns)."""
        check_is_fitted(self)
        rows = validate_data(
            self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False
        )
        kept = np.flatnonzero(self.scales_)
        return scale_columns(rows[:, kept], self.scales_[kept].astype(rows.dtype))

    def inverse_transform(self, X: RowsLike) -> Rows:
        """Columns as they were before the scales; zeros for those that were dropped."""
        check_is_fitted(self)
        kept = np.flatnonzero(self.scales_)
        shape = (len(kept), len(self.scales_))
        E = sparse.csr_matrix((1 / self.scales_[kept], (np.arange(len(kept)), kept)), shape)
        rows: Rows = X if is_sparse(X) else np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(kept):
            raise ValueError(f"X has shape {rows.shape}; transform gives {len(kept)} columns.")
        return rows @ E

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return np.asarray(self.scales_ > 0)

    def _check_penalties(self) -> list[float | None]:
        """The penalties to try, ascending; None stands for no scales at all."""
        if isinstance(self.penalty, str):
            if self.n_features is not None:
                return [0.0 if self.criterion == "gradient" else 1.0]
            return [None, *(THRESHOLDS if self.criterion == "gradient" else PRICES)]
        given = [self.penalty] if isinstance(self.penalty, float | Real) else list(self.penalty)
        most = 1.0 if self.criterion == "gradient" else np.inf
        if not given or not all(isinstance(p, Real) and 0 <= float(p) < most for p in given):
            raise ValueError(
                f"FeatureScales(penalty={self.penalty!r}): penalty must be 'auto', or a number or "
                f"numbers from 0 to less than {most:g}."
            )
        if self.n_features is not None and len(given) > 1:
            raise ValueError(
                "FeatureScales(n_features=, penalty=[...]): with n_features the number of columns "
                "decides; give one penalty, or leave it out."
            )
        return [*sorted(float(p) for p in given)]

    def _check_n_features(self) -> None:
        if self.n_features is not None and self.n_features > self.n_features_in_:
            raise ValueError(
                f"FeatureScales(n_features={self.n_features}): X has {self.n_features_in_} columns."
            )

    def _needs(self) -> Needs:
        return Needs(exact=7.0)

    def _path(
        self, X: Rows, targets: Targets, penalties: Sequence[float | None]
    ) -> list[ScaleStep]:
        """One step per penalty; fewer if the larger ones leave no column."""
        learned = [p for p in penalties if p is not None]
        search = self._by_gradients if self.criterion == "gradient" else self._by_descent
        path = [ScaleStep(None, np.ones(X.shape[1]))] if None in penalties else []
        path += [step for step in search(X, targets, learned) if step.scales.any()]
        if not path:
            raise ValueError(
                f"FeatureScales(penalty={self.penalty!r}) drops every column: lower penalty."
            )
        return path

    def _by_gradients(self, X: Rows, targets: Targets, penalties: list[float]) -> list[ScaleStep]:
        """Scales by squared gradients, the largest being one, less the penalty.

        min over s >= 0 of 1/2 |s - s_gradient|^2 + penalty |s|_1.
        """
        kept = np.arange(X.shape[1])
        history: list[dict[str, float]] = []
        while True:
            found = learn_scales(X[:, kept], targets)
            s = found.scales
            history.append({"value": float(found.relevance.sum())})
            if self.n_features is None or len(kept) <= self.n_features:
                break
            kept = kept[eliminate(s, self.n_features)]
        path = []
        for penalty in penalties:
            left = np.maximum(s / s.max() - penalty, 0.0)
            left /= np.sqrt(np.mean(left[left > 0] ** 2))
            path.append(ScaleStep(penalty, at_columns(left, kept, X.shape[1]), tuple(history)))
        return path

    def _by_descent(self, X: Rows, targets: Targets, penalties: list[float]) -> list[ScaleStep]:
        """A descent for each penalty, or for each number of columns down to ``n_features``."""
        X, path = dense(X), []
        for penalty in penalties:
            kept = np.arange(X.shape[1])
            history: list[dict[str, float]] = []
            while True:
                Z = X[:, kept]
                kernel = as_kernel(self.kernel).resolve(Z, targets.weight)
                found = search_scales(
                    kernel,
                    Z,
                    CRITERIA[self.criterion](kernel(Z), targets),
                    penalty / X.shape[1],
                    least=0.0 if self.n_features is None else LEAST_SCALE,
                    max_iter=int(self.max_iter),
                )
                history += found.history
                if self.n_features is None or len(kept) <= self.n_features:
                    break
                kept = kept[eliminate(found.point, self.n_features)]
            scales = at_columns(found.point, kept, X.shape[1])
            path.append(ScaleStep(penalty, scales, tuple(history), found.status == "optimal"))
        return path

    def _cross_validate(
        self, X: Rows, targets: Targets, penalties: Sequence[float | None]
    ) -> Array:
        """Squared errors of held-out rows, (n_penalties, n), scales learned without them."""
        folds = stratified_folds(targets, FOLDS)
        losses = np.full((len(penalties), targets.n), np.inf)
        for inside, outside in each_fold(folds):
            known = targets.take(inside)
            X_in, X_out = take_rows(X, inside), take_rows(X, outside)
            for i, step in enumerate(self._path(X_in, known, penalties)):
                kernel = ScaledKernel(as_kernel(self.kernel), step.scales).resolve(
                    X_in, known.weight
                )
                scores = ridge_scores(kernel(X_in), known, kernel(X_out, X_in))
                losses[i, outside] = np.sum((scores - targets.Y[outside]) ** 2, axis=1)
        return losses

    def _store(
        self, path: list[ScaleStep], best: int, errors: Array | None, X: Rows, targets: Targets
    ) -> None:
        step = path[best]
        self.scales_, self.penalty_ = step.scales, step.penalty
        scaled = ScaledKernel(as_kernel(self.kernel), step.scales)
        self.kernel_ = scaled.resolve(X, targets.weight)
        self.base_kernel_: Kernel = self.kernel_.kernel
        self.history_, self.n_iter_ = step.history, max(1, len(step.history))
        self.path_ = tuple(
            {
                "penalty": one.penalty,
                "n_features": int(np.count_nonzero(one.scales)),
                "scales": one.scales,
            }
            | (
                {}
                if errors is None
                else {"error": float(errors[i] @ targets.weight / targets.total)}
            )
            for i, one in enumerate(path)
        )
        if not step.converged:
            warn_user(
                f"FeatureScales stopped after {self.max_iter} iterations; raise max_iter to go on.",
                ConvergenceWarning,
            )
