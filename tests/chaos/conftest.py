"""The table of faults is printed at the end of a run."""

import sys

import pytest

from chaos.faults import TABLE
from kernel_learn.fitting import stream_training
from kernel_learn.streams import checkpoint, gather

HERE = __file__.rpartition("conftest")[0]


@pytest.fixture
def often(monkeypatch):
    """A checkpoint after every block, and few rows held."""
    monkeypatch.setattr(checkpoint, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0)
    monkeypatch.setattr(gather, "CAPACITY", 300)
    monkeypatch.setattr(stream_training, "READ_ROWS", 100)
    plans = sys.modules["kernel_learn.representations.plan"]
    monkeypatch.setattr(plans, "BLOCK_BYTES", 120 * 24 * 36)


def pytest_collection_modifyitems(items):
    """All of them are slow, and of systems that have fork and limits."""
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"))
            if not sys.platform.startswith("linux"):
                item.add_marker(pytest.mark.skip(reason="asks Linux for its processes"))


def pytest_terminal_summary(terminalreporter):
    """(fault, where, times, outcome), as in docs/about/faults.md."""
    for (fault, where, outcome), times in TABLE.items():
        terminalreporter.write_line(f"| {fault} | {where} | {times} | {outcome} |")
