"""What the commands do where the target is a number."""

import numpy as np

from kernel_learn.cli.session import say, show_table, show_written
from kernel_learn.ensemble.summary import NOT_ASSESSED, format_p_value
from kernel_learn.report.facts import PERMUTATIONS
from kernel_learn.report.held_out import is_assessed
from kernel_learn.report.number_verdict import show, show_share
from kernel_learn.report.placing import Facts
from kernel_learn.report.verdict import NOTHING_BESIDE
from kernel_learn.tables.comparing_numbers import NumberLeaderboard
from kernel_learn.tables.number_methods import MEAN

LEAST_SPLITS = 4  # fewer have intervals that say nothing
TITLES = {"r2": "R2", "rmse": "RMSE", "mae": "MAE"}


def fit_values(facts: Facts) -> Facts:
    """What a fit found, for JSON."""
    values = facts["numbers"]
    known = is_assessed(values)
    return {
        "task": "regress",
        **error_values(values),
        "mae": values["mae"] if known else None,
        "r2": values["r2"] if known else None,
        "r2_interval": [values["r2_low"], values["r2_high"]] if known else None,
        "naive_rmse": values["naive_rmse"],
        "p_value": values["p_value"],
        "coverage": values["coverage"] if known else None,
        "verdict": facts["verdict"],
    }


def error_values(values: Facts) -> Facts:
    """The headline for JSON, as a sentence and in figures: None if nothing was assessed."""
    if not is_assessed(values):
        return dict.fromkeys(("assessed_by", "error", "error_interval", "rmse")) | {
            "headline": say_headline(values)
        }
    return {
        "headline": say_headline(values),
        "assessed_by": values["kind"],
        "error": values["rmse"],
        "error_interval": [values["low"], values["high"]],
        "rmse": values["rmse"],
    }


def say_headline(values: Facts) -> str:
    """How far off predictions are expected to be."""
    if not is_assessed(values):
        return NOT_ASSESSED
    return (
        f"RMSE by {values['kind']}: {show(values['rmse'])} (95 % interval {show(values['low'])} "
        f"to {show(values['high'])}), MAE {show(values['mae'])}, R2 {show_share(values['r2'])}"
    )


def show_number_fit(values: Facts, found: Facts) -> None:
    """What was found, in a few lines, the verdict first."""
    for sentence in values["verdict"]:
        say(sentence)
    say(
        f"{values['method']}: {values['rows']} rows, {values['columns']} columns, numbers from "
        f"{show(found['least'])} to {show(found['most'])}."
    )
    say(f"{say_headline(found)}; always the mean {show(found['naive_rmse'])}.")
    if values["p_value"] is not None:
        p = format_p_value(values["p_value"], PERMUTATIONS)
        say(f"Permutation test: p {p}.")
    for own in values["coverage"] or []:
        if own["asked"] == 0.9:
            say(
                f"Intervals of 90 % hold {100 * own['found']:.0f} % of the held-out values and are "
                f"{show(own['width'])} wide on average."
            )
    show_written(values["model"], values["report"], values["onnx"])


def board_values(board: NumberLeaderboard) -> Facts:
    """The leaderboard for JSON and the report."""
    return {
        "rows": board.rows(),
        "n_rows": board.n_rows,
        "n_folds": board.n_folds,
        "n_repeats": board.n_repeats,
        "grouped": board.grouped,
        "n_test": board.n_test,
        "metric": board.metric,
        "verdict": judge_board(board),
    }


def show_number_board(
    board: NumberLeaderboard, report: str | None, output: str | None, values: Facts | None
) -> None:
    """The verdict, the table, and the headline of the model that was fitted to all rows."""
    for sentence in judge_board(board):
        say(sentence)
    rest = [name for name in TITLES if name != board.metric]
    lines = []
    for row in board.rows():
        if row["failure"]:
            lines.append([row["method"], "failed", "", "", "", ""])
            continue
        cells = [show_figure(row, board.metric), show_interval(row, board.metric)]
        cells += [show_figure(row, name) for name in rest]
        lines.append([row["method"], *cells, f"{row['seconds']:.2f}"])
    titles = [TITLES[board.metric], "95 % interval", *(TITLES[name] for name in rest), "s"]
    show_table([("method", "left"), *((title, "right") for title in titles)], lines)
    together = ", groups kept together" if board.grouped else ""
    say(
        f"Fitted in blocks to all of {board.n_rows} rows but {board.n_test} test rows; s: seconds "
        "of the fit."
        if board.n_test
        else f"{board.n_repeats} x {board.n_folds}-fold cross-validation on {board.n_rows} "
        f"rows{together}; corrected intervals; s: seconds of one fit."
    )
    for row in board.rows():
        if row["failure"]:
            say(f"{row['method']} failed: {row['failure']}")
    if values is not None:
        say(f"KernelRegressor, fitted to all rows. {say_headline(values)}.")
    show_written(report, output)


def show_figure(row: Facts, metric: str) -> str:
    """One figure of a method, as text."""
    value = row[metric]
    if value is None:
        return ""
    return f"{value:.3f}" if metric == "r2" else show(value)


def show_interval(row: Facts, metric: str) -> str:
    """The interval of a figure."""
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if low is None or high is None:
        return ""
    return f"{low:.3f} to {high:.3f}" if metric == "r2" else f"{show(low)} to {show(high)}"


def judge_board(board: NumberLeaderboard) -> list[str]:
    """Is there signal, how good is the best, what to do next: by the comparison alone."""
    rows = [row for row in board.rows() if not row["failure"]]
    naive = next((row for row in rows if row["method"] == MEAN), None)
    others = [row for row in rows if row is not naive]
    if not others:
        return ["No method could be fitted."]
    best = min(others, key=lambda row: row["rmse"])
    level = [row for row in others if row is not best and not row["difference"][1] > 0]
    found = []
    if naive is not None and naive["difference"][1] > 0:
        found.append(
            f"There is signal: {best['method']} is significantly better than always predicting "
            "the mean."
        )
    elif naive is not None and len(board.scores[0].seconds) >= LEAST_SPLITS:
        found.append("No signal was found: always predicting the mean may be as good.")
    else:
        found.append("Whether there is signal cannot be told from so few splits.")
    beside = "" if naive is None else f"; always the mean: {show(naive['rmse'])}"
    found.append(
        f"{best['method']} has the least RMSE, {show(best['rmse'])} (95 % interval "
        f"{show_interval(best, 'rmse')}), R2 {show_share(best['r2'])}{beside}."
    )
    names = "; ".join(row["method"] for row in level)
    found.append(
        f"Next: choose by other grounds among those that may be as good: {names}."
        if level
        else f"Next: keep {best['method']}; all others are significantly worse."
    )
    return found


def new_values(facts: Facts) -> Facts:
    """Figures of new rows beside those of held-out ones, for JSON."""
    new = facts.get("new_numbers")
    if new is None:
        return {"rmse": None}
    keys = ("rmse", "mae", "r2", "coverage")
    return {
        "rows": new["n"],
        **{key: new[key] for key in keys},
        "rmse_interval": [new["low"], new["high"]],
        "held_out_rmse": error_values(facts["numbers"])["rmse"],
    }


def show_new_values(facts: Facts) -> None:
    """Figures of new rows, and whether chance could part them from those of held-out ones."""
    new, old = facts["new_numbers"], facts["numbers"]
    say(
        f"New rows: {new['n']}; RMSE {show(new['rmse'])} (95 % interval {show(new['low'])} to "
        f"{show(new['high'])}), MAE {show(new['mae'])}, R2 {show_share(new['r2'])}; always the "
        f"mean of the training rows {show(new['naive_rmse'])}."
    )
    say(compare_errors(new, old))
    for own in new["coverage"]:
        if own["asked"] == 0.9:
            say(f"Intervals of 90 % hold {100 * own['found']:.0f} % of the new values.")


def compare_errors(new: Facts, old: Facts) -> str:
    """Two RMSEs: their logarithms differ by no more than both errors together, or by more."""
    if not is_assessed(old):
        return NOTHING_BESIDE
    beside = f"Held out in training it was {show(old['rmse'])}"
    reach = np.hypot(half_width(new), half_width(old))
    apart = np.log(max(new["rmse"], 1e-300) / max(old["rmse"], 1e-300))
    if abs(apart) <= reach:
        return f"{beside}: the difference is within chance."
    word = "worse" if apart > 0 else "better"
    return f"{beside}: new rows are {word}, by more than chance. Are they different in kind?"


def half_width(values: Facts) -> float:
    """Of the interval of log RMSE."""
    return float(np.log(max(values["high"], 1e-300) / max(values["low"], 1e-300)) / 2)
