"""The numbers behind each picture, as tables: for those who do not see it, and to copy."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.report.placing import Facts

FEW_CLASSES = 8  # whose confusions a page shows as a table of their own
MOST_CLASSES = 20  # in a picture of confusions: those with most mistakes
MOST_SQUARES = 150  # classes whose whole table of confusions is written out
MOST_STEPS = 25  # of a curve


@dataclass(frozen=True)
class DataTable:
    """Words above, names of the columns, and lines of cells."""

    caption: str
    columns: list[str]
    lines: list[list[str]]


@dataclass(frozen=True)
class Confusion:
    """The classes with most mistakes; what was said of them, all other classes in one column."""

    names: list[str]  # (m,)
    said: list[str]  # (m,), and "others" if there are any
    counts: Array  # (m, len(said))
    totals: Array  # (m,) rows
    of: int  # classes in all

    @classmethod
    def of_classes(cls, names: list[str], table: Array, shown: Array) -> Self:
        """Some of the classes, in their order."""
        inner = table[np.ix_(shown, shown)]
        rest = table[shown].sum(axis=1) - inner.sum(axis=1)
        own = [names[i] for i in shown]
        is_whole = len(shown) == len(names)
        counts = inner if is_whole else np.column_stack([inner, rest])
        said = own if is_whole else [*own, "others"]
        return cls(own, said, counts, table[shown].sum(axis=1), len(names))

    @classmethod
    def worst(cls, names: list[str], table: Array) -> Self:
        """Those of which, or for which, most rows are taken wrongly."""
        wrong = table - np.diag(np.diag(table))
        mistakes = wrong.sum(axis=1) + wrong.sum(axis=0)
        return cls.of_classes(
            names, table, np.sort(np.argsort(-mistakes, kind="stable")[:MOST_CLASSES])
        )


def table_id(name: str) -> str:
    """The id of the table behind a picture."""
    return f"{name}-data"


def percents(*shares: float | None) -> list[str]:
    """Shares as cells."""
    return ["" if share is None else f"{100 * share:.1f} %" for share in shares]


def behind_pictures(
    facts: Facts, found: Facts, decision: Facts, coverage: list[Facts]
) -> dict[str, DataTable]:
    """Tables of the pictures that have none on the page; ``found`` are the figures of its rows."""
    importance = facts.get("importance") or {}
    tables = {
        "relevance": share_table("column", "share of relevance", importance.get("relevance")),
        "shapley": share_table("column", "share of Shapley values", importance.get("shapley")),
        "weights": share_table("kernel", "weight", importance.get("weights")),
        "calibration": calibration_table(found.get("calibration")),
        "coverage": coverage_table(coverage, facts.get("classes") or []),
        "embedding": embedding_table(facts.get("embedding")),
        "certificate": certificate_table(facts.get("certificate")),
        "confusion": confusion_table(facts.get("classes") or [], found.get("confusion")),
    }
    if decision.get("curve"):
        tables["roc"], tables["precision"] = curve_tables(decision)
    return {name: table for name, table in tables.items() if table is not None}


def share_table(what: str, value: str, records: list[Facts] | None) -> DataTable | None:
    """Names with their values, and how much these vary."""
    if not records:
        return None
    has_spread = records[0].get("spread") is not None
    lines = []
    for one in records:
        cells = [one["name"], f"{one['value']:.4g}"]
        lines.append([*cells, f"{one['spread']:.2g}"] if has_spread else cells)
    columns = [what, value] + ["± over folds"] * has_spread
    return DataTable(f"The {value} of each {what}", columns, lines)


def calibration_table(bins: list[Facts] | None) -> DataTable | None:
    """What was stated and what came true in each bin, and how many rows it has."""
    if not bins:
        return None
    keys = ("said", "right", "low", "high")
    lines = [[f"{one['count']}", *percents(*(one[key] for key in keys))] for one in bins]
    columns = ["rows", "stated", "right", "95 % from", "to"]
    return DataTable("Stated probabilities and how often they were right", columns, lines)


def coverage_table(found: list[Facts], classes: list[str]) -> DataTable | None:
    """Coverage, size of sets, and the class that they hold least often."""
    if not found:
        return None
    lines = []
    for one in found:
        worst = "" if one["worst"] is None else classes[one["worst"]]
        cells = [f"{100 * one['asked']:.3g} %", *percents(one["covered"]), f"{one['size']:.2f}"]
        cells += percents(one["single"])
        cells.append(f"{worst} {100 * one['worst_covered']:.1f} %" if worst else "")
        lines.append(cells)
    columns = ["asked for", "held", "classes in a set", "single class"]
    return DataTable("How often sets held the true class", [*columns, "class held least"], lines)


def curve_tables(decision: Facts) -> tuple[DataTable, DataTable]:
    """Thresholds along the two curves, the one decided by first."""
    curve = decision["curve"]
    some = np.unique(np.linspace(0, len(curve) - 1, MOST_STEPS).round().astype(int))
    alarms = decision["false_alarms"] / max(decision["negatives"], 1)
    own = [decision["threshold"], alarms, decision["recall"], decision["precision"]]
    steps = [own, *(curve[i] for i in some)]
    name = decision["name"]
    lines = [[f"{t:.3g}", *percents(a, r)] for t, a, r, _ in steps]
    roc = DataTable(
        f"What each threshold finds of {name}; the first line is the one decided by",
        ["threshold", "false alarms", "found"],
        lines,
    )
    lines = [[f"{t:.3g}", *percents(r, p)] for t, _, r, p in steps]
    columns = ["threshold", "found", "right when it is said"]
    return roc, DataTable(f"{roc.caption}, and how often it is right", columns, lines)


def embedding_table(embedding: Facts | None) -> DataTable | None:
    """Where each class stands: the mean of its rows and their spread."""
    if not embedding:
        return None
    d = embedding["dimensions"]
    P = np.array(embedding["points"], dtype=float).reshape(-1, d + 2)
    lines = []
    for i, name in enumerate(embedding["names"]):
        own = P[P[:, d] == i, :d]
        if len(own):
            cells = zip(own.mean(axis=0), own.std(axis=0), strict=True)
            lines.append([name, f"{len(own)}", *(f"{m:.3f} ± {s:.3f}" for m, s in cells)])
    columns = ["class", "rows", *(f"feature {i + 1}" for i in range(d))]
    return DataTable("Mean and standard deviation of the rows of each class", columns, lines)


def certificate_table(certificate: Facts | None) -> DataTable | None:
    """The solver's steps; of many, some."""
    lines = (certificate or {}).get("lines")
    if not certificate or not lines:
        return None
    n = certificate["steps"]
    some = np.unique(np.linspace(0, n - 1, MOST_STEPS).round().astype(int))
    cells = [
        [f"{i}", *("" if line[i] is None else f"{line[i]:.8g}" for line in lines.values())]
        for i in some
    ]
    return DataTable("Steps of the solver", ["step", *lines], cells)


def confusion_table(classes: list[str], table: list[list[int]] | None) -> DataTable | None:
    """The whole matrix, or of very many classes the cells that are not empty."""
    if table is None or len(classes) <= FEW_CLASSES:
        return None
    if len(classes) <= MOST_SQUARES:
        lines = [
            [name, *(str(count or "") for count in counts)]
            for name, counts in zip(classes, table, strict=True)
        ]
        caption = "True classes as lines, what was said as columns"
        return DataTable(caption, ["true class", *classes], lines)
    pairs = [
        [classes[i], classes[j], str(count)]
        for i, counts in enumerate(table)
        for j, count in enumerate(counts)
        if count
    ]
    return DataTable("What was said of the rows of each class", ["true", "said", "rows"], pairs)
