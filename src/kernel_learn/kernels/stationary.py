"""Kernels of a distance: k(x, y) = profile(gamma * distance(x, y)), with k(x, x) = 1.

``gamma`` is a number or a rule that is resolved on the training rows:

- ``"median"``: 1 / median of the kernel's own distance over all pairs;
- ``"scale"``: 1 / (n_features * variance of X);
- ``"auto"``: 1 / n_features.
"""

from numbers import Real
from typing import ClassVar, Self

import numpy as np

from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import Array, ProfileKernel, Rows
from kernel_learn.kernels.rules import check_gamma, resolve_gamma


class Stationary(ProfileKernel):
    """Base of the kernels with one width parameter ``gamma``."""

    gamma: float | str

    def __init__(self, gamma: float | str = "median") -> None:
        self.gamma = gamma

    @property
    def is_resolved(self) -> bool:
        check_gamma(self, self.gamma)
        return isinstance(self.gamma, Real)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        gamma = resolve_gamma(str(self.gamma), X, sample_weight, self.statistic)
        return type(self)(**{**self.get_params(deep=False), "gamma": gamma})

    def diag(self, X: Rows) -> Array:
        return np.ones(pairwise.n_rows(X), dtype=pairwise.as_vectors(X).dtype)

    @property
    def scale(self) -> float:
        return -float(self.gamma)

    def profile(self, S: Array) -> None:
        np.exp(S, out=S)


class Gaussian(Stationary):
    """k(x, y) = exp(-gamma |x - y|^2)."""

    statistic: ClassVar[pairwise.StatisticName] = "sqeuclidean"


class Laplacian(Stationary):
    """k(x, y) = exp(-gamma sum_c |x_c - y_c|)."""

    statistic: ClassVar[pairwise.StatisticName] = "manhattan"


class Exponential(Stationary):
    """k(x, y) = exp(-gamma |x - y|)."""

    statistic: ClassVar[pairwise.StatisticName] = "euclidean"


class Matern(Stationary):
    """k(x, y) = p_nu(t) exp(-t) with t = sqrt(2 nu) gamma |x - y|.

    p_0.5 = 1, p_1.5 = 1 + t, p_2.5 = 1 + t + t^2/3.
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


class ChiSquared(Stationary):
    """k(x, y) = exp(-gamma sum_c (x_c - y_c)^2 / (x_c + y_c)), for non-negative rows."""

    statistic: ClassVar[pairwise.StatisticName] = "chi2"

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        X = pairwise.as_vectors(X)
        if X.shape[0] and X.min() < 0:
            raise ValueError(
                "ChiSquared compares histograms, and X has negative values. "
                "Use Laplacian or Gaussian for such columns, or shift them to be non-negative."
            )
        return super().resolve(X, sample_weight)
