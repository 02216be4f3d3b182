"""How a command speaks: results to standard output, everything else to standard error."""

import contextlib
import json
import math
import os
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

from kernel_learn.warn import escaped

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

DONE, BUG, USAGE, UNUSABLE, FILE, EXTRA, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
WIDTH = 80
CODES = (
    "Exit codes: 0 done; 1 an error of kernel-learn's own; 2 wrong options; 3 the data, the model "
    "or a setting cannot be used; 4 a file cannot be read or written; 5 a package is missing; "
    "130 interrupted."
)


class Session:
    """One run of a command."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, debug: bool = False) -> None:
        self.as_json, self.quiet, self.debug = as_json, quiet, debug
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        """Words on standard error; a sentence in lines of 80 letters, lines as they are."""
        if not self.quiet:
            put(text if "\n" in text else folded(text), file=sys.stderr)

    def warn(self, text: str) -> None:
        """A warning: shown once, and part of the JSON."""
        if text not in self.warnings:
            self.warnings.append(text)
            self.note(f"Warning: {text}")

    def result(self, values: dict[str, object], show: Callable[[], None]) -> None:
        """What the command found: as JSON, or as ``show`` prints it."""
        if self.as_json:
            put_json({**values, "warnings": self.warnings})
        elif not self.quiet:
            show()

    @contextlib.contextmanager
    def progress(
        self, text: str, total: int | None = None, unit: str | None = None
    ) -> Iterator[Callable[..., None]]:
        """A bar (or, without a total, a turning sign) on a terminal; nothing in a pipe.

        With a unit it shows how many of them a second takes. A count that falls begins a new pass.
        """
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield lambda *_, **__: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
        if total is not None:
            columns += [BarColumn(bar_width=24)]
            columns += [] if unit is None else [speed_column(unit)]
            columns.append(TimeRemainingColumn())
        columns.append(TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(text, total=total)

            def step(done: int | None = None, words: str | None = None) -> None:
                if done is not None and done < bar.tasks[task].completed:
                    bar.reset(task)
                bar.update(task, completed=done, description=text if words is None else words)

            yield step


def speed_column(unit: str) -> "ProgressColumn":
    """How many of something are done in a second."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} {unit}/s")

    return Speed()


@contextlib.contextmanager
def session(*, as_json: bool, quiet: bool, debug: bool) -> Iterator[Session]:
    """A run whose warnings are sentences and whose failures are one sentence and a code."""
    run = Session(as_json=as_json, quiet=quiet, debug=debug)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="kernel_learn")
            warnings.filterwarnings("default", category=UserWarning, module="__main__")
            warnings.showwarning = lambda message, *_: run.warn(one_line(str(message)))
            yield run
    except KeyboardInterrupt:
        fail(run, INTERRUPTED, "Interrupted; no file was left incomplete.")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except ImportError as error:
        fail(run, EXTRA if "install" in str(error) else BUG, str(error))
    except MemoryError:
        fail(run, UNUSABLE, "There is not enough memory for this; give fewer rows, or --memory.")
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        where = f"{error.filename!r}: " if error.filename else ""
        fail(run, FILE, f"{where}{reason}.")
    except (ValueError, TypeError, AttributeError, ArithmeticError) as error:
        if isinstance(error, ValueError):
            fail(run, UNUSABLE, str(error))
        fail(run, BUG, unexpected(error))
    except Exception as error:
        fail(run, BUG, unexpected(error))


def unexpected(error: Exception) -> str:
    """The sentence for an error that is ours."""
    return (
        f"kernel-learn failed where it should not ({type(error).__name__}: "
        f"{one_line(str(error))}); --debug shows where, and a report of it is welcome."
    )


def fail(run: Session, code: int, text: str) -> NoReturn:
    """One sentence on standard error, and the exit code."""
    if run.debug and code != INTERRUPTED:
        put(traceback.format_exc(), file=sys.stderr)
    if run.as_json:
        put_json({"error": one_line(text), "exit_code": code})
    sentence = f"Error: {one_line(text)}" if code != INTERRUPTED else text
    put(folded(sentence), file=sys.stderr)
    sys.exit(code)


def without_nan(value: object) -> object:
    """Values for JSON, which knows neither nan nor infinity: None in their place."""
    if isinstance(value, dict):
        return {key: without_nan(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(own) for own in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def folded(text: str) -> str:
    """A sentence in lines of 80 letters; a word that is longer, such as a path, stays whole."""
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.fill(
        text, WIDTH, break_on_hyphens=False, break_long_words=False, subsequent_indent=indent
    )


def put(text: str = "", file: TextIO | None = None) -> None:
    """Lines as they are but for characters that move a cursor: the one way out to a terminal."""
    print("\n".join(escaped(line) for line in text.split("\n")), file=file)


def put_json(values: dict[str, object]) -> None:
    """One line of JSON on standard output, with no such character in it either."""
    text = json.dumps(without_nan(values), ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def say(text: str) -> None:
    """A sentence on standard output."""
    put(folded(text))


def show_written(*paths: str | None) -> None:
    """Which files there are now."""
    if written := [path for path in paths if path is not None]:
        put(f"Written: {', '.join(written)}.")


def show_table(
    columns: Sequence[tuple[str, str]],  # title, "left" or "right"
    rows: Sequence[Sequence[str]],
) -> None:
    """A table as wide as the terminal allows."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.collapse_padding = True
    for i, (name, side) in enumerate(columns):
        table.add_column(Text(escaped(name)), justify=side, overflow="fold", no_wrap=i > 0)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(escaped(cell)) for cell in row))
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH
    Console(width=width, highlight=False).print(table)
