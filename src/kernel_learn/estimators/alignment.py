"""Subspace kernels by kernel-target alignment (SKFE)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, MemoryBudget, Seed
from kernel_learn.criteria.alignment import Alignment, Rescaled
from kernel_learn.criteria.radius_margin import RadiusMargin
from kernel_learn.fitting.base import StreamedSubspace
from kernel_learn.fitting.parameters import (
    ARRAY,
    BOOLEAN,
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    STREAMED,
    check_n_components,
    check_positive,
    choice,
)
from kernel_learn.fitting.partial import PartialFit
from kernel_learn.fitting.training import Labelled
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.base import Combined, Eigenpairs
from kernel_learn.representations.landmarks import LandmarksLike
from kernel_learn.representations.plan import Needs
from kernel_learn.representations.sources import one_hot
from kernel_learn.solvers.eigen import fix_signs
from kernel_learn.solvers.margin import one_vs_rest_signs
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.riemannian import orthonormal, solve_grassmann
from kernel_learn.warn import warn_user

# Rows whose skewness gives a feature without covariance its sign.
SIGN_ROWS = 20_000
INITS = ("koc", "hsic", "pca", "random")


class AlignmentSubspace(PartialFit, StreamedSubspace):
    """Subspace kernel with the largest alignment to the labels (SKFE).

    Maximises the kernel-target alignment of the subspace kernel over all
    subspaces of the kernel's feature space, by limited-memory BFGS on the
    Grassmann manifold with the exact gradient, from moments alone
    (Wu & Farquhar 2007). The problem is not convex; the start is the span of
    the class centroids, and the result is never worse than it.

    Parameters
    ----------
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    n_components : int, default=None
        Dimension of the subspace; None means n_classes.
    reg : float, default=0.05
        lambda = reg * tr(G) / n is added to the variance of every direction.
        Zero is the criterion of the paper, which fits random labels as well.
    center : bool, default=False
        Whether the kernel is centred in feature space.
    criterion : {"alignment", "radius_margin"}, default="alignment"
        "radius_margin": minimise the squared radius of the data times the
        squared inverse margin of one-vs-rest support vector machines in the
        subspace (Chapelle et al. 2002), with lambda on the kernel's diagonal.
    init : {"koc", "hsic", "pca", "random"} or array of shape (n_samples, l), default="koc"
        Where to start; an array holds coefficients W on the training rows.
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

    _parameters = STREAMED | {
        "reg": NOT_NEGATIVE,
        "center": BOOLEAN,
        "criterion": choice("alignment", "radius_margin"),
        "init": choice(*INITS) | ARRAY,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        kernel: KernelLike = "gaussian",
        *,
        n_components: int | None = None,
        reg: float = 0.05,
        center: bool = False,
        criterion: str = "alignment",
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

    def _fit(self, data: Labelled) -> Self:
        self.classes_ = data.classes
        k = len(data.classes)
        wanted = check_n_components(self.n_components, k, self)
        W0 = self._given_start(data)
        source = data.source
        if W0.shape[1]:
            source = source.with_labels(np.hstack([one_hot(data.labels, k), W0]), None)
        data, form = self._represent(data, source, needs=self._needs(), center=self.center)
        sample = self._combine(form)
        spectrum = sample.spectrum
        S = sample.spectral_targets(spectrum)
        S, S0 = S[:, :k], S[:, k:]
        self.reg_ = float(self.reg) * sample.trace / sample.n
        label_norm = _label_norm(data.counts, self.center)
        n = sample.n  # the plain alignment does not know the scale of the weights
        plain = Alignment(spectrum.w / n, S / n, label_norm / n, 0.0)
        start = self._start(spectrum.w, S, S0, data.counts, min(wanted, len(spectrum.w)))
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
        data: Labelled,
        S: Array,
        label_norm: float,
    ) -> Any:
        if self.criterion == "alignment":
            return Alignment(spectrum.w, S, label_norm, self.reg_)
        check_positive("reg", self.reg, self)
        blocks = list(sample.spectral_rows(spectrum))
        A, T = (np.vstack([block[i] for block in blocks]) for i in range(2))
        weight = sample.n * np.concatenate([block[2] for block in blocks])
        k = len(data.classes)
        labels = np.argmax(T[:, :k], axis=1)  # equal rows with several labels vote
        signs = one_vs_rest_signs(labels, k)
        return RadiusMargin(A / np.sqrt(weight)[:, None], signs, self.reg_, weight)

    def _given_start(self, data: Labelled) -> Array:
        """The user's coefficients W (n, l), or none."""
        if isinstance(self.init, str):
            return np.empty((0, 0))
        W = np.asarray(self.init, dtype=np.float64)
        if W.ndim != 2 or len(W) != data.n_given:
            raise ValueError(
                f"init has shape {W.shape}; coefficients on the training rows are "
                f"({data.n_given}, l)."
            )
        W = W if data.kept is None else W[data.kept]
        # a row of weight s counts s times, and its coefficient is meant for all of them
        return W / np.maximum(data.weight, 1e-300)[:, None]

    def _start(self, w: Array, S: Array, S0: Array, counts: Array, wanted: int) -> Array:
        """An orthonormal start of the wanted dimension, filled up by principal components."""
        columns = {
            "koc": lambda: S / counts,
            "hsic": lambda: (w / (w + max(self.reg_, 1e-3 * w.mean())))[:, None] * S / counts,
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


def _label_norm(counts: Array, center: bool) -> float:
    """|YY'|_F = |Y'Y|_F, or |Y'PY|_F if centred."""
    total = float(counts.sum())
    gram, shares = np.diag(counts / total), counts / total
    return total * float(np.linalg.norm(gram - np.outer(shares, shares) if center else gram))


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
