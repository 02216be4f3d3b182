"""Several kernels: named, evaluated together, combined with weights."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from kernel_learn.kernels import pairwise
from kernel_learn.kernels.base import (
    Array,
    InputKind,
    Kernel,
    ProfileKernel,
    Rows,
    evaluate_profiles,
    profile_panels,
    take_rows,
)
from kernel_learn.kernels.columns import ColumnKernel, as_rows
from kernel_learn.kernels.stationary import Gaussian


def gaussian_bank(n: int = 10, low: float = 0.1, high: float = 100.0) -> dict[str, Gaussian]:
    """n Gaussians exp(-|x - y|^2 / sigma) with sigma log-spaced from low to high (Ye et al. 2007)."""
    if n < 1 or not 0 < low <= high:
        raise ValueError(
            f"gaussian_bank(n={n}, low={low}, high={high}) needs n >= 1 and 0 < low <= high."
        )
    sigmas = np.geomspace(low, high, n)
    return {f"gaussian_{sigma:.4g}": Gaussian(gamma=float(1 / sigma)) for sigma in sigmas}


class Combination(Kernel):
    """k(x, y) = sum_i weights_i k_i(x, y); a kernel of weight zero is never evaluated."""

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

    def reference(self, X: Rows, indices: Array) -> Rows:
        return (
            self.kernels[0].reference(X, indices)
            if self.input == "matrix"
            else take_rows(X, indices)
        )

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        active = [i for i, weight in enumerate(self.weights) if weight != 0]
        n, n_ref = pairwise.n_rows(X), pairwise.n_rows(X if X_ref is None else X_ref)
        n_ref = X.shape[1] if X_ref is None and self.input == "matrix" else n_ref
        total = np.zeros((n, n_ref))
        for members in shared_groups([self.kernels[i] for i in active]):
            indices = [active[m] for m in members]
            _add_group(
                [self.kernels[i] for i in indices],
                [self.weights[i] for i in indices],
                X,
                X_ref,
                total,
            )
        return total.astype(_rows_dtype(X), copy=False)

    def diag(self, X: Rows) -> Array:
        return np.asarray(
            sum(
                weight * kernel.diag(rows_for(kernel, X))
                for kernel, weight in zip(self.kernels, self.weights, strict=True)
                if weight != 0
            )
        )


def evaluate_bank(
    kernels: Sequence[Kernel], X: Rows, X_ref: Rows | None = None
) -> Iterator[tuple[int, Array]]:
    """(index, K_index) for each kernel; kernels of one distance share its blocks."""
    for members in shared_groups(kernels):
        group = [kernels[m] for m in members]
        if len(group) == 1:
            kernel = group[0]
            yield members[0], kernel(rows_for(kernel, X), _maybe_rows_for(kernel, X_ref))
            continue
        Ks = evaluate_profiles(
            [_profile(kernel) for kernel in group],
            _statistic_rows(group[0], X),
            None if X_ref is None else _statistic_rows(group[0], X_ref),
        )
        yield from zip(members, Ks, strict=True)


def shared_groups(kernels: Sequence[Kernel]) -> list[list[int]]:
    """Indices of kernels, grouped by the statistic and columns that they share."""
    groups: dict[Any, list[int]] = {}
    for i, kernel in enumerate(kernels):
        groups.setdefault(_shared_key(kernel) or ("alone", i), []).append(i)
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
    """X as the kernel takes it: a frame becomes an array for a kernel on all columns."""
    return as_rows(X, "vectors", "X") if kernel.input == "vectors" else X


def _add_group(
    kernels: list[Kernel], weights: list[float], X: Rows, X_ref: Rows | None, total: Array
) -> None:
    if _shared_key(kernels[0]) is None:
        K = kernels[0](rows_for(kernels[0], X), _maybe_rows_for(kernels[0], X_ref))
        total += weights[0] * K
        return
    A = _statistic_rows(kernels[0], X)
    B = None if X_ref is None else _statistic_rows(kernels[0], X_ref)
    for rows, columns, blocks in profile_panels([_profile(k) for k in kernels], A, B):
        panel = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
        for weight, block in zip(weights, blocks, strict=True):
            panel += weight * block
        total[rows, columns] += panel
        if X_ref is None:
            total[rows.stop :, rows] += panel[:, rows.stop - rows.start :].T


def _shared_key(kernel: Kernel) -> tuple[str, str] | None:
    if isinstance(kernel, ProfileKernel):
        return kernel.statistic, "all columns"
    if isinstance(kernel, ColumnKernel) and isinstance(kernel.kernel, ProfileKernel):
        return kernel.kernel.statistic, repr(kernel.columns)
    return None


def _profile(kernel: Kernel) -> ProfileKernel:
    profile = kernel.kernel if isinstance(kernel, ColumnKernel) else kernel
    assert isinstance(profile, ProfileKernel)
    return profile


def _statistic_rows(kernel: Kernel, X: Rows) -> Rows:
    return kernel.select(X) if isinstance(kernel, ColumnKernel) else rows_for(kernel, X)


def _maybe_rows_for(kernel: Kernel, X_ref: Rows | None) -> Rows | None:
    return None if X_ref is None else rows_for(kernel, X_ref)


def _rows_dtype(X: Rows) -> Any:
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
