"""The pages of the methods have an example and a picture, and every script draws its own."""

import ast
import doctest
import re
import runpy
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot")

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))
doctest.register_optionflag("FIGURES")  # of pages; tests/test_documents.py gives it its meaning


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_has_an_example(page):
    """Which tests/test_documents.py runs."""
    assert doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_its_picture(page):
    """Pictures and scripts that a page refers to exist; there is one of each at least."""
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    for folder in ("/images/", "/examples/"):
        targets = [page.parent / link for link in links if folder in link]
        assert targets
        assert all(target.exists() for target in targets)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script, monkeypatch):
    """It opens with a title for the gallery, runs, and draws."""
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    title, line = ast.get_docstring(ast.parse(script.read_text())).splitlines()[:2]
    assert line == "=" * len(title)
    runpy.run_path(str(script), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")


def test_gallery_is_large():
    assert len(SCRIPTS) >= 15
