"""``kernel-learn reproduce``: the experiments of the papers."""

from pathlib import Path

from sklearn.base import BaseEstimator

from kernel_learn.atomic_write import atomic_write
from kernel_learn.cli.session import Session, put
from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS, Cell, Protocol, load_protocol
from kernel_learn.papers.bench import (
    compare_methods,
    find_method,
    make_methods,
    own_records,
    run_methods,
    shipped_records,
)
from kernel_learn.papers.pages import make_page, same_figures
from kernel_learn.papers.protocol import cells_with, read_records, run_again, run_cells
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.writing import check_output


def reproduce_command(
    session: Session,
    table: str | None,
    *,
    listed: bool,
    data: str | None,
    results: str,
    page: str | None,
    only: str,
    seconds: float | None,
    reduced: bool,
    render: bool,
    again: int | None,
    methods: list[str],
    list_methods: bool,
) -> None:
    """List the experiments, or run one and write its page."""
    names = sorted(PROTOCOLS)
    if list_methods:
        show_methods(session, names if table is None else [table])
        return
    if listed:
        session.result({"tables": names}, lambda: put("\n".join(names)))
        return
    if table is None:
        raise TableError(f"Which table? Choose one of {', '.join(names)}.")
    check_output(page, ".md")
    protocol = load_protocol(table)
    folder = Path(results)
    apart: list[str] = []

    named = cells_with(protocol, only)

    def wanted(cell: Cell) -> bool:
        return named(cell) and (protocol.reduced(cell) or not reduced)

    if methods:
        limit = float("inf") if seconds is None else seconds
        found = read_methods(protocol, methods)
        joined = run_methods(protocol, found, find_data(data), folder, only=wanted, seconds=limit)
        text = compare_methods(protocol, joined, own_records(protocol, folder))
        write_page(page, text)
        values = {"table": table, "records": len(joined), "methods": sorted(found), "page": page}
        session.result(values, lambda: put(text if page is None else f"Written: {page}."))
        return
    if render:
        records = list(read_records(folder / f"{protocol.name}.jsonl"))
        records = records or shipped_records(protocol)
    elif again is not None:
        records, apart = run_again(
            protocol, find_data(data), folder, again, same_figures, only=wanted
        )
    else:
        limit = float("inf") if seconds is None else seconds
        records = run_cells(protocol, find_data(data), folder, only=wanted, seconds=limit)
    text = make_page(protocol, records)
    write_page(page, text)
    if apart:
        raise TableError(
            f"{table}: other figures than before for {', '.join(apart)}. Take their lines out of "
            f"{folder / protocol.name}.jsonl, or move that file away, and run the table again."
        )
    values = {"table": table, "records": len(records), "of": len(protocol.cells), "page": page}
    session.result(values, lambda: put(text if page is None else f"Written: {page}."))


def write_page(page: str | None, text: str) -> None:
    """Write a page where one is asked for."""
    if page is not None:
        with atomic_write(page) as part:
            part.write_text(text, encoding="utf-8")


def show_methods(session: Session, tables: list[str]) -> None:
    """The methods of the tables that others can join."""
    benches = {name: load_protocol(name).bench for name in tables}
    found = {name: list(bench.methods) for name, bench in benches.items() if bench is not None}
    lines = [f"{name}: {', '.join(methods)}" for name, methods in found.items()]
    lines += [f"{name}: no table of classifiers" for name in tables if name not in found]
    session.result({"methods": found}, lambda: put("\n".join(lines)))


def read_methods(protocol: Protocol, specs: list[str]) -> dict[str, BaseEstimator]:
    """Methods by name, refused before anything is run."""
    pairs = [find_method(spec) for spec in specs]
    found = make_methods(protocol, dict(pairs))
    if len(found) < len(pairs):
        raise TableError("Two of the methods have the same name.")
    return found
