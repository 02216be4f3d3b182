"""``kernel-learn report`` and ``kernel-learn inspect``."""

import json
from collections.abc import Sequence

from kernel_learn.cli import numbers
from kernel_learn.cli.deciding import decision_values, show_new_rows
from kernel_learn.cli.fitting import accuracy_values, headline_values, write_report
from kernel_learn.cli.models import load_model, load_predictor
from kernel_learn.cli.new_rows import evaluate_data, evaluate_numbers
from kernel_learn.cli.reading import ReadingOptions
from kernel_learn.cli.session import Session, put, say
from kernel_learn.interop.files import describe
from kernel_learn.report.facts import headline_words
from kernel_learn.report.held_out import is_assessed
from kernel_learn.report.placing import Facts
from kernel_learn.report.verdict import beside_held_out
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.writing import check_output

# How rows were held out, in the words of earlier files.
EARLIER_WORDS = {
    "one at a time": "leave-one-out",
    "one group at a time": "leave-one-group-out",
    "a fifth at a time": "cross-validation",
}


def facts_of(model: TableModel, path: str) -> Facts:
    """The figures that a model carries."""
    facts = getattr(model, "facts_", None)
    if facts is None:
        raise TableError(
            f"{path!r} carries no figures, which kernel-learn fit and compare leave in a model."
        )
    found: Facts = json.loads(facts)
    if held_out := found.get("held_out"):
        held_out["kind"] = EARLIER_WORDS.get(held_out["kind"], held_out["kind"])
    return found


def report_command(
    run: Session,
    model_path: str,
    data: Sequence[str],
    *,
    output: str,
    target: str | None,
    options: ReadingOptions,
    task: str = "auto",
) -> None:
    """Write the page of a model."""
    check_output(output, ".html")
    if target is not None and not data:
        raise TableError("--target names the labels of DATA, and there is no DATA.")
    asked = bool(data) or task != "auto"
    model = load_predictor(model_path, task) if asked else load_model(model_path)
    facts = facts_of(model, model_path)
    if model.is_regression:
        if data:
            facts = evaluate_numbers(run, model, facts, data, target or model.target, options)
        write_report(facts, output, None, model_path, model)
        run.result(
            {"report": output, **numbers.new_values(facts)},
            lambda: show_number_report(facts, output),
        )
        return
    if data:
        facts = evaluate_data(run, model, facts, data, target or model.target, options)
    write_report(facts, output, None, model_path, model)
    new = facts.get("new_rows")
    values = {"report": output, "accuracy": None if new is None else new["accuracy"]}
    if new is not None:
        values |= {"rows": new["n"], "accuracy_interval": [new["low"], new["high"]]}
        values |= {"held_out_accuracy": accuracy_values(facts["held_out"])["accuracy"]}
        values |= {"decision": decision_values(new.get("decision"), facts["classes"])}
        known = facts.get("decision") if is_assessed(facts["held_out"]) else None
        values |= {"held_out_decision": decision_values(known, facts["classes"])}
        values |= {"beside_held_out": beside_held_out(new, facts)}

    def show() -> None:
        if new is not None:
            show_new_rows(new, facts)
        put(f"Written: {output}.")

    run.result(values, show)


def show_number_report(facts: Facts, output: str) -> None:
    """Figures of new rows, if there are some, and the file."""
    if facts.get("new_numbers"):
        numbers.show_new_values(facts)
    put(f"Written: {output}.")


def inspect_command(run: Session, model_path: str) -> None:
    """Say what a model file holds."""
    text = describe(model_path)
    model = load_model(model_path)
    facts = facts_of(model, model_path)
    held_out = facts.get("held_out")
    values = {
        "model": model_path,
        "method": facts["method"],
        "target": facts["target"],
        "classes": facts.get("classes"),
        "columns": model.columns_.kinds,
        "left_out": [*model.columns_.ids, *model.columns_.constants, *model.columns_.dropped],
        "rows": facts["n_rows"],
        "accuracy": held_out and accuracy_values(held_out)["accuracy"],
        **(headline_values(held_out) if held_out else {}),
        **(numbers.error_values(facts["numbers"]) if facts.get("numbers") else {}),
        "made": facts["made"],
        "versions": facts["versions"],
        "description": text,
    }
    run.result(values, lambda: show_model(values, held_out, facts.get("numbers")))


def show_model(values: Facts, held_out: Facts | None, found: Facts | None = None) -> None:
    """What a model file holds, in words."""
    for line in values["description"].rstrip().splitlines():
        say(line)
    put()
    if values["classes"]:
        say(f"Predicts {values['target']}: {', '.join(values['classes'][:20])}.")
    if held_out:
        say(f"{headline_words(held_out)}.")
    if found:
        ends = f"{numbers.show(found['least'])} to {numbers.show(found['most'])}"
        say(f"Predicts {values['target']}: numbers, {ends} in training.")
        say(f"{numbers.say_headline(found)}.")
    kinds: dict[str, list[str]] = {}
    for name, kind in values["columns"].items():
        kinds.setdefault(kind, []).append(name)
    plural = {"number": "Numbers", "category": "Categories", "date": "Dates", "text": "Text"}
    for kind, names in kinds.items():
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        say(f"{plural[kind]}: {', '.join(names[:20])}{more}.")
    if values["left_out"]:
        say(f"Left out: {', '.join(values['left_out'][:20])}.")
