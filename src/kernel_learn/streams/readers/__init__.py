"""Files to tables: formats are known here and nowhere else.

A table is a pandas frame, with sparse columns where a LIBSVM file is sparse and wide. ``-`` is
standard input; several files, and patterns such as ``part-*.parquet``, are one table. What a
column holds is the same whether a table is read whole or in blocks.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path

import numpy as np

from kernel_learn.namespaces import list_only
from kernel_learn.rows.frames import Frame, stack_frames
from kernel_learn.rows.kinds import column_kind
from kernel_learn.streams.readers.containers import PACKED, begins_like, begins_like_json
from kernel_learn.streams.readers.databases import read_database
from kernel_learn.streams.readers.delimited import DelimitedFiles
from kernel_learn.streams.readers.encodings import LOOKED_AT
from kernel_learn.streams.readers.input_files import (
    STDIN,
    FormatFiles,
    InputFile,
    MissingTableError,
    TableError,
    described,
    find_files,
    need_pandas,
)
from kernel_learn.streams.readers.json_lines import JsonLineFiles
from kernel_learn.streams.readers.libsvm import LibsvmFiles
from kernel_learn.streams.readers.parquet_files import ParquetFiles, open_parquet
from kernel_learn.streams.readers.whole_files import (
    FeatherFiles,
    WholeFiles,
    read_arff,
    read_json_table,
    read_npz,
    read_spss,
    read_stata,
)
from kernel_learn.streams.readers.workbooks import read_workbook

__all__ = [
    "FORMATS",
    "MissingTableError",
    "TableError",
    "TableFiles",
    "find_files",
    "format_of",
    "need_pandas",
    "read_blocks",
    "read_table",
]

__dir__ = list_only(__all__)

# Suffix: format. A suffix .gz, .bz2, .xz or .zip after it is looked through.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
}
# What is not read, and how it becomes something that is.
SAVE_AS = {
    ".xls": "save it as .xlsx",
    ".ods": "save it as .xlsx or .csv",
    ".numbers": "export it as .xlsx or .csv",
    ".sas7bdat": "export it as .csv",
    ".rds": "write it with write.csv",
    ".rdata": "write the table with write.csv",
    ".mat": "write the table as .csv",
    ".pdf": "a table is wanted, as .csv or .xlsx",
    ".docx": "a table is wanted, as .csv or .xlsx",
    ".7z": "unpack it first",
    ".tar": "unpack it first",
    ".rar": "unpack it first",
}
BLOCK_ROWS = 20_000
MOST_COUNTED = 2**28  # bytes of a table whose words for missing are counted: a second or two
PARSED_BYTES = 3.0  # bytes of a parsed table for each byte of text, roughly


READERS: dict[str, Callable[[Sequence[InputFile]], FormatFiles]] = {
    "csv": DelimitedFiles,
    "tsv": lambda files: DelimitedFiles(files, "\t"),
    "parquet": ParquetFiles,
    "jsonl": JsonLineFiles,
    "libsvm": LibsvmFiles,
    "feather": FeatherFiles,
    "arff": lambda files: WholeFiles(files, read_arff),
    "npz": lambda files: WholeFiles(files, read_npz),
    "json": lambda files: WholeFiles(files, read_json_table),
    "xlsx": lambda files: WholeFiles(files, read_workbook),
    "sqlite": lambda files: WholeFiles(files, read_database),
    "stata": lambda files: WholeFiles(files, read_stata),
    "spss": lambda files: WholeFiles(files, read_spss),
}
IN_BLOCKS = ("csv", "tsv", "parquet", "jsonl", "libsvm")
OF_PARTS = ("xlsx", "sqlite")  # formats of several tables in a file


class TableFiles:
    """The table in some files, read whole or in blocks, again and again.

    Parameters
    ----------
    data : list of str
        Names of files and patterns; ``-``: standard input.
    format : str, optional
        Of all files; None: by their names.
    as_written : list of str, or what else knows which names are in it
        Columns whose cells are kept as the files have them, such as identifiers: texts of CSV
        files with every zero and space, other formats' own values beside missing ones.
    encoding : str, optional
        Of text files; None: by their bytes.
    part : str, optional
        Of files with several tables: the sheet, the table, the file of an archive.
    """

    def __init__(
        self,
        data: Sequence[str],
        format: str | None = None,
        as_written: Container[str] = (),
        *,
        encoding: str | None = None,
        part: str | None = None,
    ) -> None:
        self.files, self.as_written = find_files(data, encoding, part), as_written
        self.formats = [file_format(file, format) for file in self.files]
        for file, kind in zip(self.files, self.formats, strict=True):
            if part is not None and kind not in OF_PARTS and file.member is None:
                raise TableError(f"{file} is one table; leave out --sheet and --table.")

    @property
    def notes(self) -> list[str]:
        """How the files were read, where that is not plain."""
        return list(dict.fromkeys(note for file in self.files for note in file.notes))

    @cached_property
    def _readers(self) -> list[FormatFiles]:
        """One for all files of a format that follow one another."""
        pairs = groupby(zip(self.formats, self.files, strict=True), key=lambda pair: pair[0])
        readers = [READERS[kind]([file for _, file in own]) for kind, own in pairs]
        for reader in readers:
            reader.as_written = self.as_written
        return readers

    def blocks(
        self, rows: int | None = BLOCK_ROWS, columns: Sequence[str] | None = None
    ) -> Iterator[Frame]:
        """The rows in their order, at most so many at a time, numbered on; None: file by file."""
        n, first = 0, None
        for reader in self._readers:
            for file, block in reader.blocks(rows, columns):
                if not len(block):
                    continue
                block = tidy(block, range(n, n + len(block)))
                n += len(block)
                first = (file, list(block.columns)) if first is None else first
                check_same_columns(first, file, block)
                yield block[first[1]] if columns is None else block[list(columns)]
        if n == 0:
            raise TableError(f"{' and '.join(map(str, self.files))} holds no rows.")

    def read(self, columns: Sequence[str] | None = None) -> Frame:
        """All rows at once."""
        parts = list(self.blocks(None, columns))
        return parts[0] if len(parts) == 1 else stack_frames(parts)

    def missing_words(self) -> dict[str, Counter[str]]:
        """Words of CSV files, not too large ones, that were read as missing cells, by columns."""
        found: dict[str, Counter[str]] = {}
        if self.nbytes > MOST_COUNTED:
            return found
        for reader in self._readers:
            own = reader.missing_words() if isinstance(reader, DelimitedFiles) else {}
            for name, words in own.items():
                found.setdefault(name, Counter()).update(words)
        return found

    @property
    def come_whole(self) -> list[InputFile]:
        """The files of which there are no blocks that are smaller than they are."""
        pairs = zip(self.files, self.formats, strict=True)
        return [file for file, kind in pairs if file.is_stdin or kind not in IN_BLOCKS]

    @property
    def nbytes(self) -> float:
        """How much memory the table takes, roughly, without reading it."""
        total = 0.0
        for file, kind in zip(self.files, self.formats, strict=True):
            if file.is_stdin:
                continue
            if kind == "parquet":
                with described(file), open_parquet(file) as content:
                    total += content.metadata.num_rows * content.metadata.num_columns * 8.0
            else:
                total += PARSED_BYTES * Path(file.name).stat().st_size
        return total


def read_table(
    data: Sequence[str], format: str | None = None, columns: Sequence[str] | None = None
) -> Frame:
    """All rows of the files as one frame."""
    return TableFiles(data, format).read(columns)


def read_blocks(
    data: Sequence[str], format: str | None = None, block_rows: int = BLOCK_ROWS
) -> Iterator[Frame]:
    """The rows of the files in blocks of bounded size."""
    return TableFiles(data, format).blocks(block_rows)


def file_format(file: InputFile, given: str | None = None) -> str:
    """The format of a file by its name, of standard input by its first bytes."""
    if given is None and file.is_stdin and file.member is None:
        start = file.head(LOOKED_AT)
        return begins_like(start) or begins_like_json(start) or "csv"
    return format_of(file.plain_name, given)


def format_of(name: str, given: str | None = None) -> str:
    """The format of a file by its suffix, unless it is given."""
    known = sorted(READERS)
    if given is not None:
        if given not in known:
            raise TableError(f"{given!r} is not a format; choose one of {', '.join(known)}.")
        return given
    if name == STDIN:
        return "csv"
    suffixes = [own.lower() for own in Path(name).suffixes if own.lower() not in PACKED]
    if suffixes and suffixes[-1] in SAVE_AS:
        raise TableError(f"{name!r} is not a format that is read: {SAVE_AS[suffixes[-1]]}.")
    if not suffixes or suffixes[-1] not in FORMATS:
        raise TableError(
            f"The format of {name!r} is not known by its name; say --format with one of "
            f"{', '.join(known)}."
        )
    return FORMATS[suffixes[-1]]


def check_same_columns(first: tuple[InputFile, list[str]], file: InputFile, block: Frame) -> None:
    """Refuse files that are not parts of one table."""
    if differing := sorted(set(first[1]) ^ set(block.columns)):
        raise TableError(
            f"{file} and {first[0]} have different columns: {', '.join(differing[:5])} is in one "
            "of them only."
        )


def tidy(frame: Frame, index: range) -> Frame:
    """Names are strings, each once; durations are seconds; lists in cells are refused."""
    frame.index = index
    frame.columns = [str(name) for name in frame.columns]
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"Two columns are called {twice!r}; rename one.")
    for name in frame.columns:
        column = frame[name]
        kind = column_kind(column)
        if kind == "duration":
            frame[name] = column.dt.total_seconds()
        elif kind == "object" and column.dtype == object:
            filled = column.dropna()
            if len(filled) and isinstance(filled.iloc[0], list | dict | np.ndarray):
                raise TableError(
                    f"The cells of column {name!r} are lists; a table has one value in each."
                )
    return frame
