"""Log-odds that fade where there is no data.

    log-odds of p(x) = prior + s(x) (L(x) - prior),    0 < s(x) <= 1,

prior those of the class shares. s is a product of two factors:

- far(x) = 1 / (1 + (max(0, usual(x) / known(x) - 1) / c)^4), known(x) = 1 - v(x) / v_far(x) the
  share of its variance (``novelty``) that the training rows take from a row: one beside them, zero
  far away. usual is the least share of the m training rows, each left out, times m / (m + 5), as
  the next row may well have less; but for rows unlike the others, such as the only two of a class.
  Near those nothing is unusual: with
  rho = k(x, z) / (k(x, x) k(z, z))^{1/2}, the most of these rows,

      usual(x) = usual (1 - min(1, 5/4 rho^{1/8})).

  Among the rows that were seen nothing changes; far from them the shares are all that is said.
- (1 + (R / most)^8)^(-1/8), R by how much the first class leads the second in L(x) - prior, so
  that it leads by log(50 N) at the most in all: N rows do not show that anything is rarer than
  one in 50 N, and kernels without bounds say it of every row that is far away.
"""

from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array

# A training row whose share is below the 5 % quantile by more than so many times its distance
# from the median is unlike the others itself.
FENCE = 3.0
# Near such rows: exp(-d^2 / 8) in units of a Gaussian kernel's width, and a little more.
WIDER, ROOM = 1 / 8, 1.25
LEAST_USUAL, LEAST_KNOWN = 1e-3, 1e-6
RARER = 50.0  # than one in so many times the rows is more than they show
BEND = 8
# Chosen with FENCE, WIDER, ROOM and the tails of columns (``novelty``) among some 50 settings, by
# rows held out of training halves of 29 sets and by wine's drift; the tails were kept after test
# halves of two of the five splits of docs/results/coverage.md had been seen, too (it says so). The
# held-out rows of a single table do not choose c: none of them is far away.
HALF, STEEP = 0.15, 4
MORE = 5.0  # rows


@dataclass(frozen=True)
class Fading:
    """From log-odds, and how unlike the training rows a row is, to the factor s."""

    prior: Array  # (k,) log-odds of the class shares
    lead: float  # log(50 N)

    def factor(self, L: Array, less: Array | None = None) -> Array:
        """s(x), (n,); without usual(x) / known(x) by how far log-odds lead alone."""
        far = np.ones(len(L)) if less is None else far_factor(less)
        D = L - self.prior
        two = np.argsort(-D, axis=1, kind="stable")[:, :2]
        first, second = np.take_along_axis(D, two, axis=1).T
        by_share = self.prior[two[:, 0]] - self.prior[two[:, 1]]
        most = np.maximum(self.lead - by_share, 1.0)
        R = (first - second) / most
        return np.asarray(far * (1.0 + R**BEND) ** (-1.0 / BEND))

    def __call__(self, L: Array, less: Array | None = None) -> Array:
        """Faded log-odds, (n, k)."""
        return np.asarray(self.prior + self.factor(L, less)[:, None] * (L - self.prior))


def far_factor(less: Array) -> Array:
    """The part of s that fades far from the training rows, (n,), by usual(x) / known(x)."""
    return np.asarray(1.0 / (1.0 + (np.maximum(less - 1.0, 0.0) / HALF) ** STEEP))


def bounded_fading(shares: Array, total: float) -> Fading:
    """By how far log-odds lead, wherever a row is."""
    return Fading(np.log(shares) - np.log(shares).mean(), float(np.log(RARER * total)))


def usual_share(left_out: Array) -> float:
    """The least that is known of the training rows, each left out, but for rows unlike others."""
    middle, low, least = np.quantile(left_out, [0.5, 0.05, 0.0])
    seen = len(left_out) / (len(left_out) + MORE)
    return float(max(seen * max(least, low - FENCE * (middle - low)), LEAST_USUAL))


def usual_nearby(
    usual: float,
    rho: Array,  # (n, m) how alike new rows and those that are unlike the others are
) -> Array:
    """usual(x), (n,)."""
    nearest = np.maximum(rho, 0.0).max(axis=1, initial=0.0)
    return np.asarray(usual * (1.0 - np.minimum(ROOM * nearest**WIDER, 1.0)))
