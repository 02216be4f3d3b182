"""What a fit takes is what its plan says: traced and resident memory, accepted and refused."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import kernel_learn as kl
from kernel_learn.kernels import Gaussian

BANK = [Gaussian(0.1), Gaussian(0.01), Gaussian()]
SLOW = {"KernelLMNN", "KernelMCML", "KernelMMC", "KernelNCA", "ExpansionSVC"}
LEARNERS = {"KernelLMNN", "KernelMCML", "KernelMMC", "KernelNCA", "KernelRCA", "InductiveKernel"}


def make(name, form):
    kind = getattr(kl, name)
    known = kind().get_params()
    options = {"max_iter": 3} if name in SLOW else {}
    options |= {"random_state": 0} if "random_state" in known else {}
    options |= {"kernel": BANK} if "bank" in form else {}
    if "landmarks" in known:
        options["landmarks"] = {"landmarks": 100, "landmark bank": 60}.get(form, "all")
    if name == "MultiKernelSVC" and form == "landmarks":
        options["loss"] = "squared_hinge"
    return kind(**options)


def cases():
    names = {name for name in kl.__all__ if hasattr(getattr(kl, name), "fit")} - {"TableEncoder"}
    for name in sorted(names - {"PairClassifier"}):  # whose learner has the plan
        kind = getattr(kl, name)
        yield name, "exact"
        if "landmarks" in kind().get_params():
            yield name, "landmarks"
        if getattr(kind, "accepts_banks", False):
            yield name, "bank"
        if name in ("HSICSubspace", "KernelDiscriminant"):
            yield name, "landmark bank"


def data(name, rows):
    """Distinct rows, or rows of which 97 % repeat others."""
    rng = np.random.default_rng(0)
    n = {"distinct": 400, "repeated": 700}[rows] if name in LEARNERS else 1200
    X = rng.normal(size=(n, 10))
    if rows == "repeated":
        X = X[rng.integers(0, int(0.03 * n), n)]
        return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, rng.integers(0, 3, n)


def traced_peak(name, form, X, y):
    import tracemalloc
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(name, form).fit(X[:60], y[:60])  # what is imported and cached at the first fit
        model = make(name, form)
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, model.plan_


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["distinct", "repeated"])
@pytest.mark.parametrize(("name", "form"), list(cases()))
def test_peak_is_what_the_plan_says(name, form, rows):
    X, y = data(name, rows)
    peak, plan = traced_peak(name, form, X, y)
    if peak > 1.2 * plan.bytes_needed + 2e6:  # another thread of this process may have held some
        peak, plan = traced_peak(name, form, X, y)
    assert peak <= 1.2 * plan.bytes_needed + 2e6
    assert plan.bytes_needed <= 2 * peak + 2e6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_least_is_accepted_and_less_is_refused_before_anything_is_allocated(name, form):
    import tracemalloc

    X, y = data(name, "distinct")
    model = make(name, form)
    if "memory_budget" not in model.get_params():
        pytest.skip("has no memory_budget")
    least = model.fit(X, y).plan_.bytes_least
    accepted = make(name, form).set_params(memory_budget=least + 1).fit(X, y)
    assert accepted.plan_.bytes_needed <= least + 1
    tracemalloc.start()
    with pytest.raises(ValueError, match="the memory budget is"):
        make(name, form).set_params(memory_budget=least - 1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6 + 0.1 * least  # keys, and for InductiveKernel the constraints


@pytest.mark.parametrize(
    ("name", "n", "d", "classes", "form", "budget"),
    [
        ("HSICSubspace", 60_000, 10, 100, "landmarks", None),  # one-hot targets were 48 MB
        ("HSICSubspace", 2000, 2000, 3, "landmarks", None),
        ("HSICSubspace", 180, 6000, 3, "exact", None),
        ("HSICSubspace", 20_000, 20, 5, "landmark bank", None),
        ("HSICSubspace", 60_000, 10, 100, "landmarks", "32MB"),
        ("KernelDiscriminant", 60_000, 10, 100, "landmarks", "32MB"),
    ],
)
def test_large_shapes(name, n, d, classes, form, budget):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), np.arange(n) % classes
    if form == "exact":
        X = X[np.arange(n) // 2]  # half of the rows are repeated
    import tracemalloc

    model = make(name, form).set_params(memory_budget=budget)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.2 * model.plan_.bytes_needed + 2e6
    assert model.plan_.bytes_needed <= 2 * peak + 2e6


@pytest.mark.parametrize("n", [300, 450])
@pytest.mark.parametrize("landmarks", ["all", 100])
def test_held_out_parts_are_in_the_plan(n, landmarks):
    """Of few rows the parts that are scored for the probabilities are as large as the fit."""
    import tracemalloc

    X, y = np.random.default_rng(0).normal(size=(n, 10)), np.arange(n) % 3
    kl.SubspaceSVC(landmarks=landmarks, random_state=0).fit(X[:150], y[:150])
    tracemalloc.start()
    model = kl.SubspaceSVC(landmarks=landmarks, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.2 * model.plan_.bytes_needed <= 2.4 * peak


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "n", "d", "outputs", "options"),
    [
        (kl.KernelClassifier, 90, 3000, 4, {}),  # views of many columns
        (kl.KernelClassifier, 90, 3000, 4, {"quality": "fast", "assess": False}),
        (kl.KernelClassifier, 300, 30, 60, {}),  # scores of many classes
        (kl.KernelClassifier, 300, 30, 60, {"quality": "fast", "assess": False}),
        (kl.KernelClassifier, 300, 10, 3, {"n_jobs": 2}),  # two places at a time
        (kl.KernelClassifier, 600, 300, 3, {"quality": "fast"}),
        (kl.KernelClassifier, 1000, 10, 3, {"memory_budget": "2MB"}),  # leaves
        (kl.KernelClassifier, 1000, 10, 3, {"memory_budget": "10MB"}),
        (kl.KernelRegressor, 90, 2000, 1, {"quality": "fast"}),
        (kl.KernelRegressor, 90, 2000, 1, {"assess": False}),
        (kl.KernelRegressor, 300, 10, 30, {"quality": "fast"}),  # many targets
        (kl.KernelRegressor, 300, 10, 30, {"assess": False}),
        (kl.KernelRegressor, 300, 10, 1, {"n_jobs": 2, "assess": False}),
        (kl.KernelRegressor, 1000, 10, 2, {"memory_budget": "4MB"}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*which gives another model")
def test_shapes_of_ensembles(estimator, n, d, outputs, options):
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if estimator is kl.KernelClassifier:
        shares = np.quantile(X[:, 0], np.arange(1, outputs) / outputs)
        y = np.digitize(X[:, 0], shares).astype(str)
    else:
        y = X[:, :1] + 0.3 * rng.normal(size=(n, outputs))
    estimator(**options).fit(X[:200], y[:200])
    tracemalloc.start()
    model = estimator(**options).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.2 * model.plan_.bytes_needed + 2e6
    assert model.plan_.bytes_needed <= 2 * peak + 2e6
    assert model.plan_.bytes_least <= model.plan_.bytes_needed <= model.plan_.budget


SCRIPT = """
import json, sys, threading, time, warnings
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_memory import data, make
warnings.simplefilter("ignore")
name, form, rows = sys.argv[2:5]

def anonymous():
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon"))

X, y = data(name, rows)
make(name, form).fit(X[:60], y[:60])
model, before, peak, done = make(name, form), anonymous(), [0], threading.Event()

def watch():
    while not done.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.001)

watcher = threading.Thread(target=watch, daemon=True)  # or a fit that raises never ends
watcher.start()
model.fit(X, y)
done.set()
watcher.join()
print(json.dumps([peak[0] - before, model.plan_.bytes_needed]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.parametrize("rows", ["distinct", "repeated"])
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("HSICSubspace", "bank"),
        ("KernelDiscriminant", "exact"),
        ("KernelDiscriminant", "landmarks"),
        ("SubspaceSVC", "exact"),
        ("SubspaceSVC", "bank"),
        ("MultiKernelSVC", "bank"),
        ("InductiveKernel", "exact"),
        ("KernelLMNN", "exact"),
    ],
)
def test_resident_memory_in_a_fresh_process(name, form, rows):
    """What BLAS, LAPACK and LIBSVM allocate by themselves shows here and not in a trace."""
    here = os.path.dirname(__file__)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, here, name, form, rows],
        capture_output=True,
        text=True,
        check=True,
    )
    peak, planned = json.loads(run.stdout.splitlines()[-1])
    assert peak <= 1.2 * planned + 20e6
