"""The paper of the repository as a page of the site: its citations and references in words."""

import re
from pathlib import Path
from typing import Any

PAPER = Path(__file__).parents[2] / "paper"
PLACE = "<!-- paper -->"
ENTRY = re.compile(r"@\w+\{(\w+),\n(.*?)\n\}", re.DOTALL)
FIELD = re.compile(r"^\s*(\w+) = \{(.*?)\},?$", re.MULTILINE)
CITED = re.compile(r"\[(-?@[\w]+(?:; @\w+)*)\]")


def read_bibliography(text: str) -> dict[str, dict[str, str]]:
    """Entries of a .bib file by key, each a dict of its fields."""
    return {key: dict(FIELD.findall(fields)) for key, fields in ENTRY.findall(text)}


def names(entry: dict[str, str]) -> str:
    """Family names as a citation has them: one, two, or the first and others."""
    found = [author.split(",")[0] for author in entry["author"].split(" and ")]
    return " and ".join(found) if len(found) < 3 else f"{found[0]} et al."


def cite(keys: str, bibliography: dict[str, dict[str, str]]) -> str:
    """``@wu2007; @ye2007`` in words; after ``-`` the year alone."""
    parts = []
    for key in keys.split("; "):
        entry = bibliography[key.lstrip("-@")]
        parts.append(entry["year"] if key[0] == "-" else f"{names(entry)} {entry['year']}")
    return f"({'; '.join(parts)})"


def reference(entry: dict[str, str]) -> str:
    """One line of the list of references."""
    authors = "; ".join(entry["author"].split(" and ")).replace("; others", "; and others")
    where = entry.get("journal") or entry.get("booktitle", "")
    numbers = ", ".join(entry[part] for part in ("volume", "pages") if part in entry)
    place = f"*{where}* {numbers}".strip().replace("--", "\N{EN DASH}")
    return f"- {authors}. {entry['title']}. {place}, {entry['year']}."


def as_page(paper: str, bib: str) -> str:
    """The body of the paper with one more level of headings, citations in words, references."""
    bibliography = read_bibliography(bib)
    _, head, body = paper.split("---\n", 2)
    (title,) = re.findall(r"^title: '(.*)'$", head, re.MULTILINE)
    body = re.sub(r"^# ", "### ", body, flags=re.MULTILINE)
    body = CITED.sub(lambda found: cite(found[1], bibliography), body)
    listed = sorted(bibliography.values(), key=lambda entry: entry["author"])
    return f"## {title}\n{body}\n" + "\n".join(map(reference, listed)) + "\n"


def show_paper(app: Any, name: str, source: list[str]) -> None:
    """Put the paper in its place."""
    if PLACE in source[0]:
        files = [(PAPER / file).read_text(encoding="utf-8") for file in ("paper.md", "paper.bib")]
        source[0] = source[0].replace(PLACE, as_page(*files))


def setup(app: Any) -> dict[str, bool]:
    """Read by Sphinx."""
    app.connect("source-read", show_paper)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
