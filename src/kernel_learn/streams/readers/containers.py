"""What tables are packed in: gzip, bzip2 and xz by their first bytes, zip by its name."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

OPENERS: dict[bytes, Callable[..., IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,  # type: ignore[dict-item]
    b"\xfd7zXZ\x00": lzma.open,  # type: ignore[dict-item]
}
PACKED = (".gz", ".bz2", ".xz", ".zip")
ZIP, SQLITE, OLD_OFFICE = b"PK\x03\x04", b"SQLite format 3\0", b"\xd0\xcf\x11\xe0"
# How files begin whose format can be told so.
BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "feather", ZIP: "xlsx", SQLITE: "sqlite"}
OF_A_WORKBOOK = "[Content_Types].xml"


def begins_like(start: bytes) -> str | None:
    """The format of a file by its first bytes; None: they do not tell."""
    return next((kind for own, kind in BEGINNINGS.items() if start.startswith(own)), None)


def open_unpacked(packed: str | bytes) -> IO[bytes]:
    """What a file, or these bytes of one, holds when it is not compressed."""
    if isinstance(packed, bytes):
        opener = find_opener(packed[:6])
        return io.BytesIO(packed) if opener is None else opener(io.BytesIO(packed), "rb")
    with Path(packed).open("rb") as stream:
        opener = find_opener(stream.read(6))
    return Path(packed).open("rb") if opener is None else opener(packed, "rb")


def find_opener(start: bytes) -> Callable[..., IO[bytes]] | None:
    """What opens a compressed file that begins so; None: it is not compressed."""
    return next((own for magic, own in OPENERS.items() if start.startswith(magic)), None)


def is_zip_of_files(content: bytes) -> bool:
    """Whether these bytes are a zip archive, and no workbook, which is packed in one, too."""
    if not content.startswith(ZIP):
        return False
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return OF_A_WORKBOOK not in archive.namelist()


def list_members(stream: IO[bytes]) -> list[str]:
    """The files of a zip archive, without folders and what file systems add."""
    with zipfile.ZipFile(stream) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
    parts = [(name, name.split("/")) for name in names]
    return [name for name, own in parts if own[0] != "__MACOSX" and not own[-1].startswith(".")]


def open_member(stream: IO[bytes], member: str) -> IO[bytes]:
    """A file of a zip archive, which may be searched in."""
    with zipfile.ZipFile(stream) as archive:
        return open_unpacked(archive.read(member))
