"""``kernel-learn explain`` and ``forget``, and the labels that ``inspect`` doubts."""

import json
from collections.abc import Sequence

import numpy as np

from kernel_learn.arrays import Array, Rows
from kernel_learn.cli.models import load_predictor, reading_of
from kernel_learn.cli.predicting import answer_blocks
from kernel_learn.cli.reading import ReadingOptions
from kernel_learn.cli.session import Session, put, say, show_table, show_written
from kernel_learn.criteria.held_out.leave_out import NotExactError
from kernel_learn.ensemble.ledger.issues import in_words
from kernel_learn.ensemble.ledger.shapley import ShapleyValues
from kernel_learn.interop.files import save
from kernel_learn.report.forgetting import facts_of_rest
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.forgetting import RowsForgotten, forget_rows, ledger_of
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.writing import check_output

MOST_COLUMNS = 5  # that an explanation names
REASONS = 3  # training rows that it names
DOUBTED = 20


def explain_command(
    run: Session,
    model_path: str,
    data: Sequence[str],
    *,
    output: str,
    raw: bool,
    options: ReadingOptions,
) -> None:
    """Per row the columns by Shapley value, and the training rows that speak loudest."""
    model = load_predictor(model_path)
    ledger = ledger_of(model)
    groups = None if model.encoder_ is None else model.encoded_places()  # of a column's features

    def answer(block: Frame) -> dict[str, Array | list[object]]:
        rows = model.encode(block)
        found = ledger.shapley(rows, column_groups=groups)
        told = ledger.explain(rows, n_rows=REASONS)
        values, base = found.values, found.base_values
        if not model.is_regression:
            winners = np.searchsorted(model.classes_, told.labels)
            two = len(model.classes_) == 2
            values, base = (toward(own, winners, two=two) for own in (values, base))
        first = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :MOST_COLUMNS]
        names = np.array(found.feature_names, dtype=object)
        columns: dict[str, Array | list[object]] = {
            "prediction": told.labels,
            "before_bounds" if model.is_regression else "log_odds": base + values.sum(axis=1),
            "without_columns": base,
        }
        columns |= faded_columns(model, rows, found, told.labels)
        for r in range(first.shape[1]):
            columns[f"column_{r + 1}"] = names[first[:, r]]
            columns[f"value_{r + 1}"] = np.take_along_axis(values, first[:, r : r + 1], 1)[:, 0]
        for r in range(told.indices.shape[1]):
            columns[f"training_row_{r + 1}"] = told.indices[:, r]
            columns[f"share_{r + 1}"] = told.shares[:, r]
        return columns

    answer_blocks(run, model, data, output, options, answer, "explaining", raw=raw)


def faded_columns(
    model: TableModel, rows: Rows, found: ShapleyValues, labels: Array
) -> dict[str, Array | list[object]]:
    """What leads from L to what is said: prior + fading (L - prior), and its probability."""
    n, fading, prior = len(labels), found.fading, found.prior
    columns: dict[str, Array | list[object]] = {} if fading is None else {"fading": fading}
    if model.is_regression:
        return columns | {"prior": np.full(n, prior)}
    winners, two = np.searchsorted(model.classes_, labels), len(model.classes_) == 2
    P = model.estimator_.predict_proba(rows)
    columns["prior"] = toward(np.broadcast_to(prior, (n, *np.shape(prior))), winners, two=two)
    return columns | {"probability": P[np.arange(n), winners]}


def toward(values: Array, winners: Array, *, two: bool) -> Array:
    """What values (n, ...) of log p1/p0, or (n, ..., k) of all classes, say for the winners."""
    if not two:
        return np.asarray(values[np.arange(len(winners)), ..., winners])
    sign = np.where(winners == 1, 1.0, -1.0)
    return np.asarray(sign.reshape(-1, *[1] * (values.ndim - 1)) * values)


def forget_command(
    run: Session,
    model_path: str,
    data: Sequence[str],
    *,
    output: str,
    rows: Sequence[int],
    options: ReadingOptions,
) -> None:
    """Write a model that never saw some rows, and print its certificate."""
    check_output(output, ".skops")
    model = load_predictor(model_path)
    frame = reading_of(model).read(options.files(data).read())[0]
    if rows:
        if max(rows) >= len(frame):
            raise TableError(f"--row {max(rows)}: the table has rows 0 to {len(frame) - 1}.")
        frame = frame.iloc[list(rows)]
    found = forget_rows(model, frame)
    smaller = found.model
    if hasattr(model, "facts_"):
        try:
            smaller.facts_ = json.dumps(facts_of_rest(json.loads(model.facts_), smaller))
        except NotExactError as error:
            run.warn(f"{output!r} carries no figures for inspect and report. {error}")
    save(smaller, output)
    told = ledger_of(smaller).forgotten_
    values: dict[str, object] = {
        "forgotten": found.n_rows,
        "forgotten_in_all": told.n_rows,
        "not_found": found.n_unknown,
        "other_label": found.n_otherwise,
        "digest": told.digest,
        "distance": told.distance,
        "redrawn": list(told.redrawn),
        "kept": list(told.kept),
        "output": output,
    }

    def show() -> None:
        say(in_sentences(found, len(frame), model.target))
        put(str(told))
        show_written(output)

    run.result(values, show)


def in_sentences(found: RowsForgotten, n: int, target: str) -> str:
    """Which rows of a table were forgotten, and which not."""
    said = [f"{found.n_rows} training rows equal one of the {n} rows of the table."]
    if found.n_unknown:
        said.append(
            f"{found.n_unknown} of these {n} are not among the training rows: nothing was "
            "forgotten for them."
        )
    if found.n_otherwise:
        said.append(
            f"{found.n_otherwise} of the training rows have another {target} than the table says, "
            "and are forgotten all the same."
        )
    return " ".join(said)


def labels_command(run: Session, model_path: str) -> None:
    """The training rows whose labels, or values, are most likely wrong."""
    issues = ledger_of(load_predictor(model_path)).label_issues(DOUBTED)
    found = [
        one._replace(
            label=in_words(one.label), suggested_label=in_words(one.suggested_label)
        )._asdict()
        for one in issues
    ]
    columns = [("row", "right"), ("label", "left"), ("suggested", "left")]
    columns += [("probability", "right"), ("value", "right")]
    cells = [
        (str(row), in_words(label), in_words(suggested), f"{probability:.3f}", f"{value:.3g}")
        for row, label, suggested, probability, value in issues
    ]
    run.result({"model": model_path, "label_issues": found}, lambda: show_table(columns, cells))
