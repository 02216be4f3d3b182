"""``kernel-learn fit``."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kernel_learn.atomic_write import atomic_write
from kernel_learn.cli import numbers
from kernel_learn.cli.deciding import decision_values, show_decision
from kernel_learn.cli.models import contained_rows
from kernel_learn.cli.reading import Given
from kernel_learn.cli.session import Session, say, show_written
from kernel_learn.cli.training import (
    LearningTable,
    check_keeps,
    check_reads_blocks,
    command_line,
    fit_table,
    read_learning_table,
)
from kernel_learn.ensemble.summary import format_p_value
from kernel_learn.interop.files import save
from kernel_learn.report.facts import (
    NO_WISH,
    PERMUTATIONS,
    gather_facts,
    headline_of,
    headline_words,
)
from kernel_learn.report.held_out import is_assessed, say_caution
from kernel_learn.report.page import render, verdict_of
from kernel_learn.report.placing import Facts
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.columns import Columns, named
from kernel_learn.tables.deciding import Wish
from kernel_learn.tables.methods import CLASSES, Roster, check_method, make_model
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.number_methods import NUMBERS, roster_of, task_of_methods
from kernel_learn.tables.streaming import HeldShare
from kernel_learn.tables.writing import check_output


def fit_command(
    run: Session,
    given: Given,
    *,
    output: str,
    method: str,
    settings: Sequence[str],
    report: str | None,
    onnx: str | None,
    wish: Wish,
) -> None:
    """Fit, keep the model, write what else is asked for."""
    for path, suffix in ((output, ".skops"), (report, ".html"), (onnx, ".onnx")):
        check_output(path, suffix)
    given = replace(given, task=task_of_methods(given.task, [method]))
    training, roster = read_for_task(run, given, method, settings)
    method = check_method(method, roster)
    model = make_model(method, given.target or "", given.seed, settings, given.memory, roster)
    check_reads_blocks(method, (*roster.own, *roster.transformers), training)
    check_keeps(model, training)
    if onnx is not None:
        check_onnx(method, training.columns)
    if training.y is not None:
        wish.check(None if training.task.is_regression else len(np.unique(training.y)))
    facts, training = fit_model(run, model, training, method, given.seed, wish)
    save(model, output)
    if onnx is not None:
        write_onnx(run, model, training.frame, onnx)
    if report is not None:
        write_report(facts, report, training.frame, output, model)
    if training.task.is_regression:
        values = {
            "model": output,
            "method": method,
            "rows": facts["n_rows"],
            "columns": facts["n_columns"],
            **numbers.fit_values(facts),
            "report": report,
            "onnx": onnx,
        }
        run.result(values, lambda: numbers.show_number_fit(values, facts["numbers"]))
        return
    held_out = facts["held_out"]
    values = {
        "model": output,
        "method": method,
        "task": "classify",
        "rows": facts["n_rows"],
        "columns": facts["n_columns"],
        "classes": facts["classes"],
        **headline_values(held_out),
        **accuracy_values(held_out),
        "uneven": held_out["uneven"],
        "naive_accuracy": held_out["naive_accuracy"],
        "p_value": held_out["p_value"],
        "decision": decision_values(facts["decision"], facts["classes"]),
        "held_out_by": held_out["kind"],
        "verdict": facts["verdict"],
        "report": report,
        "onnx": onnx,
    }
    run.result(values, lambda: show_fit(values, held_out))


def read_for_task(
    run: Session, given: Given, method: str, settings: Sequence[str]
) -> tuple[LearningTable, Roster]:
    """The table, and the methods for its target; refuses, before it is read, what no task has."""
    asked = roster_of(is_regression=given.task == "regress")
    if (named_so := check_method(method, asked)) in asked.others:
        raise TableError(
            f"{named_so} is only for comparison; fit takes kernel-learn's own methods."
        )
    make_model(method, given.target or "", given.seed, settings, given.memory, asked)
    training = read_learning_table(run, given)
    return training, roster_of(is_regression=training.task.is_regression)


def headline_values(held_out: Facts) -> Facts:
    """The headline for JSON, as a sentence and in figures: None if nothing was assessed."""
    found = headline_of(held_out)
    return {
        "headline": headline_words(held_out),
        "assessed_by": found and found.words,
        "error": found and found.error,
        "error_interval": found and found.interval,
    }


def accuracy_values(held_out: Facts) -> Facts:
    """Figures beside the headline for JSON, None likewise."""
    keys = ("accuracy", "log_loss", "balanced_accuracy")
    found: Facts = {"accuracy_interval": None} | dict.fromkeys(keys)
    if is_assessed(held_out):
        found = {"accuracy_interval": [held_out["low"], held_out["high"]]}
        found |= {key: held_out[key] for key in keys}
    return found


def check_onnx(method: str, columns: Columns) -> None:
    """Refuse, before the fit, what its export would refuse after it."""
    categories = columns.of("category")
    other = {CLASSES.auto: "KernelDiscriminant", NUMBERS.auto: "KernelPLSRegressor"}
    if method in other and categories:
        which = named(categories, several="columns")
        raise TableError(
            f"--onnx: {method} compares categories ({which}), which has no form in ONNX here; "
            "leave them out with --drop, or choose a --method that sees them as numbers, "
            f"such as {other[method]}."
        )


def fit_model(
    run: Session,
    model: TableModel,
    training: LearningTable,
    method: str,
    seed: int,
    wish: Wish = NO_WISH,
) -> tuple[Facts, LearningTable]:
    """Fit, and let the model carry what its report will say; of a large table of which rows."""
    n, is_large = training.n_rows, training.source is not None
    holds_out = method in (CLASSES.auto, NUMBERS.auto)  # by itself
    test = HeldShare.of(n, seed) if is_large and not holds_out else None
    total = n if is_large else None
    with run.progress(f"fitting {method} to {n} rows", total, "rows") as step:
        training = fit_table(run, model, training, test=test, told=step)
    with run.progress("validating"):
        return keep_facts(model, training, method, seed, wish), training


def keep_facts(
    model: TableModel, training: LearningTable, method: str, seed: int, wish: Wish = NO_WISH
) -> Facts:
    """What the report of a fitted model will say, which the model carries from now on."""
    facts = gather_facts(
        model,
        training.frame,
        training.y,
        method=method,
        groups=training.groups,
        seed=seed,
        command=command_line(),
        files=training.files,
        notes=training.notes,
        proba=training.proba,
        assessed_by=training.assessed_by,
        wish=wish,
        task=training.task.name,
    )
    facts["n_rows"] = training.n_rows
    if training.source is not None:
        place_in_table(facts, training.frame)
    if wish.is_there:
        if (decision := facts.get("decision")) is None:
            raise TableError(f"{method} has no probabilities, which --threshold and --cost need.")
        model.set_threshold(decision["positive"], decision["threshold"])
    facts["verdict"] = verdict_of({"numbers": None, **facts})
    model.facts_ = json.dumps(facts)
    return facts


def place_in_table(facts: Facts, frame: Frame) -> None:
    """Of a table in blocks: where surprising rows stand in it, not among those that were judged."""
    for one in facts.get("surprising") or []:
        for own in (one, *one["neighbours"]):
            own["place"] = int(frame.index[own["row"]])


def write_report(
    facts: Facts,
    path: str,
    frame: Frame | None = None,
    model_path: str | None = None,
    model: TableModel | None = None,
    leaderboard: Facts | None = None,
) -> None:
    """The page, whole or not at all."""
    model_file = None
    if model_path is not None and model is not None:
        model_file = {
            "name": Path(model_path).name,
            "bytes": Path(model_path).stat().st_size,
            "rows": contained_rows(model),
        }
    text = render(facts, frame=frame, leaderboard=leaderboard, model_file=model_file)
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")


def write_onnx(run: Session, model: TableModel, frame: Frame, path: str) -> None:
    """The estimator behind the encoders; which ONNX does not know."""
    from kernel_learn.interop.onnx import export_onnx

    rows = model.encode(frame.iloc[:10])
    export_onnx(model.estimator_, path, rows)
    if model.encoder_ is not None:
        run.note(
            f"{path} begins after the encoders: it takes the {rows.shape[1]} columns that dates, "
            "text and scaling become."
        )


def show_fit(values: Facts, held_out: Facts) -> None:
    """What was found, in a few lines, the verdict first."""
    for sentence in values["verdict"]:
        say(sentence)
    say(
        f"{values['method']}: {values['rows']} rows, {values['columns']} columns, "
        f"{len(values['classes'])} classes."
    )
    always = f"always the most frequent class {100 - 100 * values['naive_accuracy']:.1f} %"
    say(f"{values['headline']}; {always}.")
    if values["uneven"] and values["balanced_accuracy"] is not None:
        say(
            "Balanced accuracy, as most rows are of one class: "
            f"{100 * values['balanced_accuracy']:.1f} %; "
            f"chance {100 / len(values['classes']):.1f} %."
        )
    if values["p_value"] is not None:
        p = format_p_value(values["p_value"], PERMUTATIONS)
        say(f"Permutation test: p {p}.")
    if values["decision"] and (caution := say_caution(held_out)):
        say(caution)
    show_decision(values["decision"], values["classes"])
    show_written(values["model"], values["report"], values["onnx"])
