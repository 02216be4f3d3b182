"""``kernel-learn read``, and what ``fit`` and ``compare`` say of their table first."""

import json
import textwrap
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from zipfile import BadZipFile, ZipFile

from kernel_learn.arrays import Array
from kernel_learn.cli.session import Session, put
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, TableFiles, need_pandas
from kernel_learn.streams.readers.delimited import DelimitedFiles
from kernel_learn.streams.readers.input_files import STDIN
from kernel_learn.tables.columns import (
    Columns,
    check_complete,
    check_there,
    find_leaks,
    look_at_columns,
    offer,
)
from kernel_learn.tables.names import task_of_names
from kernel_learn.tables.number_columns import find_number_leaks
from kernel_learn.tables.reading.clean_files import CleanTable, clean_table
from kernel_learn.tables.reading.showing import WIDTH, ColumnLine, describe_reading, show_lines
from kernel_learn.tables.reading.table_reading import check_kinds, parse_types
from kernel_learn.tables.tasks import Task, check_task, take_target, tell_task
from kernel_learn.tables.writing import check_output

MOST_METADATA = 2**20
EARLY_BYTES = 2**24  # in memory, roughly: such a table is read in tenths of a second


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


@dataclass(frozen=True)
class ReadTable:
    """A table as it is meant, and its target."""

    files: TableFiles
    clean: CleanTable
    task: Task
    y: Array | None  # of the rows that have one


@dataclass(frozen=True)
class Given:
    """The table to learn from, as it was asked for."""

    data: Sequence[str]
    target: str | None
    group: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    options: ReadingOptions = field(default_factory=ReadingOptions)
    memory: str | None = None
    seed: int = 0
    task: str = "auto"
    early: ReadTable | None = None  # a small table, read before a fit is imported

    def check_names(self, frame: Frame) -> None:
        """Refuse options that name a column which is not there."""
        check_columns(frame, {"--target": self.target, "--group": self.group})
        if self.target is not None and self.target == self.group:
            raise TableError(f"Column {self.target!r} cannot be both the target and the group.")
        check_there(frame, [*self.drop, *self.keep])

    def read(self, files: TableFiles, frame: Frame) -> ReadTable:
        """The frame of the files as it is meant, and its target; refuses what cannot be used."""
        self.check_names(frame)
        clean = self.options.read(files, frame, self.target, self.task)
        if self.target is None:
            return ReadTable(files, clean, Task("classify"), None)
        column = clean.frame[self.target]
        task = tell_task(column, self.task, clean.reading.kinds.get(self.target))
        return ReadTable(files, clean, task, take_target(column, task))


def check_request(
    given: Given,
    outputs: Mapping[str, str | None] = MappingProxyType({}),
    methods: Sequence[str] = (),
    metric: str = "auto",
) -> Given:
    """Refuse what can be refused before the packages of a fit are imported, which takes seconds.

    ``outputs`` are files and the suffixes they must have. The request comes back with its task as
    methods and metric tell it, and with its table, if that is small.
    """
    for suffix, path in outputs.items():
        check_output(path, suffix)
    told = task_of_names(methods, metric)
    if check_task(given.task) == "auto":
        given = replace(given, task=told)
    check_kinds(parse_types(given.options.types))
    if STDIN in given.data:
        return given  # it can be read once
    files = given.options.files(given.data)
    if given.memory is None and files.nbytes <= EARLY_BYTES:
        return replace(given, early=given.read(files, files.read()))
    if (names := header_of(files)) is not None:
        given.check_names(need_pandas().DataFrame(columns=names))
    return given


def header_of(files: TableFiles) -> list[str] | None:
    """The columns of the first file, where its first lines tell them."""
    if files.formats[0] not in ("csv", "tsv"):
        return None
    separator = "\t" if files.formats[0] == "tsv" else None
    return DelimitedFiles(files.files, separator=separator).names()


def check_prediction(model_path: str, data: Sequence[str], options: ReadingOptions) -> None:
    """Refuse a table that lacks columns before a model is read, which takes seconds, too."""
    names = columns_of_model(model_path)
    if names and STDIN not in data and (header := header_of(options.files(data))) is not None:
        check_complete(names, header, ", and with --fill all of them are")


def columns_of_model(path: str) -> list[str]:
    """The columns that a model file says it needs; none where it does not, or is none."""
    try:
        with ZipFile(path) as archive, archive.open("kernel_learn.json") as file:
            found = json.loads(file.read(MOST_METADATA)).get("names")
    except (BadZipFile, OSError, ValueError, KeyError, AttributeError, NotImplementedError):
        return []
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []


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
    run.result(values, lambda: put("\n".join(text)))


def find_leak_warnings(
    frame: Frame, columns: Columns, target: str | None, task: Task | None
) -> list[str]:
    """A sentence on each column that gives the target away, if the target can be predicted."""
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
