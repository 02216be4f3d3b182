"""How a command speaks: whose warnings are shown, where, how often, and in which digits."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("rich")

from kernel_learn import cli
from kernel_learn.cli.comparing import show_board
from kernel_learn.cli.session import Session, put, say, session, show_table, show_written
from kernel_learn.tables.comparing import Leaderboard, Score


def warn(text, module, category=UserWarning):
    warnings.warn_explicit(text, category, "somewhere.py", 1, module=module)


def speak(**options):
    """Warnings of a run, in which several modules warn."""
    with session(**{"as_json": False, "quiet": False, "debug": False, **options}) as run:
        for text in ("few\n  rows", "few\n  rows"):
            warn(text, "kernel_learn.fitting.weights")
            run.warn("few rows")
        warn("ours too", "kernel_learn.cli", RuntimeWarning)
        warn("of the script", "__main__")
        warn("of others", "pandas.core")
        warn("soon gone", "__main__", DeprecationWarning)
        run.result({"rows": 3}, lambda: print("3 rows."))
    return run.warnings


SHOWN = ["few rows", "ours too", "of the script"]


def test_our_warnings_are_shown_once_on_standard_error(capsys):
    assert speak() == SHOWN
    out, err = capsys.readouterr()
    assert out == "3 rows.\n"
    assert err.splitlines() == [f"Warning: {text}" for text in SHOWN]


def test_warnings_are_part_of_the_json(capsys):
    speak(as_json=True, quiet=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"rows": 3, "warnings": SHOWN} and err == ""


def test_quiet_says_nothing(capsys):
    assert speak(quiet=True) == SHOWN
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ImportError("pip install kernel-learn[cli]"), 5),
        (ImportError("no module of ours"), 1),
        (MemoryError(), 3),
        (ValueError("bad"), 3),
        (TypeError("bad"), 1),
        (OSError(2, "No such file", "gone.csv"), 4),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_failure_has_its_code(error, code, capsys):
    with pytest.raises(SystemExit) as ended, session(as_json=False, quiet=False, debug=False):
        raise error
    assert ended.value.code == code
    assert capsys.readouterr().out == ""


def test_digits_of_the_leaderboard(capsys):
    accuracies = np.array([0.9049, 0.8951])
    one = Score("one", accuracies, accuracies - 0.1, np.array([0.25, 0.2531]), np.ones(2) / 3, 1.0)
    other = Score("other", accuracies - 0.5, accuracies, np.full(2, np.nan), np.ones(2), 1.0)
    show_board(Leaderboard([one, other], 40, 2, 1, False, True), None, None)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    # 12.706 sqrt((1/2 + 1) 0.0049^2 * 2) on either side of the mean
    assert "one 90.0 % 79.2 to 100.0 80.0 % 0.252 0.33" in lines
    assert "other 40.0 % 29.2 to 50.8 90.0 % 1.00" in lines
    assert any(line.startswith("1 x 2-fold cross-validation on 40 rows; corr") for line in lines)


def test_the_leaderboard_has_the_metric_it_is_ranked_by(capsys):
    half, others = np.full(2, 0.5), {"average_precision": np.full(2, 0.7), "recall": np.ones(2)}
    one = Score("logistic regression", half, half, half, half, 1.0, others=others)
    board = Leaderboard([one], 40, 2, 1, False, True, metric="average-precision")
    show_board(board, None, None)
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "method av. prec. 95 % interval recall accuracy balanced s" in lines
    assert "logistic regression 70.0 % 70.0 to 70.0 100.0 % 50.0 % 50.0 % 0.50" in lines
    assert max(map(len, out.splitlines())) <= 80


def test_intervals_of_log_loss_are_no_percentages(capsys):
    half, losses = np.full(2, 0.5), np.array([0.6, 0.61])
    one = Score("one", half, half, losses, half, 1.0)
    show_board(Leaderboard([one], 40, 2, 1, False, False, metric="logloss"), None, None)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    (own,) = (line for line in lines if line.startswith("one"))
    assert own.startswith("one 0.605 0.") and " to 0." in own


def test_json_has_no_nan(capsys):
    run = Session(as_json=True)
    run.result({"a": float("nan"), "b": [1.0, (float("inf"), {"c": 2})]}, lambda: None)
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found == {"a": None, "b": [1.0, [None, {"c": 2}]], "warnings": []}


HOSTILE = "a\x1b[31m\x07\x9b2J\u202e"


@pytest.mark.parametrize("as_json", [True, False])
def test_nothing_of_a_table_moves_the_cursor(as_json, capsys):
    """Names of columns and labels come from files: they are written out, and JSON reads them."""

    def show():
        put(HOSTILE)
        say(HOSTILE)
        show_table([(HOSTILE, "left")], [[HOSTILE]])
        show_written(HOSTILE)

    with (
        pytest.raises(SystemExit),
        session(as_json=as_json, quiet=False, debug=True) as run,
    ):
        run.warn(HOSTILE)
        run.result({HOSTILE: HOSTILE}, show)
        raise ValueError(HOSTILE)
    out, err = capsys.readouterr()
    assert all(line.isprintable() for line in (out + err).split("\n"))
    if as_json:
        assert json.loads(out.splitlines()[0]) == {HOSTILE: HOSTILE, "warnings": [HOSTILE]}
    else:
        assert out.count(r"a\x1b[31m\x07\x9b2J\u202e") == 5


def test_commands_speak_through_the_session_alone():
    """``print`` is called where texts are written out, and in what users never fill."""
    folder = Path(cli.__file__).parent
    own = {"session.py", "__init__.py", "app.py"}
    for path in sorted(set(folder.glob("*.py")) - {folder / name for name in own}):
        assert not re.search(r"(?<![\w.])print\(", path.read_text(encoding="utf-8")), path.name
