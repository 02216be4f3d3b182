"""Links that the pages have in the repository, where they lead on the site.

The pages are read in two places. In the repository `../../examples/plot_x.py` is a file; on the
site it is a page of the gallery. Docstrings that come from scikit-learn refer to its user guide.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# What a Markdown link to a file outside docs/ becomes, by the end of its path.
LINKS = [
    (r"\]\((?:\.\./)*examples/(plot_\w+)\.py\)", r"](/auto_examples/\1.rst)"),
    (r"\]\(docs/develop/index\.md\)", r"](/develop/index.md)"),
    (r"\]\(docs/(about|results)/([\w-]+)\.md\)", r"](/\1/\2.md)"),
    (r"\]\((?:\.\./)+README\.md\)", r"](/index.md)"),
    (r"\]\((?:\.\./)+CONTRIBUTING\.md\)", r"](/develop/contributing.md)"),
    (r"\]\((?:\.\./)+CHANGELOG\.md\)", r"](/about/changes.md)"),
]
# A page may show the first table of another one, which is then the same in both.
TABLE = re.compile(r"<!-- first table of (\S+) -->")
# A figure of a table stays on one line with its deviation, and with what is in brackets.
SPACE = "\N{NO-BREAK SPACE}"
DEVIATION = re.compile(r"(?<=\d) (±|\+-) (?=\d)")
BRACKET = re.compile(r"(?<=\w) (?=\([.<\d][^|]{0,9}\))")
# Tables of results need the room of the list of headings.
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
SCIKIT_LEARN = "https://scikit-learn.org/stable/"


def rewrite(app: Sphinx, name: str, source: list[str]) -> None:
    for pattern, target in LINKS:
        source[0] = re.sub(pattern, target, source[0])
    if name.startswith("results/"):
        source[0] = WIDE + re.sub(r"^\|.*", figures, source[0], flags=re.MULTILINE)
    source[0] = TABLE.sub(lambda found: first_table(Path(app.srcdir) / found[1]), source[0])


def figures(row: re.Match) -> str:
    """A row of a table in which figures do not break."""
    return BRACKET.sub(SPACE, DEVIATION.sub(rf"{SPACE}\1{SPACE}", row[0]))


def first_table(page: Path) -> str:
    """The first run of lines between bars."""
    return re.search(r"^\|.*(?:\n\|.*)+", page.read_text(encoding="utf-8"), re.MULTILINE)[0]


def resolve(app: Sphinx, env: Any, node: Any, contnode: nodes.Node) -> nodes.Node | None:
    """A label that only scikit-learn has leads to its pages."""
    if node.get("reftype") != "ref":
        return None
    label = node["reftarget"]
    page = "modules/compose.html" if "set_output" in label else f"{label}.html"
    link = nodes.reference("", "", refuri=SCIKIT_LEARN + page, internal=False)
    link += contnode
    return link


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", rewrite)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
