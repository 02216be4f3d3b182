"""Files that are whole or not there."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to that becomes ``path`` at the end, or vanishes.

    It is on the disk before it is renamed: a reader never sees half a file, after a crash either.
    """
    path = Path(path)
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write beside the target, then rename: a reader never sees half a file."""
    with atomic_write(path) as part:
        part.write_bytes(data)


def check_folder(path: Path) -> None:
    """Refuse a place that does not exist before any work is done."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} of {path.name} does not exist.")
