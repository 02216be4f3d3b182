"""Wrong arguments of the command line: one sentence each, a code that says whose fault it is."""

import json
import re

import pytest

pd = pytest.importorskip("pandas", reason="needs pandas")
pytest.importorskip("skrub", reason="needs skrub")
pytest.importorskip("skops.io", reason="needs skops")
testing = pytest.importorskip("typer.testing", reason="needs typer")

import kernel_learn as kl  # noqa: E402
from cli.transcript import unfolded  # noqa: E402
from kernel_learn.cli.app import app  # noqa: E402

FIT = ["fit", "rows.csv", "-t", "y", "-o", "m.skops", "--set", "quality=fast"]
TABLE = "a,b,y\n" + "\n".join(f"{i % 7}.5,{i * i % 11},{'pq'[i % 2]}" for i in range(40)) + "\n"
CONTENTS = {
    "rows.csv": TABLE,
    "empty.csv": "",
    "head.csv": "a,b,y\n",
    "one.csv": "a,b,y\n1,2,p\n",
    "one_class.csv": TABLE.replace("q", "p"),
    "constant.csv": "a,b,y\n" + "1,1,p\n1,1,q\n" * 20,
    "no_labels.csv": "a,b,y\n" + "1,2,\n3,1,\n" * 20,
    "ragged.csv": "a,b,y\n1,2,p\n1,2,3,4,p\n" * 3,
    "twice.csv": "a,a,y\n1,2,p\n" * 20,
    "binary.csv": "\0\1\2\3",
    "rows.json": "{",
    "rows.jsonl": '{"a": 1}\n{"a":\n',
    "rows.libsvm": "1 1:2\nabc\n",
    "rows.xyz": TABLE,
    "rows.parquet": TABLE,
    "rows.npz": TABLE,
    "pairs.csv": "a,b,same\n0,1,1\n2,3,0\n1,2,0\n3,4,1\n",
    "far.csv": "a,b,same\n0,99,1\n2,3,0\n1,2,0\n3,4,1\n",
    "self.csv": "a,b,same\n0,0,1\n2,3,0\n",
    "text.csv": "a,b,same\nx,1,1\n2,3,0\n",
    "halves.csv": "a,b,same\n0.5,1,1\n2,3,0\n",
    "kinds.csv": "a,b,same\n0,1,7\n2,3,0\n",
    "short.csv": "a,same\n0,1\n",
}
UNUSABLE, FILE, USAGE = 3, 4, 2


def pairs(name, said):
    """Pairs of that file are refused."""
    return ["learn-kernel", "rows.csv", "--pairs", name, "-o", "k.skops"], UNUSABLE, said


CASES = {
    "no lines": (["fit", "empty.csv", *FIT[2:]], UNUSABLE, "empty"),
    "a head alone": (["fit", "head.csv", *FIT[2:]], UNUSABLE, "row"),
    "one row": (["fit", "one.csv", *FIT[2:]], UNUSABLE, "row|class"),
    "one class": (["fit", "one_class.csv", *FIT[2:]], UNUSABLE, "class"),
    "constant columns": (["fit", "constant.csv", *FIT[2:]], UNUSABLE, "constant|column|variance"),
    "no labels": (["fit", "no_labels.csv", *FIT[2:]], UNUSABLE, "label|y"),
    "a long line": (["fit", "ragged.csv", *FIT[2:]], UNUSABLE, "line|column|field"),
    "bytes": (["fit", "binary.csv", *FIT[2:]], UNUSABLE, "column|binary.csv"),
    "a folder of other files": (["fit", ".", *FIT[2:]], UNUSABLE, "format of .* is not known"),
    "half a JSON": (["fit", "rows.json", *FIT[2:]], UNUSABLE, "rows.json"),
    "half a line of JSON": (["fit", "rows.jsonl", *FIT[2:]], UNUSABLE, "rows.jsonl"),
    "LIBSVM of text": (["fit", "rows.libsvm", "-t", "label", *FIT[4:]], UNUSABLE, "rows.libsvm"),
    "a name of no format": (["fit", "rows.xyz", *FIT[2:]], UNUSABLE, "--format"),
    "no Parquet": (["fit", "rows.parquet", *FIT[2:]], UNUSABLE, "rows.parquet"),
    "no arrays": (["fit", "rows.npz", *FIT[2:]], UNUSABLE, "rows.npz"),
    "a format of no name": ([*FIT, "--format", "docx"], UNUSABLE, "docx"),
    "a setting without a name": ([*FIT, "--set", "=3"], UNUSABLE, "name=value"),
    "a setting without a value": ([*FIT, "--set", "quality"], UNUSABLE, "name=value"),
    "a setting of another kind": ([*FIT, "--set", "quality=best"], UNUSABLE, "quality"),
    "members of text": ([*FIT, "--set", "max_members=many"], UNUSABLE, "max_members"),
    "memory of text": ([*FIT, "--memory", "much"], UNUSABLE, "memory|much"),
    "no memory": ([*FIT, "--memory", "10"], UNUSABLE, "memory|bytes|10"),
    "a seed of text": ([*FIT, "--seed", "x"], USAGE, "seed"),
    "a seed below zero": ([*FIT, "--seed", "-1"], UNUSABLE, "seed|random_state"),
    "all columns left out": ([*FIT, "--drop", "a", "--drop", "b"], UNUSABLE, "column"),
    "the target left out": ([*FIT, "--drop", "y"], UNUSABLE, "target|'y'"),
    "a column to keep that is not there": ([*FIT, "--keep", "z"], UNUSABLE, "'z'"),
    "an unknown method": ([*FIT, "-m", "RandomForest"], UNUSABLE, "not a method"),
    "no target": (["fit", "rows.csv", "-o", "m.skops"], USAGE, "target"),
    "one fold": (["compare", "rows.csv", "-t", "y", "--folds", "1"], USAGE, "folds"),
    "more folds than rows": (
        ["compare", "rows.csv", "-t", "y", "--folds", "99"],
        UNUSABLE,
        "fold|rows",
    ),
    "no repeats": (["compare", "rows.csv", "-t", "y", "--repeats", "0"], USAGE, "repeats"),
    "compare with an unknown method": (
        ["compare", "rows.csv", "-t", "y", "-m", "Forest"],
        UNUSABLE,
        "Forest",
    ),
    "predict with a table": (["predict", "rows.csv", "rows.csv"], UNUSABLE, "rows.csv"),
    "predict rows without columns": (["predict", "model.skops", "short.csv"], UNUSABLE, "lacks"),
    "predict no rows": (["predict", "model.skops", "empty.csv"], UNUSABLE, "empty"),
    "inspect a table": (["inspect", "rows.csv"], UNUSABLE, "rows.csv"),
    "inspect a folder": (["inspect", "."], UNUSABLE, "folder"),
    "pairs of other rows": pairs("far.csv", "row 99.* 0 to 39"),
    "pairs of a row with itself": pairs("self.csv", "itself"),
    "pairs of text": pairs("text.csv", "pairs|text.csv"),
    "pairs of halves": pairs("halves.csv", "pairs|halves.csv"),
    "pairs of seven kinds": pairs("kinds.csv", "1 or 0.*line 2.*'7'"),
    "pairs without kinds": pairs("short.csv", "short.csv|column"),
    "pairs and labels": (
        ["learn-kernel", "rows.csv", "--pairs", "pairs.csv", "-t", "y", "-o", "k.skops"],
        UNUSABLE,
        "--pairs|--target",
    ),
    "neither pairs nor labels": (
        ["learn-kernel", "rows.csv", "-o", "k.skops"],
        UNUSABLE,
        "--pairs|--target",
    ),
    "a kernel of no components": (
        ["learn-kernel", "rows.csv", "-t", "y", "--components", "0", "-o", "k.skops"],
        USAGE,
        "components",
    ),
    "an unknown table of a paper": (["reproduce", "smith2001"], UNUSABLE, "smith2001"),
    "no command": (["paint"], USAGE, "paint"),
    "an option twice wrong": ([*FIT, "--colour", "red"], USAGE, "colour"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, content in CONTENTS.items():
        (folder / name).write_text(content)
    from kernel_learn.tables import TableModel

    frame = pd.read_csv(folder / "rows.csv")
    model = TableModel(kl.KernelClassifier(quality="fast", max_members=1))
    kl.save(model.fit(frame[["a", "b"]], frame["y"]), folder / "model.skops")
    return folder


@pytest.mark.parametrize("case", CASES)
def test_wrong_arguments(case, folder, monkeypatch):
    words, code, text = CASES[case]
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    done = testing.CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output + repr(done.exception)
    assert "Traceback" not in done.output
    assert sorted(path.name for path in folder.iterdir()) == before, "something was left behind"
    if code == USAGE:  # Click's own words, in a box
        assert text in done.stderr
        return
    said = unfolded(done.stderr).splitlines()
    (line,) = [line for line in said if line.startswith("Error: ")]
    assert re.search(text, line), line
    assert line.rstrip().endswith((".", "?")), line
    spoken = testing.CliRunner().invoke(app, [*words, "--json"])
    if words[0] != "predict":
        assert json.loads(spoken.stdout)["exit_code"] == code
