"""Rows at the end of a table that are none of it: sums, notes and empty ones."""

import re

from kernel_learn.rows.frames import Frame
from kernel_learn.rows.short_names import shorten

TOTAL = re.compile(
    r"(grand |sub|overall )?(total|totals|sum|summe|gesamt|average|mean|mittelwert|count)s?\s*:?",
    re.IGNORECASE,
)
MOST = 10  # rows that are looked at
LEAST_COLUMNS = 3  # of a table in which a row of one cell is a note


def count_trailing(frame: Frame) -> tuple[int, list[str]]:
    """How many rows at the end are no rows of the table, and what they are."""
    found: dict[str, int] = {}
    dropped = 0
    while dropped < min(MOST, len(frame) - 1):
        words = what_is_row(frame, len(frame) - 1 - dropped)
        if words is None:
            break
        found[words] = found.get(words, 0) + 1
        dropped += 1
    counted = [f"{n} row{'s' * (n > 1)} {words}" for words, n in found.items()]
    return dropped, [f"{text} at the end dropped" for text in counted]


def drop_last(frame: Frame, n: int) -> Frame:
    """The frame without its last rows; whole numbers are so again where only these had holes."""
    kept = frame.iloc[: len(frame) - n]
    holes = frame.iloc[len(kept) :].isna().all()
    floats = [name for name in kept.select_dtypes("float64").columns if holes[name]]
    whole = [c for c in floats if bool((kept[c] % 1 == 0).all())]  # false where cells are missing
    return kept.astype(dict.fromkeys(whole, "int64"))


def what_is_row(frame: Frame, i: int) -> str | None:
    """Why a row is none; None: it is one."""
    cells = frame.iloc[i]
    filled = cells[cells.notna() & (cells.astype(str).str.strip() != "")]
    if not len(filled):
        return "without cells"
    for name, cell in filled.items():
        if isinstance(cell, str) and TOTAL.fullmatch(cell.strip()):
            others = frame[name].iloc[:i].astype(str).str.strip().str.casefold()
            if not (others == cell.strip().casefold()).any():
                return f"of sums ({cell.strip()!r})"
    if len(filled) == 1 and frame.shape[1] >= LEAST_COLUMNS and isinstance(filled.iloc[0], str):
        return f"of a note ({shorten(str(filled.iloc[0]), 30)!r})"
    return None
