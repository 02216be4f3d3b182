"""Weights of kernels by how well they tell the labels (Chen et al. 2008; Ye et al. 2007)."""

from types import ModuleType
from typing import ClassVar, Literal

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.criteria.evaluation import Evaluation, IdentityVertex, WeightCriterion
from kernel_learn.representations.base import Representation, Resolvent
from kernel_learn.representations.gram import GramForm
from kernel_learn.solvers.elliptope import solve_elliptope, value_hessian
from kernel_learn.solvers.sdp import Expression

Coupling = Literal["exact", "approximate"]

# The least regularisation when it is learned, relative to the kernel: a bank may hold
# a kernel that is the identity on the sample, and then nothing else keeps it off zero.
# Below it rounding shows in predictions (at 1e-10 in the fifth digit).
LEAST_REG = 1e-6


class LabelResolvent(WeightCriterion):
    """min over d of J(d) = c max over X of tr(X L'M^{-1}L),  M = shift I + sum_i d_i G_i.

    d lies on the simplex; the kernels G_i have trace n.

    - ``reg=number``: shift = c = reg, so that J = tr X L'(I + G/reg)^{-1}L: HSIC_mkl (Chen,
      Eq. 27) and, with the normalised label kernel, SDP_theta (Ye, Eq. 23, 34; n times it).
    - ``reg="learn"``: the identity is one more kernel, d = (d_0, d_1, ..., d_p), c = 1 and
      shift = d_0: SDP_theta,lambda (Ye, Eq. 40, 41). The reg found is d_0 / (d_1 + ... + d_p),
      kept between 1e-6 and 1e8 (see ``IdentityVertex``).
    - ``coupling="exact"``: X = I. ``"approximate"``: X is any correlation matrix, the dual of
      sum t s.t. diag(t) >= L'M^{-1}L (Ye, Eq. 37); cheaper as a semidefinite program, not here.

    With B = M^{-1}L: gradient -c tr(X B'G_i B), Hessian 2c tr(X B'G_i M^{-1} G_j B), plus
    tr(dX dV) where X moves. The dependence on the labels of the uncorrelated subspace kernel
    (uHSIC with all its features) is tr L'L - J.
    """

    def __init__(
        self, bank: Representation, *, reg: float | Literal["learn"], coupling: Coupling = "exact"
    ) -> None:
        self.bank, self.reg, self.coupling = bank, reg, coupling
        self.identity = IdentityVertex(bank.uniform(), LEAST_REG)

    @property
    def learns_reg(self) -> bool:
        """Whether reg is one more weight."""
        return self.reg == "learn"

    @property
    def size(self) -> int:
        return self.bank.p + self.learns_reg

    def start(self) -> Array:
        """Uniform weights; a learned reg begins at one tenth."""
        d = self.bank.uniform()
        return np.concatenate([[1 / 11], d * 10 / 11]) if self.learns_reg else d

    def shares(self, d: Array) -> Array:
        return self.identity.shares(d) if self.learns_reg else d

    def learned_reg(self, d: Array) -> float:
        """The reg of d, relative to a kernel of trace n."""
        return self.identity.ratio(d) if self.learns_reg else float(self.reg)

    def evaluate(self, d: Array) -> Evaluation:
        weights, shift, c = self._split(d)
        try:
            resolvent = self.bank.resolvent(weights, shift)
        except linalg.LinAlgError:
            return Evaluation(np.inf, np.zeros(len(d)), -np.inf)
        V, forms = resolvent.V, self._forms(resolvent)
        if self.coupling == "exact":
            X = np.eye(len(V))
            value = minorant = c * float(np.trace(V))
        else:
            correlation = solve_elliptope(V)
            X = correlation.X
            value, minorant = c * float(correlation.t.sum()), c * float(np.sum(X * V))

        def hessian() -> Array:
            H = resolvent.hessian(X)
            H = self.identity.M.T @ H @ self.identity.M if self.learns_reg else H[1:, 1:]
            return c * (H + value_hessian(correlation, -forms) if self.coupling != "exact" else H)

        gradient = -c * np.einsum("jk,ijk->i", X, forms)
        return Evaluation(value, gradient, minorant, hessian)

    def _split(self, d: Array) -> tuple[Array, float, float]:
        """(weights, shift, c)."""
        if self.learns_reg:
            return *self.identity.split(d), 1.0
        return d, float(self.reg), float(self.reg)

    def _forms(self, resolvent: Resolvent) -> Array:
        """B'G_i B for the coordinates of d, (size, r, r)."""
        if self.learns_reg:
            return np.asarray(np.tensordot(self.identity.M.T, resolvent.forms, 1))
        return resolvent.forms[1:]

    def semidefinite(self, cp: ModuleType, d: Expression) -> tuple[Expression, list[Expression]]:
        """The papers' linear matrix inequalities in CVXPY: Chen 30; Ye 16, 34, 37, 40, 41.

        [M, L_j; L_j', t_j] >= 0 and J = c sum t; with fixed reg the papers divide M by it.
        """
        bank = _gram_bank(self.bank)
        Gs = [scale * bank.gram(i) for i, scale in enumerate(bank.scales)]
        eye = np.eye(len(bank.L))
        weights, shift, c = (d[1:], d[0] + LEAST_REG, 1.0) if self.learns_reg else self._split(d)
        M = shift * eye + sum(weights[i] * G for i, G in enumerate(Gs))
        t = cp.Variable(bank.L.shape[1])
        if self.coupling == "approximate":
            blocks = [(bank.L, cp.diag(t))]
        else:
            blocks = [(bank.L[:, [j]], t[j : j + 1][:, None]) for j in range(bank.L.shape[1])]
        return c * cp.sum(t), [cp.bmat([[M, L], [L.T, T]]) >> 0 for L, T in blocks]


class ProjectedDependence(WeightCriterion):
    """min over d of J(d) = -(sum of the l largest eigenvalues of L'G (G + reg I)^{-1} G L).

    The dependence of the projected subspace kernel (HSIC, not uncorrelated). G (G + reg I)^{-1} G
    = G - reg I + reg^2 M^{-1}, M = G + reg I, is operator convex in G, so J is *concave* in d and
    its minimum over the simplex is at a vertex: the best single kernel, p evaluations.
    """

    concave: ClassVar[bool] = True

    def __init__(self, bank: Representation, reg: float, n_components: int) -> None:
        self.bank, self.reg, self.n_components = bank, reg, n_components
        self.target_forms = bank.target_forms()

    def evaluate(self, d: Array) -> Evaluation:
        V = self.bank.resolvent(d, self.reg).V
        E = np.tensordot(d, self.target_forms, 1) - self.reg * self.bank.LT_L + self.reg**2 * V
        largest = linalg.eigvalsh((E + E.T) / 2)[::-1][: self.n_components]
        return Evaluation(-float(np.maximum(largest, 0.0).sum()), np.zeros(len(d)), -np.inf)


class KimDiscriminant(WeightCriterion):
    """min over d of J(d) = -a'G v,  v = (reg I + W G)^{-1} a: two classes (Kim et al. 2006; Ye 9).

    a is 1/n_+ on one class and -1/n_- on the other, W = P_w / n with P_w the projector that
    centres each class. -J is the ratio (m_+ - m_-)'(S_w + reg I)^{-1}(m_+ - m_-), S_w the
    within-class covariance. With R = P_w^{1/2} / sqrt(n) and N = reg I + R G R,

        v = (a - R N^{-1} R G a) / reg,   gradient -reg v'G_i v,
        Hessian 2 reg (G_i v)' R N^{-1} R (G_j v).

    Rows carry the roots r of their weights, and a row may have been seen with both classes,
    c_i+ and c_i- times: a_i = (c_i+/n_+ - c_i-/n_-) / r_i and P_w = I - UU', u_ic = c_ic / (r_i
    n_c^{1/2}), whose root is I - U V f V'U' with U'U = V s V', f = (1 - (1 - s)^{1/2}) / s.

    The paper's simplex has sum theta = 1 on kernels as given: build the bank with scale=False.
    """

    bank: GramForm

    def __init__(
        self,
        bank: GramForm,
        counts: Array,  # (n, 2) how often each row was seen with each class
        *,
        reg: float,
    ) -> None:
        if counts.shape[1] != 2:
            raise ValueError(
                f"The criterion of Kim et al. is for two classes, and there are {counts.shape[1]}. "
                "Use criterion='discriminant'."
            )
        self.bank, self.reg = bank, reg
        n_c, root = counts.sum(axis=0), np.maximum(bank.root_weight, np.finfo(np.float64).tiny)
        C = counts / root[:, None]
        self.n = float(n_c.sum())
        self.a = C @ (np.array([-1.0, 1.0]) / n_c)
        self.U = C / np.sqrt(n_c)
        s, V = linalg.eigh(self.U.T @ self.U)
        f = 1 / (1 + np.sqrt(np.maximum(1 - s, 0.0)))  # (1 - (1 - s)^{1/2}) / s
        self.F = (V * f) @ V.T

    def _within(self, B: Array) -> Array:
        """R B."""
        return np.asarray((B - self.U @ (self.F @ (self.U.T @ B))) / np.sqrt(self.n))

    def evaluate(self, d: Array) -> Evaluation:
        G = self.bank.combine(d)
        G_a = G @ self.a
        N = self._within(self._within(G).T)
        N[np.diag_indices(len(N))] += self.reg
        factor = linalg.cho_factor(N, lower=True, overwrite_a=True, check_finite=False)

        def through(B: Array) -> Array:  # R N^{-1} R B
            return self._within(linalg.cho_solve(factor, self._within(B), check_finite=False))

        v = (self.a - through(G_a)) / self.reg
        G_v = self.bank.products(v[:, None])[:, :, 0]  # (p, n)
        value = -float(G_a @ v)
        return Evaluation(
            value,
            -self.reg * (G_v @ v),
            value,
            lambda: 2.0 * self.reg * (G_v @ through(G_v.T)),
        )

    def semidefinite(self, cp: ModuleType, d: Expression) -> tuple[Expression, list[Expression]]:
        """reg J = t - a'Ga with [reg I + R G R, R G a; ., t] >= 0."""
        bank, reg = self.bank, self.reg
        Gs = [scale * bank.gram(i) for i, scale in enumerate(bank.scales)]
        N = reg * np.eye(len(self.a)) + sum(
            d[i] * self._within(self._within(G).T) for i, G in enumerate(Gs)
        )
        R_G_a = sum(d[i] * self._within(G @ self.a) for i, G in enumerate(Gs))
        a_G_a = sum(d[i] * float(self.a @ G @ self.a) for i, G in enumerate(Gs))
        t = cp.Variable((1, 1))
        column = cp.reshape(R_G_a, (len(self.a), 1), order="C")
        return (t[0, 0] - a_G_a) / reg, [cp.bmat([[N, column], [column.T, t]]) >> 0]


def _gram_bank(bank: Representation) -> GramForm:
    if isinstance(bank, GramForm):
        return bank
    raise ValueError(
        'solver="sdp" writes n x n matrix inequalities and needs exact Gram matrices: '
        'pass landmarks="all", or choose another solver.'
    )
