"""Look through the built site without network: `python docs/check_site.py out/docs`.

Every link to a page, picture or place within a page leads somewhere, no page loads anything from
elsewhere, the search finds what people look for, and what a first-time reader came for is at most
two clicks from the first page.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a first-time reader types into the search, and its stem, which the index holds.
TERMS = {
    "cite": "cite",
    "regression": "regress",
    "shap": "shap",
    "conformal": "conform",
    "gpu": "gpu",
    "tabpfn": "tabpfn",
    "autogluon": "autogluon",
    "install": "instal",
}
# Who comes, and what for.
PEOPLE = {
    "a biologist": ("about/install", "tutorials/genes", "tutorials/report", "command_line"),
    "an engineer": ("tutorials/deploying", "tutorials/many_rows", "files", "about/privacy"),
    "a researcher": ("about/why_not", "about/paper", "mathematics", "results/claims"),
}
CLICKS = 2
# Templates of the theme, and views of the sources, whose links back Sphinx makes.
LEFT_OUT = ("_static", "_modules")
LOADS = {"img", "script", "iframe", "source", "video", "audio", "embed"}


class Page(HTMLParser):
    """The places of a page, where it leads, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.places |= {own[name] for name in ("id", "name") if name in own}
        if tag in LOADS and "src" in own:
            self.loaded.append(own["src"])
        elif tag == "link" and own.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(own.get("href", ""))
        elif tag == "a" and "href" in own:
            self.links.append(own["href"])
        elif tag == "a" and "xlink:href" in own:
            self.links.append(own["xlink:href"])


def check_site(root: Path, terms: dict[str, str], people: dict[str, tuple[str, ...]]) -> list[str]:
    """What is wrong with the site, a sentence each."""
    paths = sorted(root.rglob("*.html"))
    paths = [path for path in paths if path.relative_to(root).parts[0] not in LEFT_OUT]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    wrong = [
        f"{path.relative_to(root)}: {link}: {why}"
        for path, page in pages.items()
        for link in [*page.links, *page.loaded]
        if (why := what_is_wrong(link, path, page, pages, link in page.loaded))
    ]
    index = root / "searchindex.js"
    words = index.read_text(encoding="utf-8") if index.exists() else ""
    missing = [term for term, stem in terms.items() if f'"{stem}":' not in words]
    clicks = count_clicks(root / "index.html", pages)
    far = [
        f"{person} needs more than {CLICKS} clicks to {name}."
        for person, names in people.items()
        for name in names
        if clicks.get(root / f"{name}.html", CLICKS + 1) > CLICKS
    ]
    return wrong + [f"The search does not find {term!r}." for term in missing] + far


def count_clicks(first: Path, pages: dict[Path, Page]) -> dict[Path, int]:
    """How many clicks each page is from the first one, by any link."""
    clicks, reached = {first: 0}, [first]
    for path in reached:
        for link in pages[path].links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve()
            if not parts.scheme and target in pages and target not in clicks:
                clicks[target] = clicks[path] + 1
                reached.append(target)
    return clicks


def what_is_wrong(
    link: str, path: Path, page: Page, pages: dict[Path, Page], is_loaded: bool
) -> str | None:
    """Why a link leads nowhere, None if it does not."""
    parts = urlsplit(link)
    if parts.scheme in ("data", "mailto", "javascript"):
        return None
    if parts.scheme or parts.netloc:
        return "loaded from elsewhere" if is_loaded else None
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return "there is no such file"
    place = unquote(parts.fragment)
    places = pages[target].places if target in pages else None
    if place and places is not None and place not in places:
        return f"{target.name} has no place of that name"
    return None


if __name__ == "__main__":
    found = check_site(Path(sys.argv[1]).resolve(), TERMS, PEOPLE)
    print(*[f"{line}\n" for line in found], sep="", end="")
    sys.exit(f"{len(found)} links or words are wrong." if found else 0)
