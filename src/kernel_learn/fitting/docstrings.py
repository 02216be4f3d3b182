"""Entries of a docstring that a class takes from its bases."""

import inspect
import re

ENTRY = re.compile(r"(\w+) : ")
NAMES = re.compile(r"\w+(, \w+)*")


def read_entries(docstring: str | None) -> dict[str, list[str]]:
    """{name: lines} of what a docstring says of parameters and attributes."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []  # of the entry before
    for line in inspect.cleandoc(docstring or "").splitlines():
        header = ENTRY.match(line)
        if header:
            lines = found.setdefault(header[1], [])
        elif not line.startswith(" "):
            lines = []
        lines.append(line)
    return found


def with_inherited_entries(kind: type) -> str | None:
    """The docstring of a class, in which a line of names stands for what its bases say of them.

    What is said of ``landmarks`` or ``plan_`` is written once, and readers find it everywhere.
    """
    known: dict[str, list[str]] = {}
    for base in reversed(kind.__mro__[1:]):
        known |= read_entries(base.__doc__)
    if kind.__doc__ is None:  # as with python -OO
        return None
    lines: list[str] = []
    for line in inspect.cleandoc(kind.__doc__).splitlines():
        names = line.split(", ") if NAMES.fullmatch(line) else []
        is_inherited = bool(names) and all(name in known for name in names)
        lines += [text for name in names for text in known[name]] if is_inherited else [line]
    return "\n".join(lines)
