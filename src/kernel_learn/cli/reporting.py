"""``kernel-learn report`` and ``kernel-learn inspect``."""

import json
from collections.abc import Sequence

from kernel_learn.cli.fitting import write_report
from kernel_learn.cli.models import load_classifier, load_model
from kernel_learn.cli.session import Session
from kernel_learn.interop.files import describe
from kernel_learn.report import judge_new_rows
from kernel_learn.report.placing import Facts
from kernel_learn.streams.readers import TableError, read_table
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
        raise TableError(f"{path!r} was not written by this command line and carries no figures.")
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
    format: str | None,
) -> None:
    """Write the page of a model."""
    check_output(output, ".html")
    if target is not None and not data:
        raise TableError("--target names the labels of DATA, and there is no DATA.")
    model = load_classifier(model_path) if data else load_model(model_path)
    facts = facts_of(model, model_path)
    if data:
        facts = evaluate_data(run, model, facts, data, target or model.target, format)
    write_report(facts, output, None, model_path, model)
    new = facts.get("new_rows")
    values = {"report": output, "accuracy": None if new is None else new["accuracy"]}
    run.result(values, lambda: print(f"Written: {output}."))


def evaluate_data(
    run: Session,
    model: TableModel,
    facts: Facts,
    data: Sequence[str],
    target: str,
    format: str | None,
) -> Facts:
    """The facts with the accuracy on labelled rows."""
    frame = read_table(data, format)
    if target not in frame.columns:
        raise TableError(
            f"There is no column {target!r} in the data; name the labels with --target."
        )
    labelled = frame[target].notna()
    if not labelled.all():
        run.warn(f"{int((~labelled).sum())} rows without {target!r} are left out.")
    frame = frame.loc[labelled].reset_index(drop=True)
    labels = frame[target]
    if labels.dtype.kind == "f" and bool((labels % 1 == 0).all()):
        labels = labels.astype(int)
    y = labels.astype(str).to_numpy()
    if not set(y) & {str(label) for label in model.classes_}:
        raise TableError(f"No label in column {target!r} is one of the model's classes.")
    with run.progress("predicting new rows"):
        evaluated = judge_new_rows(model, facts, frame, y)
    new = evaluated.get("new_rows")
    if new is None:
        run.warn(evaluated["warnings"][-1])
    elif new["seen"]:
        run.warn(f"{new['seen']} of the rows were in the training table and are not counted.")
    return evaluated


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
        "accuracy": held_out and held_out["accuracy"],
        "made": facts["made"],
        "versions": facts["versions"],
        "description": text,
    }
    run.result(values, lambda: show_model(values, held_out))


def show_model(values: Facts, held_out: Facts | None) -> None:
    """What a model file holds, in words."""
    print(values["description"].rstrip())
    print()
    if values["classes"]:
        print(f"Predicts {values['target']}: {', '.join(values['classes'][:20])}.")
    if held_out:
        print(
            f"{held_out['kind'].capitalize()} accuracy: {100 * held_out['accuracy']:.1f} % "
            f"(95 % interval {100 * held_out['low']:.1f} to {100 * held_out['high']:.1f})."
        )
    kinds: dict[str, list[str]] = {}
    for name, kind in values["columns"].items():
        kinds.setdefault(kind, []).append(name)
    plural = {"number": "Numbers", "category": "Categories", "date": "Dates", "text": "Text"}
    for kind, names in kinds.items():
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        print(f"{plural[kind]}: {', '.join(names[:20])}{more}.")
    if values["left_out"]:
        print(f"Left out: {', '.join(values['left_out'][:20])}.")
