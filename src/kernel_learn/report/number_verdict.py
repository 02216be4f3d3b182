"""Three sentences to act on, for numbers: is there signal, how good is it, what to do next."""

from kernel_learn.ensemble.summary import NOT_ASSESSED
from kernel_learn.report.held_out import is_assessed
from kernel_learn.report.placing import Facts
from kernel_learn.report.verdict import LIKELY, TEST, next_figures, next_leak, say_signal

WIDE = 0.25  # of the RMSE: a half-width of its interval that more rows should narrow
TWICE = 2.0  # times the RMSE of all rows
FAR = 2.0  # half-widths of a row's 90 % interval
NOTHING = 0.1  # R2 below which columns say little


def judge_values(facts: Facts, n_permutations: int) -> list[str]:
    """Signal, quality, next step; nothing of a model without numbers."""
    values = facts.get("numbers")
    if not values:
        return []
    return [
        say_signal(values["p_value"], n_permutations, "values"),
        say_error(facts["target"], values),
        say_what_next(facts),
    ]


def say_error(target: str, values: Facts) -> str:
    """RMSE with its interval and R2, beside always predicting the mean."""
    if not is_assessed(values):
        return f"{NOT_ASSESSED}."
    beaten = values["high"] < values["naive_rmse"]
    words = "" if beaten else ", which may be as good"
    return (
        f"Predictions of {target!r} on rows that were held out are off by "
        f"{show(values['rmse'])} (RMSE; 95 % interval {show(values['low'])} to "
        f"{show(values['high'])}), R2 {show_share(values['r2'])}; always the mean: "
        f"{show(values['naive_rmse'])}{words}."
    )


def say_what_next(facts: Facts) -> str:
    """The most pressing thing to do."""
    values = facts["numbers"]
    if (p := values["p_value"]) is not None and p > LIKELY:
        return "Next: look for columns that are related to the target; these are not."
    if not is_assessed(values):  # what follows from figures waits for them
        return f"Next: {next_leak(facts) or next_figures()}"
    for find in (next_leak, next_range, next_more_rows, next_look):
        if text := find(facts):
            return f"Next: {text}"
    return f"Next: {TEST}"


def next_range(facts: Facts) -> str:
    """A range of the target in which errors are far larger than elsewhere."""
    values = facts["numbers"]
    worst = max(values["ranges"], key=lambda own: own["rmse"])
    others = [own["rmse"] for own in values["ranges"] if own is not worst]
    if not others or worst["rmse"] < TWICE * max(others):
        return ""
    side = "low" if worst["bias"] < 0 else "high"
    aside = f", mostly too {side}" if abs(worst["bias"]) > 0.5 * worst["mae"] else ""
    return (
        f"errors are largest from {show(worst['least'])} to {show(worst['most'])} (RMSE "
        f"{show(worst['rmse'])}{aside}): more rows there, or a column that distinguishes them."
    )


def next_more_rows(facts: Facts) -> str:
    """A wide interval wants more rows."""
    values = facts["numbers"]
    if values["high"] - values["low"] <= 2 * WIDE * values["rmse"]:
        return ""
    return (
        f"more rows; the RMSE is known to lie between {show(values['low'])} and "
        f"{show(values['high'])}, and four times the rows halve that."
    )


def next_look(facts: Facts) -> str:
    """Rows that are far outside what is usual for their like."""
    rows = [str(own["row"]) for own in facts.get("look_at") or [] if own["times"] >= FAR]
    if not rows:
        return ""
    return f"look at rows {', '.join(rows[:5])} (counted from 0): are their values right?"


def show(value: float) -> str:
    """A value with four digits, large ones without a power of ten."""
    return f"{float(f'{value:.4g}'):.12g}"


def show_share(value: float | None) -> str:
    """R2 with two digits, .49."""
    return "not known" if value is None else f"{value:.2f}"
