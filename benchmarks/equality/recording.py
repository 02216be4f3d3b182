"""What is recorded of a case: arrays by name, which must stay the same, and texts, which may not.

An array is anything that is numbers, labels or names. A text is what is printed for a reader.
"""

import dataclasses
import json
import re
import time
import traceback
import warnings
from collections.abc import Mapping
from numbers import Number
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")
DEEPEST = 5


class Record:
    """Arrays and texts of one case."""

    def __init__(self, folder):
        self.folder = folder  # for the files of the case
        self.arrays, self.texts = {}, {}
        self.error = None

    def add(self, name, value, rows=None, depth=0):
        """Put a value down as arrays if it is made of such, else as a text."""
        is_prose = isinstance(value, str) and " " in value
        if depth > DEEPEST or value is None or is_prose:
            self.say(name, value)
        elif sparse.issparse(value):
            csr = value.tocsr()
            for part in ("data", "indices", "indptr"):
                self.add(f"{name}.{part}", getattr(csr, part))
        elif isinstance(value, np.ndarray | np.generic | Number | str):
            self._add_array(name, np.asarray(value))
        elif hasattr(value, "to_numpy"):
            self.add(name, value.to_numpy(), rows, depth + 1)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                self.add(f"{name}[{key}]", part, rows, depth + 1)
        elif isinstance(value, list | tuple):
            self._add_list(name, value, rows, depth)
        elif isinstance(value, BaseEstimator) and callable(value):
            self._add_kernel(name, value, rows)
        elif dataclasses.is_dataclass(value):
            self.say(name, value)
            for field in dataclasses.fields(value):
                self.add(f"{name}.{field.name}", getattr(value, field.name), rows, depth + 1)
        else:
            self.say(name, value)

    def say(self, name, value):
        """Put down what is printed, without places in memory and names of this folder."""
        text = re.sub(r" at 0x\w+|, about \S+ s$", "", str(value))  # nor seconds of this machine
        self.texts[name] = text.replace(str(self.folder), "FOLDER")

    def _add_array(self, name, values):
        if values.dtype != object:
            self.arrays[name] = values
            return
        kinds = {type(one) for one in values.ravel().tolist()}
        if kinds <= {str}:  # archives without pickle hold no objects
            self.arrays[name] = values.astype(str)
        elif all(issubclass(kind, Number | bool) for kind in kinds):
            self.arrays[name] = values.astype(float)
        elif values.ndim == 1 and all(hasattr(one, "shape") for one in values):
            self._add_list(name, list(values), None, 1)
        else:
            self.arrays[name] = np.array([repr(one) for one in values.ravel().tolist()])

    def _add_list(self, name, values, rows, depth):
        if values and all(isinstance(one, Number | str) for one in values):
            self._add_array(name, np.asarray(values))
            return
        if len(values) > 1 and all(isinstance(one, Mapping) for one in values):
            keys = dict.fromkeys(key for one in values for key in one)
            values = {key: [one.get(key) for one in values] for key in keys}  # as histories are
            self.add(name, values, rows, depth)
            return
        names = getattr(values, "_fields", range(len(values)))
        for key, part in zip(names, values, strict=True):
            self.add(f"{name}[{key}]", part, rows, depth + 1)

    def _add_kernel(self, name, kernel, rows):
        self.say(name, kernel)
        if rows is None:
            return
        try:
            self.arrays[f"{name}(rows)"] = np.asarray(kernel(rows))
        except Exception as error:
            self.say(f"{name}(rows)", f"{type(error).__name__}: {error}")

    def add_model(self, model, rows, *, prefix="", methods=METHODS):
        """Its fitted attributes, and what it says of new rows."""
        for name in fitted_names(model):
            try:
                value = getattr(model, name)
            except AttributeError:
                continue
            self.add(f"{prefix}{name}", value, rows)
        for name in methods:
            if hasattr(model, name):
                self.add(f"{prefix}{name}()", getattr(model, name)(rows))


def fitted_names(model):
    """Public names that end in an underscore, properties too."""
    return [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]


def run_case(name, function, folder):
    """The record of a case; one that raises is recorded with its error."""
    record, start = Record(folder), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(record)
        except Exception as error:
            record.error = type(error).__name__
            record.say("error", error)
            record.trace = traceback.format_exc()
    told = sorted({f"{one.category.__name__}: {one.message}" for one in caught})
    record.say("warnings", "\n".join(told))
    record.seconds = time.process_time() - start
    return record


def file_name(case):
    """A name that any file system takes."""
    return re.sub(r"[^\w.+=-]+", "_", case)


def write(record, case, folder):
    """One .npz of the arrays and one .json of everything else."""
    path = Path(folder) / file_name(case)
    # the names stand in the .json: those in an archive would be names of files
    names = sorted(record.arrays)
    arrays = {f"a{i}": np.ascontiguousarray(record.arrays[n]) for i, n in enumerate(names)}
    np.savez(f"{path}.npz", **arrays)
    content = {
        "case": case,
        "seconds": round(record.seconds, 3),
        "error": record.error,
        "names": names,
        "texts": dict(sorted(record.texts.items())),
    }
    Path(f"{path}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")


def read(path):
    """(error, arrays by name, texts by name) of a case; ``path`` is its .json."""
    content = json.loads(path.read_text(encoding="utf-8"))
    with np.load(path.with_name(path.name.removesuffix(".json") + ".npz")) as archive:
        arrays = {name: archive[f"a{i}"] for i, name in enumerate(content["names"])}
    return content["case"], content["error"], arrays, content["texts"]
