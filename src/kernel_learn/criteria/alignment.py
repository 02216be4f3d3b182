"""Kernel-target alignment of a subspace kernel (SKFE; Wu & Farquhar 2007, section 4)."""

import numpy as np
from scipy.optimize import nnls

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Representation
from kernel_learn.solvers.riemannian import SubspaceCriterion


class Alignment:
    """A(V) = tr(V'EV) / (|V'CV + lam I|_F |YY'|_F),  E = SS',  V'V = I.

    With rows z in an orthonormal basis of feature space, C = Z'Z and S = Z'Y,
    the subspace kernel is ZVV'Z' and A its alignment with YY'; lam = 0 is the
    paper's criterion. That one overfits by construction: on a full-rank Gram
    matrix directions of vanishing variance align with any labels. lam makes
    such directions pay. Gradient, N = tr V'EV, D = |V'CV + lam I|_F:

        [2 EV / D - 2 N / D^3 CV(V'CV + lam I)] / |YY'|_F,

    to be projected by I - VV'. C is diagonal here: the basis is its own.
    """

    def __init__(
        self,
        w: Array,  # (m,) diagonal of C
        S: Array,  # (m, k)
        label_norm: float,  # |YY'|_F
        lam: float,
    ) -> None:
        # the norm goes into S: of weights of 1e-300 the squares of S itself are zero
        self.w, self.S, self.lam = w, S / np.sqrt(label_norm), lam

    def value_and_gradient(self, V: Array) -> tuple[float, Array]:
        ST_V = self.S.T @ V
        C_V = self.w[:, None] * V
        M = V.T @ C_V + self.lam * np.eye(V.shape[1])
        N, D = np.vdot(ST_V, ST_V), np.linalg.norm(M)
        gradient = 2 * (self.S @ ST_V) / D - (2 * N / D**3) * (C_V @ M)
        return float(N / D), gradient

    def value(self, V: Array) -> float:
        return self.value_and_gradient(V)[0]


class Rescaled:
    """f(span(D X)) as a function of X: a criterion of subspaces in better coordinates.

    With DX = VR and the gradient G of f at V projected by I - VV', the
    gradient in X is D G R^{-T}. D = (C + lam)^{-1/2} evens out the curvature
    of the alignment: a third of the iterations (wine, digits).
    """

    def __init__(self, criterion: SubspaceCriterion, D: Array) -> None:  # (m,)
        self.criterion, self.D = criterion, D[:, None]

    def subspace(self, X: Array) -> Array:
        """V, an orthonormal basis of span(D X)."""
        return np.linalg.qr(self.D * X)[0]

    def coordinates(self, V: Array) -> Array:
        """X with span(D X) = span(V)."""
        return np.asarray(V / self.D)

    def value_and_gradient(self, X: Array) -> tuple[float, Array]:
        V, R = np.linalg.qr(self.D * X)
        value, G = self.criterion.value_and_gradient(V)
        G = G - V @ (V.T @ G)
        return value, self.D * np.linalg.solve(R, G.T).T


def align_weights(bank: Representation) -> Array:
    """max over d >= 0 of <G(d), L L'> / |G(d)|_F, scaled to the simplex (Cortes et al. 2012).

    The direction is that of min v'N v - 2 v'a, v >= 0, with N_ij = <G_i, G_j>
    and a_i = tr L'G_i L: least squares |R v - R^{-T} a| with N = R'R.
    """
    a = np.trace(bank.target_forms(), axis1=1, axis2=2)
    N = bank.inner_products()
    w, U = np.linalg.eigh(N)
    keep = w > 1e-14 * w[-1]  # duplicates: the minimum is on the range of N
    R = np.sqrt(w[keep])[:, None] * U[:, keep].T
    v, _ = nnls(R, (U[:, keep].T @ a) / np.sqrt(w[keep]))
    return np.asarray(v / v.sum()) if v.sum() > 0 else bank.uniform()
