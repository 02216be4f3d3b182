"""Pictures of predicted numbers: against the truth, their errors, and how often intervals hold."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import (
    COLORS,
    DARK,
    QUIET,
    Axes,
    Points,
    name_lines,
    remove_box,
)

POINT = {"s": 14, "linewidths": 0.0, "alpha": 0.55}


def draw_agreement(ax: Axes, truth: Array, said: Array, *, new: bool = False) -> Points:
    """True values by predicted ones; on the dashed line both agree. The points."""
    ends = [min(truth.min(), said.min()), max(truth.max(), said.max())]
    ax.plot(ends, ends, color=QUIET, linestyle="--", linewidth=0.8)
    ax.set(xlabel="predicted", ylabel="true")
    return _scatter(ax, said, truth, new)


def draw_residuals(ax: Axes, truth: Array, said: Array, *, new: bool = False) -> Points:
    """True minus predicted values by predicted ones; a funnel or a bow is something not seen."""
    ax.axhline(0.0, color=QUIET, linestyle="--", linewidth=0.8)
    ax.set(xlabel="predicted", ylabel="true minus predicted")
    return _scatter(ax, said, truth - said, new)


def _scatter(ax: Axes, x: Array, y: Array, new: bool) -> Points:
    ax.locator_params(nbins=5)
    remove_box(ax)
    return ax.scatter(x, y, color=COLORS[1 if new else 0], zorder=3, **POINT)


def draw_ranges(ax: Axes, names: Sequence[str], rmse: Array, bias: Array, whole: float) -> Points:
    """The RMSE of every range of the target as bars, its mean error as points; of all: a line."""
    lines = np.arange(len(names))
    ax.barh(lines, rmse, height=0.6, color=COLORS[0], alpha=0.45)
    ax.axvline(whole, color=QUIET, linestyle="--", linewidth=0.8)
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    ax.locator_params(axis="x", nbins=5)
    name_lines(ax, names)
    ax.set_xlabel("RMSE (bars) and mean error (points)", loc="right")  # names leave little room
    return ax.scatter(bias, lines, color=DARK, s=28, zorder=3)


def draw_errors(ax: Axes, names: Sequence[str], errors: Array, low: Array, high: Array) -> Points:
    """An error with its interval for each name, the first on top; gives the points."""
    lines = range(len(names))
    ax.hlines(lines, low, high, color=DARK, linewidth=1.2)
    ax.locator_params(axis="x", nbins=5)
    name_lines(ax, names)
    return ax.scatter(errors, lines, color=COLORS[0], s=28, zorder=3)
