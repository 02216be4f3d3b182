"""Log-odds that fade where there is no data.

    log-odds of p(x) = prior + s(x) (L(x) - prior),    0 < s(x) <= 1,

prior those of the class shares. s is a product of two factors:

- far(x) = 1 / (1 + c max(0, v(x) / usual - 1)^2), v the variance of a Gaussian process
  (``novelty``) and usual the largest of the training rows, each left out. Among the rows that
  were seen nothing changes; far from them the shares are all that is said.
- (1 + (R / most)^8)^(-1/8), R by how much the first class leads the second in L(x) - prior, so
  that it leads by log(50 N) at the most in all: N rows do not show that anything is rarer than
  one in 50 N, and kernels without bounds say it of every row that is far away.
"""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array

# A training row whose variance is beyond the 95 % quantile by more than so many times its distance
# from the median is unlike the others itself.
FENCE = 3.0
RARER = 50.0  # than one in so many times the rows is more than they show
BEND = 8
# c: on inner splits of 22 sets 16 costs .1 % of the log loss of KernelDiscriminant and .4 % of that
# of KernelClassifier, 32 .15 and .7 %. Held-out rows do not choose it: none of them is far away.
SPEED = 24.0


@dataclass(frozen=True)
class Fading:
    """From log-odds, and how unlike the training rows a row is, to the factor s."""

    prior: Array  # (k,) log-odds of the class shares
    lead: float  # log(50 N)

    def factor(self, L: Array, v: Array | None = None) -> Array:
        """s(x), (n,), v in units of the usual; without it by how far log-odds lead alone."""
        far = np.ones(len(L)) if v is None else far_factor(v)
        D = L - self.prior
        two = np.argsort(-D, axis=1, kind="stable")[:, :2]
        first, second = np.take_along_axis(D, two, axis=1).T
        by_share = self.prior[two[:, 0]] - self.prior[two[:, 1]]
        most = np.maximum(self.lead - by_share, 1.0)
        R = (first - second) / most
        return np.asarray(far * (1.0 + R**BEND) ** (-1.0 / BEND))

    def __call__(self, L: Array, v: Array | None = None) -> Array:
        """Faded log-odds, (n, k)."""
        return np.asarray(self.prior + self.factor(L, v)[:, None] * (L - self.prior))


def far_factor(v: Array) -> Array:
    """The part of s that fades far from the training rows, (n,), v in units of the usual."""
    return np.asarray(1.0 / (1.0 + SPEED * np.maximum(v - 1.0, 0.0) ** 2))


def bounded_fading(shares: Array, total: float) -> Fading:
    """By how far log-odds lead, wherever a row is."""
    return Fading(np.log(shares) - np.log(shares).mean(), float(np.log(RARER * total)))


def usual_variance(left_out: Array) -> float:
    """The largest of the training rows, each left out, but for rows unlike the others."""
    middle, high, top = np.quantile(left_out, [0.5, 0.95, 1.0])
    return max(float(min(top, high + FENCE * (high - middle))), float(np.finfo(float).tiny))
