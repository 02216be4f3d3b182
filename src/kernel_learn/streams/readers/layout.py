"""Where the table of a CSV file begins: what stands above the names, and how they are written.

Spreadsheets and instruments write ``sep=;``, comments, titles and empty lines first, pad the
names with spaces, and end lines in one separator too many.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

SEPARATORS = ",;\t|"
SAID = re.compile(r"""\ufeff?"?sep=(?P<separator>.)"?\s*""", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")
FRACTION, DAY = re.compile(r"[+-]?\d+[.,]\d+"), re.compile(r"\d{4}-\d\d-\d\d\b")
PAGE = re.compile(r"<(!doctype|html|table|\?xml)", re.IGNORECASE)
LINES, LEAST_WAVELENGTHS = 60, 5  # looked at; of names
MOST_LINES = 9  # of one cell
SPARE = "\0spare"  # a last column that has neither name nor cells


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are to be cut."""

    separator: str
    skip: int = 0  # lines above the names
    names: list[str] | None = None  # None: as they stand
    notes: list[str] = field(default_factory=list)
    padded: bool = False  # spaces before quotes
    trouble: str = ""  # why rows cannot be told apart into cells

    @property
    def is_spare(self) -> bool:
        """Whether the last column has neither name nor cells."""
        return bool(self.names) and self.names is not None and self.names[-1] == SPARE


def find_layout(sample: str, separator: str | None = None, whole: bool = True) -> Layout:
    """The layout of a text by its first lines; ``whole``: they are all lines."""
    lines = re.split("\r\n|\r|\n", sample.removeprefix("\ufeff"))
    lines = join_quoted(lines if whole or len(lines) < 2 else lines[:-1])
    skip, notes = 0, []
    if said := SAID.fullmatch(lines[0]) if lines else None:
        separator, skip = said["separator"], 1
        notes.append(f"the line {lines[0].strip()!r} above the names says how cells are parted")
    begin = begin_of_table(lines, skip, separator)
    if n := sum(bool(line.strip()) for line in lines[skip:begin]):
        notes.append(f"{n} line{'s' * (n > 1)} above the names of the columns skipped")
    head = lines[begin] if begin < len(lines) else ""
    separator = separator or find_separator(head)
    rows = list(islice(csv.reader(lines[begin : begin + LINES], delimiter=separator), LINES))
    names, padded = rows[0] if rows else [], f'{separator} "' in head
    if trouble := no_table(lines[begin : begin + LINES], names):
        return Layout(separator, begin, trouble=trouble)
    if look_like_cells(names):
        notes.append("the first line looks like cells; the names of the columns may be missing")
    clean = [" ".join(name.split("\n")).strip().strip('"' if padded else "") for name in names]
    if clean and clean[0].startswith("#"):
        clean[0] = clean[0].lstrip("# ")
    if any(name != own for name, own in zip(names, clean, strict=True)):
        notes.append("spaces or signs around the names of columns removed")
    if has_spare(names, rows[1:]):
        clean = [*(clean[:-1] if not clean[-1] else clean), SPARE]
        notes.append("a separator too many at the end of each line passed over")
    notes += renamed([name for name in clean if name != SPARE])
    if clean == names or len(set(clean)) < len(clean):
        return Layout(separator, begin, None, notes, padded, too_wide(names, rows[1:]))
    clean = [name or f"Unnamed: {i}" for i, name in enumerate(clean)]
    return Layout(separator, begin, clean, notes, padded)


def join_quoted(lines: Sequence[str]) -> list[str]:
    """The lines, with a name or cell in quotes that has several lines on one."""
    found: list[str] = []
    i = 0
    while i < len(lines):
        n = 1
        while n < MOST_LINES and "".join(lines[i : i + n]).count('"') % 2:
            n += 1
        n = 1 if "".join(lines[i : i + n]).count('"') % 2 else n  # a quote that stays open
        found.append("\n".join(lines[i : i + n]))
        i += n
    return found


def renamed(names: Sequence[str]) -> list[str]:
    """What is to be said of names that are there twice, or not at all."""
    counts = Counter(name for name in names if name)
    notes = [
        f"{n} columns are called {name!r}: from the second on {name + '.1'!r} and so on"
        for name, n in counts.items()
        if n > 1
    ]
    blank = [f"Unnamed: {i}" for i, name in enumerate(names) if not name]
    if blank:
        shown = ", ".join(map(repr, blank[:3])) + (" and so on" if len(blank) > 3 else "")
        notes.append(f"a column without a name is called {shown}")
    return notes


def no_table(lines: Sequence[str], names: Sequence[str]) -> str:
    """What is wrong with a text that has no separators; nothing if it has."""
    if lines and PAGE.match(lines[0].strip()):
        return "it is a page of the web; save its table as .csv"
    words = [line.split() for line in lines if line.strip()]
    widths = {len(own) for own in words}
    if len(names) > 1 or len(words) < 3 or len(widths) > 1 or max(widths) < 3:
        return ""
    if not any(NUMBER.fullmatch(word) for word in words[1]):
        return ""
    return "its cells are parted by spaces; part them by commas or tabs"


def look_like_cells(names: Sequence[str]) -> bool:
    """Whether names are cells of a table that has none: fractions, dates, numbers that repeat.

    Fractions that grow from name to name are wavelengths.
    """
    cells = Counter(name.strip() for name in names)
    fractions = [float(own.replace(",", ".")) for own in cells if FRACTION.fullmatch(own)]
    if len(fractions) >= LEAST_WAVELENGTHS and fractions == sorted(fractions):
        return False
    odd = sum(
        (n > 1 and bool(NUMBER.fullmatch(own))) or bool(DAY.match(own)) for own, n in cells.items()
    )
    return odd + len(fractions) >= max(1, len(cells) / 3)


def find_separator(text: str) -> str:
    """What stands most often between the cells of the first line, outside quotes; or a comma."""
    bare = re.sub(r'"[^"]*"', "", text).partition("\n")[0]
    return max(SEPARATORS, key=bare.count)


def cells_of(line: str, separator: str | None) -> list[str]:
    """The cells of one line that are not empty."""
    own = separator or find_separator(line)
    return [cell for cell in next(csv.reader([line], delimiter=own), []) if cell.strip()]


def begin_of_table(lines: Sequence[str], start: int, separator: str | None) -> int:
    """The line of the names: below comments, and below titles of one cell or a few."""
    few = max(1, usual_width(lines[start:], separator) // 3)
    for i in range(start, min(len(lines), start + LINES)):
        line = lines[i].strip()
        below = next((other for other in lines[i + 1 :] if other.strip()), "")
        if not cells_of(line, separator):
            continue
        if line.startswith("#") and not names_what_follows(line, below, separator):
            continue
        if len(cells_of(line, separator)) <= few and is_above_table(lines[i + 1 :], separator):
            continue
        return i
    return start


def usual_width(lines: Sequence[str], separator: str | None) -> int:
    """How many cells most lines have that have any."""
    widths = [len(cells_of(line, separator)) for line in lines[:LINES] if line.strip()]
    return sorted(widths)[len(widths) // 2] if widths else 0


def names_what_follows(line: str, below: str, separator: str | None) -> bool:
    """Whether a line that begins with # has a name for each cell of the next."""
    own = separator or find_separator(below)
    names, cells = cells_of(line, own), cells_of(below, own)
    return len(names) == len(cells) > 1 and any(NUMBER.fullmatch(cell.strip()) for cell in cells)


def is_above_table(lines: Sequence[str], separator: str | None) -> bool:
    """Whether names of several columns come next, with rows as wide below them."""
    filled = [line for line in lines[:LINES] if line.strip()]
    few = max(1, usual_width(filled, separator) // 3)
    for i, line in enumerate(filled[:-1]):
        names = cells_of(line, separator)
        own = separator or find_separator(line)
        if len(names) > few:
            words = [name for name in names if not NUMBER.fullmatch(name.strip())]
            widths = [len(next(csv.reader([row], delimiter=own), [])) for row in filled[i + 1 :]]
            return len(words) == len(names) and widths[0] >= len(names)
    return False


def too_wide(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What is wrong with rows of more cells than there are names; nothing if these have names.

    One cell more in every row, first and never twice the same, is the name of the row.
    """
    filled = [row for row in rows if row]
    if not names or not filled or len(filled[0]) <= len(names):
        return ""  # of what comes below, the reader says the line
    firsts = [row[0] for row in filled]
    are_named = all(len(row) == len(names) + 1 for row in filled)
    if are_named and len(set(firsts)) == len(firsts):
        return ""
    return (
        f"its first row has {len(filled[0])} cells, and there are {len(names)} names of columns; "
        "put cells that hold the separator in quotes, or part cells by semicolons"
    )


def has_spare(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether every row ends in an empty cell that no name is for."""
    filled = [row for row in rows if row]
    if not filled or not names or len(names) < 2:
        return False
    width = len(names) if not names[-1].strip() else len(names) + 1
    return all(len(row) == width and not row[-1].strip() for row in filled)
