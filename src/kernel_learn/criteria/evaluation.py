"""What a criterion on the simplex says at one point."""

from collections.abc import Callable
from dataclasses import dataclass

from kernel_learn.representations.base import Array


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
