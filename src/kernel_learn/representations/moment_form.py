"""A sample as moments of its landmark features, for one kernel or several."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.representations.base import (
    UNIT_ROWS,
    Combined,
    Eigenpairs,
    Representation,
    Resolvent,
    SpectralBlock,
    UnitBlock,
)
from kernel_learn.representations.feature_map import FeatureMap
from kernel_learn.representations.moments import Moments
from kernel_learn.representations.summary import Summary
from kernel_learn.rows.access import dense, row_blocks, take_rows
from kernel_learn.rows.groups import by_groups, whole_groups
from kernel_learn.rows.keys import are_among, row_keys


class SummarizedRows(Protocol):
    """Rows with their summary, of an array or of a stream that was read."""

    X: Rows
    is_matrix: bool
    groups: Array | None

    @property
    def first(self) -> Array:
        """One index per distinct row."""

    @property
    def merged_place(self) -> Array:
        """Where each distinct row, by their keys, stands among the merged ones."""

    @property
    def summary(self) -> Summary:
        """Its rows being numbers of the rows X."""

    def merged(self) -> tuple[Rows, Array, Array]:
        """Distinct rows, with averaged targets and summed weights."""


class FeatureSample(Combined):
    """operator C = Z'PZ, targets S = Z'PT: moments of z = [theta_i^{1/2} z_i(x)]."""

    def __init__(self, form: "MomentForm", theta: Array) -> None:
        self.form, self.theta = form, theta
        self.kernel = form.combination(theta)
        self.residual = form.features.residual
        self.n, moments = form.n, form.moments
        m, t = moments.feature_mean, moments.target_mean
        C, S = moments.C, moments.S
        root = np.sqrt(form.spread(theta))
        if not np.all(root == 1.0):
            kept = np.flatnonzero(root)
            root = root[kept]
            C = root[:, None] * C[np.ix_(kept, kept)] * root
            S, m = root[:, None] * S[kept], root * m[kept]
        self.mean_diagonal = float(np.trace(C)) / self.n + float(m @ m)
        self.target_mean = t if form.center else np.zeros_like(t)
        self.target_square = float(np.trace(moments.R)) + self.n * float(t @ t) * (not form.center)
        if form.center:
            self.mean, self.operator, self.targets = m, C, S
        else:
            self.mean = np.zeros_like(m)
            self.operator, self.targets = C + self.n * np.outer(m, m), S + self.n * np.outer(m, t)

    def pairing(self, A: Array, O_A: Array) -> Array:
        return A

    def inner(self, A: Array, B: Array) -> Array:
        return np.asarray(A.T @ B)

    def spectral_inner(self, w: Array) -> Array:
        return np.ones_like(w)

    def spectral_rows(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[SpectralBlock]:
        axes = self.expand(spectrum.U)  # one product of k(x, landmarks) in the place of two
        for X, T, weight in self.form.merged_blocks(at_most):
            root = np.sqrt(weight)[:, None]
            yield root * axes.transform(X), root * (T - self.target_mean), weight / self.n

    @property
    def groups(self) -> Array | None:
        return None if self.form.source is None else self.form.source.groups

    def spectral_units(
        self, spectrum: Eigenpairs, at_most: int | None = None
    ) -> Iterator[UnitBlock]:
        source = self.form.source
        assert source is not None and source.groups is not None
        X, T, weight = source.merged()
        groups = source.groups[np.sort(source.first)]
        order, axes = by_groups(source.merged_place, groups), self.expand(spectrum.U)
        if at_most is not None and at_most < len(order):
            order = order[: int(whole_groups(order, groups, at_most)[0])]
        start = 0
        for end in whole_groups(order, groups, UNIT_ROWS):
            rows, start = order[start:end], end
            root = np.sqrt(weight[rows])[:, None]
            A = root * axes.transform(take_rows(X, rows))
            yield A, root * (T[rows] - self.target_mean), weight[rows] / self.n, groups[rows]

    def expand(self, B: Array) -> SubspaceKernel:
        return self.form.features.expand(B, self.mean, self.theta)

    def see(self, X: Rows) -> Array:
        """z(x) with k(x, y) = z(x)'z(y), not centred, (n, M)."""
        root = np.sqrt(self.form.spread(self.theta))
        return np.asarray(root * self.form.features(X), dtype=np.float64)


class MomentForm(Representation):
    """C = Z'PZ and S = Z'PL for Z = [Z_1 ... Z_p], from one pass over the rows."""

    def __init__(
        self,
        features: FeatureMap,
        moments: Moments,
        *,
        mixing: Array | None = None,  # (q, r): L = T mixing, None for the identity
        center: bool = True,
        scale: bool = True,
        source: SummarizedRows | None = None,  # the rows, for what needs some of them again
        block_rows: int = 1000,
        held: list[Array] | None = None,  # z of all rows in blocks of so many, if it was kept
    ) -> None:
        self.held = held
        self.kernels, self.features, self.moments = features.kernels, features, moments
        self.n, self.center, self.mixing = moments.n, center, mixing
        self.source, self.block_rows = source, block_rows
        ends = np.cumsum(features.sizes)
        self.columns = [
            slice(int(end - size), int(end)) for end, size in zip(ends, features.sizes, strict=True)
        ]
        diagonal, means = np.diagonal(moments.C), moments.feature_mean
        traces = np.array([float(diagonal[block].sum()) for block in self.columns])
        lengths = np.array([float(means[block] @ means[block]) for block in self.columns])
        self.traces = self._check_traces(traces, traces / self.n + lengths, features.landmarks)
        if not center:
            self.traces = np.where(self.alive, self.traces + self.n * lengths, 0.0)
        if not scale:
            self.traces = np.where(self.alive, self.n, 0.0)
        M = np.eye(moments.R.shape[0]) if mixing is None else mixing
        self.LT_L = M.T @ moments.R @ M

    def spread(self, values: Array) -> Array:
        """One value per kernel -> one per column of Z."""
        return np.repeat(values, self.features.sizes)

    def at(self, theta: Array) -> FeatureSample:
        return FeatureSample(self, theta)

    @property
    def C(self) -> Array:
        """Z'PZ, the features scaled to trace n each."""
        self._scale()
        return self._C

    @property
    def S(self) -> Array:
        """Z'PL, scaled alike."""
        self._scale()
        return self._S

    def _scale(self) -> None:
        if "_C" in self.__dict__:
            return
        root = np.sqrt(self.spread(self.scales))
        S = self.moments.S if self.mixing is None else self.moments.S @ self.mixing
        self._C, self._S = root[:, None] * self.moments.C * root, root[:, None] * S

    def centred(self) -> "MomentForm":
        if self.center:
            return self
        return MomentForm(
            self.features,
            self.moments,
            mixing=self.mixing,
            source=self.source,
            block_rows=self.block_rows,
        )

    def release(self) -> None:
        self.__dict__.pop("_C", None)
        self.__dict__.pop("_S", None)

    def merged_blocks(self, at_most: int | None = None) -> Iterator[tuple[Rows, Array, Array]]:
        """Distinct rows with averaged targets and summed weights; of the summary, if not all."""
        assert self.source is not None, "this needs the rows"
        size = max(1, self.block_rows // 2)  # features, the same in other coordinates, squares
        if at_most is None:
            X, targets, weights = self.source.merged()
            for rows in row_blocks(len(weights), size):
                yield take_rows(X, rows), targets[rows], weights[rows]
            return
        summary, some = self.source.summary, self._held_out(at_most)
        for part in row_blocks(len(some), size):
            weight = summary.weight[some[part]]
            # a row of a kernel matrix may have weight zero, and then its labels have no mean
            T = dense(summary.labels[some[part]]) / np.where(weight > 0, weight, 1.0)[:, None]
            yield take_rows(self.source.X, summary.rows[some[part]]), T, weight

    def _held_out(self, at_most: int) -> Array:
        """Which rows of the summary stand for all rows: the first by key that are no landmarks.

        Landmarks were chosen among the same rows, the outlying ones first: they are a 60th of
        MNIST and were an eighth of those held out, which took twice the best reg.
        """
        assert self.source is not None
        summary = self.source.summary
        rows = np.arange(len(summary.rows))
        if min(at_most, len(rows)) < summary.n_distinct and not self.source.is_matrix:
            others = rows[~are_among(summary.keys, row_keys(self.features.landmarks))]
            rows = others if len(others) >= min(at_most, len(rows)) // 2 else rows
        return rows[:at_most]

    def resolvent(self, d: Array, shift: float) -> "MomentResolvent":
        return MomentResolvent(self, d, shift)

    def inner_products(self) -> Array:
        """<Z_i Z_i', Z_j Z_j'> = |C_ij|_F^2."""
        squares = self.C**2
        starts = [block.start for block in self.columns]
        return np.asarray(np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1))

    def target_forms(self) -> Array:
        return np.stack([self.S[block].T @ self.S[block] for block in self.columns])


class MomentResolvent(Resolvent):
    """M^{-1} = (I - Z R A^{-1} R Z') / shift with A = shift I + R C R, R = diag(d)^{1/2}."""

    def __init__(self, form: MomentForm, d: Array, shift: float) -> None:
        self.form, self.shift = form, shift
        self.R = np.sqrt(form.spread(d))[:, None]
        A = self.R * form.C * self.R.T
        A[np.diag_indices(len(A))] += shift
        self.factor = linalg.cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        Q = self._inner(self.R * form.S)
        self.V = (form.LT_L - (self.R * form.S).T @ Q) / shift
        self.ZT_B = (form.S - form.C @ (self.R * Q)) / shift  # (M, r)
        parts = [self.ZT_B[block] for block in form.columns]
        self.forms = np.stack([(self.V - Q.T @ Q) / shift, *(part.T @ part for part in parts)])

    def _inner(self, B: Array) -> Array:
        return np.asarray(linalg.cho_solve(self.factor, B, check_finite=False))

    def _through(self, ZT_U: Array) -> Array:
        """Z'M^{-1}U, given Z'U."""
        right = self.R * self._inner(self.R * ZT_U)
        return np.asarray((ZT_U - self.form.C @ right) / self.shift)

    def hessian(self, X: Array) -> Array:
        form, r = self.form, self.ZT_B.shape[1]
        G_B = np.zeros((len(self.ZT_B), form.p * r))  # Z_j Z_j'B in columns, before Z
        for j, block in enumerate(form.columns):
            G_B[block, j * r : (j + 1) * r] = self.ZT_B[block]
        ZT_Minv = self._through(np.hstack([self.ZT_B, form.C @ G_B]))  # of B, G_1 B, ..., G_p B
        H = np.empty((form.p + 1, form.p + 1))
        BT_Minv_B = (
            self.forms[0] - (self.R * self.ZT_B).T @ self._inner(self.R * self.ZT_B)
        ) / self.shift
        H[0, 0] = np.sum(X * BT_Minv_B)
        for i, block in enumerate(form.columns):
            rows = (self.ZT_B[block] @ X).T @ ZT_Minv[block]  # (r, (p + 1) r)
            H[i + 1] = [np.trace(rows[:, j * r : (j + 1) * r]) for j in range(form.p + 1)]
        H[0] = H[:, 0]
        return 2.0 * H
