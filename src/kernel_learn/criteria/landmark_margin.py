"""Weights of kernels by the margin of machines with squared hinge, on landmark features."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.evaluation import Evaluation, WeightCriterion
from kernel_learn.criteria.joint_problem import map_rows
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.solvers.block_newton import (
    Blocks,
    dual_point,
    measure_hinges,
    solve_squared_hinges,
)
from kernel_learn.solvers.result import Result


class LandmarkMargin(WeightCriterion):
    """min over d of J(d) = sum over machines of the optimum of an SVM with kernel K(d): SM2.

    K(d) = sum_i d_i s_i Z_i Z_i', d on the simplex, s_i = n / tr(Z_i Z_i') (not centred); squared
    hinge. Rows are [(d_i s_i)^{1/2} z_i]. For a feasible alpha the dual value

        1'alpha - 1/2 sum_j alpha_j^2 / C_j - 1/2 sum_i d_i s_i |Z_i'(y alpha)|^2

    is linear in d and below J: gradient -1/2 s_i |Z_i'(y alpha)|^2, which a last pass over the
    rows gives for all kernels, those of weight zero too.
    """

    has_hessian: ClassVar[bool] = False
    bank: MomentForm

    def __init__(self, bank: MomentForm, blocks: Blocks, n_machines: int, *, tol: float) -> None:
        self.bank, self.blocks, self.n_machines, self.tol = bank, blocks, n_machines, tol
        self.weights = np.zeros((sum(bank.features.sizes) + 1, n_machines))  # on z as it is

    def evaluate(self, d: Array) -> Evaluation:
        theta = self.bank.spread(self.bank.theta_at(d))
        result = self.machines(d)
        zeros = np.zeros(self.n_machines, dtype=bool)
        found = measure_hinges(self.blocks, self.weights, zeros)
        point = dual_point(found.sides, found.squares, lambda V: theta @ V**2)
        lengths = np.sum(point.normals**2, axis=1)
        own = np.array([lengths[block].sum() for block in self.bank.columns])
        gradient = -0.5 * self.bank.scales * own
        minorant = float(np.sum(point.linear - 0.5 * point.squares)) + float(gradient @ d)
        return Evaluation(result.value, gradient, minorant)

    def machines(self, d: Array) -> Result:
        """The machines at d, begun where the last ones ended; sets ``weights``."""
        root = np.sqrt(self.bank.spread(self.bank.theta_at(d)))
        kept = np.flatnonzero(root)
        start = np.vstack([self.weights[kept] / root[kept, None], self.weights[-1:]])
        found = solve_squared_hinges(
            self.blocks,
            len(kept),
            self.n_machines,
            change=Scaled(root),
            start=start,
            tol=self.tol,
        )
        self.weights = np.zeros_like(self.weights)
        self.weights[kept] = root[kept, None] * found.point[:-1]
        self.weights[-1] = found.point[-1]
        return found


class LandmarkSubspaceMargin(WeightCriterion):
    """min over d of the optimum of SVMs with kernel Khat(d) = G(d) (G(d) + xi)^{-1}: SVM_mkl.

    G(d) = sum_i d_i s_i Z_i Z_i', centred, of trace n; squared hinge, prices C_j. For a feasible
    alpha, A = y alpha, the dual value 1'alpha - 1/2 sum alpha_j^2 / C_j - 1/2 tr A'Khat(d)A is
    convex in d, as Khat is operator concave, and below J: its tangent is one of J. With C = Z'Z
    over all kernels, D = diag(d_i s_i) and S = Z'A,

        Z'(G + xi)^{-1} A = W / xi,  W = S - C D^{1/2} (xi + D^{1/2} C D^{1/2})^{-1} D^{1/2} S,

    and the derivative in d_i is -s_i |W_i|^2 / (2 xi).
    """

    has_hessian: ClassVar[bool] = False
    bank: MomentForm

    def __init__(
        self, bank: MomentForm, blocks: Blocks, n_machines: int, *, reg: float, tol: float
    ) -> None:
        self.bank, self.blocks, self.n_machines = bank, blocks, n_machines
        self.xi, self.tol = reg, tol  # lambda = reg tr(G) / n, and tr(G) = n

    def evaluate(self, d: Array) -> Evaluation:
        sample = self.bank.at(self.bank.theta_at(d))
        w, U = sample.spectrum.w, sample.spectrum.U
        coordinates = map_rows(sample, w, U, self.xi, True)
        B = coordinates.lift(np.eye(len(w)))  # columns of F in terms of the scaled z
        root = np.sqrt(self.bank.spread(self.bank.theta_at(d)))
        kept = np.flatnonzero(root)
        coef = np.zeros((len(root), len(w)))
        coef[kept] = root[kept, None] * B
        found = solve_squared_hinges(
            self.blocks,
            len(w),
            self.n_machines,
            change=Projected(coef, sample.mean @ B),
            tol=self.tol,
        )
        normals = B @ found.point[:-1]
        weights = np.zeros((len(root) + 1, self.n_machines))
        weights[kept] = root[kept, None] * normals
        weights[-1] = found.point[-1] - sample.mean @ normals
        seen = measure_hinges(self.blocks, weights, np.zeros(self.n_machines, dtype=bool))
        point = dual_point(
            seen.sides,
            seen.squares,
            lambda V: np.sum((B.T @ (root[kept, None] * V[kept])) ** 2, axis=0),
        )
        S = point.normals
        inner = np.linalg.solve(
            sample.operator + self.xi * np.eye(len(kept)), root[kept, None] * S[kept]
        )
        W = S - self.bank.moments.C[:, kept] @ (root[kept, None] * inner)
        lengths = np.sum(W**2, axis=1)
        own = np.array([lengths[block].sum() for block in self.bank.columns])
        quadratic = float(np.sum((B.T @ (root[kept, None] * S[kept])) ** 2))
        minorant = float(np.sum(point.linear - 0.5 * point.squares)) - 0.5 * quadratic
        return Evaluation(found.value, -self.bank.scales * own / (2 * self.xi), minorant)


@dataclass(frozen=True)
class Scaled:
    """Each feature times its scale; those of scale zero are left out."""

    scale: Array  # (M,)

    def __call__(self, Z: Array) -> Array:
        kept = np.flatnonzero(self.scale)
        own = Z if len(kept) == Z.shape[1] else Z[:, kept]
        return np.asarray(own * self.scale[kept].astype(Z.dtype))


@dataclass(frozen=True)
class Projected:
    """Z coef - offset."""

    coef: Array  # (M, r)
    offset: Array  # (r,)

    def __call__(self, Z: Array) -> Array:
        return np.asarray(Z @ self.coef.astype(Z.dtype) - self.offset.astype(Z.dtype))
