"""Metric learning from class labels in a feature space: LMNN, MCML, MMC, NCA, RCA.

Features Z (n, M), squared distances d_ij = (z_i - z_j)'A(z_i - z_j), A >= 0. Every
criterion is a function of the distances, so its gradient in A is

    sum_ij W_ij (z_i - z_j)(z_i - z_j)' = Z'(diag(W 1 + W'1) - W - W') Z

with W the n x n derivatives: two matrix products, whatever the criterion.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[Any]


def squared_distances(F: Array) -> Array:
    """|f_i - f_j|^2, zero on the diagonal."""
    s = np.einsum("ij,ij->i", F, F)
    D = s[:, None] + s - 2 * (F @ F.T)
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    return np.asarray(D)


def metric_distances(Z: Array, A: Array) -> Array:
    Z_A = Z @ A
    s = np.einsum("ij,ij->i", Z_A, Z)
    D = s[:, None] + s - 2 * (Z_A @ Z.T)
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    return np.asarray(D)


def scatter(Z: Array, W: Array, F: Array | None = None) -> Array:
    """sum_ij W_ij (z_i - z_j)(f_i - f_j)', f = z if not given."""
    V, F = W + W.T, Z if F is None else F
    return np.asarray(Z.T @ (V.sum(axis=1)[:, None] * F - V @ F))


class LargeMargin:
    """LMNN (Weinberger, Blitzer & Saul 2005), convex in A:

        (1/n) sum_i sum_{j target of i} [ (1 - mu) d_ij
            + mu sum_{l of another class} h(1 + d_ij - d_il) ] + reg tr A,

    targets the k nearest rows of the same class under the base kernel. h is the
    hinge max(t, 0), rounded to t^2/(2 width) for 0 < t < width, then t - width/2.
    """

    def __init__(
        self, Z: Array, labels: Array, n_neighbors: int, mu: float, reg: float, width: float
    ) -> None:
        self.Z, self.mu, self.reg = Z, mu, reg
        self.other = labels[:, None] != labels
        self.targets = target_neighbours(squared_distances(Z), labels, n_neighbors)
        self.width = width

    def evaluate(self, A: Array) -> tuple[float, Array]:
        D = metric_distances(self.Z, A)
        n = len(D)
        rows = np.arange(n)
        W = np.zeros_like(D)
        total = 0.0
        for j in self.targets.T:
            has = j >= 0
            d = np.where(has, D[rows, j], 0.0)
            T = np.where(self.other & has[:, None], 1 + d[:, None] - D, 0.0)
            np.maximum(T, 0.0, out=T)
            slope = np.minimum(T / self.width, 1.0)
            loss = slope * (T - slope * self.width / 2)
            total += (1 - self.mu) * float(d.sum()) + self.mu * float(loss.sum())
            W -= self.mu * slope
            own = (1 - self.mu) * has + self.mu * slope.sum(axis=1)
            W[rows[has], j[has]] += own[has]
        value = total / n + self.reg * float(np.trace(A))
        return value, scatter(self.Z, W / n) + self.reg * np.eye(len(A))


def target_neighbours(D: Array, labels: Array, k: int) -> Array:
    """The k nearest rows of the same class, (n, k); -1 where the class has no more."""
    same = labels[:, None] == labels
    np.fill_diagonal(same, False)
    ranked = np.where(same, D, np.inf)
    order = np.argsort(ranked, axis=1, kind="stable")[:, :k]
    return np.where(np.isfinite(np.take_along_axis(ranked, order, axis=1)), order, -1)


class CollapsedClasses:
    """MCML (Globerson & Roweis 2006), convex in A:

    -(1/n) sum_i mean_{j of the same class} log p_ij + reg tr A,
    p_ij = exp(-d_ij) / sum_{l != i} exp(-d_il).
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        self.Z, self.reg = Z, reg
        same = (labels[:, None] == labels).astype(float)
        np.fill_diagonal(same, 0.0)
        # a row alone in its class says nothing: its ideal distribution is empty
        self.ideal = same / np.maximum(same.sum(axis=1), 1.0)[:, None]
        self.counts = (same.sum(axis=1) > 0).astype(float)

    def evaluate(self, A: Array) -> tuple[float, Array]:
        D = metric_distances(self.Z, A)
        n = len(D)
        P, log_sum = neighbour_probabilities(D)
        value = float(np.sum(self.ideal * D) + self.counts @ log_sum) / n
        W = (self.ideal - self.counts[:, None] * P) / n
        return (
            value + self.reg * float(np.trace(A)),
            scatter(self.Z, W) + self.reg * np.eye(len(A)),
        )


def neighbour_probabilities(D: Array) -> tuple[Array, Array]:
    """(p_ij, log sum_l exp(-d_il)) over l != i."""
    E = -D
    np.fill_diagonal(E, -np.inf)
    top = E.max(axis=1)
    P = np.exp(E - top[:, None])
    sums = P.sum(axis=1)
    return P / sums[:, None], top + np.log(sums)


class Clustering:
    """MMC (Xing, Ng, Jordan & Russell 2002): max mean_D sqrt(d_ij) s.t. mean_S d_ij <= 1.

    Both are homogeneous in A, so with C = mean_S (z_i - z_j)(z_i - z_j)' (and reg
    times its mean eigenvalue added to it) the answer is, up to its scale,

        min over A >= 0 of  <C, A> - 2 mean_D sqrt(d_ij),

    solved for B = C^{1/2} A C^{1/2}, in which <C, A> = tr B.
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        same = labels[:, None] == labels
        similar = np.triu(same, 1)
        self.different = np.triu(~same, 1) / max(1, int(np.triu(~same, 1).sum()))
        C = scatter(Z, similar / max(1, int(similar.sum())))
        C[np.diag_indices(len(C))] += reg * float(np.trace(C)) / len(C)
        w, U = linalg.eigh(C)
        self.root = (U / np.sqrt(w)) @ U.T  # C^{-1/2}
        self.Z = Z @ self.root

    def evaluate(self, B: Array) -> tuple[float, Array]:
        D = metric_distances(self.Z, B)
        roots = np.sqrt(np.maximum(D, 1e-12))
        value = float(np.trace(B)) - 2 * float(np.sum(self.different * roots))
        return value, np.eye(len(B)) - scatter(self.Z, self.different / roots)

    def metric(self, B: Array) -> Array:
        """A with <C, A> = 1."""
        return np.asarray(self.root @ B @ self.root) / float(np.trace(B))


class NeighbourhoodComponents:
    """NCA (Goldberger et al. 2005), not convex: max (1/n) sum_i sum_{same class} p_ij - reg |L|^2.

    p_ij as in MCML with d_ij = |L (z_i - z_j)|^2, L (n_components, M).
    """

    def __init__(self, Z: Array, labels: Array, reg: float) -> None:
        self.Z, self.reg = Z, reg
        self.same = labels[:, None] == labels

    def evaluate(self, L: Array) -> tuple[float, Array]:
        """(value, gradient) of the criterion."""
        F = self.Z @ L.T
        D = squared_distances(F)
        P, _ = neighbour_probabilities(D)
        own = np.where(self.same, P, 0.0)
        p = own.sum(axis=1)
        W = (P * p[:, None] - own) / len(D)
        # sum_ij W_ij L (z_i - z_j)(z_i - z_j)' with few columns F = Z L' in the place of Z
        gradient = 2 * scatter(self.Z, W, F).T - 2 * self.reg * L
        return float(p.mean()) - self.reg * float(np.sum(L**2)), gradient


def within_class_metric(Z: Array, labels: Array, reg: float) -> Array:
    """RCA (Bar-Hillel et al. 2005): A = (C + reg tr(C)/M I)^{-1}, C the within-class covariance."""
    deviations = Z.copy()
    for c in np.unique(labels):
        deviations[labels == c] -= Z[labels == c].mean(axis=0)
    C = deviations.T @ deviations / len(Z)
    C[np.diag_indices(len(C))] += reg * float(np.trace(C)) / len(C)
    return np.asarray(linalg.inv(C))


def trace_bound(reg: float) -> Any:
    """For F >= reg tr A >= 0: tr A* <= F(A)/reg at any A."""

    def bound(value: float, G_A: float, smallest: float) -> float:
        return G_A + max(0.0, -smallest) * value / reg

    return bound


def homogeneous_bound(value: float, G_A: float, smallest: float) -> float:
    """For F = tr B - 2 q(B), q homogeneous of degree 1/2: tr B* = -F*, so
    F - F* <= <G, B> + lam tr B* = <G, B> - lam F*."""
    lam = max(0.0, -smallest)
    if lam >= 1:
        return np.inf
    return max(value + (G_A - value) / (1 - lam), 0.0)
