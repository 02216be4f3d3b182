"""``kernel-learn predict`` and ``kernel-learn transform``: blocks of rows in, blocks out."""

from collections.abc import Callable, Iterator, Sequence

from kernel_learn.arrays import Array
from kernel_learn.cli.models import load_classifier, load_model
from kernel_learn.cli.session import Session
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, TableFiles, need_pandas
from kernel_learn.tables.columns import named
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.writing import TABLE_SUFFIXES, check_output, write_table


def predict_command(
    run: Session,
    model_path: str,
    data: Sequence[str],
    *,
    output: str,
    proba: bool,
    format: str | None,
) -> None:
    """Predict rows block by block."""
    model = load_classifier(model_path)
    if proba and not hasattr(model, "predict_proba"):
        raise TableError(
            f"{type(model.estimator_).__name__} has no probabilities; leave out --proba."
        )

    def answer(block: Frame) -> dict[str, Array]:
        if not hasattr(model, "predict_proba"):
            return {"prediction": model.predict(block)}
        P = model.predict_proba(block)
        columns = {"prediction": model.classes_[P.argmax(axis=1)]}
        if proba:
            columns |= {f"p({label})": P[:, i] for i, label in enumerate(model.classes_)}
        return columns

    answer_blocks(run, model, data, output, format, answer, "predicting")


def transform_command(
    run: Session, model_path: str, data: Sequence[str], *, output: str, format: str | None
) -> None:
    """Write learned features block by block."""
    model = load_model(model_path)
    if not hasattr(model, "transform"):
        raise TableError(f"{type(model.estimator_).__name__} has no features; use predict.")

    def answer(block: Frame) -> dict[str, Array]:
        F = model.transform(block)
        return {f"feature_{i + 1}": F[:, i] for i in range(F.shape[1])}

    answer_blocks(run, model, data, output, format, answer, "transforming")


def answer_blocks(
    run: Session,
    model: TableModel,
    data: Sequence[str],
    output: str,
    format: str | None,
    answer: Callable[[Frame], dict[str, Array]],
    words: str,
) -> None:
    """Identifiers of the rows, where the table has them, and the answers."""
    if output == "-" and run.as_json:
        raise TableError("--json and rows on standard output would mix; name a file with -o.")
    check_output(output, *TABLE_SUFFIXES)
    pd = need_pandas()
    with run.progress(words) as step:

        def answers() -> Iterator[Frame]:
            done = 0
            for block in TableFiles(data, format).blocks():
                if done == 0:
                    say_extra(run, model, block)
                ids = {name: block[name] for name in model.columns_.ids if name in block.columns}
                done += len(block)
                yield pd.DataFrame({**ids, **answer(block)}, index=block.index)
                step(words=f"{words}: {done} rows")

        rows = write_table(answers(), output)
    values = {"rows": rows, "output": output}
    if output != "-":
        run.result(values, lambda: print(f"{rows} rows written to {output}."))


def say_extra(run: Session, model: TableModel, block: Frame) -> None:
    """Name the columns that are ignored."""
    if not model.is_sparse_ and (extra := model.extra_columns(block)):
        run.note(f"Note: {named(extra)} is not known to the model and is ignored.")
