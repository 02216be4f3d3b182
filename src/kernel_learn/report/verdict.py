"""Three sentences to act on: is there signal, how good is it, what to do next."""

import numpy as np

from kernel_learn.ensemble.summary import NOT_ASSESSED, format_p_value
from kernel_learn.report.held_out import is_assessed
from kernel_learn.report.placing import Facts

SURE, LIKELY = 0.01, 0.05  # p-values
MOST_RECALL = 0.5  # of a rare class, below which a threshold is the next thing to think of
DOMINANT = 0.5  # share of all relevance
WIDE = 0.1  # of an interval that more rows should narrow
CONFUSED, LEAST_CONFUSED = 0.2, 3  # share of a class that is taken for another, and rows
SUSPECT = 0.1  # probability of the label that a row has, over the share of that class
RANKED = 0.7  # AUC
NOTHING_BESIDE = "In training the error was not assessed: there is nothing to compare it with."
TEST = "test it on new rows (kernel-learn report MODEL NEW)."


def give_verdict(facts: Facts, n_permutations: int) -> list[str]:
    """Signal, quality, next step; nothing of a model without classes."""
    held_out = facts.get("held_out")
    if not held_out:
        return []
    return [
        say_signal(held_out["p_value"], n_permutations),
        say_quality(facts),
        say_next(facts),
    ]


def say_signal(p: float | None, n_permutations: int, what: str = "labels") -> str:
    """Whether shuffled labels do as well."""
    if p is None:
        return f"Whether chance could do as well was not tested, as {what} could not be shuffled."
    shown = f"p {format_p_value(p, n_permutations)}"
    if p <= SURE:
        return f"There is signal: shuffled {what} are almost never predicted as well ({shown})."
    if p <= LIKELY:
        return f"There may be signal: shuffled {what} are seldom predicted as well ({shown})."
    return f"No signal was found that chance could not give ({shown})."


def say_quality(facts: Facts) -> str:
    """Accuracy, or balanced accuracy of uneven classes, beside the best answer without columns."""
    held_out, classes = facts["held_out"], facts["classes"]
    if not is_assessed(held_out):
        return f"{NOT_ASSESSED}."
    if held_out["uneven"]:
        share, (low, high) = held_out["balanced_accuracy"], balanced_interval(held_out)
        what, naive = "Balanced accuracy", 1 / len(classes)
        other = f"always the same class {100 * naive:.0f} %"
    else:
        share, low, high = (held_out[key] for key in ("accuracy", "low", "high"))
        what, naive = "Accuracy", held_out["naive_accuracy"]
        other = f"always {classes[held_out['naive_class']]!r} {100 * naive:.1f} %"
    words = "" if low > naive else f", which may be as good{ranks_well(facts)}"
    return (
        f"{what} on rows that were held out: {100 * share:.1f} % (95 % interval {100 * low:.1f} "
        f"to {100 * high:.1f}); {other}{words}."
    )


def balanced_interval(held_out: Facts) -> tuple[float, float]:
    """Of the mean of the shares of classes that are right, each with its own binomial error."""
    if "recalls" in held_out:
        share, counts = np.array(held_out["recalls"], dtype=float).T
    else:  # in files of before
        confusion = np.array(held_out["confusion"], dtype=float)
        counts = confusion.sum(axis=1)
        share, counts = np.diag(confusion)[counts > 0] / counts[counts > 0], counts[counts > 0]
    right = (share * counts + 1) / (counts + 2)  # never quite certain
    error = np.sqrt(np.sum(right * (1 - right) / counts)) / len(counts)
    middle = held_out["balanced_accuracy"]
    return max(0.0, float(middle - 1.96 * error)), min(1.0, float(middle + 1.96 * error))


def ranks_well(facts: Facts) -> str:
    """Where no rare row is found, the order of the rows may still tell."""
    auc = (facts.get("decision") or {}).get("auc")
    return "" if auc is None or auc < RANKED else f", but it ranks rows well (AUC {auc:.3f})"


def say_next(facts: Facts) -> str:
    """The most pressing thing to do."""
    held_out = facts["held_out"]
    if (p := held_out["p_value"]) is not None and p > LIKELY:
        return "Next: look for columns that separate the classes; these do not."
    if not is_assessed(held_out):  # what follows from figures waits for them
        return f"Next: {next_leak(facts) or next_figures()}"
    for find in (next_threshold, next_leak, next_confusion, next_rows, next_suspects):
        if text := find(facts):
            return f"Next: {text}"
    return f"Next: {TEST}"


def next_figures() -> str:
    """Where nothing was assessed."""
    return f'fit with assess="nested", or {TEST}'


def next_threshold(facts: Facts) -> str:
    """A rare class of which most rows are missed wants a price for misses."""
    decision = facts.get("decision") or {}
    recall = decision.get("recall")
    if not facts["held_out"]["uneven"] or recall is None or recall >= MOST_RECALL:
        return ""
    if decision["threshold"] != 0.5:
        return ""
    name = facts["classes"][decision["positive"]]
    return (
        f"{decision['found']} of {decision['positives']} rows of {name!r} are found; give the "
        "cost of a miss, such as --cost fp=1,fn=20."
    )


def next_leak(facts: Facts) -> str:
    """A column that alone nearly decides: is it known in time?"""
    relevance = facts["importance"].get("relevance") or []
    if not relevance or relevance[0]["value"] < DOMINANT or facts["n_columns"] < 3:
        return ""
    first = relevance[0]
    return (
        f"column {first['name']!r} has {100 * first['value']:.0f} % of the relevance; make sure "
        "that it is known before the target is."
    )


def next_confusion(facts: Facts) -> str:
    """A class of which many rows are taken for one other."""
    for a, b, n, of in (facts.get("decision") or {}).get("worst_pairs", []):
        if n >= max(LEAST_CONFUSED, CONFUSED * of):
            names = facts["classes"]
            return (
                f"{n} of {of} rows of {names[a]!r} are taken for {names[b]!r}: what separates them?"
            )
    return ""


def next_rows(facts: Facts) -> str:
    """A wide interval wants more rows."""
    held_out = facts["held_out"]
    width = held_out["high"] - held_out["low"]
    if width <= WIDE:
        return ""
    return (
        f"more rows; the interval is {100 * width:.0f} points wide, and four times the rows halve "
        "it."
    )


def next_suspects(facts: Facts) -> str:
    """Rows whose label the others contradict."""
    counts = np.sum(facts["held_out"]["confusion"], axis=1)
    shares = counts / counts.sum()
    rows = [
        str(own.get("place", own["row"]))
        for own in facts.get("surprising") or []
        if own["p_truth"] is not None and own["p_truth"] < SUSPECT * shares[own["truth"]]
    ]
    if not rows:
        return ""
    if len(rows) == 1:
        return f"look at row {rows[0]} (counted from 0): is its label right?"
    return f"look at rows {', '.join(rows[:5])} (counted from 0): are their labels right?"


def beside_held_out(new: Facts, facts: Facts) -> list[str]:
    """The accuracy on new rows beside that on held-out ones, and so the balanced one."""
    held_out = facts["held_out"]
    if not is_assessed(held_out):
        return [NOTHING_BESIDE]
    reach = together((new["low"], new["high"]), (held_out["low"], held_out["high"]))
    accuracy = compare_shares(new["accuracy"], held_out["accuracy"], reach)
    found = [f"Held out in training it was {accuracy}"]
    if new.get("uneven") and held_out.get("balanced_accuracy") is not None:
        reach = together(balanced_interval(new), balanced_interval(held_out))
        own, old = new["balanced_accuracy"], held_out["balanced_accuracy"]
        found.append(
            f"Balanced accuracy {100 * own:.1f} % (chance {100 / len(facts['classes']):.1f}), held "
            f"out {compare_shares(own, old, reach)}"
        )
    return found


def together(new: tuple[float, float], old: tuple[float, float]) -> float:
    """Half the width of the interval of a difference, by those of both figures."""
    return float(np.hypot(new[1] - new[0], old[1] - old[0]) / 2)


def compare_shares(new: float, held_out: float, reach: float) -> str:
    """A share of held-out rows, and whether that of new rows is further away than by chance."""
    if abs(new - held_out) <= reach:
        return f"{100 * held_out:.1f} %: the difference is within chance."
    word = "worse" if new < held_out else "better"
    return (
        f"{100 * held_out:.1f} %: new rows are {word} by {100 * abs(new - held_out):.1f} points, "
        f"more than the {100 * reach:.1f} of chance. Are they different in kind?"
    )
