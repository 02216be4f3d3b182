"""Every array of every kind of model, damaged in every way: refused, or answers that are finite.

What ``load`` does after it has built a model is asked here without writing a file for each: a copy
of the model in which one array is another one goes through ``check_state`` and is then used.
"""

import copy
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, NuSVC

import kernel_learn as kl

pytest.importorskip("skops")
from interop.models import NAMES, X, fitted, outputs, y
from kernel_learn.interop.errors import WrongStateError
from kernel_learn.interop.state import WITHOUT_STATE, check_state

FOREIGN = {
    "support vectors": SVC(),
    "support vectors of nu": NuSVC(nu=0.2),
    "neighbours": KNeighborsClassifier(3, algorithm="brute"),
    "logistic": LogisticRegression(),
}
# one of each class; those of ensembles take long, and are among the others
ENSEMBLES = ("KernelClassifier", "KernelRegressor")
FIRST = list({name.partition(": ")[2]: name for name in reversed(NAMES) if ": " in name}.items())
FIRST = [name for kind, name in FIRST if kind not in ENSEMBLES]
OWN = ["frame, one member", "an encoded table", "strings", "bank on a frame", "stacked bank"]
OWN += ["views", "sparse", "sparse support", "float32", "low rank", "deformed", "a learned kernel"]
OWN += ["leaves", "pairs", "sums", "index", "several labels", "several numbers"]
CHANGES = {
    "cut": lambda a: a[:-1],
    "narrow": lambda a: a[..., :-1],
    "NaN": lambda a: np.full(a.shape, np.nan),
    "one NaN": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, np.nan, a),
    "huge": lambda a: np.full_like(a, 10**8 if a.dtype.itemsize > 2 else 100),
    "negative": lambda a: a[::-1] if a.dtype.kind in "ub" else np.full_like(a, -5),
    "twice": lambda a: np.concatenate([a, a]),
    "empty": lambda a: a[:0],
    "another dimension": lambda a: a[None],
}


def children(part):
    """What an object holds, by its name there."""
    if isinstance(part, dict):
        return list(part.items())
    if isinstance(part, list | tuple):
        return list(enumerate(part))
    is_object = hasattr(part, "__dict__") and not isinstance(part, WITHOUT_STATE)
    return list(vars(part).items()) if is_object else []


def arrays_of(model):
    """(where, array) for arrays of numbers; of many members, trees or folds one of each."""
    seen, found, waiting = set(), {}, [("", model)]
    while waiting:
        where, part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            if part.dtype.kind in "fiub" and part.ndim:
                found.setdefault(re.sub(r"\.\d+", ".i", where), part)
        elif "_assessment" not in where:  # ensembles like the one that predicts
            waiting += [(f"{where}.{name}", own) for name, own in children(part)]
    return found


def some_rows(rows):
    return [side[:20] for side in rows] if isinstance(rows, list) else rows[:20]


def all_finite(found):
    return {k: v.dtype.kind != "f" or bool(np.isfinite(v).all()) for k, v in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FOREIGN, *FIRST, *OWN])
@pytest.mark.filterwarnings("ignore")
def test_no_damaged_array_is_used(name):
    model, rows = (FOREIGN[name].fit(X, y), X) if name in FOREIGN else fitted(name)
    with tempfile.TemporaryDirectory() as folder:
        kl.save(model, Path(folder) / "model.skops")
        model = kl.load(Path(folder) / "model.skops")
    is_pairwise = getattr(rows, "shape", (0, 1))[0] == getattr(rows, "shape", (0, 0))[-1]
    few = rows if is_pairwise else some_rows(rows)
    known = all_finite(outputs(copy.deepcopy(model), few))
    refused, wrong = 0, []
    for where, array in arrays_of(model).items():
        for change, damage in CHANGES.items():
            if "NaN" in change and array.dtype.kind != "f":
                continue
            damaged = copy.deepcopy(model, {id(array): damage(array)})
            try:
                check_state(damaged)
            except WrongStateError:
                refused += 1
                continue
            try:
                found = all_finite(outputs(damaged, few))
            except Exception as error:
                wrong.append(f"{where}, {change}: {type(error).__name__}: {error}")
                continue
            bad = [method for method in known if known[method] and not found[method]]
            if bad:
                wrong.append(f"{where}, {change}: {bad} are not finite")
    assert refused
    assert wrong == []
