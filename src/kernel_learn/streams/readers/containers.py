"""What tables are packed in: gzip, bzip2 and xz by their first bytes, zip by its name."""

import bz2
import gzip
import io
import lzma
import re
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
BEGINNINGS |= {b"$FL2": "spss", b"$FL3": "spss", b"<stata_dta>": "stata"}
BEGINNINGS |= {bytes([version, order, 1, 0]): "stata" for version in (114, 115) for order in (1, 2)}
LINES_OF_JSON = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")
OF_A_WORKBOOK = "[Content_Types].xml"
NOT_TABLES = re.compile(
    r"(readme|licen[cs]e|copying|changelog)\b.*|.*\.(md|pdf|html?)", re.IGNORECASE
)


def begins_like(start: bytes) -> str | None:
    """The format of a file by its first bytes; None: they do not tell."""
    return next((kind for own, kind in BEGINNINGS.items() if start.startswith(own)), None)


def begins_like_json(start: bytes) -> str | None:
    """JSON, or lines of it; None: it is no text of these."""
    if start.lstrip()[:1] not in (b"[", b"{"):
        return None
    return "jsonl" if LINES_OF_JSON.match(start) else "json"


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
    files = [name for name, own in parts if own[0] != "__MACOSX" and not own[-1].startswith(".")]
    return [name for name in files if not NOT_TABLES.fullmatch(name.split("/")[-1])] or files


def open_member(stream: IO[bytes], member: str) -> IO[bytes]:
    """A file of a zip archive, which may be searched in."""
    with zipfile.ZipFile(stream) as archive:
        return open_unpacked(archive.read(member))
