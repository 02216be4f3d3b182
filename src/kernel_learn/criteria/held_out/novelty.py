"""How unlike the rows that were seen a row is: the variance of a Gaussian process on it.

    v(x) = k(x, x) - [k(x)', 1] Q [k(x); 1],    Q = [[K + lam W^{-1}, 1], [1', 0]]^{-1},

W the weights of the rows. With C = K + lam W^{-1} and u = C^{-1} 1,

    v(x) = k(x, x) - k(x)'C^{-1} k(x) + (1 - u'k(x))^2 / (1'u),

near zero beside rows that were seen, k(x, x) + 1 / (1'u) far away. With a set S of rows left out
(a row, a group) the variances at its own rows are diag((P_SS)^{-1}) - lam / w, P the block of
Q that belongs to the rows.

Numbers are compared in standard deviations of their column, and beyond three of them by the
logarithm (``log_tails``): in a column with heavy tails, or whose deviation is known from few rows,
a value ten times as far out as any before is nothing rare.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array

TAIL = 3.0  # standard deviations
ROUNDED = 1e-3  # a share that is above another by so much is above it in single precision, too
TIE = 1e-9  # variances that differ by less, relatively, are equal: far away all of them are


def log_tails(Z: Array) -> Array:
    """sign(z) (min(|z|, 3) + 3 log(max(|z|, 3) / 3)) of every entry, in place."""
    out = np.abs(Z) > TAIL
    far = Z[out]
    Z[out] = np.copysign(TAIL * (1.0 + np.log(np.abs(far) / TAIL)), far)
    return Z


@dataclass(frozen=True)
class Variance:
    """v(x) from some rows."""

    K: Array  # (m, m) kernel matrix of the rows
    weight: Array  # (m,)
    lam: float
    groups: Sequence[Array] = ()  # rows that are left out together, two or more each

    @cached_property
    def solved(self) -> tuple[Array, Array]:
        """C^{-1} and u."""
        C = self.K + np.diag(self.lam / self.weight)
        inverse = linalg.cho_solve(linalg.cho_factor(C, lower=True), np.eye(len(C)))
        return inverse, inverse.sum(axis=1)

    def __call__(
        self,
        K: Array,  # (n, m) values between new rows and these
        diagonal: Array,  # (n,) k(x, x) of the new rows
    ) -> Array:
        inverse, u = self.solved
        explained = np.einsum("ij,ij->i", K @ inverse, K)
        v = diagonal - explained + (1.0 - K @ u) ** 2 / u.sum()
        return np.asarray(np.maximum(v, 0.0))

    def far(self, diagonal: Array) -> Array:
        """What v(x) comes to where all values with these rows are zero, (n,)."""
        return np.asarray(diagonal + 1.0 / self.solved[1].sum())

    @cached_property
    def left_out(self) -> Array:
        """Of these rows, each left out with its group, (m,)."""
        inverse, u = self.solved
        P = inverse - np.outer(u, u) / u.sum()
        v = 1.0 / np.diagonal(P)
        for rows in self.groups:
            v[rows] = np.diagonal(np.linalg.inv(P[np.ix_(rows, rows)]))
        return np.asarray(np.maximum(v - self.lam / self.weight, 0.0))


@dataclass(frozen=True)
class GaussianScreen:
    """At least so much of a row's variance is taken away, by some of the rows, in single precision.

    Given fewer rows, or noisier ones, v(x) is larger. For k(x, z) = exp(-gamma |x - z|^2), with
    C^{-1} = W W',

        v(x) = 1 - |W'k(x)|^2 + (1 - u'k(x))^2 / (1'u),

    and one product gives the exponents of k(x): (x', |x|^2, 1) times (2 gamma z; -gamma;
    -gamma |z|^2). Noise keeps W small, and so what rounding does to v(x) below ``ROUNDED``.
    """

    exponents: Array  # (d + 2, m)
    halves: Array  # (m, m + 1) W, and u
    total: float  # 1'u
    far: float  # v far away, given all rows

    @classmethod
    def of(cls, Z: Array, variance: Variance, gamma: float, far: float) -> Self:
        """From rows Z (m, d), none of a noise below .01."""
        inverse, u = variance.solved
        halves = np.c_[np.linalg.cholesky(inverse), u]
        ones = np.ones(len(Z))
        exponents = gamma * np.vstack([2.0 * Z.T, -ones, -np.einsum("ij,ij->i", Z, Z)])
        return cls(exponents.astype(np.float32), halves.astype(np.float32), float(u.sum()), far)

    def __call__(self, Z: Array) -> Array:
        """For rows Z (n, d), the share of their variance that is taken away at the least, (n,)."""
        X = np.empty((len(Z), Z.shape[1] + 2), dtype=np.float32)
        X[:, :-2] = Z
        X[:, -2] = np.einsum("ij,ij->i", X[:, :-2], X[:, :-2])
        X[:, -1] = 1.0
        K = X @ self.exponents
        F = np.exp(K, out=K) @ self.halves
        explained = np.einsum("ij,ij->i", F[:, :-1], F[:, :-1])
        v = 1.0 - explained + (1.0 - F[:, -1]) ** 2 / self.total
        return np.asarray(1.0 - v / self.far)


def novelty_p_values(
    v: Array,  # (n,) of new rows
    left_out: Array,  # (m,) of rows that were seen, each left out
    mass: Array,  # (m,) what each counts: rows of one group share one
) -> Array:
    """(1 + how many are at least as unusual) / (1 + how many there are), (n,)."""
    order = np.argsort(left_out)
    below = np.concatenate([[0.0], np.cumsum(mass[order])])
    place = np.searchsorted(left_out[order], v * (1.0 - TIE), side="left")
    total = below[-1]
    return np.asarray((1.0 + total - below[place]) / (1.0 + total))
