"""Records as they come with the package: the cells of a table, in their order, without pictures.

    python -m kernel_learn.papers.shipping RESULTS TABLE ...

takes them from a folder of results; nothing is run.
"""

import json
import sys
from pathlib import Path

from kernel_learn.atomic_write import atomic_write
from kernel_learn.papers import load_protocol
from kernel_learn.papers.protocol import Protocol, Record, read_records

LONGEST = 1000
HOME = Path(__file__).parent / "records"


def without_points(record: Record) -> Record:
    """A record without the points of a picture, which take a hundred times its room."""
    return {key: v for key, v in record.items() if not (isinstance(v, list) and len(v) > LONGEST)}


def ship(protocol: Protocol, results: Path, home: Path = HOME) -> tuple[Path, int]:
    """Write the records of a table; the file, and how many of its cells were not run."""
    found = {record["key"]: record for record in read_records(results / f"{protocol.name}.jsonl")}
    done = [found[cell.key] for cell in protocol.cells if cell.key in found]
    if not done:
        raise ValueError(f"{results} has no records of {protocol.name}: run the table.")
    file = home / f"{protocol.name}.jsonl"
    with atomic_write(file) as part:
        lines = (json.dumps(without_points(record)) + "\n" for record in done)
        part.write_text("".join(lines), encoding="utf-8")
    return file, len(protocol.cells) - len(done)


if __name__ == "__main__":
    for table in sys.argv[2:]:
        file, missing = ship(load_protocol(table), Path(sys.argv[1]))
        print(f"{file}: {missing} cells not run" if missing else file)
