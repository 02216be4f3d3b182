"""A kernel deformed by the geometry of a sample (Sindhwani, Niyogi & Belkin 2005)."""

from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, KernelLike
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.rows.access import n_rows

# The graph is solved densely: a sample of this many rows takes seconds and 0.2 GB.
GRAPH_ROWS = 2000


class GraphDeformed(Kernel):
    """k~(x, y) = k(x, y) - k_x'(I + M K)^{-1} M k_y over the rows of ``X_graph``.

    K is the base kernel on X_graph, k_x = k(x, X_graph) and M = strength / mean(diag K)
    times a power of the Laplacian of the graph that joins each of these rows to its
    ``n_neighbors`` nearest in the base kernel's distance (either way round). Rows
    that hang together in the graph become more alike. It is a function of any two
    rows, so it serves new ones.

    Parameters
    ----------
    base : str or Kernel, default="gaussian"
        The kernel that is deformed.
    X_graph : rows, default=None
        The rows of the graph, unlabelled ones too; None: the rows that the
        estimator is fitted on (at most 2000 distinct ones, chosen by content).
    n_neighbors : int, default=6
        Neighbours that each row of the graph is joined to.
    strength : float, default=1.0
        Zero leaves the base kernel as it is.
    power : float, default=1
        Of the Laplacian; higher powers leave smooth functions on the graph alone and cost rough
        ones more.
    edges : {"binary", "heat"}, default="binary"
        The weight of an edge: one, or exp(-d / t) with d the squared distance under the base
        kernel and t its mean over the edges.
    normalized : bool, default=True
        I - D^{-1/2} W D^{-1/2}, or D - W over the mean degree, with W the weights of the edges
        and D their sums.
    factor : ndarray, default=None
        F with (I + M K)^{-1} M = F F'; computed by ``resolve``.
    """

    pool_rows = GRAPH_ROWS

    def __init__(
        self,
        base: KernelLike = "gaussian",
        X_graph: Rows | None = None,
        n_neighbors: int = 6,
        strength: float = 1.0,
        power: float = 1,
        edges: str = "binary",
        normalized: bool = True,
        factor: Array | None = None,
    ) -> None:
        self.base = base
        self.X_graph = X_graph
        self.n_neighbors = n_neighbors
        self.strength = strength
        self.power = power
        self.edges = edges
        self.normalized = normalized
        self.factor = factor

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return as_kernel(self.base).input

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        size = min(n, GRAPH_ROWS) if self.X_graph is None else n_rows(self.X_graph)
        own = 0 if self.factor is not None else 80 * size**2
        return max(own, as_kernel(self.base).rule_bytes(n, is_weighted))

    def numeric_columns(self, X: Rows) -> Array:
        return as_kernel(self.base).numeric_columns(X)

    def distance_columns(self, X: Rows) -> list[Array]:
        return as_kernel(self.base).distance_columns(X)

    @property
    def is_resolved(self) -> bool:
        return self.X_graph is not None and as_kernel(self.base).is_resolved

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        """The kernel with its base resolved on the graph's rows and its factor computed."""
        return self.resolve_on(Pool.of(X))

    def resolve_on(self, pool: Pool) -> Self:
        self._check()
        graph, base = self.X_graph, as_kernel(self.base)
        if graph is None:
            graph, base = pool.distinct().head(GRAPH_ROWS).rows, base.resolve_on(pool)
        else:
            base = base.resolve(graph)
        factor = self.factor
        if factor is None:
            factor = graph_factor(
                base,
                graph,
                int(self.n_neighbors),
                float(self.strength),
                power=float(self.power),
                heat=self.edges == "heat",
                normalized=bool(self.normalized),
            )
        known = {"base": base, "X_graph": graph, "factor": factor}
        return type(self)(**{**self.get_params(deep=False), **known})

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        base, F = self._parts()
        K_F = base(X, self.X_graph) @ F
        ref_F = K_F if X_ref is None else base(X_ref, self.X_graph) @ F
        return np.asarray(base(X, X_ref) - K_F @ ref_F.T)

    def diag(self, X: Rows) -> Array:
        base, F = self._parts()
        K_F = base(X, self.X_graph) @ F
        return np.asarray(base.diag(X) - np.einsum("ij,ij->i", K_F, K_F))

    def _parts(self) -> tuple[Kernel, Array]:
        if not self.is_resolved:
            raise ValueError(
                f"{type(self).__name__} needs the rows of its graph and a base kernel with numbers "
                "in place of rules: give X_graph and call kernel.resolve(X_graph), or fit an "
                "estimator with it."
            )
        whole = self if self.factor is not None else self.resolve(self.X_graph)
        return as_kernel(whole.base), np.asarray(whole.factor)

    def _check(self) -> None:
        if not isinstance(self.n_neighbors, Integral) or int(self.n_neighbors) < 1:
            raise ValueError(
                f"GraphDeformed(n_neighbors={self.n_neighbors!r}): n_neighbors must be an "
                "integer >= 1."
            )
        if not isinstance(self.strength, Real) or not 0 <= float(self.strength) < np.inf:
            raise ValueError(
                f"GraphDeformed(strength={self.strength!r}): strength must be a number >= 0."
            )
        if not isinstance(self.power, Real) or not 0 < float(self.power) < np.inf:
            raise ValueError(f"GraphDeformed(power={self.power!r}): power must be a number > 0.")
        if self.edges not in ("binary", "heat"):
            raise ValueError(
                f"GraphDeformed(edges={self.edges!r}): edges must be 'binary' or 'heat'."
            )
        if self.input == "matrix":
            raise ValueError(
                "GraphDeformed needs kernel values between any two rows, and of a precomputed "
                "kernel only those with the training rows are known."
            )


def graph_factor(
    base: Kernel,
    X_graph: Rows,
    n_neighbors: int,
    strength: float,
    *,
    power: float = 1.0,
    heat: bool = False,
    normalized: bool = True,
) -> Array:
    """F (n, n) with F F' = (I + M K)^{-1} M = R (I + R K R)^{-1} R, M = R R."""
    K = base(X_graph).astype(np.float64)
    W = graph_edges(K, min(n_neighbors, n_rows(X_graph) - 1), heat=heat)
    w, U = linalg.eigh(graph_laplacian(W, normalized=normalized))
    scale = strength / float(np.mean(np.diagonal(K)))
    R = (U * np.sqrt(scale * np.maximum(w, 0) ** power)) @ U.T
    inner = np.eye(len(K)) + R @ K @ R
    L = linalg.cholesky((inner + inner.T) / 2, lower=True)
    return np.asarray(linalg.solve_triangular(L, R, lower=True).T)


def graph_edges(K: Array, n_neighbors: int, *, heat: bool = False) -> Array:
    """Weights of the edges of the symmetrised nearest-neighbour graph of a kernel matrix."""
    d = np.diagonal(K)
    distance = np.maximum(d[:, None] + d - 2 * K, 0.0)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, n_neighbors - 1, axis=1)[:, :n_neighbors]
    W = np.zeros_like(K)
    np.put_along_axis(W, nearest, 1.0, axis=1)
    W = np.maximum(W, W.T)
    if heat:
        joined = W > 0
        t = float(distance[joined].mean())
        W[joined] = np.exp(-distance[joined] / (t if t > 0 else 1.0))
    return W


def graph_laplacian(W: Array, *, normalized: bool = True) -> Array:
    """I - D^{-1/2} W D^{-1/2}, or (D - W) / mean degree; D the row sums of W."""
    degree = W.sum(axis=1)
    if not normalized:
        return np.asarray((np.diag(degree) - W) / degree.mean())
    # a far row may have edges that weigh nothing: nothing is asked of it
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    return np.asarray(np.diag((degree > 0).astype(float)) - root[:, None] * W * root)
