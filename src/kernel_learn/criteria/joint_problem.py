"""The subspace and its support vector machines as one problem (Chen et al. 2008, 3.2 and 4.3).

    min over W, max over alpha of  sum_j [ 1'alpha_j - 1/2 A_j' K_w A_j ],   A = y * alpha,
    0 <= alpha_j <= C,  y_j'alpha_j = 0

with K_w = G W (W'(G + lam I) W)^{-1} W'G (SVM_joint), or K_w = G W W'G under
W'(G G + lam G) W = I (uSVM_joint). With Khat = G (G + lam)^{-1} G, or G (G + lam)^{-1},
and rows F, Khat = F F', every such kernel is K_w = F P F' with P a projector of rank l.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Combined
from kernel_learn.representations.gram import Gram
from kernel_learn.representations.linalg import invert_shifted
from kernel_learn.solvers.eigen import fix_signs, solve_top_eigen
from kernel_learn.solvers.margin import MarginSolution, best_intercept, total_loss

# A squared length below this share of the largest is rounding of A'Khat A.
DUAL_RANK = 1e-14


@dataclass(frozen=True)
class RowMap:
    """Coordinates in which every subspace kernel is F P F': F(x) = B'(phi(x) - mean), B = U s.

    ``spectrum`` has the eigenvalues h of Khat, the squared lengths of the
    columns of F.
    """

    U: Array  # (m, r), eigenvectors of the sample's operator
    scale: Array  # (r,), s
    spectrum: Array  # (r,)

    def lift(self, E: Array) -> Array:
        """Coefficients in the sample's terms of directions E (r, l) among the columns of F."""
        return np.asarray(self.U @ (self.scale[:, None] * E))


def shrink_spectrum(w: Array, lam: float, uncorrelated: bool) -> Array:
    """Eigenvalues of Khat from those of G: w/(w + lam), or w^2/(w + lam)."""
    return np.asarray(w / (w + lam) if uncorrelated else w**2 / (w + lam))


def map_rows(sample: Combined, w: Array, U: Array, lam: float, uncorrelated: bool) -> RowMap:
    """The map of a sample whose operator is U diag(w) U'.

    Column j is the j-th principal axis of the sample in feature space, where
    its rows have the squared length w_j, scaled to h(w_j).
    """
    h = shrink_spectrum(w, lam, uncorrelated)
    return RowMap(U, np.sqrt(h / w / sample.spectral_inner(w)), h)


class DualMap:
    """Khat = F F', and directions F'D given by D (n, l), without an eigendecomposition.

    On rows with weights S = diag(s) Khat = S^{-1/2} h(G) S^{-1/2}, and with Q = (G + lam)^{-1}

        h(G) = I - lam Q (uSVM_joint),   h(G) = G - lam I + lam^2 Q (SVM_joint),
        F'D has the coefficients Q S^{-1/2} D, or (I - lam Q) S^{-1/2} D.
    """

    def __init__(self, sample: Gram, Q: Array, lam: float, uncorrelated: bool) -> None:
        """Q (n, n) becomes Khat if it is not needed any more."""
        self.sample, self.lam = sample, lam
        self.Q = None if uncorrelated else Q
        if uncorrelated:
            Q *= -lam
            Q[np.diag_indices(len(Q))] += 1.0
            self.Khat = Q
        else:
            self.Khat = Q * lam**2
            self.Khat += sample.operator
            self.Khat[np.diag_indices(len(Q))] -= lam
        self.root = sample.root_weight
        if np.any(self.root != 1.0):
            self.Khat /= self.root[:, None]
            self.Khat /= self.root

    def lift(self, D: Array) -> Array:
        """Coefficients in the sample's terms of the directions F'D."""
        X = D / self.root[:, None]
        if self.Q is not None:
            return np.asarray(X - self.lam * (self.Q @ X))
        B = self._solve(X)
        # one step of refinement: the difference in _solve lost digits
        return np.asarray(B + self._solve(X - self.sample.operator @ B - self.lam * B))

    def _solve(self, X: Array) -> Array:
        """Q X = (X - h(G) X) / lam."""
        h_X = self.root[:, None] * (self.Khat @ (self.root[:, None] * X))
        return np.asarray((X - h_X) / self.lam)


def map_dual(sample: Combined, lam: float, uncorrelated: bool) -> DualMap | None:
    """Khat of exact rows from one factorisation and inverse; None where lam is too small."""
    if not isinstance(sample, Gram):
        return None
    Q = invert_shifted(sample.operator, lam)
    return None if Q is None else DualMap(sample, Q, lam, uncorrelated)


class DualProblem:
    """The joint problem for l >= m: machines on Khat, whose normals F'A span the subspace."""

    Khat: Array | None

    def __init__(self, Khat: Array, signs: Array, boxes: Array) -> None:
        self.Khat, self.signs, self.boxes = Khat, signs, boxes
        self.n_components = signs.shape[1]

    def frame(self, machines: MarginSolution) -> tuple[Array, Array]:
        """(D, coef): orthonormal directions F'D that span F'A, and F'A in them, (m, l)."""
        found = solve_top_eigen(machines.A.T @ machines.scores, self.n_components, DUAL_RANK)
        return machines.A @ found.point, found.point * found.values


class JointProblem:
    """The joint problem in the rows F (n, r), relaxed: P in {0 <= P <= I, tr P = l}.

        D(alpha) = 1'alpha - 1/2 (sum of the l largest eigenvalues of N),  N = A'F F'A
                 = 1'alpha - 1/2 max over X of tr(X N),   X (m, m) in the same set

    bounds the optimum from below for every feasible alpha; max D is the
    optimum of the relaxed problem, convex in P and concave in alpha. From
    above it is bounded by the primal value of any weights V (r, m),

        1/2 |V|^2_(l) + sum C max(0, 1 - y (F V + b)),
        |V|^2_(l) = min { sum s_i^2 / t_i : 0 < t_i <= 1, sum t_i <= l },  s = singular values,

    the spectral l-support norm. For l >= m X = I, |V|_(l) is the Frobenius
    norm, and the saddle point is m machines with the kernel matrix F F'.
    """

    def __init__(
        self,
        F: Array,  # (n, r)
        signs: Array,  # (n, m)
        boxes: Array,  # (n,)
        n_components: int,
        Khat: Array | None = None,  # (n, n), F F' if machines are to be solved on it
    ) -> None:
        self.F, self.signs, self.boxes = F, signs, boxes
        self.n_components, self.Khat = n_components, Khat

    def normals(self, alpha: Array) -> Array:
        """V = F'A, (r, m)."""
        return np.asarray(self.F.T @ (self.signs * alpha))

    def lower(self, alpha: Array) -> float:
        V = self.normals(alpha)
        top = linalg.eigvalsh(V.T @ V)[::-1][: self.n_components]
        return float(alpha.sum()) - 0.5 * float(top.sum())

    def upper(self, V: Array) -> float:
        """The primal value of weights V with the best intercepts."""
        s = np.sqrt(np.maximum(linalg.eigvalsh(V.T @ V)[::-1], 0.0))
        return 0.5 * support_norm(s, self.n_components) + self.losses(self.F @ V)

    def losses(self, scores: Array) -> float:
        total = 0.0
        for f, y in zip(scores.T, self.signs.T, strict=True):
            total += total_loss(f + best_intercept(f, y, self.boxes), y, self.boxes)
        return total

    def smoothed(self, alpha: Array, mu: float) -> tuple[float, Array, Array]:
        """(D_mu, its gradient, weights): X maximises tr(X N) - mu/2 |X|^2; gradient 1 - y F V X."""
        V = self.normals(alpha)
        N = V.T @ V
        X = project_fantope(N / mu, self.n_components)
        value = float(alpha.sum()) - 0.5 * (float(np.sum(X * N)) - 0.5 * mu * float(np.sum(X * X)))
        V_X = V @ X
        return value, 1.0 - self.signs * (self.F @ V_X), V_X

    def project(self, alpha: Array) -> Array:
        """The nearest point in the boxes with y'alpha = 0, machine by machine."""
        return project_balanced_box(alpha, self.signs, self.boxes[:, None])

    def frame(self, machines: MarginSolution) -> tuple[Array, Array]:
        """(E, coef): the best subspace for the machines, and their weights in it, (m, l)."""
        V = self.normals(machines.alpha)
        E = fix_signs(self.directions(V))
        return E, np.asarray((E.T @ V).T)

    def directions(self, V: Array) -> Array:
        """Orthonormal (r, l), top left singular vectors of V: the best response to its alpha."""
        return orthonormal_span(V)[:, : self.n_components]


def orthonormal_span(V: Array) -> Array:
    """Left singular vectors of V (r, m), the largest first, as many as its rank."""
    left, s, _ = linalg.svd(V, full_matrices=False)
    rank = int(np.sum(s > 1e-10 * s[0])) if s.any() else 0
    return np.asarray(left[:, :rank])


def support_norm(s: Array, l: int) -> float:  # noqa: E741
    """min { sum s_i^2 / t_i : 0 < t_i <= 1, sum t_i <= l } for s descending.

    t_i = min(1, s_i/theta): the q largest have t = 1, the others share l - q,
    which leaves (sum of the others)^2 / (l - q); theta is that sum / (l - q).
    """
    if len(s) <= l:
        return float(s @ s)
    for q in range(l):
        rest = float(s[q:].sum())
        theta = rest / (l - q)
        if s[q] <= theta:  # and s[q - 1] > theta of the round before, so t_{q-1} = 1
            return float(s[:q] @ s[:q]) + rest**2 / (l - q)
    return float(s @ s)  # pragma: no cover - at q = l - 1, theta is at least s[q]


def project_fantope(N: Array, l: int) -> Array:  # noqa: E741
    """The nearest X with 0 <= X <= I and tr X = l (l <= m): eigenvalues clip(w - t, 0, 1)."""
    w, R = linalg.eigh(N, check_finite=False)
    if len(w) <= l:
        return np.eye(len(w))
    # the trace falls piecewise linearly in t with kinks at w and w - 1
    kinks = np.sort(np.concatenate([w, w - 1.0]))
    traces = np.clip(w - kinks[:, None], 0.0, 1.0).sum(axis=1)
    i = int(np.searchsorted(-traces, -l, side="right")) - 1
    i = min(max(i, 0), len(kinks) - 2)
    fall = traces[i] - traces[i + 1]
    share = (traces[i] - l) / fall if fall > 0 else 0.0
    t = kinks[i] + share * (kinks[i + 1] - kinks[i])
    return np.asarray((R * np.clip(w - t, 0.0, 1.0)) @ R.T)


def project_balanced_box(alpha: Array, signs: Array, boxes: Array) -> Array:
    """Columns clip(alpha - b y, 0, C) with b such that y'alpha = 0.

    y'clip(alpha - b y) falls in b, piecewise linearly: Newton's steps, and a
    bisection where they leave the bracket.
    """
    low = np.min(np.where(signs > 0, alpha - boxes, -alpha), axis=0)
    high = np.max(np.where(signs > 0, alpha, boxes - alpha), axis=0)
    b = np.clip(np.zeros(alpha.shape[1]), low, high)
    scale = 1e-15 * np.sum(np.broadcast_to(boxes, alpha.shape), axis=0)
    for _ in range(100):
        shifted = alpha - b * signs
        inside = np.sum((shifted > 0) & (shifted < boxes), axis=0)
        excess = np.sum(signs * np.clip(shifted, 0.0, boxes), axis=0)
        if np.all((np.abs(excess) <= scale) | (high - low <= 1e-16 * (np.abs(low) + np.abs(high)))):
            break
        low, high = np.where(excess > 0, b, low), np.where(excess > 0, high, b)
        newton = b + excess / np.maximum(inside, 1)
        b = np.where((inside > 0) & (newton > low) & (newton < high), newton, 0.5 * (low + high))
    return np.asarray(np.clip(alpha - b * signs, 0.0, boxes))
