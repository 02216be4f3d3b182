"""KernelClassifier against what people use: error, log loss and CPU time on fixed splits.

    KERNEL_LEARN_DATA=folder python benchmarks/compare.py --sets wine sonar --out out/compare.csv

Sets: every data set of the folder, and its ``mixed/*.csv`` (data frames with a
column ``target``). Of each set at most 300 rows per class, drawn with
``default_rng(0)`` in class order (of ``many/NAME`` 3000, and 8000 in all); then half of them is
for training by
``StratifiedShuffleSplit(1, test_size=0.5, random_state=s)``, s = 0..4. With
``--inner`` the training half alone is split once more (70 : 30): choices are
made there, so that the test halves choose nothing. Each figure is written as
soon as it is known, with the code that made it; what the file already holds is
not done again. Each fit has a process of its own, for its memory; before these start, every method
is fitted once to a few rows, so that nobody's imports are timed. LightGBM,
CatBoost, xRFM and RealMLP take part where they are installed. One thread.
``--page FILE`` writes docs/results/classifier-comparison.md from a file of figures,
with ``--template benchmarks/costs.md`` docs/results/classifier-costs.md, and with
``costs_many.md`` that of 2000 to 5000 rows.
"""

import argparse
import csv
import multiprocessing
import os
import resource
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from comparison import TEMPLATE, make_page, read_figures
from rivals import METHODS, PACKAGES, calibrated
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from kernel_learn.datasets.folder import VARIABLE, find_data
from kernel_learn.papers.origin import library_version, made_now

FIELDS = ["set", "split", "method", "n", "error", "log_loss", "cpu", "memory", "made"]
MOST_PER_CLASS = 300
MANY, MANY_PER_CLASS, MANY_ROWS = "many/", 3000, 8000
SPLITS = 5


@cache
def load(folder, name):
    """(X, y) with at most 300 rows per class, or many; y as indices of sorted classes."""
    is_many, name = name.startswith(MANY), name.removeprefix(MANY)
    if name.startswith("mixed/"):
        import pandas as pd

        frame = pd.read_csv(folder.path / f"{name}.csv")
        X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    else:
        X, y = folder.load(name)
        X = np.hstack(X) if isinstance(X, list) else X
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    most = MANY_PER_CLASS if is_many else MOST_PER_CLASS
    rows = [rng.permutation(np.flatnonzero(y == c))[:most] for c in range(int(y.max()) + 1)]
    rows = np.concatenate(rows)
    rows = np.sort(rng.permutation(rows)[:MANY_ROWS]) if is_many else rows
    return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), y[rows]


def split(X, y, s, inner):
    train, test = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=s).split(y, y))
    if inner:
        outer = train
        few = np.isin(y[outer], np.flatnonzero(np.bincount(y[outer]) < 2))
        strata = np.where(few, np.bincount(y).argmax(), y[outer])
        parts = StratifiedShuffleSplit(1, test_size=0.3, random_state=s).split(strata, strata)
        a, b = next(parts)
        train, test = outer[a], outer[b]

    def take(rows):
        return X.iloc[rows] if hasattr(X, "iloc") else X[rows]

    return take(train), y[train], take(test), y[test]


def measure(method, X, y, X_new, y_new):
    """Error in per cent, log loss (nan without probabilities) and CPU seconds of fit and predict.

    Where a search has no probabilities, the log loss is that of its best
    machine calibrated by folds, whose time is not counted.
    """
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of the peers, on classes of one row
        start = time.process_time()
        model = METHODS[method](X, y).fit(X, y)
        labels = np.ravel(model.predict(X_new))
        cpu = time.process_time() - start
        error = 100 * float(np.mean(labels != y_new))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if not hasattr(model, "predict_proba"):
            model = calibrated(model, X, y)
        P = np.zeros((len(y_new), int(max(y.max(), y_new.max())) + 1))
        P[:, model.classes_] = model.predict_proba(X_new)
        P = np.maximum(P, 1e-9)
        loss = log_loss(y_new, P / P.sum(axis=1, keepdims=True), labels=np.arange(P.shape[1]))
    return error, float(loss), cpu, peak


def warm(methods):
    """Fit every method once to a few rows: what it imports or compiles then is no part of a fit."""
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for method in methods:
            METHODS[method](X, y).fit(X, y).predict(X)


def measure_alone(*arguments):
    """The same in a child process, with the memory in MB that it took beyond what was there."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            error, loss, cpu, peak = measure(*arguments)
        except Exception as failure:
            there.send(f"{type(failure).__name__}: {failure}")
        else:
            there.send((error, loss, cpu, (peak - before) / 1024))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        found = "the process ended"
    child.join()
    return found


def made(method):
    """Code, date and versions, the method's own package with them."""
    now = made_now()
    own = [library_version(package) for package in PACKAGES.get(method, ())]
    return "; ".join([now["commit"], now["date"], now["versions"], *own])


def known(path):
    if not path.exists():
        return set()
    with path.open() as file:
        return {(row["set"], int(row["split"]), row["method"]) for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", help="by default all")
    parser.add_argument("--methods", nargs="*", default=["KernelClassifier", "SVC"])
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--inner", action="store_true", help="split the training halves only")
    parser.add_argument("--out", type=Path, default=Path("out/compare.csv"))
    parser.add_argument("--data", default=os.environ.get(VARIABLE), help="folder of the data sets")
    parser.add_argument("--page", type=Path, help="write the page of --out, run nothing")
    parser.add_argument("--template", type=Path, default=TEMPLATE, help="of the page")
    arguments = parser.parse_args()
    if arguments.page:
        page = make_page(read_figures(arguments.out), arguments.template)
        arguments.page.write_text(page, encoding="utf-8")
        return
    if not arguments.data:
        print(f"Name the folder of data sets with --data or {VARIABLE} to run this comparison.")
        return
    folder = find_data(arguments.data)
    mixed = sorted(f"mixed/{path.stem}" for path in folder.path.glob("mixed/*.csv"))
    everything = [name for name in folder.names() if not name.endswith("_kernels")] + mixed
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = known(arguments.out)
    warm(arguments.methods)
    with arguments.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        jobs = [(s, name) for s in range(arguments.splits) for name in arguments.sets or everything]
        for s, name in jobs:
            for method in arguments.methods:
                if (name, s, method) in done:
                    continue
                data = split(*load(folder, name), s, arguments.inner)
                found = measure_alone(method, *data)
                if isinstance(found, str):
                    print(f"{name} {s} {method}: {found}", file=sys.stderr, flush=True)
                    found = (np.nan,) * 4
                figures = (f"{value:.6g}" for value in found)
                values = [name, s, method, len(data[1]), *figures, made(method)]
                writer.writerow(dict(zip(FIELDS, values, strict=True)))
                file.flush()
    print(make_page(read_figures(arguments.out)))


if __name__ == "__main__":
    main()
