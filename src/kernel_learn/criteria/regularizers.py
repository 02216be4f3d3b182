"""Spectral regularisers of a learned metric A (M, M): what is paid for leaving the base kernel.

A regulariser is a sum over the eigenvalues of A, f(A) = sum_i f_s(lambda_i), over
A >= 0. Solvers ask one question of it: given a symmetric X, what is

    inf over A >= 0 of f(A) - <X, A>,

and where is it attained? On the eigenvalues of X = U diag(x) U' that is a
question about numbers, A = U diag(minimizer(x)) U'. To write one, give
``alpha``, ``value`` and ``minimizer`` as in the classes below.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array


@dataclass(frozen=True)
class Minimum:
    """min over A of f(A) - <X, A>: where, f there, and the minimum."""

    A: Array  # (M, M)
    value: float  # f(A)
    infimum: float  # f(A) - <X, A>


class Regularizer(ABC):
    """f(A) = sum of ``value`` over the eigenvalues of A, with its global minimum at alpha I.

    ``alpha`` = 1: without constraints the learned kernel is the base kernel;
    ``alpha`` = 0: it is zero, and only constraints that zero violates teach anything.
    """

    alpha: float
    domain: float = np.inf
    """The infimum is finite for eigenvalues of X below this number."""

    @abstractmethod
    def value(self, w: Array) -> float:
        """f of a matrix with eigenvalues w >= 0."""

    @abstractmethod
    def minimizer(self, x: Array) -> Array:
        """argmin over w >= 0 of f_s(w) - x w, entry by entry, for x < domain."""

    def minimize(self, X: Array) -> Minimum | None:
        """The minimum of f(A) - <X, A>, None where it is unbounded."""
        x, U = linalg.eigh(X, driver="evd", check_finite=False)
        if len(x) and not x[-1] < self.domain:
            return None
        w = self.minimizer(x)
        value = float(self.value(w))
        kept = w != 0
        A = (U[:, kept] * w[kept]) @ U[:, kept].T
        return Minimum(A, value, value - float(x @ w))


class LogDet(Regularizer):
    """f(A) = tr A - log det A (ITML), A(X) = (I - X)^{-1}, infimum M + log det(I - X)."""

    alpha = 1.0
    domain = 1.0

    def value(self, w: Array) -> float:
        with np.errstate(divide="ignore"):
            return float(np.sum(w - np.log(w)))

    def minimizer(self, x: Array) -> Array:
        return np.asarray(1 / (1 - x))

    def minimize(self, X: Array) -> Minimum | None:
        # one Cholesky factorisation decides about the domain and inverts: 1/9 of an eigh
        M = len(X)
        H = np.eye(M) - X
        try:
            R = linalg.cholesky(H, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return None
        A, info = linalg.lapack.dpotri(R, lower=True)
        if info:
            return None
        A = np.tril(A) + np.tril(A, -1).T
        log_det = 2 * float(np.sum(np.log(np.diagonal(R))))
        return Minimum(A, float(np.trace(A)) + log_det, M + log_det)


class Frobenius(Regularizer):
    """f(A) = 1/2 |A - I|^2, A(X) = (I + X)_+, infimum M/2 - 1/2 |(I + X)_+|^2."""

    alpha = 1.0

    def value(self, w: Array) -> float:
        return float(np.sum((w - 1) ** 2)) / 2

    def minimizer(self, x: Array) -> Array:
        return np.asarray(np.maximum(1 + x, 0))


class Pola(Regularizer):
    """f(A) = 1/2 |A|^2 (POLA; "Frob" in Table 1 of Jain et al.), A(X) = X_+."""

    alpha = 0.0

    def value(self, w: Array) -> float:
        return float(np.sum(w**2)) / 2

    def minimizer(self, x: Array) -> Array:
        return np.maximum(x, 0)


class Trace(Regularizer):
    """f(A) = tau tr A + 1/2 |A|^2 (Trace-SSIKDR), A(X) = (X - tau I)_+: low rank.

    The eigenvalues of X below tau are cut, so the rank falls as tau grows.
    """

    alpha = 0.0

    def __init__(self, tau: float) -> None:
        self.tau = tau

    def value(self, w: Array) -> float:
        return float(np.sum(self.tau * w + w**2 / 2))

    def minimizer(self, x: Array) -> Array:
        return np.maximum(x - self.tau, 0)


REGULARIZERS: dict[str, Callable[..., Regularizer]] = {
    "logdet": LogDet,
    "frobenius": Frobenius,
    "pola": Pola,
    "trace": Trace,
}


def as_regularizer(spec: str | Regularizer, tau: float) -> Regularizer:
    """A regulariser from its name, or the object that was given."""
    if isinstance(spec, str) and spec in REGULARIZERS:
        return Trace(tau) if spec == "trace" else REGULARIZERS[spec]()
    if not isinstance(spec, Regularizer):
        raise ValueError(
            f"regularizer={spec!r} is not known. Give one of {', '.join(map(repr, REGULARIZERS))}, "
            "or an object of a subclass of kernel_learn.criteria.regularizers.Regularizer."
        )
    return spec
