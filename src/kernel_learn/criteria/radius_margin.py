"""The radius-margin bound of a subspace kernel (Chapelle et al. 2002)."""

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.solvers.ball import smallest_ball
from kernel_learn.solvers.margin import solve_margin


class RadiusMargin:
    """max over V'V = I of -log(R^2 |w|^2), for the kernel K = A VV' A' + lam I.

    R is the radius of the smallest ball around the rows, |w|^2 the sum over
    one-vs-rest machines of the squared inverse (hard) margins:

        |w|^2 / 2 = max over alpha >= 0, y'alpha = 0 of sum alpha - 1/2 a'Ka,   a = y * alpha
        R^2       = max over beta >= 0, sum beta = 1 of beta'diag(K) - beta'K beta

    Both are maxima, so their derivatives are those of K at the maximisers:
    d|w|^2 = -a'dK a and dR^2 = sum_i beta_i dK_ii - beta'dK beta. With
    K = A VV' A' + const, a'dK a = 2 <dV, A'a (A'a)'V>. Needs the rows A, not
    moments alone. A row of weight s stands for s equal rows: its slack costs
    s/lam, and its share of the ball's centre is split among them, which leaves
    lam/s of the ridge in beta'K beta.
    """

    def __init__(
        self,
        A: Array,  # (n, m)
        signs: Array,  # (n, k)
        lam: float,
        weight: Array,  # (n,)
    ) -> None:
        self.A, self.signs, self.lam, self.weight = A, signs, lam, weight

    def value_and_gradient(self, V: Array) -> tuple[float, Array]:
        F = self.A @ V
        K = F @ F.T
        # the squared hinge loss with C = 1/lam is the hard margin of K + lam I
        boxes = self.weight / self.lam
        machines = solve_margin(K, self.signs, boxes, loss="squared_hinge", tol=1e-8)
        squared_w = 2 * float(machines.dual.sum())
        AT_a = self.A.T @ machines.A
        beta, squared_R = smallest_ball(F, self.lam, self.weight)
        AT_beta = self.A.T @ beta
        d_w = -2 * AT_a @ (AT_a.T @ V)
        d_R = 2 * (self.A.T @ (beta[:, None] * F)) - 2 * np.outer(AT_beta, AT_beta @ V)
        value = -np.log(squared_R) - np.log(squared_w)
        return float(value), -(d_R / squared_R + d_w / squared_w)
