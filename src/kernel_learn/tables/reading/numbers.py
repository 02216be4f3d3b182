"""Numbers as people write them: 82.0 kg, $1,000.00, 12 %, 1.234,5, < 0.5, (300), 1.2k.

What a comma means is a question about a column, not about a cell: it parts thousands if every
cell could be so read, else it is the decimal sign.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from kernel_learn.streams.readers import TableError
from kernel_learn.streams.readers.delimited import are_short_codes

SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00a0": " ", "\u202f": " ", "\u2019": "'"})
CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|Rs\.?"
TIMES = "[x*\u00d7]"
CELL = re.compile(
    rf"(?P<bound><=|>=|[<>≤≥~≈]|ca\.?(?=\s)|about)?\s*(?P<sign>[+-])?\s*(?P<before>{CURRENCY})?\s*"
    r"(?P<inner>[+-])?(?P<digits>\d[\d.,' ]*\d|\d[.,]?|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    rf"\s*(?P<after>{CURRENCY}|[%‰]|(?:{TIMES} ?)?10\^\d+/[^\W\d_]+|"
    r"[°µ]?[^\W\d_][^\s\d<>=,;:*†‡]*(?:[\^/]?[\d²³])?)?\.?(?P<mark> ?[*†‡]{1,3})?",
    re.IGNORECASE,
)
GROUPED = {
    ".": re.compile(r"(\d{1,3}(?P<group>[,' ])\d{3}((?P=group)\d{3})*|\d*)(\.\d*)?"),
    ",": re.compile(r"(\d{1,3}(?P<group>[.' ])\d{3}((?P=group)\d{3})*|\d*)(,\d*)?"),
}
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
CODE = re.compile(r"0\d{3,}|\d{19,}")  # 00179, and what no number holds to its last digit
MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "bn": 1e9, "B": 1e9, "%": 0.01}
# Units that a person would have to convert before they are compared, in all of their spellings.
SAME_UNIT = """kg kilo kilogram; g gr gram; mg; µg ug mcg; ng; lb pound; oz ounce; t ton tonne
st stone; cm; m meter metre; mm; km; in inch inche; ft foot feet; mi mile; l liter litre; ml; dl
µl ul; s sec second; min minute; h hr hour; d day; week wk; month mo; year yr y yo; °c c celsius
°f f; k; mmol/l; µmol/l umol/l; mg/dl; g/dl; g/l; mg/l; ng/ml; pg/ml; iu/l; u/l; 10^9/l; 10^12/l
bpm /min; mmhg; kpa; pa; bar; psi; $ usd dollar; € eur euro; £ gbp; ¥ jpy; ₹ rs; chf
% percent pct; ‰"""
SPELT_AS = {
    own.casefold(): words.split()[0].casefold()
    for words in re.split("[;\n]", SAME_UNIT)
    for own in words.split()
}
# So large a share of the median beside that of cells without sign shows that these are fractions.
PERCENT_OF = 10.0


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
    """bound, sign, digits, power, unit and footnote mark of a cell; None if it is no number."""
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
    """A unit without its case, its plural and its spelling."""
    lower = re.sub(rf"^{TIMES} ?(?=10\^)", "", unit.casefold().rstrip("."))
    single = lower[:-1] if len(lower) > 2 and lower.endswith("s") else lower
    if single in SPELT_AS or lower in SPELT_AS:
        return SPELT_AS.get(single) or SPELT_AS[lower]
    return single if len(lower) > 3 else lower


def find_form(
    counts: Mapping[str, int], name: str, least: float, *, asked: bool = False
) -> NumberForm | None:
    """How a column writes numbers, if so large a share of its cells does; None: it holds words.

    A few cells with a unit that is none, or that all others lack, are no numbers. Refuses units
    that have to be converted first. ``asked``: numbers, whatever their units and however few.
    """
    parts = {text: found for text in counts if (found := split_cell(text)) is not None}
    total = sum(counts.values())
    share = 0.0 if asked else least
    if not parts or sum(counts[text] for text in parts) < share * total:
        return None
    if not asked and (are_short_codes(parts) or any(CODE.fullmatch(own.strip()) for own in parts)):
        return None
    few = few_units(Counter({text: counts[text] for text in parts}), 1 - least)
    kept = {text: own for text, own in parts.items() if plain_unit(own["unit"]) not in few}
    units = find_units([own["unit"] for own in kept.values()])
    decimal = find_decimal([own["digits"] for own in kept.values()])
    multiplies = are_factors(units, kept, decimal)
    if len(units) > 1 and not multiplies and not asked:
        check_alike(name, units)
        return None
    form = NumberForm(decimal, units, multiplies)
    read = sum(counts[text] for text in kept if form.value(text) is not None)
    return form if read and read >= share * total else None


def few_units(cells: Counter[str], share: float) -> set[str]:
    """Kinds of units that so small a share of the cells has, and that are not to be trusted.

    These are typing errors, such as 7O, and units where all other cells have none: whether these
    are meant in the same unit nobody knows.
    """
    units = {text: (split_cell(text) or {}).get("unit", "") for text in cells}
    by_kind: Counter[str] = Counter()
    for text, unit in units.items():
        by_kind[plain_unit(unit)] += cells[text]
    most, bare = share * cells.total(), by_kind.pop("", 0)
    factors = {plain_unit(unit) for unit in units.values() if unit in MULTIPLES}
    unknown = {kind for kind in by_kind if kind not in SPELT_AS and kind not in factors}
    if sum(by_kind[kind] for kind in unknown) > most:
        unknown = set()
    known = set(by_kind) - unknown - factors
    is_odd = bare and sum(by_kind[kind] for kind in known) <= most
    return unknown | known if is_odd else unknown


def find_units(written: Iterable[str]) -> tuple[str, ...]:
    """The units of cells, each in the spelling that most cells have."""
    by_kind: dict[str, Counter[str]] = {}
    for unit in written:
        if unit:
            by_kind.setdefault(plain_unit(unit), Counter())[unit] += 1
    return tuple(max(sorted(own), key=own.__getitem__) for own in by_kind.values())


def are_factors(
    units: Collection[str], cells: Mapping[str, Mapping[str, str]], decimal: str
) -> bool:
    """Whether units multiply: k and M where there are several, or cells without.

    So does %, if cells without are fractions: 45% beside .45.
    """
    if not units or not all(unit in MULTIPLES for unit in units):
        return False
    form = NumberForm(decimal, tuple(units))
    bare = [form.value(text) or 0.0 for text, own in cells.items() if not own["unit"]]
    if "%" not in units:
        return bool(bare) or len(units) > 1
    signed = [form.value(text) or 0.0 for text, own in cells.items() if own["unit"] == "%"]
    if len(units) > 1 or not bare:
        return False
    middle = median(map(abs, bare))
    return middle <= 1.0 and median(map(abs, signed)) >= PERCENT_OF * middle


def check_alike(name: str, units: Collection[str]) -> None:
    """Refuse a column of units that a person would have to convert."""
    if all(plain_unit(unit) in SPELT_AS for unit in units):
        raise TableError(
            f"Column {name!r} holds {' and '.join(map(repr, units))}: its numbers cannot be "
            "compared. Convert them to one unit, or leave the column out with --types "
            f"{name}=skip."
        )


def check_same_unit(name: str, old: NumberForm, new: NumberForm) -> None:
    """Refuse cells of another unit than those that a model was fitted to."""
    known = {plain_unit(unit) for unit in old.units}
    other = [unit for unit in new.units if plain_unit(unit) not in known]
    if known and other:
        raise TableError(
            f"Column {name!r} holds {other[0]!r}, and {old.units[0]!r} when the model was fitted: "
            f"its numbers cannot be compared. Convert them to {old.units[0]!r}."
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
