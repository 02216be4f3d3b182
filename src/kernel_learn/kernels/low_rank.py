"""A kernel cut to its leading directions on a sample."""

from numbers import Integral
from typing import Self

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, KernelLike
from kernel_learn.kernels.pool import Pool
from kernel_learn.kernels.resolve import as_kernel
from kernel_learn.rows.access import n_rows

LANDMARK_ROWS = 2000


class LowRank(Kernel):
    """k_l(x, y) = f(x)'f(y) with the top l eigenvectors of the kernel matrix of a sample.

    f(x) = coef'k(x, landmarks), coef = U_l w_l^{-1/2} of K = U diag(w) U': kernel
    principal components without centring. ``landmarks`` and ``coef`` are
    computed by ``resolve`` (from at most 2000 distinct rows, chosen by content; of a
    precomputed matrix from all of its rows).

    Parameters
    ----------
    base : str or Kernel, default="gaussian"
        Of which components are taken.
    n_components : int, default=2
        How many.
    landmarks : rows or None
        Found by ``resolve``.
    coef : ndarray or None
        Found by ``resolve``.
    """

    pool_rows = LANDMARK_ROWS

    def __init__(
        self,
        base: KernelLike = "gaussian",
        n_components: int = 2,
        landmarks: Rows | None = None,
        coef: Array | None = None,
    ) -> None:
        self.base = base
        self.n_components = n_components
        self.landmarks = landmarks
        self.coef = coef

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return as_kernel(self.base).input

    @property
    def is_resolved(self) -> bool:
        return self.coef is not None

    def rule_bytes(self, n: int, is_weighted: bool = False) -> int:
        m = n if self.input == "matrix" else min(n, LANDMARK_ROWS)
        own = 0 if self.is_resolved else 48 * m**2
        return max(own, as_kernel(self.base).rule_bytes(n, is_weighted))

    def numeric_columns(self, X: Rows) -> Array:
        return as_kernel(self.base).numeric_columns(X)

    def resolve(self, X: Rows, sample_weight: Array | None = None) -> Self:
        return self.resolve_on(Pool.of(X, sample_weight))

    def resolve_on(self, pool: Pool) -> Self:
        if not isinstance(self.n_components, Integral) or int(self.n_components) < 1:
            raise ValueError(
                f"LowRank(n_components={self.n_components!r}): n_components must be an "
                "integer >= 1."
            )
        if self.is_resolved:
            return self
        if self.input == "matrix":
            base = as_kernel(self.base).resolve(pool.X)
            landmarks = np.arange(n_rows(pool.X))
            K = base(pool.X).astype(np.float64)
        else:
            base = as_kernel(self.base).resolve_on(pool)
            landmarks = pool.distinct().head(LANDMARK_ROWS).rows
            K = base(landmarks).astype(np.float64)
        n, r = len(K), min(int(self.n_components), len(K))
        w, U = linalg.eigh((K + K.T) / 2, subset_by_index=(n - r, n - 1))
        kept = w > n * np.finfo(float).eps * w[-1]
        coef = np.ascontiguousarray((U[:, kept] / np.sqrt(w[kept]))[:, ::-1])
        return type(self)(base, r, landmarks, coef)

    def transform(self, X: Rows) -> Array:
        """f(x) for each row."""
        if self.coef is None:
            raise ValueError(f"{self!r} waits for a sample: call kernel.resolve(X) first.")
        return np.asarray(as_kernel(self.base)(X, self.landmarks) @ self.coef)

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        F = self.transform(X)
        if self.input == "matrix":
            return np.asarray(F @ self._training_features(X_ref).T)
        return np.asarray(F @ (F if X_ref is None else self.transform(X_ref)).T)

    def _training_features(self, indices: Array | None) -> Array:
        """f of the rows of a precomputed matrix: coef = U w^{-1/2}, and U w^{1/2} is coef w."""
        assert self.coef is not None
        w = 1 / np.einsum("ij,ij->j", self.coef, self.coef)
        rows = slice(None) if indices is None else np.asarray(indices)
        return np.asarray(self.coef[rows] * w)

    def reference(self, X: Rows, indices: Array) -> Rows:
        return as_kernel(self.base).reference(X, indices)

    def diag(self, X: Rows) -> Array:
        F = self.transform(X)
        return np.asarray(np.einsum("ij,ij->i", F, F))
