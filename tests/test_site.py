"""The site's checker finds what is wrong, and the pages are written as they should be."""

import re
import runpy
from itertools import pairwise
from pathlib import Path

import pytest

from kernel_learn import estimators
from kernel_learn.fitting.kernel_weights import BankWeights

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
if not (DOCS / "check_site.py").exists():
    pytest.skip("the pages are not part of this archive", allow_module_level=True)
SITE = runpy.run_path(str(DOCS / "check_site.py"))
PAGES = sorted(DOCS.glob("**/*.md"))
RESULTS = [*sorted((DOCS / "results").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]
FENCE = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)
SET_APART = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)
TYPED_FORMULA = re.compile(
    r"\b(?:sum_\w|sum hinge|argmin|sqrt\(|exp\(|softmax\(|tr\(|max\(|phi\(|lam\b|Khat\b)"
    r"|[\^_]\{|\|\^2| \+- |\w\^-?\d|\b[A-Z]_\w+\b|\b[A-Z]+'[A-Z]"
)


def page(body):
    return f"<html><head></head><body>{body}</body></html>"


@pytest.fixture
def site(tmp_path):
    (tmp_path / "guide").mkdir()
    (tmp_path / "index.html").write_text(
        page('<a href="guide/one.html#here">1</a><a href="#top"></a><p id="top"></p>')
    )
    (tmp_path / "guide/one.html").write_text(
        page('<h1 id="here"></h1><a href="../">home</a><a href="https://example.org">out</a>')
    )
    (tmp_path / "searchindex.js").write_text('{"terms": {"cite": 1}}')
    return tmp_path


def test_a_good_site_has_nothing_wrong(site):
    assert SITE["check_site"](site.resolve(), {"cite": "cite"}, {"a reader": ("guide/one",)}) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="two.html">', "no such file"),
        ('<a href="one.html#there">', "no place of that name"),
        ('<a href="#gone">', "no place of that name"),
        ('<img src="picture.png">', "no such file"),
        ('<script src="https://example.org/x.js"></script>', "loaded from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loaded from elsewhere"),
    ],
)
def test_what_leads_nowhere_is_named(site, body, said):
    path = site / "guide/one.html"
    path.write_text(path.read_text() + body)
    (found,) = SITE["check_site"](site.resolve(), {}, {})
    assert found.startswith("guide/one.html") and said in found


def test_a_word_that_is_not_found_is_named(site):
    found = SITE["check_site"](site.resolve(), {"cite": "cite", "gpu": "gpu"}, {})
    assert found == ["The search does not find 'gpu'."]


def test_what_is_far_from_the_first_page_is_named(site):
    for here, there in (("guide/one", "two"), ("two", "three")):
        path = site / f"{here}.html"
        path.write_text(page(f'<a id="here" href="{site / there}.html"></a>'))
    (site / "three.html").write_text(page(""))
    found = SITE["check_site"](site.resolve(), {}, {"a reader": ("guide/one", "two", "three")})
    assert found == ["a reader needs more than 2 clicks to three."]


@pytest.mark.parametrize("term", SITE["TERMS"])
def test_some_page_has_the_words_that_people_look_for(term):
    assert any(re.search(rf"\b{term}", page.read_text(), re.IGNORECASE) for page in PAGES)


@pytest.mark.parametrize("path", sorted((DOCS / "methods").glob("*.md")), ids=lambda p: p.stem)
def test_formulas_of_the_methods_are_mathematics(path):
    """Not text in a fixed font: no fence, no line and no sentence has a formula in it."""
    text = path.read_text()
    stated = [fence for fence in FENCE.findall(text) if re.search(r"\b(max|min) over\b", fence)]
    assert not stated
    assert not re.search(r"^    (max|min) over\b", text, re.MULTILINE)
    assert not TYPED_FORMULA.findall(SET_APART.sub("", FENCE.sub("", text)))
    assert not re.search(r"\\t?frac[^{]", text), "docutils takes 12 of \\frac12 for one number"


@pytest.mark.parametrize("path", RESULTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_results_speak_to_readers(path):
    """They say what came out, not what somebody had hoped for."""
    assert not re.search(r"\b(aimed at|above its aim|lucky)\b", path.read_text(), re.IGNORECASE)


@pytest.mark.parametrize(
    "path", [*PAGES, *sorted(ROOT.glob("src/**/*.py"))], ids=lambda p: str(p.relative_to(ROOT))
)
def test_pages_show_figures(path):
    """A bound that is met hides the figure; bounds are for tests."""
    assert not re.search(r"^ *>>> .*\bbool\(", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_sentence_stands_twice(path):
    """With other figures, neither: who brings a page up to date replaces what it said."""
    for paragraph in FENCE.sub("", path.read_text()).split("\n\n"):
        sentences = re.split(r"(?<=[.?])\s+", " ".join(paragraph.split()))
        said = [re.sub(r"[\d.]+", "#", sentence) for sentence in sentences]
        twice = [one for one, after in pairwise(said) if one == after and len(one) > 30]
        assert not twice


def test_the_reference_names_all_that_take_a_bank():
    text = (DOCS / "api/estimators.rst").read_text()
    (named,) = re.findall(r"take a bank of kernels learn its weights:\n(.*?)\.\n", text, re.DOTALL)
    takers = {
        name for name in estimators.__all__ if issubclass(vars(estimators)[name], BankWeights)
    }
    assert set(re.findall(r"``(\w+)``", named)) == takers
