"""An experiment as a list of independent cells, run with memory of what is done.

A cell is the smallest piece worth keeping (one data set, one partition). Its
record is appended to a file of JSON lines as soon as it is there, so a run can
be stopped at any time and goes on where it was.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TextIO

from kernel_learn.atomic_write import atomic_write
from kernel_learn.datasets import DataSets
from kernel_learn.papers.difference import MEANING
from kernel_learn.papers.origin import made_now

Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One piece of an experiment: a key that names it and what ``run_cell`` needs."""

    key: str
    settings: Record = field(default_factory=dict)


Split = tuple[Any, Any, Any, Any]  # X_train, X_test, y_train, y_test


@dataclass(frozen=True)
class Bench:
    """How other classifiers join a table: its partitions, and our errors on them.

    ``splits(data, cell)`` gives the training and test rows of a cell, as our methods get them;
    ``errors(record)`` our errors in per cent, one for each of them, by method; ``ratio(set)``
    the number of test rows over that of training rows.
    """

    methods: tuple[str, ...]
    splits: Callable[[DataSets, Cell], Iterable[Split]]
    errors: Callable[[Record], dict[str, list[float]]]
    ratio: Callable[[str], float]

    @staticmethod
    def set_of(record: Record) -> str:
        """The data set of a record or of the settings of a cell."""
        return str(record["set"] if "set" in record else record["data"])


@dataclass(frozen=True)
class Protocol:
    """An experiment of a paper.

    ``run_cell(data, cell)`` returns the figures of a cell; ``render(records)``
    makes the Markdown page of all that is done so far. ``check`` is the key of
    a cheap cell, which the page shows and the tests compute anew;
    ``reduced(cell)`` says whether a cell is in the version of some minutes;
    ``bench`` is how other methods join it; ``claims(records)`` gives rows (claim, where in the
    paper, what came out, verdict) for what is no comparison of two methods.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    run_cell: Callable[[DataSets, Cell], Record]
    render: Callable[[Iterable[Record]], str]
    check: str = ""
    reduced: Callable[[Cell], bool] = lambda cell: True
    bench: Bench | None = None
    claims: Callable[[Iterable[Record]], list[list[str]]] = lambda records: []


def run_cells(
    protocol: Protocol,
    data: DataSets,
    results: Path,  # folder of the JSON lines
    *,
    only: Callable[[Cell], bool] = lambda cell: True,
    seconds: float = float("inf"),
    stream: TextIO | None = None,
) -> list[Record]:
    """Run the cells that are not done yet, within ``seconds``; return all records.

    An interrupt ends the run between cells or in one; what was finished is kept.
    """
    stream = sys.stderr if stream is None else stream
    results.mkdir(parents=True, exist_ok=True)
    file = results / f"{protocol.name}.jsonl"
    records = list(read_records(file))
    done = {record["key"] for record in records}
    waiting = [cell for cell in protocol.cells if cell.key not in done and only(cell)]
    start = time.monotonic()
    try:
        for i, cell in enumerate(waiting):
            elapsed = time.monotonic() - start
            if elapsed > seconds:
                break
            show_progress(stream, protocol.name, i, len(waiting), elapsed, cell.key)
            used = time.process_time()
            record = {"key": cell.key, **cell.settings, **protocol.run_cell(data, cell)}
            record["made"] = {**made_now(), "cpu": round(time.process_time() - used, 3)}
            append_record(file, record)
            records.append(record)
        show_progress(
            stream, protocol.name, len(waiting), len(waiting), time.monotonic() - start, "done"
        )
    except KeyboardInterrupt:
        print(f"\n{protocol.name}: stopped; run it again to go on.", file=stream)
    print(file=stream)
    return records


def run_again(
    protocol: Protocol,
    data: DataSets,
    results: Path,
    count: int,
    same: Callable[[Record, Record], bool],
    *,
    only: Callable[[Cell], bool] = lambda cell: True,
    stream: TextIO | None = None,
) -> tuple[list[Record], list[str]]:
    """Compute finished cells of other code anew; all records, and the keys that came out otherwise.

    ``count`` cells, spread evenly over the file. Those that are the ``same``
    keep the code that made them and have that of now beside it.
    """
    stream = sys.stderr if stream is None else stream
    file = results / f"{protocol.name}.jsonl"
    records, cells = list(read_records(file)), {cell.key: cell for cell in protocol.cells}
    now = made_now()
    older = [
        record
        for record in records
        if only(cells[record["key"]]) and now["commit"] != record.get("made", {}).get("commit")
    ]
    chosen = [older[i * len(older) // count] for i in range(min(count, len(older)))]
    apart, start = [], time.monotonic()
    for i, record in enumerate(chosen):
        show_progress(
            stream, protocol.name, i, len(chosen), time.monotonic() - start, record["key"]
        )
        cell = cells[record["key"]]
        if same(record, {"key": cell.key, **cell.settings, **protocol.run_cell(data, cell)}):
            record["made"] = {**record.get("made", {}), "again": now["commit"]}
        else:
            apart.append(cell.key)
    with atomic_write(file) as part:
        part.write_text("".join(json.dumps(record) + "\n" for record in records))
    print(file=stream)
    return records, apart


def cells_with(protocol: Protocol, text: str) -> Callable[[Cell], bool]:
    """Which cells have a text in their key; some must."""
    if not any(text in cell.key for cell in protocol.cells):
        raise ValueError(
            f"No cell of {protocol.name} has {text!r} in its key; keys are such as "
            f"{protocol.cells[0].key!r}."
        )
    return lambda cell: text in cell.key


def repeated_cells(names: Iterable[str], repeats: int) -> list[Cell]:
    """A cell for each partition of each data set, partitions first: any stop leaves a table."""
    return [
        Cell(f"{name}-{repeat}", {"set": name, "repeat": repeat})
        for repeat in range(repeats)
        for name in names
    ]


def by_set(records: Iterable[Record]) -> defaultdict[str, list[Record]]:
    """The records of each data set."""
    runs: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        runs[record["set"]].append(record)
    return runs


def make_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    first, *others = ("| " + " | ".join(map(str, row)) + " |" for row in (head, *rows))
    return "\n".join([first, "|---" * len(head) + "|", *others])


def fill_page(name: str, **values: object) -> str:
    """The page of a protocol: ``templates/name.md`` with its ``$values`` filled in.

    ``$verdicts_mean`` is what the words of a test say, the same on every page.
    """
    text = files("kernel_learn.papers").joinpath("templates", f"{name}.md").read_text("utf-8")
    return Template(text).substitute(values, verdicts_mean=MEANING)


def read_records(file: Path) -> Iterator[Record]:
    """The records of a file of JSON lines; a line cut off by a crash is left out."""
    if file.exists():
        yield from read_lines(file.read_text())


def read_lines(text: str) -> Iterator[Record]:
    """The records of a text of JSON lines."""
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def append_record(file: Path, record: Record) -> None:
    """Add a line; one that a crash cut off stays a line of its own."""
    cut_off = file.exists() and file.stat().st_size > 0 and file.read_bytes()[-1:] != b"\n"
    with file.open("a") as lines:
        lines.write(("\n" if cut_off else "") + json.dumps(record) + "\n")


def show_progress(
    stream: TextIO, name: str, done: int, total: int, elapsed: float, key: str
) -> None:
    """One line on how far a run is."""
    share = done / total if total else 1.0
    bar = "#" * round(24 * share)
    left = f"{elapsed / done * (total - done):.0f} s left" if done else ""
    text = f"{name} [{bar:<24}] {done}/{total} {elapsed:.0f} s {left} {key}"
    end = "\r" if stream.isatty() else "\n"
    print(f"{text:<100}"[:120], end=end, file=stream, flush=True)
