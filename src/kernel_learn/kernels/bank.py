"""Several kernels: named, evaluated together, combined with weights."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import (
    BLOCK_SIZE,
    InputKind,
    Kernel,
    KernelsLike,
    ProfileKernel,
    evaluate_profiles,
    mirror_panel,
    shared_statistic,
)
from kernel_learn.kernels.columns import ColumnKernel, as_rows
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.precomputed import Precomputed
from kernel_learn.kernels.resolve import as_kernel, is_bank, named_kernels
from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.kernels.subspace import SubspaceKernel
from kernel_learn.rows.access import n_rows, row_blocks, take_rows
from kernel_learn.rows.frames import is_frame
from kernel_learn.rows.table import Table


def gaussian_bank(
    n: int = 10, low: float = 0.1, high: float = 100.0, *, relative: bool = False
) -> dict[str, Gaussian]:
    """n kernels exp(-|x - y|^2 / sigma), sigma log-spaced from low to high (Ye et al. 2007).

    ``relative``: sigma times the median of |x - y|^2 over the training rows. Distances
    grow with the number of columns, and absolute widths suit a few of them: on tumours with
    12,533 genes all kernels of the bank see but the row itself.

    Parameters
    ----------
    n : int, default=10
        How many widths.
    low : float, default=0.1
        The least sigma.
    high : float, default=100.0
        The largest sigma.
    relative : bool, default=False
        Whether sigma is in units of the median squared distance.
    """
    if not isinstance(n, Integral) or n < 1 or not 0 < low <= high < np.inf:
        raise ValueError(
            f"gaussian_bank(n={n}, low={low}, high={high}) needs a whole number n >= 1 and "
            "0 < low <= high."
        )
    sigmas = [float(sigma) for sigma in np.geomspace(low, high, n)]
    names = [f"gaussian_{sigma:.4g}" + "_median" * relative for sigma in sigmas]
    if len(set(names)) < n:  # four digits do not tell them apart
        names = [f"{name}_{i}" for i, name in enumerate(names)]
    gammas = [f"{1 / sigma!r} * median" if relative else 1 / sigma for sigma in sigmas]
    return {name: Gaussian(gamma) for name, gamma in zip(names, gammas, strict=True)}


def as_bank(spec: KernelsLike, X: Rows = None) -> tuple[list[str], list[Kernel]] | None:
    """Names and kernels of a bank; None if the user gave one kernel.

    A precomputed kernel and a stack X of matrices (n, n, p) are a bank of p layers.
    """
    if is_bank(spec):
        names, specs = named_kernels(spec)
        if not specs:
            raise ValueError("kernel is an empty bank; give at least one kernel.")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"kernel is a bank with several kernels of the name {', '.join(twice)} (names are "
                "read as strings). Give each its own name."
            )
        return names, [as_kernel(kernel) for kernel in specs]
    if spec == "precomputed" or isinstance(spec, Precomputed):
        kernel = as_kernel(spec)
        if isinstance(kernel, Precomputed) and kernel.layer is None and getattr(X, "ndim", 2) == 3:
            layers = range(X.shape[2])
            if not layers:
                raise ValueError(
                    f"X is a stack of no kernel matrices (shape {X.shape}); a stack is (n, n, p) "
                    "with p of at least 1."
                )
            return [f"kernel_{i}" for i in layers], [
                Precomputed(psd=kernel.psd, layer=i) for i in layers
            ]
    return None


class Combination(Kernel):
    """k(x, y) = sum_i weights_i k_i(x, y); a kernel of weight zero is never evaluated.

    Parameters
    ----------
    kernels : sequence of Kernel
        What is added up.
    weights : ndarray of shape (n_kernels,)
        How much each counts.
    """

    def __init__(self, kernels: Sequence[Kernel], weights: Array) -> None:
        self.kernels = kernels
        self.weights = weights

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return common_input(self.kernels)

    @property
    def is_resolved(self) -> bool:
        return all(kernel.is_resolved for kernel in self.kernels)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        kernels = [kernel.resolve(rows_for(kernel, X), sample_weight) for kernel in self.kernels]
        return type(self)(kernels, self.weights)

    def resolve_on(self, pool: Pool) -> Self:
        return type(self)(resolve_bank(self.kernels, pool), self.weights)

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        return max(kernel.rule_bytes(n, is_weighted) for kernel in self.kernels)

    def numeric_columns(self, X: Rows) -> Array:
        columns = [kernel.numeric_columns(X) for kernel in self.kernels]
        return np.unique(np.concatenate(columns)).astype(int)

    def distance_columns(self, X: Rows) -> list[Array]:
        return [part for kernel in self.kernels for part in kernel.distance_columns(X)]

    @property
    def row_copies(self) -> float:  # type: ignore[override]
        return max(kernel.row_copies for kernel in self.kernels)

    def gram_copies(self, n_columns: int) -> float:
        return max(kernel.gram_copies(n_columns) for kernel in self.kernels)

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        """The weights, if none is zero: a weight that is zero stays so."""
        weights = np.asarray(self.weights, dtype=np.float64)
        return {"weights": weights} if np.all(weights > 0) else {}

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        """d k / d log weights_i = weights_i k_i."""
        Ks = [
            weight * np.asarray(kernel(rows_for(kernel, X)))
            for kernel, weight in zip(self.kernels, self.weights, strict=True)
        ]
        return {"weights": np.stack(Ks, axis=2)}

    @property
    def takes_vectors(self) -> bool:
        return all(kernel.takes_vectors for kernel in self.kernels)

    def reference(self, X: Rows, indices: Array) -> Rows:
        return self.kernels[0].reference(X, indices)

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        active = [
            (kernel, weight)
            for kernel, weight in zip(self.kernels, self.weights, strict=True)
            if weight != 0
        ]
        sides = (X, X if X_ref is None else X_ref)
        total = np.zeros((n_rows(sides[0]), n_rows(sides[1])))
        for members in shared_groups([kernel for kernel, _ in active]):
            _add_group([active[m] for m in members], X, X_ref, total)
        if X_ref is None:
            for rows in row_blocks(len(total), pairwise.PANEL_ROWS):
                mirror_panel(total, rows)
        return total.astype(pairwise.result_dtype(*sides), copy=False)

    def reference_gradient(self, X: Rows, X_ref: Rows, A: Array) -> Array:
        total = np.zeros(X_ref.shape)
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            if weight != 0:
                sides = rows_for(kernel, X), rows_for(kernel, X_ref)
                total += weight * kernel.reference_gradient(*sides, A)
        return total

    def diag(self, X: Rows) -> Array:
        total = np.zeros(n_rows(X))
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            if weight != 0:
                total += weight * kernel.diag(rows_for(kernel, X))
        return total.astype(pairwise.result_dtype(X), copy=False)


def evaluate_bank(
    kernels: Sequence[Kernel], X: Rows, X_ref: Rows | None = None
) -> Iterator[tuple[int, Array]]:
    """(index, K_index) for each kernel; kernels of one distance share its blocks.

    Parameters
    ----------
    kernels : sequence of Kernel
        Without open rules.
    X : rows
        Rows of the matrices.
    X_ref : rows, optional
        Their columns; None: X.
    """
    for members in shared_groups(kernels):
        group = [kernels[m] for m in members]
        profiles = [profile for kernel in group if (profile := _profile(kernel)) is not None]
        A, B = _group_rows(group[0], X), None if X_ref is None else _group_rows(group[0], X_ref)
        Ks = evaluate_profiles(profiles, A, B) if profiles else [group[0](A, B)]
        yield from zip(members, Ks, strict=True)


def resolve_bank(kernels: Sequence[Kernel], pool: Pool) -> list[Kernel]:
    """Each kernel with its rules replaced by their values on the pool."""
    pools = {kernel.input: pool for kernel in kernels}  # one for all that see the same rows
    for kernel in kernels:
        rows = rows_for(kernel, pool.X)
        if rows is not pool.X and pools[kernel.input] is pool:
            pools[kernel.input] = replace(pool, X=rows)
    return [kernel.resolve_on(pools[kernel.input]) for kernel in kernels]


def shared_groups(kernels: Sequence[Kernel]) -> list[list[int]]:
    """Indices of kernels, grouped by the statistic and columns that they share."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, kernel in enumerate(kernels):
        profile = _profile(kernel)
        key = (str(i),) if profile is None else (profile.statistic, _columns_key(kernel))
        groups.setdefault(key, []).append(i)
    return list(groups.values())


def common_input(kernels: Sequence[Kernel]) -> InputKind:
    """What a row must be for all of the kernels."""
    kinds = {kernel.input for kernel in kernels}
    if "columns" in kinds and kinds <= {"columns", "vectors"}:
        return "columns"
    if len(kinds) > 1:
        raise ValueError(
            f"The kernels of the bank take different rows ({', '.join(sorted(kinds))}). "
            "Wrap each in ColumnKernel(kernel, columns) and pass a data frame."
        )
    return kinds.pop()


def rows_for(kernel: Kernel, X: Rows) -> Rows:
    """X as the kernel takes it: a table becomes an array for a kernel on all columns."""
    is_table = isinstance(X, Table) or is_frame(X)
    return as_rows(X, "vectors", "X") if is_table and kernel.input == "vectors" else X


def _add_group(
    group: list[tuple[Kernel, float]], X: Rows, X_ref: Rows | None, total: Array
) -> None:
    """Add weight * K of kernels that share a statistic; of a symmetric sum the lower triangle."""
    first, weight = group[0]
    A, B = _group_rows(first, X), None if X_ref is None else _group_rows(first, X_ref)
    profiles = [(profile, w) for kernel, w in group if (profile := _profile(kernel)) is not None]
    if not profiles:
        total += weight * first(A, B)
        return
    statistic = shared_statistic([profile for profile, _ in profiles], A, B)
    for rows, columns in statistic.panels():
        S = np.empty(total[rows, columns].shape, dtype=statistic.dtype)
        statistic.block(rows, columns, S)
        for profile, w in profiles:
            K = np.multiply(S, profile.scale / statistic.scale)
            profile.profile(K)
            total[rows, columns] += np.multiply(w, K, dtype=np.float64)


def _profile(kernel: Kernel) -> ProfileKernel | None:
    """The kernel that shares a statistic with others, if this is one, or one on some columns."""
    # a subclass with a call of its own is asked for its values, not for its profile
    if isinstance(kernel, ColumnKernel) and type(kernel).__call__ is not ColumnKernel.__call__:
        return None
    inner = kernel.base if isinstance(kernel, ColumnKernel) else kernel
    shares = isinstance(inner, ProfileKernel) and type(inner).__call__ is ProfileKernel.__call__
    return inner if shares else None


def _columns_key(kernel: Kernel) -> str:
    if not isinstance(kernel, ColumnKernel):
        return "all columns"
    columns = kernel.columns
    return repr(columns if isinstance(columns, str | slice) else np.ravel(columns).tolist())


def _group_rows(kernel: Kernel, X: Rows) -> Rows:
    """The rows on which the kernels that share a statistic with this one are evaluated."""
    if isinstance(kernel, ColumnKernel) and _profile(kernel) is not None:
        return kernel.select(X)
    return rows_for(kernel, X)


class StackedSubspaceKernel(SubspaceKernel):
    """f(x) = sum_i coef_i'k_i(x, landmarks) - offset: coefficients of their own for each kernel.

    ``coef`` is (n_kernels * n_landmarks, n_components), one block per kernel
    of the combination ``kernel``.
    """

    def transform(self, X: Rows) -> Array:
        assert isinstance(self.kernel, Combination)
        kernels = self.kernel.kernels
        features = np.zeros((n_rows(X), self.coef.shape[1]), dtype=self.coef.dtype)
        coefs = self.coef.reshape(len(kernels), -1, self.coef.shape[1])
        for rows in row_blocks(len(features), max(1, BLOCK_SIZE // len(self.coef))):
            for i, K in evaluate_bank(kernels, take_rows(X, rows), self.landmarks):
                features[rows] += K @ coefs[i]
        features -= self.offset
        return features
