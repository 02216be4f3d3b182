"""Docstrings are plain text: |x - y| is a norm there and ``kernel_`` an attribute, not markup."""

import re
from typing import Any

from sphinx.application import Sphinx

HEADER = re.compile(r"^\s*[\w*, ]+ : ")  # of a parameter: its name is numpydoc's to write
ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def escape(text: str) -> str:
    """Bars and closing underscores, except in literals."""
    parts = re.split(r"(``.*?``|:\w+:`.*?`)", text)
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\_", p).replace("|", r"\|") for p in parts[::2]]
    return "".join(parts)


def mend(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    literal = None  # indentation of what opened a literal block
    doctest = False
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        doctest = line.lstrip().startswith(">>>") or (doctest and bool(line.strip()))
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if doctest or literal is not None:
            continue
        if line.rstrip().endswith("::"):
            literal = indent
        header = HEADER.match(line)
        start = header.end() if header else 0
        lines[i] = line[:start] + escape(line[start:])


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """scikit-learn's routing methods are the same everywhere, and described there."""
    return True if ROUTING.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", mend, priority=100)  # before numpydoc reads it
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
