"""How far a pass over a stream has come: printed, if the estimator's ``verbose`` asks for it."""

import time
from typing import Any

# Seconds between two lines.
PAUSE = 1.0


class Progress:
    """Rows read and the time that is left, for one pass after the other."""

    def __init__(self, estimator: Any, n_rows: int | None = None) -> None:
        self.estimator, self.n_rows = estimator, n_rows
        self.is_loud = bool(getattr(estimator, "verbose", 0))
        self.what, self.expected, self.start_rows = "", n_rows, 0
        self.start = self.last = time.perf_counter()

    def begin(self, what: str, expected: int | None, done: int) -> None:
        """A pass begins, ``done`` rows of which were counted before."""
        self.what, self.start_rows = what, done
        self.expected = self.n_rows if expected is None else expected
        self.start = self.last = time.perf_counter()

    def at(self, rows: int) -> None:
        """So many rows are counted."""
        now = time.perf_counter()
        if self.is_loud and now - self.last >= PAUSE:
            self.last = now
            print(self.line(rows, now - self.start), flush=True)

    def end(self) -> None:
        """The pass is over, well or not."""

    def line(self, rows: int, seconds: float) -> str:
        speed = (rows - self.start_rows) / max(seconds, 1e-9)
        name = type(self.estimator).__name__
        if not self.expected:
            return f"{name}: {self.what}: {rows} rows, {speed:.0f} rows/s"
        left = max(self.expected - rows, 0) / max(speed, 1e-9)
        return (
            f"{name}: {self.what}: {rows} of {self.expected} rows "
            f"({100 * rows / self.expected:.0f} %), {speed:.0f} rows/s, {left:.0f} s left"
        )
