"""Messy files and their clean twins, made from one small table.

A case is the content of a file, the frame that a person would read from it, and words that have
to stand in "How I read your table"; or the words of the refusal.
"""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

N = 120


def base():
    """Age and weight tell who is sick; a dose, a ward, a date."""
    rng = np.random.default_rng(5)
    sick = rng.random(N) < 0.5
    visit = pd.Timestamp("2026-01-03") + pd.to_timedelta(rng.integers(0, 300, N), "D")
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, N) + 8 * sick,
            "weight": (1000 * rng.normal(62 + 9 * sick, 8)).round() / 1000,
            "dose": (rng.gamma(3, 400, N) * (1 + sick)).round(2) + 1000,
            "ward": rng.choice(["north", "south", "east"], N),
            "visit": visit.strftime("%Y-%m-%d"),
            "y": np.where(sick, "sick", "well"),
        }
    )


@dataclass
class Case:
    """One messy file."""

    content: bytes
    twin: pd.DataFrame | None  # None: refused
    says: str
    name: str = "t.csv"
    options: dict = field(default_factory=dict)


def text(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def cells(twin=None, name="t.csv", options=None, says="", **columns):
    """A file with other texts in some columns; ``twin``: the values that they stand for."""
    frame = base()
    for column, write in columns.items():
        frame[column] = [write(value, i) for i, value in enumerate(frame[column])]
    meant = base()
    for column, values in (twin or {}).items():
        meant[column] = [values(value, i) for i, value in enumerate(meant[column])]
    return Case(text(frame), meant, says, name, options or {})


def some(i, step=10):
    return i % step == 3


def holes(step=10):
    return lambda value, i: np.nan if some(i, step) else value


def written_as(word, step=10):
    return lambda value, i: word if some(i, step) else value


def month(value, form):
    return pd.Timestamp(value).strftime(form)


MONTHS = "Jan Feb März April Mai Jun Jul August September Okt"
GERMAN = MONTHS.split()


def mixed_dates(value, i):
    return month(value, ["%Y-%m-%d", "%d/%m/%Y", "%d %b %Y"][i % 3])


def lines(*extra, before=True):
    content = text(base()).decode()
    added = "".join(f"{line}\n" for line in extra)
    return (added + content if before else content + added).encode()


def grouped(value, sign=",", decimal="."):
    return f"{value:,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", sign)


SPELLINGS = ["n/a", "NA", "N.A.", "nd", "not done", "-", "?", "null", "none", "unknown", "#N/A"]
SPELLINGS += ["#DIV/0!", "NaN"]


def numbers():
    weight, dose, age = "weight", "dose", "age"
    yield "unit", cells(weight=lambda v, i: f"{v} kg", says="'kg' removed")
    yield (
        "footnotes",
        cells(dose=lambda v, i: f"{v}*" if i % 5 == 0 else v, says="-> the number itself"),
    )
    yield "unit-unspaced", cells(weight=lambda v, i: f"{v}kg", says="'kg' removed")
    yield (
        "unit-cases",
        cells(weight=lambda v, i: f"{v} {['kg', 'KG', 'Kg'][i % 3]}", says="removed"),
    )
    yield "unit-some", cells(weight=lambda v, i: f"{v} kg" if i % 2 else v, says="'kg' removed")
    yield (
        "unit-spellings",
        cells(weight=lambda v, i: f"{v} {['kg', 'kgs', 'kilo'][i % 3]}", says="'kg' removed"),
    )
    yield (
        "unit-typo",
        cells(
            weight=lambda v, i: "7O" if i == 7 else f"{v} kg",
            twin={weight: lambda v, i: np.nan if i == 7 else v},
            says='1 cell "7O" no number -> missing',
        ),
    )
    yield (
        "typo",
        cells(
            weight=lambda v, i: "12O.5" if i == 7 else v,
            twin={weight: lambda v, i: np.nan if i == 7 else v},
            says='1 cell "12O.5" no number -> missing',
        ),
    )
    yield (
        "unit-of-two",
        cells(
            weight=lambda v, i: "160 lb" if i in (7, 8) else v,
            twin={weight: lambda v, i: np.nan if i in (7, 8) else v},
            says='2 cells "160 lb" of another unit -> missing',
        ),
    )
    yield (
        "percent-and-fractions",
        cells(
            weight=lambda v, i: f"{v:.3f}%" if i % 2 else f"{v / 100:.5f}",
            twin={weight: lambda v, i: v / 100},
            says="'%' divided by 100",
        ),
    )
    yield (
        "about",
        cells(
            weight=lambda v, i: f"~{v}" if some(i) else v,
            says="-> the number itself",
        ),
    )
    yield "unit-long", cells(dose=lambda v, i: f"{v} mg/dL", says="'mg/dL' removed")
    yield "unit-degrees", cells(weight=lambda v, i: f"{v} °C", says="'°C' removed")
    yield "years", cells(age=lambda v, i: f"{v} years", says="'years' removed")
    yield "percent", cells(weight=lambda v, i: f"{v} %", says="'%' removed")
    yield "percent-unspaced", cells(age=lambda v, i: f"{v}%", says="'%' removed")
    yield "dollars", cells(dose=lambda v, i: f"${grouped(v)}", says="'$' removed")
    yield "euros", cells(dose=lambda v, i: f"{grouped(v, '.', ',')} €", says="dots part thousands")
    yield "pounds", cells(dose=lambda v, i: f"£{v}", says="'£' removed")
    yield "thousands", cells(dose=lambda v, i: grouped(v), says="commas part thousands")
    yield (
        "thousands-whole",
        cells(
            dose=lambda v, i: f"{round(v):,}", twin={dose: lambda v, i: round(v)}, says="thousands"
        ),
    )
    yield (
        "thousands-spaces",
        cells(dose=lambda v, i: grouped(v, " ", ","), says="spaces part thousands"),
    )
    yield (
        "thousands-quotes",
        cells(dose=lambda v, i: grouped(v, "'"), says="apostrophes part thousands"),
    )
    yield "decimal-comma", cells(weight=lambda v, i: str(v).replace(".", ","), says="decimal comma")
    yield (
        "bound",
        cells(
            dose=lambda v, i: "<1200" if v < 1200 else v,
            twin={dose: lambda v, i: max(v, 1200.0)},
            says="the bound itself",
        ),
    )
    yield (
        "accountants",
        cells(
            weight=lambda v, i: f"({v})" if some(i) else v,
            twin={weight: lambda v, i: -v if some(i) else v},
            says="-> negative",
        ),
    )
    yield (
        "thousand-letters",
        cells(dose=lambda v, i: f"{v / 1000:.5f}k" if i % 2 else v, says="'k' multiplied out"),
    )
    yield (
        "nd",
        cells(weight=written_as("ND"), twin={weight: holes()}, says='12 cells "ND" -> missing'),
    )
    yield (
        "na",
        cells(
            weight=written_as("NA"),
            ward=written_as("n/a"),
            twin={weight: holes(), "ward": holes()},
            says='12 cells "n/a" -> missing',
        ),
    )
    yield (
        "spellings",
        cells(
            weight=lambda v, i: SPELLINGS[i // 4 % 13] if i % 4 == 1 else v,
            twin={weight: lambda v, i: np.nan if i % 4 == 1 else v},
            says="-> missing",
        ),
    )
    yield (
        "few-words",
        cells(
            weight=lambda v, i: "see file" if i == 7 else v,
            twin={weight: lambda v, i: np.nan if i == 7 else v},
            says='1 cell "see file" no number -> missing',
        ),
    )
    yield (
        "sentinel",
        cells(age=written_as(-999), twin={age: holes()}, says="12 cells -999 -> missing"),
    )
    yield (
        "sentinel-above",
        cells(age=written_as(9999), twin={age: holes()}, says="12 cells 9999 -> missing"),
    )
    yield (
        "sentinel-text",
        cells(
            weight=lambda v, i: "-999 kg" if some(i) else f"{v} kg",
            twin={weight: holes()},
            says="12 cells -999 -> missing",
        ),
    )
    yield "infinite", cells(weight=written_as("inf"), twin={weight: holes()}, says="-> missing")
    yield (
        "own-word",
        cells(
            weight=written_as("nix"), twin={weight: holes()}, says='"nix"', options={"na": ["nix"]}
        ),
    )
    yield (
        "own-number",
        cells(
            age=written_as(-1), twin={age: holes()}, says="-1 -> missing", options={"na": ["-1"]}
        ),
    )
    yield (
        "minus-signs",
        cells(weight=lambda v, i: f"\u2212{v}", twin={weight: lambda v, i: -v}, says="weight"),
    )
    yield (
        "several",
        cells(
            weight=lambda v, i: "not done" if some(i) else f"{v} kg",
            dose=lambda v, i: f"${grouped(v)}",
            age=written_as(-999),
            twin={weight: holes(), age: holes()},
            says="-999",
        ),
    )


def dates():
    visit = "visit"
    yield "three-formats", cells(visit=mixed_dates, says="dates in 3 formats; day first (/)")
    yield (
        "american",
        cells(visit=lambda v, i: month(v, ["%m/%d/%Y", "%Y-%m-%d"][i % 2]), says="month first (/)"),
    )
    yield (
        "german",
        cells(visit=lambda v, i: month(v, ["%d.%m.%Y", "%Y-%m-%d"][i % 2]), says="day first (.)"),
    )
    yield (
        "with-times",
        cells(visit=lambda v, i: f"{v} 00:00" if i % 2 else month(v, "%d %B %Y"), says="formats"),
    )
    yield (
        "names",
        cells(visit=lambda v, i: month(v, ["%b %d, %Y", "%d-%b-%Y"][i % 2]), says="formats"),
    )
    yield (
        "date-words",
        cells(
            visit=written_as("not done"),
            twin={visit: holes()},
            says='12 cells "not done" -> missing',
        ),
    )
    yield (
        "two-digits",
        cells(visit=lambda v, i: month(v, ["%d/%m/%y", "%Y-%m-%d"][i % 2]), says="day first (/)"),
    )
    one_format = {
        "oracle": ("%d-%b-%y", "2026-01-04 to 2026-10-27"),
        "short-german": ("%d.%m.%y", "day first (.)"),
        "short-american": ("%m/%d/%y", "month first (/)"),
        "month-names": ("%b %d, %Y", "2026-01-04 to 2026-10-27"),
        "half-days": ("%m/%d/%Y 12:00 AM", "month first (/)"),
        "digits": ("%Y%m%d", "without signs between"),
    }
    for name, (form, said) in one_format.items():
        yield name, cells(visit=lambda v, i, form=form: month(v, form), says=said)
    yield (
        "german-names",
        cells(
            visit=lambda v, i: f"{int(v[8:])}. {GERMAN[int(v[5:7]) - 1]} {v[:4]}",
            says="2026-01-04 to 2026-10-27",
        ),
    )
    yield (
        "zero-dates",
        cells(
            visit=written_as("0000-00-00"),
            twin={visit: holes()},
            says='12 cells "0000-00-00" -> missing',
        ),
    )


def words():
    yield "labels", cells(y=lambda v, i: [v, v.upper(), f"{v} ", v][i % 4], says="by spelling")
    yield "labels-padded", cells(y=lambda v, i: f"  {v}" if i % 2 else v, says="spaces around")
    yield "levels", cells(ward=lambda v, i: v.title() if some(i) else v, says="by spelling")
    yield (
        "level-words",
        cells(ward=written_as("?"), twin={"ward": holes()}, says='12 cells "?" -> missing'),
    )
    yield "labels-missing", cells(y=written_as("n/a "), twin={"y": holes()}, says="12 missing")


def rows():
    total = f"Total,,{base()['dose'].sum()},,,"
    yield "total", Case(lines(total, before=False), base(), "of sums ('Total')")
    yield "grand-total", Case(lines(",,1,Grand total:,,", before=False), base(), "Grand total")
    yield "empty-rows", Case(lines(",,,,,", ",,,,,", before=False), base(), "2 rows without cells")
    yield (
        "footnote",
        Case(
            lines("Source: the clinic,,,,,", before=False),
            base(),
            "of a note ('Source: the clinic')",
        ),
    )
    names, *cells_below = lines().decode().splitlines()
    between = {
        "names-again": (names, 50, "1 row with the names of the columns again dropped"),
        "empty-between": (",,,,,", 50, "1 row without cells dropped"),
        "subtotal": ("Subtotal,,1234.5,,,", 50, "1 row of sums ('Subtotal') dropped"),
        "units-below": ("years,kg,mg,,,", 0, "1 row of units ('years', 'kg', 'mg') dropped"),
        "sums": (",".join([*map(str, base()[["age", "weight", "dose"]].sum()), "", "", ""]), N, ""),
    }
    for name, (line, at, said) in between.items():
        content = "\n".join([names, *cells_below[:at], line, *cells_below[at:], ""]).encode()
        yield name, Case(content, base(), said or "1 row of sums at the end dropped")
    yield "total-and-empty", Case(lines(total, ",,,,,", before=False), base(), "of sums")


def files():
    yield "comments", Case(lines("# exported", "# twice"), base(), "2 lines above the names")
    yield "title", Case(lines("Patients of the clinic", ""), base(), "1 line above")
    yield "sep-line", Case(b"sep=;\n" + text(base(), sep=";"), base(), "sep=;")
    semicolons = text(base(), sep=";", decimal=",")
    yield "spreadsheet", Case(semicolons, base(), "Decimal commas in 'dose', 'weight'")
    padded = text(base()).replace(b"age,weight,dose", b" age , weight,dose ")
    yield "padded-names", Case(padded, base(), "Spaces or signs around the names")
    trailing = text(base()).replace(b"\n", b",\n")
    yield "trailing-comma", Case(trailing, base(), "separator too many")
    accents = base().replace({"ward": {"north": "köln"}})
    yield "latin-1", Case(accents.to_csv(index=False).encode("latin-1"), accents, "cp1252")
    rare = base().replace({"ward": {"north": "Île", "south": "São"}})
    yield "latin-1-rare", Case(rare.to_csv(index=False).encode("latin-1"), rare, "cp1252")
    polish = base().replace({"ward": {"north": "Łódź", "south": "Wrocław"}})
    yield "cp1250", Case(polish.to_csv(index=False).encode("cp1250"), polish, "cp1250")
    folded = text(base()).replace(b"weight", b'"\nweight"', 1)
    yield "name-in-two-lines", Case(folded, base(), "around the names of columns removed")
    yield "utf-16", Case(accents.to_csv(index=False).encode("utf-16"), accents, "utf-16")
    yield "gzip", Case(gzip.compress(text(base())), base(), "t.csv.gz", "t.csv.gz")
    yield "bzip2", Case(bz2.compress(text(base())), base(), "t.csv.bz2", "t.csv.bz2")
    yield "xz", Case(lzma.compress(text(base())), base(), "t.csv.xz", "t.csv.xz")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", text(base()))
    readme = zip_of({"README.txt": b"Read this first.", "t.csv": text(base())})
    yield "zip-readme", Case(readme, base(), "t.zip", "t.zip")
    yield "zip", Case(packed.getvalue(), base(), "t.zip", "t.zip")
    yield "json", Case(base().to_json(orient="records").encode(), base(), "t.json", "t.json")
    yield "json-split", Case(base().to_json(orient="split").encode(), base(), "t.json", "t.json")
    database = sqlite3.connect(":memory:")
    base().to_sql("t", database, index=False)
    yield "sqlite", Case(database.serialize(), base(), "t.sqlite", "t.sqlite")
    database.close()


def refused():
    two_units = cells(weight=lambda v, i: f"{v} kg" if i % 2 else f"{2 * v} lb").content
    yield "two-units", Case(two_units, None, r"'kg' and 'lb'|'lb' and 'kg'.*--types weight=skip")
    yield (
        "unquoted-commas",
        Case(
            b"a,b,y\n1,5,2,5,p\n" + b"1,5,2,p\n1,5,2,5,q\n" * 20,
            None,
            "5 cells, and there are 3 names.*in quotes",
        ),
    )
    mixed = text(base(), sep=";").splitlines(keepends=True)
    mixed[4:] = [line.replace(b";", b",") for line in mixed[4:]]
    yield "two-separators", Case(b"".join(mixed), None, "sign between cells changes in the file")
    clean = text(base())
    long = clean.replace(b"\n", b",7,8\n", 31).replace(b",7,8\n", b"\n", 30)
    yield "long-row", Case(long, None, "line 31 has 8 cells, and there are 6 columns; put cells")
    quoted = clean.replace(b"north", b'"north', 1)
    yield "open-quote", Case(quoted, None, r"quote that is opened in line \d+ is not closed; close")
    yield "spaces", Case(clean.replace(b",", b"   "), None, "parted by spaces; part them by commas")
    page = base().to_html(index=False).encode()
    yield "page", Case(page, None, "a page of the web; save its table as .csv")
    yield "text-as-workbook", Case(clean, None, "not a workbook.*say --format csv", "t.xlsx")
    yield "workbook-as-text", Case(b"PK\x03\x04\0\0\xff\xfe", None, "say --format xlsx", "t.csv")
    yield "password", Case(b"\xd0\xcf\x11\xe0", None, "with a password; save it", "t.xlsx")
    lists = json.dumps({"a": [1, 2, 3], "y": [1, 2]}).encode()
    yield "uneven-lists", Case(lists, None, r"different lengths \('a' 3, 'y' 2\)", "t.json")
    yield "old-excel", Case(b"\xd0\xcf\x11\xe0", None, "save it as .xlsx", "t.xls")
    yield (
        "two-tables",
        Case(zip_of({"a.csv": text(base()), "b.csv": text(base())}), None, "--table", "t.zip"),
    )
    yield "picture", Case(b"\x89PNG\0\1\2", None, "is not a text file")


def zip_of(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


CORPUS = {
    name: case for make in (numbers, dates, words, rows, files, refused) for name, case in make()
}
