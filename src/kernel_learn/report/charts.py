"""Pictures of the report as inline SVG.

Bars and intervals are as wide as the page gives them room (positions in percent), points and curves
scale. Colours are classes of the style sheet, so that pictures follow light, dark and print. Every
string that came from a table goes through ``escape``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

ROW = 26  # pixels from bar to bar
COLORS = 7  # classes of the style sheet, then squares instead of circles


def tag(name: str, *content: Any, **attributes: Any) -> Markup:
    """One element; ``data_t`` is written data-t, ``class_`` class. Everything is escaped."""
    words = Markup(" ").join(
        Markup('{}="{}"').format(key.rstrip("_").replace("_", "-"), number(value))
        for key, value in attributes.items()
        if value is not None
    )
    opening = Markup("<{} {}>" if words else "<{}{}>").format(Markup(name), words)
    return opening + Markup("").join(escape(part) for part in content) + Markup(f"</{name}>")


def number(value: Any) -> Any:
    """Floats to two digits: a tenth of a pixel is more than a reader sees."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About so many round numbers from low to high."""
    span = max(high - low, 1e-12)
    raw = span / count
    power = 10 ** np.floor(np.log10(raw))
    step = power * min((1, 2, 2.5, 5, 10), key=lambda m: abs(m * power - raw))
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return [float(i * step) for i in np.arange(first, last + 1)]


def short(value: float) -> str:
    """A number of a tick."""
    return (
        f"{value:.6g}"
        if abs(value) < 1e5 and (value == 0 or abs(value) >= 1e-3)
        else f"{value:.1e}"
    )


def named_rows(names: Sequence[str], picture: Markup) -> Markup:
    """Names at the left, in a column of their own, and the picture beside them."""
    column = Markup("").join(tag("div", name, title=name) for name in names)
    return tag("div", tag("div", column, class_="names"), picture, class_="bars")


def bar_chart(rows: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """Rows with name, value and, where known, spread and note."""
    most = max((row["value"] + (row.get("spread") or 0.0) for row in rows), default=1.0) or 1.0
    scale = 82.0 / most  # percent; the rest is room for words
    drawn = []
    for i, row in enumerate(rows):
        y, width = i * ROW + 5, max(row["value"] * scale, 0.0)
        drawn.append(
            tag("rect", x=0, y=y, width=f"{width:.2f}%", height=ROW - 10, rx=2, class_="bar")
        )
        end = width
        if row.get("spread"):
            low = max(row["value"] - row["spread"], 0.0) * scale
            end = (row["value"] + row["spread"]) * scale
            middle = i * ROW + ROW / 2
            drawn.append(whisker(low, end, middle))
        words = row.get("note") or f"{100 * row['value']:.1f} %"
        drawn.append(
            tag(
                "text",
                words,
                x=f"{end:.2f}%",
                dx=6,
                y=i * ROW + ROW / 2,
                dy="0.35em",
                class_="quiet",
            )
        )
    return named_rows([row["name"] for row in rows], frame(drawn, len(rows) * ROW, label))


def whisker(low: float, high: float, y: float) -> Markup:
    """A line with ends from low to high, in percent."""
    line = tag("line", x1=f"{low:.2f}%", x2=f"{high:.2f}%", y1=y, y2=y, class_="whisker")
    ends = [
        tag("line", x1=f"{x:.2f}%", x2=f"{x:.2f}%", y1=y - 4, y2=y + 4, class_="whisker")
        for x in (low, high)
    ]
    return line + ends[0] + ends[1]


def frame(content: Sequence[Markup], height: float, label: str) -> Markup:
    """A picture as wide as its place."""
    return tag(
        "svg",
        Markup("").join(content),
        width="100%",
        height=height,
        role="img",
        aria_label=label,
        xmlns="http://www.w3.org/2000/svg",
    )


def interval_chart(rows: Sequence[Mapping[str, Any]], label: str) -> Markup:
    """Rows with name, value, low and high on a common axis of percent."""
    low = min(row["low"] for row in rows)
    high = max(row["high"] for row in rows)
    low, high = max(0.0, low - 0.05 * (high - low)), min(1.0, high + 0.05 * (high - low))
    span = max(high - low, 1e-9)

    def place(value: float) -> float:
        return 2 + 94 * (value - low) / span

    height = len(rows) * ROW
    drawn = []
    for tick in ticks(low, high, 4):
        x = f"{place(tick):.2f}%"
        drawn.append(tag("line", x1=x, x2=x, y1=0, y2=height, class_="grid"))
        drawn.append(
            tag(
                "text",
                f"{100 * tick:.3g} %",
                x=x,
                y=height + 16,
                class_="quiet",
                text_anchor="middle",
            )
        )
    for i, row in enumerate(rows):
        y = i * ROW + ROW / 2
        drawn.append(whisker(place(row["low"]), place(row["high"]), y))
        drawn.append(
            tag(
                "circle",
                cx=f"{place(row['value']):.2f}%",
                cy=y,
                r=5,
                class_="c0",
                data_t=row["hover"],
            )
        )
    return named_rows([row["name"] for row in rows], frame(drawn, height + 22, label))


class Plane:
    """Two axes with ticks; the picture scales as a whole."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        size: tuple[int, int] = (400, 320),
        percent: bool = False,
        labels: tuple[str, str] = ("", ""),
        y_log: bool = False,
        y_names: Sequence[str] | None = None,  # at 0, 1, ... instead of numbers
    ) -> None:
        self.size, self.labels = size, labels
        self.x, self.y = widened(x), widened(y)
        self.box = (68, 12, size[0] - 84, size[1] - 62)  # left, top, width, height
        self.percent, self.y_log, self.y_names = percent, y_log, y_names
        self.content: list[Markup] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        left, top, width, height = self.box
        return (
            round(left + width * (x - self.x[0]) / (self.x[1] - self.x[0]), 1),
            round(top + height * (1 - (y - self.y[0]) / (self.y[1] - self.y[0])), 1),
        )

    def add(self, *content: Markup) -> None:
        self.content += content

    def line(self, points: Sequence[tuple[float, float]], class_: str) -> None:
        path = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        self.add(tag("polyline", points=path, class_=class_))

    def draw(self, label: str) -> Markup:
        left, top, width, height = self.box
        drawn = []
        for tick in ticks(*self.x):
            x = self.at(tick, self.y[0])[0]
            drawn.append(tag("line", x1=x, x2=x, y1=top, y2=top + height, class_="grid"))
            drawn.append(self.words(tick, x=x, y=top + height + 18, text_anchor="middle"))
        for tick in ticks(*self.y) if self.y_names is None else ():
            y = self.at(self.x[0], tick)[1]
            drawn.append(tag("line", x1=left, x2=left + width, y1=y, y2=y, class_="grid"))
            drawn.append(
                self.words(tick, x=left - 6, y=y, dy="0.35em", text_anchor="end", log=self.y_log)
            )
        for i, name in enumerate(self.y_names or ()):
            drawn.append(tag("text", name, x=left + 4, y=self.at(0, i + 0.38)[1]))
        middle = f"rotate(-90 14 {top + height / 2})"
        drawn.append(
            tag(
                "text", self.labels[0], x=left + width / 2, y=self.size[1] - 6, text_anchor="middle"
            )
        )
        drawn.append(
            tag(
                "text",
                self.labels[1],
                x=14,
                y=top + height / 2,
                transform=middle,
                text_anchor="middle",
            )
        )
        return tag(
            "svg",
            Markup("").join([*drawn, *self.content]),
            viewBox=f"0 0 {self.size[0]} {self.size[1]}",
            role="img",
            aria_label=label,
            class_="plane",
            xmlns="http://www.w3.org/2000/svg",
        )

    def words(self, tick: float, *, log: bool = False, **place: Any) -> Markup:
        text = f"{100 * tick:.3g} %" if self.percent else f"1e{tick:g}" if log else short(tick)
        return tag("text", text, class_="quiet", **place)


def widened(limits: tuple[float, float]) -> tuple[float, float]:
    """Limits that are not equal."""
    low, high = limits
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def mark(x: float, y: float, group: int, hover: str, *, ring: bool = False) -> Markup:
    """A circle, or from the eighth class on a square."""
    look = f"{'ring' if ring else 'dot'} c{group % COLORS}"
    if group // COLORS % 2:
        return tag("rect", x=x - 3.5, y=y - 3.5, width=7, height=7, class_=look, data_t=hover)
    return tag("circle", cx=x, cy=y, r=4, class_=look, data_t=hover)


def scatter(
    points: Sequence[tuple[float, float, int, str, bool]],  # x, y, class, hover, new
    names: Sequence[str],
    label: str,
    axis: str = "learned feature",
) -> Markup:
    """Rows in the first two features."""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    labels = (f"{axis} 1", f"{axis} 2")
    plane = Plane(padded(xs), padded(ys), size=(560, 430), labels=labels)
    for x, y, group, hover, new in points:
        plane.add(mark(*plane.at(x, y), group, hover, ring=new))
    return plane.draw(label) + legend(names, any(p[4] for p in points))


def strips(
    points: Sequence[tuple[float, float, int, str, bool]],
    names: Sequence[str],
    label: str,
    axis: str = "learned feature",
) -> Markup:
    """Rows in the one feature there is: a strip for each class."""
    used = sorted({p[2] for p in points})
    place = {group: i for i, group in enumerate(used)}
    plane = Plane(
        padded([p[0] for p in points]),
        (-0.5, len(used) - 0.5),
        size=(560, 80 + 70 * len(used)),
        labels=(axis, ""),
        y_names=[names[group] for group in reversed(used)],
    )
    spot = dict.fromkeys(used, 0)
    for x, _, group, hover, new in points:
        spot[group] += 1
        height = place[group] + 0.6 * ((spot[group] * 0.618034) % 1 - 0.5)
        at = plane.at(x, len(used) - 1 - height)
        plane.add(mark(*at, group, hover, ring=new))
    return plane.draw(label) + legend(names, any(p[4] for p in points))


def legend(names: Sequence[str], new: bool) -> Markup:
    """Colours and their names."""
    entries = [
        tag(
            "li",
            tag("span", class_=f"key {'square ' if i // COLORS % 2 else ''}b{i % COLORS}"),
            name,
        )
        for i, name in enumerate(names)
    ]
    if new:
        entries.append(tag("li", tag("span", class_="key hollow"), "new rows"))
    return tag("ul", Markup("").join(entries), class_="legend")


def padded(values: Sequence[float], share: float = 0.04) -> tuple[float, float]:
    """Limits with a little room around the values."""
    low, high = min(values), max(values)
    pad = share * (high - low) or 0.5
    return low - pad, high + pad


def reliability(bins: Sequence[Mapping[str, float]], label: str) -> Markup:
    """How often the model was right when it said so surely; on the line it is honest."""
    low = min(min(b["said"], b["low"]) for b in bins)
    low = max(0.0, np.floor(10 * low) / 10)
    plane = Plane(
        (low, 1.0),
        (low, 1.0),
        percent=True,
        labels=("probability the model stated", "share it was right"),
    )
    plane.line([(low, low), (1.0, 1.0)], "ideal")
    for b in bins:
        x, y = plane.at(b["said"], b["right"])
        y_low, y_high = plane.at(0, b["low"])[1], plane.at(0, b["high"])[1]
        plane.add(tag("line", x1=x, x2=x, y1=y_low, y2=y_high, class_="whisker"))
        said, right = 100 * b["said"], 100 * b["right"]
        words = f"said {said:.0f} %, right in {right:.0f} % of {b['count']:.0f} rows"
        plane.add(tag("circle", cx=x, cy=y, r=5, class_="c0", data_t=words))
    return plane.draw(label)


def curves(
    lines: Mapping[str, Sequence[float | None]], label: str, *, ylabel: str, log: bool
) -> Markup:
    """Named curves over steps; None is a gap in a curve."""
    shown: dict[str, list[tuple[float, float]]] = {}
    for name, values in lines.items():
        pairs = [
            (float(i + 1), v) for i, v in enumerate(values) if v is not None and (v > 0 or not log)
        ]
        if pairs:
            shown[name] = [(x, float(np.log10(v)) if log else float(v)) for x, v in pairs]
    every = [point for points in shown.values() for point in points]
    steps = max(x for x, _ in every)
    plane = Plane(
        (1.0, max(steps, 2.0)), padded([y for _, y in every]), labels=("step", ylabel), y_log=log
    )
    for i, points in enumerate(shown.values()):
        plane.line(points, f"curve s{i % COLORS}")
        for x, y in points:
            at = plane.at(x, y)
            value = 10**y if log else y
            plane.add(
                tag(
                    "circle",
                    cx=at[0],
                    cy=at[1],
                    r=3,
                    class_=f"c{i}",
                    data_t=f"step {x:.0f}: {value:.6g}",
                )
            )
    words = legend(list(shown), False) if len(shown) > 1 else Markup("")
    return plane.draw(label) + words
