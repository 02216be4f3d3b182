"""Every kind of file gives the table that was written to it; what cannot be read says the fix."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import types
import zipfile

import pytest

pd = pytest.importorskip("pandas")

from kernel_learn.streams.readers import TableError, TableFiles, read_table  # noqa: E402
from kernel_learn.streams.readers.encodings import guess_encoding  # noqa: E402
from kernel_learn.streams.readers.layout import find_layout  # noqa: E402

FRAME = pd.DataFrame(
    {
        "größe": [1.5, 2.25, None, 4.0],
        "count": [3, 1, 4, 1],
        "ort": ["Köln", "Orléans", "Málaga", "Ærø"],
    }
)
TEXT = FRAME.to_csv(index=False)


def assert_same(found, expected=FRAME):
    assert list(found.columns) == list(expected.columns)
    for name in expected:
        for own, other in zip(found[name], expected[name], strict=True):
            assert own == other or (pd.isna(own) and pd.isna(other)), name


def zipped(*members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


CONTENTS = {
    "t.csv": TEXT.encode(),
    "marked.csv": TEXT.encode("utf-8-sig"),
    "latin.csv": TEXT.encode("latin-1"),
    "windows.csv": TEXT.encode("cp1252"),
    "utf16.csv": TEXT.encode("utf-16"),
    "utf16-unmarked.csv": TEXT.encode("utf-16-le"),
    "utf32.csv": TEXT.encode("utf-32"),
    "t.csv.gz": gzip.compress(TEXT.encode()),
    "t.csv.bz2": bz2.compress(TEXT.encode()),
    "t.csv.xz": lzma.compress(TEXT.encode()),
    "latin.csv.xz": lzma.compress(TEXT.encode("latin-1")),
    "not-packed.csv.gz": TEXT.encode(),
    "t.zip": zipped(("data/t.csv", TEXT), ("__MACOSX/._t.csv", "x"), ("data/.DS_Store", "x")),
    "records.json": FRAME.to_json(orient="records").encode(),
    "columns.json": FRAME.to_json(orient="columns").encode(),
    "wrapped.json": json.dumps({"meta": 1, "rows": json.loads(FRAME.to_json(orient="records"))})
    .encode(),
    "lines.jsonl.bz2": bz2.compress(FRAME.to_json(orient="records", lines=True).encode()),
    "sep.csv": ("sep=;\n" + FRAME.to_csv(index=False, sep=";")).encode(),
    "comments.csv": ("# measured on Monday\n# by hand, twice\n" + TEXT).encode(),
    "title.csv": ("Results of the clinic\n\n" + TEXT).encode(),
    "title-commas.csv": ("Results of the clinic,,\n,,\n" + TEXT).encode(),
    "padded.csv": TEXT.replace("größe,count,ort", " größe , count,  ort ").encode(),
    "hash.csv": ("#" + TEXT).encode(),
    "trailing.csv": TEXT.replace("\n", ",\n").replace("ort,", "ort").encode(),
    "trailing-names.csv": TEXT.replace("\n", ",\n").encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENTS)
def test_files_give_the_table_back(name, tmp_path):
    (tmp_path / name).write_bytes(CONTENTS[name])
    assert_same(read_table([str(tmp_path / name)]))
    parts = list(TableFiles([str(tmp_path / name)]).blocks(2))
    assert [len(part) for part in parts] == [2, 2]
    assert_same(pd.concat(parts))


SAID = {
    "latin.csv": "cp1252",
    "utf16.csv": "utf-16",
    "sep.csv": "sep=;",
    "comments.csv": "2 lines above the names",
    "title.csv": "1 line above",
    "padded.csv": "spaces or signs around the names",
    "trailing.csv": "separator too many",
    "wrapped.json": "under 'rows'",
}


@pytest.mark.parametrize("name", SAID)
def test_what_was_done_to_a_file_is_noted(name, tmp_path):
    (tmp_path / name).write_bytes(CONTENTS[name])
    table = TableFiles([str(tmp_path / name)])
    table.read()
    assert any(SAID[name] in note for note in table.notes), table.notes


def test_a_plain_file_has_no_notes(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT, encoding="utf-8")
    table = TableFiles([str(tmp_path / "t.csv")])
    table.read()
    assert table.notes == []


def test_workbooks(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="data", index=False, startrow=2)
        book.sheets["data"].cell(1, 1, "Results of the clinic")
        pd.DataFrame({"a": [1], "b": ["x"]}).to_excel(book, sheet_name="more", index=False)
    table = TableFiles([str(path)])
    assert_same(table.read())
    assert any("'more' (--sheet)" in note for note in table.notes)
    assert any("1 row above" in note for note in table.notes)
    assert_same(TableFiles([str(path)], part="more").read(), pd.DataFrame({"a": [1], "b": ["x"]}))
    with pytest.raises(TableError, match=r"no sheet 'none' .*'data', 'more'"):
        TableFiles([str(path)], part="none").read()


def test_cells_of_several_types_in_a_workbook_are_those_of_a_csv_file(tmp_path):
    pytest.importorskip("openpyxl")
    when = pd.Timestamp("2026-03-04")
    mixed = pd.DataFrame({"dose": [1, 2.5, "ND"], "on": [when, when, when], "n": [1, 2, 3]})
    mixed.to_excel(tmp_path / "t.xlsx", index=False)
    found = read_table([str(tmp_path / "t.xlsx")])
    assert found["dose"].tolist() == ["1", "2.5", "ND"]
    assert found["on"].dtype.kind == "M" and found["n"].dtype.kind == "i"


def test_databases(tmp_path):
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as database:
        FRAME.to_sql("patients", database, index=False)
    database.close()
    assert_same(read_table([str(path)]))
    with sqlite3.connect(path) as database:
        FRAME.iloc[:2].to_sql("odd 'name\"", database, index=False)
    database.close()
    with pytest.raises(TableError, match=r"holds 2 tables.*name one with --table"):
        read_table([str(path)])
    assert_same(TableFiles([str(path)], part="odd 'name\"").read(), FRAME.iloc[:2])
    (tmp_path / "p.db.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert_same(TableFiles([str(tmp_path / "p.db.gz")], part="patients").read())


def test_stata(tmp_path):
    frame = FRAME.rename(columns={"größe": "size"}).assign(ward=pd.Categorical(list("abab")))
    frame.to_stata(tmp_path / "t.dta", write_index=False, version=118)
    assert_same(read_table([str(tmp_path / "t.dta")]), frame.astype({"ward": object}))


def test_spss(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = FRAME.rename(columns={"größe": "size"})
    pyreadstat.write_sav(frame, tmp_path / "t.sav")
    assert_same(read_table([str(tmp_path / "t.sav")]), frame)


def given_by(monkeypatch, content):
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))


@pytest.mark.parametrize(
    "name", ["t.csv", "utf16.csv", "t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.zip"]
)
def test_standard_input_is_unpacked(name, monkeypatch):
    given_by(monkeypatch, CONTENTS[name])
    assert_same(read_table(["-"]))


@pytest.mark.parametrize(
    "kind", ["parquet", "xlsx", "sqlite", "json", "jsonl", "dta", "dta-118", "sav", "sav.gz"]
)
def test_standard_input_shows_its_format(kind, monkeypatch, tmp_path):
    path, frame = tmp_path / f"t.{kind}", FRAME
    if kind.startswith("json"):
        FRAME.to_json(path, orient="records", lines=kind == "jsonl")
    elif kind.startswith(("dta", "sav")):
        frame = FRAME.rename(columns={"größe": "size"})
        if kind.startswith("dta"):
            frame.to_stata(path, write_index=False, version=118 if kind == "dta-118" else 114)
        else:
            pytest.importorskip("pyreadstat").write_sav(frame, tmp_path / "t.sav")
            content = (tmp_path / "t.sav").read_bytes()
            path.write_bytes(gzip.compress(content) if kind == "sav.gz" else content)
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        FRAME.to_parquet(path)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        FRAME.to_excel(path, index=False)
    else:
        with sqlite3.connect(path) as database:
            FRAME.to_sql("t", database, index=False)
        database.close()
    given_by(monkeypatch, path.read_bytes())
    assert_same(read_table(["-"]), frame)


WORDS = {
    "cp1252": "São Paulo;Île;Ísafjörður;Ñuñoa;Ângela;Weiß;Öland;sœur;Guimarães;Camões;città;NÃO;"
    "12,50\xa0€;cm²;±5 µg;£5;“a”…",
    "cp1250": "Łódź;Wrocław;Győr;Timişoara",
    "cp1251": "Москва;Казань",
}


@pytest.mark.parametrize(
    ("encoding", "word"), [(own, word) for own, words in WORDS.items() for word in words.split(";")]
)
def test_a_single_word_shows_its_encoding(encoding, word):
    text = "id,city,x\n" + "".join(f"{i},{['Lima', word][i % 2]},{i / 7:.3f}\n" for i in range(99))
    assert text.encode(encoding).decode(guess_encoding(text.encode(encoding))) == text


def test_an_encoding_that_is_given_is_taken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,ł\n2,ż\n".encode("iso8859_2"))
    assert TableFiles([str(path)], encoding="iso8859_2").read()["b"].tolist() == ["ł", "ż"]
    with pytest.raises(TableError, match=r"not a text in utf-8.*--encoding"):
        TableFiles([str(path)], encoding="utf-8").read()
    with pytest.raises(TableError, match="is not an encoding"):
        TableFiles([str(path)], encoding="klingon").read()


REFUSED = {
    "t.xls": (b"\xd0\xcf\x11\xe0", "save it as .xlsx"),
    "t.ods": (b"PK", "save it as .xlsx or .csv"),
    "two.zip": (zipped(("a.csv", TEXT), ("b.csv", TEXT)), "2 files, 'a.csv', 'b.csv'.*--table"),
    "none.zip": (zipped(), "holds no file"),
    "half.json": (b'[{"a": 1},', "is not JSON"),
    "lines.json": (b'{"a": 1}\n{"a": 2}\n', "--format jsonl"),
    "word.json": (b'"a"', "holds no table"),
    "text.sqlite": (b"a,b\n1,2\n", "is not an SQLite file"),
    "picture.csv": (b"\x89PNG\0\0\1\2", "is not a text file"),
    "commas.csv": (b"a,y\n1,5,p\n1,5,q\n", "3 cells, and there are 2 names.*in quotes"),
    "late.csv": (b"a,b\n" + b"1,2,\n" * 90 + b"1,2,3\n", "row 90 has a cell, '3', beyond"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_says_the_fix(name, tmp_path):
    content, words = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=words) as error:
        read_table([str(tmp_path / name)])
    assert "\n" not in str(error.value)


def test_parts_of_what_has_none_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match="leave out --sheet and --table"):
        TableFiles([str(tmp_path / "t.csv")], part="x")


@pytest.mark.parametrize(
    ("text", "skip", "names"),
    [
        ("a,b\n1,2\n", 0, None),
        ("a\n1,5\n2,5\n", 0, None),  # one name: no title, as what follows are no names
        ("#CHROM\tPOS\n1\t2\n", 0, ["CHROM", "POS"]),
        ("# made by hand\na,b\n1,2\n", 1, None),
        ("a ,b\n1,2\n", 0, ["a", "b"]),
        ("a, a\n1,2\n", 0, None),  # taken off, two would have one name
        (",a\n1,2\n", 0, None),  # row numbers of R
    ],
)
def test_where_the_table_begins(text, skip, names):
    found = find_layout(text)
    assert (found.skip, found.names) == (skip, names)


def test_names_of_rows_have_no_name(tmp_path):
    """As R writes them: every row has one cell more, and it is another one."""
    (tmp_path / "r.csv").write_text("a,y\nr1,1,p\nr2,2,q\n")
    assert read_table([str(tmp_path / "r.csv")]).to_numpy().tolist() == [[1, "p"], [2, "q"]]
