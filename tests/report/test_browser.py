"""The report in a browser: accessible, narrow enough, and its few lines of script work.

Needs playwright, a ``chromium`` on PATH and, for accessibility, axe-core in ``node_modules``
(``npm install --no-save axe-core``, which ``.ci/run`` does where it can). Where
``KERNEL_LEARN_PICTURES`` names a folder, pictures of the five kinds of pages are put there, to be
looked at.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")
playwright = pytest.importorskip("playwright.sync_api")

import kernel_learn as kl  # noqa: E402
from kernel_learn.report import render  # noqa: E402
from report.test_report import board, classifier, evil_page  # noqa: E402, F401

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as run:
        found = run.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(classifier, evil_page, board, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("pages")
    texts = {"plain": render(classifier[3], leaderboard=board), "evil": evil_page}
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


def rows_of_classes(k, n, names):
    """Rows around the centre of each of k classes, which overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    X = rng.normal(size=(k, 6))[y] + rng.normal(size=(n, 6))
    return pd.DataFrame(X, columns=[f"measure {c}" for c in "abcdef"]), np.array(names)[y]


def make_page(kind):
    """A report of one of the kinds that differ in what has to find room."""
    rng = np.random.default_rng(0)
    fast = {"quality": "fast", "max_members": 2, "assess": "loo"}
    if kind == "2 classes":
        X, y = rows_of_classes(2, 80, ["well", "sick"])
        model = kl.KernelClassifier(**fast)
    elif kind == "12 classes":
        X, y = rows_of_classes(12, 120, [f"type {i}" for i in range(12)])
        model = kl.KernelClassifier(**fast)
    elif kind == "100 classes":
        sides = ["northern", "southern"]
        names = [f"species of the {sides[i % 2]} kind, number {i}" for i in range(100)]
        X, y = rows_of_classes(100, 300, names)
        model = kl.KernelDiscriminant()
    elif kind == "6000 columns":
        names = [f"gene_{i}_transcript_variant_{i % 7}" for i in range(6000)]
        X = pd.DataFrame(rng.normal(size=(40, 6000)), columns=names)
        y = np.where(np.arange(40) % 2, "sick", "well")
        X.iloc[:, :20] += 2.0 * (y == "sick")[:, None]
        model = kl.KernelClassifier(**fast)
    else:
        X, _ = rows_of_classes(3, 90, list("abc"))
        y = 1000 * X["measure a"] + 100 * rng.normal(size=90)
        model = kl.KernelRegressor(**fast)
    return kl.report(model.fit(X, y), X, y, target="a target with a longer name").html


KINDS = ("2 classes", "12 classes", "100 classes", "6000 columns", "numbers")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """The addresses of the pages, which are made when they are first asked for."""
    folder, made = tmp_path_factory.mktemp("kinds"), {}

    def address(kind):
        if kind not in made:
            path = folder / f"{kind}.html"
            path.write_text(make_page(kind), encoding="utf-8")
            made[kind] = path.as_uri()
        return made[kind]

    return address


def opened(browser, address, width=1280, scheme="light"):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("dialog", lambda dialog: (page.said.append("dialog"), dialog.dismiss()))
    page.goto(address)
    return page


@pytest.mark.parametrize("name", ["plain", "evil"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_sticks_out_and_nothing_runs(browser, pages, name, width):
    page = opened(browser, pages[name], width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.said == []
    page.close()


# Words that end beyond the window, or beyond the cell or the card they stand in; tables that are
# wider than the window have a box of their own to scroll in, and pictures their own room.
CUT = """width => [...document.querySelectorAll('body *')].filter(e => {
  if (e.closest('svg, .wide, pre, #tip') || !e.checkVisibility()) return false;
  const own = e.getBoundingClientRect();
  const inside = e.matches('td, th, dd, dt, li, p') && e.scrollWidth > e.clientWidth + 1;
  return own.right > width + 1 || own.left < -1 || (inside && e.clientWidth > 0);
}).map(e => e.outerHTML.slice(0, 120))"""
# Pictures that are wider than the page, or whose letters lie outside of them.
CUT_PICTURES = """width => [...document.querySelectorAll('svg.plane')].filter(svg => {
  const own = svg.getBoundingClientRect();
  const out = [...svg.querySelectorAll('text')].some(t => {
    const r = t.getBoundingClientRect();
    return r.left < -1 || r.right > width + 1;
  });
  return own.right > width + 1 || own.left < 0 || own.height < 20 || out;
}).map(e => e.getAttribute('aria-label'))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page_fits_the_window(browser, kinds, kind, width, scheme):
    page = opened(browser, kinds(kind), width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT, width) == []
    assert page.evaluate(CUT_PICTURES, width) == []
    if folder := os.environ.get("KERNEL_LEARN_PICTURES"):
        name = f"{kind.replace(' ', '-')}-{width}-{scheme}.png"
        page.screenshot(path=Path(folder) / name, full_page=True)
    assert page.said == []
    page.close()


@pytest.mark.parametrize("kind", KINDS)
def test_tables_behind_pictures_fit_when_they_are_opened(browser, kinds, kind):
    page = opened(browser, kinds(kind), 390)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(CUT, 390) == []
    page.close()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not in node_modules")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page_is_accessible(browser, kinds, kind, width, scheme):
    check_accessible(opened(browser, kinds(kind), width, scheme))


def test_hover_shows_the_row(browser, pages):
    page = opened(browser, pages["evil"])
    assert page.locator("#tip").is_hidden()
    point = page.locator("#rows svg [data-t]").last  # nothing is drawn over it
    point.scroll_into_view_if_needed()
    point.hover()
    assert page.locator("#tip").is_visible()
    assert page.locator("#tip").inner_text() == point.get_attribute("data-t")
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden()
    assert page.said == []
    page.close()


def test_tables_sort_by_number_and_by_name(browser, pages):
    page = opened(browser, pages["plain"])
    table = page.locator("#data table")
    cells = "rows => rows.map(r => r.cells[{}].textContent.trim())"

    def column(i):
        return table.locator("tbody tr").evaluate_all(cells.format(i))

    table.get_by_role("button", name="column").click()
    names = column(0)
    assert names == sorted(names, key=str.lower)
    table.get_by_role("button", name="distinct").click()
    numbers = [int(text.replace("\u202f", "")) for text in column(3)]
    assert numbers == sorted(numbers) and numbers != sorted(numbers, reverse=True)
    table.get_by_role("button", name="distinct").click()
    assert [int(text.replace("\u202f", "")) for text in column(3)] == sorted(numbers)[::-1]
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("distinct")
    page.close()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not in node_modules")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_accessible(browser, pages, width, scheme):
    check_accessible(opened(browser, pages["plain"], width, scheme))


def check_accessible(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document)")
    problems = [(v["id"], v["nodes"][0]["html"][:120]) for v in found["violations"]]
    assert problems == [] and found["passes"]
    page.close()


def test_prints_on_paper(browser, pages, tmp_path):
    page = opened(browser, pages["plain"])
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
    page.close()
