"""Large margins in the span of a few points (sparse large margin classifiers, Wu et al. 2005)."""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import Kernel

Machine = Callable[[Array, Array, Array, Array | None], Array]
"""(F, y, C, start) -> (w, b), the linear machine on features F."""


def check_definite(kernel: Kernel, K: Array) -> None:
    """Refuse a function of points that is no kernel: its matrix has negative eigenvalues."""
    w = linalg.eigvalsh(K)
    if not w[0] > -1e-9 * abs(w[-1]):
        raise ValueError(
            f"{kernel!r} is not positive semidefinite on the points: the eigenvalues of its matrix "
            f"run from {w[0]:.3g} to {w[-1]:.3g}, and such a function spans no subspace. Choose a "
            "kernel, Gaussian() or Polynomial() say."
        )


class ExpansionMargin:
    """J(Z) = sum_j min over w, b of 1/2 |w|^2 + 1/2 sum_i C_i max(0, 1 - y_ij (w'f_i + b))^2

    on the subspace kernel k_Z(x, y) = k(x, Z) K_ZZ^{-1} k(Z, y) that the m
    points Z span (Wu & Farquhar Eq. 16). With a_ij = y_ij C_i max(0, slack_ij),
    the machines' dual variables, q = k(Z, X) a and p = K_ZZ^{-1} q, the
    envelope theorem gives dJ = -1/2 tr a'dK_Z a:

        dJ / dz_s = - sum_i (a p')_is dk(x_i, z_s)/dz_s + sum_t (p p')_ts dk(z_t, z_s)/dz_s.

    Points are measured in units of ``scale``, so that one step length suits all columns.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,
        signs: Array,  # (n, j)
        C: Array,  # (n,)
        scale: Array,  # (d,)
        machine: Machine,
    ) -> None:
        self.kernel, self.X, self.signs, self.C = kernel, X, signs, C
        self.scale, self.machine = scale, machine
        self.solutions: list[Array | None] = [None] * signs.shape[1]

    def features(self, Z: Array) -> tuple[Array, Array]:
        """(K(X, Z), W) with W W' = K_ZZ^{-1}; the features are K(X, Z) W."""
        K = self.kernel(Z)
        K[np.diag_indices(len(K))] += 1e-8 * np.trace(K) / len(K)  # points may come to coincide
        check_definite(self.kernel, K)
        R = linalg.cholesky(K)
        return self.kernel(self.X, Z), linalg.solve_triangular(R, np.eye(len(K)))

    def machines(self, F: Array) -> tuple[Array, Array, float]:
        """(V, a, value): weights and intercepts (m + 1, j), dual variables (n, j), their sum J."""
        value, duals = 0.0, np.empty(self.signs.shape)
        for j, y in enumerate(self.signs.T):
            v = self.machine(F, y, self.C, self.solutions[j])
            self.solutions[j] = v
            slack = np.maximum(1 - y * (F @ v[:-1] + v[-1]), 0)
            duals[:, j] = y * self.C * slack
            value += 0.5 * float(v[:-1] @ v[:-1]) + 0.5 * float(self.C @ slack**2)
        return np.stack([v for v in self.solutions if v is not None], axis=1), duals, value

    def value_and_gradient(self, points: Array) -> tuple[float, Array]:
        Z = points * self.scale
        K_xz, W = self.features(Z)
        _, a, value = self.machines(K_xz @ W)
        p = W @ (W.T @ (K_xz.T @ a))
        gradient = self.kernel.reference_gradient(Z, Z, p @ p.T)
        gradient -= self.kernel.reference_gradient(self.X, Z, a @ p.T)
        return value, gradient * self.scale
