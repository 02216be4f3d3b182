"""The pictures of a report: its facts, drawn by ``kernel_learn.inspection``."""

from collections.abc import Callable, Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.inspection.convergence import LINES, ConvergenceDisplay
from kernel_learn.inspection.drawing import (
    LONGEST,
    Axes,
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

MOST_MEMBERS = 10
NAIVE = "majority class"  # is in the table but not in the picture: it would squeeze all others
LEGEND = {"loc": "outside lower left", "ncols": 3, "frameon": False, "fontsize": "small"}


def draw_charts(facts: Facts, leaderboard: Facts | None) -> dict[str, str | None]:
    """Every picture there are numbers for."""
    importance = facts.get("importance") or {}
    found = facts.get("new_rows") or facts.get("held_out") or {}
    lines = (facts.get("certificate") or {}).get("lines")
    members = (importance.get("members") or [])[:MOST_MEMBERS]
    charts: dict[str, tuple[Callable[..., str], object]] = {
        "relevance": (draw_shares, importance.get("relevance")),
        "members": (draw_shares, members),
        "weights": (draw_shares, importance.get("weights")),
        "embedding": (draw_embedding, facts.get("embedding") and facts),
        "calibration": (draw_calibration, found.get("calibration")),
        "certificate": (draw_certificate, lines and facts["certificate"]),
        "leaderboard": (draw_leaderboard, leaderboard),
    }
    return {name: draw(name, found) if found else None for name, (draw, found) in charts.items()}


def numbers(records: Sequence[Facts], key: str) -> Array:
    """One figure of all records."""
    return np.array([record[key] for record in records], dtype=float)


def draw_shares(name: str, records: Sequence[Facts]) -> str:
    """Bars with their figures beside them; a name that is cut is whole behind itself."""
    label = {"relevance": "Relevance of the columns", "members": "Weights of the members"}
    names, values = [record["name"] for record in records], numbers(records, "value")
    notes = [f"{v:.3g}" if name == "weights" else f"{100 * v:.1f} %" for v in values]
    spread = None if records[0].get("spread") is None else numbers(records, "spread")
    longest = LONGEST_MEMBER if name == "members" else LONGEST

    def draw(ax: Axes) -> None:
        draw_bars(ax, values, names, spread, notes=notes, longest=longest)
        ax.grid(visible=False)
        ax.xaxis.set_visible(False)
        ax.spines.bottom.set_visible(False)
        for tick, whole in zip(ax.get_yticklabels(), names, strict=True):
            tick.set_url(printable(whole) if len(whole) > longest else None)

    height = bar_height(len(records)) - 0.4  # there is no axis
    return draw_svg(draw, label.get(name, "Weights of the kernels"), name, height)


def draw_leaderboard(name: str, leaderboard: Facts) -> str:
    """Accuracies with their intervals."""
    rows = [
        row for row in leaderboard["rows"] if row["accuracy"] is not None and row["method"] != NAIVE
    ]
    methods = [row["method"] for row in rows]
    shares = [numbers(rows, key) for key in ("accuracy", "low", "high")]

    def draw(ax: Axes) -> None:
        words = [
            f"{method}: {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
            for method, share, low, high in zip(methods, *shares, strict=True)
        ]
        draw_intervals(ax, methods, *shares).set_urls([printable(text) for text in words])

    label = "Accuracy of each method with its interval"
    return draw_svg(draw, label, name, bar_height(len(rows)))


def draw_calibration(name: str, bins: Sequence[Facts]) -> str:
    """Stated probabilities against what came true."""

    def draw(ax: Axes) -> None:
        keys = ("said", "right", "low", "high")
        points = draw_reliability(ax, *(numbers(bins, key) for key in keys))
        words = "said {:.0f} %, right in {:.0f} % of {:.0f} rows"
        points.set_urls([words.format(100 * b["said"], 100 * b["right"], b["count"]) for b in bins])

    return draw_svg(draw, "Stated probabilities against how often they were right", name, 3.4)


def draw_certificate(name: str, certificate: Facts) -> str:
    """The gap where there is one, else the value and its bounds."""
    lines = {key: certificate["lines"].get(look["label"]) for key, look in LINES.items()}
    history = [
        {key: line[i] for key, line in lines.items() if line and line[i] is not None}
        for i in range(certificate["steps"])
    ]
    kind = "gap" if certificate["gaps"] else "bounds"

    def draw(ax: Axes) -> None:
        for line in ConvergenceDisplay(history=history).plot(ax, kind=kind).lines_:
            steps, values = line.get_data()
            points = ax.scatter(steps, values, s=14, color=line.get_color(), zorder=3)
            points.set_urls([f"step {i}: {v:.6g}" for i, v in zip(steps, values, strict=True)])

    return draw_svg(draw, "Gap by step" if kind == "gap" else "Value by step", name, 3.2)


def draw_embedding(name: str, facts: Facts) -> str:
    """Training rows, and new ones as rings; of each point place, label and row number."""
    old, new = facts["embedding"], (facts.get("new_rows") or {}).get("points") or []
    names, d = np.array(old["names"], dtype=object), old["dimensions"]
    axis = "held-out log ratio" if old.get("held_out") else "learned feature"
    points = [np.array(some, dtype=float).reshape(-1, d + 2) for some in (old["points"], new)]
    labels = [names[P[:, d].astype(int)] for P in points]
    display = EmbeddingDisplay(
        features=points[0][:, :d],
        labels=labels[0],
        new_features=points[1][:, :d],
        new_labels=labels[1],
        names=[axis] if d == 1 else [f"{axis} {i + 1}" for i in range(d)],
        classes=list(names),
    )

    def draw(ax: Axes) -> None:
        for marks, rows, is_new in display.plot(ax).points_:
            word = "new row" if is_new else "row"
            pairs = zip(points[is_new][rows, -1], labels[is_new][rows], strict=True)
            marks.set_urls([printable(f"{word} {row:.0f}: {label}") for row, label in pairs])
        legend = ax.get_legend()
        if legend is not None:  # out of the rows' way
            words = [text.get_text() for text in legend.get_texts()]
            legend.remove()
            ax.figure.legend(legend.legend_handles, words, handletextpad=0.2, **LEGEND)

    height = 4.2 if d > 1 else 0.9 + 0.45 * max(len(names), 2)
    return draw_svg(draw, f"Rows by {axis}, coloured by class", name, height)
