"""Any amount of rows: throughput beside a bare loop, memory, growth, and peers on real data.

    python benchmarks/scale.py [--rows 1000000] [--part throughput growth bank real landmarks]

The real data (covtype, MNIST) are read from the folder named by KERNEL_LEARN_DATA. Each fit runs
in a process of its own, on one thread; times are CPU times, memory is the peak of anonymous
pages above that of the data in an otherwise equal process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from timing import report_ratio

GAMMA, COLUMNS, LANDMARKS, BLOCK = 1 / 100, 50, 1000, 2700


# -- what runs in a process of its own --------------------------------------------------


def anonymous():
    """Bytes of memory that is not a file's."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) * 1024


class Peak(threading.Thread):
    """Watches anonymous memory until it is told to end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.before, self.most, self.going = anonymous(), 0, True

    def run(self):
        while self.going:
            self.most = max(self.most, anonymous() - self.before)
            time.sleep(0.01)


def measured(work):
    peak = Peak()
    peak.start()
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    peak.going = False
    peak.join()
    return {"seconds": seconds, "bytes": peak.most, "result": result}


def bare_loop(folder, n):
    """The kernel block in float32, z = kT and z'z, and nothing else."""
    from kernel_learn.kernels import Gaussian

    X = np.load(folder / "X.npy", mmap_mode="r")[:n]
    kernel, few = Gaussian(GAMMA), np.array(X[:LANDMARKS])
    w, U = np.linalg.eigh(kernel(few.astype(np.float64)))
    T = (U / np.sqrt(np.maximum(w, 1e-8))).astype(np.float32)
    C = np.zeros((LANDMARKS, LANDMARKS), np.float32)
    for i in range(0, n, BLOCK):
        Z = kernel(X[i : i + BLOCK], few) @ T
        C += Z.T @ Z
    return float(C[0, 0])


def our_fit(folder, n, name, source):
    import kernel_learn as kl
    from kernel_learn.datasets import NpySource, ParquetSource
    from kernel_learn.kernels import Gaussian

    model = getattr(kl, name)(Gaussian(GAMMA), landmarks=LANDMARKS, random_state=0)
    if source == "memmap":
        X, y = (np.load(folder / f"{part}.npy", mmap_mode="r")[:n] for part in "Xy")
        model.fit(X, np.asarray(y))
    elif source == "npy":
        model.fit(NpySource(folder / "X.npy", folder / "y.npy"))
    else:
        model.fit(ParquetSource(folder / "rows.parquet", target="label"))
    return model.plan_.price.seconds


def real_data(name):
    from kernel_learn.datasets import find_data

    content = find_data().content(name)
    X, y = content["X"], content["y"]
    if name == "mnist":
        train = np.arange(len(y)) < 60_000
        X = (X / 255).astype(np.float32)
    else:
        train = np.random.default_rng(0).permutation(len(y)) % 10 > 0
        X = X.astype(np.float32)
        X = (X - X[train].mean(0)) / np.maximum(X[train].std(0), 1e-6)
    return X[train], y[train], X[~train], y[~train]


def real_gamma(name):
    return {"mnist": 0.02, "covtype": 0.1}[name]


def real_fit(name, method, landmarks, rule="rpcholesky"):
    """Error on the test rows; the fit alone is timed."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    import kernel_learn as kl
    from kernel_learn.kernels import Gaussian, gaussian_bank

    X, y, X_test, y_test = real_data(name)
    gamma = real_gamma(name)
    own = {"landmarks": kl.Landmarks(rule, landmarks), "random_state": 0}
    theirs = Nystroem(gamma=gamma, n_components=landmarks, random_state=0)
    bank = list(gaussian_bank(10, relative=True).values())
    model = {
        "KernelDiscriminant": lambda: kl.KernelDiscriminant(Gaussian(gamma), **own),
        "SubspaceSVC": lambda: kl.SubspaceSVC(
            Gaussian(gamma), C=2.0, reg=1e-6, uncorrelated=False, tol=1e-3, **own
        ),
        "bank of 10": lambda: kl.HSICSubspace(
            bank, uncorrelated=True, landmarks=landmarks // 10, random_state=0
        ),
        "one kernel": lambda: kl.HSICSubspace(
            Gaussian(gamma), uncorrelated=True, landmarks=landmarks, random_state=0
        ),
        "RidgeClassifier": lambda: make_pipeline(theirs, RidgeClassifier(alpha=1e-2)),
        "LinearSVC": lambda: make_pipeline(theirs, LinearSVC(C=1.0, tol=1e-3)),
        "SGDClassifier": lambda: make_pipeline(theirs, SGDClassifier(random_state=0)),
    }[method]()
    found = measured(lambda: model.fit(X, y) and None)
    if hasattr(model, "predict"):
        found["result"] = float(np.mean(model.predict(X_test) != y_test))
    return found


TASKS = {"bare": bare_loop, "fit": our_fit, "real": real_fit}


# -- what calls it ----------------------------------------------------------------------


def run(task, *arguments):
    """The task's figures, measured in a process of its own."""
    command = [sys.executable, __file__, "--task", json.dumps([task, *map(str, arguments)])]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        raise SystemExit(f"{task} {arguments} failed")
    return json.loads(done.stdout.splitlines()[-1])


def run_task(task, *arguments):
    with threadpool_limits(1):
        if task == "real":
            found = real_fit(arguments[0], arguments[1], int(arguments[2]), *arguments[3:])
        else:
            folder, n = Path(arguments[0]), int(arguments[1])
            found = measured(lambda: TASKS[task](folder, n, *arguments[2:]))
    print(json.dumps(found))


def write_rows(folder, n, parquet=True):
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, COLUMNS))
    y = np.empty(n, np.int64)
    for i in range(0, n, 10**5):
        block = rng.normal(size=(min(10**5, n - i), COLUMNS)).astype(np.float32)
        X[i : i + len(block)] = block
        y[i : i + len(block)] = (block[:, 0] + block[:, 1] * block[:, 2] > 0) + (block[:, 3] > 1)
    X.flush()
    np.save(folder / "y.npy", y)
    if parquet:
        import pyarrow
        from pyarrow import parquet as pq

        columns = {f"c{j}": X[:, j] for j in range(COLUMNS)}
        pq.write_table(
            pyarrow.table({**columns, "label": y}), folder / "rows.parquet", row_group_size=10**5
        )


def throughput(n):
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_rows(folder, n)
        bare = run("bare", folder, n)["seconds"]
        print(f"bare loop, {n} rows: {bare:.1f} s", flush=True)
        for source, least in (("memmap", 0.7), ("npy", 0.7), ("parquet", 0.6)):
            for name in ("HSICSubspace", "KernelDiscriminant"):
                found = run("fit", folder, n, name, source)
                what = f"{name}, {source}, {n} rows"
                report_ratio(f"{what}: time / bare loop", found["seconds"] / bare, 1 / least)
                report_ratio(f"{what}: peak memory in GB", found["bytes"] / 1e9, 1.0)
                off = found["result"] / found["seconds"]
                report_ratio(f"{what}: expected time, off by", max(off, 1 / off), 1.5)


def growth(n):
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_rows(folder, n, parquet=False)
        few = n // 10
        times = {rows: run("fit", folder, rows, "HSICSubspace", "memmap") for rows in (few, n)}
        slope = np.log(times[n]["seconds"] / times[few]["seconds"]) / np.log(n / few)
        report_ratio(f"HSICSubspace from {few} to {n} rows: growth exponent", slope, 1.03)


def real(name, landmarks=LANDMARKS):
    methods = ("KernelDiscriminant", "RidgeClassifier", "SubspaceSVC", "SGDClassifier", "LinearSVC")
    found = {method: run("real", name, method, landmarks) for method in methods}
    for method in methods:
        own = found[method]
        print(
            f"{name}: {method:20} error {own['result']:.4f}, {own['seconds']:7.1f} s, "
            f"{own['bytes'] / 1e9:6.2f} GB",
            flush=True,
        )
    ours, ridge = found["KernelDiscriminant"], found["RidgeClassifier"]
    report_ratio(f"{name}: error, KernelDiscriminant / Ridge", ours["result"] / ridge["result"], 1)
    report_ratio(f"{name}: time, KernelDiscriminant / Ridge", ours["seconds"] / ridge["seconds"], 1)
    report_ratio(f"{name}: memory, KernelDiscriminant / Ridge", ours["bytes"] / ridge["bytes"], 0.2)
    ours, liblinear = found["SubspaceSVC"], found["LinearSVC"]
    worse = 100 * (ours["result"] - liblinear["result"])
    report_ratio(f"{name}: points of error, SubspaceSVC - LinearSVC", worse, 0.2)
    report_ratio(
        f"{name}: time, SubspaceSVC / LinearSVC", ours["seconds"] / liblinear["seconds"], 0.2
    )


def bank(name="covtype"):
    many, one = (
        run("real", name, what, LANDMARKS)["seconds"] for what in ("bank of 10", "one kernel")
    )
    report_ratio(f"{name}: bank of 10 / one kernel, equal numbers of features", many / one, 2.5)


def landmark_rules(names=("covtype", "mnist"), counts=(250, 500, 1000, 2000)):
    for name in names:
        for count in counts:
            for rule in ("rpcholesky", "uniform", "stratified", "kmeans"):
                found = run("real", name, "KernelDiscriminant", count, rule)
                print(
                    f"{name}: {count:5} landmarks, {rule:10} error {found['result']:.4f}, "
                    f"{found['seconds']:7.1f} s",
                    flush=True,
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parts = ("throughput", "growth", "bank", "real", "landmarks")
    parser.add_argument("--part", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--sets", nargs="+", default=["covtype", "mnist"])
    parser.add_argument("--counts", nargs="+", type=int, default=[250, 500, 1000, 2000, 4000, 8000])
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(*json.loads(options.task))
        return
    for part in options.part:
        if part == "throughput":
            throughput(options.rows)
        elif part == "growth":
            growth(3 * options.rows)
        elif not os.environ.get("KERNEL_LEARN_DATA"):
            print(f"{part}: left out, KERNEL_LEARN_DATA is not set")
        elif part == "bank":
            bank()
        elif part == "real":
            for name in options.sets:
                real(name)
        else:
            landmark_rules(options.sets, options.counts)


if __name__ == "__main__":
    main()
