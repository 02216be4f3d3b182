"""From facts to one HTML file."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

MOST_MEMBERS = 10
MOST_CLASSES = 20  # of a confusion table that a page has room for
CELLS = 5  # columns shown of a surprising row
SURE = 0.9  # rows that are right with more probability surprise nobody
NAIVE = "majority class"  # is in the table but not in the picture: it would squeeze all others
# What a model may not have: a kernel learned from pairs has no classes.
OPTIONAL = ("classes", "counts", "held_out", "new_rows", "surprising", "embedding", "certificate")
PICTURES = (
    "relevance",
    "members",
    "weights",
    "embedding",
    "calibration",
    "certificate",
    "leaderboard",
)


def render(
    facts: Mapping[str, Any],
    *,
    frame: Any = None,
    leaderboard: Mapping[str, Any] | None = None,
    model_file: Mapping[str, Any] | None = None,
) -> str:
    """The page of a model.

    Parameters
    ----------
    facts : dict
        As ``gather_facts`` gives them.
    frame : pandas frame, optional
        The training rows; with them the surprising rows are shown with their cells.
    leaderboard : dict, optional
        ``rows`` of a ``Leaderboard`` and how it came about.
    model_file : dict, optional
        ``name``, ``bytes`` and ``rows`` of the file the model was written to.
    """
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("Reports need Jinja2: install kernel-learn[cli].") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.lstrip_blocks = True
    environment.filters |= {"percent": percent, "thousands": thousands, "size": size, "p": p_words}
    facts = dict.fromkeys(OPTIONAL) | dict(facts)
    folder = files("kernel_learn.report")
    template = environment.from_string(folder.joinpath("page.html").read_text(encoding="utf-8"))
    text: str = template.render(
        facts=facts,
        style=folder.joinpath("style.css").read_text(encoding="utf-8"),
        script=folder.joinpath("script.js").read_text(encoding="utf-8"),
        pictures=draw(facts, leaderboard),
        answer=facts.get("new_rows") or facts.get("held_out"),
        confusion=confusion_cells(facts),
        surprising=surprising_rows(facts, frame),
        leaderboard=leaderboard,
        model_file=model_file,
    )
    return text


def draw(facts: Mapping[str, Any], leaderboard: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every picture there are numbers for."""
    from kernel_learn.report import charts  # needs MarkupSafe, which comes with Jinja2

    found: dict[str, Any] = dict.fromkeys(PICTURES)
    importance = facts.get("importance") or {}
    if importance.get("relevance"):
        found["relevance"] = charts.bar_chart(importance["relevance"], "Relevance of the columns")
    if importance.get("members"):
        members = importance["members"][:MOST_MEMBERS]
        found["members"] = charts.bar_chart(members, "Weights of the members")
    if importance.get("weights"):
        weights = [{**w, "note": f"{w['value']:.3g}"} for w in importance["weights"]]
        found["weights"] = charts.bar_chart(weights, "Weights of the kernels")
    if facts.get("embedding"):
        found["embedding"] = draw_embedding(facts)
    judged = facts.get("new_rows") or facts.get("held_out")
    if judged and judged["calibration"]:
        words = "Stated probabilities against how often they were right"
        found["calibration"] = charts.reliability(judged["calibration"], words)
    certificate = facts.get("certificate")
    if certificate and certificate["gaps"]:
        found["certificate"] = charts.curves(
            {"gap": certificate["gaps"]}, "Gap by step", ylabel="certified relative gap", log=True
        )
    elif certificate and certificate["lines"]:
        found["certificate"] = charts.curves(
            certificate["lines"], "Value by step", ylabel="value", log=False
        )
    if leaderboard:
        rows = [
            {
                "name": row["method"],
                "value": row["accuracy"],
                "low": row["low"],
                "high": row["high"],
                "hover": f"{row['method']}: {percent(row['accuracy'])} "
                f"({percent(row['low'])} to {percent(row['high'])})",
            }
            for row in leaderboard["rows"]
            if row["accuracy"] is not None and row["method"] != NAIVE
        ]
        found["leaderboard"] = charts.interval_chart(
            rows, "Accuracy of each method with its interval"
        )
    return found


def draw_embedding(facts: Mapping[str, Any]) -> Any:
    """Training rows, and new ones as rings."""
    from kernel_learn.report import charts

    old, names = facts["embedding"], facts["embedding"]["names"]
    new = (facts.get("new_rows") or {}).get("points") or []
    points = []
    for rows, is_new in ((old["points"], False), (new, True)):
        word = "new row" if is_new else "row"
        for *place, label, row in rows:
            x, y = (*place, 0.0)[:2]
            points.append((x, y, label, f"{word} {row}: {names[label]}", is_new))
    shape = charts.scatter if old["dimensions"] > 1 else charts.strips
    axis = "held-out log ratio" if old.get("held_out") else "learned feature"
    return shape(points, names, f"Rows by {axis}, coloured by class", axis=axis)


def confusion_cells(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Counts with a shade for each; of many classes the pairs that are confused most."""
    judged = facts.get("new_rows") or facts.get("held_out")
    if not judged:
        return None
    names, table = facts["classes"], judged["confusion"]
    if len(names) > MOST_CLASSES:
        pairs = [
            {"truth": names[i], "said": names[j], "count": count}
            for i, row in enumerate(table)
            for j, count in enumerate(row)
            if i != j and count
        ]
        return {"rows": None, "pairs": sorted(pairs, key=lambda pair: -pair["count"])[:15]}
    rows = []
    for i, counts in enumerate(table):
        total = max(sum(counts), 1)
        cells = [
            {"count": count, "shade": round(100 * count / total), "right": i == j}
            for j, count in enumerate(counts)
        ]
        rows.append(
            {"name": names[i], "cells": cells, "recall": counts[i] / total, "n": sum(counts)}
        )
    return {"names": names, "rows": rows, "pairs": None}


def surprising_rows(facts: Mapping[str, Any], frame: Any) -> list[dict[str, Any]]:
    """With names instead of codes and, where the table is at hand, the cells that matter most."""
    names = facts.get("classes") or []
    relevant = [r["name"] for r in (facts.get("importance") or {}).get("relevance") or []]
    shown = [name for name in relevant if frame is not None and name in frame.columns][:CELLS]
    found = []
    for one in facts.get("surprising") or []:
        if one["truth"] == one["said"] and (one["p_truth"] or 0.0) > SURE:
            continue
        near = [{**other, "label": names[other["label"]]} for other in one["neighbours"]]
        cells = [(name, cell(frame[name].iloc[one["row"]])) for name in shown]
        found.append(
            {
                **one,
                "truth": names[one["truth"]],
                "said": names[one["said"]],
                "neighbours": near,
                "cells": cells,
                "why": why(names[one["truth"]], names[one["said"]], near),
            }
        )
    return found


def why(truth: str, said: str, near: Sequence[Mapping[str, Any]]) -> str:
    """One sentence on what the neighbours are."""
    if not near:
        return ""
    own = sum(other["label"] == truth for other in near)
    if truth == said:
        return f"Right, but not sure: of its {len(near)} nearest rows {own} are {truth}."
    others = sum(other["label"] == said for other in near)
    return f"Of its {len(near)} nearest rows {others} are {said} and {own} {truth}."


def cell(value: Any) -> str:
    """A cell's value, not too long."""
    if isinstance(value, float):
        return "missing" if value != value else f"{value:.4g}"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def percent(share: float | None, digits: int = 1) -> str:
    """A share as percent."""
    return "" if share is None else f"{100 * share:.{digits}f}\u00a0%"  # a space that never breaks


def thousands(count: float) -> str:
    """A count with spaces between thousands."""
    return f"{count:,.0f}".replace(",", "\u202f")  # a narrow space that does not break


def size(count: float) -> str:
    """Bytes in words."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def p_words(value: float) -> str:
    """A p-value with the digits that matter."""
    return f"{value:.3f}" if value >= 0.0095 else f"{value:.4f}".rstrip("0")
