"""How one column of a file is read: decided once on its cells, applied to those of any file."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.rows.frames import FrameColumn
from kernel_learn.rows.kinds import column_kind
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.columns import LOOKED_AT, as_word, is_sparse_type
from kernel_learn.tables.reading.dates import DateForm, are_iso, find_date_form
from kernel_learn.tables.reading.levels import find_levels, level_key
from kernel_learn.tables.reading.missing import NO_LEVEL, NO_NUMBER, find_sentinels
from kernel_learn.tables.reading.numbers import (
    SPELT_AS,
    NumberForm,
    check_same_unit,
    find_form,
    plain_unit,
    split_cell,
)

# So many of the cells that are not missing must be numbers or dates; the others are set missing.
ALMOST_ALL, HALF = 0.95, 0.5
TYPES = ("number", "category", "date", "text", "skip", "date-dmy", "date-mdy")
# A few numbers may look like dates by chance, of which three in a hundred do.
FIRST_DIGITS, LAST_DIGITS, LEAST_DATES = 19000101, 20991231, 5
GROUP_SIGNS = {",": "commas", ".": "dots", "'": "apostrophes", " ": "spaces"}
SHOWN = 3  # different cells that a remark names


@dataclass(frozen=True)
class ColumnRecipe:
    """What is done to the cells of a column; ``kind`` as it is: nothing."""

    kind: str = "as it is"  # or number, date, level, word
    number: NumberForm = field(default_factory=NumberForm)
    date: DateForm = field(default_factory=lambda: DateForm({}))
    sentinels: tuple[float, ...] = ()
    levels: Mapping[str, str] = field(default_factory=dict)  # key: spelling
    missing: frozenset[str] = frozenset()  # words, without case

    def read(self, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
        """The column as it is meant, and what was done to its cells."""
        return READS[self.kind](self, column)

    def number_form(self, counts: Mapping[str, int], name: str) -> NumberForm:
        """How cells write numbers: as they did when this was learned, or as almost all do now.

        Refuses another unit if half of the cells have it; fewer are no numbers.
        """
        filled = {text: n for text, n in counts.items() if level_key(text) not in self.missing}
        unread = sum(n for text, n in filled.items() if self.number.value(text) is None)
        share = unread / max(1, sum(filled.values()))
        if share <= 1 - ALMOST_ALL:
            return self.number
        try:
            form = find_form(filled, name, ALMOST_ALL) or self.number
            check_same_unit(name, self.number, form)
        except TableError:
            if share >= HALF:
                raise
            return self.number
        has_other_unit = len(form.units) > len(self.number.units) and not form.multiplies
        return self.number if has_other_unit and share < HALF else form


def find_recipe(
    column: FrameColumn, wanted: str | None, na: Collection[str], *, is_target: bool = False
) -> ColumnRecipe:
    """How a column is to be read: as is asked for, or as almost all of its cells say."""
    if wanted is not None and wanted.startswith("date-"):
        recipe = find_recipe(column, "date", na)
        return replace(recipe, date=recipe.date.ordered(day_first=wanted == "date-dmy"))
    words = frozenset(level_key(word) for word in na)
    if is_sparse_type(column.dtype):
        return ColumnRecipe()
    kind, name = column_kind(column), str(column.name)
    if wanted in ("category", "text"):
        return ColumnRecipe("word", missing=words)
    if kind == "number":
        if wanted != "number" and not is_target and (date := find_digit_dates(column)):
            return ColumnRecipe("date", date=date)
        if wanted == "date":
            raise TableError(f"--types: column {name!r} holds numbers, which are not dates.")
        return number_recipe(column, words, names_classes=is_target and wanted is None)
    if kind != "object" or wanted == "skip":
        return ColumnRecipe()
    counts = count_texts(column)
    if not counts:
        return ColumnRecipe()
    return text_recipe(counts, name, wanted, words, is_target)


def find_digit_dates(column: FrameColumn) -> DateForm | None:
    """How numbers such as 20260304 are dates: all of them, and not a few."""
    filled = column.dropna()
    low, high = (float(filled.min()), float(filled.max())) if len(filled) else (0.0, 0.0)
    if not FIRST_DIGITS <= low <= high <= LAST_DIGITS or filled.nunique() < LEAST_DATES:
        return None
    return find_date_form(count_texts(as_word(column, None)), 1.0)


def number_recipe(
    column: FrameColumn, words: frozenset[str], *, names_classes: bool
) -> ColumnRecipe:
    """Of numbers: which of them stand for missing; codes of classes may be any."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    asked = [value for word in words if (value := NumberForm().value(word)) is not None]
    found = [] if names_classes else find_sentinels(values)
    sentinels = tuple(sorted({*found, *asked}))
    return ColumnRecipe("number", sentinels=sentinels, missing=NO_NUMBER | words)


def text_recipe(
    counts: Mapping[str, int],
    name: str,
    wanted: str | None,
    words: frozenset[str],
    is_target: bool,
) -> ColumnRecipe:
    """Of texts: dates, numbers, levels, or nothing of these."""
    no_number, least = NO_NUMBER | words, 0.0 if wanted == "date" else ALMOST_ALL
    filled = {text: n for text, n in counts.items() if level_key(text) not in no_number}
    if wanted != "number" and not is_target and (date := find_date_form(filled, least)):
        if wanted is None and are_iso(counts) and all(date.value(text) for text in counts):
            return ColumnRecipe(date=date)
        return ColumnRecipe("date", date=date, missing=no_number)
    if wanted == "date":
        raise TableError(f"--types: no cell of column {name!r} is a date that is known here.")
    form = find_form(filled, name, ALMOST_ALL, asked=wanted == "number")
    if wanted == "number" and form is None:
        raise TableError(f"--types: no cell of column {name!r} is a number.")
    names_classes = is_target and wanted is None  # "5 mg" and "10 mg" may be labels
    if form is not None and not (names_classes and form.units):
        values = [form.value(text) for text in filled]
        numbers = np.array([value for value in values if value is not None], dtype=float)
        found = [] if names_classes else find_sentinels(repeat_by(filled, numbers, values))
        return ColumnRecipe("number", number=form, sentinels=tuple(found), missing=no_number)
    plus = {"-"} if any(text.strip() == "+" for text in counts) else set()
    no_level = (NO_LEVEL - plus) | words
    filled = {text: n for text, n in counts.items() if level_key(text) not in no_level}
    levels = find_levels(filled)
    if levels is None:
        return ColumnRecipe()
    return ColumnRecipe("level", levels=levels, missing=no_level)


def repeat_by(counts: Mapping[str, int], numbers: Array, values: Collection[float | None]) -> Array:
    """Each number as often as its text is there."""
    pairs = zip(counts.values(), values, strict=True)
    return np.repeat(numbers, [n for n, value in pairs if value is not None])


def count_texts(column: FrameColumn) -> dict[str, int]:
    """How often each text is there; nothing if a cell is no text."""
    counts = column.dropna().value_counts()
    texts = counts.index.tolist()
    if not all(isinstance(text, str) for text in texts):
        return {}
    return dict(zip(texts, counts.tolist(), strict=True))


def read_as_it_is(recipe: ColumnRecipe, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
    """Nothing is done, but for a column that held dates of one kind and holds another now."""
    if recipe.date.forms and column_kind(column) == "number":
        digits = find_digit_dates(column)
        return (column, []) if digits is None else read_date(ColumnRecipe(date=digits), column)
    if recipe.date.forms and column_kind(column) == "object":
        form = find_date_form(count_texts(column.iloc[:LOOKED_AT]), ALMOST_ALL)
        if form is not None and set(form.forms) != set(recipe.date.forms):
            return read_date(recipe, column)
    return column, []


def read_number(recipe: ColumnRecipe, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
    """Cells as numbers; what is none is missing, and counted."""
    if column_kind(column) == "object" and (counts := count_texts(column)):
        form = recipe.number_form(counts, str(column.name))
        values, done = parse_numbers(replace(recipe, number=form), counts)
        numbers = column.map(values).astype(float)
        whole = all(value == value for value in values.values()) and not column.isna().any()
        if whole and not any(set(text) & set(".,eE%") for text in counts):
            numbers = numbers.astype("int64")
    elif column_kind(column) == "number":
        numbers, done = column, []
    else:
        return column, []
    if numbers.dtype.kind == "f" and (n := int(np.isinf(numbers.to_numpy()).sum())):
        numbers = numbers.where(~np.isinf(numbers), np.nan)
        done.append(f"{cells(n)} infinite -> missing")
    for value in recipe.sentinels:
        if n := int((numbers == value).sum()):
            numbers = numbers.where(numbers != value, np.nan)
            done.append(f"{cells(n)} {value:g} -> missing")
    return numbers, done


def parse_numbers(
    recipe: ColumnRecipe, counts: Mapping[str, int]
) -> tuple[dict[str, float], list[str]]:
    """Text: number of each, and what was done."""
    values: dict[str, float] = {}
    found: dict[str, dict[str, int]] = {}
    for text, n in counts.items():
        value, what = None, "-> missing"
        if level_key(text) not in recipe.missing:
            value = recipe.number.value(text)
            what = said_of(text, value)
        values[text] = np.nan if value is None else value
        if what:
            own = found.setdefault(what, {})
            own[text.strip()] = own.get(text.strip(), 0) + n
    done = [f"{quoted(own)} {what}" for what, own in sorted(found.items())]
    return values, [*how_written(recipe.number, counts), *done]


def said_of(text: str, value: float | None) -> str:
    """What is to be said of a cell that stands for a number, or for none; mostly nothing."""
    parts = split_cell(text) or {}
    if value is None:
        has_unit = plain_unit(parts.get("unit", "")) in SPELT_AS
        return f"{'of another unit' if has_unit else 'no number'} -> missing"
    if text.strip().startswith("("):
        return "-> negative"
    bound = parts.get("bound", "")
    if bound and bound[0] in "<>≤≥":
        return "-> the bound itself"
    return "-> the number itself" if bound or parts.get("mark") else ""


def how_written(form: NumberForm, counts: Mapping[str, int]) -> list[str]:
    """What was read out of how numbers are written."""
    digits = [own["digits"] for text in counts if (own := split_cell(text)) is not None]
    done = []
    if form.units:
        verb = "removed"
        if form.multiplies:
            verb = "divided by 100" if "%" in form.units else "multiplied out"
        done.append(f"{', '.join(repr(unit) for unit in form.units)} {verb}")
    signs = {sign for own in digits for sign in own if sign in GROUP_SIGNS}
    if form.decimal == "," and "," in signs:
        done.append("decimal comma")
    parting = [GROUP_SIGNS[sign] for sign in sorted(signs - {form.decimal})]
    return [*done, *(f"{words} part thousands" for words in parting)]


def read_date(recipe: ColumnRecipe, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
    """Cells as dates; what is none is missing, and counted."""
    pandas, form = need_pandas(), recipe.date
    if column_kind(column) == "number" and "digits" in form.forms:
        column = as_word(column, None)
    if column_kind(column) != "object" or not (counts := count_texts(column)):
        return column, []
    if own := find_date_form(counts, 0.0):  # signs that cells had not when this was learned
        form = replace(form, day_first={**own.day_first, **form.day_first})
    dates = {text: form.value(text) for text in counts}
    unknown = {t: n for t, n in counts.items() if dates[t] is None and t.strip()}
    found = pandas.to_datetime(column.map(dates), errors="coerce")
    done = [f"dates in {len(form.forms)} formats"] if len(form.forms) > 1 else []
    if form.forms == ("digits",):
        done.append("year, month and day without signs between")
    order = {True: "day first", False: "month first"}
    if form.ambiguous and (as_read := form.value(form.ambiguous)):
        is_first = form.day_first[form.sign_of(form.ambiguous)]
        other = f"{order[not is_first]}: --types {column.name}=date-{'mdy' if is_first else 'dmy'}"
        done += [f"{form.ambiguous} read as {as_read:%-d %B %Y}", other]
    else:
        where = " where a cell could be both" if form.conflict else ""
        done += [f"{order[form.day_first[sign]]} ({sign}){where}" for sign in form.signs]
    return found, [*done, *([f"{quoted(unknown)} -> missing"] if unknown else [])]


def read_level(recipe: ColumnRecipe, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
    """Cells in the spelling of their level."""
    if column_kind(column) != "object" or not (counts := count_texts(column)):
        return column, []
    spelt: dict[str, object] = {}
    absent: dict[str, int] = {}
    merged: dict[str, int] = {}
    trimmed = 0
    for text, n in counts.items():
        key = level_key(text)
        if key in recipe.missing:
            spelt[text], absent[text.strip()] = np.nan, absent.get(text.strip(), 0) + n
            continue
        short = " ".join(text.split())
        level = recipe.levels.get(key, short)
        spelt[text] = level
        if level != short:
            merged[f"{short} = {level}"] = merged.get(f"{short} = {level}", 0) + n
        elif short != text:
            trimmed += n
    if all(text == level for text, level in spelt.items()):
        return column, []
    done = [f"{quoted(absent)} -> missing"] if absent else []
    done += [f"{quoted(merged)} by spelling"] if merged else []
    done += [f"spaces around {cells(trimmed)}"] if trimmed else []
    return column.map(spelt), done


def read_word(recipe: ColumnRecipe, column: FrameColumn) -> tuple[FrameColumn, list[str]]:
    """Cells as texts, whatever they look like."""
    found = as_word(column, None)
    absent = found.notna() & found.map(str).map(level_key).isin(recipe.missing)
    done = [f"{cells(int(absent.sum()))} -> missing"] if absent.any() else []
    return found.where(~absent, np.nan), done


def cells(n: int) -> str:
    """``1 cell``, ``12 cells``."""
    return f"{n} cell{'s' * (n != 1)}"


def quoted(counts: Mapping[str, int]) -> str:
    """``12 cells "ND"``: how many, and the most frequent of them."""
    order = sorted(counts, key=lambda text: (-counts[text], text))
    shown = ", ".join(f'"{text[:24]}"' for text in order[:SHOWN])
    more = f" and {len(order) - SHOWN} other" if len(order) > SHOWN else ""
    return f"{cells(sum(counts.values()))} {shown}{more}"


Read = Callable[[ColumnRecipe, FrameColumn], tuple[FrameColumn, list[str]]]
READS: dict[str, Read] = {
    "as it is": read_as_it_is,
    "number": read_number,
    "date": read_date,
    "level": read_level,
    "word": read_word,
}
