"""What violated constraints cost: convex functions p of their excesses t, summed or of all at once.

t is how far a constraint is from being met, negative if there is room, in units
of the base kernel's mean squared distance. Solvers ask for p(t) and for

    proximal(t, step) = argmin over u of p(u) + (u - t)^2 / (2 step):

z = (t - u)/step is then a slope of p at u, and the conjugate is known there,
p*(z) = z u - p(u), so that nothing else is needed for a dual with its bound. To
write one, give these two as in the classes below; ``kernel_learn.testing.check_penalty``
says whether they belong together.
"""

from abc import ABC, abstractmethod

import numpy as np

from kernel_learn.arrays import Array


class Penalty(ABC):
    """A convex function of the excess of each constraint, or of the excesses of all."""

    @abstractmethod
    def value(self, t: Array) -> Array | float:
        """p(t), entry by entry and added up then; or one number for all entries, as max(t) is."""

    @abstractmethod
    def proximal(self, t: Array, step: Array) -> Array:
        """argmin over u of p(u) + sum_c (u_c - t_c)^2 / (2 step_c), of the shape of t."""


class SquaredHinge(Penalty):
    """p(t) = max(t, 0)^2 / 2: constraints that are met cost nothing."""

    def value(self, t: Array) -> Array:
        return np.asarray(np.maximum(t, 0) ** 2 / 2)

    def proximal(self, t: Array, step: Array) -> Array:
        return np.where(t > 0, t / (1 + step), t)


class Hinge(Penalty):
    """p(t) = max(t, 0): a few large violations cost no more than many small ones."""

    def value(self, t: Array) -> Array:
        return np.maximum(t, 0)

    def proximal(self, t: Array, step: Array) -> Array:
        return np.asarray(t - np.clip(t, 0, step))


class Squared(Penalty):
    """p(t) = t^2 / 2: a bound is a target value, missed from either side."""

    def value(self, t: Array) -> Array:
        return np.asarray(t**2 / 2)

    def proximal(self, t: Array, step: Array) -> Array:
        return np.asarray(t / (1 + step))


class Absolute(Penalty):
    """p(t) = |t|: a bound is a target value, and a few large misses are cheap."""

    def value(self, t: Array) -> Array:
        return np.abs(t)

    def proximal(self, t: Array, step: Array) -> Array:
        return np.asarray(t - np.clip(t, -step, step))


PENALTIES: dict[str, type[Penalty]] = {
    "squared_hinge": SquaredHinge,
    "hinge": Hinge,
    "squared": Squared,
    "absolute": Absolute,
}


def as_penalty(spec: str | Penalty) -> Penalty:
    """A penalty from its name, or the object that was given."""
    if isinstance(spec, str) and spec in PENALTIES:
        return PENALTIES[spec]()
    if not isinstance(spec, Penalty):
        raise ValueError(
            f"penalty={spec!r} is not known. Give one of {', '.join(map(repr, PENALTIES))}, "
            "or an object of a subclass of kernel_learn.criteria.general_forms.penalties.Penalty."
        )
    return spec


class PricedPenalty:
    """P(e) = price p(e / unit): a penalty of excesses in the constraints' own units."""

    def __init__(self, penalty: Penalty, price: float, unit: float) -> None:
        self.penalty, self.price, self.unit = penalty, price, unit

    def value(self, e: Array) -> float:
        """P(e), of all constraints."""
        return self.price * float(np.sum(self.penalty.value(e / self.unit)))

    def proximal(self, e: Array, step: Array) -> Array:
        """argmin over u of P(u) + sum_c (u_c - e_c)^2 / (2 step_c)."""
        step = step * self.price / self.unit**2
        return np.asarray(self.unit * self.penalty.proximal(e / self.unit, step))

    def least(self, n: int) -> float:
        """inf P = -P*(0), by a proximal step from zero that is as good as free."""
        step = np.full(n, 1e12 * self.unit**2 / self.price)
        return self.value(self.proximal(np.zeros(n), step))

    def slope(self, e: Array) -> Array:
        """A slope at (next to) e, within 1e-9 units of it."""
        step = np.full(len(e), 1e-9 * self.unit**2 / self.price)
        return np.asarray((e - self.proximal(e, step)) / step)
