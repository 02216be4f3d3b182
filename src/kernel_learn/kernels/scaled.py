"""A kernel of rows whose columns carry scales."""

from typing import ClassVar, Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, KernelLike, below
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.rows.access import dense, is_sparse
from kernel_learn.rows.coerce import as_vectors


class ScaledKernel(Kernel):
    """k(s * x, s * y) for a kernel k of vectors and scales s >= 0, one per column.

    A column of scale zero is dropped: the base kernel does not see it, and neither do
    its rules (``gamma="auto"`` counts the columns that are left).

    Parameters
    ----------
    base : str or Kernel
        The kernel of vectors.
    scales : ndarray of shape (n_columns,)
        Not negative.
    """

    input: ClassVar[InputKind] = "vectors"

    def __init__(self, base: KernelLike, scales: Array) -> None:
        self.base = base
        self.scales = scales

    @property
    def kernel(self) -> Kernel:
        """The base kernel as an object (``base`` may be its name)."""
        kernel = as_kernel(self.base)
        if kernel.input != "vectors":
            raise ValueError(
                f"ScaledKernel multiplies columns of numbers, and {kernel!r} takes {kernel.input}. "
                "Wrap it in a ColumnKernel that gives it numbers, or leave out the scales."
            )
        return kernel

    def scaled(self, X: Rows) -> Rows:
        """X diag(s) without the columns of scale zero; sparse rows stay sparse."""
        X = as_vectors(X)
        s = self._checked(X.shape[1])
        kept = np.flatnonzero(s)
        return scale_columns(X if len(kept) == len(s) else X[:, kept], s[kept].astype(X.dtype))

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        return self.kernel(self.scaled(X), None if X_ref is None else self.scaled(X_ref))

    def diag(self, X: Rows) -> Array:
        return self.kernel.diag(self.scaled(X))

    @property
    def log_parameters(self) -> dict[str, float | Array]:
        return below("base", self.kernel.log_parameters if isinstance(self.base, Kernel) else {})

    def log_gradients(self, X: Rows) -> dict[str, Array]:
        return below("base", self.kernel.log_gradients(self.scaled(X)))

    @property
    def is_resolved(self) -> bool:
        return self.kernel.is_resolved

    @property
    def row_copies(self) -> float:  # type: ignore[override]
        return 1.0 + self.kernel.row_copies

    def gram_copies(self, n_columns: int) -> float:
        return 1.0 + self.kernel.gram_copies(n_columns)

    @property
    def pool_rows(self) -> int | None:  # type: ignore[override]
        """As many as the rules of its kernel look at."""
        return self.kernel.pool_rows

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        return self.kernel.rule_bytes(n, is_weighted)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        return self.resolve_on(Pool.of(as_vectors(X), sample_weight))

    def resolve_on(self, pool: Pool) -> Self:
        if self.is_resolved:
            return self
        few, columns = pool.head(self.pool_rows), pool.columns
        s = self._checked(pool.X.shape[1])
        if columns is not None:
            kept = np.flatnonzero(s)
            own = columns.select(kept)
            columns = type(own)(own.n, s[kept] * own.mean, s[kept] ** 2 * own.squares)
        part = Pool(self.scaled(few.rows), None, few.weight, columns, is_distinct=False)
        return type(self)(self.kernel.resolve_on(part), self.scales)

    def reference_gradient(self, X: Rows, X_ref: Array, A: Array) -> Array:
        s = self._checked(X_ref.shape[1])
        gradient = np.zeros(X_ref.shape)
        inner = self.kernel.reference_gradient(self.scaled(X), self.scaled(X_ref), A)
        gradient[:, s > 0] = s[s > 0] * inner
        return gradient

    def explicit_dimension(self, X: Rows) -> int | None:
        return self.kernel.explicit_dimension(self.scaled(X[:1]))

    def explicit_landmarks(self, X: Rows) -> Rows:
        """Points that the scales carry to those of the base kernel."""
        s = self._checked(X.shape[1])
        inner = self.kernel.explicit_landmarks(self.scaled(X[:1]))
        E = np.zeros((inner.shape[0], len(s)), dtype=inner.dtype)
        E[:, s > 0] = dense(inner) / s[s > 0]
        return E

    def _checked(self, d: int) -> Array:
        s = np.asarray(self.scales, dtype=np.float64)
        if s.shape != (d,):
            raise ValueError(
                f"ScaledKernel has scales of shape {s.shape}, and X has {d} columns: one scale per "
                "column is needed."
            )
        if not (np.all(np.isfinite(s)) and np.all(s >= 0) and s.any()):
            raise ValueError(
                "ScaledKernel(scales=): scales must be finite, not negative, and not all zero."
            )
        return s


def scale_columns(X: Rows, s: Array | None) -> Rows:
    """X diag(s), sparse if X is; X itself without scales."""
    if s is None:
        return X
    return X.multiply(s[None, :]).tocsr() if is_sparse(X) else X * s
