"""Kernels of a distance: k(x, y) = profile(gamma * distance(x, y)), with k(x, x) = 1.

``gamma`` is a number or a rule that is resolved on the training rows:

- ``"median"``: 1 / median of the kernel's own distance over all n^2 pairs, each row with itself
  included, so that a row of weight 2 is two rows;
- ``"0.5 * median"``: a multiple of that;
- ``"scale"``: 1 / (n_features * variance of X);
- ``"auto"``: 1 / n_features;
- ``"loo"``: the multiple of the median's with the least leave-one-out error on the
  labels, in the estimators that choose it (``KernelDiscriminant``, ``HSICSubspace``,
  ``SubspaceSVC``).
"""

from abc import abstractmethod
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from scipy.special import xlogy

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import ProfileKernel
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.rules import (
    MEDIAN_ROWS,
    WIDTH_RULES,
    check_gamma,
    median_bytes,
    multiple_of,
    resolve_gamma,
)
from kernel_learn.rows.access import n_rows
from kernel_learn.rows.coerce import as_vectors

# gamma="loo" is chosen on so many rows, and holds so many bytes for each pair of them: seven
# kernel matrices, and a decomposition.
CHOICE_ROWS, CHOICE_BYTES = 1200, 88


class Stationary(ProfileKernel):
    """Base of the kernels with one width parameter ``gamma``."""

    gamma: float | str
    pool_rows = MEDIAN_ROWS
    is_stationary = True

    def __init__(self, gamma: float | str = "median") -> None:
        self.gamma = gamma

    @property
    def is_resolved(self) -> bool:
        check_gamma(self, self.gamma, WIDTH_RULES)
        return isinstance(self.gamma, Real)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        return self.resolve_on(Pool.of(as_vectors(X), sample_weight))

    def resolve_on(self, pool: Pool) -> Self:
        if self.is_resolved:
            return self
        gamma = resolve_gamma(str(self.gamma), pool, self.statistic)
        return self.with_gamma(gamma)

    def with_gamma(self, gamma: float | str) -> Self:
        """The same kernel of another width."""
        return type(self)(**{**self.get_params(deep=False), "gamma": gamma})

    def distance_columns(self, X: Rows) -> list[Array]:
        return [np.arange(X.shape[1])] if self.is_stationary else []

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        if self.gamma == "loo":
            return CHOICE_BYTES * min(n, CHOICE_ROWS) ** 2
        return median_bytes(n, is_weighted) if multiple_of(self.gamma) is not None else 0

    def diag(self, X: Rows) -> Array:
        return np.ones(n_rows(X), dtype=as_vectors(X).dtype)

    @property
    def scale(self) -> float:
        return -float(self.gamma)

    def profile(self, S: Array) -> None:
        np.exp(S, out=S)

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        return {"gamma": float(self.gamma)}

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """k = exp(-gamma s): d k / d log gamma = -gamma s k = k log k."""
        return {"gamma": np.asarray(xlogy(K := self(X), K))}


class Radial(Stationary):
    """A kernel of |x - z|: d k(x, z) / d z = radial_weight(x, z) (x - z)."""

    @abstractmethod
    def radial_weight(self, X: Rows, X_ref: Rows) -> Array:
        """(n_rows, n_ref)."""

    def reference_gradient(self, X: Rows, X_ref: Array, A: Array) -> Array:
        weighted = A * self.radial_weight(X, X_ref)
        return np.asarray(weighted.T @ X - weighted.sum(axis=0)[:, None] * X_ref)


class Gaussian(Radial):
    """k(x, y) = exp(-gamma |x - y|^2).

    Parameters
    ----------
    gamma : float or str, default="median"
        A number, or a rule resolved on the training rows: "median", "0.5 * median", "scale",
        "auto", or "loo" in the estimators that can choose it.
    """

    statistic: ClassVar[pairwise.StatisticName] = "sqeuclidean"

    def radial_weight(self, X: Rows, X_ref: Rows) -> Array:
        return np.asarray(2 * float(self.gamma) * self(X, X_ref))


class Laplacian(Stationary):
    """k(x, y) = exp(-gamma sum_c |x_c - y_c|).

    Parameters
    ----------
    gamma : float or str, default="median"
        A number, or a rule resolved on the training rows: "median", "0.5 * median", "scale",
        "auto", or "loo" in the estimators that can choose it.
    """

    statistic: ClassVar[pairwise.StatisticName] = "manhattan"


class Exponential(Radial):
    """k(x, y) = exp(-gamma |x - y|).

    Parameters
    ----------
    gamma : float or str, default="median"
        A number, or a rule resolved on the training rows: "median", "0.5 * median", "scale",
        "auto", or "loo" in the estimators that can choose it.
    """

    statistic: ClassVar[pairwise.StatisticName] = "euclidean"

    def radial_weight(self, X: Rows, X_ref: Rows) -> Array:
        K = self(X, X_ref)
        gamma = float(self.gamma)
        distance = -np.log(np.maximum(K, 1e-300)) / gamma
        # not differentiable where rows coincide: zero is in the subdifferential
        return np.where(distance > 1e-12, gamma * K / np.maximum(distance, 1e-12), 0.0)


class Matern(Radial):
    """k(x, y) = p_nu(t) exp(-t) with t = sqrt(2 nu) gamma |x - y|.

    p_0.5 = 1, p_1.5 = 1 + t, p_2.5 = 1 + t + t^2/3.

    Parameters
    ----------
    gamma : float or str, default="median"
        A number, or a rule resolved on the training rows: "median", "0.5 * median", "scale",
        "auto", or "loo" in the estimators that can choose it.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness.
    """

    statistic: ClassVar[pairwise.StatisticName] = "euclidean"

    def __init__(self, gamma: float | str = "median", nu: float = 1.5) -> None:
        super().__init__(gamma)
        self.nu = nu

    @property
    def is_resolved(self) -> bool:
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"Matern(nu={self.nu!r}): nu must be 0.5, 1.5 or 2.5.")
        return super().is_resolved

    @property
    def scale(self) -> float:
        return float(np.sqrt(2 * self.nu) * float(self.gamma))

    def profile(self, S: Array) -> None:
        decay = np.exp(-S)
        if self.nu == 0.5:
            S[...] = decay
            return
        if self.nu == 2.5:
            S += S * S / 3
        S += 1.0
        S *= decay

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """t dk/dt: nu = 0.5: -t e^-t; 1.5: -t^2 e^-t; 2.5: -(t^2 + t^3) e^-t / 3."""
        T = self._scaled_distances(X, None)
        factor = {0.5: T, 1.5: T**2, 2.5: (T**2 + T**3) / 3}[self.nu]
        return {"gamma": -factor * np.exp(-T)}

    def _scaled_distances(self, X: Rows, X_ref: Rows | None) -> Array:
        """t for all pairs, (n_rows, n_ref)."""
        statistic = pairwise.Euclidean(X, X_ref)
        T = np.empty(statistic.shape)
        statistic.block(slice(0, T.shape[0]), slice(0, T.shape[1]), T)
        T *= np.sqrt(2 * self.nu) * float(self.gamma)
        return T

    def radial_weight(self, X: Rows, X_ref: Rows) -> Array:
        """nu = 0.5: gamma^2 e^-t / t; 1.5: 3 gamma^2 e^-t; 2.5: (5/3) gamma^2 (1 + t) e^-t."""
        T = self._scaled_distances(X, X_ref)
        if self.nu == 0.5:
            factor = np.divide(1.0, T, out=np.zeros_like(T), where=T > 0)
        else:
            factor = np.full_like(T, 3.0) if self.nu == 1.5 else 5 / 3 * (1 + T)
        return np.asarray(float(self.gamma) ** 2 * factor * np.exp(-T))


class ChiSquared(Stationary):
    """k(x, y) = exp(-gamma sum_c (x_c - y_c)^2 / (x_c + y_c)), for non-negative rows.

    Parameters
    ----------
    gamma : float or str, default="median"
        A number, or a rule resolved on the training rows: "median", "0.5 * median", "scale",
        "auto", or "loo" in the estimators that can choose it.
    """

    statistic: ClassVar[pairwise.StatisticName] = "chi2"
    is_stationary = False

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        self.check_histograms(as_vectors(X))
        return super().resolve(X, sample_weight)

    def resolve_on(self, pool: Pool) -> Self:
        self.check_histograms(as_vectors(pool.X))
        return super().resolve_on(pool)

    @staticmethod
    def check_histograms(X: Rows) -> None:
        """Refuse negative entries."""
        if X.shape[0] and X.min() < 0:
            raise ValueError(
                "ChiSquared compares histograms, and X has negative values. "
                "Use Laplacian or Gaussian for such columns, or shift them to be non-negative."
            )
