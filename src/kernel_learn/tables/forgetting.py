"""A table's model without some of its training rows, found by their cells."""

from copy import copy
from dataclasses import dataclass

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, need_pandas
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


@dataclass(frozen=True)
class RowsForgotten:
    """A model without the rows of a table, and which these were."""

    model: TableModel
    n_rows: int  # training rows that were forgotten now
    n_unknown: int  # rows of the table that the model has not seen
    n_otherwise: int  # rows forgotten whose label, or number, is another in the table


def forget_rows(model: TableModel, frame: Frame) -> RowsForgotten:
    """A model that never saw the rows of a table, whatever their labels; ``model`` stays.

    Statistics of columns, encoders of text and dates among them, are as they were; the figures
    of a report, which quote rows, are dropped.
    """
    ledger = ledger_of(model)
    new, old = ledger.equal_rows(model.encode(frame))
    gone = np.unique(old)
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
    n_unknown, otherwise = len(frame) - len(np.unique(new)), 0
    if model.target in frame.columns:
        alike = same_labels(model, frame[model.target].to_numpy()[new], old)
        otherwise = len(np.setdiff1d(gone, old[alike]))
    return RowsForgotten(found, len(gone), n_unknown, otherwise)


def same_labels(model: TableModel, labels: Array, rows: Array) -> Array:
    """Whether training rows have these labels, or numbers."""
    ledger = ledger_of(model)
    own = ledger._labels_given(ledger._rows_of_fit("forget"))[rows]
    if model.is_regression:
        return np.asarray(need_pandas().to_numeric(labels, errors="coerce") == own)
    return np.array([str(a) == str(b) for a, b in zip(labels, own, strict=True)], dtype=bool)
