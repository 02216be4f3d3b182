"""Metric learning from pairs, chunklets and triplets: MMC, RCA and LMNN without classes.

Rows of U are differences z_i - z_j of the pairs that take part, so that the squared distance
of a pair is |u L|^2 at A = L L', and the gradient in A of sum_p w(d_p) is U' diag(w') U.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components

from kernel_learn.arrays import Array
from kernel_learn.criteria.constraints import Constraints, Pairs, Triplets
from kernel_learn.criteria.neighbours import Clustering, PairCriterion, within_class
from kernel_learn.rows.coerce import as_array

ChunkletsLike = Constraints | ArrayLike  # pairs, or the number of its chunklet for each row


class ClusteringPairs(Clustering):
    """MMC (Xing et al. 2002) on given pairs: max mean_D sqrt(d) s.t. mean_S d <= 1.

    min over A >= 0 of <C, A> - 2 mean_D sqrt(d), C = mean_S uu' (and reg times its mean
    eigenvalue), solved for B = C^{1/2} A C^{1/2}; see ``neighbours.Clustering``.
    """

    def __init__(self, similar: Array, dissimilar: Array, reg: float) -> None:
        C = similar.T @ similar / len(similar)
        C[np.diag_indices(len(C))] += reg * float(np.trace(C)) / len(C)
        w, V = linalg.eigh(C)
        self.root = (V / np.sqrt(w)) @ V.T  # C^{-1/2}
        self.Z = dissimilar @ self.root
        self.constant = np.eye(len(C))

    def _features(self, L: Array) -> Array:
        return np.asarray(self.Z @ L)  # differences: nothing to centre

    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        roots = np.sqrt(np.maximum(np.einsum("ij,ij->i", F, F), 1e-12))
        return -2 * float(roots.mean()), X * (-1 / (len(F) * roots))[:, None]


class RelativeDistances(PairCriterion):
    """LMNN on given triplets (i, j, l), convex in A:

        mean over triplets of [(1 - mu) d_ij + mu h(margin + d_ij - d_il)] + reg tr A,

    h the rounded hinge of ``large_margin.LargeMargin``. It is solved for B = P^{1/2} A P^{1/2}
    with <P, A> = tr B all that is linear in A, so that tr B* <= F(B*) <= F(B).
    """

    def __init__(
        self,
        near: Array,  # (m, M) z_i - z_j
        far: Array,  # (m, M) z_i - z_l
        margin: Array,  # (m,)
        mu: float,
        reg: float,
        width: float,
    ) -> None:
        self.margin, self.mu, self.width, self.m = margin, mu, width, len(near)
        P = (1 - mu) * near.T @ near / len(near)
        P[np.diag_indices(len(P))] += reg
        w, V = linalg.eigh(P)
        self.root = (V / np.sqrt(w)) @ V.T  # P^{-1/2}
        self.Z = np.vstack([near, far]) @ self.root
        self.constant = np.eye(len(P))

    def _features(self, L: Array) -> Array:
        return np.asarray(self.Z @ L)

    def _loss(self, F: Array, X: Array) -> tuple[float, Array]:
        d = np.einsum("ij,ij->i", F, F)
        T = np.maximum(self.margin + d[: self.m] - d[self.m :], 0.0)
        slope = np.minimum(T / self.width, 1.0)
        value = self.mu * float(np.mean(slope * (T - slope * self.width / 2)))
        weight = self.mu / self.m * np.concatenate([slope, -slope])
        return value, X * weight[:, None]

    def bound(self, value: float, G_A: float, smallest: float) -> float:
        return G_A + max(0.0, -smallest) * value

    def metric(self, L: Array) -> Array:
        """A factor of A."""
        return np.asarray(self.root @ L)


def chunklets_of(pairs: Array, n: int) -> Array:
    """The component of each row in the graph of the pairs, (n,); -1 for a row in no pair."""
    ones = np.ones(len(pairs))
    graph = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    taken = np.zeros(n, dtype=bool)
    taken[pairs] = True
    return np.where(taken, component, -1)


def read_chunklets(constraints: ChunkletsLike, n: int, owner: str) -> Array | None:
    """Numbers of chunklets, (n,), if constraints are such an array; negative: in none."""
    if isinstance(constraints, Constraints):
        return None
    chunks = as_array(constraints, "constraints")
    if chunks.shape != (n,) or chunks.dtype.kind not in "iu":
        raise ValueError(
            f"{owner} takes constraints of kernel_learn.constraints, or the number of its chunklet "
            f"for each of the {n} rows (-1 for a row in none)."
        )
    return chunks


def read_pair_indices(constraints: Constraints, n: int, owner: str) -> tuple[Array, Array]:
    """Similar and dissimilar pairs of indices."""
    for family in constraints.families:
        if not isinstance(family, Pairs):
            raise ValueError(
                f"{owner} learns from Pairs, and {type(family).__name__} were given. "
                "InductiveKernel takes them."
            )
        if family.similar_max is not None or family.dissimilar_min is not None:
            raise ValueError(
                f"{owner} has no bounds on single pairs: leave out similar_max and dissimilar_min, "
                "or use InductiveKernel."
            )
    _check_rows_named(constraints, n, owner)
    families = [family for family in constraints.families if isinstance(family, Pairs)]
    similar = np.concatenate([family.similar for family in families])
    dissimilar = np.concatenate([family.dissimilar for family in families])
    return similar, dissimilar


def read_triplets(constraints: ChunkletsLike, n: int, owner: str) -> tuple[Array, Array]:
    """Triplets of indices, and their margins (nan where none was given)."""
    if not isinstance(constraints, Constraints):
        raise ValueError(
            f"{owner} takes kernel_learn.constraints.Triplets, and constraints is a "
            f"{type(constraints).__name__}."
        )
    for family in constraints.families:
        if not isinstance(family, Triplets):
            raise ValueError(
                f"{owner} learns from Triplets, and {type(family).__name__} were given. KernelMMC, "
                "KernelRCA and InductiveKernel take pairs."
            )
    _check_rows_named(constraints, n, owner)
    families = [family for family in constraints.families if isinstance(family, Triplets)]
    margins = [
        np.broadcast_to(np.nan if f.margin is None else f.margin, len(f.triplets)) for f in families
    ]
    return np.concatenate([f.triplets for f in families]), np.concatenate(margins)


def _check_rows_named(constraints: Constraints, n: int, owner: str) -> None:
    if not constraints.holds_indices:
        raise ValueError(
            f"{owner} takes constraints by the indices of rows of X; these hold the rows "
            "themselves, which InductiveKernel takes."
        )
    top = int(constraints.rows().max(initial=0))
    if top >= n:
        raise ValueError(f"The constraints name row {top}, and X has {n} rows (0 to {n - 1}).")


def read_clustering(
    constraints: ChunkletsLike,
    Z: Array,  # (n, M)
    reg: float,
    owner: str,
) -> Clustering:
    """MMC's criterion on pairs of rows, or on the chunklet of each row."""
    chunks = read_chunklets(constraints, len(Z), owner)
    if chunks is not None:
        rows = np.flatnonzero(chunks >= 0)
        labels = np.unique(chunks[rows], return_inverse=True)[1]
        check_told(len(rows) - labels.max(initial=-1) - 1, "rows of one chunklet", owner)
        check_told(labels.max(initial=0), "chunklets beside the first", owner)
        return Clustering(Z[rows], labels, reg)
    assert isinstance(constraints, Constraints)
    similar, dissimilar = read_pair_indices(constraints, len(Z), owner)
    check_told(len(similar), "similar pairs", owner)
    check_told(len(dissimilar), "dissimilar pairs", owner)
    near, far = (Z[pairs[:, 0]] - Z[pairs[:, 1]] for pairs in (similar, dissimilar))
    check_told(float(np.abs(near).max()), "similar pairs of rows that differ", owner)
    return ClusteringPairs(near, far, reg)


def read_chunklet_rows(constraints: ChunkletsLike, Z: Array, owner: str) -> tuple[Array, Array]:
    """(Z, labels) of the rows in chunklets, which pairs give by what they join."""
    chunks = read_chunklets(constraints, len(Z), owner)
    if chunks is None:
        assert isinstance(constraints, Constraints)
        similar, _ = read_pair_indices(constraints, len(Z), owner)
        check_told(len(similar), "similar pairs", owner)
        chunks = chunklets_of(similar, len(Z))
    rows = np.flatnonzero(chunks >= 0)
    Z, labels = Z[rows], np.unique(chunks[rows], return_inverse=True)[1]
    spread = float(np.abs(within_class(Z, labels)).max(initial=0.0))
    check_told(spread, "rows of one chunklet that differ", owner)
    return Z, labels


def check_told(amount: float, what: str, owner: str) -> None:
    """Refuse constraints that say nothing."""
    if not amount > 0:
        raise ValueError(f"{owner} has nothing to learn from: the constraints hold no {what}.")
