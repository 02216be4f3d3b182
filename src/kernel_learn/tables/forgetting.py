"""A table's model without some of its training rows, found by their cells."""

from copy import copy

import numpy as np

from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError
from kernel_learn.tables.model import TableModel, table_keys


def ledger_of(model: TableModel) -> Ledger:
    """The estimator of a model that knows its rows, or a sentence."""
    found = model.estimator_
    if not isinstance(found, Ledger):
        raise TableError(
            f"This model is a {type(found).__name__}, and rows are accounted for by "
            "KernelClassifier and KernelRegressor alone: fit with --method auto."
        )
    return found


def forget_rows(model: TableModel, frame: Frame) -> TableModel:
    """A model that never saw the rows of a table, whatever their labels; ``model`` stays.

    Statistics of columns, encoders of text and dates among them, are as they were; the figures
    of a report, which quote rows, are dropped.
    """
    ledger = ledger_of(model)
    gone = ledger.find_rows(model.encode(frame))
    if not len(gone):
        raise TableError(
            f"None of the {len(frame)} rows is one that the model was fitted to: cells must be "
            "those of the training table, in all its columns."
        )
    found = copy(model)
    found.estimator_ = ledger.forget(gone)
    if hasattr(model, "labels_"):
        found.labels_ = np.delete(model.labels_, gone)
    found.row_keys_ = np.setdiff1d(model.row_keys_, table_keys(model.cast(frame)))
    found.__dict__.pop("facts_", None)
    return found
