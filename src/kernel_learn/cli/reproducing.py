"""``kernel-learn reproduce``: the experiments of the papers."""

from pathlib import Path

from kernel_learn.cli.session import Session
from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS, load_protocol
from kernel_learn.papers.pages import make_page
from kernel_learn.papers.protocol import read_records, run
from kernel_learn.tables.reading import TableError
from kernel_learn.tables.writing import check_output
from kernel_learn.whole_file import whole_file


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
    if render:
        records = list(read_records(Path(results) / f"{protocol.name}.jsonl"))
    else:
        records = run(
            protocol,
            find_data(data),
            Path(results),
            only=lambda cell: only in cell.key and (protocol.reduced(cell) or not reduced),
            seconds=float("inf") if seconds is None else seconds,
        )
    text = make_page(protocol, records)
    if page is not None:
        with whole_file(page) as part:
            part.write_text(text, encoding="utf-8")
    values = {"table": table, "records": len(records), "of": len(protocol.cells), "page": page}
    session.result(values, lambda: print(text if page is None else f"Written: {page}."))
