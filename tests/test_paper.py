"""The paper: its form, its references, and the page that the site makes of it."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BIB = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
spec = importlib.util.spec_from_file_location("joss_paper", ROOT / "docs/_ext/joss_paper.py")
joss_paper = importlib.util.module_from_spec(spec)
spec.loader.exec_module(joss_paper)


def test_form_of_the_journal():
    """Sections that are asked for, and about a thousand words."""
    for heading in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {heading}\n" in TEXT
    assert 750 <= len(TEXT.split("---\n", 2)[2].split()) <= 1250


def test_every_reference_is_cited_and_every_citation_is_there():
    cited = set(re.findall(r"@(\w+)", TEXT))
    assert cited == set(joss_paper.read_bibliography(BIB))


def test_the_page_has_citations_in_words():
    page = joss_paper.as_page(TEXT, BIB)
    assert "[@" not in page and "[-@" not in page
    assert "(Wu and Farquhar 2007; Chen et al. 2008)" in page and "Chen et al. (2008)" in page
    assert "Gretton, Arthur; Bousquet, Olivier" in page


def test_figures_are_those_of_the_pages():
    """What the paper says of comparisons stands on the pages of results."""
    comparison = (ROOT / "docs/results/classifier-comparison.md").read_text(encoding="utf-8")
    speed = (ROOT / "docs/results/speed.md").read_text(encoding="utf-8")
    costs = (ROOT / "docs/results/classifier-costs.md").read_text(encoding="utf-8")
    nested, loo = re.search(r"\| SVC \| \d+ \| ([\d.]+) \([\d.]+\) \| ([\d.]+) ", costs).groups()
    assert f"at {loo} of its processor time, {nested} with the nested assessment" in TEXT
    assert "| SVC | 40 | 0.758 | 36, 2, 2 |" in comparison
    assert "| SVC | 6 | 0.955 |" in comparison and "| CatBoost | 6 | 0.900 |" in comparison
    assert "EasyMKL, n=500: seconds | 0.49" in speed and "LMNN, n=500: bytes | 2.61" in speed
