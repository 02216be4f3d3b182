"""``kernel-learn predict`` and ``kernel-learn transform``: blocks of rows in, blocks out."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.cli.models import load_model, load_predictor, reading_of
from kernel_learn.cli.reading import ReadingOptions
from kernel_learn.cli.session import Session, put
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.columns import capital, named
from kernel_learn.tables.deciding import Wish, positive_class
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.new_rows import NewRows
from kernel_learn.tables.reading.clean_files import clean_blocks
from kernel_learn.tables.reading.odd_rows import Dropped, say_dropped
from kernel_learn.tables.writing import (
    TABLE_SUFFIXES,
    check_output,
    without_formulas,
    write_table,
)

NOTE, OUR_NOTE = "note", "note (kernel-learn)"  # the second where a table has a column of notes
USUAL_COVERAGE = 0.9  # of intervals that nobody asked for
RARE = 0.01  # novelty below which a row is counted as unlike any that was seen


def predict_command(
    run: Session,
    model_path: str,
    data: Sequence[str],
    *,
    output: str,
    proba: bool,
    notes: bool,
    raw: bool,
    wish: Wish,
    coverage: float | None,
    options: ReadingOptions,
    task: str = "auto",
    fill: bool = False,
) -> None:
    """Predict rows block by block."""
    model = load_predictor(model_path, task)
    if model.is_regression:
        if proba or wish.is_there:
            which = "--proba" if proba else "--threshold"
            raise TableError(f"{model_path!r} predicts numbers; leave out {which}.")
        ask = {"notes": notes, "fill": fill, "raw": raw}
        predict_numbers(run, model, data, output, options, coverage=coverage, **ask)
        return
    if wish.threshold is not None:
        wish.check(len(model.classes_))
        positive = getattr(model, "positive_", positive_class(np.bincount(model.labels_)))
        model.set_threshold(positive, wish.threshold)
    if proba and not hasattr(model, "predict_proba"):
        raise TableError(
            f"{type(model.estimator_).__name__} has no probabilities; leave out --proba."
        )

    sets = None if coverage is None else SetColumns(model, coverage)

    def answer(block: Frame) -> dict[str, Array | list[object]]:
        if not hasattr(model, "predict_proba"):
            return {"prediction": model.predict(block)}
        P = model.predict_proba(block)
        columns = {"prediction": model.classes_[model.decide(P)]}
        if proba:
            columns |= {f"p({label})": P[:, i] for i, label in enumerate(model.classes_)}
        return columns if sets is None else columns | sets.of(block)

    answer_blocks(run, model, data, output, options, answer, notes=notes, fill=fill, raw=raw)


def predict_numbers(
    run: Session,
    model: TableModel,
    data: Sequence[str],
    output: str,
    options: ReadingOptions,
    *,
    notes: bool,
    fill: bool,
    raw: bool,
    coverage: float | None,
) -> None:
    """Columns ``value``, ``lower`` and ``upper``; where a coverage is asked for ``novelty``, too.

    A model without intervals gives values alone.
    """
    limits = None
    if coverage is not None or hasattr(model, IntervalColumns.method):
        limits = IntervalColumns(model, USUAL_COVERAGE if coverage is None else coverage)

    def answer(block: Frame) -> dict[str, Array | list[object]]:
        columns: dict[str, Array | list[object]] = {"value": model.predict(block)}
        if limits is not None:
            columns |= limits.of(block)
        if coverage is not None:
            columns["novelty"] = model.novelty(block)
        return columns

    answer_blocks(run, model, data, output, options, answer, notes=notes, fill=fill, raw=raw)
    if limits is not None and output != "-":
        share = f"{100 * limits.coverage:g}"
        run.note(f"About {share} of 100 true values lie between lower and upper (--coverage).")


class CoverageColumns:
    """Columns that say how sure a prediction is."""

    method, missing = "", ""  # that the model needs, and what there is none of without it

    def __init__(self, model: TableModel, coverage: float) -> None:
        if not hasattr(model, self.method):
            raise TableError(
                f"{type(model.estimator_).__name__} has no {self.missing}; leave out --coverage."
            )
        if not 0 < coverage < 1:
            raise TableError(
                f"--coverage {coverage:g}: give a number between 0 and 1, such as 0.9."
            )
        self.model, self.coverage = model, coverage


class SetColumns(CoverageColumns):
    """Columns ``set`` and ``novelty``, block by block."""

    method, missing = "predict_set", "sets of classes"

    def of(self, block: Frame) -> dict[str, Array | list[object]]:
        """The columns of a block."""
        inside = self.model.predict_set(block, self.coverage)
        names = np.asarray(self.model.classes_).astype(str)
        sets: list[object] = ["|".join(names[own]) for own in inside]
        return {"set": sets, "novelty": self.model.novelty(block)}


class IntervalColumns(CoverageColumns):
    """Columns ``lower`` and ``upper``, block by block."""

    method, missing = "predict_interval", "intervals"

    def of(self, block: Frame) -> dict[str, Array | list[object]]:
        """The columns of a block."""
        lower, upper = self.model.predict_interval(block, self.coverage).T
        return {"lower": lower, "upper": upper}


def transform_command(
    run: Session, model_path: str, data: Sequence[str], *, output: str, options: ReadingOptions
) -> None:
    """Write learned features block by block."""
    model = load_model(model_path)
    if not hasattr(model, "transform"):
        raise TableError(f"{type(model.estimator_).__name__} has no features; use predict.")

    def answer(block: Frame) -> dict[str, Array | list[object]]:
        F = model.transform(block)
        return {f"feature_{i + 1}": F[:, i] for i in range(F.shape[1])}

    answer_blocks(run, model, data, output, options, answer, words="transforming")


class Unlike:
    """How many rows are unlike any that was seen, block by block; none where nobody can tell."""

    def __init__(self, model: TableModel) -> None:
        self.model, self.least = model, -1.0
        self.count = self.rows = 0
        if hasattr(model, "novelty"):
            with contextlib.suppress(ValueError):  # of a kernel matrix, or of an earlier file
                self.least = max(model.estimator_.novelty_floor() * (1 + 1e-9), RARE)

    def look(self, block: Frame, novelty: Array | list[object] | None) -> Array:
        """Which rows of a block are, (n,) booleans; by their novelty, if it is known already."""
        self.rows += len(block)
        if self.least < 0 or not len(block):
            return np.zeros(len(block), dtype=bool)
        p = self.model.novelty(block) if novelty is None else np.asarray(novelty)
        found = np.asarray(p <= self.least)
        self.count += int(found.sum())
        return found

    def sentences(self) -> list[str]:
        """How many rows nobody should trust."""
        if not self.count:
            return []
        who = "All" if self.count == self.rows else f"{self.count} of"
        return [
            f"{who} {self.rows} rows are unlike any training row (novelty below .01, "
            "or as small as it gets): do not trust their predictions."
        ]


class AllBut:
    """All names of columns but some."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = frozenset(names)

    def __contains__(self, name: object) -> bool:
        return name not in self.names


def answer_blocks(
    run: Session,
    model: TableModel,
    data: Sequence[str],
    output: str,
    options: ReadingOptions,
    answer: Callable[[Frame], dict[str, Array | list[object]]],
    words: str = "predicting",
    notes: bool = False,
    fill: bool = False,
    raw: bool = False,
) -> None:
    """The answers, beside the columns that the model does not use: as they stand in the table.

    Texts among the answers are no formulas of a spreadsheet unless ``raw``. Beside features, and
    answers for tables with a column for every word, only identifiers stand.
    """
    if output == "-" and run.as_json:
        raise TableError("--json and rows on standard output would mix; name a file with -o.")
    check_output(output, *TABLE_SUFFIXES)
    pd, is_predicting = need_pandas(), words == "predicting"
    carries_all = is_predicting and not model.is_sparse_
    as_written = AllBut(model.columns_.used) if carries_all else model.columns_.ids
    met, unlike = NewRows(getattr(model, "seen_", None), reading_of(model)), Unlike(model)
    dropped_rows = Dropped()
    exact = {"prediction"}
    is_spreadsheet = not raw and Path(output).suffix.lower() not in (".parquet", ".jsonl")
    with run.progress(words) as step:

        def answers() -> Iterator[Frame]:
            done = 0
            for given, block, dropped in clean_blocks(
                options.files(data, as_written).blocks(), met.reading
            ):
                dropped_rows.update(dropped)
                news = met.look(given, block)
                if done == 0:
                    say_extra(run, model, block, carried=carries_all)
                if fill and not model.is_sparse_:
                    block = fill_columns(run, model, block)
                found = answer(block)
                if is_predicting:
                    news = add_note(news, unlike.look(block, found.get("novelty")))
                carried = [name for name in given.columns if name in as_written]
                if notes:
                    found[NOTE if NOTE not in carried else OUR_NOTE] = news
                if is_spreadsheet:
                    found = {name: without_formulas(own) for name, own in found.items()}
                if twice := [name for name in carried if name in found]:
                    run.warn(
                        f"{capital(named(twice))} of the table is not copied: the "
                        "output has a column of that name."
                    )
                ids = {name: given[name] for name in carried if name not in found}
                exact.update(ids)
                done += len(block)
                yield pd.DataFrame({**ids, **found}, index=block.index)
                step(words=f"{words}: {done} rows")

        rows = write_table(answers(), output, exact)
    said = [
        *(f"{text}." for text in say_dropped(dropped_rows)),
        *met.sentences(),
        *unlike.sentences(),
    ]
    for text in said:
        run.warn(capital(text))
    values = {"rows": rows, "output": output}
    if output != "-":
        run.result(values, lambda: put(f"{rows} rows written to {output}."))


def fill_columns(run: Session, model: TableModel, block: Frame) -> Frame:
    """The block with columns that it lacks, all of their cells missing."""
    if not (missing := model.missing_columns(block)):
        return block
    if len(missing) == len(model.columns_.used):
        raise TableError("The table has none of the columns that the model was fitted with.")
    run.warn(f"{capital(named(missing, 20))} is not in the table: its cells are taken as missing.")
    empty = {"number": np.nan, "date": need_pandas().NaT}
    return block.assign(**{name: empty.get(model.columns_.kinds[name]) for name in missing})


def add_note(news: Array, unlike: Array) -> Array:
    """Notes on rows, and that some are unlike any that was seen."""
    words = "unlike any training row"
    added = [f"{own}; {words}" if own else words for own in news]
    return np.where(unlike, np.array(added, dtype=object), news)


def say_extra(run: Session, model: TableModel, block: Frame, *, carried: bool) -> None:
    """Name the columns that the model does not know."""
    if not model.is_sparse_ and (extra := model.extra_columns(block)):
        what = "copied" if carried else "ignored"
        run.note(f"Note: {named(extra)} is not known to the model and is {what}.")
