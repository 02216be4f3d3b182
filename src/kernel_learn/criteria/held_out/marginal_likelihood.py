"""Scales of columns by the marginal likelihood of a Gaussian process.

    y_i = f(x_i) + noise,   cov f = a k(|s * (x - x')|) + b <x, x'> / u + c,

k of unit variance (``RADIAL``), one scale s_j for each block of columns, u the mean of <x, x>, c a
large constant for the mean, noise of variance e for each time a row was seen. Over
t = (log s, log a, log b, log e), with M the covariance of the rows' mean values, q targets Y, and
t0 the median rule,

    min  1/2 tr Y'M^{-1}Y + q/2 log det 2 pi M + |t - t0|^2 / 8
         + 1/2 sum_i [q (w_i - 1) log 2 pi e + q log w_i] + within / (2 e):

the last line is what repeated rows add to the likelihood of their means, so that a weight is a
repetition. With A = M^{-1}Y, P = (q M^{-1} - AA') / 2 and W = a P o dk/dD, D squared distances,

    d/dlog s_j = 4 [sum_i (W1)_i z_ij^2 - sum_i z_ij (WZ)_ij],   Z = X diag(s):

one product WZ for all columns.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.held_out.number_targets import NumberTargets
from kernel_learn.kernels import Combination, Exponential, Gaussian, Kernel, Linear, Matern
from kernel_learn.kernels.scaled import ScaledKernel, scale_columns
from kernel_learn.kernels.shared import SharedStatistics, pair_median
from kernel_learn.rows.access import dense, is_sparse, take_rows
from kernel_learn.solvers.smooth import solve_smooth

MEAN_VARIANCE = 100.0  # c, of targets of variance one
JITTER = 1e-6  # of the noise
PRIOR_SD = 2.0  # of every logarithm around the median rule
LOG_SCALE, LOG_A, LOG_B, LOG_NOISE = (-9.0, 6.0), (-9.0, 5.0), (-12.0, 4.0), (-9.0, 4.0)
START = (0.0, -1.0, -2.0)  # of log a, log b and log e
# Of more columns each scale is noise and costs as much as a Cholesky factorisation: one for all.
MOST_SCALES = 300


def _gauss_profile(D: Array) -> tuple[Array, Array]:
    K = np.exp(-0.5 * D)
    return K, -0.5 * K


def _matern_profile(D: Array) -> tuple[Array, Array]:
    R = np.sqrt(3.0 * D)
    decay = np.exp(-R)
    return (1.0 + R) * decay, -1.5 * decay


def _exponential_profile(D: Array) -> tuple[Array, Array]:
    R = np.sqrt(D)
    K = np.exp(-R)
    return K, -0.5 * K / np.maximum(R, 1e-6)


# k and dk/dD of squared distances D, and the kernel of rows.
RADIAL: dict[str, tuple[Callable[[Array], tuple[Array, Array]], Kernel]] = {
    "gauss": (_gauss_profile, Gaussian(0.5)),
    "matern": (_matern_profile, Matern(1.0, 1.5)),
    "exp": (_exponential_profile, Exponential(1.0)),
}


@dataclass(frozen=True)
class LearnedScales:
    """The logarithms of what was learned, and what of it makes a kernel."""

    family: str
    point: Array  # (blocks + 3,)
    blocks: Array  # (d,)
    unit: float

    @property
    def scales(self) -> Array:
        """One for each column, (d,)."""
        return np.exp(self.point[:-3])[self.blocks]

    def kernel(self, *, linear: bool) -> Kernel:
        """k on scaled columns, alone or with the linear part."""
        radial = ScaledKernel(RADIAL[self.family][1], self.scales)
        if not linear:
            return radial
        a, b = np.exp(self.point[-3:-1])
        return Combination([radial, Linear()], np.array([a, b / self.unit]))


class MarginalLikelihood:
    """The problem above on some rows; ``value_and_gradient`` of t."""

    def __init__(
        self,
        X: Rows,  # (n, d)
        targets: NumberTargets,  # of these rows
        family: str,
        blocks: Array | None = None,  # (d,) columns of one number share one scale
    ) -> None:
        self.X, self.family = X, family
        d = X.shape[1]
        blocks = np.arange(d) if blocks is None else blocks
        self.blocks = blocks if blocks.max(initial=-1) < MOST_SCALES else np.zeros(d, dtype=int)
        self.n_blocks = int(self.blocks.max(initial=-1)) + 1
        plain = targets.as_given()
        self.weight, self.n = targets.weight, targets.n
        mean, deviation = plain.mean, _deviation(plain)
        self.Y = (plain.Y - mean) / deviation
        self.within = float(np.sum(plain.within / deviation**2))
        S = SharedStatistics(X)
        G = S["dot"]
        self.unit = float(np.average(np.diagonal(G), weights=self.weight)) or 1.0
        self.G = G / self.unit
        width = pair_median(S["sqeuclidean"], self.weight)
        self.mode = np.array([-0.5 * np.log(width)] * self.n_blocks + list(START))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [LOG_SCALE] * self.n_blocks + [LOG_A, LOG_B, LOG_NOISE]

    def value_and_gradient(self, t: Array) -> tuple[float, Array]:
        """The negative log posterior up to the prior's constant; 1e10 where M is singular."""
        n, q, w = self.n, self.Y.shape[1], self.weight
        a, b, e = np.exp(t[-3:])
        noise = e + JITTER
        Z = scale_columns(self.X, np.exp(t[:-3])[self.blocks])
        K, dK = RADIAL[self.family][0](SharedStatistics(Z)["sqeuclidean"])
        M = a * K
        M += b * self.G
        M += MEAN_VARIANCE
        M[np.diag_indices(n)] += noise / w
        L, failed = lapack.dpotrf(M, lower=1, overwrite_a=1)
        if failed:
            return 1e10, np.zeros_like(t)
        A = linalg.cho_solve((L, True), self.Y, check_finite=False)
        again = float(w.sum()) - n  # how often rows were seen once more
        value = 0.5 * float(np.sum(self.Y * A)) + q * float(np.log(np.diagonal(L)).sum())
        value += 0.5 * q * (n * np.log(2 * np.pi) + again * np.log(2 * np.pi * noise))
        value += 0.5 * q * float(np.log(w).sum()) + 0.5 * self.within / noise
        Q = lapack.dpotri(L, lower=1, overwrite_c=1)[0]
        P = np.tril(Q)
        P += np.tril(Q, -1).T
        P *= q
        P -= A @ A.T
        P *= 0.5
        by_noise = float(np.sum(np.diagonal(P) / w)) + 0.5 * q * again / noise
        by_noise -= 0.5 * self.within / noise**2
        dK *= P
        dK *= a
        np.fill_diagonal(dK, 0.0)  # a row is at no distance from itself, whatever s
        by_scale = self._by_scale(Z, dK)
        g = [*by_scale, a * np.vdot(P, K), b * np.vdot(P, self.G), e * by_noise]
        pull = (t - self.mode) / PRIOR_SD**2
        return value + 0.5 * float(pull @ (t - self.mode)), np.array(g) + pull

    def _by_scale(self, Z: Rows, W: Array) -> Array:
        """d/dlog s of every block."""
        own = W.sum(axis=1)
        if is_sparse(Z):
            squares = np.asarray(Z.multiply(Z).T @ own)
            crossed = np.asarray(Z.multiply((Z.T @ W).T).sum(axis=0)).ravel()
        else:
            squares, crossed = own @ Z**2, np.sum(Z * (W @ Z), axis=0)
        return np.bincount(self.blocks, 4 * (squares - crossed), self.n_blocks)

    def solve(self, max_iter: int, start: Array | None = None) -> LearnedScales:
        """The scales after some steps from a start, or from the median rule."""
        low, high = np.array(self.bounds).T
        first = np.clip(self.mode if start is None else start, low, high)
        found = solve_smooth(
            self.value_and_gradient,
            first,
            bounds=self.bounds,
            max_iter=max_iter,
            ftol=1e-9,
            memory=10,
        )
        return LearnedScales(self.family, found.point, self.blocks, self.unit)


def learn_likelihood_scales(
    X: Rows,
    targets: NumberTargets,
    family: str,
    blocks: Array | None,
    *,
    most_rows: int,
    max_iter: int,
    start: Array | None = None,
) -> LearnedScales:
    """Scales from the first rows."""
    if targets.n > most_rows:
        rows = np.arange(most_rows)
        X, targets = take_rows(X, rows), targets.take(rows)
    X = dense(X) if is_sparse(X) and X.shape[1] <= MOST_SCALES else X
    return MarginalLikelihood(X, targets, family, blocks).solve(max_iter, start)


def _deviation(targets: NumberTargets) -> Array:
    """Standard deviations of the values of these rows, 1 where there is none."""
    squares = targets.count @ (targets.seen - targets.mean) ** 2 / targets.total
    return np.sqrt(np.where(squares > 1e-24, squares, 1.0))
