"""Model files of the command line: a TableModel by ``kernel_learn.save``."""

from kernel_learn.interop.files import load
from kernel_learn.interop.metadata import carried_rows, our_parts
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import TableModel


def load_model(path: str) -> TableModel:
    """Read a model that knows its columns."""
    model: object = load(path)
    if not isinstance(model, TableModel):
        raise TableError(
            f"{path!r} holds a {type(model).__name__}, which does not know the columns of a table; "
            "use it in Python with kernel_learn.load."
        )
    return model


def contained_rows(model: TableModel) -> int:
    """How many training rows the model holds."""
    return max((carried_rows(part) for part in our_parts(model)), default=0)


def load_classifier(path: str) -> TableModel:
    """Read a model that predicts classes."""
    model = load_model(path)
    if not hasattr(model, "classes_"):
        raise TableError(
            f"{path!r} holds a learned kernel, which has features and no classes; "
            "use kernel-learn transform."
        )
    return model
