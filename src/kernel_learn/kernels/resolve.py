"""From what a user writes to a kernel: names, functions and scikit-learn kernels."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self, TypeGuard

import numpy as np
from scipy import linalg
from sklearn.gaussian_process.kernels import Kernel as SklearnGPKernel
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import Bank, Kernel, KernelLike, KernelsLike
from kernel_learn.rows.access import dense, n_rows, writeable
from kernel_learn.rows.coerce import as_numbers, as_vectors
from kernel_learn.warn import warn_user

if TYPE_CHECKING:
    from kernel_learn.kernels.pool import Pool

# What a name stands for; ``kernels.names`` fills it in when the package is imported, so that
# kernels that wrap others can read a name without knowing every kernel.
NAMES: dict[str, Callable[[], Kernel]] = {}
# Rows on which a function is looked at before it is trusted to be a kernel.
CHECKED_ROWS = 100
CHECK_FUNCTION = "A kernel gives k(x, z) = k(z, x)."


class FunctionKernel(Kernel):
    """k(X, X_ref) given as a function of two sets of rows that returns (n_rows, n_ref).

    Parameters
    ----------
    function : callable
        Of two sets of rows.
    """

    pool_rows = CHECKED_ROWS

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function

    def resolve_on(self, pool: "Pool") -> Self:
        """The kernel itself, after a look at whether it is one on some of the rows."""
        K = self(pool.head(CHECKED_ROWS).rows).astype(np.float64)
        check_symmetric_matrix(K, f"The kernel function {self.function!r}", CHECK_FUNCTION)
        if np.isfinite(K).all() and not is_positive_semidefinite(K):
            w = linalg.eigvalsh(K)
            warn_user(
                f"The kernel function {self.function!r} is not positive semidefinite: on "
                f"{len(K)} rows its matrix has eigenvalues from {w[0]:.3g} to {w[-1]:.3g}. What is "
                "learned with it means little; correct it, or pass the repaired matrix to "
                'kernel="precomputed".'
            )
        return self

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        X_ref = X if X_ref is None else X_ref
        values = as_numbers(
            dense(self.function(X, X_ref)),
            f"What the kernel function {self.function!r} returned",
        )
        K = values.astype(pairwise.result_dtype(X, X_ref), copy=False)
        expected = (n_rows(X), n_rows(X_ref))
        if K.shape != expected:
            raise ValueError(
                f"The kernel function {self.function!r} returned shape {K.shape} for "
                f"{expected[0]} and {expected[1]} rows. It must return k(X, X_ref) of shape "
                f"{expected}; scikit-learn-style functions of two single rows can be "
                "wrapped in sklearn.metrics.pairwise_kernels."
            )
        if not np.isfinite(K).all():
            raise ValueError(
                f"The kernel function {self.function!r} returned values that are not finite on "
                "these rows."
            )
        return K


class PairwiseKernel(Kernel):
    """A kernel of ``sklearn.metrics.pairwise_kernels`` by its name, with its defaults.

    Parameters
    ----------
    metric : str
        The name.
    """

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        # the chi-squared metrics of scikit-learn take neither sparse nor read-only rows
        rows = writeable if self.metric in ("chi2", "additive_chi2") else as_vectors
        X_ref = None if X_ref is None else rows(X_ref)
        return np.asarray(pairwise_kernels(rows(X), X_ref, metric=self.metric))


class GaussianProcessKernel(Kernel):
    """A kernel of ``sklearn.gaussian_process.kernels``, used here with the hyperparameters it has.

    The other direction, a kernel of ours there, is ``kernel.as_gp_kernel()``.

    Parameters
    ----------
    kernel : scikit-learn kernel
        As it stands.
    """

    def __init__(self, kernel: SklearnGPKernel) -> None:
        self.kernel = kernel

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        dtype = pairwise.result_dtype(X, X if X_ref is None else X_ref)
        X_ref = None if X_ref is None else dense(X_ref)
        return np.asarray(self.kernel(dense(X), X_ref), dtype)

    def diag(self, X: Rows) -> Array:
        return np.asarray(self.kernel.diag(dense(X)), pairwise.result_dtype(X))


def as_kernel(spec: KernelsLike) -> Kernel:
    """One kernel from a name, a Kernel, a scikit-learn kernel or a function.

    Parameters
    ----------
    spec : str, Kernel, scikit-learn kernel or callable
        What the user wrote.
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, SklearnGPKernel):
        return GaussianProcessKernel(spec)
    if callable(spec) and not isinstance(spec, type):
        return FunctionKernel(spec)
    if is_bank(spec):
        raise ValueError(
            f"kernel is a bank of {len(spec)} kernels, and one kernel is needed here. Choose one."
        )
    raise ValueError(
        f"kernel={spec!r} is not a kernel. Give a name ({', '.join(sorted(NAMES))}), an object of "
        "kernel_learn.kernels (an instance, not the class), a scikit-learn kernel, or a function "
        "k(X, X_ref)."
    )


def is_bank(spec: object) -> TypeGuard[Bank]:
    """Whether several kernels were given: a dict, a list or a tuple."""
    return isinstance(spec, Mapping | list | tuple)


def named_kernels(bank: Bank) -> tuple[list[str], list[KernelLike]]:
    """Names and kernels of a bank in the user's order; a list is numbered."""
    if isinstance(bank, Mapping):
        return [str(name) for name in bank], list(bank.values())
    return [f"kernel_{i}" for i in range(len(bank))], list(bank)


def _named(name: str) -> Kernel:
    if name in NAMES:
        return NAMES[name]()
    if name in kernel_metrics():
        return PairwiseKernel(name)
    known = sorted({*NAMES, *kernel_metrics()})
    raise ValueError(f"kernel={name!r} is not known. Known names: {', '.join(known)}.")


def check_symmetric_matrix(
    K: Array,
    what: str = "The precomputed kernel matrix",
    remedy: str = "Use (K + K.T) / 2 if that is rounding, and check that X is "
    "K(X_train, X_train) if it is not.",
) -> None:
    """Refuse a matrix that differs from its transpose by more than rounding."""
    largest = np.abs(K).max(initial=0.0)
    difference = np.abs(K - K.T)
    if difference.max(initial=0.0) > np.sqrt(np.finfo(K.dtype).eps) * largest:
        i, j = np.unravel_index(np.argmax(difference), K.shape)
        raise ValueError(
            f"{what} is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g}, "
            f"entry ({j}, {i}) is {K[j, i]:.6g}. {remedy}"
        )


def is_positive_semidefinite(K: Array) -> bool:
    """Whether no eigenvalue lies below -10 n eps max|K|, by one Cholesky factorisation."""
    n, eps = len(K), float(np.finfo(K.dtype).eps)
    shift = 10 * n * eps * max(float(np.abs(K).max(initial=0.0)), 1e-300)
    shifted = np.array(K, dtype=np.float64)
    shifted[np.diag_indices(n)] += shift
    try:
        linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True
