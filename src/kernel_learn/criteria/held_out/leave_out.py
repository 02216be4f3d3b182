"""What a ridge regression would say without some of its rows, from one factorisation.

    min over f, b of  sum_i w_i |y_i - b - f(x_i)|^2 + lam |f|^2,

[[K + lam W^{-1}, 1], [1', 0]] [a; b] = [y; 0], P the block (n, n) of the inverse: a = P y, for any
number of target columns, which P does not see. At a new row f(x) + b = g(x)'y with
g(x) = ([k(x), 1] inverse)_{1..n}. Exactly, at fixed lam:

- a set S left out has the residuals (P_SS)^{-1} a_S, and elsewhere f_{-S}(x) = f(x) -
  g_S(x)'(P_SS)^{-1} a_S;
- a group g left out together with a row j outside of it: with r_g = (P_gg)^{-1} a_g and
  u = (P_gg)^{-1} P_gj,

      r_g^(j) = r_g + u (P_jg r_g - a_j) / (P_jj - P_jg u).

A row's value is what all others lose without it: sum over i of w_i (loss(r_i^(j)) - loss(r_i)).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import RANK_TOL, Dual
from kernel_learn.criteria.held_out.targets import units_of
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.linalg import LEAST_SLACK, center_and_weigh
from kernel_learn.representations.sources import ArraySource
from kernel_learn.rows.groups import shared_places

BLOCK_NUMBERS = 2**23  # residuals that are held at a time


class LeaveOut:
    """P and a of a ridge regression. K is overwritten."""

    def __init__(
        self,
        K: Array,  # (n, n)
        Y: Array,  # (n, q)
        weight: Array,  # (n,), positive
        lam: float,
        groups: Sequence[Array] = (),  # rows that are left out together
        columns: Array | None = None,  # of P, where only some are asked for; no groups then
    ) -> None:
        self.Y, self.weight, self.lam, self.groups = Y, weight, lam, groups
        self.share = weight / weight.sum()
        self.m = K @ self.share
        root = np.sqrt(weight)
        center_and_weigh(K, self.m, weight, root)
        # G root = 0: that eigenvalue is lifted by u, or its 1 / lam would swamp the others. With
        # Q = (G + u root root' / N + lam)^{-1},
        # P = S^{1/2} (Q - root root' / (N (lam + u))) S^{1/2}
        u = float(np.trace(K)) / len(K)
        K += np.outer(root, u * root / weight.sum())
        some = slice(None) if columns is None else columns
        self.P = root[:, None] * inverse_at(K, lam, columns) * root[some]
        self.P -= np.outer(weight, self.share[some]) / (lam + u)

    @cached_property
    def a(self) -> Array:
        """P y, (n, q)."""
        return np.asarray(self.P @ self.Y)

    @cached_property
    def diagonal(self) -> Array:
        """Of P, (n,)."""
        return np.asarray(np.diagonal(self.P))

    def some_rows(self, rows: Array) -> Array:
        """Of P, (len(rows), n)."""
        return np.asarray(self.P[rows])

    @property
    def slack(self) -> float:
        """The least 1 - H_ii, or eigenvalue of I - H_gg: near 0 residuals are rounding."""
        scaled = self.lam / self.weight
        least = float((self.diagonal * scaled).min())
        for rows in self.groups:
            root = np.sqrt(scaled[rows])
            block = root[:, None] * self.P[np.ix_(rows, rows)] * root
            least = min(least, float(np.linalg.eigvalsh(block)[0]))
        return least

    @property
    def is_safe(self) -> bool:
        """Whether no row, and no group, decides about itself alone."""
        return self.slack > LEAST_SLACK

    @cached_property
    def units(self) -> list[Array]:
        """Rows that are left out together: groups, and every other row alone."""
        return units_of(len(self.weight), self.groups)

    @cached_property
    def residuals(self) -> Array:
        """y_i - f(x_i) of every row, left out with its group, (n, q)."""
        return self.Y - self.held_out(self.Y)

    def held_out(self, Y: Array) -> Array:
        """What rows are told by the others, were these the targets of all, (n, q)."""
        a = self.a if Y is self.Y else self.P @ Y
        r = a / self.diagonal[:, None]
        for rows in self.groups:
            r[rows] = np.linalg.solve(self.P[np.ix_(rows, rows)], a[rows])
        return np.asarray(Y - r)

    def residuals_without_each(self, rows: Array) -> Array:
        """r_i^(j) of a unit's rows i, with every row j left out too, (len(rows), n, q).

        Where j is one of them nothing changes: it was out already.
        """
        P_gg, P_gj, r = self.P[np.ix_(rows, rows)], self.P[rows], self.residuals[rows]
        u = P_gj / P_gg if len(rows) == 1 else np.linalg.solve(P_gg, P_gj)
        rest = np.diagonal(self.P) - np.einsum("gj,gj->j", P_gj, u)
        rest[rows] = 1.0
        factor = (P_gj.T @ r - self.a) / rest[:, None]
        factor[rows] = 0.0
        return np.asarray(r[:, None] + u[:, :, None] * factor)

    def blocks_without_each(
        self, units: Sequence[Array] | None = None
    ) -> Iterator[tuple[Array, Array]]:
        """(rows, their residuals without each row) of some units; rows alone many at a time."""
        units = self.units if units is None else units
        for rows in units:
            if len(rows) > 1:
                yield rows, self.residuals_without_each(rows)
        n, q = self.Y.shape
        alone = np.array([unit[0] for unit in units if len(unit) == 1], dtype=int)
        size = max(1, BLOCK_NUMBERS // (n * q))
        for start in range(0, len(alone), size):
            rows = alone[start : start + size]
            yield rows, self._alone_without_each(rows)

    def _alone_without_each(self, rows: Array) -> Array:
        P, r, diagonal = self.some_rows(rows), self.residuals[rows], self.diagonal
        rest = diagonal[rows, None] * diagonal - P * P
        itself = (np.arange(len(rows)), rows)
        rest[itself] = 1.0
        ratio = P / rest
        ratio[itself] = 0.0
        return np.asarray(r[:, None] + ratio[:, :, None] * (P[:, :, None] * r[:, None] - self.a))

    def values(self, loss: Callable[[Array], Array]) -> Array:
        """The value of every row (n,) by a loss of residuals: (..., q) to (...)."""
        total = np.zeros(len(self.weight))
        for rows, without in self.blocks_without_each():
            worse = loss(without) - loss(self.residuals[rows])[:, None]
            total += self.weight[rows] @ worse
        return total

    def pull(self, K_cross: Array) -> Array:
        """g(x) of new rows from k(x, training rows), (n_new, n)."""
        K_centred = K_cross - self.m - (K_cross @ self.share - self.m @ self.share)[:, None]
        return np.asarray(self.share + K_centred @ self.P)

    @cached_property
    def alone(self) -> Array:
        """Residuals of every row left out by itself, (n, q): f(x) - f_{-j}(x) = g_j(x) alone_j."""
        return np.asarray(self.a / self.diagonal[:, None])


class FeatureLeaveOut(LeaveOut):
    """The same of a regression on features, k(x, y) = z(x)'z(y): P is never held as a whole.

    With z_c = z - mean, C = sum w z_c z_c', R = (C + lam)^{-1} and N = sum w:
    g_i(x) = w_i (z_c(x)'R z_ci + 1/N) and lam P_ij = w_i [i = j] - w_i g_j(x_i).
    """

    def __init__(
        self,
        Z: Array,  # (n, M)
        Y: Array,  # (n, q)
        weight: Array,  # (n,), positive
        lam: float,
    ) -> None:
        self.Y, self.weight, self.lam, self.groups = Y, weight, lam, ()
        self.share = weight / weight.sum()
        self.mean = self.share @ Z
        self.Z = Z - self.mean
        C = (weight[:, None] * self.Z).T @ self.Z
        C[np.diag_indices(len(C))] += lam
        factor = linalg.cho_factor(C, overwrite_a=True, check_finite=False)
        self.R_Z = linalg.cho_solve(factor, self.Z.T, check_finite=False)  # (M, n)

    @cached_property
    def a(self) -> Array:
        target_mean = self.share @ self.Y
        fit = self.Z @ (self.R_Z @ (self.weight[:, None] * (self.Y - target_mean)))
        return np.asarray(self.weight[:, None] * (self.Y - target_mean - fit) / self.lam)

    @cached_property
    def diagonal(self) -> Array:
        h = self.weight * np.einsum("ij,ji->i", self.Z, self.R_Z) + self.share
        return np.asarray(self.weight * (1 - h) / self.lam)

    def some_rows(self, rows: Array) -> Array:
        P = -self.weight[rows, None] * self.pull_of(self.Z[rows]) / self.lam
        P[np.arange(len(rows)), rows] = self.diagonal[rows]
        return np.asarray(P)

    def held_out(self, Y: Array) -> Array:
        assert Y is self.Y, "other targets need P as a whole"
        return np.asarray(Y - self.a / self.diagonal[:, None])

    def pull(self, Z_new: Array) -> Array:
        """g(x) of the features of new rows, (n_new, n)."""
        return self.pull_of(Z_new - self.mean)

    def pull_of(self, Z_centred: Array) -> Array:
        return np.asarray(Z_centred @ self.R_Z * self.weight + self.share)


class NotExactError(ValueError, AttributeError):
    """What a model cannot say exactly it does not say; to ``hasattr`` it is not there."""


@dataclass(frozen=True)
class RidgeRows:
    """What a model keeps of its rows, so that each can be left out later."""

    Y: Array  # (n, q) mean targets of the distinct rows
    weight: Array  # (n,)
    distinct: Array  # (n_given,) the distinct row of each row given
    labels: Array  # (n_given,)
    counted: Array  # (n_given,) what each counts
    sample_weight: Array  # (n_given,) as given, before classes were weighed
    T: Array  # (q, n_components) from scores to features: F = (scores - mean) T
    mean: Array  # (q,)
    groups: Array | None = None  # (n_given,) numbers of groups, if there were any

    @property
    def units(self) -> tuple[Array, ...]:
        """Distinct rows that are left out together, two or more each."""
        if self.groups is None:
            return ()
        of = np.empty(len(self.weight), dtype=int)
        of[self.distinct] = self.groups
        return shared_places(of)


def ridge_rows(sample: Gram, source: ArraySource, sample_weight: Array, T: Array) -> RidgeRows:
    """Of an exact sample whose rows all have weight."""
    Y = sample.targets / sample.root_weight[:, None] + sample.target_mean
    return RidgeRows(
        Y,
        np.array(sample.weight),
        source.merged_place[source.inverse],
        np.array(source.labels),
        np.array(source.weight),
        np.array(sample_weight),
        T,
        np.array(sample.target_mean),
        source.groups,
    )


def inverse_at(G: Array, lam: float, columns: Array | None = None) -> Array:
    """(G + lam)^{-1}, or some of its columns; G is overwritten.

    Directions of G that are rounding count as zero.
    """
    C = G.copy()
    C[np.diag_indices(len(C))] += lam
    C, info = lapack.dpotrf(C, lower=1, overwrite_a=1)
    if not info and columns is not None and 3 * len(columns) < len(G):
        units = np.zeros((len(G), len(columns)))
        units[columns, np.arange(len(columns))] = 1.0
        return np.asarray(linalg.cho_solve((C, True), units, check_finite=False))
    some = slice(None) if columns is None else columns
    if not info:
        Q = np.tril(lapack.dpotri(C, lower=1, overwrite_c=1)[0])
        return np.asarray(Q + np.tril(Q, -1).T)[:, some]
    w, U = linalg.eigh(G, overwrite_a=True, check_finite=False)
    w = np.where(w > RANK_TOL * max(float(w[-1]), 0.0), w, 0.0)
    return np.asarray((U / (w + lam)) @ U[some].T)


def lam_of(
    residual: Array,  # (n,), or (n, q): y - f
    model: Dual,  # of one target, or of q
    weight: Array,  # (n,)
) -> float:
    """The lam of a fitted ridge regression, whose residuals are lam a_i / w_i; 0 if it is flat.

    Coefficients may lack a part that k does not see, at right angles to the rest by these weights.
    """
    a = model.coef.reshape(residual.shape)
    size = float(np.sum((a * a).T / weight))
    return float(np.sum(a * residual)) / size if size > 0 else 0.0


def models_without(
    K: Array,  # (n, n), overwritten
    y: Array,  # (n,)
    model: Dual,  # of this target, fitted to these rows
    weight: Array,  # (n,)
    units: Sequence[Array],  # rows that are left out together
) -> Dual:
    """The model without each unit, a column each: f_{-S}(x) = f(x) - g_S(x)'(P_SS)^{-1} a_S.

    Linear in k(x), so that all of them cost one product for new rows. A model that says the same
    of all rows stays as it is.
    """
    residual = y - model.scores(K)[:, 0]
    lam = lam_of(residual, model, weight)
    if not lam > 0:
        return Dual(np.repeat(model.coef, len(units), axis=1), model.intercept.repeat(len(units)))
    rows, starts = np.concatenate(units), np.cumsum([0, *map(len, units[:-1])])
    calculus = LeaveOut(K, y[:, None], weight, lam, columns=rows)
    P, share, m, a = calculus.P, calculus.share, calculus.m, weight * residual / lam
    r = a[rows] / P[rows, np.arange(len(rows))]
    for start, unit in zip(starts, units, strict=True):
        if len(unit) > 1:
            own = slice(start, start + len(unit))
            r[own] = np.linalg.solve(P[unit, own], a[unit])
    gone = np.add.reduceat(share[rows] * r, starts)
    M = P * r if len(units) == len(rows) else np.add.reduceat(P * r, starts, axis=1)
    M -= np.outer(share, M.sum(axis=0))  # zero but for rounding, as in Centred.dual
    return Dual(model.coef - M, model.intercept - gone + m @ M)


def squared(residuals: Array) -> Array:
    """|r|^2 over the targets."""
    return np.asarray(np.einsum("...q,...q->...", residuals, residuals))


def absolute(residuals: Array) -> Array:
    """|r| summed over the targets."""
    return np.asarray(np.abs(residuals).sum(axis=-1))
