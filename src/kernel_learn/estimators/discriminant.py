"""Regularised kernel discriminant analysis (RKDA, KFDA)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import Tags

from kernel_learn.arrays import Array, ClassWeight, MemoryBudget, Seed
from kernel_learn.criteria.discriminant import ClassScores, class_scores
from kernel_learn.criteria.held_out.ensemble_weights import error_share
from kernel_learn.criteria.held_out.folds import stratified_folds
from kernel_learn.criteria.held_out.leave_out import ridge_rows
from kernel_learn.criteria.held_out.stacking import (
    LinearMap,
    centered,
    fit_stacking,
    fit_temperature,
    mend_log_odds,
)
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.criteria.hsic import Dependence
from kernel_learn.criteria.kernel_weights import Coupling, KimDiscriminant, LabelResolvent
from kernel_learn.criteria.labels import factor_of_counts
from kernel_learn.ensemble.ledger.discriminant import DiscriminantLedger, Kept, LandmarkRows
from kernel_learn.fitting.base import GroupedSubspace
from kernel_learn.fitting.kernel_weights import WeightLearner
from kernel_learn.fitting.loo_selection import EXACT_LOO_ROWS, LeaveOneOutChoice
from kernel_learn.fitting.parameters import (
    CLASS_WEIGHT,
    MOMENT_REGS,
    NONE,
    POSITIVE_LIST,
    STREAMED,
    UNLABELED,
    WEIGHTS,
    check_n_components,
    choice,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.predictions import ProbabilityClassifier
from kernel_learn.fitting.training import Labelled, class_prices
from kernel_learn.fitting.uncertainty import calibrate_rows, reference_of
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.model_selection.leave_one_out import held_out_scores
from kernel_learn.representations.base import Combined, Representation
from kernel_learn.representations.gram import Gram, GramForm
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.moment_form import FeatureSample
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.eigen import solve_top_eigen

NEEDS = Needs(exact=2.1, compared=True)  # G, and the copy that is factorised or its sketch
DECISIONS = ("auto", "ridge", "centroid", "nearest_neighbor")
FOLDS = 5  # of the cross-validation of the stacking
MANY_ROWS = 1000
ROWS_PER_NUMBER = 3  # held out, for each number of a map that mends its log-odds
CHOICE_NEEDS = Needs(exact=4.2, compared=True)  # G, its eigenvectors, and the workspace for them


class KernelDiscriminant(
    DiscriminantLedger,
    PartialFit,
    LeaveOneOutChoice,
    WeightLearner,
    ProbabilityClassifier,
    GroupedSubspace,
):
    """Regularised kernel discriminant analysis: features, classifier and probabilities.

    Maximises tr((S_t + lambda I)^{-1} S_b) in feature space. The subspace is
    that of uncorrelated HSIC with the normalised label kernel (the two
    problems are one); classes are told apart in it by the log-odds that suit
    held-out rows best. With a linear kernel, ``reg`` near zero and
    ``decision="centroid"`` it is linear discriminant analysis.

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        Several kernels (a list, a dict of names, a precomputed stack (n, n, p))
        are combined into one of trace n, by ``weights``.
    n_components : int, default=None
        Number of features; None means n_classes - 1.
    reg : float, list of float, "loo", "gcv" or "learn", default="loo"
        lambda = reg * tr(G) / n. A list, or "loo" for a list from 1e-6 to 100:
        the value with the smallest exact leave-one-out squared error of ridge
        regression on the one-hot labels, for all values from one decomposition
        (of more than 2000 rows the errors of 1200 in a search downhill, a
        factorisation a step; with landmarks those of a tenth of the rows). "gcv":
        by generalised cross-validation, which needs no row again; it is the
        rule of a source that is read once.
        "learn": together with the weights of the kernels, as one more of them
        (SDP_theta,lambda, Ye et al. 2007, section 4). With several kernels a
        list or "loo" learns weights that way and then chooses reg for them.
    decision : {"auto", "ridge", "centroid", "nearest_neighbor"}, default="auto"
        How rows are classified in the subspace. "ridge": a discriminant on the
        leave-one-out scores of ridge regression on the one-hot labels, which
        span the subspace (stacking). "centroid": the distance to the
        class centroids in the within-class metric of the training rows, with
        log priors; its log-odds are brought to the scale that suits
        held-out rows. "auto": the one of these two with the smaller
        leave-one-out log loss.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None means their frequencies.
    class_weight : dict or "balanced", default=None
        Multiplies the weights of the rows, after they were counted for "balanced", and so
        the frequencies; ``priors`` are used as they are. The vote of a nearest neighbour has no
        weight: there the subspace alone is moved.
    criterion : {"discriminant", "kim"}, default="discriminant"
        With several kernels: what the weights make best. "discriminant": tr((S_t + lambda
        I)^{-1} S_b). "kim", for two classes: (m_1 - m_2)'(S_w + lambda I)^{-1}(m_1 - m_2) with
        the means and the within-class scatter S_w (Kim et al. 2006); exact fits only. At one
        ``reg`` both have the same weights. Where ``reg`` is a list or "loo" Kim's are learned at
        the value that suits equal weights, the others together with a reg.
    coupling : {"exact", "approximate"}, default="exact"
        With several kernels and several classes: the sum over the classes itself, or Ye's bound
        of it (Eq. 37), which lies between once and n_classes times the sum.
    unlabeled : default="raise"
        What marks rows without a target, -1 say, beside None and NaN; None: nothing else does.
        These rows are joined with all others in a graph that deforms the kernel,
        ``kernels.GraphDeformed`` (give it as ``kernel`` for other settings), and the fit is that
        of the other rows. "raise": every row has a target, and None and NaN are refused.
    weights : {"learn", "loo", "uniform", "alignment"} or array-like, default="learn"
        As in :class:`HSICSubspace`.
    solver : {"auto", "newton", "silp", "bundle", "sdp"}, default="auto"
        As in :class:`HSICSubspace`.
    tol : float, default=1e-06
        As in :class:`HSICSubspace`.
    max_iter : int, default=100
        As in :class:`HSICSubspace`.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`HSICSubspace`.
    memory_budget : int or str, default=None
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None, default=None
        As in :class:`HSICSubspace`.
    verbose : int, default=0
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel; ``kernel_.coef`` holds W with W'(GG + lambda G)W = I.
    reg_ : float
        lambda.
    loo_regs_ : ndarray or None
        The values of ``reg`` tried, if several were.
    loo_errors_ : ndarray or None
        Their leave-one-out errors.
    reg_rule_ : str or None
        "loo" or "gcv": which of the two they are.
    objective_ : float
        tr((S_t + lambda I)^{-1} S_b).
    eigenvalues_ : ndarray of shape (n_components_,)
        Its terms, each below one.
    row_values_ : ndarray of shape (n_samples,)
        How much worse all other rows are predicted without each row; negative: it harms.
    means_ : ndarray of shape (n_classes, n_components_)
        Class centroids in the subspace.
    priors_ : ndarray of shape (n_classes,)
    decision_ : str
        The decision taken.
    loo_log_loss_ : float
        Its leave-one-out log loss, nan if no row can be left out (each decides
        about itself alone) or for "nearest_neighbor".
    kernel_weights_ : ndarray of shape (n_kernels,)
        With several kernels: their weights, on the kernels as given.
    kernel_names_ : ndarray of str
        Their names.
    gap_ : float
        With several kernels, or ``reg="learn"``: bound on the distance of the weights' criterion
        from its optimum.
    n_iter_ : int
        Steps of the solver of the weights.
    history_ : tuple of dict
        The criterion at each.
    weights_report_ : WeightsReport
        The criterion at the weights chosen, at uniform weights and at the best single kernel; the
        exact leave-one-out error with all kernels, and without each beside its weight.
    base_kernel_ : Kernel
        The kernel with its rules resolved.
    classes_ : ndarray of shape (n_classes,)
    n_components_ : int
        Number of features.
    plan_ : Plan
        How the fit was carried out; ``print(model.plan_)``.
    landmark_residual_ : float or None
        Share of the trace that the landmarks leave out; as in :class:`HSICSubspace`.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a frame.

    Notes
    -----
    A class with a single member is ordinary: it has a centroid, and the
    within-class metric is common to all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import KernelDiscriminant
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelDiscriminant().fit(scale(X)[::2], y[::2])
    >>> print(f"{model.score(scale(X)[1::2], y[1::2]):.2f}")
    0.98
    """

    learns_unlabelled = True

    _parameters = (
        STREAMED
        | WEIGHTS
        | {
            "reg": MOMENT_REGS | choice("learn"),
            "decision": choice(*DECISIONS),
            "priors": NONE | POSITIVE_LIST,
            "class_weight": CLASS_WEIGHT,
            "criterion": choice("discriminant", "kim"),
            "coupling": choice("exact", "approximate"),
            "unlabeled": UNLABELED,
        }
    )

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float | Sequence[float] | str = "loo",
        decision: str = "auto",
        priors: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        criterion: str = "discriminant",
        coupling: Coupling = "exact",
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
        self.decision = decision
        self.priors = priors
        self.class_weight = class_weight
        self.criterion = criterion
        self.coupling = coupling
        self.unlabeled = unlabeled
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # the nearest neighbour of a row is of its own class, whatever the weight of the others
        tags.classifier_tags.poor_score = self.decision == "nearest_neighbor"
        return tags

    def _check_stream(self) -> None:
        if self.decision == "nearest_neighbor":
            raise ValueError(
                "KernelDiscriminant(decision='nearest_neighbor') keeps the features of all rows, "
                "and a stream may have any number of them. Use 'auto', 'ridge' or 'centroid'."
            )

        if self.criterion == "kim":
            raise ValueError(
                "KernelDiscriminant(criterion='kim') needs the kernel matrices of all rows at "
                "once; a stream is fitted with criterion='discriminant'."
            )

        if self.class_weight is not None:
            raise ValueError(
                "KernelDiscriminant(class_weight=): the classes of a stream are counted as they "
                "come; give the blocks weights, (X, y, weight), or pass priors."
            )

    def _fit(self, data: Labelled) -> Self:
        self._fit_rows(data)
        self._judge_without_each(data, type(self)._fit_rows, "exact leave-one-out")
        return self

    def _fit_rows(self, data: Labelled) -> Self:
        given = data.source
        if self.class_weight is not None:
            price = class_prices(self.class_weight, data)
            data = replace(data, source=data.source.reweighted(price[data.labels]))
        regs = self._regs()
        self._start_weights()
        is_kim = self.criterion == "kim"
        if is_kim:
            self._check_kim(data)
        data = self._choose_width(data, regs)
        self.classes_ = data.classes
        self.priors_ = self._check_priors(data)
        _, mixing = factor_of_counts("normalized", data.counts, data.classes, data.source.n_rows)
        decomposes = len(regs) > 1 and data.source.n_distinct <= EXACT_LOO_ROWS
        needs = CHOICE_NEEDS if decomposes else NEEDS
        data, form = self._represent(data, needs=needs, mixing=mixing, is_exact=is_kim)
        kept: Kept | None = self.__dict__.pop("_kept", None)  # by forget
        theta, regs = self._weights(data, form, regs) if kept is None else (kept.theta, regs)
        sample = self._combine(form, theta)
        self.reg_ = self._choose_reg(sample, regs, data.source.rewinds)
        self.reg_ = self.reg_ if kept is None else kept.lam
        B, M = Dependence(sample, mixing, uncorrelated=True).candidates(self.reg_)
        wanted = check_n_components(self.n_components, len(data.classes) - 1, self)
        result = solve_top_eigen(M, wanted)
        W = B @ result.point
        self.objective_, self.eigenvalues_ = result.value, result.values
        self._store_kernel(sample.expand(W))
        self._warn_if_fewer()
        self._store_classifier(data, sample, W, mixing @ result.point)
        self._store_rows(data, given, kept, sample, mixing @ result.point)
        return self

    def _weights(
        self, data: Labelled, form: Representation, regs: list[float]
    ) -> tuple[Array | None, list[float]]:
        """Weights of a bank, and "learn" becomes the reg that was learned; else all stays."""
        learns = isinstance(self.reg, str) and self.reg == "learn"
        if learns and self._weighs_by_loo:
            raise ValueError(
                "KernelDiscriminant(reg='learn', weights='loo'): reg is learned as one more weight "
                "of the criterion of weights='learn'. With weights='loo' use reg='loo'."
            )
        if data.names is None and not learns:
            return None, regs
        reg: float | Literal["learn"] = regs[0] if len(regs) == 1 else "learn"
        criterion: Callable[..., LabelResolvent | KimDiscriminant] = partial(
            LabelResolvent, reg=reg, coupling=self.coupling
        )
        if self.criterion == "kim":
            criterion = self._kim(form, regs, data.source.rewinds)
        found = self._weigh_bank(form, data.names or ["kernel"], criterion)
        if not learns:
            return found.theta, regs
        assert isinstance(found.criterion, LabelResolvent)
        return found.theta, [found.criterion.learned_reg(found.result.point)]

    def _kim(
        self, form: Representation, regs: list[float], rewinds: bool
    ) -> Callable[[GramForm], KimDiscriminant]:
        """Kim's criterion of a form; lambda is on scatters, and hence lambda / n on covariances."""
        reg = regs[0]
        if len(regs) > 1:
            equal = form.at(form.theta_at(form.uniform()))
            reg = self._choose_reg(equal, regs, rewinds) * equal.n / equal.trace

        def criterion(form: GramForm) -> KimDiscriminant:
            root = form.root_weight[:, None]
            counts = np.maximum(root * form.targets + form.weight[:, None] * form.target_mean, 0.0)
            return KimDiscriminant(form, counts, reg=reg / form.n)

        return criterion

    def _check_kim(self, data: Labelled) -> None:
        if data.names is None:
            raise ValueError(
                "KernelDiscriminant(criterion='kim') says how several kernels are weighed, and "
                "kernel is one. Pass a bank of kernels, or leave criterion='discriminant'."
            )
        if self.coupling != "exact" or (isinstance(self.reg, str) and self.reg == "learn"):
            raise ValueError(
                "KernelDiscriminant(criterion='kim') has one pair of classes and no reg to learn: "
                "leave coupling='exact', and give reg a number, a list or 'loo'."
            )
        if len(data.classes) != 2:
            raise ValueError(
                f"KernelDiscriminant(criterion='kim') is for two classes, and y has "
                f"{len(data.classes)}. Use criterion='discriminant'."
            )
        if not (isinstance(self.landmarks, str) and self.landmarks in ("auto", "all")):
            raise ValueError(
                f"KernelDiscriminant(criterion='kim', landmarks={self.landmarks!r}): Kim "
                "needs the kernel matrices themselves; leave landmarks='auto'."
            )

    def _check_priors(self, data: Labelled) -> Array:
        if self.priors is None:
            return data.counts / data.counts.sum()
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != data.classes.shape or not (priors > 0).all():
            raise ValueError(
                f"priors must be {len(data.classes)} positive numbers, one per class in sorted "
                f"order; got {self.priors!r}."
            )
        return priors / priors.sum()

    def _store_classifier(self, data: Labelled, sample: Combined, W: Array, T: Array) -> None:
        """The log-odds on the features F = (ridge scores - mean) T."""
        shares = data.counts / data.counts.sum()
        centroid = class_scores(sample, W, self.eigenvalues_, data.counts, shares)
        self.means_, self.loo_log_loss_ = centroid.means, np.nan
        self.__dict__.pop("_calibration", None)  # of an earlier fit
        self._held_out_error = np.nan
        self.decision_ = "centroid" if self.decision == "auto" else self.decision
        if self.decision == "nearest_neighbor":
            F = self._training_features(data, sample, W)
            # no tree: a tree in a file is trusted by no reader, and the features are few
            self._neighbor = KNeighborsClassifier(1, algorithm="brute").fit(F, data.labels)
            return
        shift = np.log(self.priors_ / shares)
        self._log_odds = linear_centroid(centroid, 1.0, shift)
        held = held_out_scores(sample, self.reg_)
        if not held.is_safe:
            return
        targets = Targets(np.maximum(held.counts, 0.0), held.groups)
        F = (held.scores - sample.target_mean) @ T
        sharp, loss = fit_temperature(centroid(F), targets)
        self._log_odds, self.loo_log_loss_ = linear_centroid(centroid, sharp, shift), loss
        self._calibrate(sharp * centroid(F) + shift, targets, data.source)
        if self.decision == "centroid":
            return
        # scores sum to one: those of the subspace are F R + mean, R T = I on such scores
        R = np.linalg.pinv(T - T.mean(axis=0))
        scores = F @ R + sample.target_mean
        folds = stratified_folds(targets, FOLDS)
        stacking = fit_stacking(scores, targets, folds)
        k = targets.n_classes
        if targets.n >= max(MANY_ROWS, ROWS_PER_NUMBER * k * (k + 1)):
            stacking = mend_log_odds(stacking, targets, folds)
        factor, ridge_loss = fit_temperature(stacking.logits, targets)
        if self.decision == "ridge" or ridge_loss < loss:
            coef = factor * stacking.map.coef
            intercept = factor * stacking.map.intercept + sample.target_mean @ coef + shift
            self._log_odds = LinearMap(R @ coef, intercept)
            self.decision_, self.loo_log_loss_ = "ridge", ridge_loss
            self._calibrate(factor * stacking.logits + shift, targets, data.source)

    def _store_rows(
        self,
        data: Labelled,
        given: ArraySource | PooledSource,
        kept: Kept | None,
        sample: Combined,
        T: Array,
    ) -> None:
        """Keep what the ledger needs of a fit in which all rows given count.

        Weights as the user gave them stand beside those that classes were weighed by. Rows that
        are no landmarks stay with the model while it is in memory, and in no file.
        """
        for name in ("_ridge_rows", "_landmark_rows", "forgotten_"):
            self.__dict__.pop(name, None)
        source = data.source
        if not isinstance(source, ArraySource) or not isinstance(given, ArraySource):
            return
        counts = np.bincount(source.inverse, source.weight)
        if data.kept is not None or source.is_matrix or not counts.all():
            return
        weight = given.weight if kept is None else kept.sample_weight
        if isinstance(sample, Gram):
            self._ridge_rows = ridge_rows(sample, source, weight, T)
        elif isinstance(sample, FeatureSample):
            self._landmark_rows = LandmarkRows(source, weight, T, sample)

    def _calibrate(self, L: Array, targets: Targets, source: ArraySource | PooledSource) -> None:
        """Keep what the held-out rows say of others."""
        self._held_out_error = error_share(L, targets)
        total, reference = float(source.counts.sum()), reference_of(self.base_kernel_, source)
        self._calibration = calibrate_rows(self.priors_, centered(L), targets, total, reference)

    def _training_features(self, data: Labelled, sample: Combined, W: Array) -> Array:
        """``transform`` of the training rows, from the Gram matrix where it is there."""
        if not isinstance(sample, Gram) or not sample.weight.all():
            return self.kernel_.transform(data.X)
        merged = (sample.operator @ W) / sample.root_weight[:, None]
        place = data.source.merged_place[data.source.inverse]
        return merged[place].astype(self.kernel_.coef.dtype)

    def _scores(self, F: Array) -> Array:
        if self.decision_ != "nearest_neighbor":
            return self._log_odds(F)
        with np.errstate(divide="ignore"):
            return np.log(self._neighbor.predict_proba(F))


def linear_centroid(centroid: ClassScores, sharp: float, shift: Array) -> LinearMap:
    """sharp (log prior_j - |f - m_j|^2 / 2) + shift_j, without what is the same for all classes."""
    coef = (centroid.means * centroid.scale).T
    lengths = np.sum(centroid.means**2 * centroid.scale, axis=1)
    return LinearMap(sharp * coef, sharp * (centroid.log_priors - lengths / 2) + shift)
