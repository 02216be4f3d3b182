"""One process at a time in a folder: the system's own lock, which ends with who holds it."""

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"


class FolderInUseError(OSError):
    """Another fit is at work in the folder."""


class FolderLock:
    """Held from here until it is released, or until the process ends, however it does.

    The file stays with the number of who held it last: of a process that was killed the system
    has let go, so that nothing has to be deleted by hand.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: int | None = None if fcntl is None else self._take()
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def _take(self) -> int:
        """The file, locked; again where who held it took it away in between."""
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise self._in_use(file, error.errno) from error
            if self._path.exists() and os.path.samestat(os.fstat(file), self._path.stat()):
                return file
            os.close(file)

    def _in_use(self, file: int, number: int | None) -> FolderInUseError:
        holder = os.read(file, 32).decode("ascii", "replace").strip()
        os.close(file)
        who = f"process {holder}" if holder else "another process"
        return FolderInUseError(
            number,
            f"The checkpoint in {self._path.parent} is in use: {who} is at work on a fit in it. "
            "Wait for it to end, or name another folder",
        )

    def release(self) -> None:
        """Let others in; the file goes first, while it is ours."""
        if self._file is None:
            return
        self._path.unlink(missing_ok=True)
        os.close(self._file)
        self._file = None
