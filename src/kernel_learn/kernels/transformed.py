"""The learned kernel of a linear transformation in feature space."""

from typing import Self

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, landmark_features

SPAN = 1e-10  # of the largest eigenvalue: directions below it are rounding


class TransformedKernel(Kernel):
    """k_W(x, y) = phi(x)'W phi(y), W = alpha I + Phi'S Phi with the landmarks' features Phi.

        k_W(x, y) = alpha k(x, y) + f(x)' diag(weights) f(y),   f(x) = coef'k(x, landmarks),

    so S = coef diag(weights) coef' (Jain et al. 2010, Eq. 3). With alpha = 0
    it has low rank; with alpha > 0 it is the base kernel plus what was learned.
    Everything it needs is a parameter, so it can be cloned, saved, and used as
    ``kernel=`` of another estimator.

    Parameters
    ----------
    kernel : Kernel
        The base kernel, without open rules.
    landmarks : rows
        With which rows are compared.
    coef : ndarray of shape (n_landmarks, rank)
        What makes features of kernel values.
    weights : ndarray of shape (rank,)
        Of these features.
    alpha : float
        Weight of the base kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        landmarks: Rows,  # (n_landmarks, ...)
        coef: Array,  # (n_landmarks, r)
        weights: Array,  # (r,)
        alpha: float,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.coef = coef
        self.weights = weights
        self.alpha = alpha

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return self.kernel.input

    def numeric_columns(self, X: Rows) -> Array:
        return self.kernel.numeric_columns(X)

    def features(self, X: Rows) -> Array:
        """f(x) for each row, (n_rows, r), in row blocks."""
        return landmark_features(self.kernel, X, self.landmarks, self.coef)

    def transform(self, X: Rows) -> Array:
        """Features of each row whose products are the kernel, (n_rows, rank).

        With alpha > 0 those of its part in the span of the landmarks, which is all of it if a
        row is one of them:  f(x) = (L'L)^+^(1/2) k_W(landmarks, x), L'L their kernel matrix.
        """
        if not self.alpha:
            F = self.features(X)
            return np.asarray(F * np.sqrt(np.maximum(self.weights, 0.0)).astype(F.dtype))
        w, V = linalg.eigh(self(self.landmarks))
        kept = w > SPAN * w[-1]
        return np.asarray(self(X, self.landmarks) @ (V[:, kept] / np.sqrt(w[kept])))

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        F = self.features(X)
        F_ref = F if X_ref is None else self.features(X_ref)
        K = (F * self.weights.astype(F.dtype)) @ F_ref.T
        if self.alpha:
            self._check_matrix(X, X_ref)
            K += self.alpha * self.kernel(X, X_ref)
        return np.asarray(K)

    def diag(self, X: Rows) -> Array:
        self._check_matrix(X, None)
        F = self.features(X)
        d = np.einsum("ij,j,ij->i", F, self.weights.astype(F.dtype), F)
        return np.asarray(d + self.alpha * self.kernel.diag(X)) if self.alpha else np.asarray(d)

    def _check_matrix(self, X: Rows, X_ref: Rows | None) -> None:
        """A row of a precomputed matrix knows the training rows only, not other new rows."""
        if (
            self.alpha
            and self.input == "matrix"
            and (X_ref is not None or X.shape[0] != X.shape[1])
        ):
            raise ValueError(
                "This learned kernel adds to its base kernel, and of a precomputed base kernel "
                "only the values with the training rows are known: call it on the training matrix "
                "itself, or use the features of transform."
            )

    def __sklearn_clone__(self) -> Self:
        return self  # immutable by convention; its arrays need no copies
