"""Columns that are copied leave as they came; labels are no formulas."""

import csv
import io
import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("skops")
testing = pytest.importorskip("typer.testing")

import kernel_learn as kl  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402
from kernel_learn.tables import TableModel  # noqa: E402
from kernel_learn.tables.columns import Columns  # noqa: E402

rng = np.random.default_rng(0)
N = 60
numbers = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
CELLS = ["100000000007", "", "00012", " 7 ", "1.50", "NA", "1e5", "9007199254740993", "x;,y", "=1"]


def run(*words, stdin=None):
    done = testing.CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def save_model(path, labels=("low", "high")):
    y = np.array(labels, dtype=object)[(numbers["a"] > 0).astype(int)]
    model = TableModel(kl.KernelDiscriminant())
    columns = Columns({"a": "number", "b": "number"}, ids=["id"])
    kl.save(model.fit(numbers, y, columns=columns), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_texts_leave_as_they_came(suffix, tmp_path):
    model, sep = save_model(tmp_path / "m.skops"), "," if suffix == ".csv" else "\t"
    text = io.StringIO()
    writer = csv.writer(text, delimiter=sep)
    writer.writerow(["a", "id", "b"])
    writer.writerows([0.5 * i, cell, i] for i, cell in enumerate(CELLS))
    (tmp_path / f"new{suffix}").write_text(text.getvalue())
    run("predict", model, tmp_path / f"new{suffix}", "-o", tmp_path / f"p{suffix}")
    with (tmp_path / f"p{suffix}").open(newline="") as file:
        found = [row["id"] for row in csv.DictReader(file, delimiter=sep)]
    assert found == CELLS


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".jsonl"])
@pytest.mark.parametrize("output", [".csv", ".parquet", ".jsonl"])
def test_large_numbers_beside_a_missing_one(suffix, output, tmp_path):
    """As floats, all but the first of these lose digits."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pyarrow.feather")
    ids = [100000000007, None, 9007199254740993, 12]
    frame = numbers.iloc[:4].assign(id=pd.array(ids, dtype="Int64"))
    path = tmp_path / f"new{suffix}"
    if suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:  # without pandas' own note of its types
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        write = {".parquet": pa.parquet.write_table, ".feather": pa.feather.write_feather}[suffix]
        write(table, path)
    run("predict", save_model(tmp_path / "m.skops"), path, "-o", tmp_path / f"p{output}")
    if output == ".csv":
        lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
        found = [line.partition(",")[0] for line in lines]
        assert found == ["100000000007", "", "9007199254740993", "12"]
    elif output == ".parquet":
        table = pa.parquet.read_table(tmp_path / "p.parquet")
        assert table.column("id").to_pylist() == ids
    else:
        lines = (tmp_path / "p.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == ids


def test_floats_are_not_rounded(tmp_path):
    """Of a format that knows no whole numbers."""
    ids = [100000000007.0, 0.1234567890123, 12.0]
    lines = [f"{a},{b},{i!r}" for (a, b), i in zip(numbers.to_numpy(), ids, strict=False)]
    attributes = "".join(f"@attribute {name} numeric\n" for name in ("a", "b", "id"))
    (tmp_path / "new.arff").write_text(f"@relation r\n{attributes}@data\n" + "\n".join(lines))
    out = run("predict", save_model(tmp_path / "m.skops"), tmp_path / "new.arff")
    found = [line.partition(",")[0] for line in out.splitlines()[1:]]
    assert found == ["100000000007", "0.1234567890123", "12"]


def test_a_table_without_the_identifier(tmp_path):
    numbers.to_csv(tmp_path / "new.csv", index=False)
    out = run("predict", save_model(tmp_path / "m.skops"), tmp_path / "new.csv")
    assert out.splitlines()[0] == "prediction"


@pytest.mark.parametrize("start", "=+-@\t")
def test_labels_that_a_spreadsheet_would_run(start, tmp_path):
    evil = f'{start}HYPERLINK("http://x")'
    model = save_model(tmp_path / "m.skops", ("plain", evil))
    numbers.to_csv(tmp_path / "new.csv", index=False)
    for words, expected in [((), f"'{evil}"), (("--raw",), evil)]:
        out = run("predict", model, tmp_path / "new.csv", *words)
        assert {row["prediction"] for row in csv.DictReader(io.StringIO(out))} == {
            "plain",
            expected,
        }
    run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "p.jsonl")
    assert "'" not in (tmp_path / "p.jsonl").read_text()


def test_no_text_of_an_answer_is_a_formula(tmp_path):
    """Sets of labels and names of columns, too; --raw leaves them."""
    frame = numbers.rename(columns={"a": "=a"})
    y = np.where(frame["=a"] > 0, "=yes", "@no")
    fast = kl.KernelClassifier(quality="fast", max_members=1)
    kl.save(TableModel(fast).fit(frame, y), tmp_path / "m.skops")
    frame.head(5).to_csv(tmp_path / "new.csv", index=False)
    files = tmp_path / "m.skops", tmp_path / "new.csv"
    for words, due in (
        (("predict", *files, "--coverage", "0.9"), ("prediction", "set")),
        (("explain", *files), ("prediction", "column_1")),
    ):
        for raw in (False, True):
            rows = csv.DictReader(io.StringIO(run(*words, *["--raw"] * raw)))
            found = [row[name] for row in rows for name in due]
            assert all(text.startswith(("=", "@") if raw else ("'=", "'@")) for text in found)


def test_negative_labels_are_numbers(tmp_path):
    y = np.where(numbers["a"] > 0, -1, 1)
    kl.save(TableModel(kl.KernelDiscriminant()).fit(numbers, y), tmp_path / "m.skops")
    numbers.to_csv(tmp_path / "new.csv", index=False)
    out = run("predict", tmp_path / "m.skops", tmp_path / "new.csv")
    assert set(out.split()) == {"prediction", "-1", "1"}


def test_every_column_that_is_not_used_is_carried_untouched(tmp_path):
    text = "a,kind,b,note,id\n0.5,low,1,007,x1\n-0.5,,2, NA ,x2\n"
    (tmp_path / "new.csv").write_text(text)
    words = ["predict", save_model(tmp_path / "m.skops"), tmp_path / "new.csv"]
    run(*words, "-o", tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "kind,note,id,prediction"
    assert [line.rpartition(",")[0] for line in lines[1:]] == ["low,007,x1", ", NA ,x2"]


def test_a_column_that_is_called_as_an_answer_is_not_carried(tmp_path):
    (tmp_path / "new.csv").write_text("a,b,prediction\n0.5,1,old\n-0.5,2,old\n")
    words = ["predict", save_model(tmp_path / "m.skops"), tmp_path / "new.csv"]
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.stdout.splitlines()[0] == "prediction" and "old" not in done.stdout
    assert "Column 'prediction' of the table is not copied" in " ".join(done.stderr.split())


def test_columns_that_are_not_there_are_missing_on_request(tmp_path):
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    y = np.where(frame["a"] > 0, "high", "low")
    model = TableModel(kl.KernelClassifier(quality="fast")).fit(frame, y)
    kl.save(model, tmp_path / "m.skops")
    frame[["a"]].head(5).to_csv(tmp_path / "new.csv", index=False)
    words = ["predict", tmp_path / "m.skops", tmp_path / "new.csv"]
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 3 and "lacks column 'b'" in " ".join(done.stderr.split())
    done = testing.CliRunner().invoke(app, [str(word) for word in [*words, "--fill"]])
    assert "Column 'b' is not in the table: its cells are taken as missing." in done.stderr
    empty = frame[["a"]].head(5).assign(b=None)
    assert done.stdout.split()[1:] == model.predict(empty).tolist()


def test_rows_unlike_any_seen_are_counted_and_noted(tmp_path):
    model = save_model(tmp_path / "m.skops")
    (tmp_path / "new.csv").write_text("a,b\n0.1,0.2\n900,-900\n0.3,0\n")
    words = ["predict", model, tmp_path / "new.csv", "--notes"]
    done = testing.CliRunner().invoke(app, [str(word) for word in words])
    notes = [line.partition(",")[2] for line in done.stdout.splitlines()[1:]]
    assert notes == ["", "unlike any training row", ""]
    assert "1 of 3 rows are unlike any training row" in " ".join(done.stderr.split())
