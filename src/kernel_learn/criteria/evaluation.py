"""What a criterion on the simplex says at one point; the identity as one more kernel."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.representations.base import Representation

# Share of uniform kernel weights in the vertex of the identity: labels that no kernel can
# tell push all weight there, and a kernel of weight zero would be left.
LEAST_SHARE = 1e-8


@dataclass(frozen=True)
class Evaluation:
    """A convex J at d: an upper bound, and a tangent that stays below it everywhere.

    J(d) <= value, and J(e) >= minorant + gradient'(e - d) for every e of the
    simplex, so that J(e) >= minorant + min(gradient) - gradient'd. For a smooth
    J that is evaluated exactly value = minorant = J(d).
    """

    value: float
    gradient: Array  # (q,)
    minorant: float
    hessian: Callable[[], Array] | None = None  # (q, q), computed when asked for


class WeightCriterion(ABC):
    """min over d of J(d), d the weights of a bank's kernels on the simplex, and what J can do.

    A criterion that learns one number more has a coordinate for it before those
    of the kernels, and says so by ``size`` and ``shares``.
    """

    bank: Representation
    concave: ClassVar[bool] = False
    """Whether J is concave: its minimum is at a vertex then, and no tangent is below it."""
    convex: ClassVar[bool] = True
    """Whether J is convex, or else concave; where it is neither, a search is local."""
    has_hessian: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """The number of coordinates of d."""
        return self.bank.p

    def start(self) -> Array:
        """Where a search begins."""
        return self.bank.uniform()

    def shares(self, d: Array) -> Array:
        """d -> point of the bank's simplex."""
        return d

    @abstractmethod
    def evaluate(self, d: Array) -> Evaluation:
        """J at d."""


@dataclass(frozen=True)
class IdentityVertex:
    """d = (d_0, d_1, ..., d_p), the identity first: (ridge, weights) = M d + (least, 0).

    M is the identity but for its first column, (1 - s, s u) with s = 1e-8 and u uniform
    weights: ridge = (1 - s) d_0 + least, weights = (d_1, ..., d_p) + s d_0 u. The ratio
    ridge / sum(weights) stays between least and 1/s, and the problem is off by no more than s.
    """

    uniform: Array  # (p,)
    least: float

    @property
    def M(self) -> Array:
        """The map d -> (ridge - least, weights), (p + 1, p + 1)."""
        M = np.eye(len(self.uniform) + 1)
        M[0, 0], M[1:, 0] = 1 - LEAST_SHARE, LEAST_SHARE * self.uniform
        return M

    def split(self, d: Array) -> tuple[Array, float]:
        """(weights, ridge)."""
        x = self.M @ d
        return x[1:], float(x[0]) + self.least

    def shares(self, d: Array) -> Array:
        """Kernel weights on their simplex; the share s counts only where nothing else is left."""
        weights = d[1:] if d[1:].sum() > np.sqrt(LEAST_SHARE) else self.split(d)[0]
        return np.asarray(weights / weights.sum())

    def ratio(self, d: Array) -> float:
        """ridge per unit of trace of the kernel."""
        weights, ridge = self.split(d)
        return float(ridge / weights.sum())
