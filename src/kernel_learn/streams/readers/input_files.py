"""Files that tables are read from: which they are, how they are opened, what is said of them."""

import codecs
import contextlib
import glob
import io
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import IO, Generic, TypeVar

from kernel_learn.rows.frames import Frame
from kernel_learn.streams.blocks import file_identity
from kernel_learn.streams.readers.containers import (
    PACKED,
    begins_like,
    is_zip_of_files,
    list_members,
    open_member,
    open_unpacked,
)
from kernel_learn.streams.readers.encodings import UTF8, as_utf8, find_encoding

STDIN = "-"
Found = TypeVar("Found")
# What pandas says of lines of a CSV file.
TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")


class TableError(ValueError):
    """A table that cannot be read or used: one sentence for the user."""


class MissingTableError(FileNotFoundError, TableError):
    """A table that is not there."""


@dataclass(frozen=True)
class InputFile:
    """A file, packed or not, or standard input: opened as often as it takes."""

    name: str
    encoding: str | None = None  # of a text; None: as its bytes say
    part: str | None = None  # of several tables in it: a sheet, a table, a file of an archive
    notes: list[str] = field(default_factory=list, compare=False)  # how it was read

    def __str__(self) -> str:
        return "Standard input" if self.name == STDIN else repr(self.name)

    @property
    def is_stdin(self) -> bool:
        """Whether it is what another program writes."""
        return self.name == STDIN

    @cached_property
    def _stdin(self) -> bytes:
        return sys.stdin.buffer.read()

    @cached_property
    def member(self) -> str | None:
        """The file that is read of an archive; None: this is none."""
        is_archive = self.name.lower().endswith(".zip")
        if not is_archive and not (self.is_stdin and is_zip_of_files(self._stdin)):
            return None
        with described(self), self._open_packed() as stream:
            members = list_members(stream)
        return choose_part(self, members, self.part, "file", "--table")

    @property
    def plain_name(self) -> str:
        """The name that shows the format: of what is packed in it."""
        name = self.member or self.name
        while Path(name).suffix.lower() in PACKED:
            name = name[: -len(Path(name).suffix)]
        return name

    @property
    def is_packed(self) -> bool:
        """Whether its own bytes are not those of the table."""
        return self.is_stdin or Path(self.name).suffix.lower() in PACKED

    def note(self, text: str) -> None:
        """Keep what a reader should be told, once."""
        if text not in self.notes:
            self.notes.append(text)

    def _open_packed(self) -> IO[bytes]:
        return io.BytesIO(self._stdin) if self.is_stdin else Path(self.name).open("rb")

    def open(self) -> IO[bytes]:
        """Its bytes from the start."""
        if self.member is not None:
            with self._open_packed() as stream:
                return open_member(stream, self.member)
        return open_unpacked(self._stdin if self.is_stdin else self.name)

    @cached_property
    def found_encoding(self) -> str:
        """The encoding of the text in it; refuses what is no text."""
        if self.encoding is not None:
            return check_encoding(self.encoding)
        with described(self), self.open() as stream:
            found = find_encoding(stream)
        if found is None:
            kind = begins_like(self.head(16))
            hint = "is its name right?" if kind is None else f"say --format {kind}."
            raise TableError(f"{self} is not a text file; {hint}")
        if found != UTF8:
            self.note(f"the text is in {found}, as far as its bytes tell (--encoding)")
        return found

    def open_text(self) -> IO[bytes]:
        """The bytes of its text from the start, in UTF-8."""
        encoding = self.found_encoding
        return as_utf8(self.open(), encoding)

    def head(self, size: int) -> bytes:
        """Its first bytes."""
        with self.open() as file:
            return file.read(size)


def check_encoding(name: str) -> str:
    """The encoding, if Python has one of this name."""
    try:
        codecs.lookup(name)
    except LookupError:
        raise TableError(
            f"{name!r} is not an encoding; write utf-8, latin-1, cp1252, utf-16 or another."
        ) from None
    return name


def choose_part(
    file: InputFile, parts: Sequence[str], wanted: str | None, noun: str, option: str
) -> str:
    """The table that is asked for, or the only one."""
    shown = ", ".join(map(repr, parts[:8])) + (f" and {len(parts) - 8} more" * (len(parts) > 8))
    if not parts:
        raise TableError(f"{file} holds no {noun}.")
    if wanted is None and len(parts) > 1:
        raise TableError(f"{file} holds {len(parts)} {noun}s, {shown}; name one with {option}.")
    if wanted is not None and wanted not in parts:
        raise TableError(f"{file} has no {noun} {wanted!r} ({option}); there are {shown}.")
    return wanted or parts[0]


@dataclass
class FormatFiles(ABC):
    """Files of one format that are one table."""

    files: Sequence[InputFile]
    # Columns whose cells are kept as the file has them: numbers of patients are no numbers, and a
    # missing one would make floats of all.
    as_written: Container[str] = field(default=(), kw_only=True)

    def blocks(
        self, rows: int | None, columns: Sequence[str] | None = None
    ) -> Iterator[tuple[InputFile, Frame]]:
        """Frames of at most so many rows of one file each; None: of all of them."""
        for file in self.files:
            with described(file):
                for frame in self.frames(file, rows, columns):
                    yield file, frame

    @abstractmethod
    def frames(
        self, file: InputFile, rows: int | None, columns: Sequence[str] | None
    ) -> Iterator[Frame]:
        """Those of one file, with these columns; None: with all."""


@dataclass
class ScannedFiles(FormatFiles, Generic[Found]):
    """What the columns of such files are is found in a pass over all of them."""

    _scanned: tuple[object, Found] | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def scan(self) -> Found:
        """What a pass over all rows finds."""

    @property
    def found(self) -> Found:
        """Found once, and anew if a file changes: it does not depend on blocks."""
        identity = file_identity([Path(file.name) for file in self.files if not file.is_stdin])
        if self._scanned is None or self._scanned[0] != identity:
            self._scanned = identity, self.scan()
        return self._scanned[1]


def find_files(
    data: Sequence[str], encoding: str | None = None, part: str | None = None
) -> list[InputFile]:
    """The files that names, patterns and ``-`` stand for, each of them there."""
    found: list[str] = []
    for name in data:
        if name != STDIN and Path(name).is_dir():
            found += files_in(name)
        elif name == STDIN or Path(name).exists():
            found.append(name)
        elif matches := sorted(glob.glob(name)):
            found += matches
        else:
            raise MissingTableError(f"There is no file {name!r}.")
    if folders := [name for name in found if name != STDIN and Path(name).is_dir()]:
        raise TableError(f"{folders[0]!r} is a folder; name it by itself, or the files in it.")
    return [InputFile(name, encoding, part) for name in found]


def files_in(folder: str) -> list[str]:
    """The files of a folder, which are one table: all that are not hidden, in folders of it too."""
    paths = [path.relative_to(folder) for path in Path(folder).rglob("*")]
    shown = [path for path in paths if not any(part[0] in "._" for part in path.parts)]
    found = sorted(str(Path(folder) / own) for own in shown if (Path(folder) / own).is_file())
    if not found:
        raise TableError(f"{folder!r} is a folder without files in it.")
    return found


@contextlib.contextmanager
def described(file: InputFile) -> Iterator[None]:
    """Whatever a reader says of a broken file, as one sentence with the file's name."""
    try:
        yield
    except (TableError, ImportError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(
            f"{file} is not a text in {error.encoding} (byte {error.start}); name its --encoding, "
            "or save it as UTF-8."
        ) from error
    except Exception as error:
        raise TableError(f"{file} cannot be read: {in_our_words(str(error))}.") from error


def in_our_words(said: str) -> str:
    """What a reader says is wrong, with what to do where that is known."""
    if found := TOO_MANY.search(said):
        expected, line, cells = found.groups()
        return (
            f"line {line} has {cells} cells, and there are {expected} columns; put cells that hold "
            "the separator in quotes"
        )
    if found := OPEN_QUOTE.search(said):
        line = str(int(found[1]) + 1)
        return f"the quote that is opened in line {line} is not closed; close it, or take it out"
    return said.strip().splitlines()[0].rstrip(".") if said.strip() else "it is empty"


def need_pandas() -> ModuleType:
    """pandas, or an error that names the extra."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Tables from files need pandas: pip install kernel-learn[cli]") from error
    return pandas
