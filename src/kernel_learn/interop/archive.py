"""The zip archive of a model file, read without trust: sizes, names and arrays before contents."""

import io
import json
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from scipy import sparse

from kernel_learn.arrays import PathLike, Rows
from kernel_learn.interop.cost import check_parts, parse_text, refuse_above, text_bytes, use_bytes
from kernel_learn.interop.errors import ModelFileError
from kernel_learn.interop.trusted import to_stable_names, to_todays_homes
from kernel_learn.representations.plan import format_bytes

SCHEMA, METADATA = "schema.json", "kernel_learn.json"
# No member unpacks to more than so many times what is on the disk: save keeps to it, and load
# refuses what claims more.
MOST_RATIO = 100
MOST_METADATA = 2**20
# Files are written in skops' protocol 2 or later; what reads the older ones checks less.
LEAST_PROTOCOL = 2

Node = dict[str, Any]


def as_path(path: PathLike) -> Path:
    """Where a model file is, or is to be; a sentence if it is no place."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"path is a {type(path).__name__}, and a model file has a path: a str or a Path, as in "
            "kernel_learn.save(model, path) and kernel_learn.load(path)."
        )
    return Path(path)


@contextmanager
def opened(path: Path, budget: float) -> Iterator[ZipFile]:
    """The archive in a file, after a look at what it claims to hold."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; give the model file in it.")
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        if start[:1] == b"\x80":
            raise ModelFileError(
                f"{path} is a pickle, whatever its name: reading one runs the code in it, and "
                "kernel_learn.load does not. Read it with pickle or joblib if you wrote it "
                "yourself, and write it again with kernel_learn.save."
            )
        try:
            archive = ZipFile(file)
        except (BadZipFile, ValueError, OSError) as error:
            why = "is cut short" if start == b"PK\x03\x04" else "is not a model file"
            raise ModelFileError(
                f"{path} {why}: {error}. Files of kernel_learn.save are zip archives."
            ) from error
        with archive:
            check_sizes(archive, path.stat().st_size, budget, path)
            yield archive


def check_sizes(archive: ZipFile, available: int, budget: float, where: Path) -> None:
    """Refuse what claims to unpack to too much, before anything is unpacked."""
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > budget:
        raise ModelFileError(
            f"{where} would unpack to {format_bytes(total)}, and the memory budget is "
            f"{format_bytes(budget)}. If you trust it, pass a larger memory_budget."
        )
    if sum(member.compress_size for member in members) > available:
        raise ModelFileError(f"{where} is refused: its members overlap each other.")
    if len({member.filename for member in members}) < len(members):
        raise ModelFileError(f"{where} is refused: two of its members have one name.")
    for member in members:
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or member.flag_bits & 1:
            raise ModelFileError(
                f"{where} is refused: {member.filename!r} is encrypted or packed in a way that "
                "kernel_learn.save does not use."
            )
        if member.file_size > MOST_RATIO * member.compress_size:
            raise ModelFileError(
                f"{where} is refused as a zip bomb: {member.filename!r} claims to unpack from "
                f"{format_bytes(member.compress_size)} to {format_bytes(member.file_size)}."
            )


def read_metadata(archive: ZipFile, path: Path) -> Node:
    """What kernel_learn.save wrote about the model."""
    names = archive.namelist()
    if METADATA not in names or SCHEMA not in names:
        raise ModelFileError(
            f"{path} is a zip archive, and not a model that kernel_learn.save wrote: it lacks "
            f"{METADATA if METADATA not in names else SCHEMA}."
        )
    if archive.getinfo(METADATA).file_size > MOST_METADATA:
        raise ModelFileError(f"{path} is refused: {METADATA} is too long to be a description.")
    metadata = read_json(archive, METADATA, path)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("versions"), dict):
        raise ModelFileError(f"{path} is damaged: {METADATA} does not describe a model.")
    return metadata


def read_json(archive: ZipFile, name: str, path: Path, budget: float = math.inf) -> object:
    """A member of the archive as JSON; an error says what is damaged."""
    try:
        return parse_text(archive.read(name), budget, path)
    except ModelFileError:
        raise
    except Exception as error:  # bad sums, bad text, depth: whatever it is, the file is bad
        raise ModelFileError(f"{path} is damaged: {name} cannot be read ({error}).") from error


def nodes_of(schema: object) -> list[Node]:
    """Every part of a skops schema that says how something is built."""
    found, waiting = [], [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if "__loader__" in part or "__class__" in part:
                found.append(part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


def node_name(node: Node) -> str:
    """The full name of a node's class."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def check_schema(archive: ZipFile, schema: object, budget: float, path: Path) -> list[Node]:
    """Look at each part of the schema, whose names become today's, and at the arrays it names."""
    if not isinstance(schema, dict) or not isinstance(schema.get("protocol"), int):
        raise ModelFileError(f"{path} is damaged: {SCHEMA} is not a schema of skops.")
    if schema["protocol"] < LEAST_PROTOCOL:
        raise ModelFileError(
            f"{path} is refused: it asks to be read as protocol {schema['protocol']} of skops, "
            f"and kernel_learn.save writes {LEAST_PROTOCOL} or later."
        )
    nodes = nodes_of(schema)
    check_parts(schema, nodes, path)
    refuse_above(budget, use_bytes(archive, nodes) + schema_bytes(archive), path)
    to_todays_homes(nodes)
    for node in nodes:
        loader = node.get("__loader__")
        if loader == "NdArrayNode" and node.get("type") == "numpy":
            check_array(archive, str(node.get("file")), path)
        elif loader == "SparseMatrixNode":
            check_sparse_member(archive, str(node.get("file")), budget, path)
    return nodes


def schema_bytes(archive: ZipFile) -> int:
    """What the schema becomes, with what our own look at it takes."""
    return text_bytes(archive.read(SCHEMA))


HEADERS = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}


def check_array(archive: ZipFile, name: str, path: Path) -> None:
    """An .npy member is as long as its header says, and holds no objects."""
    try:
        with archive.open(name) as file:
            shape, _, dtype = HEADERS[np.lib.format.read_magic(file)[0]](file)
            size = archive.getinfo(name).file_size - file.tell()
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged: it has a bad array {name!r} ({error})."
        ) from error
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size:
        raise ModelFileError(
            f"{path} is refused: an array of {format_bytes(size)} claims the shape {shape} of "
            f"{dtype}."
        )


def check_sparse_member(archive: ZipFile, name: str, budget: float, path: Path) -> None:
    """A sparse matrix whose indices stay within it: SciPy's loops do not look."""
    try:
        data = io.BytesIO(archive.read(name))
        with ZipFile(data) as inner:
            check_sizes(inner, len(data.getvalue()), budget, path)
            for part in inner.namelist():
                check_array(inner, part, path)
        data.seek(0)
        matrix: Rows = sparse.load_npz(data)
        if matrix.format != "csr":
            raise ValueError(f"its format is {matrix.format}")
        matrix.check_format(full_check=True)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged: it has a bad sparse matrix {name!r} ({error})."
        ) from error


def pack(dump: bytes, metadata: Node) -> bytes:
    """A dump of skops with its description; texts are compressed, arrays stay as they are."""
    packed = io.BytesIO()
    with ZipFile(io.BytesIO(dump)) as archive, ZipFile(packed, "w") as target:
        _add(target, METADATA, json.dumps(metadata, indent=1).encode())
        for member in archive.infolist():
            data = archive.read(member)
            if member.filename == SCHEMA:
                data = _with_stable_names(data)
            _add(target, member.filename, _unpacked(data) if _is_zip(member) else data)
    return packed.getvalue()


def _with_stable_names(data: bytes) -> bytes:
    schema = json.loads(data)
    to_stable_names(nodes_of(schema))
    return json.dumps(schema).encode()


def _is_zip(member: ZipInfo) -> bool:
    return member.filename.endswith(".npz")


def _unpacked(data: bytes) -> bytes:
    """A zip archive within the archive, itself not compressed."""
    plain = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as archive, ZipFile(plain, "w") as target:
        for member in archive.infolist():
            target.writestr(member.filename, archive.read(member))
    return plain.getvalue()


def _add(target: ZipFile, name: str, data: bytes) -> None:
    is_tight = name.endswith(".json") and len(data) <= MOST_RATIO * len(zlib.compress(data))
    target.writestr(name, data, ZIP_DEFLATED if is_tight else ZIP_STORED)


def with_schema(archive: ZipFile, schema: object) -> io.BytesIO:
    """The same archive with another schema."""
    copy = io.BytesIO()
    with ZipFile(copy, "w") as target:
        for member in archive.infolist():
            if member.filename != SCHEMA:
                target.writestr(member.filename, archive.read(member))
        target.writestr(SCHEMA, json.dumps(schema))
    copy.seek(0)
    return copy
