"""From facts to one HTML file."""

from collections.abc import Sequence
from importlib.resources import files

from kernel_learn.arrays import Rows
from kernel_learn.inspection.drawing import shorten
from kernel_learn.report.charts import draw_charts
from kernel_learn.report.placing import Facts
from kernel_learn.representations.plan import format_bytes

MOST_CLASSES = 20  # of a confusion table that a page has room for
CELLS = 5  # columns shown of a surprising row
SURE = 0.9  # rows that are right with more probability surprise nobody
# What a model may not have: a kernel learned from pairs has no classes.
OPTIONAL = ("classes", "counts", "held_out", "new_rows", "surprising", "embedding", "certificate")


def render(
    facts: Facts,
    *,
    frame: Rows = None,
    leaderboard: Facts | None = None,
    model_file: Facts | None = None,
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
    environment.filters |= {"percent": percent, "thousands": thousands}
    environment.filters |= {"size": format_bytes, "p": format_p_value}
    facts = dict.fromkeys(OPTIONAL) | dict(facts)
    folder = files("kernel_learn.report")
    template = environment.from_string(folder.joinpath("page.html").read_text(encoding="utf-8"))
    text: str = template.render(
        facts=facts,
        style=folder.joinpath("style.css").read_text(encoding="utf-8"),
        script=folder.joinpath("script.js").read_text(encoding="utf-8"),
        pictures=draw_charts(facts, leaderboard),
        answer=facts.get("new_rows") or facts.get("held_out"),
        confusion=confusion_cells(facts),
        surprising=surprising_rows(facts, frame),
        leaderboard=leaderboard,
        model_file=model_file,
    )
    return text


def confusion_cells(facts: Facts) -> Facts | None:
    """Counts with a shade for each; of many classes the pairs that are confused most."""
    found = facts.get("new_rows") or facts.get("held_out")
    if not found:
        return None
    names, table = facts["classes"], found["confusion"]
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
        rows.append({"name": names[i], "cells": cells, "recall": counts[i] / total})
    return {"names": names, "rows": rows, "pairs": None}


def surprising_rows(facts: Facts, frame: Rows) -> list[Facts]:
    """With names instead of codes and, where the table is at hand, the cells that matter most."""
    names = facts.get("classes") or []
    relevant = [r["name"] for r in (facts.get("importance") or {}).get("relevance") or []]
    shown = [name for name in relevant if frame is not None and name in frame.columns][:CELLS]
    found = []
    for one in facts.get("surprising") or []:
        if one["truth"] == one["said"] and (one["p_truth"] or 0.0) > SURE:
            continue
        near = [{**other, "label": names[other["label"]]} for other in one["neighbours"]]
        cells = [(name, format_cell(frame[name].iloc[one["row"]])) for name in shown]
        found.append(
            {
                **one,
                "truth": names[one["truth"]],
                "said": names[one["said"]],
                "neighbours": near,
                "cells": cells,
                "why": explain_row(names[one["truth"]], names[one["said"]], near),
            }
        )
    return found


def explain_row(truth: str, said: str, near: Sequence[Facts]) -> str:
    """One sentence on what the neighbours are."""
    if not near:
        return ""
    own = sum(other["label"] == truth for other in near)
    if truth == said:
        return f"Right, but not sure: of its {len(near)} nearest rows {own} are {truth}."
    others = sum(other["label"] == said for other in near)
    return f"Of its {len(near)} nearest rows {others} are {said} and {own} {truth}."


def format_cell(value: object) -> str:
    """A cell's value, not too long."""
    if isinstance(value, float):
        return "missing" if value != value else f"{value:.4g}"
    return shorten(str(value), 40)


def percent(share: float | None, digits: int = 1) -> str:
    """A share as percent."""
    return "" if share is None else f"{100 * share:.{digits}f}\u00a0%"  # a space that never breaks


def thousands(count: float) -> str:
    """A count with spaces between thousands."""
    return f"{count:,.0f}".replace(",", "\u202f")  # a narrow space that does not break


def format_p_value(value: float) -> str:
    """A p-value with the digits that matter."""
    return f"{value:.3f}" if value >= 0.0095 else f"{value:.4f}".rstrip("0")
