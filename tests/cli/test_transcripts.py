"""What a new user sees at 80 columns, word by word; digits are masked where machines differ."""

import re

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("skrub")
pytest.importorskip("skops")
pytest.importorskip("jinja2")
testing = pytest.importorskip("typer.testing")

from kernel_learn.cli.app import app  # noqa: E402

FAST = "--set quality=fast --set max_members=3"
HEAD = """\
How I read your table: train.csv, 000 rows, 0 columns.
  id    left out                                      looks like an identifier
  dose  number   00 to 00.0                           'mg' removed
  age   number   00 to 00                 00 missing  00 cells "ND" -> missing
  ward  category 0: north, south
  state target   0: sick, well
Target 'state' is taken as classes: its values are not numbers.
Warning: Column 'id' looks like an identifier and is left out.
"""
FIT = """\
There is signal: shuffled labels are almost never predicted as well (p < .000).
Accuracy on rows that were held out: 00.0 % (00 % interval 00.0 to 00.0); always
'well' 00.0 %.
Next: column 'dose' has 00 % of the relevance; make sure that it is known before
the target is.
KernelClassifier: 000 rows, 0 columns, 0 classes.
Error by nested cross-validation: 0.0 % (00 % interval 0.0 to 00.0); always the
most frequent class 00.0 %.
Permutation test: p < .000.
AUC 0.000; average precision for 'sick' 0.000, by chance 0.000.
'sick' is predicted from a probability of 0.0: 00 of 00 are found, with 0 false
alarms among 00 others.
Written: m.skops.
"""
REPORT = """\
New rows: 00 of 00 right, accuracy 00.0 % (00 % interval 00.0 to 00.0).
Held out in training it was 00.0 %: the difference is within chance.
AUC 0.000 (held out 0.000); average precision for 'sick' 0.000 (held out 0.000),
by chance 0.000.
'sick' is predicted from a probability of 0.0: 00 of 00 are found, with 0 false
alarms among 00 others.
Written: r.html.
"""
PREDICT = """\
Warning: 0 of 00 cells of 'dose' are not numbers and count as missing: '00.0
kg'.
Warning: 0 of 00 cells of 'ward' are spelled differently than in training, and
read alike: 'NORTH = north'.
Warning: 0 of 00 rows are unlike any training row (novelty below .00, or as
small as it gets): do not trust their predictions.
00 rows written to p.csv.
"""
REFUSED = """\
Error: There is no column 'mood' (--target); there are 'id', 'dose', 'age',
'ward', 'state'.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows to learn from, rows with labels, and new rows with another unit and another spelling."""
    folder, rng, n = tmp_path_factory.mktemp("new"), np.random.default_rng(5), 160
    dose, age = rng.normal(50, 10, n), rng.integers(20, 80, n)
    ward = rng.choice(["north", "south"], n)
    sick = (dose - 50) / 4 + (age - 50) / 12 + rng.normal(size=n) > 0
    cells = [f"P{i:03d},{dose[i]:.1f} mg,{age[i] if i % 13 else 'ND'},{ward[i]}" for i in range(n)]
    labelled = [f"{row},{'sick' if s else 'well'}" for row, s in zip(cells, sick, strict=True)]
    new = [row.replace("north", "NORTH") for row in cells[120:130]]
    new[3] = new[3].replace(" mg", " kg")
    for name, rows in {"train": labelled[:120], "test": labelled[120:], "new": new}.items():
        names = "id,dose,age,ward" + ",state" * (name != "new")
        (folder / f"{name}.csv").write_text("\n".join([names, *rows]) + "\n")
    return folder


def say(words, code=0):
    """Standard error, then standard output; no line is wider than 80."""
    done = testing.CliRunner().invoke(app, words.split())
    assert done.exit_code == code, done.output
    said = done.stderr + done.stdout
    assert max(map(len, said.splitlines())) <= 80
    return said


def masked(text):
    return re.sub(r"\d", "0", text)


def test_from_a_table_to_predictions(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert masked(say(f"fit train.csv -t state -o m.skops {FAST}")) == HEAD + FIT
    assert masked(say("report m.skops test.csv -o r.html")) == REPORT
    assert masked(say("predict m.skops new.csv -o p.csv --notes")) == PREDICT
    lines = (folder / "p.csv").read_text().splitlines()
    assert lines[0] == "id,prediction,note" and lines[1].startswith("P120,")
    assert lines[4].endswith(",dose is not a number; unlike any training row")
    say("inspect m.skops")
    assert say("fit train.csv -t mood -o x.skops", code=3) == REFUSED


def test_a_comparison_begins_with_who_is_best(folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = say(f"compare train.csv -t state --folds 3 --repeats 1 {FAST}")
    assert masked(said).startswith(HEAD)
    verdict = masked(said)[len(HEAD) :].splitlines()
    assert re.fullmatch(r"Best by accuracy: .+, 00.0 %.", verdict[0])
    assert "Without looking at any column: 00.0 %." in verdict[1:3]
    assert "method               accuracy  00 % interval  log loss     s" in verdict
