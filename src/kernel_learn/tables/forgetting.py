"""A table's model without some of its training rows, found by their cells."""

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.model import TableModel, table_keys
from kernel_learn.tables.reading.table_reading import TableReading


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
    left = levels_left(found)
    if hasattr(model, "seen_"):
        found.seen_ = seen_without(model.seen_, left)
    if hasattr(model, "reading_"):
        found.reading_ = reading_without(model.reading_, left, model.target)
    n_unknown, otherwise = len(frame) - len(np.unique(new)), 0
    if model.target in frame.columns:
        alike = same_labels(model, frame[model.target].to_numpy()[new], old)
        otherwise = len(np.setdiff1d(gone, old[alike]))
    return RowsForgotten(found, len(gone), n_unknown, otherwise)


def levels_left(model: TableModel) -> dict[str, set[str]]:
    """Levels that training rows have, of each category that the estimator reads."""
    reader = ledger_of(model)._fitted.ensemble.reader
    names = list(getattr(model.estimator_, "feature_names_in_", ()))
    pairs = zip(reader.categories, reader.levels, strict=True)
    return {str(names[c]): {own[1:] for own in levels.tolist()} for c, levels in pairs if names}


def seen_without(seen: str, left: Mapping[str, set[str]]) -> str:
    """What was seen, without levels that no row has any more."""
    told = json.loads(seen)
    for name, there in left.items():
        if name in told["levels"]:
            told["levels"][name] = [level for level in told["levels"][name] if level in there]
    return json.dumps(told)


def reading_without(reading: str, left: Mapping[str, set[str]], target: str) -> str:
    """How cells are read, without spellings of such levels, and of columns that are not used."""
    found = TableReading.from_json(reading)
    columns = {
        name: own
        if name == target
        else replace(
            own, levels={k: word for k, word in own.levels.items() if word in left.get(name, ())}
        )
        for name, own in found.columns.items()
    }
    return replace(found, columns=columns).to_json()


def same_labels(model: TableModel, labels: Array, rows: Array) -> Array:
    """Whether training rows have these labels, or numbers."""
    ledger = ledger_of(model)
    own = ledger._labels_given(ledger._rows_of_fit("forget"))[rows]
    if model.is_regression:
        return np.asarray(need_pandas().to_numeric(labels, errors="coerce") == own)
    return np.array([str(a) == str(b) for a, b in zip(labels, own, strict=True)], dtype=bool)
