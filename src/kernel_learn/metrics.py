"""How much rows and labels have to do with each other: HSIC and kernel-target alignment.

With K the kernel matrix of the rows, Y the one-hot labels, P the projector that centres:

    hsic                tr(PKP YY') / (n - 1)^2               (Gretton et al. 2005; Chen, Eq. 5)
    alignment           <K, YY'> / (|K|_F |YY'|_F)            (Cristianini et al. 2002)
    centered_alignment  <PKP, PYY'P> / (|PKP|_F |PYY'P|_F)       (Cortes et al. 2012)

A row of weight two counts as two rows.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from kernel_learn.arrays import Array, LabelsLike, RowsLike, Seed, WeightsLike
from kernel_learn.estimators.hsic import HSICSubspace
from kernel_learn.fitting.parameters import check_seed, is_whole
from kernel_learn.fitting.training import Labelled, validate_labelled
from kernel_learn.fitting.variance import check_variance
from kernel_learn.kernels.base import KernelLike
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.sources import one_hot

__all__ = ["HSICTest", "alignment", "centered_alignment", "hsic", "hsic_test"]


class HSICTest(NamedTuple):
    """HSIC, and the share of permutations of the labels that reach it.

    Parameters
    ----------
    value : float
        HSIC of the labels as given.
    p_value : float
        The share, the labels as given included.
    """

    value: float
    p_value: float


def hsic(
    X: RowsLike,
    y: LabelsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
) -> float:
    """Dependence of rows and class labels: zero without any, larger the more there is.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or strings of shape (n_samples, ...)
        For ``kernel="precomputed"`` the kernel matrix.
    y : array-like of shape (n_samples,)
        Class labels.
    kernel : str, Kernel, callable or scikit-learn kernel, default="gaussian"
        How alike two rows are.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.

    Returns
    -------
    value : float
        tr(PKP YY') / (n - 1)^2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import hsic
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{hsic(X, y):.3f}")
    0.131
    """
    G, labels, counts, weight = _centred(X, y, kernel, sample_weight, center=True)
    return _hsic(G, one_hot(labels, len(counts)), weight)


def hsic_test(
    X: RowsLike,
    y: LabelsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
    n_permutations: int = 1000,
    random_state: Seed = None,
) -> HSICTest:
    """Are rows and labels independent? HSIC, and how often permuted labels reach it.

    The kernel matrix is evaluated once; a permutation costs a product with the label
    factor. The p-value counts the labels as given as one of the permutations, so it is
    valid whatever their number, and never zero.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the labels.
    y : array-like of shape (n_samples,)
        Labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.
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
    G, labels, counts, weight = _centred(X, y, kernel, sample_weight, center=True)
    rng = check_random_state(random_state)
    Y = one_hot(labels, len(counts))
    value = _hsic(G, Y, weight)
    reached = 1
    for _ in range(n_permutations):
        reached += _hsic(G, Y[rng.permutation(len(Y))], weight) >= value * (1 - 1e-12)
    return HSICTest(value, reached / (n_permutations + 1))


def alignment(
    X: RowsLike,
    y: LabelsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
) -> float:
    """Cosine of the angle between the kernel matrix and the ideal one, YY'.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the labels.
    y : array-like of shape (n_samples,)
        Labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import alignment
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{alignment(X, y):.3f}")
    0.834
    """
    return _cosine_to_labels(X, y, kernel, sample_weight, center=False)


def centered_alignment(
    X: RowsLike,
    y: LabelsLike,
    *,
    kernel: KernelLike = "gaussian",
    sample_weight: WeightsLike = None,
) -> float:
    """``alignment`` of the centred matrices: a constant added to the kernel changes nothing.

    Parameters
    ----------
    X : rows, or a kernel matrix with kernel="precomputed"
        What may depend on the labels.
    y : array-like of shape (n_samples,)
        Labels.
    kernel : str or Kernel, default="gaussian"
        Of the rows.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernel_learn.metrics import centered_alignment
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{centered_alignment(X, y):.3f}")
    0.788
    """
    return _cosine_to_labels(X, y, kernel, sample_weight, center=True)


def _centred(
    X: RowsLike, y: LabelsLike, kernel: KernelLike, sample_weight: WeightsLike, *, center: bool
) -> tuple[Array, Array, Array, Array]:
    """S^{1/2} G S^{1/2}, labels, class weights, row weights."""
    data: Labelled = validate_labelled(HSICSubspace(kernel), X, y, sample_weight)
    if data.names is not None:
        raise ValueError("kernel is a bank of kernels, and one kernel is needed here. Choose one.")
    data = data.resolved()
    nothing = np.zeros((len(data.labels), 0))
    form = GramForm(data.kernels, data.X, nothing, data.weight, center=center)
    check_variance(form.at(np.ones(1)), None)
    return form.gram(0), data.labels, data.counts, data.weight


def _hsic(G: Array, Y: Array, weight: Array) -> float:
    """tr(Y'GY) / (n - 1)^2; G is centred, so Y need not be."""
    n = float(weight.sum())
    if n <= 1:
        raise ValueError(
            f"HSIC divides by (n - 1)^2, and the weights of the rows sum to n = {n:g}: more than "
            "one row must count."
        )
    L = np.sqrt(weight)[:, None] * Y
    return float(np.sum((G @ L) * L)) / (n - 1) ** 2


def _cosine_to_labels(
    X: RowsLike, y: LabelsLike, kernel: KernelLike, sample_weight: WeightsLike, *, center: bool
) -> float:
    """<G, LL'> / (|G| |LL'|) with L = S^{1/2} Y, centred if G is; |LL'| = |L'L|."""
    G, labels, counts, weight = _centred(X, y, kernel, sample_weight, center=center)
    Y = one_hot(labels, len(counts))
    Y = Y - counts / counts.sum() if center else Y
    L = np.sqrt(weight)[:, None] * Y
    inner = float(np.sum((G @ L) * L))
    return inner / float(np.linalg.norm(G) * np.linalg.norm(L.T @ L))
