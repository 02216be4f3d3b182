"""From facts to one HTML file."""

from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from kernel_learn.arrays import Rows
from kernel_learn.ensemble.summary import NOT_ASSESSED, format_p_value
from kernel_learn.inspection.embedding import MOST_LEGEND, groups_that_show
from kernel_learn.report.charts import MOST_BARS, decision_of, draw_charts, shown_coverage
from kernel_learn.report.data_tables import FEW_CLASSES, behind_pictures
from kernel_learn.report.facts import PERMUTATIONS, headline_of, headline_words
from kernel_learn.report.held_out import is_assessed, say_caution
from kernel_learn.report.number_tables import number_tables
from kernel_learn.report.number_verdict import judge_values, show
from kernel_learn.report.placing import Facts
from kernel_learn.report.verdict import beside_held_out, give_verdict
from kernel_learn.representations.plan import format_bytes
from kernel_learn.rows.short_names import shorten

CELLS = 5  # columns shown of a surprising row
FAR_OFF = 1.0  # half-widths of a 90 % interval: rows that are nearer surprise nobody
SURE = 0.9  # rows that are right with more probability surprise nobody
# What a model may not have: a kernel learned from pairs has no classes.
OPTIONAL = ("classes", "counts", "held_out", "new_rows", "surprising", "embedding", "certificate")
OF_DECISIONS = ("decision", "unlike", "coverage")
OF_NUMBERS = ("numbers", "new_numbers", "look_at")


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
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Reports need Jinja2: install kernel-learn[cli].") from error
    loader = PackageLoader("kernel_learn", "report")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, loader=loader
    )
    environment.lstrip_blocks = True
    environment.filters |= {"percent": percent, "thousands": thousands}
    environment.filters |= {"size": format_bytes, "p": format_p_value, "headline": headline_words}
    environment.filters |= {"value": show}
    facts = {"n_permutations": PERMUTATIONS} | dict(facts)
    facts = dict.fromkeys([*OPTIONAL, *OF_DECISIONS, *OF_NUMBERS]) | facts
    folder = files("kernel_learn.report")
    answer = facts.get("new_rows") or facts.get("held_out")
    figures = facts.get("new_numbers") or facts.get("numbers")
    held_out = facts["held_out"] or facts["numbers"] or {}
    text: str = environment.get_template("page.html").render(
        facts=facts,
        style=folder.joinpath("style.css").read_text(encoding="utf-8"),
        script=folder.joinpath("script.js").read_text(encoding="utf-8"),
        most_bars=MOST_BARS,
        unlabelled=unlabelled_classes(facts),
        pictures=draw_charts(facts, leaderboard),
        tables=behind_pictures(facts, answer or {}, decision_of(facts), shown_coverage(facts))
        | number_tables(figures, facts["target"]),
        answer=answer,
        assessed=is_assessed(held_out),
        headline=headline_of(facts["held_out"]) if facts["held_out"] else None,
        tells=is_assessed(answer or figures or {}),  # figures shown are those of new rows to come
        not_assessed=NOT_ASSESSED,
        caution=say_caution(answer or figures or {}),
        verdict=verdict_of(facts),
        decision=decision_of(facts),
        coverage=shown_coverage(facts),
        confusion=confusion_cells(facts),
        surprising=surprising_rows(facts, frame),
        leaderboard=leaderboard,
        model_file=model_file,
        figures=figures,
        look_at=rows_to_look_at(facts, frame),
    )
    return text


def confusion_cells(facts: Facts) -> Facts | None:
    """Counts of few classes with a shade for each; of more the pairs that are confused most."""
    found = facts.get("new_rows") or facts.get("held_out")
    if not found:
        return None
    names, table = facts["classes"], found["confusion"]
    if len(names) > FEW_CLASSES:
        pairs = [
            {"truth": names[i], "said": names[j], "count": count, "of": sum(row)}
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


def unlabelled_classes(facts: Facts) -> list[str]:
    """Of very many classes, those whose names are not in the picture of the rows."""
    old = facts.get("embedding")
    if not old or len(old["names"]) <= MOST_LEGEND or old["dimensions"] != 2:
        return []
    points = np.array(old["points"], dtype=float)
    names = np.array(old["names"], dtype=object)
    shown = groups_that_show(points[:, :2], names[points[:, 2].astype(int)], list(names))
    return [name for name in names if name not in shown]


def verdict_of(facts: Facts) -> list[str]:
    """Three sentences to act on; of new rows how they compare with held-out ones."""
    if facts["numbers"]:
        return judge_values(facts, facts["n_permutations"])
    if new := facts.get("new_rows"):
        return beside_held_out(new, facts)
    return give_verdict(facts, facts["n_permutations"])


def surprising_rows(facts: Facts, frame: Rows) -> list[Facts]:
    """With names instead of codes and, where the table is at hand, the cells that matter most."""
    names = facts.get("classes") or []
    shown = cells_to_show(facts, frame)
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


def cells_to_show(facts: Facts, frame: Rows) -> list[str]:
    """The columns that matter most, where the table is at hand."""
    relevant = [r["name"] for r in (facts.get("importance") or {}).get("relevance") or []]
    return [name for name in relevant if frame is not None and name in frame.columns][:CELLS]


def rows_to_look_at(facts: Facts, frame: Rows) -> list[Facts]:
    """Of numbers: rows that are far off, with the cells that matter and a word on their likes."""
    shown, found = cells_to_show(facts, frame), []
    for one in facts.get("look_at") or []:
        if one["times"] < FAR_OFF:
            continue
        values = [other["value"] for other in one["neighbours"]]
        why = f"Its {len(values)} nearest rows lie from {show(min(values))} to {show(max(values))}."
        cells = [(name, format_cell(frame[name].iloc[one["row"]])) for name in shown]
        found.append({**one, "why": why if values else "", "cells": cells})
    return found


def explain_row(truth: str, said: str, near: Sequence[Facts]) -> str:
    """One sentence on what the neighbours are."""
    if not near:
        return ""
    own = sum(other["label"] == truth for other in near)
    if truth == said:
        return f"Right, but not sure: of its {len(near)} nearest rows {own} are “{truth}”."
    others = sum(other["label"] == said for other in near)
    return f"Of its {len(near)} nearest rows {others} are “{said}” and {own} “{truth}”."


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
