"""``kernel-learn read``, and what ``fit`` and ``compare`` say of their table first."""

import textwrap
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from kernel_learn.cli.session import Session
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, TableFiles, need_pandas
from kernel_learn.streams.readers.delimited import DelimitedFiles
from kernel_learn.streams.readers.input_files import STDIN
from kernel_learn.tables.columns import Columns, offer
from kernel_learn.tables.names import refuse_unknown
from kernel_learn.tables.reading.clean_files import CleanTable, clean_table
from kernel_learn.tables.reading.showing import WIDTH, ColumnLine, describe_reading, show_lines
from kernel_learn.tables.reading.table_reading import parse_types
from kernel_learn.tables.writing import check_output

if TYPE_CHECKING:
    from kernel_learn.tables.tasks import Task


@dataclass(frozen=True)
class ReadingOptions:
    """How files are to be read, as it was asked for."""

    format: str | None = None
    types: Sequence[str] = ()
    na: Sequence[str] = ()
    encoding: str | None = None
    sheet: str | None = None
    table: str | None = None
    clean: bool = True

    def files(self, data: Sequence[str], as_written: Container[str] = ()) -> TableFiles:
        """The files of the table, some columns of it with cells as they stand there."""
        if self.sheet is not None and self.table is not None:
            raise TableError("--sheet is for workbooks, --table for databases: give one.")
        part = self.sheet if self.sheet is not None else self.table
        return TableFiles(data, self.format, as_written, encoding=self.encoding, part=part)

    def read(
        self, table: TableFiles, frame: Frame, target: str | None, task: str = "auto"
    ) -> CleanTable:
        """The frame as it is meant."""
        return clean_table(
            table,
            frame,
            target=target,
            task=task,
            types=parse_types(self.types),
            na=list(self.na),
            clean=self.clean,
        )


def check_columns(frame: Frame, asked: Mapping[str, str | None]) -> None:
    """Refuse options that name a column which is not there."""
    for option, name in asked.items():
        if name is not None and name not in frame.columns:
            raise TableError(f"There is no column {name!r} ({option}); {offer(frame)}")


def check_request(
    options: ReadingOptions,
    data: Sequence[str],
    columns: Mapping[str, str | None],
    outputs: Mapping[str, str | None] = MappingProxyType({}),
    methods: Sequence[str] = (),
    metric: str = "auto",
) -> None:
    """Refuse what can be refused before the packages of a fit are imported, which takes seconds.

    ``columns`` are the options that name one, ``outputs`` the suffixes that files must have.
    """
    for suffix, path in outputs.items():
        check_output(path, suffix)
    refuse_unknown(methods, metric)
    if STDIN in data:
        return  # it can be read once
    parse_types(options.types)
    table = options.files(data)
    if table.formats[0] in ("csv", "tsv"):
        separator = "\t" if table.formats[0] == "tsv" else None
        names = DelimitedFiles(table.files, separator=separator).names()
        check_columns(need_pandas().DataFrame(columns=names), columns)


def say_reading(
    run: Session,
    data: Sequence[str],
    read: CleanTable,
    columns: Columns,
    *,
    rows: int,
    target: str | None,
    group: str | None = None,
    is_regression: bool = False,
) -> None:
    """How the table was read, to standard error."""
    lines = describe_reading(
        read.frame,
        columns,
        read.remarks,
        target=target,
        group=group,
        is_regression=is_regression,
    )
    run.note("\n".join(reading_text(data, read.notes, lines, rows)))


def reading_text(
    data: Sequence[str], notes: Sequence[str], lines: Sequence[ColumnLine], rows: int
) -> list[str]:
    """The title, what was done to files and rows, and the columns."""
    files = data[0] if len(data) == 1 else f"{len(data)} files"
    title = f"How I read your table: {files}, {rows} rows, {len(lines)} columns."
    text = textwrap.wrap(title, WIDTH, break_on_hyphens=False)
    for note in notes:
        text += textwrap.wrap(f"{note[0].upper()}{note[1:]}.", WIDTH, break_on_hyphens=False)
    return [*text, *show_lines(lines)]


def read_command(
    run: Session, data: Sequence[str], target: str | None, options: ReadingOptions
) -> None:
    """Read a table and say how."""
    from kernel_learn.tables.columns import look_at_columns
    from kernel_learn.tables.tasks import tell_task

    table = options.files(data)
    with run.progress("reading"):
        frame = table.read()
    check_columns(frame, {"--target": target})
    read = options.read(table, frame, target)
    rows = read.frame.drop(columns=[target] if target is not None else [])
    columns = look_at_columns(rows, None, read.reading.skipped, (), read.reading.kinds)
    kind = None if target is None else read.reading.kinds.get(target)
    task = None if target is None else tell_task(read.frame[target], "auto", kind)
    lines = describe_reading(
        read.frame,
        columns,
        read.remarks,
        target=target,
        is_regression=task is not None and task.is_regression,
    )
    for sentence in find_leak_warnings(read.frame, columns, target, task):
        run.warn(sentence)
    values = {
        "files": list(data),
        "rows": len(read.frame),
        "notes": read.notes,
        "columns": [line.as_values() for line in lines],
    }
    text = reading_text(data, read.notes, lines, len(read.frame))
    run.result(values, lambda: print("\n".join(text)))


def find_leak_warnings(
    frame: Frame, columns: Columns, target: str | None, task: "Task | None"
) -> list[str]:
    """A sentence on each column that gives the target away, if the target can be predicted."""
    from kernel_learn.tables.columns import find_leaks
    from kernel_learn.tables.number_columns import find_number_leaks
    from kernel_learn.tables.tasks import take_target

    if target is None or task is None:
        return []
    try:
        y = take_target(frame[target], task)
    except TableError:  # fit says what is wrong with it
        return []
    rows = frame.loc[frame[target].notna()].reset_index(drop=True)
    if task.is_regression:
        return find_number_leaks(rows, columns, y)
    return replace(columns, leaks=find_leaks(rows, columns.kinds, y)).leak_warnings
