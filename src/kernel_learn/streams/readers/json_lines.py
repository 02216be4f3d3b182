"""JSON lines: an object in braces on each."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from kernel_learn.rows.frames import ColumnType, Frame
from kernel_learn.streams.readers.input_files import (
    InputFile,
    ScannedFiles,
    TableError,
    described,
    need_pandas,
)

Row = dict[str, Any]  # of JSON: numbers, texts, booleans, None


@dataclass
class JsonLineFiles(ScannedFiles[dict[str, ColumnType]]):
    """Files that are one table: a column has the type of all of its values."""

    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        types = self.found
        if missing := [name for name in columns or [] if name not in types]:
            raise TableError(f"{self.files[0]} has no column {missing[0]!r}.")
        wanted = types if columns is None else {name: types[name] for name in columns}
        wanted = wanted | {name: object for name in wanted if name in self.as_written}
        waiting = json_rows(file)
        while block := list(islice(waiting, rows)):
            yield as_frame(block, wanted)

    def scan(self) -> dict[str, ColumnType]:
        """What pandas makes of one value of each type of a column, and of the most extreme ones.

        Columns are in the order in which they come first. Whole numbers that 64 bits do not hold
        are objects: pandas before 3 makes floats of them too, by the order of the rows.
        """
        seen: dict[str, dict[object, Any]] = {}
        counts: dict[str, int] = {}
        n = 0
        for file in self.files:
            for row in json_rows(file):
                n += 1
                for name, value in row.items():
                    kept = seen.setdefault(name, {})
                    counts[name] = counts.get(name, 0) + 1
                    kept.setdefault(type(value), value)
                    if type(value) is int:  # the largest ones have types of their own
                        kept["least"] = min(value, kept.get("least", value))
                        kept["most"] = max(value, kept.get("most", value))
        pandas, types = need_pandas(), {}
        for name, kept in seen.items():
            rows: list[Row] = [{name: value} for value in kept.values()]
            rows += [{}] if counts[name] < n else []
            dtype = pandas.DataFrame(rows)[name].dtype
            types[name] = np.dtype(object) if is_wide(kept) else dtype
        return types


def is_wide(kept: dict[object, Any]) -> bool:
    """Whether neither int64 nor uint64 holds all whole numbers of a column."""
    least, most = kept.get("least", 0), kept.get("most", 0)
    return least < -(2**63) or most >= (2**63 if least < 0 else 2**64)


def as_frame(rows: list[Row], types: dict[str, ColumnType]) -> Frame:
    """Rows as a frame with these columns of these types."""
    pandas = need_pandas()
    columns = {}
    for name, dtype in types.items():
        cells = [row.get(name, np.nan) for row in rows]
        columns[name] = pandas.Series(cells, dtype=object).astype(dtype)
    return pandas.DataFrame(columns)


def json_rows(file: InputFile) -> Iterator[Row]:
    """The objects of all lines that are not empty."""
    with described(file), file.open_text() as lines:
        for i, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8-sig"))
            except json.JSONDecodeError as error:
                raise TableError(f"{file}: line {i + 1} is not JSON: {error.msg}.") from error
            if not isinstance(row, dict):
                raise TableError(f"{file}: line {i + 1} is not an object in braces.")
            yield row
