"""Scales of columns by descent on a criterion of the kernel matrix.

    min over s >= 0 of  J(K(s)) + price sum_f s_f,   K(s)_il = k(s * x_i, s * x_l),

the 1-norm of Wu & Farquhar (2007, section 3.1). With Q = dJ/dK symmetric and
Z = X diag(s)

    dJ/ds_f = 2 sum_l x_lf [sum_i Q_il dk(z_i, z_l)/dz_lf]:

one n x n matrix gives the derivative in every scale, at the cost of a product with X. The
problem is not convex, and J is even in s_f, so dJ/ds_f = 0 where s_f = 0: a column that
was dropped stays out. So every descent starts from s = 1: from the scales of a smaller penalty,
which have overfitted, the relevant columns that were lost would not come back.

The 0-norm, |s|_0 = m, is met by elimination: descend, drop the half of the columns with the
smallest scales (all but m at the end), descend again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.loo_weights import loo_derivative
from kernel_learn.criteria.held_out.ridge import centre
from kernel_learn.criteria.held_out.targets import Targets, kernel_variance
from kernel_learn.kernels.base import Kernel
from kernel_learn.solvers.ball import smallest_ball
from kernel_learn.solvers.margin import one_vs_rest_signs, solve_margin
from kernel_learn.solvers.result import Result
from kernel_learn.solvers.smooth import solve_smooth

LARGEST = 1e3  # a scale so large tells every two rows apart
REG = 0.1  # lam at the start, as a share of the variance under the kernel
FLOOR = 1e-3  # eps of the alignment, as a share of |G| at the start
TINY = np.finfo(np.float64).tiny


class KernelCriterion(Protocol):
    """J(K) and dJ/dK (symmetric), with parameters of its own that are learned along."""

    start: Array  # (q,) where the parameters start
    bounds: Sequence[tuple[float, float]]

    def __call__(self, K: Array, own: Array) -> tuple[float, Array, Array]:
        """(J, dJ/dK, dJ/down); K may be overwritten."""


class HeldOutError:
    """Leave-one-out squared error of ridge regression, relative to that of the class shares.

    log lam is learned along. Not the logarithm of the error: that goes on paying for the
    last digits of a fit that has learned its rows by heart.
    """

    def __init__(self, K: Array, targets: Targets) -> None:
        self.targets = targets
        self.total = float(np.sum((targets.Y - targets.mean) ** 2, axis=1) @ targets.weight)
        self.total = max(self.total / targets.total, TINY)
        start = np.log(REG * max(kernel_variance(K, targets), TINY))
        self.start = np.array([start])
        self.bounds: Sequence[tuple[float, float]] = [(start - 12.0, start + 8.0)]

    def __call__(self, K: Array, own: Array) -> tuple[float, Array, Array]:
        lam = float(np.exp(own[0]))
        error, Q = loo_derivative(K, lam, self.targets)
        by_lam = lam * float(np.sum(np.diagonal(Q) / self.targets.weight)) / self.total
        return error / self.total, Q / self.total, np.array([by_lam])


class Misalignment:
    """1 - <G, LL'> / (D |LL'|), D^2 = |G|^2 + eps^2, L the centred labels: one less alignment.

    dJ/dG = -(LL' / D - <G, LL'> G / D^3) / |LL'|, which centring leaves as it is. eps is a
    thousandth of |G| at the start: a kernel that has become constant aligns with nothing.
    """

    start: Array = np.empty(0)
    bounds: Sequence[tuple[float, float]] = ()

    def __init__(self, K: Array, targets: Targets, floor: float = FLOOR) -> None:
        self.targets = targets
        self.eps = floor * float(np.linalg.norm(centre(K, targets).G))

    def __call__(self, K: Array, own: Array) -> tuple[float, Array, Array]:
        centred = centre(K, self.targets)
        G, L, root = centred.G, centred.labels, centred.root
        inner, label_norm = float(np.sum((G @ L) * L)), float(np.linalg.norm(L.T @ L))
        D = float(np.hypot(np.linalg.norm(G), self.eps))
        Q = ((inner / D**3) * G - (L / D) @ L.T) / label_norm
        return 1 - inner / (D * label_norm), Q * root * root[:, None], own


class RadiusOverMargin:
    """log(R^2 |w|^2) of K + lam I, lam fixed at the start (Chapelle et al. 2002).

    Both are maxima over alpha and beta: d|w|^2 = -AA', dR^2 = diag(beta) - beta beta'.
    """

    start: Array = np.empty(0)
    bounds: Sequence[tuple[float, float]] = ()

    def __init__(self, K: Array, targets: Targets, reg: float = REG) -> None:
        self.lam = reg * max(kernel_variance(K, targets), TINY)
        self.weight = targets.weight
        self.signs = one_vs_rest_signs(targets.majority, targets.n_classes)

    def __call__(self, K: Array, own: Array) -> tuple[float, Array, Array]:
        boxes = self.weight / self.lam
        machines = solve_margin(K, self.signs, boxes, loss="squared_hinge", tol=1e-8)
        squared_w = 2 * float(machines.dual.sum())
        w, U = linalg.eigh(K, check_finite=False)
        beta, squared_R = smallest_ball(U * np.sqrt(np.maximum(w, 0.0)), self.lam, self.weight)
        Q = -(machines.A / squared_w) @ machines.A.T - np.outer(beta / squared_R, beta)
        Q[np.diag_indices(len(Q))] += beta / squared_R
        return float(np.log(squared_R) + np.log(squared_w)), Q, own


class MarginError:
    """The optimum of one-vs-rest machines with squared hinge on K, over that at the start.

    |w|^2 / 2 + sum_i C_i slack_i^2 / 2, C_i = weight_i / lam, lam a share of the variance at the
    start: large margins, with a price for the rows inside. A maximum over alpha: dJ = -AA' / 2.
    """

    start: Array = np.empty(0)
    bounds: Sequence[tuple[float, float]] = ()

    def __init__(self, K: Array, targets: Targets, reg: float = REG) -> None:
        self.boxes = targets.weight / (reg * max(kernel_variance(K, targets), TINY))
        self.signs = one_vs_rest_signs(targets.majority, targets.n_classes)
        self.unit = 1.0
        self.unit = max(self(K, self.start)[0], TINY)

    def __call__(self, K: Array, own: Array) -> tuple[float, Array, Array]:
        machines = solve_margin(K, self.signs, self.boxes, loss="squared_hinge", tol=1e-8)
        value = float(machines.dual.sum())
        return value / self.unit, -(machines.A / (2 * self.unit)) @ machines.A.T, own


CRITERIA: dict[str, Callable[[Array, Targets], KernelCriterion]] = {
    "loo": HeldOutError,
    "alignment": Misalignment,
    "margin": MarginError,
    "radius_margin": RadiusOverMargin,
}


def scale_gradient(kernel: Kernel, X: Array, Z: Array, Q: Array) -> Array:
    """sum_il Q_il dk(z_i, z_l)/ds_f for z = s * x and a symmetric Q, (d,)."""
    return np.asarray(2 * np.einsum("ij,ij->j", X, kernel.reference_gradient(Z, Z, Q)))


def search_scales(
    kernel: Kernel,  # resolved
    X: Array,  # (n, d)
    criterion: KernelCriterion,
    price: float,  # of a scale
    *,
    least: float = 0.0,  # that a scale may be
    max_iter: int = 100,
) -> Result:
    """Scales (d,) and how they were found, from scales of one."""
    d = X.shape[1]

    def objective(x: Array) -> tuple[float, Array]:
        s = x[:d]
        Z = X * s
        J, Q, by_own = criterion(kernel(Z), x[d:])
        by_s = scale_gradient(kernel, X, Z, Q) + price
        return J + price * float(s.sum()), np.concatenate([by_s, by_own])

    bounds = [(least, LARGEST)] * d + list(criterion.bounds)
    start = np.concatenate([np.ones(d), criterion.start])
    # A longer memory runs further into the noise: it lost one of four planted columns among 200.
    found = solve_smooth(objective, start, bounds=bounds, ftol=1e-6, max_iter=max_iter, memory=10)
    return replace(found, point=found.point[:d])


def eliminate(scales: Array, n_features: int) -> Array:
    """The columns of the larger half of the scales, ``n_features`` at least, ascending."""
    left = max(n_features, len(scales) // 2)
    return np.sort(np.argsort(-scales, kind="stable")[:left])
