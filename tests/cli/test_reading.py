"""``kernel-learn read``, what ``fit`` says of its table, and ``predict``, which reads alike."""

import json
import sqlite3

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from cli.transcript import unfolded  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402
from kernel_learn.tables.reading.showing import shown_columns  # noqa: E402
from kernel_learn.tables.reading.table_reading import TableReading  # noqa: E402
from messy_files import base, mixed_dates  # noqa: E402

FAST = ["--set", "quality=fast", "--set", "max_members=2"]


def run(*words, code=0, stdin=None):
    done = testing.CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout, unfolded(done.stderr)


def messy():
    frame = base()
    return frame.assign(
        weight=[f"{v} kg" if i % 10 else "ND" for i, v in enumerate(frame["weight"])],
        visit=[mixed_dates(v, i) for i, v in enumerate(frame["visit"])],
        y=[v.upper() if i % 7 == 0 else v for i, v in enumerate(frame["y"])],
        zip=[f"{10000 + i % 9}" for i in range(len(frame))],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    messy().to_csv(folder / "messy.csv", index=False)
    run("fit", folder / "messy.csv", "-t", "y", "-o", folder / "m.skops", *FAST)
    return folder


TRANSCRIPT = """\
How I read your table: messy.csv, 120 rows, 7 columns.
  age    number   20 to 87
  weight number   43.134 to 85.876         12 missing
         'kg' removed; 12 cells "ND" -> missing
  dose   number   1125.65 to 6988.15
  ward   category 3: east, north, south
  visit  date     2026-01-04 to 2026-10-27  dates in 3 formats; day first (/)
  y      target   2: sick, well
         18 cells "SICK = sick", "WELL = well" by spelling
  zip    number   10000 to 10008
"""


def test_read_says_how(folder, monkeypatch):
    monkeypatch.chdir(folder)
    out, err = run("read", "messy.csv", "-t", "y")
    assert out == TRANSCRIPT and err == ""
    _, err = run("fit", "messy.csv", "-t", "y", "-o", "again.skops", *FAST)
    assert err.startswith(unfolded(out).rstrip())  # the head of fit is the same page


def test_read_as_json(folder):
    values = json.loads(run("read", folder / "messy.csv", "-t", "y", "--json")[0])
    lines = {line["name"]: line for line in values["columns"]}
    assert values["rows"] == 120 and lines["weight"]["missing"] == 12
    assert lines["weight"]["done"] == ["'kg' removed", '12 cells "ND" -> missing']
    assert lines["y"]["kind"] == "target"


def test_types_are_what_is_said(folder):
    words = ["read", folder / "messy.csv", "-t", "y", "--json"]
    kinds = {
        line["name"]: line["kind"]
        for line in json.loads(run(*words, "--types", "zip=category,visit=skip,ward=text")[0])[
            "columns"
        ]
    }
    assert kinds["zip"] == "category" and kinds["visit"] == "left out" and kinds["ward"] == "text"
    fit = ["fit", folder / "messy.csv", "-t", "y", "-o", folder / "types.skops", *FAST]
    run(*fit, "--types", "zip=category", "--types", "visit=skip")
    model = kl.load(folder / "types.skops")
    assert model.columns_.kinds["zip"] == "category" and "visit" in model.columns_.dropped
    run("predict", folder / "types.skops", folder / "messy.csv", "-o", folder / "p.csv")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--types", "gone=number"], "no column 'gone'"),
        (["--types", "age=money"], "choose one of number, category, date, text, skip"),
        (["--types", "age"], "write name=type"),
        (["--types", "age=date"], "holds numbers, which are not dates"),
        (["--types", "ward=date"], "no cell of column 'ward' is a date"),
        (["--types", "ward=number"], "no cell of column 'ward' is a number"),
        (["--na", "x", "--no-clean"], "leave it out, or --na"),
        (["--sheet", "a"], "leave out --sheet"),
        (["--sheet", "a", "--table", "b"], "give one"),
        (["--encoding", "klingon"], "is not an encoding"),
        (["-t", "gone"], "no column 'gone' (--target)"),
    ],
)
def test_wrong_options_are_one_sentence(words, said, folder):
    _, err = run("read", folder / "messy.csv", *words, code=3)
    assert said in err and err.startswith("Error: ")


def test_a_file_without_names_is_told(folder, tmp_path):
    base().to_csv(tmp_path / "t.csv", index=False, header=False)
    out, _ = run("read", tmp_path / "t.csv")
    assert "The first line looks like cells; the names of the columns may be missing." in unfolded(
        out
    )
    _, err = run("read", tmp_path / "t.csv", "-t", "y", code=3)
    assert "put the names of the columns above it." in err
    _, err = run("read", folder / "messy.csv", "-t", "z", code=3)
    assert "no column 'z'" in err and "looks like cells" not in err
    waves = pd.DataFrame(np.eye(30), columns=[f"{400.5 + i}" for i in range(30)])
    waves.to_csv(tmp_path / "w.csv", index=False)
    assert "looks like cells" not in run("read", tmp_path / "w.csv")[0]


def test_read_names_leaks(tmp_path):
    rng = np.random.default_rng(0)
    frame = base().assign(price=rng.normal(size=120))
    frame = frame.assign(code=np.where(frame["y"] == "sick", "X", "Y"), cents=100 * frame["price"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    for target, leak in (("y", "code"), ("price", "cents")):
        _, err = run("read", tmp_path / "t.csv", "-t", target)
        assert f"Column '{leak}' alone predicts the target" in err and err.count("alone") == 1
    assert run("read", tmp_path / "t.csv")[1] == ""


def test_wide_letters_are_aligned(tmp_path):
    base().rename(columns={"age": "体重の測定値です"}).to_csv(tmp_path / "t.csv", index=False)
    lines = run("read", tmp_path / "t.csv")[0].splitlines()[1:]
    places = {shown_columns(line[: line.index(" number")]) for line in lines if " number" in line}
    assert places == {2 + 16}


def test_no_clean_takes_cells_as_they_stand(folder):
    words = ["read", folder / "messy.csv", "-t", "y", "--json", "--no-clean"]
    lines = {line["name"]: line for line in json.loads(run(*words)[0])["columns"]}
    assert lines["weight"]["kind"] != "number" and lines["y"]["values"].startswith("4:")
    done = {
        words for line in lines.values() if line["kind"] != "left out" for words in line["done"]
    }
    assert done == {"hardly any level repeats"}  # which is nothing that was done


def test_sheets_and_tables(folder, tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "b.xlsx") as book:
        pd.DataFrame({"note": ["see below"]}).to_excel(book, sheet_name="notes", index=False)
        messy().to_excel(book, sheet_name="data", index=False)
    out, _ = run("read", tmp_path / "b.xlsx", "--sheet", "data")
    assert "120 rows, 7 columns" in " ".join(out.split())
    with sqlite3.connect(tmp_path / "b.db") as database:
        messy().to_sql("one", database, index=False)
        messy().to_sql("two", database, index=False)
    database.close()
    assert "120 rows" in run("read", tmp_path / "b.db", "--table", "two")[0]
    assert "name one with --table" in run("read", tmp_path / "b.db", code=3)[1]


def test_predict_reads_new_files_as_the_model_was_taught(folder):
    """Clean cells, and the same cells in other writing, are the same rows."""
    model = kl.load(folder / "m.skops")
    assert TableReading.from_json(model.reading_).columns["weight"].number.units == ("kg",)
    clean = base().assign(zip=[10000 + i % 9 for i in range(120)]).drop(columns="y")
    clean.loc[::10, "weight"] = np.nan
    clean.to_csv(folder / "clean.csv", index=False)
    messy().drop(columns="y").to_csv(folder / "new.csv", index=False)
    said = []
    for name in ("clean", "new"):
        words = ["predict", folder / "m.skops", folder / f"{name}.csv", "--proba"]
        run(*words, "-o", folder / f"{name}-out.csv")
        said.append((folder / f"{name}-out.csv").read_text())
    assert said[0] == said[1]


def test_a_file_of_a_year_ago_reads_as_it_did(folder):
    """A model without a reading takes cells as they stand."""
    model = kl.load(folder / "m.skops")
    del model.reading_
    kl.save(model, folder / "old.skops")
    words = ["predict", folder / "old.skops", folder / "messy.csv", "-o", folder / "p.csv"]
    assert "it held numbers when the model was fitted" in run(*words, code=3)[1]


def test_at_most_25_lines_and_a_summary(tmp_path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(60, 80))).add_prefix("a_long_name_of_a_gene_")
    wide["unit"] = [f"{i} kg" for i in range(60)]
    wide["y"] = ["p", "q"] * 30
    wide.to_csv(tmp_path / "w.csv", index=False)
    lines = run("read", tmp_path / "w.csv", "-t", "y")[0].splitlines()
    assert len(lines) <= 30 and all(len(line) <= 80 for line in lines)
    assert "and 57 more: 57 numbers; their cells are unchanged." in lines[-1]
    assert any("'kg' removed" in line for line in lines)


def test_predict_says_what_it_has_not_met(folder):
    new = messy().drop(columns="y")
    new["ward"] = ["NORTH"] * 60 + ["roof"] * 60
    new["dose"] = 1000 * new["dose"]
    new.to_csv(folder / "strange.csv", index=False)
    words = ["predict", folder / "m.skops", folder / "strange.csv", "-o", folder / "p.csv"]
    _, err = run(*words, "--notes")
    assert "60 of 120 cells of 'ward' hold levels that the model does not know: 'roof'." in err
    assert "spelled differently than in training, and read alike: 'NORTH = north'." in err
    assert "All 120 cells of 'dose'" in err and "is it another unit?" in err
    note = pd.read_csv(folder / "p.csv")["note"]
    assert note[0] == "dose outside its range; unlike any training row"
    assert note[70] == "dose outside its range; ward new to the model; unlike any training row"
    values = json.loads(run(*words, "--json")[0])
    assert len(values["warnings"]) == 4 and "note" not in pd.read_csv(folder / "p.csv")


def test_notes_of_the_table_stand_beside_ours(folder):
    new = messy().drop(columns="y").assign(note=[f"n{i}" for i in range(120)])
    new["dose"] = 1000 * new["dose"]
    new.to_csv(folder / "notes.csv", index=False)
    words = ["predict", folder / "m.skops", folder / "notes.csv", "-o", folder / "p.csv"]
    _, err = run(*words, "--notes")
    found = pd.read_csv(folder / "p.csv")
    assert found["note"].tolist() == new["note"].tolist() and "not copied" not in err
    assert found["note (kernel-learn)"].str.contains("dose outside its range").all()


def test_a_row_of_sums_is_not_predicted(folder):
    text = messy().drop(columns="y").to_csv(index=False) + "Total,,,,,\n"
    (folder / "sums.csv").write_text(text)
    words = ["predict", folder / "m.skops", folder / "sums.csv", "-o", folder / "p.csv"]
    assert "1 row of sums ('Total') at the end dropped." in run(*words)[1]
    assert len(pd.read_csv(folder / "p.csv")) == 120
