"""Model files of the command line: a TableModel by ``kernel_learn.save``."""

from kernel_learn.interop.files import load
from kernel_learn.interop.metadata import carried_rows, our_parts
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import TableModel
from kernel_learn.tables.reading.table_reading import TableReading
from kernel_learn.tables.tasks import check_task


def load_model(path: str) -> TableModel:
    """Read a model that knows its columns."""
    model: object = load(path)
    if not isinstance(model, TableModel):
        raise TableError(
            f"{path!r} holds a {type(model).__name__}, which does not know the columns of a table; "
            "use it in Python with kernel_learn.load."
        )
    return model


def reading_of(model: TableModel) -> TableReading:
    """How the files of a model were read; earlier ones took cells as they stood."""
    text = getattr(model, "reading_", None)
    return TableReading(clean=False) if text is None else TableReading.from_json(text)


def contained_rows(model: TableModel) -> int:
    """How many training rows the model holds."""
    return max((carried_rows(part) for part in our_parts(model)), default=0)


def load_predictor(path: str, task: str = "auto") -> TableModel:
    """Read a model that predicts classes or numbers, as asked for."""
    check_task(task)
    model = load_model(path)
    if model.is_regression and task == "classify":
        raise TableError(f"{path!r} predicts numbers; leave out --task classify.")
    if hasattr(model, "classes_") and task == "regress":
        raise TableError(f"{path!r} predicts classes; leave out --task regress.")
    if not (model.is_regression or hasattr(model, "classes_")):
        raise TableError(
            f"{path!r} holds a learned kernel, which has features and no predictions; "
            "use kernel-learn transform."
        )
    return model
