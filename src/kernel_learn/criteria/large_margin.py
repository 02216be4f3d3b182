"""Large margin nearest neighbours: few of the n^2 k triples matter, and only those are listed."""

from itertools import pairwise

import numpy as np
from scipy import linalg, sparse

from kernel_learn.arrays import Array
from kernel_learn.criteria.neighbours import (
    BLOCK_SIZE,
    PairCriterion,
    above_rounding,
    pair_blocks,
    products_of,
)

RESERVE = 0.2  # beside a margin of 1
PATIENCE = 5  # lists that may be too short before the reserve grows
SCALES = 2.0 ** np.arange(1, -8, -1)  # of L: four times as much for A


class LargeMargin(PairCriterion):
    """LMNN (Weinberger, Blitzer & Saul 2005), convex in A:

        (1/n) sum_i sum_{j target of i} [ (1 - mu) d_ij
            + mu sum_{l of another class} h(1 + d_ij - d_il) ] + reg tr A,

    targets the k nearest rows of the same class under the base kernel. h is the
    hinge max(t, 0), rounded to t^2/(2 width) for 0 < t < width, then t - width/2.

    It is solved for B = P^{1/2} A P^{1/2} with <P, A> = tr B all that is linear in A, the pull of
    the targets and reg tr A: well scaled, and tr B <= F(A).

    The sum runs over the listed impostors l of each row i. The list is made by a pass
    over all pairs: those within the margin at some L and, since L will move, those
    within ``reserve`` of it. At that L nothing is missing, so value and gradient are
    those of the whole problem; elsewhere the listed part bounds it from below. If
    lists keep coming out too short the reserve grows, so in the end one is long enough.
    """

    def __init__(
        self, Z: Array, labels: Array, n_neighbors: int, mu: float, reg: float, width: float
    ) -> None:
        self.labels, self.mu, self.width = labels, mu, width
        self.targets = target_neighbours(Z - Z.mean(axis=0), labels, n_neighbors)
        n = len(Z)
        self.has = self.targets >= 0
        P = np.zeros((Z.shape[1],) * 2)
        for target in self.targets.T:
            U = Z[target >= 0] - Z[target[target >= 0]]
            P += (1 - mu) / n * (U.T @ U)
        P[np.diag_indices(len(P))] += reg
        w, V = linalg.eigh(P)
        self.root = (V / np.sqrt(above_rounding(w))) @ V.T  # P^{-1/2}
        self.Z = Z @ self.root
        self.constant = np.eye(len(P))
        self.starts = np.zeros(n + 1, dtype=np.int64)  # of each row's impostors
        self.impostors = np.empty(0, dtype=np.int32)
        self.reserve, self.listed, self.n_misses = RESERVE, False, 0

    def evaluate(self, L: Array) -> tuple[float, Array]:
        if not self.listed:
            self._list(L)
        return super().evaluate(L)

    def complete(self, L: Array) -> tuple[float, Array]:
        listed, _ = self.evaluate(L)
        self._list(L)
        value, G = super().complete(L)
        self.n_misses += value > listed * (1 + 1e-9)
        if self.n_misses > PATIENCE:
            self.reserve *= 2
        return value, G

    def bound(self, value: float, G_A: float, smallest: float) -> float:
        """tr B* <= F(B*) <= F(B)."""
        return G_A + max(0.0, -smallest) * value

    def scaled(self, L: Array) -> Array:
        """The best multiple of L, roughly: from many times L, where few impostors are left."""
        best, least = L, np.inf
        for factor in SCALES:
            self._list(factor * L)
            value, _ = self.evaluate(factor * L)
            if value >= least:
                break
            best, least = factor * L, value
        self.listed = False
        return np.asarray(best)

    def metric(self, L: Array) -> Array:
        """A factor of A."""
        return np.asarray(self.root @ L)

    def _target_distances(self, F: Array) -> Array:
        """d_ij of each row and its targets, (n, k); -inf where there is none."""
        D = np.full(self.targets.shape, -np.inf)
        for j, target in enumerate(self.targets.T):
            U = F - F[target]
            D[:, j] = np.where(target >= 0, np.einsum("ij,ij->i", U, U), -np.inf)
        return D

    def _list(self, L: Array) -> None:
        """List every impostor that is, or may soon be, inside a margin."""
        F = self._features(L)
        n = len(F)
        left, right = products_of(F)
        # |f_i|^2 - d_il > |f_i|^2 - 1 - max_j d_ij - reserve
        least = -right[:, -1] - 1 - self.reserve - self._target_distances(F).max(axis=1)
        found, counts = [], np.zeros(n, dtype=np.int64)
        for rows in pair_blocks(n, n):
            near = left[rows] @ right.T > least[rows, None]
            near &= self.labels[rows, None] != self.labels
            i, l_ = np.nonzero(near)
            counts[rows] = np.bincount(i, minlength=len(near))
            found.append(l_.astype(np.int32))
        self.starts[1:] = np.cumsum(counts)
        self.impostors = np.concatenate(found)
        self.listed = True

    def _pairs(self, rows: slice) -> tuple[Array, Array]:
        """The listed (i - rows.start, l)."""
        starts = self.starts[rows.start : rows.stop + 1]
        i = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return i, self.impostors[starts[0] : starts[-1]]

    def _blocks(self, n_columns: int) -> list[slice]:
        """Rows whose impostors make one block."""
        size = max(1, BLOCK_SIZE // max(1, n_columns))
        cuts = np.searchsorted(self.starts, np.arange(0, self.starts[-1], size), side="right") - 1
        cuts = np.unique(np.append(cuts, len(self.starts) - 1))
        return [slice(a, b) for a, b in pairwise(cuts)]

    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        n = len(F)
        D = self._target_distances(F)
        far = 1 + D.max(axis=1)
        pulls, total, Q = np.zeros(D.shape), 0.0, np.zeros_like(X)
        for rows in self._blocks(F.shape[1]):
            i, l_ = self._pairs(rows)
            U = F[rows][i] - F[l_]
            d = np.einsum("ij,ij->i", U, U)
            inside = d < far[rows][i]
            i, l_ = i[inside], l_[inside]
            T = 1 + D[rows][i] - d[inside, None]
            np.maximum(T, 0.0, out=T)
            slope = np.minimum(T / self.width, 1.0)
            total += float(np.sum(slope * (T - slope * self.width / 2)))
            n_rows = rows.stop - rows.start
            for column, weight in zip(pulls.T, slope.T, strict=True):
                column[rows] = np.bincount(i, weight, minlength=n_rows)
            starts = np.searchsorted(i, np.arange(n_rows + 1))
            W = sparse.csr_array((slope.sum(axis=1), l_, starts), shape=(n_rows, n))
            Q -= pair_gradient(W, X, rows)
        i, j = np.nonzero(self.has)
        W = sparse.csr_array((pulls[i, j], (i, self.targets[i, j])), shape=(n, n))
        Q += pair_gradient(W, X, slice(0, n))
        return self.mu * total / n, Q * (self.mu / n)


def pair_gradient(W: sparse.csr_array, X: Array, rows: slice) -> Array:
    """Q(X) of the weights W, (len(rows), n)."""
    WT_X = W.T @ X[rows]
    Q = W.sum(axis=0)[:, None] * X - WT_X
    Q[rows] += W.sum(axis=1)[:, None] * X[rows] - W @ X
    return np.asarray(Q)


def target_neighbours(Z: Array, labels: Array, k: int) -> Array:
    """The k nearest rows of the same class, (n, k); -1 where the class has no more."""
    targets = np.full((len(Z), k), -1)
    for c in np.unique(labels):
        own = np.flatnonzero(labels == c)
        left, right = products_of(Z[own])
        for rows in pair_blocks(len(own), len(own)):
            near = left[rows] @ right.T
            here = np.arange(len(near))
            near[here, here + rows.start] = -np.inf
            for j in range(min(k, len(own) - 1)):
                best = near.argmax(axis=1)  # the first one among equals
                targets[own[rows], j] = own[best]
                near[here, best] = -np.inf
    return targets
