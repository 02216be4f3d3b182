"""How the table was read: a line for each column, 80 letters wide."""

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kernel_learn.rows.frames import Frame, FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.rows.short_names import shorten_all
from kernel_learn.tables.columns import Columns, is_sparse_type
from kernel_learn.tables.reading.dates import find_date_form

WIDTH, MOST_LINES, MOST_NAME = 80, 25, 20
ALL_DATES = 0.98  # share of the cells that must be dates to tell the first and the last
MOST_WHOLE = 1e11  # two such numbers fit into a line
LEAST_ROWS, RARELY = 20, 0.5  # of a category: cells, and levels for each
PLURALS = {
    "number": "numbers",
    "category": "categories",
    "date": "dates",
    "text": "texts",
    "left out": "left out",
    "target": "target",
    "group": "group",
}


@dataclass(frozen=True)
class ColumnLine:
    """What a column was read as."""

    name: str
    kind: str  # number, category, date, text, target, group, left out
    values: str  # range or levels
    missing: int
    done: list[str]

    @property
    def says_something(self) -> bool:
        """Whether more is to be told than its kind."""
        return bool(self.done) or self.kind in ("target", "group", "left out")

    def as_values(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def describe_reading(
    frame: Frame,  # with target and groups
    columns: Columns,
    remarks: Mapping[str, Sequence[str]],
    *,
    target: str | None = None,
    group: str | None = None,
    is_regression: bool = False,  # the target is a number
) -> list[ColumnLine]:
    """A line for each column of the table, in its order."""
    reasons = dict.fromkeys(columns.ids, "looks like an identifier")
    reasons |= dict.fromkeys(columns.constants, "the same in every row")
    reasons |= dict.fromkeys(columns.dropped, "as asked for")
    found = []
    for name in frame.columns:
        column = frame[name]
        kind = {target: "target", group: "group"}.get(name) or columns.kinds.get(name, "left out")
        shown = "category" if kind in ("target", "group") else kind
        if kind == "target" and is_regression:
            shown = "number"
        done = [*([reasons[name]] if name in reasons and kind == "left out" else [])]
        more = [] if name in columns.dropped else remarks.get(name, [])
        if kind == "category" and hardly_repeats(column):
            done.append("hardly any level repeats")
        found.append(
            ColumnLine(
                str(name),
                kind,
                "" if kind == "left out" else range_or_levels(column, shown),
                0 if is_sparse_type(column.dtype) else int(column.isna().sum()),
                [*done, *more],
            )
        )
    return found


def hardly_repeats(column: FrameColumn) -> bool:
    """Whether a category has half as many levels as cells, from which little is learned."""
    filled = column.dropna()
    return len(filled) >= LEAST_ROWS and filled.nunique() > RARELY * len(filled)


def range_or_levels(column: FrameColumn, kind: str) -> str:
    """Least and greatest of numbers and dates, the first levels of categories."""
    filled = column.dropna()
    if not len(filled):
        return "empty"
    if kind == "number":
        values = np.asarray(filled, dtype=float)
        return f"{cell_text(values.min())} to {cell_text(values.max())}"
    if kind == "date" and column_kind(column) == "date":
        return f"{filled.min():%Y-%m-%d} to {filled.max():%Y-%m-%d}"
    if kind == "date" and (ends := date_range(filled)):
        return ends
    if kind in ("date", "text"):
        return f"such as {str(filled.iloc[0])[:12]!r}"
    counts = filled.astype(str).value_counts()
    words = ", ".join(sorted(counts.index[:4]))
    return f"{len(counts)}: {words}"


def cell_text(value: float) -> str:
    """A number in a few digits, whole ones with all of theirs."""
    is_whole = value == round(value) and abs(value) < MOST_WHOLE
    return f"{value:.0f}" if is_whole else f"{value:.6g}"


def date_range(filled: FrameColumn) -> str:
    """The first and the last date of a column of texts; nothing where they are not told surely."""
    counts = filled.astype(str).value_counts().to_dict()
    form = find_date_form(counts, ALL_DATES)
    if form is None or form.ambiguous or form.conflict:
        return ""
    dates = [date for text in counts if (date := form.value(text)) is not None]
    return f"{min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d}"


def show_lines(lines: Sequence[ColumnLine], width: int = WIDTH) -> list[str]:
    """The lines as text: those that say something first to stay, the others counted."""
    telling = [line for line in lines if line.says_something]
    shown = {line.name for line in [*telling, *lines][:MOST_LINES]}
    shown |= {line.name for line in lines if line.kind == "target"}
    kept = [line for line in lines if line.name in shown]
    letters = min(MOST_NAME, max((len(line.name) for line in kept), default=0))
    names = [fitting(own, MOST_NAME) for own in shorten_all([line.name for line in kept], letters)]
    wide = max(map(shown_columns, names), default=0)
    text: list[str] = []
    for line, name in zip(kept, names, strict=True):
        text += show_line(line, name, wide, width)
    rest = [line for line in lines if line.name not in shown]
    if rest:
        kinds = Counter(line.kind for line in rest)
        parts = ", ".join(f"{n} {PLURALS[kind] if n > 1 else kind}" for kind, n in kinds.items())
        changed = sum(bool(line.done) for line in rest)
        words = f"cells of {changed} were changed" if changed else "their cells are unchanged"
        text.append(f"  and {len(rest)} more: {parts}; {words}.")
    return text


def show_line(line: ColumnLine, name: str, wide: int, width: int) -> list[str]:
    """A column, and below it what does not fit beside."""
    missing = f"{line.missing} missing" if line.missing else ""
    room = 24
    values = fitting(line.values, room)
    start = f"  {padded(name, wide)} {line.kind:<8} {padded(values, room)} {missing:<10}"
    done = "; ".join(line.done)
    if not done:
        return [start.rstrip()]
    for beside in (start, start.rstrip()):
        if shown_columns(beside) + 2 + shown_columns(done) <= width:
            return [f"{beside}  {done}"]
    indent = " " * (wide + 3)
    folded = textwrap.wrap(done, width, initial_indent=indent, subsequent_indent=indent)
    return [start.rstrip(), *folded]


def shown_columns(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def fitting(text: str, most: int) -> str:
    """The text, cut where it is wider than so many columns."""
    if shown_columns(text) <= most:
        return text
    while shown_columns(text) >= most:
        text = text[:-1]
    return f"{text}…"


def padded(text: str, wide: int) -> str:
    """The text with spaces behind up to so many columns."""
    return text + " " * (wide - shown_columns(text))
