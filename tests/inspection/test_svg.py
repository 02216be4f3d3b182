"""Inline SVG: the same text every time, the page's colours, words behind marks."""

import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from kernel_learn.inspection.drawing import COLORS, DARK, QUIET, literal, printable
from kernel_learn.inspection.svg import draw_svg

plt = pytest.importorskip("matplotlib.pyplot")

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert('x')</script>\"'&$\x00\x0b"


def draw_points(ax):
    ax.plot([0, 1, 3], [0, 2, 1], color=COLORS[1])
    ax.scatter([0, 1, 3], [0, 2, 1], color=COLORS[0]).set_urls(["none", EVIL[:-2], "three"])
    ax.set_xlabel("steps")


def elements(text, name):
    return list(ElementTree.fromstring(text).iter(SVG + name))


def marks(text):
    return [use for use in elements(text, "use") if "data-t" in use.attrib]


def test_a_picture_is_the_same_text_whatever_the_settings_are():
    first = draw_svg(draw_points, "Points", "points", 3.0)
    with plt.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.labelcolor": "red"}):
        before = dict(plt.rcParams)
        assert draw_svg(draw_points, "Points", "points", 3.0) == first
        assert dict(plt.rcParams) == before
    assert plt.get_fignums() == []


def test_a_picture_says_what_it_shows_and_has_its_size():
    (root,) = elements(draw_svg(draw_points, "Points & more", "points", 3.0), "svg")
    assert root.get("role") == "img" and root.get("aria-label") == "Points & more"
    assert root.get("viewBox") == "0 0 316.8 216"  # points: 72 in an inch
    assert root.get("id") is None


def test_ids_are_the_picture_s_own_and_found():
    one, other = (draw_svg(draw_points, "Points", name, 3.0) for name in ("one", "other"))
    found = [element.attrib["id"] for element in elements(one, "path") if "id" in element.attrib]
    assert len(found) == len(set(found)) >= 1
    assert {use.attrib["href"][1:] for use in elements(one, "use")} == set(found)
    assert not set(found) & set(re.findall(r'id="([^"]*)"', other))


def test_words_stand_behind_their_marks():
    drawn = marks(draw_svg(draw_points, "Points", "points", 3.0))
    assert [use.get("data-t") for use in drawn] == ["none", EVIL[:-2], "three"]
    x, y = (np.array([float(use.attrib[key]) for use in drawn]) for key in "xy")
    assert (x[2] - x[1]) / (x[1] - x[0]) == pytest.approx(2, abs=1e-3)
    assert (y[2] - y[1]) / (y[1] - y[0]) == pytest.approx(-0.5, abs=1e-3) and y[1] < y[0]
    assert all("style" not in use.attrib for use in drawn)  # the page's rule for pointing wins


def test_words_of_a_single_mark():
    def draw(ax):
        ax.scatter([1], [1], color=COLORS[0]).set_urls(["alone"])
        ax.set_title("title").set_url("behind the title")

    text = draw_svg(draw, "One", "one", 3.0)
    assert [use.get("data-t") for use in marks(text)] == ["alone"]
    words = [one for one in elements(text, "text") if one.get("data-t")]
    assert [(one.text, one.get("data-t")) for one in words] == [("title", "behind the title")]


def test_colours_are_the_page_s():
    def draw(ax):
        ax.bar(range(7), range(1, 8), color=COLORS)
        ax.axhline(1, color=QUIET)
        ax.axhline(2, color=DARK)
        ax.plot([0, 1], [2, 3])  # the first of the cycle
        ax.text(0, 0, "words", color=COLORS[5])

    text = draw_svg(draw, "Bars", "bars", 3.0)
    assert not re.search("#[0-9a-fA-F]{6}", text)
    bars = [one.attrib["style"] for one in elements(text, "path") if "fill: var" in str(one.attrib)]
    assert bars == [f"fill: var(--c{i})" for i in range(6)]
    (root,) = elements(text, "svg")
    assert root.get("style") == "fill: var(--c6)"  # of the seventh, which is left unsaid
    assert text.count("stroke: var(--soft)") == text.count("stroke: var(--ink)") == 1
    assert "stroke: var(--c0)" in text and "fill: var(--c5)" in text


def test_nothing_is_there_that_is_not_drawn():
    text = draw_svg(draw_points, "Points", "points", 3.0)
    names = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(text).iter()}
    assert names == {"svg", "g", "defs", "path", "use", "text"}
    assert "url(" not in text and "DejaVu" not in text and "\n" not in text
    assert len(text) < 6000


def test_letters_that_our_fonts_lack_are_written_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = draw_svg(lambda ax: ax.set_title("酒"), "Wine", "wine", 3.0)
    assert "酒" in [one.text for one in elements(text, "text")]


def test_control_characters_do_not_break_a_picture():
    strange = "".join(map(chr, (0, 9, 11, 31, 127, 133, 0xD800, 0xFFFF)))
    assert printable(f"a{strange}b") == f"a{' ' * len(strange)}b"
    text = draw_svg(lambda ax: ax.set_title(literal(EVIL)), "Title", "title", 3.0)
    assert EVIL[:-2] in [str(one.text).rstrip() for one in elements(text, "text")]
