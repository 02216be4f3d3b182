"""Kernels of the dot product x'y; sparse rows stay sparse."""

from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import ProfileKernel, check_resolved
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.rules import MEDIAN_ROWS, check_gamma, median_bytes, resolve_gamma
from kernel_learn.rows.coerce import as_vectors


class Linear(ProfileKernel):
    """k(x, y) = x'y."""

    statistic: ClassVar[pairwise.StatisticName] = "dot"

    def profile(self, S: Array) -> None:
        pass

    def diag(self, X: Rows) -> Array:
        X = as_vectors(X)
        return pairwise.squared_norms(X).astype(X.dtype)

    def reference_gradient(self, X: Rows, X_ref: Array, A: Array) -> Array:
        return np.asarray(A.T @ X)

    def explicit_dimension(self, X: Rows) -> int | None:
        return int(X.shape[1])

    def explicit_landmarks(self, X: Rows) -> Rows:
        """The unit vectors: k(x, e_c) = x_c."""
        return np.eye(X.shape[1], dtype=X.dtype)


class Polynomial(ProfileKernel):
    """k(x, y) = (gamma x'y + coef0)^degree.

    The rule ``gamma="median"`` takes the median of the squared Euclidean
    distance, since a dot product is no distance.

    Parameters
    ----------
    degree : int, default=3
        The power.
    gamma : float or str, default="median"
        Factor on the dot product.
    coef0 : float, default=1.0
        What is added to it.
    """

    statistic: ClassVar[pairwise.StatisticName] = "dot"

    def __init__(self, degree: int = 3, gamma: float | str = "median", coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_resolved(self) -> bool:
        check_gamma(self, self.gamma)
        if not isinstance(self.degree, Integral) or self.degree < 1:
            raise ValueError(f"Polynomial(degree={self.degree!r}): degree must be an integer >= 1.")
        if not self.coef0 >= 0:
            raise ValueError(
                f"Polynomial(coef0={self.coef0!r}): coef0 must not be negative, "
                "or the kernel is not positive semidefinite."
            )
        return isinstance(self.gamma, Real)

    pool_rows = MEDIAN_ROWS

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        return median_bytes(n, is_weighted) if self.gamma == "median" else 0

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        return self.resolve_on(Pool.of(as_vectors(X), sample_weight))

    def resolve_on(self, pool: Pool) -> Self:
        if self.is_resolved:
            return self
        gamma = resolve_gamma(str(self.gamma), pool, "sqeuclidean")
        return type(self)(degree=self.degree, gamma=gamma, coef0=self.coef0)

    @property
    def scale(self) -> float:
        return float(self.gamma)

    def profile(self, S: Array) -> None:
        S += self.coef0
        base = S.copy() if self.degree > 1 else S
        for _ in range(self.degree - 1):  # np.power is an order of magnitude slower
            S *= base

    def diag(self, X: Rows) -> Array:
        check_resolved(self)
        X = as_vectors(X)
        S = (self.scale * pairwise.squared_norms(X)).astype(X.dtype)
        self.profile(S)
        return S

    def reference_gradient(self, X: Rows, X_ref: Array, A: Array) -> Array:
        gamma, degree = float(self.gamma), self.degree
        slope = gamma * degree * (gamma * (X @ X_ref.T) + self.coef0) ** (degree - 1)
        return np.asarray((A * slope).T @ X)

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        offset = {"coef0": float(self.coef0)} if self.coef0 > 0 else {}
        return {"gamma": float(self.gamma), **offset}

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """k = b^p with b = gamma x'y + coef0: p b^(p-1) gamma x'y, and p b^(p-1) coef0."""
        own = type(self)(1, self.gamma, 0.0)(X)
        slope = self.degree * (own + self.coef0) ** (self.degree - 1)
        return {"gamma": slope * own, "coef0": slope * self.coef0}


class Cosine(ProfileKernel):
    """k(x, y) = x'y / (|x| |y|), zero where a row is zero."""

    statistic: ClassVar[pairwise.StatisticName] = "cosine"

    def profile(self, S: Array) -> None:
        pass

    def diag(self, X: Rows) -> Array:
        X = as_vectors(X)
        return (pairwise.squared_norms(X) > 0).astype(X.dtype)
