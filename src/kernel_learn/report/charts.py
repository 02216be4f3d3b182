"""The pictures of a report: its facts, drawn by ``kernel_learn.inspection``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.inspection.convergence import LINES, ConvergenceDisplay
from kernel_learn.inspection.drawing import (
    LONGEST,
    bar_height,
    draw_bars,
    draw_intervals,
    draw_reliability,
    printable,
)
from kernel_learn.inspection.embedding import EmbeddingDisplay
from kernel_learn.inspection.members import LONGEST_MEMBER
from kernel_learn.inspection.svg import draw_svg
from kernel_learn.report.placing import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MEMBERS = 10
NAIVE = "majority class"  # is in the table but not in the picture: it would squeeze all others
LEGEND_COLUMNS = 3


def draw_charts(facts: Facts, leaderboard: Facts | None) -> dict[str, str | None]:
    """Every picture there are numbers for."""
    importance = facts.get("importance") or {}
    judged = facts.get("new_rows") or facts.get("held_out") or {}
    new_points = (facts.get("new_rows") or {}).get("points") or []
    return {
        "relevance": draw_relevance(importance.get("relevance")),
        "members": draw_members(importance.get("members")),
        "weights": draw_weights(importance.get("weights")),
        "embedding": draw_embedding(facts.get("embedding"), new_points),
        "calibration": draw_calibration(judged.get("calibration")),
        "certificate": draw_certificate(facts.get("certificate")),
        "leaderboard": draw_leaderboard(leaderboard),
    }


def draw_relevance(columns: Sequence[Facts] | None) -> str | None:
    if not columns:
        return None
    notes = [f"{100 * column['value']:.1f} %" for column in columns]
    return draw_named_bars(columns, notes, "Relevance of the columns", "relevance")


def draw_members(members: Sequence[Facts] | None) -> str | None:
    if not members:
        return None
    shown = members[:MOST_MEMBERS]
    notes = [f"{100 * member['value']:.1f} %" for member in shown]
    return draw_named_bars(shown, notes, "Weights of the members", "members", LONGEST_MEMBER)


def draw_weights(kernels: Sequence[Facts] | None) -> str | None:
    if not kernels:
        return None
    notes = [f"{kernel['value']:.3g}" for kernel in kernels]
    return draw_named_bars(kernels, notes, "Weights of the kernels", "weights")


def draw_named_bars(
    rows: Sequence[Facts], notes: list[str], label: str, name: str, longest: int = LONGEST
) -> str:
    """Bars with their figures beside them; names that are cut are whole behind themselves."""
    names = [row["name"] for row in rows]
    spread = None if rows[0].get("spread") is None else numbers(rows, "spread")

    def draw(ax: "Axes") -> None:
        draw_bars(ax, numbers(rows, "value"), names, spread, notes=notes, longest=longest)
        ax.grid(visible=False)
        ax.xaxis.set_visible(False)
        ax.spines.bottom.set_visible(False)
        for tick, whole in zip(ax.get_yticklabels(), names, strict=True):
            tick.set_url(printable(whole) if len(whole) > longest else None)

    return draw_svg(draw, label, name, bar_height(len(rows)) - 0.4)


def draw_leaderboard(leaderboard: Facts | None) -> str | None:
    if not leaderboard:
        return None
    rows = [
        row for row in leaderboard["rows"] if row["accuracy"] is not None and row["method"] != NAIVE
    ]
    names = [row["method"] for row in rows]

    def draw(ax: "Axes") -> None:
        shares = [numbers(rows, key) for key in ("accuracy", "low", "high")]
        points = draw_intervals(ax, names, *shares)
        words = [
            f"{name}: {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
            for name, share, low, high in zip(names, *shares, strict=True)
        ]
        points.set_urls([printable(one) for one in words])

    label = "Accuracy of each method with its interval"
    return draw_svg(draw, label, "leaderboard", bar_height(len(rows)))


def draw_calibration(bins: Sequence[Facts] | None) -> str | None:
    if not bins:
        return None

    def draw(ax: "Axes") -> None:
        keys = ("said", "right", "low", "high")
        points = draw_reliability(ax, *(numbers(bins, key) for key in keys))
        points.set_urls(
            [
                f"said {100 * one['said']:.0f} %, right in {100 * one['right']:.0f} % "
                f"of {one['count']:.0f} rows"
                for one in bins
            ]
        )

    label = "Stated probabilities against how often they were right"
    return draw_svg(draw, label, "calibration", 3.4)


def draw_certificate(certificate: Facts | None) -> str | None:
    """The gap where there is one, else the value and its bounds."""
    if not certificate or not certificate["lines"]:
        return None
    lines = {
        key: certificate["lines"][look["label"]]
        for key, look in LINES.items()
        if look["label"] in certificate["lines"]
    }
    history = [
        {key: values[i] for key, values in lines.items() if values[i] is not None}
        for i in range(certificate["steps"])
    ]
    kind = "gap" if certificate["gaps"] else "bounds"

    def draw(ax: "Axes") -> None:
        for line in ConvergenceDisplay(history=history).plot(ax, kind=kind).lines_:
            steps, values = np.asarray(line.get_data())
            points = ax.scatter(steps, values, s=14, color=line.get_color(), zorder=3)
            words = [f"step {i:.0f}: {value:.6g}" for i, value in zip(steps, values, strict=True)]
            points.set_urls(words)

    return draw_svg(draw, "Gap by step" if kind == "gap" else "Value by step", "certificate", 3.2)


def draw_embedding(old: Facts | None, new_points: Sequence[Sequence[float]]) -> str | None:
    """Training rows, and new ones as rings; ``points`` are place, label and row number."""
    if not old:
        return None
    names, d = np.array(old["names"], dtype=object), old["dimensions"]
    axis = "held-out log ratio" if old.get("held_out") else "learned feature"
    points = [
        np.array(some, dtype=float).reshape(-1, d + 2) for some in (old["points"], new_points)
    ]
    features = [P[:, :d] for P in points]
    labels = [names[P[:, -2].astype(int)] for P in points]
    display = EmbeddingDisplay(
        features=features[0],
        labels=labels[0],
        new_features=features[1],
        new_labels=labels[1],
        names=[f"{axis} {i + 1}" for i in range(d)] if d > 1 else [axis],
        classes=list(names),
    )

    def draw(ax: "Axes") -> None:
        for marks, rows, is_new in display.plot(ax).points_:
            word = "new row" if is_new else "row"
            of_rows = zip(points[is_new][rows, -1], labels[is_new][rows], strict=True)
            marks.set_urls([printable(f"{word} {row:.0f}: {name}") for row, name in of_rows])
        put_legend_below(ax)

    n_lines = 1 + len(names) // LEGEND_COLUMNS if d > 1 else max(len(names), 2)
    height = 3.6 + 0.2 * n_lines if d > 1 else 0.9 + 0.45 * n_lines
    return draw_svg(draw, f"Rows by {axis}, coloured by class", "embedding", height)


def put_legend_below(ax: "Axes") -> None:
    """Out of the rows' way."""
    legend = ax.get_legend()
    if legend is None:
        return
    legend.remove()
    ax.figure.legend(
        [handle for handle in legend.legend_handles if handle is not None],
        [text.get_text() for text in legend.get_texts()],
        loc="outside lower left",
        ncols=LEGEND_COLUMNS,
        frameon=False,
        fontsize="small",
        handletextpad=0.2,
    )


def numbers(records: Sequence[Facts], key: str) -> Array:
    """One figure of all records."""
    return np.array([record[key] for record in records], dtype=float)
