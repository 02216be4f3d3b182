"""What all pictures share: colours that colour-blind readers tell apart, and axes of one size."""

from typing import Any

# Okabe and Ito's palette, the yellow left out: it is too pale for points on white.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
QUIET = "#6b7280"  # lines and words that only accompany
WIDTH = 4.4  # inches of a panel: at 400 pixels its words are still read


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that names the extra."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: install kernel-learn[plot].") from error
    return plt


def axes(ax: Any, height: float = 3.2, width: float = WIDTH) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        pyplot()
        return ax
    return pyplot().figure(figsize=(width, height), layout="constrained").add_subplot()


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float]) -> Any:
    """A grid of axes (rows, columns) of a new figure, or in the place of the axes given."""
    plt = pyplot()
    if ax is None:
        figure = plt.figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        return figure.subplots(rows, columns, squeeze=False)
    grid = ax.get_subplotspec()
    if grid is None:
        raise ValueError("This picture has several panels, and the axes given are not in a grid.")
    ax.set_axis_off()
    return grid.subgridspec(rows, columns).subplots(squeeze=False)


def style(i: int) -> dict[str, str]:
    """Colour and marker of the i-th class."""
    return {
        "color": COLORS[i % len(COLORS)],
        "marker": MARKERS[i // len(COLORS) % len(MARKERS)],
    }


def clean(ax: Any) -> None:
    """No box around what needs none."""
    ax.spines[["top", "right"]].set_visible(False)


def shorten(name: str, most: int = 22) -> str:
    """A name that leaves room for the picture; its beginning and its end tell most."""
    if len(name) <= most:
        return name
    head = (most - 1) * 2 // 3
    return f"{name[:head]}…{name[-(most - 1 - head) :]}"


def plain(name: Any) -> str:
    """A user's string as it is written: matplotlib reads mathematics between dollars."""
    return str(name).replace("$", r"\$")


def draw_bars(
    ax: Any,
    values: Any,  # (m,) from the top
    names: list[str],
    spread: Any = None,
    longest: int = 22,  # letters of a name
    **options: Any,
) -> None:
    """Horizontal bars, the first on top, with whiskers that end at zero."""
    places = range(len(values))
    whiskers: dict[str, Any] = {}
    if spread is not None:
        low = [min(value, s) for value, s in zip(values, spread, strict=True)]
        whiskers = {"xerr": [low, spread], "error_kw": {"ecolor": "#374151", "elinewidth": 1.2}}
    ax.barh(places, values, **{"color": COLORS[0], "height": 0.72, **whiskers, **options})
    ax.set_yticks(places, [plain(shorten(name, longest)) for name in names])
    ax.set_ylim(len(values) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.tick_params(axis="y", length=0)
    clean(ax)


def bar_height(count: int) -> float:
    """Inches of a picture with so many bars."""
    return 0.9 + 0.24 * count
