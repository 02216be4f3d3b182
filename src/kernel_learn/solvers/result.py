"""What a solver returns: the answer and its proof."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kernel_learn.arrays import Array


@dataclass(frozen=True)
class Result:
    """A point, its value, and how far from optimal it can be.

    ``gap`` bounds |value - optimum| for convex problems, is 0 for closed forms
    and NaN where no bound is known (then ``grad_norm`` tells). Every step of
    ``history`` says which of ``value, lower, upper, grad_norm`` it knows.
    """

    point: Array
    value: float
    values: Array = field(default_factory=lambda: np.empty(0))  # the terms of the value, if a sum
    gap: float = 0.0
    n_iter: int = 0
    status: Literal["optimal", "stopped"] = "optimal"
    grad_norm: float = np.nan
    history: tuple[dict[str, float], ...] = field(default=(), repr=False)

    @property
    def relative_gap(self) -> float:
        return self.gap / max(abs(self.value), np.finfo(float).tiny)
