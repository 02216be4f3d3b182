"""Subspace kernels by kernel-target alignment (SKFE)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, MemoryBudget, Seed
from kernel_learn.criteria.alignment import Alignment, Rescaled
from kernel_learn.criteria.label_values import is_auto
from kernel_learn.criteria.labels import LabelKernel
from kernel_learn.criteria.radius_margin import RadiusMargin
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.kernel_weights import BankWeights
from kernel_learn.fitting.parameters import (
    ARRAY,
    BANK,
    BOOLEAN,
    COUNT,
    LABEL_KERNEL,
    NOT_NEGATIVE,
    POSITIVE,
    STREAMED,
    TARGET_TYPE,
    check_n_components,
    check_positive,
    choice,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.target_codes import check_label_stream, code_targets, ridge_targets
from kernel_learn.fitting.training import Labelled, Valued, store_targets
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.representations.base import Combined, Eigenpairs
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.representations.sources import ArraySource
from kernel_learn.solvers.eigen import fix_signs
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.riemannian import orthonormal, solve_grassmann
from kernel_learn.warn import warn_user

# Rows whose skewness gives a feature without covariance its sign.
SIGN_ROWS = 20_000
INITS = ("koc", "hsic", "pca", "random")
# label_kernel="auto", by the kind of the targets.
LABEL_KERNELS = {"classes": "indicator", "numbers": "normalized", "labels": "linear"}


class AlignmentSubspace(PartialFit, BankWeights, StreamedSubspace):
    """Subspace kernel with the largest alignment to the targets (SKFE).

    Maximises the kernel-target alignment of the subspace kernel over all
    subspaces of the kernel's feature space, by limited-memory BFGS on the
    Grassmann manifold with the exact gradient, from moments alone
    (Wu & Farquhar 2007). The problem is not convex; the start is the span of
    the class centroids (of sums of rows times their numbers), and the result is
    never worse than it.

    Parameters
    ----------
    kernel : str, Kernel, callable, scikit-learn kernel, list or dict, default="gaussian"
        How alike two rows are; several kernels as in :class:`HSICSubspace`, combined into one of
        trace n by ``weights``.
    n_components : int, default=None
        Dimension of the subspace; None means n_classes, or as many as there are numbers or
        labels.
    reg : float, default=0.05
        lambda = reg * tr(G) / n is added to the variance of every direction.
        Zero is the criterion of the paper, which fits random labels as well.
    center : bool, default=False
        Whether the kernel is centred in feature space.
    criterion : {"alignment", "radius_margin"}, default="alignment"
        "radius_margin": minimise the squared radius of the data times the
        squared inverse margin of one-vs-rest support vector machines in the
        subspace (Chapelle et al. 2002), with lambda on the kernel's diagonal; for classes.
    label_kernel : str, callable, Kernel or array, default="auto"
        What is aligned with, as in :class:`HSICSubspace`; similarities of the classes are
        codings of the labels (Wu & Farquhar 2007, footnote 1). "auto": "indicator" of classes,
        "normalized" of numbers, "linear" of sets of labels.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`.
    weights : {"loo", "uniform", "alignment"} or array-like, default="loo"
        With several kernels: by the leave-one-out error of ridge regression on the targets, see
        :class:`HSICSubspace`; the same trace for each; centred alignment; relative weights of
        the kernels as given.
    init : {"koc", "hsic", "pca", "random"} or array of shape (n_samples, l), default="koc"
        Where to start; an array holds coefficients W on the training rows (of one kernel).
    tol : float, default=1e-4
        Stop when the gradient's norm is at most this.
    max_iter : int, default=500
        Steps at most.
    landmarks : "auto", "all", int, str, Landmarks or array, default="auto"
        As in :class:`HSICSubspace`.
    memory_budget : int or str, default=None
        As in :class:`HSICSubspace`.
    random_state : int, RandomState or None, default=None
        As in :class:`HSICSubspace`; also makes random starts.
    verbose : int, default=0
        As in :class:`HSICSubspace`.

    Attributes
    ----------
    kernel_ : SubspaceKernel
        The learned kernel; ``kernel_.coef`` holds W, orthonormal in feature space.
    objective_ : float
        The criterion that was maximised.
    alignment_ : float
        Plain alignment (lambda = 0) of the learned kernel with the labels.
    reg_ : float
        lambda.
    grad_norm_ : float
        Norm of the gradient at the end, in the coordinates of the solver, where curvature is
        evened out.
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
        Of sets of labels the labels; numbers have none.
    target_type_ : str
        What y was taken for.
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
    A class with a single member has that row as its centroid.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernel_learn import AlignmentSubspace
    >>> X, y = load_wine(return_X_y=True)
    >>> AlignmentSubspace().fit_transform(scale(X), y).shape
    (178, 3)
    """

    _parameters = (STREAMED | BANK) | {
        "reg": NOT_NEGATIVE,
        "center": BOOLEAN,
        "criterion": choice("alignment", "radius_margin"),
        "label_kernel": choice("auto") | LABEL_KERNEL,
        "target_type": TARGET_TYPE,
        "init": choice(*INITS) | ARRAY,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.05,
        center: bool = False,
        criterion: str = "alignment",
        label_kernel: LabelKernel = "auto",
        target_type: str = "auto",
        weights: str | ArrayLike = "loo",
        init: str | ArrayLike = "koc",
        tol: float = 1e-4,
        max_iter: int = 500,
        landmarks: LandmarksLike = "auto",
        memory_budget: MemoryBudget = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.reg = reg
        self.center = center
        self.criterion = criterion
        self.label_kernel = label_kernel
        self.target_type = target_type
        self.weights = weights
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.landmarks = landmarks
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.verbose = verbose

    stream_needs = Needs(features=6.0)

    def _check_stream(self) -> None:
        needed = [] if isinstance(self.init, str) else ["init=array"]
        needed += ["criterion='radius_margin'"] if self.criterion == "radius_margin" else []
        if needed:
            raise ValueError(
                f"AlignmentSubspace({', '.join(needed)}) needs all rows at once, and those of a "
                "stream come and go. Use criterion='alignment' and a named init, or pass the rows "
                "as an array."
            )
        check_label_stream(self.label_kernel)

    def _fit(self, data: Labelled | Valued) -> Self:
        self._check_margin(data)
        store_targets(self, data)
        wanted = check_n_components(self.n_components, data.source.n_targets, self)
        W0 = self._given_start(data)
        automatic = is_auto(self.label_kernel)
        label_kernel = LABEL_KERNELS[data.kind] if automatic else self.label_kernel
        source, mixing = code_targets(data, label_kernel)
        label_norm, k = _label_norm(source, mixing, self.center), source.n_targets
        is_one_hot = source.n_classes is not None
        if W0.shape[1]:
            assert isinstance(source, ArraySource)
            source = source.with_labels(np.hstack([source.targets(source.labels), W0]), None)
        coding = None if data.names is None else mixing
        data, form = self._represent(
            data, source, needs=self._needs(), center=self.center, mixing=coding
        )
        told = ridge_targets(self, data) if data.names and self._weighs_by_loo else None
        sample = self._combine(form, self._bank_weights(form, data.names, told))
        spectrum = sample.spectrum
        S = sample.spectral_targets(spectrum)
        S, S0 = S[:, :k], S[:, k:]
        span = S / source.counts[:k] if is_one_hot else S  # the centroids of classes
        S = S @ mixing
        self.reg_ = float(self.reg) * sample.trace / sample.n
        n = sample.n  # the plain alignment does not know the scale of the weights
        plain = Alignment(spectrum.w / n, S / n, label_norm / n, 0.0)
        start = self._start(spectrum.w, span, S0, min(wanted, len(spectrum.w)))
        criterion = Rescaled(
            self._criterion(sample, spectrum, data, S, label_norm),
            (spectrum.w + max(self.reg_, 1e-2 * spectrum.w.mean())) ** -0.5 * spectrum.w[-1] ** 0.5,
        )
        result = solve_grassmann(
            criterion, criterion.coordinates(start), tol=self.tol, max_iter=self.max_iter
        )
        self._warn(result)
        V = _canonical(criterion.subspace(result.point), S, sample, spectrum)
        self.alignment_ = plain.value(V)
        self._store_result(result)
        length = np.sqrt(sample.spectral_inner(spectrum.w))[:, None]
        self._store_kernel(sample.expand(spectrum.U @ (V / length)))
        self._warn_if_fewer()
        return self

    def _needs(self) -> Needs:
        rows = 0.0 if self.criterion == "alignment" else 3.0
        return Needs(exact=4.2 + rows, features=6.0, rows=rows)

    def _criterion(
        self,
        sample: Combined,
        spectrum: Eigenpairs,
        data: Labelled | Valued,
        S: Array,
        label_norm: float,
    ) -> Any:
        if self.criterion == "alignment":
            return Alignment(spectrum.w, S, label_norm, self.reg_)
        check_positive("reg", self.reg, self)
        blocks = list(sample.spectral_rows(spectrum))
        A, T = (np.vstack([block[i] for block in blocks]) for i in range(2))
        weight = sample.n * np.concatenate([block[2] for block in blocks])
        k = data.source.n_targets
        labels = np.argmax(T[:, :k], axis=1)  # equal rows with several labels vote
        signs = one_vs_rest_signs(labels, k)
        return RadiusMargin(A / np.sqrt(weight)[:, None], signs, self.reg_, weight)

    def _check_margin(self, data: Labelled | Valued) -> None:
        if self.criterion == "alignment":
            return
        if data.kind != "classes":
            raise ValueError(
                "AlignmentSubspace(criterion='radius_margin') has a margin between classes, and y "
                f"was taken as {data.kind}. Use criterion='alignment'."
            )
        if not is_auto(self.label_kernel):
            raise ValueError(
                "AlignmentSubspace(criterion='radius_margin') does not compare labels: leave "
                "label_kernel out."
            )

    def _given_start(self, data: Labelled | Valued) -> Array:
        """The user's coefficients W (n, l), or none."""
        if isinstance(self.init, str):
            return np.empty((0, 0))
        if data.names is not None:
            raise ValueError(
                "AlignmentSubspace(init=array) holds coefficients on the rows of one kernel, and "
                f"there are {len(data.names)}: name a start, or combine them first."
            )
        W = np.asarray(self.init, dtype=np.float64)
        if W.ndim != 2 or len(W) != data.n_given:
            raise ValueError(
                f"init has shape {W.shape}; coefficients on the training rows are "
                f"({data.n_given}, l)."
            )
        W = W if data.kept is None else W[data.kept]
        # a row of weight s counts s times, and its coefficient is meant for all of them
        return W / np.maximum(data.weight, 1e-300)[:, None]

    def _start(self, w: Array, span: Array, S0: Array, wanted: int) -> Array:
        """An orthonormal start of the wanted dimension, filled up by principal components."""
        columns = {
            "koc": lambda: span,
            "hsic": lambda: (w / (w + max(self.reg_, 1e-3 * w.mean())))[:, None] * span,
            "pca": lambda: np.zeros((len(w), 0)),
            "random": lambda: check_random_state(self.random_state).normal(size=(len(w), wanted)),
        }
        V = S0 if not isinstance(self.init, str) else columns[self.init]()
        V, values, _ = np.linalg.svd(V, full_matrices=False)
        V = V[:, values > 1e-8 * values.max(initial=0.0)][:, :wanted]
        missing = wanted - V.shape[1]
        if missing > 0:  # the eigenbasis is ascending: its last vectors are the principal ones
            extra = np.eye(len(w))[:, ::-1][:, : missing + V.shape[1]]
            Q, R = np.linalg.qr(np.hstack([V, extra]))
            fresh = np.abs(np.diagonal(R)) > 1e-8
            V = Q[:, : fresh.size][:, fresh][:, :wanted]
        return orthonormal(V)

    def _warn(self, result: Result) -> None:
        if result.status == "stopped":
            warn_user(
                f"AlignmentSubspace stopped after {result.n_iter} iterations with a gradient of "
                f"norm {result.grad_norm:.2g} (tol={self.tol:g}); raise max_iter to go on.",
                ConvergenceWarning,
            )


def _label_norm(source: ArraySource | PooledSource, mixing: Array, center: bool) -> float:
    """|LL'|_F = |L'L|_F, or |L'PL|_F if centred, L = T mixing."""
    if source.n_classes is not None:
        total = float(source.counts.sum())
        mean = source.counts / total
        gram = np.diag(mean) - np.outer(mean, mean)
    else:
        moments = source.target_moments()
        total, mean, gram = moments.n, moments.mean, moments.scatter / moments.n
    gram = gram if center else gram + np.outer(mean, mean)
    return total * float(np.linalg.norm(mixing.T @ gram @ mixing))


def _canonical(V: Array, S: Array, sample: Combined, spectrum: Eigenpairs) -> Array:
    """The basis of span(V) whose features have orthogonal covariances with the labels.

    Signs follow those covariances; where there are none, the features' skewness.
    """
    _, lengths, RT = np.linalg.svd(S.T @ V)
    V = V @ RT.T
    lengths = np.concatenate([lengths, np.zeros(V.shape[1] - len(lengths))])
    loadings = S.T @ V
    signs = np.sign(np.sum(fix_signs(loadings) * loadings, axis=0))
    silent = lengths <= 1e-6 * lengths[0]
    if silent.any():
        rows = sample.spectral_rows(spectrum, SIGN_ROWS)
        cubes = [share @ (A @ V) ** 3 for A, _, share in rows]
        signs = np.where(silent, np.sign(np.sum(cubes, axis=0)), signs)
    return V * np.where(signs == 0, 1.0, signs)
