"""What all pictures share: colours that colour-blind readers tell apart, and axes of one size."""

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.short_names import LONGEST, shorten_all

# Okabe and Ito's palette, the yellow left out: it is too pale for points on white.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
QUIET = "#6b7280"  # lines and words that only accompany
DARK = "#374151"  # whiskers
WIDTH = 4.4  # inches of a panel: at 400 pixels its words are still read

# matplotlib is imported with the first picture.
Axes = Any
Points = Any  # a PathCollection
Option = Any  # what a function of matplotlib takes


def import_pyplot() -> ModuleType:
    """matplotlib.pyplot, or an error that names the extra."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: install kernel-learn[plot].") from error
    return plt


def make_axes(ax: Axes | None, height: float = 3.2) -> Axes:
    """The axes given, or new ones of so many inches."""
    plt = import_pyplot()
    if ax is not None:
        return ax
    return plt.figure(figsize=(WIDTH, height), layout="constrained").add_subplot()


def make_panels(ax: Axes | None, rows: int, columns: int, size: tuple[float, float]) -> Array:
    """A grid of axes (rows, columns) of a new figure, or in the place of the axes given."""
    plt = import_pyplot()
    if ax is None:
        figure = plt.figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        return np.asarray(figure.subplots(rows, columns, squeeze=False))
    grid = ax.get_subplotspec()
    if grid is None:
        raise ValueError("This picture has several panels, and the axes given are not in a grid.")
    ax.set_axis_off()
    return grid.subgridspec(rows, columns).subplots(squeeze=False)


def class_style(i: int) -> dict[str, str]:
    """Colour and marker of the i-th class."""
    return {
        "color": COLORS[i % len(COLORS)],
        "marker": MARKERS[i // len(COLORS) % len(MARKERS)],
    }


def remove_box(ax: Axes) -> None:
    """No box around what needs none."""
    ax.spines[["top", "right"]].set_visible(False)


def printable(text: object) -> str:
    """A user's words on one line: XML has no control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", " ", str(text))


def literal(text: object) -> str:
    """A user's words as they are written: matplotlib reads mathematics between dollars."""
    return printable(text).replace("$", r"\$")


def draw_bars(
    ax: Axes,
    values: Array,  # (m,) from the top
    names: Sequence[str],
    spread: Array | None = None,
    *,
    notes: Sequence[str] = (),  # beside the ends
    longest: int = LONGEST,
    **options: Option,
) -> None:
    """Horizontal bars, the first on top, with whiskers that end at zero."""
    whiskers: dict[str, Option] = {}
    if spread is not None:
        reach = [np.minimum(values, spread), spread]
        whiskers = {"xerr": reach, "error_kw": {"ecolor": DARK, "elinewidth": 1.2}}
    look = {"color": COLORS[0], "height": 0.72, **whiskers, **options}
    ax.barh(range(len(values)), values, **look)
    ends = values if spread is None else values + spread
    for i, note in enumerate(notes):
        look = {"va": "center", "fontsize": "small", "color": QUIET}
        ax.annotate(note, (ends[i], i), (3, 0), textcoords="offset points", **look)
    if notes:
        ax.margins(x=0.2)
    ax.set_xlim(left=0)
    name_lines(ax, names, longest)


def name_lines(ax: Axes, names: Sequence[str], longest: int = LONGEST) -> None:
    """Names at the left, from the top."""
    ax.set_yticks(range(len(names)), [literal(name) for name in shorten_all(names, longest)])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    remove_box(ax)


def draw_intervals(
    ax: Axes, names: Sequence[str], shares: Array, low: Array, high: Array
) -> Points:
    """A share of rows with its interval for each name, the first on top; gives the points."""
    lines = range(len(names))
    ax.hlines(lines, low, high, color=DARK, linewidth=1.2)
    ax.xaxis.set_major_formatter(format_percent)
    ax.locator_params(axis="x", nbins=5)
    name_lines(ax, names)
    return ax.scatter(shares, lines, color=COLORS[0], s=28, zorder=3)


def draw_reliability(
    ax: Axes,
    stated: Array,
    kept: Array,
    low: Array,
    high: Array,
    *,
    names: tuple[str, str] = ("probability the model stated", "share it was right"),
) -> Points:
    """Shares of rows, with intervals, by what was stated; the points.

    On the dashed line both agree.
    """
    least = np.floor(10 * min(stated.min(), low.min())) / 10
    ax.plot([least, 1.0], [least, 1.0], color=QUIET, linestyle="--", linewidth=0.8)
    ax.vlines(stated, low, high, color=DARK, linewidth=1.2)
    ax.set(xlabel=names[0], ylabel=names[1])
    show_shares(ax)
    return ax.scatter(stated, kept, color=COLORS[0], s=28, zorder=3)


def show_shares(ax: Axes) -> None:
    """Both axes in percent."""
    ax.xaxis.set_major_formatter(format_percent)
    ax.yaxis.set_major_formatter(format_percent)
    ax.locator_params(nbins=5)
    remove_box(ax)


def format_percent(share: float, _: float) -> str:
    """A share at a tick."""
    return f"{100 * share:.3g} %"


def bar_height(count: int) -> float:
    """Inches of a picture with so many bars."""
    return 0.9 + 0.24 * count
