"""A table's model without some of its training rows, found by their cells."""

import json
from collections.abc import Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, replace

import numpy as np

from kernel_learn.arrays import Array
from kernel_learn.ensemble.ledger.discriminant import DiscriminantLedger
from kernel_learn.ensemble.ledger.estimator import Ledger
from kernel_learn.rows.frames import Frame
from kernel_learn.rows.keys import are_among, row_keys
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.encoder_levels import encoder_without
from kernel_learn.tables.encoder_texts import drop_words
from kernel_learn.tables.model import TableModel, table_keys
from kernel_learn.tables.reading.table_reading import TableReading

KEPT_ENCODERS = "encoders of the table's columns: medians, scales, weights of parts of words"


def ledger_of(model: TableModel) -> Ledger | DiscriminantLedger:
    """The estimator of a model that knows its rows, or a sentence."""
    found = model.estimator_
    if isinstance(found, DiscriminantLedger) and found.plan_.representation != "gram":
        raise TableError(
            f"This {type(found).__name__} was fitted on landmarks, or on features of its kernel, "
            "and the file of such a model keeps no account of its training rows. Fit it with "
            "--set landmarks=all (and a larger --memory), or with --method auto."
        )
    if not isinstance(found, Ledger | DiscriminantLedger):
        raise TableError(
            f"This model is a {type(found).__name__}, and rows are accounted for by "
            "KernelClassifier, KernelRegressor and KernelDiscriminant alone: fit with --method "
            "auto."
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

    Rows are equal if the estimator sees them so: behind a full encoding an empty cell is the
    median, and a row is looked for only if its cells were in the training table. Statistics of
    columns, encoders of text and dates among them, are as they were, without parts of words that
    no other row had; the figures of a report, which quote rows, are dropped.
    """
    ledger = ledger_of(model)
    new, old = ledger.equal_rows(model.encode(frame))
    if model.encoding == "full":
        there = model.has_seen(frame)[new]
        new, old = new[there], old[there]
    gone = np.unique(old)
    if not len(gone):
        raise TableError(
            f"None of the {len(frame)} rows is one that the model was fitted to: cells must be "
            "those of the training table, in all its columns."
        )
    found = copy(model)
    found.estimator_ = smaller = ledger.forget(gone)
    if model.encoder_ is not None:
        told = smaller.forgotten_
        smaller.forgotten_ = replace(told, kept=(*told.kept, KEPT_ENCODERS))
    if hasattr(model, "labels_"):
        found.labels_ = np.delete(model.labels_, gone)
    if model.encoder_ is not None:
        if isinstance(smaller, DiscriminantLedger):
            found.encoder_ = encoder_without(model, np.asarray(smaller._distinct_rows))
        else:
            found.encoder_ = deepcopy(model.encoder_)
        first = new[np.unique(old, return_index=True)[1]]
        n_fitted = len(smaller._rows_of_fit("forget").distinct) + smaller.forgotten_.n_rows
        drop_words(found, model.cast(frame).iloc[first], n_fitted)
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
    ledger = ledger_of(model)
    if isinstance(ledger, DiscriminantLedger):
        return encoded_levels_left(model, ledger)
    reader = ledger._fitted.ensemble.reader
    names = list(getattr(model.estimator_, "feature_names_in_", ()))
    pairs = zip(reader.categories, reader.levels, strict=True)
    return {str(names[c]): {own[1:] for own in levels.tolist()} for c, levels in pairs if names}


def encoded_levels_left(model: TableModel, ledger: DiscriminantLedger) -> dict[str, set[str]]:
    """The same, by what levels look like behind a full encoding."""
    pd, held, found = need_pandas(), np.asarray(ledger._distinct_rows), {}
    places, known = model.encoded_places(), levels_known(model)
    for name in model.columns_.of("category"):
        levels = sorted(known.get(name, ()))
        own = places.get(name, [])
        if levels and own:
            rows = pd.DataFrame({c: levels if c == name else np.nan for c in model.columns_.used})
            seen = row_keys(np.asarray(model.encode(rows))[:, own])
            there = are_among(seen, row_keys(held[:, own]))
            found[name] = {level for level, held in zip(levels, there, strict=True) if held}
    return found


def levels_known(model: TableModel) -> dict[str, set[str]]:
    """Levels that were in the training table, where the model says so."""
    told = json.loads(getattr(model, "seen_", "{}")).get("levels", {})
    found = {name: set(levels) for name, levels in told.items()}
    if hasattr(model, "reading_"):
        for name, own in TableReading.from_json(model.reading_).columns.items():
            found.setdefault(name, set()).update(own.levels.values())
    return found


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
    own = ledger_of(model)._labels_of_fit("forget")[rows]
    if model.is_regression:
        return np.asarray(need_pandas().to_numeric(labels, errors="coerce") == own)
    return np.array([str(a) == str(b) for a, b in zip(labels, own, strict=True)], dtype=bool)
