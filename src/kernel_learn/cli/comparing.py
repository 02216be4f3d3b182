"""``kernel-learn compare``."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kernel_learn.cli import numbers
from kernel_learn.cli.fitting import fit_model, headline_values, write_report
from kernel_learn.cli.large_tables import compare_large
from kernel_learn.cli.reading import Given
from kernel_learn.cli.session import Session, say, show_table, show_written
from kernel_learn.cli.training import (
    LearningTable,
    check_keeps,
    read_learning_table,
)
from kernel_learn.interop.files import save
from kernel_learn.report.facts import headline_words
from kernel_learn.report.placing import Facts
from kernel_learn.tables.comparing import (
    Leaderboard,
    Score,
    Values,
    choose_metric,
    compare,
    corrected_interval,
)
from kernel_learn.tables.comparing_numbers import (
    NumberLeaderboard,
    choose_number_metric,
    compare_numbers,
)
from kernel_learn.tables.methods import AUTO, compared, make_model, too_slow
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.names import refuse_unknown, task_of_names
from kernel_learn.tables.number_methods import NUMBERS, roster_of, task_of_methods
from kernel_learn.tables.writing import check_output

TITLES = {"logloss": "log loss", "average-precision": "av. prec."}
NAIVE = "majority class"


def compare_command(
    run: Session,
    given: Given,
    *,
    methods: Sequence[str],
    settings: Sequence[str],
    folds: int,
    repeats: int,
    rows: int,
    metric: str,
    report: str | None,
    output: str | None,
) -> None:
    """Compare, and on request fit KernelClassifier to all rows."""
    check_output(output, ".skops")
    check_output(report, ".html")
    given = replace(given, task=task_of_compare(given.task, methods, metric))
    asked = roster_of(is_regression=given.task == "regress")
    make_model(asked.auto, given.target or "", given.seed, settings, given.memory, asked)
    training = read_learning_table(run, given)
    assert training.y is not None
    is_regression = training.task.is_regression
    roster = roster_of(is_regression=is_regression)
    check_metric(metric, is_regression=is_regression)
    chosen = compared(methods, roster)
    model = make_model(roster.auto, given.target or "", given.seed, settings, given.memory, roster)
    if output is not None:
        check_keeps(model, training)
    n_columns = len(training.columns.used)
    n_classes = 2 if is_regression else len(np.unique(training.y))
    if slow := too_slow(chosen, methods, n_columns, n_classes, roster):
        chosen = [name for name in chosen if name not in slow]
        run.warn(
            f"Not compared, as {n_columns} columns"
            f"{'' if is_regression else f' and {n_classes} classes'} take it minutes: "
            f"{' and '.join(slow)}. To include it, add --method {slow[0]!r}."
        )
    board: Leaderboard | NumberLeaderboard
    if training.source is not None:
        board = compare_large(run, given, training, chosen, methods, settings, metric, roster)
    else:
        sizes = (folds, repeats, rows)
        board = compare_in_folds(run, given, training, chosen, settings, sizes, metric)
    if isinstance(board, NumberLeaderboard):
        finish_numbers(run, given, board, training, model, report, output)
        return
    if board.left_out:
        run.warn(f"Class {board.left_out[0]!r} has fewer than {folds} rows and is not compared.")
    values, headline = as_values(board), None
    if report is not None or output is not None:
        facts, training = fit_model(run, model, training, AUTO, given.seed)
        headline = facts["held_out"]
        if output is not None:
            save(model, output)
        if report is not None:
            write_report(facts, report, training.frame, output, model, values)
    figures = {} if headline is None else headline_values(headline)
    run.result(
        {
            "task": "classify",
            "leaderboard": values,
            "report": report,
            "model": output,
            **figures,
        },
        lambda: show_board(board, report, output, headline),
    )


def compare_in_folds(
    run: Session,
    given: Given,
    training: LearningTable,
    methods: Sequence[str],
    settings: Sequence[str],
    sizes: tuple[int, int, int],  # folds, repeats, rows at the most
    metric: str,
) -> Leaderboard | NumberLeaderboard:
    """The leaderboard of a table in memory, or of the sample of a larger one."""
    folds, repeats, rows = sizes
    assert training.y is not None
    with run.progress("comparing", len(methods) * folds * repeats) as step:
        done = 0

        def count(method: str, split: int) -> None:
            nonlocal done
            step(done, f"{method}, split {split + 1} of {folds * repeats}")
            done += 1

        options: Values = {
            "groups": training.groups,
            "folds": folds,
            "repeats": repeats,
            "most_rows": rows,
            "seed": given.seed,
            "settings": settings,
            "memory": given.memory,
            "metric": metric,
            "step": count,
        }
        table = (training.frame, training.y, training.columns, methods)
        return (compare_numbers if training.task.is_regression else compare)(*table, **options)


def task_of_compare(task: str, methods: Sequence[str], metric: str) -> str:
    """The task that methods and metric tell, where it is not asked for."""
    task = task_of_methods(task, methods)
    if task == "auto":
        return task_of_names(methods, metric)
    refuse_unknown([], metric)
    check_metric(metric, is_regression=task == "regress")
    return task


def check_metric(metric: str, *, is_regression: bool) -> None:
    """Refuse a metric of the other task."""
    if is_regression:
        choose_number_metric(metric)
    else:
        choose_metric(metric, 2, False)


def finish_numbers(
    run: Session,
    given: Given,
    board: NumberLeaderboard,
    training: LearningTable,
    model: TableModel,
    report: str | None,
    output: str | None,
) -> None:
    """On request fit KernelRegressor to all rows; then show the leaderboard."""
    values, found = numbers.board_values(board), None
    if report is not None or output is not None:
        facts, training = fit_model(run, model, training, NUMBERS.auto, given.seed)
        found = facts["numbers"]
        if output is not None:
            save(model, output)
        if report is not None:
            write_report(facts, report, training.frame, output, model, values)
    figures = {} if found is None else numbers.error_values(found)
    run.result(
        {"task": "regress", "leaderboard": values, "report": report, "model": output, **figures},
        lambda: numbers.show_number_board(board, report, output, found),
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
        "metric": board.metric,
        "n_test": board.n_test,
    }


def show_board(
    board: Leaderboard, report: str | None, output: str | None, held_out: Facts | None = None
) -> None:
    """The verdict, the leaderboard, and the headline of the model that was fitted to all rows."""
    for sentence in say_best(board):
        say(sentence)
    shown = board_columns(board)
    lines = []
    for row in board.rows():
        cells = [show_cell(row, title, board.metric) for title in shown]
        lines.append([row["method"], *(["failed"] if row["failure"] else cells)])
    width = 1 + len(shown)
    lines = [[*line, *[""] * (width - len(line))] for line in lines]
    titles = [TITLES.get(title, title) for title in shown]
    show_table([("method", "left"), *((title, "right") for title in titles)], lines)
    together = ", groups kept together" if board.grouped else ""
    if board.n_test:
        say(
            f"Fitted in blocks to all of {board.n_rows} rows but {board.n_test} test rows; "
            "s: seconds of the fit."
        )
    else:
        say(
            f"{board.n_repeats} x {board.n_folds}-fold cross-validation on {board.n_rows} "
            f"rows{together}; corrected intervals; s: seconds of one fit."
        )
    if board.uneven:
        say("Most rows are of one class: balanced accuracy is the mean of each class's own.")
    if board.metric == "average-precision":
        say(
            "Average precision and recall are of the rarer class; recall is the share of its rows "
            "that are found."
        )
    for row in board.rows():
        if row["failure"]:
            say(f"{row['method']} failed: {row['failure']}")
    if held_out is not None:
        by_others = "" if board.n_test else " The table above is from other folds."
        say(f"{AUTO}, fitted to all rows. {headline_words(held_out)}.{by_others}")
    show_written(report, output)


def say_best(board: Leaderboard) -> list[str]:
    """Who is best, whether ours is significantly behind, and what an answer without columns has."""
    known = {score.method: score for score in board.scores if not score.failure}
    if AUTO not in known or len(known) < 2:
        return []
    ours, best = known[AUTO], next(iter(known.values()))
    title = TITLES.get(board.metric, board.metric)

    def shown(score: Score) -> str:
        value = float(np.mean(score.of(board.metric)))
        return f"{value:.3f}" if board.metric == "logloss" else f"{100 * value:.1f} %"

    said = [f"Best by {title}: {best.method}, {shown(best)}."]
    if best is not ours:
        differences = ours.of(board.metric) - best.of(board.metric)
        low, high = corrected_interval(differences, ours.share)
        apart = "the difference is within chance" if low <= 0 <= high else "significantly behind"
        said.append(f"{AUTO} has {shown(ours)}: {apart}.")
    if NAIVE in known and best.method != NAIVE:
        said.append(f"Without looking at any column: {shown(known[NAIVE])}.")
    return said


def board_columns(board: Leaderboard) -> list[str]:
    """The metric that methods are ranked by, with its interval, then what else tells."""
    first = [board.metric, "95 % interval"]
    is_rare = board.metric == "average-precision"
    more = ["recall"] * is_rare + ["accuracy"] + ["balanced"] * board.uneven
    more += ["logloss"] * (not is_rare) + ["s"]  # all of them would be wider than 80 letters
    return [*first, *(title for title in more if title != board.metric)]


def show_cell(row: Values, title: str, metric: str) -> str:
    """One figure of a method, as text; ``metric``: of which the interval is."""
    if row["failure"]:
        return ""
    if title == "95 % interval":
        low, high = row["value_low"], row["value_high"]
        if low is None or high is None:
            return ""
        if metric == "logloss":
            return f"{low:.3f} to {high:.3f}"
        return f"{100 * low:.1f} to {100 * high:.1f}"
    if title == "s":
        return f"{row['seconds']:.2f}"
    if title == "logloss":
        return "" if row["log_loss"] is None else f"{row['log_loss']:.3f}"
    value = row.get(title.replace("-", "_"))
    return "" if value is None else f"{100 * value:.1f} %"
