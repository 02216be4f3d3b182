"""The learned kernel of a subspace model."""

from typing import Self

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import InputKind, Kernel, landmark_features


class SubspaceKernel(Kernel):
    """k_w(x, y) = f(x)'f(y) with the features f(x) = coef'k(x, landmarks) - offset.

    Everything it needs is a parameter, so it can be cloned, saved, and used
    as ``kernel=`` of another estimator. Its values can be negative, which
    ``SpectralClustering`` does not take: give it ``affinity="precomputed"`` and a Gaussian
    of the distance, exp(-(k_w(x, x) + k_w(y, y) - 2 k_w(x, y)) / width).

    Parameters
    ----------
    kernel : Kernel
        The base kernel, without open rules.
    landmarks : rows
        With which rows are compared.
    coef : ndarray of shape (n_landmarks, n_components)
        What makes features of kernel values.
    offset : ndarray of shape (n_components,)
        What is taken off.
    """

    def __init__(
        self,
        kernel: Kernel,
        landmarks: Rows,  # (n_landmarks, ...)
        coef: Array,  # (n_landmarks, n_components)
        offset: Array,  # (n_components,)
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.coef = coef
        self.offset = offset

    @property
    def input(self) -> InputKind:  # type: ignore[override]
        return self.kernel.input

    def numeric_columns(self, X: Rows) -> Array:
        return self.kernel.numeric_columns(X)

    def transform(self, X: Rows) -> Array:
        """f(x) for each row, (n_rows, n_components), in row blocks."""
        features = landmark_features(self.kernel, X, self.landmarks, self.coef)
        features -= self.offset
        return features

    def __call__(self, X: Rows, X_ref: Rows | None = None) -> Array:
        F = self.transform(X)
        return F @ (F if X_ref is None else self.transform(X_ref)).T

    def diag(self, X: Rows) -> Array:
        F = self.transform(X)
        return np.asarray(np.einsum("ij,ij->i", F, F))

    def __sklearn_clone__(self) -> Self:
        return self  # immutable by convention; its arrays need no copies
