"""Which rows become landmarks.

Choices are made among distinct rows in the order of their content keys, with
the weights of repeated rows added up: the order of the rows does not matter,
and a row of weight two is two rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from scipy import linalg
from sklearn.cluster import KMeans, MiniBatchKMeans

from kernel_learn.arrays import Array, Rows, RowsLike
from kernel_learn.kernels.bank import common_input
from kernel_learn.kernels.base import Kernel
from kernel_learn.rows.access import is_sparse, n_columns, n_rows, row_blocks, take_rows
from kernel_learn.rows.check_rows import check_magnitude, check_readable
from kernel_learn.rows.coerce import as_array, as_vectors
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import Table, as_in, vectors_of

Rule = Literal["uniform", "kmeans", "rpcholesky", "stratified", "random", "clusters"]
RULES = ("uniform", "kmeans", "rpcholesky", "stratified", "random", "clusters")
# Rules whose landmarks are combinations of all rows in feature space, not rows:
# a new row then costs a kernel value with every training row.
COMBINING_RULES = ("random", "clusters")
# Rows among which "rpcholesky" chooses: so many for each landmark, and so many at the least. More
# cost time and memory, and no choice was better for them.
CANDIDATES, LEAST_CANDIDATES = 8, 4000
# Entries of the rows whose kernel values are taken at a time: a kernel makes copies of them.
PREPARED = 2**19


@dataclass(frozen=True)
class Landmarks:
    """A rule for choosing landmarks, and how many (None: the plan's default).

    Parameters
    ----------
    rule : {"uniform", "kmeans", "rpcholesky", "stratified", "random", "clusters"}
        How they are chosen.
    count : int or None
        How many.
    """

    rule: Rule = "rpcholesky"
    count: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"Landmarks(rule={self.rule!r}): the rules are {', '.join(RULES)}.")
        is_count = isinstance(self.count, Integral) and not isinstance(self.count, bool)
        if self.count is not None and not (is_count and self.count >= 1):
            raise ValueError(f"Landmarks(count={self.count!r}): count must be a positive integer.")


LandmarksLike = Landmarks | int | str | RowsLike  # how many, a rule, or the rows themselves


def candidate_rows(rule: Rule, count: int, pool: int) -> int:
    """Among how many rows of a pool so many landmarks are chosen."""
    few = max(LEAST_CANDIDATES, CANDIDATES * count)
    return min(pool, few) if rule == "rpcholesky" else pool


@dataclass(frozen=True)
class Chosen:
    """Landmark rows; their indices if they are rows of X; the share of the trace left out."""

    rows: Rows
    indices: Array | None
    residual: float | None


def select_landmarks(
    rule: Rule,
    count: int,
    kernel: Kernel,
    X: Rows,
    candidates: Array,  # indices of distinct rows in key order
    weight: Array,  # their weights
    rng: np.random.RandomState,
    labels: Rows = None,  # (n_candidates, k) their weight in each class, if they have classes
) -> Chosen:
    """Choose ``count`` landmarks among the candidate rows of X."""
    count = min(count, len(candidates))
    residual = None
    if rule == "kmeans":
        return Chosen(select_kmeans(count, kernel, X, candidates, weight, rng), None, None)
    if rule == "uniform":
        picked = select_uniform(count, weight, rng)
    elif rule == "stratified":
        picked = select_stratified(count, weight, labels, rng)
    else:
        picked, residual = select_rpcholesky(count, kernel, take_rows(X, candidates), weight, rng)
    indices = candidates[picked]
    return Chosen(take_rows(X, indices), indices, residual)


def select_uniform(count: int, weight: Array, rng: np.random.RandomState) -> Array:
    """Without replacement, proportional to weight: the largest log(u)/w (Efraimidis & Spirakis)."""
    log_u, counts = np.log(rng.uniform(size=len(weight))), weight > 0
    rank = np.divide(log_u, weight, out=np.full(len(weight), -np.inf), where=counts)
    return np.argsort(rank)[-min(count, int(counts.sum())) :]


def select_stratified(count: int, weight: Array, labels: Rows, rng: np.random.RandomState) -> Array:
    """As many of each class as of any other, uniform within it; all of a class with fewer."""
    if labels is None:
        raise ValueError(
            'landmarks="stratified" takes as many rows of each class, and there are no classes '
            'here. Use "uniform".'
        )
    majority = np.asarray(labels.argmax(axis=1)).ravel()
    members = [np.flatnonzero((majority == c) & (weight > 0)) for c in range(labels.shape[1])]
    picked: list[Array] = []
    for left, own in zip(range(len(members), 0, -1), sorted(members, key=len), strict=True):
        quota = (count - sum(map(len, picked))) // left  # what the smaller classes left over
        if quota and len(own):
            picked.append(own[select_uniform(min(quota, len(own)), weight[own], rng)])
    return np.concatenate(picked) if picked else select_uniform(count, weight, rng)


def select_kmeans(
    count: int,
    kernel: Kernel,
    X: Rows,
    candidates: Array,
    weight: Array,
    rng: np.random.RandomState,
) -> Rows:
    """Centres of k-means on the rows themselves."""
    if not kernel.takes_vectors:
        raise ValueError(
            f'landmarks="kmeans" averages rows, and a row here is one of {kernel.input}. '
            'Use "rpcholesky" or "uniform".'
        )
    big = len(candidates) > 10_000
    method = MiniBatchKMeans if big else KMeans
    clusters = method(count, random_state=rng.randint(2**31 - 1), n_init=1)
    rows = vectors_of(take_rows(X, candidates))
    centres = clusters.fit(rows, sample_weight=weight).cluster_centers_
    return as_in(X, np.asarray(centres, dtype=X.dtype))


def select_rpcholesky(
    count: int, kernel: Kernel, X: Rows, weight: Array, rng: np.random.RandomState
) -> tuple[Array, float]:
    """Randomly pivoted Cholesky, in blocks with rejection (Chen et al. 2023; Epperly et al. 2024).

    K ~ F F'; a pivot is drawn with probability proportional to the weighted
    residual diagonal d = diag(K - F F'). A block of draws is thinned so that
    the accepted ones are distributed as if drawn one after the other. Returns
    the pivots and the share of the trace that is left, sum w d / sum w diag K.
    """
    n = n_rows(X)
    d = kernel.diag(X).astype(np.float64)
    d0 = d.copy()
    if not np.any(weight * d0 > 0):
        raise ValueError(
            f"{kernel!r} has no positive value k(x, x) on these rows, so that none of them can be "
            "a landmark: it is no kernel on them."
        )
    F = np.empty((n, count))
    pivots: list[int] = []
    block = min(count, draw_size(count))
    while len(pivots) < count:
        r = len(pivots)
        p = weight * np.where(d > 1e-12 * d0, d, 0.0)  # what is left is rounding below that
        if not p.any():
            break
        drawn = rng.choice(n, size=min(block, count - r), p=p / p.sum())
        R = evaluate_in_blocks(kernel, X, kernel.reference(X, drawn))
        R -= F[:, :r] @ F[drawn, :r].T
        accepted, L = _reject(R[drawn], d[drawn], rng)
        columns = slice(r, r + len(accepted))
        F[:, columns] = linalg.solve_triangular(L, R[:, accepted].T, lower=True).T
        d = np.maximum(d - np.einsum("ij,ij->i", F[:, columns], F[:, columns]), 0.0)
        pivots.extend(int(i) for i in drawn[accepted])
        d[pivots] = 0.0
    return np.array(pivots), float(weight @ d) / float(weight @ d0)


def draw_size(count: int) -> int:
    """Pivots drawn at a time: in fewer rounds rows are prepared less often, and more rejected."""
    return max(10, count // 6)


def prepared_rows(width: int) -> int:
    """Rows whose kernel values are taken at a time."""
    return max(100, PREPARED // max(1, width))


def evaluate_in_blocks(kernel: Kernel, X: Rows, X_ref: Rows) -> Array:
    """k(X, X_ref) in float64, so few rows at a time that what a kernel makes of them is small."""
    n = n_rows(X)
    K = np.empty((n, n_rows(X_ref)))
    for part in row_blocks(n, prepared_rows(n_columns(X))):
        K[part] = kernel(take_rows(X, part), X_ref)
    return K


def _reject(H: Array, d: Array, rng: np.random.RandomState) -> tuple[list[int], Array]:
    """Accept draw i with probability (what is left of d_i given those accepted) / d_i.

    Returns the accepted draws and the Cholesky factor of their residual block.
    """
    H = (H + H.T) / 2
    u = rng.uniform(size=len(d))
    accepted: list[int] = []
    L = np.zeros_like(H)  # (draws, accepted)
    for i in range(len(d)):
        a = len(accepted)
        left = H[i, i] - L[i, :a] @ L[i, :a]
        if left > max(u[i] * d[i], 1e-12 * d[i]):
            L[i:, a] = (H[i:, i] - L[i:, :a] @ L[i, :a]) / np.sqrt(left)
            accepted.append(i)
    return accepted, L[accepted, : len(accepted)]


def combine_rows(
    rule: Rule,
    count: int,
    X: Rows,  # distinct rows in key order
    weight: Array,
    rng: np.random.RandomState,
) -> Array:
    """J (n, count): "random": Gaussian coefficients; "clusters": indicators of k-means clusters."""
    n = n_rows(X)
    count = min(count, n)
    if rule == "random":
        return np.asarray(rng.normal(size=(n, count)))
    clusters = KMeans(count, random_state=rng.randint(2**31 - 1), n_init=1)
    return np.asarray(np.eye(count)[clusters.fit(X, sample_weight=weight).labels_])


def check_landmarks(spec: LandmarksLike) -> Landmarks | str | Rows:
    """What the user gave for ``landmarks=``, as "auto", "all", ``Landmarks``, or rows."""
    if isinstance(spec, str):
        if spec in ("auto", "all"):
            return spec
        if spec in RULES:
            return Landmarks(spec)  # type: ignore[arg-type]
        raise ValueError(
            f"landmarks={spec!r} is not known. Give a number, 'auto', 'all', one of the rules "
            f"{', '.join(RULES)}, Landmarks(rule, count), or the landmark rows themselves."
        )
    if isinstance(spec, Integral) and not isinstance(spec, bool):
        if spec < 1:
            raise ValueError(f"landmarks={spec!r}: at least one landmark is needed.")
        return Landmarks(count=int(spec))
    is_rows = isinstance(spec, Sequence) or len(getattr(spec, "shape", ())) > 0
    if not (isinstance(spec, Landmarks) or (is_rows and not isinstance(spec, bytes))):
        raise ValueError(f"landmarks={spec!r} is not a count, a rule, or rows.")
    return spec


def check_landmark_rows(spec: RowsLike, kernels: Sequence[Kernel], X: Rows) -> int:
    """How many landmarks were given, as rows or indices; refuses what the kernels cannot take."""
    kind, n = common_input(kernels), n_rows(X)
    is_read = is_sparse(spec) or is_frame(spec) or isinstance(spec, Table)
    rows: Rows = spec if is_read else as_array(spec, "landmarks")
    count = n_rows(rows) if len(rows.shape) else 0
    if not count:
        raise ValueError("landmarks holds no rows; at least one landmark is needed.")
    if len(rows.shape) == 1 and rows.dtype.kind in "iub":
        _check_indices(rows, n)
    elif kind == "matrix":
        raise ValueError(
            "landmarks of a precomputed kernel are rows of its matrix: pass their indices."
        )
    elif kind == "vectors":
        check_readable(spec, "landmarks")
        _check_vectors(rows, X)
    elif kind == "columns" and tuple(rows.shape[1:]) != tuple(X.shape[1:]):
        raise ValueError(
            f"landmarks has the shape {tuple(rows.shape)}, and rows have {X.shape[1]} columns."
        )
    return count


def _check_indices(indices: Array, n: int) -> None:
    if indices.dtype.kind == "b":
        raise ValueError(
            "landmarks is a mask of booleans; pass the indices, numpy.flatnonzero(mask)."
        )
    least, most = int(indices.min()), int(indices.max())
    if least < 0 or most >= n:
        raise ValueError(
            f"landmarks names the rows {least} to {most}, and there are {n} rows, numbered from "
            f"0 to {n - 1}."
        )


def _check_vectors(rows: Rows, X: Rows) -> None:
    if len(rows.shape) != 2 or rows.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks has the shape {tuple(rows.shape)}; landmark rows are (n_landmarks, "
            f"{X.shape[1]}), with the columns of X, and indices of rows are whole numbers."
        )
    rows = as_vectors(rows)
    values = rows.data if is_sparse(rows) else rows
    if not np.isfinite(values).all():
        raise ValueError("landmarks has rows with NaN or infinity; leave them out or fill them.")
    check_magnitude(rows, "landmarks")
