"""The pages of the methods run as shown, and every example draws its picture."""

import doctest
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page):
    options = {"module_relative": False, "optionflags": FLAGS, "encoding": "utf-8"}
    result = doctest.testfile(str(page), **options)
    assert result.failed == 0
    assert result.attempted > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_its_picture(page):
    """Pictures and scripts that a page refers to exist; there is one of each at least."""
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    for folder in ("/images/", "/examples/"):
        targets = [page.parent / link for link in links if folder in link]
        assert targets
        assert all(target.exists() for target in targets)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    assert [picture.name for picture in tmp_path.iterdir()] == [script.stem[5:] + ".png"]
