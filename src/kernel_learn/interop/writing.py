"""Files that appear when they are complete."""

from pathlib import Path

from kernel_learn.atomic_write import atomic_write


def write_whole(path: Path, data: bytes) -> None:
    """Write beside the target, then rename: a reader never sees half a file."""
    with atomic_write(path) as part:
        part.write_bytes(data)


def check_folder(path: Path) -> None:
    """Refuse a place that does not exist before any work is done."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} of {path.name} does not exist.")
