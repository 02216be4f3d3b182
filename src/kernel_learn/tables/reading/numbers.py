"""Numbers as people write them: 82.0 kg, $1,000.00, 12 %, 1.234,5, < 0.5, (300), 1.2k.

What a comma means is a question about a column, not about a cell: it parts thousands if every
cell could be so read, else it is the decimal sign.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kernel_learn.streams.readers import TableError

SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2019": "'"})
CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|Rs\.?"
CELL = re.compile(
    rf"(?P<bound><=|>=|[<>≤≥~≈]|ca\.?(?=\s)|about)?\s*(?P<sign>[+-])?\s*(?P<before>{CURRENCY})?\s*"
    r"(?P<inner>[+-])?(?P<digits>\d[\d.,' ]*\d|\d[.,]?|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    rf"\s*(?P<after>{CURRENCY}|[%‰]|[°µ]?[^\W\d_][^\s\d<>=,;:]*(?:[\^/]?[\d²³])?)?\.?",
    re.IGNORECASE,
)
GROUPED = {
    ".": re.compile(r"(\d{1,3}(?P<group>[,' ])\d{3}((?P=group)\d{3})*|\d*)(\.\d*)?"),
    ",": re.compile(r"(\d{1,3}(?P<group>[.' ])\d{3}((?P=group)\d{3})*|\d*)(,\d*)?"),
}
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
CODE = re.compile(r"0\d{3,}|\d{19,}")  # 00179, and what no number holds to its last digit
MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "bn": 1e9, "B": 1e9}
# Units that a person would have to convert before they are compared.
UNIT_WORDS = (
    "kg g mg µg ug ng lb lbs oz t st cm m mm km in inch inches ft feet mi l ml dl µl s sec min h "
    "hr hrs hour day week month year yr °c °f c f k mmol/l µmol/l mg/dl g/dl g/l mg/l ng/ml pg/ml "
    "iu/l u/l mmhg kpa pa bar psi $ € £ ¥ usd eur gbp chf jpy % ‰"
)
UNITS = set(UNIT_WORDS.split())


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written."""

    decimal: str = "."
    units: tuple[str, ...] = ()  # what is taken off, as most cells write it
    multiplies: bool = False  # units such as k and M are factors

    def value(self, text: str) -> float | None:
        """The number that a cell holds; None if it holds none."""
        parts = split_cell(text)
        if parts is None or not GROUPED[self.decimal].fullmatch(parts["digits"]):
            return None
        unit = parts["unit"]
        if unit and plain_unit(unit) not in {plain_unit(own) for own in self.units}:
            return None
        group = "," if self.decimal == "." else "."
        digits = re.sub(rf"[{group}' ]", "", parts["digits"]).replace(self.decimal, ".")
        number = float(digits + parts["power"])
        factor = MULTIPLES.get(unit, 1.0) if self.multiplies else 1.0
        return (-number if parts["sign"] == "-" else number) * factor


def split_cell(text: str) -> dict[str, str] | None:
    """bound, sign, digits, power and unit of a cell; None if it is no number with a unit."""
    text = text.translate(SIGNS).strip()
    if text.startswith("(") and text.endswith(")") and text[1:-1].strip()[:1] not in "+-":
        text = f"-{text[1:-1].strip()}"  # how accountants write what is owed
    found = CELL.fullmatch(text)
    if found is None:
        return None
    parts = {key: value or "" for key, value in found.groupdict().items()}
    parts["sign"] = parts["sign"] or parts.pop("inner")
    before, after = parts.pop("before"), parts.pop("after")
    if before and after:
        return None
    return {**parts, "unit": before or after}


def plain_unit(unit: str) -> str:
    """A unit without its case and its plural."""
    lower = unit.casefold().rstrip(".")
    return lower[:-1] if len(lower) > 3 and lower.endswith("s") else lower


def find_form(counts: Mapping[str, int], name: str, least: float) -> NumberForm | None:
    """How a column writes numbers, if so large a share of its cells does; None: it holds words.

    Refuses units that have to be converted first.
    """
    parts = {text: found for text in counts if (found := split_cell(text)) is not None}
    total = sum(counts.values())
    if not parts or sum(counts[text] for text in parts) < least * total:
        return None
    if any(CODE.fullmatch(text.strip()) for text in parts):
        return None
    units = find_units([own["unit"] for own in parts.values()])
    kinds = {plain_unit(unit) for unit in units}
    multiplies = are_factors(units, bare=any(not own["unit"] for own in parts.values()))
    if len(kinds) > 1 and not multiplies:
        check_alike(name, units)
        return None
    form = NumberForm(find_decimal([own["digits"] for own in parts.values()]), units, multiplies)
    read = sum(counts[text] for text in parts if form.value(text) is not None)
    return form if read >= least * total else None


def find_units(written: Iterable[str]) -> tuple[str, ...]:
    """The units of cells, each in the spelling that most cells have."""
    by_kind: dict[str, Counter[str]] = {}
    for unit in written:
        if unit:
            by_kind.setdefault(plain_unit(unit), Counter())[unit] += 1
    return tuple(max(sorted(own), key=own.__getitem__) for own in by_kind.values())


def are_factors(units: Collection[str], *, bare: bool) -> bool:
    """Whether units such as k and M multiply: there are several, or cells without."""
    return bool(units) and all(unit in MULTIPLES for unit in units) and (bare or len(units) > 1)


def check_alike(name: str, units: Collection[str]) -> None:
    """Refuse a column of units that a person would have to convert."""
    if {plain_unit(unit) for unit in units} <= UNITS:
        raise TableError(
            f"Column {name!r} holds {' and '.join(map(repr, units))}: its numbers are not alike. "
            f"Convert them to one unit, or leave the column out with --types {name}=skip."
        )


def find_decimal(digits: Iterable[str]) -> str:
    """The decimal sign of a column: a comma where cells cannot be read with a point."""
    shown = [own for own in digits if "," in own]
    if not shown:
        many = [own for own in digits if own.count(".") > 1]
        return "," if many else "."
    if any("." in own and own.rfind(".") < own.rfind(",") for own in shown):
        return ","
    if any("." in own for own in shown):
        return "."
    return "." if all(THOUSANDS.fullmatch(own) for own in shown) else ","
