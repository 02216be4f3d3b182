"""Dates in several formats in one column, and what 03/04/2026 means in it."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

LEAST_LETTERS = 6  # "2021" is a number
TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?)?"
)
YEAR, WORD = r"(?P<year>\d{4}|\d{2})", r"(?P<word>[^\W\d_]{3,9})\.?"
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-z]*[., ]+)?"
FORMS = {
    name: re.compile(WEEKDAY + pattern + TIME + "Z?", re.IGNORECASE)
    for name, pattern in {
        "year first": r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
        "digits": r"(?P<year>(?:19|20)\d{2})(?P<month>0\d|1[0-2])(?P<day>[0-2]\d|3[01])",
        "numbers": rf"(?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep){YEAR}",
        "day and name": rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ .-]*{WORD}[ ,.-]*{YEAR}",
        "name and day": rf"{WORD} *(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? +(?P<year>\d{{4}})",
    }.items()
}
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")
MONTH_WORDS = "jan feb mar,mär,mrz apr may,mai jun jul aug sep oct,okt nov dec,dez"
MONTHS = {word: i + 1 for i, words in enumerate(MONTH_WORDS.split()) for word in words.split(",")}
NUMBERS = "numbers "  # before the sign, in the names of forms
TURN = 69  # two digits of a year from here on are of the last century, as in POSIX


@dataclass(frozen=True)
class DateForm:
    """How the dates of a column are written."""

    day_first: Mapping[str, bool]  # by the sign between numbers
    forms: tuple[str, ...] = ()
    ambiguous: str = ""  # a cell that could be read both ways, where none tells
    conflict: bool = False  # cells that tell say both

    @property
    def signs(self) -> list[str]:
        """The signs between numbers of which the first may be the day or the month."""
        return [own.removeprefix(NUMBERS) for own in self.forms if own.startswith(NUMBERS)]

    def sign_of(self, text: str) -> str:
        """The sign of a cell."""
        return (match_date(text)[1] or {}).get("sep") or ""

    def ordered(self, *, day_first: bool) -> "DateForm":
        """The form with the order that somebody has said, whatever the sign."""
        return replace(self, day_first=dict.fromkeys("-/.", day_first), ambiguous="")

    def value(self, text: str) -> datetime | None:
        """The date that a cell holds; None if it holds none."""
        name, found = match_date(text)
        if found is None:
            return None
        try:
            return as_datetime(name, found, self.day_first.get(found.get("sep") or "", False))
        except ValueError:  # the 31st of February
            return None


def are_iso(texts: Collection[str]) -> bool:
    """Whether all cells are dates as every program writes and reads them, with time or without."""
    widths = {len(text) for text in texts}
    return len(widths) == 1 and all(ISO.fullmatch(text) for text in texts)


def match_date(text: str) -> tuple[str, dict[str, str | None] | None]:
    """The form of a cell and its parts."""
    text = text.strip()
    if len(text) >= LEAST_LETTERS:
        for name, pattern in FORMS.items():
            if found := pattern.fullmatch(text):
                return name, found.groupdict()
    return "", None


def as_datetime(form: str, parts: Mapping[str, str | None], day_first: bool) -> datetime:
    """The parts of a cell as a date; ValueError if there is no such day."""
    year = int(parts["year"] or 0)
    if len(parts["year"] or "") == 2:
        year += 1900 if year >= TURN else 2000
    if form == "numbers":
        a, b = int(parts["a"] or 0), int(parts["b"] or 0)
        day, month = (a, b) if (day_first and b <= 12) or a > 12 else (b, a)
    else:
        word = (parts.get("word") or "")[:3].casefold()
        month = MONTHS.get(word, 0) if word else int(parts["month"] or 0)
        day = int(parts["day"] or 0)
    hour = int(parts["hour"] or 0)
    if half := parts["half"]:
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    return datetime(year, month, day, hour, int(parts["minute"] or 0), int(parts["second"] or 0))


def find_date_form(counts: Mapping[str, int], least: float) -> DateForm | None:
    """How a column writes dates, if so large a share of its cells does."""
    found = {text: match for text in counts if (match := match_date(text))[1] is not None}
    total = sum(counts.values())
    if not found or sum(counts[text] for text in found) < least * total:
        return None
    numbers = [(text, own) for text, (name, own) in found.items() if name == "numbers" and own]
    day_first, ambiguous, conflict = {}, "", False
    for sign in sorted({own["sep"] or "" for _, own in numbers}):
        pairs = [(int(o["a"] or 0), int(o["b"] or 0)) for _, o in numbers if o["sep"] == sign]
        days, months = sum(a > 12 for a, _ in pairs), sum(b > 12 for _, b in pairs)
        day_first[sign] = days > months if days or months else sign == "."
        conflict |= bool(days and months)
        if not days and not months:
            # a cell of which both ways differ, if there is one
            own_sign = sorted(((o["a"] == o["b"], text) for text, o in numbers if o["sep"] == sign))
            ambiguous = own_sign[0][1]
    form = DateForm(day_first, tuple(sorted(form_names(found.values()))), ambiguous, conflict)
    read = sum(counts[text] for text in found if form.value(text) is not None)
    return form if read >= least * total else None


def form_names(found: Iterable[tuple[str, Mapping[str, str | None] | None]]) -> set[str]:
    """The forms of cells, told apart by their signs."""
    return {f"{name} {(parts or {}).get('sep') or ''}".strip() for name, parts in found}
