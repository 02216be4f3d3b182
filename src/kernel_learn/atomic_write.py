"""Files that are whole or not there."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600


@contextmanager
def atomic_write(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """A place to write to that becomes ``path`` at the end, or vanishes.

    It is on the disk before it is renamed: a reader never sees half a file, after a crash either.
    A file that is replaced keeps who may read it, and a link what it points to. ``private``: a new
    file is its owner's alone.
    """
    path = Path(os.path.realpath(path))
    if path.is_symlink():
        raise OSError(f"{path} is a link that leads back to itself: remove it, or name a file.")
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        mode = _make_empty(part, path, private=private)
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _make_empty(part: Path, path: Path, *, private: bool) -> int | None:
    """Before anything is in it: nobody reads it who may not read what it becomes; its mode."""
    try:
        mode: int | None = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        mode = PRIVATE if private else None
    start = 0o666 if mode is None else PRIVATE
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, start))
    if mode is not None:
        part.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)  # it is to be written to
    return mode


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write beside the target, then rename: a reader never sees half a file."""
    with atomic_write(path, private=private) as part:
        part.write_bytes(data)


def check_folder(path: Path) -> None:
    """Refuse a place that does not exist before any work is done."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} of {path.name} does not exist.")
