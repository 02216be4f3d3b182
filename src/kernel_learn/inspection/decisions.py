"""Pictures of decisions: thresholds between two classes, and which classes are confused."""

from collections.abc import Sequence

from kernel_learn.arrays import Array
from kernel_learn.inspection.drawing import (
    COLORS,
    DARK,
    QUIET,
    Axes,
    Points,
    literal,
    printable,
    show_shares,
)
from kernel_learn.rows.short_names import shorten_all

SHADED = 0.6  # of a cell that holds all rows of its class: words on it are still read


def draw_operating_curve(
    ax: Axes,
    x: Array,
    y: Array,
    point: tuple[float, float],
    *,
    chance: tuple[Array, Array],
    names: tuple[str, str],
    steps: str = "default",  # straight lines; steps-pre: each value holds back to the one before
) -> Points:
    """What every threshold gives, chance as a dashed line, and where decisions are made."""
    ax.plot(*chance, color=QUIET, linestyle="--", linewidth=0.8)
    ax.plot(x, y, color=COLORS[0], linewidth=1.4, drawstyle=steps)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    show_shares(ax)
    return ax.scatter(*point, color=COLORS[5], s=42, zorder=4)


def draw_confusion(
    ax: Axes,
    counts: Array,  # (k, k + 1): true classes as lines, what was said, at last other classes
    names: Sequence[str],
    said: Sequence[str],
    totals: Array,  # (k,) rows of each class
) -> None:
    """Counts in shaded cells: blue on the diagonal, else orange."""
    from matplotlib.patches import Rectangle

    k, width = counts.shape
    for i in range(k):
        for j in range(width):
            if not counts[i, j]:
                continue
            share = counts[i, j] / max(totals[i], 1)
            cell = Rectangle((j - 0.5, i - 0.5), 1, 1, linewidth=0)
            cell.set(color=COLORS[0 if i == j else 5], alpha=max(0.05, SHADED * share))
            words = f"{names[i]} taken for {said[j]}" if i != j else f"{names[i]}, right"
            cell.set_url(printable(f"{words}: {counts[i, j]} of {totals[i]}"))
            ax.add_patch(cell)
            look = {"ha": "center", "va": "center", "color": DARK}
            ax.text(j, i, str(counts[i, j]), fontsize=8 if k <= 12 else 6, **look)
    small = {"fontsize": 8 if k <= 12 else 6.5}
    short = [literal(name) for name in shorten_all(said, 16)]
    ax.set_xticks(range(width), short, rotation=90, **small)
    ax.set_yticks(range(k), [literal(name) for name in shorten_all(names, 16)], **small)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(k - 0.5, -0.5), ylabel="true class", xlabel="said")
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False, bottom=False)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
