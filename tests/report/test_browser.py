"""The report in a browser: accessible, narrow enough, and its few lines of script work.

Needs playwright, a ``chromium`` on PATH and, for accessibility, axe-core in ``node_modules``
(``npm install --no-save axe-core``, which ``.ci/run`` does where it can).
"""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("jinja2")
playwright = pytest.importorskip("playwright.sync_api")

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
    page = opened(browser, pages["plain"], width, scheme)
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
