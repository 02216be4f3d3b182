"""The paper: its form, its references, and the page that the site makes of it."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "paper").exists():
    pytest.skip("the paper is not part of this archive", allow_module_level=True)
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


def test_why_not_has_the_figures_of_the_pages():
    """Ratios of errors, processor time and memory, in the words of the page where people decide."""
    results = ROOT / "docs/results"
    costs = (results / "classifier-costs.md").read_text(encoding="utf-8")
    comparison = (results / "classifier-comparison.md").read_text(encoding="utf-8")
    unseen = (results / "unseen-tables.md").read_text(encoding="utf-8")
    page = " ".join((ROOT / "docs/about/why_not.md").read_text(encoding="utf-8").split())
    cost = {
        name: (float(nested), float(loo))
        for name, nested, loo in re.findall(
            r"\| (\w+) \| 25 \| ([\d.]+) \([\d.]+\) \| ([\d.]+) ", costs
        )
    }
    error = {
        (name, sets): f"{float(ratio):.2f}"
        for name, sets, ratio in re.findall(
            r"^\| (\w+) \| (\d+) \| ([\d.]+) \| \d+, \d+, \d+ ", comparison + unseen, re.MULTILINE
        )
    }
    for said in (
        f"On 40 data sets its errors are {error['SVC', '40']} of the tuned SVC's",
        f"its errors are {error['SVC', '37']} of the SVC's",
        f"takes {cost['SVC'][1]} of the processor time of the search, {cost['SVC'][0]} with",
        f"takes {cost['LightGBM'][0]:.0f} times its processor time by default, "
        f"{cost['LightGBM'][1]:.0f} times without",
        f"and {cost['CatBoost'][0]:.1f} times that of CatBoost",
        f"errors are {error['LightGBM', '40']} of LightGBM's",
        f"{error['LightGBM', '6']} on six mixed tables, {error['LightGBM', '37']} on the 37 unseen",
        f"and {error['CatBoost', '22']} of CatBoost's (22 data sets; {error['CatBoost', '6']} on",
        f"takes {cost['xRFM'][0]:.0f} times its processor time by default, "
        f"{cost['xRFM'][1]:.0f} times without",
        f"{error['xRFM', '23']} of those of its defaults on 23 data sets, {error['xRFM', '6']} on",
    ):
        assert page.count(said) == 1, said
    numbers = (results / "regression.md").read_text(encoding="utf-8")
    ratio = {
        name: (f"{float(errors):.2f}", f"{float(cpu):.0f}")
        for name, errors, cpu in re.findall(
            r"^\| (\w+) \| 13 \| 39 \| ([\d.]+) \| [\d.]+ \| \d+ \| ([\d.]+) \|",
            numbers,
            re.MULTILINE,
        )
    }
    (boosted, boosted_cpu), (cat, cat_cpu) = ratio["lightgbm"], ratio["catboost"]
    assert (
        f"{boosted} of LightGBM's and {cat} of CatBoost's on 13 unseen tables, at "
        f"{boosted_cpu} and {cat_cpu} times their processor time" in page
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{error['CatBoost', '6']} x CatBoost's on mixed tables" in readme
    assert f"{cost['SVC'][0]} x by default, {cost['LightGBM'][0]:.0f} x LightGBM's" in readme
