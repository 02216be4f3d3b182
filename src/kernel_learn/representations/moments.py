"""Mergeable centred moments of features and targets."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kernel_learn.arrays import Array


@dataclass(frozen=True)
class Moments:
    """n, mean and centred scatter of the joint rows v = [z, t].

    Two samples merge exactly, in any order, on any machine: with
    d = mean_b - mean_a,

        scatter = scatter_a + scatter_b + (n_a n_b / n) d d'.

    Deviations from a mean are summed, never raw squares: at an offset of 1e6
    that keeps 4e-12 where raw sums keep 6e-4.
    """

    n: float  # sum of weights
    mean: Array  # (M + q,)
    scatter: Array  # (M + q, M + q)
    n_features: int  # M

    @classmethod
    def of(cls, Z: Array, T: Array, weight: Array | None = None) -> Self:
        """Moments of one block of rows; products in the dtype of Z, results in float64."""
        V = np.hstack([Z, T.astype(Z.dtype, copy=False)])
        return cls.of_joint(V, Z.shape[1], weight)

    @classmethod
    def of_joint(cls, V: Array, n_features: int, weight: Array | None = None) -> Self:
        """Moments of the joint rows V = [Z, T], which is overwritten."""
        if weight is None or np.all(weight == 1.0):
            n = float(len(V))
            mean = V.mean(axis=0, dtype=np.float64)
            V -= mean.astype(V.dtype)
        else:
            n = float(weight.sum())
            mean = (weight / n) @ V.astype(np.float64, copy=False) if n > 0 else 0.0 * V[0]
            V -= mean.astype(V.dtype)
            V *= np.sqrt(weight).astype(V.dtype)[:, None]
        return cls(n, mean, (V.T @ V).astype(np.float64, copy=False), n_features)

    def merge(self, other: Self) -> Self:
        """The moments of the rows of both."""
        n = self.n + other.n
        if n == 0:
            return self
        d = other.mean - self.mean
        scatter = np.outer(d, d)  # exactly symmetric, as those it is added to
        scatter *= self.n * other.n / n
        scatter += self.scatter
        scatter += other.scatter
        return type(self)(n, self.mean + (other.n / n) * d, scatter, self.n_features)

    def faded(self, factor: float) -> Self:
        """Of the same rows, each counting so much less."""
        return type(self)(factor * self.n, self.mean, factor * self.scatter, self.n_features)

    def with_targets(self, place: Array, n_targets: int) -> Self:
        """The same with more targets, zero on all rows; target j is now target ``place[j]``."""
        M = self.n_features
        kept = np.concatenate([np.arange(M), M + np.asarray(place, int)])
        mean, scatter = np.zeros(M + n_targets), np.zeros((M + n_targets, M + n_targets))
        mean[kept], scatter[np.ix_(kept, kept)] = self.mean, self.scatter
        return type(self)(self.n, mean, scatter, M)

    def with_targets_at(self, shift: Array, scale: Array) -> Self:  # (q,) each
        """The same with the targets (T - shift) * scale."""
        M = self.n_features
        factor = np.concatenate([np.ones(M), scale])
        mean = np.concatenate([self.feature_mean, (self.target_mean - shift) * scale])
        return type(self)(self.n, mean, factor[:, None] * self.scatter * factor, M)

    def mapped(self, A: Array) -> Self:  # (m, M)
        """The same of the features A z."""
        M = self.n_features
        mean = np.concatenate([A @ self.feature_mean, self.target_mean])
        S = A @ self.S
        scatter = np.block([[A @ self.C @ A.T, S], [S.T, self.scatter[M:, M:]]])
        return type(self)(self.n, mean, scatter, len(A))

    @property
    def feature_mean(self) -> Array:
        """(M,)"""
        return self.mean[: self.n_features]

    @property
    def target_mean(self) -> Array:
        """(q,)"""
        return self.mean[self.n_features :]

    @property
    def C(self) -> Array:
        """Z'PZ, (M, M)."""
        return self.scatter[: self.n_features, : self.n_features]

    @property
    def S(self) -> Array:
        """Z'PT, (M, q)."""
        return self.scatter[: self.n_features, self.n_features :]

    @property
    def R(self) -> Array:
        """T'PT, (q, q)."""
        return self.scatter[self.n_features :, self.n_features :]
