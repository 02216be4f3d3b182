"""Memory budgets of every estimator in a process of its own; time budgets; many classes."""

import json
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import kernel_learn as kl
from chaos.faults import answer, record, start
from chaos.test_numbers import FIRST, NAMES
from kernel_learn.ensemble import clock

BUDGET = 100 * 10**6
BUDGETED = [name for name in NAMES if "memory_budget" in FIRST[name].get_params()]


def anonymous():
    """Bytes of memory that is not a file's."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def peak_of(model, X, y):
    """How far the memory of this process rises while a model is fitted."""
    most, done = [0], threading.Event()
    before = anonymous()

    def watch():
        while not done.is_set():
            most[0] = max(most[0], anonymous() - before)
            time.sleep(0.002)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except ValueError as error:
            return str(error)
        finally:
            done.set()
            watcher.join()
    return most[0]


@pytest.mark.parametrize("name", BUDGETED)
def test_memory_budgets(name):
    """The peak is at most 1.2 times the budget, or a sentence says that it does not do."""
    rng = np.random.default_rng(0)
    y = np.arange(1700) % 3
    X = rng.normal(size=(1700, 10)) + y[:, None]
    model = clone(FIRST[name]).set_params(memory_budget=BUDGET)
    said = answer(start(peak_of, model, X, y))
    assert "value" in said, said
    if isinstance(said["value"], str):
        assert "memory" in said["value"]
        record("a memory budget of 100 MB", "every estimator", "a sentence")
        return
    assert said["value"] <= 1.2 * BUDGET, json.dumps(said)
    record("a memory budget of 100 MB", "every estimator", "kept to 1.2 times of it")


@pytest.mark.parametrize("seconds", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("kind", [kl.KernelClassifier, kl.KernelRegressor])
def test_time_budgets(kind, seconds, monkeypatch):
    """Kept to within a fifth, by a clock that other processes do not turn."""
    monkeypatch.setattr(clock, "now", time.process_time)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 10))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    y = (y > 0).astype(int) if kind is kl.KernelClassifier else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = kind(time_budget=seconds).fit(X, y)
        spent = time.process_time() - start
    assert spent <= 1.2 * seconds
    assert model.score(X, y) > 0.5
    record("a time budget of 0.5 to 10 s", kind.__name__, "kept to 1.2 times of it")


@pytest.mark.parametrize(
    "model",
    [
        kl.KernelDiscriminant(reg=1e-3, decision="centroid", landmarks=100, random_state=0),
        kl.KernelOrthogonalCentroid(landmarks=100, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_thousand_classes(model):
    """Three rows of each, far apart: the nearest training row has the class of a new one."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(2000, 12))
    y = np.repeat(np.arange(2000), 3)
    X = centres[y] + 0.01 * rng.normal(size=(6000, 12))
    X_new = centres + 0.01 * rng.normal(size=(2000, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these are many classes
        model = clone(model).fit(X, y)
    if hasattr(model, "predict"):
        assert np.mean(model.predict(X_new) == np.arange(2000)) > 0.9
    F, F_new = model.transform(X), model.transform(X_new[:200])
    assert np.isfinite(F).all()
    near = ((F_new[:, None, :] - F[None, ::3, :]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(near == np.arange(200)) > 0.9
    record("2000 classes", "landmarks", "the right classes")
