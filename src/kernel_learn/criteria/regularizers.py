"""Spectral regularisers of a learned metric A (M, M): what is paid for leaving the base kernel.

A regulariser is a sum over the eigenvalues of A, f(A) = sum_i f_s(lambda_i), over
A >= 0. Solvers ask one question of it: given a symmetric X, what is

    inf over A >= 0 of f(A) - <X, A>,

and where is it attained? On the eigenvalues of X = U diag(x) U' that is a
question about numbers, A = U diag(minimizer(x)) U'. To write one, give
``alpha``, ``value`` and ``minimizer`` as in the classes below.

Where f_s has straight pieces (the trace norm), the minimiser jumps and A is not
found from X alone; ``proximal`` then asks the same of f_s(w) + rho/2 w^2, which
has one answer, and is worked out from ``minimizer`` unless it is given.
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

    @property
    def is_strictly_convex(self) -> bool:
        """Whether f_s is: else the dual is not smooth, and f is solved by proximal points.

        With a boundary of the domain it is seen there, where the minimiser of a strictly
        convex f_s goes to infinity. Say False of an f_s with straight pieces elsewhere.
        """
        if not np.isfinite(self.domain):
            return True
        inside = self.domain - 1e-12 * max(1.0, abs(self.domain))
        return bool(np.max(self.minimizer(np.array([inside]))) > 1e3)

    def proximal(self, x: Array, rho: float) -> Array:
        """argmin over w >= 0 of f_s(w) + rho/2 w^2 - x w, entry by entry, for any x.

        With y = x - rho w this is w = minimizer(y): y + rho minimizer(y), which
        increases, is brought to x by bisection over y below the domain.
        """
        low = np.minimum(x, self.domain) - 1.0
        for _ in range(60):  # minimizer falls to its least value as y does
            above = low + rho * self.minimizer(low) > x
            if not above.any():
                break
            low = np.where(above, low - 2 * (np.minimum(x, self.domain) - low), low)
        high = np.minimum(x, self.domain)
        for _ in range(100):
            y = (low + high) / 2
            above = y + rho * self.minimizer(np.minimum(y, np.nextafter(self.domain, -np.inf))) > x
            low, high = np.where(above, low, y), np.where(above, y, high)
        return np.asarray(np.maximum((x - low) / rho, 0.0))

    def shifted(self, X: Array) -> Array:
        """X, in whose eigenvectors the minimum lies."""
        return X

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


class TraceNorm(Regularizer):
    """f(A) = tau tr A, the trace norm alone: not strictly convex, so A(X) is 0 where it is defined.

    The rank is the least of all regularisers here; the eigenvalues that stay are not shrunk
    by more than the constraints pay for.
    """

    alpha = 0.0

    def __init__(self, tau: float) -> None:
        self.tau = self.domain = tau

    def value(self, w: Array) -> float:
        return self.tau * float(np.sum(w))

    def minimizer(self, x: Array) -> Array:
        return np.zeros_like(x)

    def proximal(self, x: Array, rho: float) -> Array:
        return np.asarray(np.maximum(x - self.tau, 0) / rho)


class NearPoint(Regularizer):
    """f(A) + rho/2 |A - B|^2 for a convex f: strictly convex, with its minimum near B."""

    def __init__(self, regularizer: Regularizer, rho: float, B: Array) -> None:
        self.regularizer, self.rho, self.B = regularizer, rho, B
        self.alpha = regularizer.alpha

    def shifted(self, X: Array) -> Array:
        return np.asarray(X + self.rho * self.B)

    def value(self, w: Array) -> float:
        raise NotImplementedError("It depends on B, and not on eigenvalues alone.")

    def minimizer(self, x: Array) -> Array:
        return self.regularizer.proximal(x, self.rho)

    def minimize(self, X: Array) -> Minimum | None:
        x, U = linalg.eigh(self.shifted(X), driver="evd", check_finite=False)
        w = self.minimizer(x)
        kept = w != 0
        A = (U[:, kept] * w[kept]) @ U[:, kept].T
        value = self.regularizer.value(w) + self.rho / 2 * float(np.sum((A - self.B) ** 2))
        return Minimum(A, value, value - float(np.sum(X * A)))


# Relative to the tau from which on the learned kernel is zero.
BY_TAU: dict[str, Callable[[float], Regularizer]] = {"trace": Trace, "trace_norm": TraceNorm}
REGULARIZERS: dict[str, Callable[..., Regularizer]] = {
    "logdet": LogDet,
    "frobenius": Frobenius,
    "pola": Pola,
    **BY_TAU,
}


def as_regularizer(spec: str | Regularizer, tau: float) -> Regularizer:
    """A regulariser from its name, or the object that was given."""
    if isinstance(spec, str) and spec in REGULARIZERS:
        return BY_TAU[spec](tau) if spec in BY_TAU else REGULARIZERS[spec]()
    if not isinstance(spec, Regularizer):
        raise ValueError(
            f"regularizer={spec!r} is not known. Give one of {', '.join(map(repr, REGULARIZERS))}, "
            "or an object of a subclass of kernel_learn.criteria.regularizers.Regularizer."
        )
    return spec
