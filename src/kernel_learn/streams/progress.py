"""How far a pass over a stream has come: printed, and told to scikit-learn's callbacks.

Callbacks are those of scikit-learn 1.9 (``model.set_callbacks(ProgressBar())``): the fit is a
task, each pass one of its parts and each block one of a pass. Where scikit-learn has none,
``CallbackSupport`` is empty and ``with_callbacks`` gives the method back.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kernel_learn.namespaces import list_only

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """The method itself, before scikit-learn 1.9."""
    return method


try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing, before scikit-learn 1.9."""

else:
    if not TYPE_CHECKING:  # scikit-learn's has no types, and would take those of the method away
        from sklearn.callback import with_callbacks


__all__ = ["CallbackSupport", "Progress", "with_callbacks"]

__dir__ = list_only(__all__)

# Seconds between two lines.
PAUSE = 1.0


class Progress:
    """Rows read and the time that is left, for one pass after the other."""

    def __init__(self, estimator: Any, n_rows: int | None = None) -> None:
        self.estimator, self.n_rows = estimator, n_rows
        self.is_loud = bool(getattr(estimator, "verbose", 0))
        self.what, self.expected, self.start_rows, self.rows = "", n_rows, 0, 0
        self.start = self.last = time.perf_counter()
        self.task: Any = None  # the fit, for callbacks
        self.part: Any = None  # the pass

    def say(self, text: str) -> None:
        """Print what is being done, if anything is to be printed."""
        if self.is_loud:
            print(f"{type(self.estimator).__name__}: {text}", flush=True)

    def begin(self, what: str, expected: int | None, done: int) -> None:
        """A pass begins, ``done`` rows of which were counted before."""
        self.what, self.start_rows, self.rows = what, done, done
        self.expected = self.n_rows if expected is None else expected
        self.start = self.last = time.perf_counter()
        if getattr(self.estimator, "_skl_callbacks", None):
            if self.task is None:
                self.task = self.estimator._init_callback_context(max_subtasks=None)
                self.task.call_on_fit_task_begin(estimator=self.estimator)
            self.part = self.task.subcontext(task_name=what, max_subtasks=None)
            self.part.call_on_fit_task_begin(estimator=self.estimator)

    @contextmanager
    def watching(
        self, what: str, expected: int | None = None, done: int = 0
    ) -> Iterator[Callable[[int], None]]:
        """A pass, and whom to tell how many rows are counted."""
        self.begin(what, expected, done)
        try:
            yield self.at
        finally:
            self.end()

    def at(self, rows: int) -> None:
        """So many rows are counted."""
        if rows == self.rows:  # said already
            return
        self.rows, now = rows, time.perf_counter()
        if now - self.last >= PAUSE:
            self.last = now
            self.say(self.line(rows, now - self.start))
        if self.part is not None:
            block = self.part.subcontext(task_name=f"{rows} rows")
            block.call_on_fit_task_begin(estimator=self.estimator)
            block.call_on_fit_task_end(estimator=self.estimator)

    def end(self) -> None:
        """The pass is over, well or not."""
        if self.part is not None:
            self.part.call_on_fit_task_end(estimator=self.estimator)
            self.part = None

    def finish(self) -> None:
        """The fit is done."""
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator)
            self.task = None

    def line(self, rows: int, seconds: float) -> str:
        """How far it is, in one line."""
        speed = (rows - self.start_rows) / max(seconds, 1e-9)
        if not self.expected:
            return f"{self.what}: {rows} rows, {speed:.0f} rows/s"
        left = max(self.expected - rows, 0) / max(speed, 1e-9)
        return (
            f"{self.what}: {rows} of {self.expected} rows "
            f"({100 * rows / self.expected:.0f} %), {speed:.0f} rows/s, {left:.0f} s left"
        )
