"""Files that tables are read from: which they are, how they are opened, what is said of them."""

import contextlib
import glob
import gzip
import io
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import IO, Generic, TypeVar

from kernel_learn.rows.frames import Frame
from kernel_learn.streams.blocks import file_identity

STDIN = "-"
Found = TypeVar("Found")


class TableError(ValueError):
    """A table that cannot be read or used: one sentence for the user."""


class MissingTableError(FileNotFoundError, TableError):
    """A table that is not there."""


@dataclass(frozen=True)
class InputFile:
    """A file, compressed or not, or standard input: opened as often as it takes."""

    name: str

    def __str__(self) -> str:
        return "Standard input" if self.name == STDIN else repr(self.name)

    @property
    def is_stdin(self) -> bool:
        """Whether it is what another program writes."""
        return self.name == STDIN

    @cached_property
    def _stdin(self) -> bytes:
        return sys.stdin.buffer.read()

    def open(self) -> IO[bytes]:
        """Its bytes from the start."""
        if self.is_stdin:
            return io.BytesIO(self._stdin)
        if self.name.endswith(".gz"):
            return gzip.open(self.name, "rb")  # type: ignore[return-value]
        return Path(self.name).open("rb")

    def head(self, size: int) -> bytes:
        """Its first bytes."""
        with self.open() as file:
            return file.read(size)


@dataclass
class FormatFiles(ABC):
    """Files of one format that are one table."""

    files: Sequence[InputFile]

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


def find_files(data: Sequence[str]) -> list[InputFile]:
    """The files that names, patterns and ``-`` stand for, each of them there."""
    found: list[str] = []
    for name in data:
        if name == STDIN or Path(name).exists():
            found.append(name)
        elif matches := sorted(glob.glob(name)):
            found += matches
        else:
            raise MissingTableError(f"There is no file {name!r}.")
    if folders := [name for name in found if name != STDIN and Path(name).is_dir()]:
        raise TableError(
            f"{folders[0]!r} is a folder; name the files in it, for example '{folders[0]}/*.csv'."
        )
    return [InputFile(name) for name in found]


@contextlib.contextmanager
def described(file: InputFile) -> Iterator[None]:
    """Whatever a reader says of a broken file, as one sentence with the file's name."""
    try:
        yield
    except (TableError, ImportError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(
            f"{file} is not UTF-8 text (byte {error.start}); save it as UTF-8."
        ) from error
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "it is empty"
        reason = reason.removeprefix("Error tokenizing data. C error: ")  # of which line comes next
        raise TableError(f"{file} cannot be read: {reason.rstrip('.')}.") from error


def need_pandas() -> ModuleType:
    """pandas, or an error that names the extra."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Tables from files need pandas: pip install kernel-learn[cli]") from error
    return pandas
