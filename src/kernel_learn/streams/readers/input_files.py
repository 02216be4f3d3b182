"""Files that tables are read from: which they are, how they are opened, what is said of them."""

import contextlib
import glob
import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import IO, Generic, TypeVar

from kernel_learn.streams.identity import Identity, file_identity

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
class ScannedFiles(Generic[Found]):
    """Files of one format that are one table: what its columns are is found in a pass over all."""

    files: Sequence[InputFile]
    _scanned: tuple[object, Found] | None = field(default=None, init=False, repr=False)

    def scan(self) -> Found:
        """What a pass over all rows finds."""
        raise NotImplementedError

    @property
    def found(self) -> Found:
        """Found once, and anew if a file changes: it does not depend on blocks."""
        identity = input_identity(self.files)
        if self._scanned is None or self._scanned[0] != identity:
            self._scanned = identity, self.scan()
        return self._scanned[1]


def input_identity(files: Sequence[InputFile]) -> Identity:
    """Names, sizes and times of the files: if one of them changes, so does this."""
    return file_identity([Path(file.name) for file in files if not file.is_stdin])


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
