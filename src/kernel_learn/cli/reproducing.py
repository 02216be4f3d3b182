"""``kernel-learn reproduce``: the experiments of the papers."""

from pathlib import Path

from kernel_learn.atomic_write import atomic_write
from kernel_learn.cli.session import Session
from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS, Cell, load_protocol
from kernel_learn.papers.pages import make_page, same_figures
from kernel_learn.papers.protocol import read_records, run, run_again
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
) -> None:
    """List the experiments, or run one and write its page."""
    names = sorted(PROTOCOLS)
    if listed:
        session.result({"tables": names}, lambda: print("\n".join(names)))
        return
    if table not in PROTOCOLS:
        wrong = "Which table?" if table is None else f"There is no table {table!r}."
        raise TableError(f"{wrong} Choose one of {', '.join(names)}.")
    check_output(page, ".md")
    protocol = load_protocol(table)
    folder = Path(results)
    apart: list[str] = []

    def wanted(cell: Cell) -> bool:
        return only in cell.key and (protocol.reduced(cell) or not reduced)

    if render:
        records = list(read_records(folder / f"{protocol.name}.jsonl"))
    elif again is not None:
        records, apart = run_again(
            protocol, find_data(data), folder, again, same_figures, only=wanted
        )
    else:
        limit = float("inf") if seconds is None else seconds
        records = run(protocol, find_data(data), folder, only=wanted, seconds=limit)
    text = make_page(protocol, records)
    if page is not None:
        with atomic_write(page) as part:
            part.write_text(text, encoding="utf-8")
    if apart:
        raise TableError(
            f"{table}: other figures than before for {', '.join(apart)}. Take their lines out of "
            f"{folder / protocol.name}.jsonl, or move that file away, and run the table again."
        )
    values = {"table": table, "records": len(records), "of": len(protocol.cells), "page": page}
    session.result(values, lambda: print(text if page is None else f"Written: {page}."))
