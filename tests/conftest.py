import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scikit-learn: or a check is skipped

from time import process_time

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


SLOW_SECONDS = 5.0  # of processor time: a busy machine changes nothing


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Measure every test: those that take long carry the marker ``slow``."""
    start = process_time()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu_seconds", process_time() - start))


def pytest_terminal_summary(terminalreporter):
    """Name the tests that take long and do not say so."""
    for report in terminalreporter.stats.get("passed", ()):
        seconds = dict(report.user_properties).get("cpu_seconds", 0.0)
        if report.when == "call" and seconds > SLOW_SECONDS and "slow" not in report.keywords:
            terminalreporter.write_line(
                f"slow without its marker ({seconds:.1f} s): {report.nodeid}"
            )
