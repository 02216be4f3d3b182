"""The site: every kernel in one table, every public name in the reference, live links."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from kernel_learn import kernels
from kernel_learn.kernels import Kernel

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.skipif(not (DOCS / "conf.py").exists(), reason="the site is not here")

# Bases to derive from, not kernels to use.
BASES = {"Kernel", "ProfileKernel", "StatisticsKernel"}
# Public names in reference pages; modules count by themselves.
REFERENCE = [
    "kernel_learn",
    "kernel_learn.constraints",
    "kernel_learn.datasets",
    "kernel_learn.estimators",
    "kernel_learn.inspection",
    "kernel_learn.kernels",
    "kernel_learn.metrics",
    "kernel_learn.model_selection",
    "kernel_learn.presets",
    "kernel_learn.report",
    "kernel_learn.representations",
    "kernel_learn.tables",
    "kernel_learn.testing",
]
DOORS = ["I have a table", "several sources", "pairs", "too much data", "understand the kernel"]


def table_rows(page):
    """{first cell: the others} of all tables of a page, code marks taken off."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_table_lists_every_kernel():
    """By name, with formula, input, scale rule and cost."""
    rows = table_rows(DOCS / "guide" / "kernels.md")
    listed = [getattr(kernels, name) for name in kernels.__all__]
    names = {k.__name__ for k in listed if inspect.isclass(k) and issubclass(k, Kernel)} - BASES
    assert names <= set(rows), f"not in the table: {sorted(names - set(rows))}"
    assert all(len(rows[name]) == 4 and all(rows[name]) for name in names)


@pytest.mark.parametrize("path", REFERENCE)
def test_reference_is_complete(path):
    text = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.rst"))
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    module = importlib.import_module(path)
    public = [name for name in getattr(module, "__all__", ()) if not name.startswith("__")]
    values = {name: getattr(module, name) for name in public}
    names = {
        name
        for name, value in values.items()
        if (inspect.isclass(value) and value is not dict) or inspect.isfunction(value)
    }
    assert names <= listed, f"{path}: not in docs/api: {sorted(names - listed)}"


def test_first_page():
    """Command, leaderboard, picture, three lines, five doors, flowchart."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    for part in ("kernel-learn compare", "images/report.png", "KernelClassifier().fit", *DOORS):
        assert part in text
    assert len(re.findall(r"grid-item-card", text)) == len(DOORS)
    (page,) = re.findall(r"<!-- first table of (\S+) -->", text)
    assert re.search(r"^\|", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)


def test_boxes_of_the_flowchart_lead_somewhere():
    links = re.findall(r'<a [^>]*href="([^"]+)"', (DOCS / "which_method.svg").read_text())
    assert len(links) >= 10
    missing = [link for link in links if not (DOCS / link).with_suffix(".md").exists()]
    assert not missing


@pytest.mark.parametrize(
    "page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS))
)
def test_links_between_pages(page):
    """Links to files lead to files, as read in the repository; generated pages have a source."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if re.match(r"https?:", link):
            continue
        target = (page.parent / link).resolve()
        if "auto_examples" in link:
            target = DOCS.parent / "examples" / target.with_suffix(".py").name
        assert target.exists(), f"{page.name} links to {link}, which does not exist"


def test_nothing_is_fetched():
    """Neither by the build nor by a reader's browser."""
    settings = (DOCS / "conf.py").read_text()
    assert "intersphinx" not in settings and "mathjax" not in settings
    for file in (DOCS / "_static").iterdir():
        assert "http" not in file.read_text()
