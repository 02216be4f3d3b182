"""Pages: what a protocol renders, where its figures come from, and one cell to check."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from kernel_learn.papers.protocol import Protocol, Record, make_table

SHARED = 1e-3  # what two versions of a library agree on, relative
# what differs from run to run, or in the last digits from library to library; of an alternation
# that diverges, bounds and errors in all digits, from processor to processor
UNSTABLE = frozenset(
    {"apart", "bounds", "by_round", "seconds", "made", "weights"}
    | {"gap", "relative_gap", "largest_gap"}
)


def make_page(protocol: Protocol, records: Iterable[Record]) -> str:
    """The page of a protocol with its origin."""
    records = list(records)
    return f"{protocol.render(records).rstrip()}\n\n{describe_origin(protocol, records)}"


def describe_origin(protocol: Protocol, records: list[Record]) -> str:
    """The last section of a page."""
    made = [record["made"] for record in records if "made" in record]

    def all_of(key: str) -> str:
        return "; ".join(dict.fromkeys(entry[key] for entry in made)) or "not recorded"

    seconds = sum(entry["cpu"] for entry in made)
    lines = [
        "## Where these figures come from",
        "",
        f"- Command: `kernel-learn reproduce {protocol.name} --data DATA --page PAGE`; the same "
        "command goes on where it stopped.",
        f"- Code: {tell_commits(made)}. Date: {tell_dates(made)}.",
        f"- Versions: {all_of('versions')}.",
        f"- {len(records)} of {len(protocol.cells)} cells, {seconds:.0f} s of processor time on "
        "one thread.",
    ]
    lines += describe_again(made) + commits_by_set(records)
    checked = next((r for r in records if r["key"] == protocol.check), None)
    if checked is not None:
        text = json.dumps({"key": protocol.check, **stable_figures(checked)}, indent=None)
        lines += ["", "One cell, which the tests compute anew:", "", f"```json\n{text}\n```"]
    return "\n".join(lines) + "\n"


def tell_dates(made: Iterable[Record]) -> str:
    """ "2026-03-01 to 2026-03-03", or the one day."""
    dates = sorted({entry["date"] for entry in made})
    return " to ".join(dates[:1] + dates[1:][-1:]) or "-"


def tell_commits(made: Iterable[Record]) -> str:
    """ "abc1234 (12 cells), def5678 (3)": what made the records, and how many of them."""
    found = Counter(entry["commit"] for entry in made)
    told = [f"{commit} ({count} cell{'s' * (count > 1)})" for commit, count in found.items()]
    return ", ".join(told) or "not recorded"


def commits_by_set(records: Iterable[Record]) -> list[str]:
    """Where there are several commits: how many records of each set each of them made."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        if "made" in record:
            name = str(record.get("set", record.get("data", "-")))
            found.setdefault(record["made"]["commit"], Counter())[name] += 1
    if len(found) < 2:
        return []
    rows = [
        [commit, ", ".join(f"{name} {count}" for name, count in sets.items())]
        for commit, sets in found.items()
    ]
    told = "Cells of each set by the commit that made them; a record names its own:"
    return ["", told, "", make_table(["commit", "cells"], rows)]


def describe_again(made: Iterable[Record]) -> list[str]:
    """A line on the cells that later code has computed once more, if there are any."""
    again = [entry["again"] for entry in made if "again" in entry]
    if not again:
        return []
    return [
        f"- Computed once more, with the same figures: {len(again)} of these cells, at "
        f"{'; '.join(dict.fromkeys(again))}."
    ]


def same_figures(record: Record, again: Record) -> bool:
    """Whether two records of a cell found the same, to the digits that libraries share."""

    def same(a: object, b: object) -> bool:
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return math.isclose(a, b, rel_tol=SHARED) or (math.isnan(a) and math.isnan(b))
        return bool(a == b)

    return same(stable_figures(record), json.loads(json.dumps(stable_figures(again))))


def stable_figures(record: Record) -> Record:
    """What a cell found and must find again: no times, weights or certificates."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: rounded(v) for k, v in value.items() if k not in UNSTABLE}
        if isinstance(value, list):
            return [rounded(v) for v in value]
        return float(f"{value:.5g}") if isinstance(value, float) else value

    found: Record = rounded(record)
    return found


def read_check(page: str) -> Record | None:
    """The cell that a page shows."""
    found = re.search(r"```json\n(.*?)\n```", page, flags=re.DOTALL)
    return None if found is None else json.loads(found[1])
