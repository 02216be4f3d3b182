"""``kernel-learn compare``."""

from collections.abc import Sequence

import numpy as np

from kernel_learn.cli.fitting import fit_model, write_report
from kernel_learn.cli.session import Session, show_table, show_written
from kernel_learn.cli.training import Given, read_learning_table
from kernel_learn.interop.files import save
from kernel_learn.tables.comparing import Leaderboard, Values, compare
from kernel_learn.tables.methods import AUTO, compared, make_model, too_slow
from kernel_learn.tables.writing import check_output


def compare_command(
    run: Session,
    given: Given,
    *,
    methods: Sequence[str],
    settings: Sequence[str],
    folds: int,
    repeats: int,
    rows: int,
    report: str | None,
    output: str | None,
) -> None:
    """Compare, and on request fit KernelClassifier to all rows."""
    check_output(output, ".skops")
    check_output(report, ".html")
    chosen = compared(methods)
    model = make_model(AUTO, given.target or "", given.seed, settings, given.memory)
    training = read_learning_table(run, given)
    assert training.y is not None
    n_columns, n_classes = len(training.columns.used), len(np.unique(training.y))
    if slow := too_slow(chosen, methods, n_columns, n_classes):
        chosen = [name for name in chosen if name not in slow]
        run.warn(
            f"Not compared, as {n_columns} columns and {n_classes} classes take it minutes: "
            f"{' and '.join(slow)}. To have it all the same, add --method {slow[0]!r}."
        )
    with run.progress("comparing", len(chosen) * folds * repeats) as step:
        done = 0

        def count(method: str, split: int) -> None:
            nonlocal done
            step(done, f"{method}, split {split + 1} of {folds * repeats}")
            done += 1

        board = compare(
            training.frame,
            training.y,
            training.columns,
            chosen,
            groups=training.groups,
            folds=folds,
            repeats=repeats,
            most_rows=rows,
            seed=given.seed,
            settings=settings,
            memory=given.memory,
            step=count,
        )
    if board.left_out:
        run.warn(f"Class {board.left_out[0]!r} has fewer than {folds} rows and is not compared.")
    values = as_values(board)
    if report is not None or output is not None:
        facts, training = fit_model(run, model, training, AUTO, given.seed)
        if output is not None:
            save(model, output)
        if report is not None:
            write_report(facts, report, training.frame, output, model, values)
    run.result(
        {"leaderboard": values, "report": report, "model": output},
        lambda: show_board(board, report, output),
    )


def as_values(board: Leaderboard) -> Values:
    """The leaderboard for JSON and the report."""
    return {
        "rows": board.rows(),
        "n_rows": board.n_rows,
        "n_folds": board.n_folds,
        "n_repeats": board.n_repeats,
        "grouped": board.grouped,
        "uneven": board.uneven,
    }


def show_board(board: Leaderboard, report: str | None, output: str | None) -> None:
    """The leaderboard as a table."""
    titles = ["accuracy", "95 % interval", *["balanced"] * board.uneven, "log loss", "s"]
    lines = []
    for row in board.rows():
        if row["failure"]:
            lines.append([row["method"], "failed", *[""] * (len(titles) - 1)])
            continue
        lines.append(
            [
                row["method"],
                f"{100 * row['accuracy']:.1f} %",
                f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
                *([f"{100 * row['balanced']:.1f} %"] if board.uneven else []),
                "" if row["log_loss"] is None else f"{row['log_loss']:.3f}",
                f"{row['seconds']:.2f}",
            ]
        )
    show_table([("method", "left"), *((title, "right") for title in titles)], lines)
    together = ", groups kept together" if board.grouped else ""
    print(
        f"{board.n_repeats} x {board.n_folds}-fold cross-validation on {board.n_rows} "
        f"rows{together}; corrected intervals; s: seconds of one fit."
    )
    if board.uneven:
        print("Most rows are of one class: balanced accuracy is the mean of each class's own.")
    for row in board.rows():
        if row["failure"]:
            print(f"{row['method']} failed: {row['failure']}")
    show_written(report, output)
