"""Scales of columns along a path of penalties, and which of them is taken."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.criteria.held_out.ridge import RidgePath
from kernel_learn.criteria.held_out.targets import Targets
from kernel_learn.representations.base import has_variance
from kernel_learn.representations.linalg import LEAST_SLACK

REGS = 10.0 ** np.arange(-4.0, 1.5, 0.5)


@dataclass(frozen=True)
class ScaleStep:
    """A point of the path: the scales at one penalty; None is the kernel without scales."""

    penalty: float | None
    scales: Array
    history: tuple[dict[str, float], ...] = ()
    converged: bool = True


def at_columns(values: Array, columns: Array, d: int) -> Array:
    """The values in their columns, zero elsewhere, (d,)."""
    scales = np.zeros(d)
    scales[columns] = values
    return scales


def choose_penalty(path: Sequence[ScaleStep], errors: Array, weight: Array) -> int:
    """The penalty of the least squared error, the larger of two alike.

    The kernel without scales, if it is on the path, is left only for an error that is better by a
    standard error of the differences row by row.
    """
    p = weight / weight.sum()
    mean = errors @ p
    best = len(mean) - 1 - int(mean[::-1].argmin())
    if path[0].penalty is None and best > 0:
        gain = errors[0] - errors[best]
        noise = np.sqrt((gain - gain @ p) ** 2 @ p / weight.sum())
        return best if gain @ p > noise else 0
    return best


def ridge_scores(K: Array, targets: Targets, K_cross: Array) -> Array:
    """Scores of new rows by ridge regression, its reg by leave-one-out."""
    diagonal = float(np.mean(np.diagonal(K)))
    path = RidgePath(K, targets)
    if not len(path.w) or not has_variance(path.centred.unit, diagonal):
        return np.tile(targets.mean, (len(K_cross), 1))
    held_out, least = path.held_out(REGS)
    squares = np.sum((held_out - targets.Y) ** 2, axis=2) @ targets.weight
    squares = np.where(least > LEAST_SLACK, squares, np.inf)
    reg = REGS[int(squares.argmin())] if np.isfinite(squares).any() else REGS[-1]
    return path.new_scores(K_cross, np.array([reg]))[0]
