"""How much rows and targets have to do with each other: HSIC and kernel-target alignment.

With K the kernel matrix of the rows, H that of the targets, P the projector that centres:

    hsic                tr(PKP H) / (n - 1)^2                 (Gretton et al. 2005; Chen, Eq. 5)
    alignment           <K, H> / (|K|_F |H|_F)                (Cristianini et al. 2002)
    centered_alignment  <PKP, PHP> / (|PKP|_F |PHP|_F)           (Cortes et al. 2012)

H is YY' of the one-hot labels of classes, and of sets of labels. Of numbers it is a Gaussian kernel
of median width for HSIC, which is zero for no dependence at all, and yy' of y of mean zero for
alignment. A row of weight two counts as two rows.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, RowsLike, Seed, TargetsLike, WeightsLike
from kernel_learn.criteria.label_values import is_auto
from kernel_learn.criteria.labels import LabelKernel
from kernel_learn.estimators.hsic import HSICSubspace
from kernel_learn.fitting.parameters import check_seed, is_whole
from kernel_learn.fitting.target_codes import code_targets
from kernel_learn.fitting.training import validate_targets
from kernel_learn.fitting.variance import check_variance
from kernel_learn.kernels.base import KernelLike
from kernel_learn.namespaces import list_only
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.named_columns import take_named

__all__ = ["HSICTest", "alignment", "centered_alignment", "hsic", "hsic_test"]

__dir__ = list_only(__all__)


# H by the kind of the targets.
HSIC_KERNELS = {"classes": "indicator", "numbers": "gaussian", "labels": "linear"}
ALIGNMENT_KERNELS = HSIC_KERNELS | {"numbers": "linear"}


class HSICTest(NamedTuple):
    """HSIC, and the share of permutations of the targets that reach it.

    Parameters
    ----------
    value : float
        HSIC of the targets as given.
    p_value : float
        The share, the targets as given included.
    """

    value: float
    p_value: float


def hsic(
    X: RowsLike,
    y: TargetsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
    target_type: str = "auto",
    label_kernel: LabelKernel = "auto",
) -> float:
    """Dependence of rows and targets: zero if they are independent, larger with more dependence.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
        For ``kernel="precomputed"`` the kernel matrix.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Class labels, numbers, or sets of labels.
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`.
    label_kernel : str, callable, Kernel or array, default="auto"
        H; as in :class:`HSICSubspace`. "auto": that of the module.

    Returns
    -------
    value : float
        tr(PKP H) / (n - 1)^2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import hsic
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{hsic(X, y):.3f}")
    0.131
    """
    given = _Given(kernel, sample_weight, target_type, label_kernel)
    G, T, weight = _read(X, y, given, HSIC_KERNELS, center=True)
    return _hsic(G, T, weight)


def hsic_test(
    X: RowsLike,
    y: TargetsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
    target_type: str = "auto",
    label_kernel: LabelKernel = "auto",
    n_permutations: int = 1000,
    random_state: Seed = None,
) -> HSICTest:
    """Are rows and targets independent? HSIC, and how often permuted targets reach it.

    The kernel matrix is evaluated once; a permutation costs a product with the factor of
    the targets. The p-value counts the targets as given as one of the permutations, so it is
    valid whatever their number, and never zero.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the targets.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Class labels, numbers, or sets of labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`.
    label_kernel : str, callable, Kernel or array, default="auto"
        H; as in :class:`HSICSubspace`. "auto": that of the module.
    n_permutations : int, default=1000
        How many are tried.
    random_state : int, RandomState or None, default=None
        Of the permutations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import hsic_test
    >>> X, y = load_iris(return_X_y=True)
    >>> hsic_test(X, y, n_permutations=99, random_state=0).p_value
    0.01
    """
    if not is_whole(n_permutations, 1):
        raise ValueError(
            f"hsic_test(n_permutations={n_permutations!r}): n_permutations must be a positive "
            "integer."
        )
    check_seed(random_state)
    given = _Given(kernel, sample_weight, target_type, label_kernel)
    G, T, weight = _read(X, y, given, HSIC_KERNELS, center=True)
    rng = check_random_state(random_state)
    value = _hsic(G, T, weight)
    reached = 1
    for _ in range(n_permutations):
        reached += _hsic(G, T[rng.permutation(len(T))], weight) >= value * (1 - 1e-12)
    return HSICTest(value, reached / (n_permutations + 1))


def alignment(
    X: RowsLike,
    y: TargetsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
    target_type: str = "auto",
    label_kernel: LabelKernel = "auto",
) -> float:
    """Cosine of the angle between the kernel matrix and that of the targets, H.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the targets.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Class labels, numbers, or sets of labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`.
    label_kernel : str, callable, Kernel or array, default="auto"
        H; as in :class:`HSICSubspace`. "auto": that of the module.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import alignment
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{alignment(X, y):.3f}")
    0.834
    """
    given = _Given(kernel, sample_weight, target_type, label_kernel)
    return _cosine_to_targets(X, y, given, center=False)


def centered_alignment(
    X: RowsLike,
    y: TargetsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
    target_type: str = "auto",
    label_kernel: LabelKernel = "auto",
) -> float:
    """``alignment`` of the centred matrices: a constant added to the kernel changes nothing.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the targets.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Class labels, numbers, or sets of labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.
    target_type : {"auto", "classes", "numbers", "labels"}, default="auto"
        What y is; as in :class:`HSICSubspace`.
    label_kernel : str, callable, Kernel or array, default="auto"
        H; as in :class:`HSICSubspace`. "auto": that of the module.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import centered_alignment
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{centered_alignment(X, y):.3f}")
    0.788
    """
    given = _Given(kernel, sample_weight, target_type, label_kernel)
    return _cosine_to_targets(X, y, given, center=True)


class _Given(NamedTuple):
    """How rows and targets are to be compared."""

    kernel: KernelLike
    sample_weight: WeightsLike
    target_type: str
    label_kernel: LabelKernel


def _read(
    X: RowsLike, y: TargetsLike, given: _Given, default: dict[str, str], *, center: bool
) -> tuple[Array, Array, Array]:
    """S^{1/2} G S^{1/2}, T with H = TT', row weights."""
    reader = HSICSubspace(given.kernel, target_type=given.target_type)
    X, y, weight = take_named({"X": X, "y": y, "sample_weight": given.sample_weight}).values()
    data = validate_targets(reader, X, y, weight)
    if data.names is not None:
        raise ValueError("kernel is a bank of kernels, and one kernel is needed here. Choose one.")
    data = data.resolved()
    nothing = np.zeros((data.source.n_rows, 0))
    form = GramForm(data.kernels, data.X, nothing, data.weight, center=center)
    check_variance(form.at(np.ones(1)), None)
    label_kernel = default[data.kind] if is_auto(given.label_kernel) else given.label_kernel
    source, mixing = code_targets(data, label_kernel)
    assert isinstance(source, ArraySource)
    return form.gram(0), source.targets(source.labels) @ mixing, data.weight


def _hsic(G: Array, T: Array, weight: Array) -> float:
    """tr(T'GT) / (n - 1)^2; G is centred, so T need not be."""
    n = float(weight.sum())
    if n <= 1:
        raise ValueError(
            f"HSIC divides by (n - 1)^2, and the weights of the rows sum to n = {n:g}: more than "
            "one row must count."
        )
    L = np.sqrt(weight)[:, None] * T
    return float(np.sum((G @ L) * L)) / (n - 1) ** 2


def _cosine_to_targets(X: RowsLike, y: TargetsLike, given: _Given, *, center: bool) -> float:
    """<G, LL'> / (|G| |LL'|) with L = S^{1/2} T, centred if G is; |LL'| = |L'L|."""
    G, T, weight = _read(X, y, given, ALIGNMENT_KERNELS, center=center)
    T = T - (weight / weight.sum()) @ T if center else T
    L = np.sqrt(weight)[:, None] * T
    inner = float(np.sum((G @ L) * L))
    return inner / float(np.linalg.norm(G) * np.linalg.norm(L.T @ L))
