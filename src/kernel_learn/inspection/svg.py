"""A picture as inline SVG: it follows a page's colours, and words wait behind its marks.

A page defines the variables of ``SCHEME`` in its style, for light and for dark. The same numbers
give the same text, whatever the user's settings of matplotlib are.
"""

import re
import warnings
from collections.abc import Callable
from io import StringIO
from xml.etree import ElementTree

from kernel_learn.inspection.drawing import COLORS, DARK, QUIET, WIDTH, Axes, import_pyplot

GRID = "#e4e0d8"
SCHEME = {color.lower(): f"var(--c{i})" for i, color in enumerate(COLORS)}
SCHEME |= {QUIET: "var(--soft)", DARK: "var(--ink)", GRID: "var(--line)"}
SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.prop_cycle": f"cycler(color={list(COLORS)})",
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",  # words stay words: smaller than outlines, and found by a search
    "svg.hashsalt": "kernel-learn",
    "xtick.labelcolor": QUIET,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.labelcolor": QUIET,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}
LINK = "{http://www.w3.org/1999/xlink}href"
UNDRAWN = ("metadata", "style", "clipPath")
PLACES = ("d", "x", "y", "transform")


def draw_svg(
    draw: Callable[[Axes], object],
    label: str,
    name: str,
    height: float,
    described_by: str | None = None,
) -> str:
    """What ``draw`` puts on axes, as one element.

    Parameters
    ----------
    draw : callable
        Gets the axes. ``set_url`` and ``set_urls`` of an artist take words, not addresses: they
        become ``data-t``, which the page shows to those who point there.
    label : str
        What the picture shows, for those who do not see it.
    name : str
        Of the picture on its page: its ids begin with it.
    height : float
        Inches of a picture that is ``WIDTH`` wide.
    described_by : str, optional
        The id of what tells the same in words, such as a table of the numbers drawn.
    """
    plt = import_pyplot()
    from matplotlib.figure import Figure

    written = StringIO()
    with plt.style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the reader's fonts have letters ours lack
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", transparent=True, metadata=unsaid)
    (root,) = reduce_element(ElementTree.fromstring(written.getvalue()), f"{name}-")
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "class": "plane",
        "style": f"fill: {SCHEME['#000000']}",  # matplotlib leaves black unsaid
        "role": "img",
        "aria-label": label,
        **({} if described_by is None else {"aria-describedby": described_by}),
        "xmlns": "http://www.w3.org/2000/svg",
    }
    return ElementTree.tostring(root, encoding="unicode")


def reduce_element(element: ElementTree.Element, prefix: str) -> list[ElementTree.Element]:
    """What has to stay of an element: nothing, itself, or what is in it."""
    element.tag = element.tag.rpartition("}")[2]
    children = [one for child in element for one in reduce_element(child, prefix)]
    if element.tag in UNDRAWN or element.get("style") == "fill: none":
        return []
    if element.tag == "a":
        for child in children:
            child.set("data-t", element.attrib[LINK])
        return children
    element[:] = children
    element.attrib = reduce_attributes(element, prefix)
    element.tail = None
    if element.tag not in ("svg", "g", "defs"):
        return [element]
    element.text = None
    share_style(element)
    is_needed = children and (element.tag != "g" or element.attrib)
    return [element] if is_needed else children


def reduce_attributes(element: ElementTree.Element, prefix: str) -> dict[str, str]:
    """Ids that are referred to and this picture's alone, short numbers, the page's colours."""
    found = dict(element.attrib)
    found.pop("clip-path", None)
    name = found.pop("id", None)
    if element.tag == "path" and name is not None:  # a mark, to be used in many places
        found["id"] = prefix + name
    if LINK in found:
        found["href"] = f"#{prefix}{found.pop(LINK)[1:]}"
    for key in found.keys() & PLACES:
        short = re.sub(r"-?\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", found[key])
        found[key] = " ".join(short.split())
    if found.get("transform", "").startswith("rotate(-0"):
        del found["transform"]
    if "style" in found:
        style = re.sub(
            r"#[0-9a-f]{6}", lambda color: SCHEME.get(color[0], color[0]), found["style"]
        )
        style = re.sub(r"font: ([\d.]+px)[^;]*", r"font-size: \1", style)
        found["style"] = re.sub(r"font-family: [^;]*;? ?", "", style)
    return found


def share_style(group: ElementTree.Element) -> None:
    """One style for marks that look alike, so that the page's rules can change one of them."""
    marks = [child for child in group if child.tag == "use"]
    alone = all(child.tag in ("use", "defs") for child in group)
    if len(marks) > 1 and alone and len({mark.get("style") for mark in marks}) == 1:
        group.set("style", marks[0].attrib["style"])
        for mark in marks:
            del mark.attrib["style"]
