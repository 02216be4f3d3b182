"""What a decision between classes looks like on the terminal."""

from collections.abc import Sequence

from kernel_learn.cli.session import say
from kernel_learn.report.held_out import is_assessed
from kernel_learn.report.placing import Facts
from kernel_learn.report.verdict import beside_held_out


def show_decision(decision: Facts | None, classes: Sequence[str]) -> None:
    """AUC and what a threshold finds of two classes; of many, what is taken for what."""
    if decision is None:
        return
    if "auc" in decision:
        show_two_classes(decision, classes)
    elif decision["worst_pairs"]:
        show_many_classes(decision, classes)


def decision_values(decision: Facts | None, classes: Sequence[str]) -> Facts | None:
    """A decision for JSON: between two classes with the name of the one that is looked for."""
    if decision is None or "positive" not in decision:
        return decision
    return {**decision, "positive_class": classes[decision["positive"]]}


def show_two_classes(
    decision: Facts,
    classes: Sequence[str],
    held_out: Facts | None = None,  # of new rows: what it was in training
) -> None:
    """The order of rows by their probabilities, and the operating point."""
    positive = classes[decision["positive"]]
    if decision["auc"] is None:
        only = classes[decision["positive"] if decision["positives"] else 1 - decision["positive"]]
        say(f"All rows are {only!r}: AUC and balanced accuracy need rows of both classes.")
    else:
        auc, precise = (beside(decision, held_out, key) for key in ("auc", "average_precision"))
        say(
            f"AUC {auc}; average precision for {positive!r} {precise}, by chance "
            f"{decision['share']:.3f}."
        )
    say(
        f"{positive!r} is predicted from a probability of {decision['threshold']:.3g}: "
        f"{decision['found']} of {decision['positives']} are found, with "
        f"{decision['false_alarms']} false alarms among {decision['negatives']} others."
    )


def beside(decision: Facts, held_out: Facts | None, key: str) -> str:
    """A figure, and what it was of held-out rows."""
    old = None if held_out is None else held_out.get(key)
    return f"{decision[key]:.3f}" + ("" if old is None else f" (held out {old:.3f})")


def show_many_classes(decision: Facts, classes: Sequence[str]) -> None:
    """How often the truth is among the likeliest, and the worst confusions."""
    top, share = decision["top"], 100 * decision["top_accuracy"]
    if len(classes) > top:
        say(f"The true class is among the {top} likeliest for {share:.1f} % of the rows.")
    pairs = [
        f"{classes[a]!r} for {classes[b]!r} ({n} of {of})"
        for a, b, n, of in decision["worst_pairs"][:3]
    ]
    say(f"Taken most often for another: {', '.join(pairs)}.")


def show_new_rows(new: Facts, facts: Facts) -> None:
    """Figures of new rows beside those of held-out ones, and whether chance could part them."""
    classes = facts["classes"]
    say(
        f"New rows: {new['right']} of {new['n']} right, accuracy {100 * new['accuracy']:.1f} % "
        f"(95 % interval {100 * new['low']:.1f} to {100 * new['high']:.1f})."
    )
    for sentence in beside_held_out(new, facts):
        say(sentence)
    if decision := new.get("decision"):
        known = facts["decision"] if is_assessed(facts["held_out"]) else None
        show_two_classes(decision, classes, known)
    if new["unknown"]:
        say(f"{new['unknown']} rows of classes that the model does not know are not counted.")
