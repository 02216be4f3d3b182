"""Metric learning from class labels in a feature space: MCML, MMC, NCA, RCA.

Features Z (n, M), squared distances d_ij = |f_i - f_j|^2 of F = Z L, A = L L'. Every
criterion is a function of the distances, so with W the derivatives in d_ij, V = W + W'
and Q(X) = diag(V 1) X - V X its gradients are

    in A:  sum_ij W_ij (z_i - z_j)(z_i - z_j)' = Z'Q(Z),        in L:  2 Z'Q(F):

few columns F in place of Z. Pairs are seen a block at a time: n x n numbers are never held.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.rows.access import row_blocks

START_SIZE = 10.0  # trace of the metric from which to start
BLOCK_SIZE = 2**18  # numbers of a block of pairs: 2 MB, near the cache


def pair_blocks(n: int, width: int) -> Iterator[slice]:
    """Blocks of n rows, each against ``width`` others."""
    return row_blocks(n, max(1, BLOCK_SIZE // max(1, width)))


def products_of(F: Array) -> tuple[Array, Array]:
    """(left, right) with (left @ right')_ij = -|f_j|^2 + 2 f_i'f_j, that is |f_i|^2 - d_ij."""
    s = np.einsum("ij,ij->i", F, F)
    one = np.ones((len(F), 1))
    return np.hstack([F, one]), np.hstack([2 * F, -s[:, None]])


class PairCriterion(ABC):
    """F(A) at A = L L', as :func:`kernel_learn.solvers.psd.solve_psd` asks for it.

    ``constant`` is the gradient in A of what is linear in A.
    """

    Z: Array  # (n, M)
    constant: Array  # (M, M)

    @abstractmethod
    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        """(what is not linear in A, its Q(X)), for centred features F = Z L."""

    @abstractmethod
    def bound(self, value: float, G_A: float, smallest: float) -> float:
        """Of F(A) - F(A*), from F(A), <G, A> and the smallest eigenvalue of the gradient G."""

    def evaluate(self, L: Array) -> tuple[float, Array]:
        """(value, gradient in L)."""
        F = self._features(L)
        value, Q = self._loss(F, F)
        C_L = self.constant @ L
        return value + float(np.sum(L * C_L)), 2 * (self.Z.T @ Q + C_L)

    def complete(self, L: Array) -> tuple[float, Array]:
        """(value, gradient in A)."""
        value, Q = self._loss(self._features(L), self.Z)
        value += float(np.sum(L * (self.constant @ L)))
        return value, np.asarray(self.Z.T @ Q) + self.constant

    def _features(self, L: Array) -> Array:
        """Centred, which changes no distance and loses fewer digits."""
        F = self.Z @ L
        return np.asarray(F - F.mean(axis=0))


def class_scatter(Z: Array, labels: Array) -> Array:
    """sum over classes of sum_ij (z_i - z_j)(z_i - z_j)' / (n_c - 1), (M, M)."""
    deviations = within_class(Z, labels)
    counts = np.bincount(labels)[labels]
    # sum_ij (z_i - z_j)(z_i - z_j)' = 2 n_c sum_i of the deviations' squares
    weight = np.where(counts > 1, 2.0 * counts / np.maximum(counts - 1, 1), 0.0)
    return np.asarray((deviations * weight[:, None]).T @ deviations)


def within_class(Z: Array, labels: Array) -> Array:
    """z_i less the mean of its class."""
    deviations = np.array(Z)
    for c in np.unique(labels):
        deviations[labels == c] -= Z[labels == c].mean(axis=0)
    return deviations


class CollapsedClasses(PairCriterion):
    """MCML (Globerson & Roweis 2006), convex in A:

    -(1/n) sum_i mean_{j of the same class} log p_ij + reg tr A,
    p_ij = exp(-d_ij) / sum_{l != i} exp(-d_il).

    The mean of d_ij over the own class is linear in A; log sum_l exp(-d_il) is not.
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        self.Z = Z
        # a row alone in its class says nothing: its ideal distribution is empty
        others = np.bincount(labels)[labels] - 1
        self.share = (others > 0) / len(Z)
        self.reg, self.least = reg, float(self.share @ np.log(np.maximum(others, 1)))
        self.constant = class_scatter(Z, labels) / len(Z)
        self.constant[np.diag_indices(Z.shape[1])] += reg

    def bound(self, value: float, G_A: float, smallest: float) -> float:
        """The m p_ij of a row's own class sum to 1 at most, so -mean log p_ij >= log m."""
        return G_A + max(0.0, -smallest) * (value - self.least) / self.reg

    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        value, Q, X_one = 0.0, np.zeros_like(X), with_ones(X)
        s = np.einsum("ij,ij->i", F, F)
        for rows, E, top in neighbour_exponentials(F):
            E_X = E @ X_one
            sums = E_X[:, -1]
            value += float(self.share[rows] @ (top - s[rows] + np.log(sums)))
            c = (self.share[rows] / sums)[:, None]  # W_ij = -c_i E_ij
            Q[rows] -= self.share[rows, None] * X[rows] - c * E_X[:, :-1]
            ET_X = E.T @ (c * X_one[rows])
            Q -= ET_X[:, -1:] * X - ET_X[:, :-1]
        return value, Q


def with_ones(X: Array) -> Array:
    """A column of ones beside the others."""
    return np.hstack([X, np.ones((len(X), 1))])


def neighbour_exponentials(F: Array) -> Iterator[tuple[slice, Array, Array]]:
    """(rows, E, top) with E_ij = exp(|f_i|^2 - d_ij - top_i), E_ii = 0, the largest of a row 1."""
    left, right = products_of(F)
    n = len(F)
    for rows in pair_blocks(n, n):
        E = left[rows] @ right.T
        own = np.arange(rows.start, rows.stop)
        E[own - rows.start, own] = -np.inf
        top = E.max(axis=1)
        E -= top[:, None]
        yield rows, np.exp(E, out=E), top


class Clustering(PairCriterion):
    """MMC (Xing, Ng, Jordan & Russell 2002): max mean_D sqrt(d_ij) s.t. mean_S d_ij <= 1.

    Both are homogeneous in A, so with C = mean_S (z_i - z_j)(z_i - z_j)' (and reg
    times its mean eigenvalue added to it) the answer is, up to its scale,

        min over A >= 0 of  <C, A> - 2 mean_D sqrt(d_ij),

    solved for B = C^{1/2} A C^{1/2}, in which <C, A> = tr B.
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        counts = np.bincount(labels)
        deviations = within_class(Z, labels)
        n_similar = max(1, int(np.sum(counts * (counts - 1) // 2)))
        C = (deviations * counts[labels, None]).T @ deviations / n_similar
        C[np.diag_indices(len(C))] += reg * float(np.trace(C)) / len(C)
        w, U = linalg.eigh(C)
        self.root = (U / np.sqrt(above_rounding(w))) @ U.T  # C^{-1/2}
        self.Z = Z @ self.root
        self.constant = np.eye(len(C))
        order = np.argsort(labels, kind="stable")
        self.members = np.split(order, np.cumsum(counts)[:-1])
        self.n_different = max(1, (len(Z) ** 2 - int(np.sum(counts**2))) // 2)

    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        """Classes against the ones before them: each pair once, and none of the same class."""
        total, Q, X_one = 0.0, np.zeros_like(X), with_ones(X)
        left, right = products_of(F)
        s = -right[:, -1]
        before = self.members[0]
        for own in self.members[1:]:
            for block in pair_blocks(len(own), len(before)):
                rows = own[block]
                W = left[rows] @ right[before].T
                np.subtract(s[rows, None], W, out=W)  # d_ij
                np.sqrt(np.maximum(W, 1e-12, out=W), out=W)
                total += float(W.sum())
                np.reciprocal(W, out=W)  # -W_ij n_different: d/dd of -2 sqrt(d)
                W_X, WT_X = W @ X_one[before], W.T @ X_one[rows]
                Q[rows] -= W_X[:, -1:] * X[rows] - W_X[:, :-1]
                Q[before] -= WT_X[:, -1:] * X[before] - WT_X[:, :-1]
            before = np.concatenate([before, own])
        return -2 * total / self.n_different, Q / self.n_different

    def bound(self, value: float, G_A: float, smallest: float) -> float:
        """F = tr B - 2 q(B), q homogeneous of degree 1/2: tr B* = -F*, so
        F - F* <= <G, B> + lam tr B* = <G, B> - lam F*."""
        lam = max(0.0, -smallest)
        return np.inf if lam >= 1 else max(value + (G_A - value) / (1 - lam), 0.0)

    def metric(self, L: Array) -> Array:
        """A factor of A with <C, A> = 1."""
        return np.asarray(self.root @ L / np.sqrt(np.sum(L**2)))


class NeighbourhoodComponents:
    """NCA (Goldberger et al. 2005), not convex: max (1/n) sum_i sum_{same class} p_ij - reg |L|^2.

    p_ij as in MCML with d_ij = |L (z_i - z_j)|^2, L (n_components, M).
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        self.Z, self.labels, self.reg = Z, labels, reg

    def value_and_gradient(self, L: Array) -> tuple[float, Array]:
        """(value, gradient) of the criterion."""
        F = self.Z @ L.T
        F -= F.mean(axis=0)
        Q, F_one, total = np.zeros_like(F), with_ones(F), 0.0
        for rows, P, _ in neighbour_exponentials(F):
            P /= P.sum(axis=1, keepdims=True)
            own = np.where(self.labels[rows, None] == self.labels, P, 0.0)
            p = own.sum(axis=1)
            total += float(p.sum())
            P *= p[:, None]
            P -= own  # W_ij n
            W_F, WT_F = P @ F_one, P.T @ F_one[rows]
            Q[rows] += W_F[:, -1:] * F[rows] - W_F[:, :-1]
            Q += WT_F[:, -1:] * F - WT_F[:, :-1]
        n = len(F)
        value = total / n - self.reg * float(np.sum(L**2))
        return value, 2 * (Q.T @ self.Z) / n - 2 * self.reg * L


def within_class_metric(Z: Array, labels: Array, reg: float) -> Array:
    """RCA (Bar-Hillel et al. 2005): A = (C + reg tr(C)/M I)^{-1}, C the within-class covariance."""
    deviations = within_class(Z, labels)
    C = deviations.T @ deviations / len(Z)
    C[np.diag_indices(len(C))] += reg * float(np.trace(C)) / len(C)
    w, U = linalg.eigh(C)
    return np.asarray((U / above_rounding(w)) @ U.T)


def above_rounding(w: Array) -> Array:
    """Ascending eigenvalues, those that a tiny ``reg`` leaves below rounding raised to it."""
    return np.asarray(np.maximum(w, len(w) * np.finfo(np.float64).eps * w[-1]))


def principal_start(Z: Array, n_directions: int) -> Array:
    """L in the leading principal directions, of trace START_SIZE.

    Optimal metrics have low rank (2 to 50 were seen); what is missing is added later.
    """
    M = Z.shape[1]
    kept = min(M, n_directions)
    deviations = Z - Z.mean(axis=0)
    _, U = linalg.eigh(deviations.T @ deviations, subset_by_index=(M - kept, M - 1))
    return np.asarray(U * np.sqrt(START_SIZE / kept))


def discriminant_start(Z: Array, labels: Array, n_directions: int) -> Array:
    """Directions that tell class means apart in RCA's metric, then principal ones, as rows."""
    A = within_class_metric(Z, labels, 0.1)
    w, V = linalg.eigh(A)
    root = (V * np.sqrt(w)) @ V.T
    means = np.array([Z[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
    spread = (means[labels] - Z.mean(axis=0)) @ root
    total = (Z - Z.mean(axis=0)) @ root
    _, U = linalg.eigh(spread.T @ spread + 1e-6 * total.T @ total)
    L = (root @ U[:, ::-1][:, :n_directions]).T
    F = Z @ L.T
    size = 2 * float(np.mean(np.sum((F - F.mean(axis=0)) ** 2, axis=1)))
    return np.asarray(L * np.sqrt(START_SIZE / size))
