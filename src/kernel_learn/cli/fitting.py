"""``kernel-learn fit``."""

import json
from collections.abc import Sequence
from pathlib import Path

from kernel_learn.atomic_write import atomic_write
from kernel_learn.cli.models import contained_rows
from kernel_learn.cli.session import Session, show_written
from kernel_learn.cli.training import (
    Given,
    LearningTable,
    check_reads_blocks,
    command_line,
    fit_table,
    read_learning_table,
)
from kernel_learn.interop.files import save
from kernel_learn.report import gather_facts, render
from kernel_learn.report.placing import Facts
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.columns import Columns, named
from kernel_learn.tables.methods import (
    AUTO,
    CLASSIFIERS,
    OTHERS,
    TRANSFORMERS,
    check_method,
    make_model,
)
from kernel_learn.tables.model import TableModel
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
) -> None:
    """Fit, keep the model, write what else is asked for."""
    for path, suffix in ((output, ".skops"), (report, ".html"), (onnx, ".onnx")):
        check_output(path, suffix)
    method = check_method(method)
    if method in OTHERS:
        raise TableError(
            f"{method} is there to compare with; fit takes kernel-learn's own methods."
        )
    model = make_model(method, given.target or "", given.seed, settings, given.memory)
    training = read_learning_table(run, given)
    check_reads_blocks(method, (*CLASSIFIERS, *TRANSFORMERS), training)
    if onnx is not None:
        check_onnx(method, training.columns)
    facts, training = fit_model(run, model, training, method, given.seed)
    save(model, output)
    if onnx is not None:
        write_onnx(run, model, training.frame, onnx)
    if report is not None:
        write_report(facts, report, training.frame, output, model)
    held_out = facts["held_out"]
    values = {
        "model": output,
        "method": method,
        "rows": facts["n_rows"],
        "columns": facts["n_columns"],
        "classes": facts["classes"],
        "accuracy": held_out["accuracy"],
        "accuracy_interval": [held_out["low"], held_out["high"]],
        "log_loss": held_out["log_loss"],
        "balanced_accuracy": held_out["balanced_accuracy"],
        "uneven": held_out["uneven"],
        "naive_accuracy": held_out["naive_accuracy"],
        "p_value": held_out["p_value"],
        "report": report,
        "onnx": onnx,
    }
    run.result(values, lambda: show_fit(values, held_out["kind"]))


def check_onnx(method: str, columns: Columns) -> None:
    """Refuse, before the fit, what its export would refuse after it."""
    categories = columns.of("category")
    if method == AUTO and categories:
        which = named(categories, several="columns")
        raise TableError(
            f"--onnx: {AUTO} compares categories ({which}), which has no form in ONNX here; leave "
            "them out with --drop, or choose a --method that sees them as numbers, "
            "such as KernelDiscriminant."
        )


def fit_model(
    run: Session, model: TableModel, training: LearningTable, method: str, seed: int
) -> tuple[Facts, LearningTable]:
    """Fit, and let the model carry what its report will say; of a large table of which rows."""
    with run.progress(f"fitting {method} to {training.n_rows} rows"):
        training = fit_table(run, model, training)
    with run.progress("validating"):
        return keep_facts(model, training, method, seed), training


def keep_facts(model: TableModel, training: LearningTable, method: str, seed: int) -> Facts:
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
    )
    facts["n_rows"] = training.n_rows
    model.facts_ = json.dumps(facts)
    return facts


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


def show_fit(values: Facts, kind: str) -> None:
    """What was found, in a few lines."""
    low, high = values["accuracy_interval"]
    print(
        f"{values['method']}: {values['rows']} rows, {values['columns']} columns, "
        f"{len(values['classes'])} classes."
    )
    print(
        f"{kind.capitalize()} accuracy: {100 * values['accuracy']:.1f} % "
        f"(95 % interval {100 * low:.1f} to {100 * high:.1f}); "
        f"the most frequent class {100 * values['naive_accuracy']:.1f} %."
    )
    if values["uneven"]:
        print(
            "Balanced accuracy, as most rows are of one class: "
            f"{100 * values['balanced_accuracy']:.1f} %; "
            f"chance {100 / len(values['classes']):.1f} %."
        )
    if values["p_value"] is not None:
        print(f"Permutation test: shuffled labels do as well with p = {values['p_value']:.3g}.")
    show_written(values["model"], values["report"], values["onnx"])
