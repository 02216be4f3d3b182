"""What building a model from a file takes, counted before anything of it is built.

A file can name one array a thousand times, and hold text that becomes twenty times as much: what
counts is not its size.
"""

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from kernel_learn.interop.errors import ModelFileError
from kernel_learn.representations.plan import format_bytes

Node = dict[str, Any]
# Most bytes of Python's objects for a letter of JSON, a list and an object in braces (each may be
# a part, for which skops has an object of its own with a list of names), as measured.
LETTER_BYTES, LIST_BYTES, PART_BYTES = 20, 72, 4000
# An array is there as the archive's bytes, as a copy of them, and as itself.
COPIES = 3
MOST_DEPTH = 400  # of parts within parts; the deepest models of the tests have 91


def refuse_above(budget: float, needed: float, path: Path) -> None:
    """Refuse what would take more memory than there is for it."""
    if needed > budget:
        raise ModelFileError(
            f"{path} is refused: to build what it describes would take {format_bytes(needed)}, and "
            f"the memory budget is {format_bytes(budget)}. If you trust it, pass a larger "
            "memory_budget."
        )


def text_bytes(text: bytes) -> int:
    """Most that a schema becomes, by its letters: braces count within quotes, too."""
    lists, parts = text.count(b"["), text.count(b"{")
    return LETTER_BYTES * len(text) + LIST_BYTES * lists + PART_BYTES * parts


def use_bytes(archive: ZipFile, nodes: Iterable[Node]) -> int:
    """What all arrays become that parts of a schema name, as often as each is named.

    Parts of one number are one object.
    """
    total, seen = 0, set()
    for node in nodes:
        if (name := node.get("file")) is None:
            continue
        use = (str(node.get("__id__")), str(name))
        if node.get("__id__") and use in seen:
            continue
        seen.add(use)
        total += COPIES * member_bytes(archive, str(name))
    return total


def member_bytes(archive: ZipFile, name: str) -> int:
    """Of a member, or of what an archive within the archive holds."""
    try:
        size = archive.getinfo(name).file_size
    except KeyError:
        return 0  # refused where it is looked at
    if not name.endswith(".npz"):
        return size
    try:
        with ZipFile(io.BytesIO(archive.read(name))) as inner:
            return size + sum(member.file_size for member in inner.infolist())
    except Exception:
        return size  # refused where it is looked at


def check_parts(schema: object, nodes: Sequence[Node], path: Path) -> None:
    """No part is too deep, holds text that is a tree itself, or is an array made of one."""
    depth_of(schema, path)
    for node in nodes:
        loader, content = node.get("__loader__"), node.get("content")
        if loader == "JsonNode" and not is_one_value(content):
            raise ModelFileError(f"{path} is refused: a text of its schema holds a tree.")
        if loader == "NdArrayNode" and node.get("type") == "json":
            check_object_array(node, path)


def depth_of(schema: object, path: Path) -> int:
    """How deep parts stand within parts."""
    depth, level = 0, [schema]
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ModelFileError(
                f"{path} is refused: its parts stand more than {MOST_DEPTH} deep within each other."
            )
        below: list[object] = []
        for part in level:
            if isinstance(part, dict):
                below += part.values()
            elif isinstance(part, list):
                below += part
        level = below
    return depth


def is_one_value(content: object) -> bool:
    """Whether a text is JSON of a number, a text, true, false or null."""
    return isinstance(content, str) and not content.lstrip().startswith(("[", "{"))


def check_object_array(node: Node, path: Path) -> None:
    """Objects in an array of several dimensions are given in full.

    NumPy makes an array of lists within lists: ten lists that stand in each other a hundred times
    are a file of kilobytes and an array without end.
    """
    content = node.get("content")
    seen: set[str] = set()
    waiting: list[object] = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict) and part.get("__loader__") in ("ListNode", "TupleNode"):
            number = str(part.get("__id__"))
            if part.get("__id__") and number in seen:
                raise ModelFileError(f"{path} is refused: an array of objects repeats its lists.")
            seen.add(number)
            waiting.append(part.get("content"))


def parse_text(text: bytes, budget: float, path: Path) -> object:
    """JSON, whose size in memory is counted first."""
    refuse_above(budget, text_bytes(text), path)
    return json.loads(text)
