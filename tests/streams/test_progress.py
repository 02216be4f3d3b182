"""Lines of a pass: the first after a second, by what this pass has read in its own time."""

import io
import sys
from types import SimpleNamespace

import pytest

from kernel_learn.streams import progress
from kernel_learn.streams.progress import Progress


class Loud:
    verbose = 1


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as they are set."""
    found = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "perf_counter", lambda: found.now)
    return found


def lines_at(told, clock, steps, capsys):
    """What is printed at each (second, rows)."""
    found = []
    for clock.now, rows in steps:
        told.at(rows)
        found.append(capsys.readouterr().out.rstrip("\n"))
    return found


def test_speed_is_that_of_the_pass_since_it_began(clock, capsys):
    told = Progress(Loud(), 100)
    clock.now = 10.0
    told.begin("pass 2", None, 20)  # rows of a checkpoint take no time
    steps = [(10.9, 30), (11.0, 40), (11.5, 60), (12.0, 80), (13.5, 80), (14.0, 100), (15.0, 101)]
    assert lines_at(told, clock, steps, capsys) == [
        "",
        "Loud: pass 2: 40 of 100 rows (40 %), 20 rows/s, 3 s left",
        "",
        "Loud: pass 2: 80 of 100 rows (80 %), 30 rows/s, 1 s left",
        "",  # nothing new
        "Loud: pass 2: 100 of 100 rows (100 %), 20 rows/s, 0 s left",
        "Loud: pass 2: 101 of 100 rows (101 %), 16 rows/s, 0 s left",
    ]


def test_how_many_rows_are_expected(clock, capsys):
    told = Progress(Loud())
    told.begin("pass 1", None, 0)
    assert lines_at(told, clock, [(2.0, 30)], capsys) == ["Loud: pass 1: 30 rows, 15 rows/s"]
    told.begin("pass 2", 60, 0)
    (line,) = lines_at(told, clock, [(3.0, 30)], capsys)
    assert line == "Loud: pass 2: 30 of 60 rows (50 %), 30 rows/s, 1 s left"
    quiet = Progress(SimpleNamespace(verbose=0), 60)
    quiet.begin("pass 1", None, 0)
    assert lines_at(quiet, clock, [(9.0, 30)], capsys) == [""]


def test_lines_are_seen_at_once(clock, monkeypatch):
    class Pipe(io.StringIO):
        seen = ""

        def flush(self):
            self.seen = self.getvalue()

    monkeypatch.setattr(sys, "stdout", Pipe())
    Progress(Loud()).say("reading")
    assert sys.stdout.seen == "Loud: reading\n"
