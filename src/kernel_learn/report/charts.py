"""The pictures of a report: its facts, drawn by ``kernel_learn.inspection``."""

from collections.abc import Callable, Sequence

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.inspection.convergence import LINES, ConvergenceDisplay
from kernel_learn.inspection.decisions import draw_confusion, draw_operating_curve
from kernel_learn.inspection.drawing import (
    Axes,
    bar_height,
    draw_bars,
    draw_intervals,
    draw_reliability,
    literal,
    printable,
)
from kernel_learn.inspection.embedding import EmbeddingDisplay
from kernel_learn.inspection.members import LONGEST_MEMBER
from kernel_learn.inspection.svg import draw_svg
from kernel_learn.report.data_tables import FEW_CLASSES, Confusion, table_id
from kernel_learn.report.number_charts import draw_number_charts
from kernel_learn.report.placing import Facts
from kernel_learn.rows.short_names import LONGEST, shorten

MOST_BARS, MOST_MEMBERS = 15, 10
NAIVE = "majority class"  # is in the table but not in the picture: it would squeeze all others
LEGEND = {"loc": "outside lower left", "frameon": False, "fontsize": "small"}
LEGEND_LETTERS = 60  # in a line of a legend, and five more for the mark of each name


def draw_charts(facts: Facts, leaderboard: Facts | None) -> dict[str, str | None]:
    """Every picture there are numbers for."""
    importance = facts.get("importance") or {}
    found = facts.get("new_rows") or facts.get("held_out") or {}
    lines = (facts.get("certificate") or {}).get("lines")
    members = (importance.get("members") or [])[:MOST_MEMBERS]
    point = decision_of(facts)
    curve = point.get("curve")
    confusion = None
    if len(classes := facts.get("classes") or []) > FEW_CLASSES:
        confusion = Confusion.worst(classes, np.array(found["confusion"]))
    charts: dict[str, tuple[Callable[..., str], object]] = {
        "relevance": (draw_shares, (importance.get("relevance") or [])[:MOST_BARS]),
        "shapley": (draw_shares, (importance.get("shapley") or [])[:MOST_BARS]),
        "members": (draw_shares, members),
        "weights": (draw_shares, importance.get("weights")),
        "embedding": (draw_embedding, facts.get("embedding") and facts),
        "calibration": (draw_calibration, found.get("calibration")),
        "roc": (draw_roc, curve and point),
        "precision": (draw_precision, curve and point),
        "confusion": (draw_confused, confusion),
        "coverage": (draw_sets, shown_coverage(facts)),
        "certificate": (draw_certificate, lines and facts["certificate"]),
        "leaderboard": (draw_leaderboard, leaderboard),
    }
    if facts.get("numbers"):
        del charts["leaderboard"]
    drawn = {name: draw(name, found) if found else None for name, (draw, found) in charts.items()}
    return drawn | (draw_number_charts(facts, leaderboard) if facts.get("numbers") else {})


def decision_of(facts: Facts) -> Facts:
    """The operating point between two classes and the curve it is on, of new rows if there are."""
    new = facts.get("new_rows")
    found = facts if new is None else new
    decision = found.get("decision") or {}
    if "threshold" not in decision:
        return {}
    return {**decision, "curve": found.get("curve"), "name": facts["classes"][decision["positive"]]}


def shown_coverage(facts: Facts) -> list[Facts]:
    """Of new rows if there are, else of held-out ones."""
    return ((facts.get("new_rows") or {}).get("coverage") or facts.get("coverage")) or []


def draw_roc(name: str, point: Facts) -> str:
    """Recall against false alarms, straight between thresholds: the area below it is the AUC."""
    _, alarms, recall, _ = np.array(point["curve"]).T
    place = (point["false_alarms"] / max(point["negatives"], 1), point["recall"] or 0.0)
    ends = np.array([0.0, 1.0])

    def draw(ax: Axes) -> None:
        x, y = np.concatenate([[0.0], alarms]), np.concatenate([[0.0], recall])
        names = ("false alarms among the others", f"found of {short_name(point)}")
        mark = draw_operating_curve(ax, x, y, place, chance=(ends, ends), names=names)
        mark.set_urls([operating_point(point)])

    label = f"ROC curve of {printable(point['name'])}, area {point['auc']:.3f}"
    return draw_picture(draw, label, name, 3.2)


def draw_precision(name: str, point: Facts) -> str:
    """Precision against recall, in steps: the area below them is the average precision."""
    _, _, recall, precision = np.array(point["curve"]).T
    is_said = point["precision"] is not None  # else the point would be nowhere
    place = (point["recall"] or 0.0, point["precision"] if is_said else np.nan)
    chance = np.array([0.0, 1.0]), np.full(2, point["share"])

    def draw(ax: Axes) -> None:
        x = np.concatenate([[0.0], recall])
        y = np.concatenate([precision[:1], precision])
        names = (f"found of {short_name(point)}", "right when it is said")
        mark = draw_operating_curve(ax, x, y, place, chance=chance, names=names, steps="steps-pre")
        mark.set_urls([operating_point(point)])

    area = point["average_precision"]
    label = f"Precision and recall of {printable(point['name'])}, average precision {area:.3f}"
    return draw_picture(draw, label, name, 3.2)


def short_name(point: Facts) -> str:
    """The class that is looked for, in words of an axis."""
    return literal(shorten(point["name"]))


def operating_point(point: Facts) -> str:
    """What is found at the threshold, in words."""
    return (
        f"threshold {point['threshold']:.3g}: {point['found']} of {point['positives']} found, "
        f"{point['false_alarms']} false alarms"
    )


def draw_confused(name: str, found: Confusion) -> str:
    """Which classes are taken for which, of those with most mistakes."""
    height = 1.1 + 0.2 * len(found.names)

    def draw(ax: Axes) -> None:
        draw_confusion(ax, found.counts, found.names, found.said, found.totals)

    return draw_picture(draw, "True classes against what was said of them", name, height)


def draw_sets(name: str, lines: Sequence[Facts]) -> str:
    """Coverage against the coverage asked for."""

    def draw(ax: Axes) -> None:
        keys = ("asked", "covered", "low", "high")
        names = ("coverage asked for", "sets with the true class")
        points = draw_reliability(ax, *(numbers(lines, key) for key in keys), names=names)
        words = "asked for {asked:.0%}: {covered:.1%} of the sets, {size:.2f} classes each"
        points.set_urls([words.format(**line) for line in lines])

    return draw_picture(draw, "How often sets hold the true class", name, 3.2)


def draw_picture(draw: Callable[[Axes], None], label: str, name: str, height: float) -> str:
    """A picture with the table of its numbers behind it."""
    return draw_svg(draw, label, name, height, described_by=table_id(name))


def numbers(records: Sequence[Facts], key: str) -> Array:
    """One figure of all records."""
    return np.array([record[key] for record in records], dtype=float)


def draw_shares(name: str, records: Sequence[Facts]) -> str:
    """Bars with their figures beside them; a name that is cut is whole behind itself."""
    label = {
        "relevance": "Relevance of the columns",
        "shapley": "Shapley values of the columns",
        "members": "Weights of the members",
    }
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
    return draw_picture(draw, label.get(name, "Weights of the kernels"), name, height)


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
    return draw_picture(draw, label, name, bar_height(len(rows)))


def draw_calibration(name: str, bins: Sequence[Facts]) -> str:
    """Stated probabilities against what came true."""

    def draw(ax: Axes) -> None:
        keys = ("said", "right", "low", "high")
        points = draw_reliability(ax, *(numbers(bins, key) for key in keys))
        words = "said {:.0f} %, right in {:.0f} % of {:.0f} rows"
        points.set_urls([words.format(100 * b["said"], 100 * b["right"], b["count"]) for b in bins])

    return draw_picture(draw, "Stated probabilities against how often they were right", name, 3.4)


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

    return draw_picture(draw, "Gap by step" if kind == "gap" else "Value by step", name, 3.2)


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
            fit = LEGEND_LETTERS // (5 + max(map(len, words)))
            look = {**LEGEND, "ncols": min(max(fit, 1), 4), "handletextpad": 0.2}
            ax.figure.legend(legend.legend_handles, words, **look)

    height = 4.2 if d > 1 else 0.9 + 0.45 * max(len(names), 2)
    return draw_picture(draw, f"Rows by {axis}, coloured by class", name, height)
