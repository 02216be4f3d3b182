"""Large margins in the span of a few points (sparse large margin classifiers, Wu et al. 2005)."""

import numpy as np
from scipy import linalg

from kernel_learn.arrays import Array, Rows
from kernel_learn.kernels.base import Kernel
from kernel_learn.rows.table import as_in
from kernel_learn.solvers.joint import solve_linear
from kernel_learn.solvers.margin import Loss
from kernel_learn.solvers.squared_hinge import solve_squared_hinge

# Of machines with the hinge: J and its gradient are theirs.
HINGE_TOL = 1e-9


def check_definite(kernel: Kernel, K: Array) -> None:
    """Refuse a function of points that is no kernel: its matrix has negative eigenvalues."""
    w = linalg.eigvalsh(K)
    if not w[0] > -1e-9 * abs(w[-1]):
        raise ValueError(
            f"{kernel!r} is not positive semidefinite on the points: the eigenvalues of its matrix "
            f"run from {w[0]:.3g} to {w[-1]:.3g}, and such a function spans no subspace. Choose a "
            "kernel, Gaussian() or Polynomial() say."
        )


def solve_linear_machines(
    F: Array,  # (n, m)
    signs: Array,  # (n, j)
    C: Array,  # (n,)
    loss: Loss,
    start: Array | None = None,  # (m + 1, j), machines of features nearby
) -> tuple[Array, Array, float]:
    """(V, a, value): weights and intercepts (m + 1, j), a = y alpha (n, j), the sum of the optima.

    1/2 |w|^2 + sum_i C_i max(0, slack_i), or with 1/2 sum_i C_i max(0, slack_i)^2.
    """
    if loss == "hinge":
        found = solve_linear(F, signs, C, HINGE_TOL)
        return np.vstack([F.T @ found.A, found.intercept]), found.A, float(found.primal.sum())
    starts = [None] * signs.shape[1] if start is None else list(start.T)
    V = np.stack(
        [solve_squared_hinge(F, y, C, start=v).point for y, v in zip(signs.T, starts, strict=True)],
        axis=1,
    )
    slack = np.maximum(1 - signs * (F @ V[:-1] + V[-1]), 0)
    value = 0.5 * float(np.sum(V[:-1] ** 2)) + 0.5 * float(np.sum(C @ slack**2))
    return V, signs * C[:, None] * slack, value


class ExpansionMargin:
    """J(Z) = sum_j min over w, b of 1/2 |w|^2 + 1/2 sum_i C_i max(0, 1 - y_ij (w'f_i + b))^2

    on the subspace kernel k_Z(x, y) = k(x, Z) K_ZZ^{-1} k(Z, y) that the m points Z span (Wu &
    Farquhar Eq. 16); with the hinge sum_i C_i max(0, 1 - y_ij (w'f_i + b)) in the place of the
    square, and a gradient wherever the dual variables are determined. With a = y alpha of the
    machines, alpha_ij = C_i max(0, slack_ij) for the square, q = k(Z, X) a and p = K_ZZ^{-1} q the
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
        loss: Loss = "squared_hinge",
    ) -> None:
        self.kernel, self.X, self.signs, self.C = kernel, X, signs, C
        self.scale, self.loss = scale, loss
        self.last: Array | None = None

    def features(self, Z: Array) -> tuple[Array, Array]:
        """(K(X, Z), W) with W W' = K_ZZ^{-1}; the features are K(X, Z) W."""
        rows = as_in(self.X, Z)
        K = self.kernel(rows)
        K[np.diag_indices(len(K))] += 1e-8 * np.trace(K) / len(K)  # points may come to coincide
        check_definite(self.kernel, K)
        R = linalg.cholesky(K)
        return self.kernel(self.X, rows), linalg.solve_triangular(R, np.eye(len(K)))

    def machines(self, F: Array) -> tuple[Array, Array, float]:
        """(V, a, J) on the features F."""
        self.last, a, value = solve_linear_machines(F, self.signs, self.C, self.loss, self.last)
        return self.last, a, value

    def value_and_gradient(self, points: Array) -> tuple[float, Array]:
        Z = points * self.scale
        K_xz, W = self.features(Z)
        _, a, value = self.machines(K_xz @ W)
        p = W @ (W.T @ (K_xz.T @ a))
        rows = as_in(self.X, Z)
        gradient = self.kernel.reference_gradient(rows, rows, p @ p.T)
        gradient -= self.kernel.reference_gradient(self.X, rows, a @ p.T)
        return value, gradient * self.scale
