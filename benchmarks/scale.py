"""Any amount of rows: throughput beside a bare loop, memory, growth, and peers on real data.

    python benchmarks/scale.py [--rows 1000000] [--part throughput growth bank real landmarks]

The real data (covtype, MNIST) are read from the folder named by KERNEL_LEARN_DATA. Each fit runs
in a process of its own, on one thread; times are CPU times, memory is the peak of anonymous
pages above that of the data in an otherwise equal process. A peer that takes more than --limit
CPU seconds is ended. Rules for landmarks are compared on rows held out of the training rows.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from importlib.metadata import version
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


def made_blocks(n, size=50_000):
    """Rows that are made as they are read: nothing is stored."""
    for i in range(0, n, size):
        rng = np.random.default_rng(i)
        X = rng.standard_normal((min(size, n - i), COLUMNS), dtype=np.float32)
        yield X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)


def made_fit(n, landmarks):
    """CPU seconds of a fit on rows that are made, without those of making them twice."""
    import kernel_learn as kl
    from kernel_learn.kernels import Gaussian

    start = time.process_time()
    for _ in made_blocks(n):
        pass
    making = time.process_time() - start
    model = kl.HSICSubspace(Gaussian(GAMMA), landmarks=landmarks, random_state=0)
    found = measured(lambda: model.fit(lambda: made_blocks(n)) and None)
    return {**found, "seconds": found["seconds"] - 2 * making}


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


def real_fit(name, method, landmarks, seed=0):
    """Error on the test rows; the fit alone is timed."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import RidgeClassifier, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    import kernel_learn as kl
    from kernel_learn.kernels import Gaussian, gaussian_bank

    X, y, X_test, y_test = real_data(name)
    gamma = real_gamma(name)
    own = {"landmarks": landmarks, "random_state": seed}
    theirs = Nystroem(gamma=gamma, n_components=landmarks, random_state=seed)
    bank = list(gaussian_bank(10, relative=True).values())
    model = {
        "KernelDiscriminant": lambda: kl.KernelDiscriminant(Gaussian(gamma), **own),
        "SubspaceSVC": lambda: kl.SubspaceSVC(
            Gaussian(gamma), C=2.0, reg=1e-6, uncorrelated=False, tol=1e-3, **own
        ),
        "bank of 10": lambda: kl.HSICSubspace(
            bank, uncorrelated=True, landmarks=landmarks // 10, random_state=seed
        ),
        "one kernel": lambda: kl.HSICSubspace(Gaussian(gamma), uncorrelated=True, **own),
        "RidgeClassifier": lambda: make_pipeline(theirs, RidgeClassifier(alpha=1e-2)),
        "LinearSVC": lambda: make_pipeline(theirs, LinearSVC(C=1.0, tol=1e-3)),
        "SGDClassifier": lambda: make_pipeline(theirs, SGDClassifier(random_state=seed)),
    }[method]()
    found = measured(lambda: model.fit(X, y) and None)
    if hasattr(model, "predict"):
        found["result"] = float(np.mean(model.predict(X_test) != y_test))
    return found


RULES = ("rpcholesky", "uniform", "stratified", "kmeans")


def rule_fits(name, rows, count, seeds, rules):
    """Error on held-out training rows and CPU seconds, means over draws, of each rule."""
    import kernel_learn as kl
    from kernel_learn.kernels import Gaussian

    X, y, *_ = real_data(name)
    order = np.random.default_rng(1).permutation(len(y))[: rows + rows // 2]
    X, y = X[order], y[order]
    found = []
    for rule in rules:
        errors, times = [], []
        for seed in range(seeds):
            model = kl.KernelDiscriminant(
                Gaussian(real_gamma(name)), landmarks=kl.Landmarks(rule, count), random_state=seed
            )
            start = time.process_time()
            model.fit(X[:rows], y[:rows])
            times.append(time.process_time() - start)
            errors.append(float(np.mean(model.predict(X[rows:]) != y[rows:])))
        found.append([count, rule, float(np.mean(errors)), float(np.mean(times))])
    return {"result": found}


TASKS = {"bare": bare_loop, "fit": our_fit}


# -- what calls it ----------------------------------------------------------------------


def run(task, *arguments, limit=None):
    """The task's figures, measured in a process of its own; None if it takes too long."""
    command = [sys.executable, __file__, "--task", json.dumps([task, *map(str, arguments)])]

    def before():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ, check=False, preexec_fn=before
    )
    if limit and done.returncode < 0:
        return None
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        raise SystemExit(f"{task} {arguments} failed")
    return json.loads(done.stdout.splitlines()[-1])


def run_task(task, *arguments):
    with threadpool_limits(1):
        if task == "real":
            found = real_fit(arguments[0], arguments[1], *map(int, arguments[2:]))
        elif task == "made":
            found = made_fit(*map(int, arguments))
        elif task == "rules":
            found = rule_fits(arguments[0], *map(int, arguments[1:4]), arguments[4:])
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


def throughput(n=10**6, sources=("memmap", "parquet")):
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_rows(folder, n)
        bare = run("bare", folder, n)["seconds"]
        print(f"bare loop, {n} rows: {bare:.1f} s", flush=True)
        for source in sources:
            least = 0.6 if source == "parquet" else 0.7
            for name in ("HSICSubspace", "KernelDiscriminant"):
                found = run("fit", folder, n, name, source)
                what = f"{name}, {source}, {n} rows"
                report_ratio(f"{what}: time / bare loop", found["seconds"] / bare, 1 / least)
                report_ratio(f"{what}: peak memory in GB", found["bytes"] / 1e9, 1.0)
                off = found["result"] / found["seconds"]
                report_ratio(f"{what}: expected time, off by", max(off, 1 / off), 1.5)


def growth(n=3 * 10**6, landmarks=LANDMARKS):
    few = n // 30
    times = {rows: run("made", rows, landmarks)["seconds"] for rows in (few, n)}
    slope = np.log(times[n] / times[few]) / np.log(n / few)
    what = f"HSICSubspace, {landmarks} landmarks, {few} rows {times[few]:.1f} s, {n} rows"
    report_ratio(f"{what} {times[n]:.1f} s: growth exponent", slope, 1.03)


def seeds_of(name, method, landmarks, seeds):
    """Means over draws of landmarks, with the standard deviation of the errors."""
    runs = [run("real", name, method, landmarks, seed) for seed in range(seeds)]
    found = {key: float(np.mean([own[key] for own in runs])) for key in runs[0]}
    spread = float(np.std([own["result"] for own in runs], ddof=min(1, seeds - 1)))
    print(f"{name}: {method}, {seeds} draws: standard deviation of the error {spread:.4f}")
    return found


def real(name, limit, seeds, landmarks=LANDMARKS):
    methods = ("KernelDiscriminant", "RidgeClassifier", "SubspaceSVC", "SGDClassifier", "LinearSVC")
    found = {}
    for method in methods:
        if method in methods[:2]:
            own = seeds_of(name, method, landmarks, seeds)
        else:
            own = run("real", name, method, landmarks, limit=limit)
        found[method] = own
        if own is None:
            print(f"{name}: {method:20} not done after {limit} s", flush=True)
            continue
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
    if liblinear is None:
        report_ratio(f"{name}: time, SubspaceSVC / {limit} s", ours["seconds"] / limit, 0.2)
        return
    worse = 100 * (ours["result"] - liblinear["result"])
    report_ratio(f"{name}: points of error, SubspaceSVC - LinearSVC", worse, 0.2)
    report_ratio(
        f"{name}: time, SubspaceSVC / LinearSVC", ours["seconds"] / liblinear["seconds"], 0.2
    )


def against_peers(names=("covtype", "mnist"), limit=600, seeds=5):
    for name in names:
        real(name, limit, seeds)


def bank(name="covtype"):
    many, one = (
        run("real", name, what, LANDMARKS)["seconds"] for what in ("bank of 10", "one kernel")
    )
    report_ratio(f"{name}: bank of 10 / one kernel, equal numbers of features", many / one, 2.5)


def landmark_rules(names, rows, counts, seeds, rules):
    """A table for each data set, one line for each rule and number of landmarks."""
    for name in names:
        print(f"{name}, {rows} rows, {rows // 2} held out")
        print(f"| landmarks | rule | error | CPU, s |\n|{' --- |' * 4}")
        for wanted in counts:
            done = run("rules", name, rows, wanted, seeds, *rules)["result"]
            for count, rule, error, seconds in done:
                print(f"| {count} | {rule} | {error:.4f} | {seconds:.1f} |", flush=True)


def say_where():
    """What a figure depends on."""
    packages = ("kernel-learn", "numpy", "scipy", "scikit-learn", "pyarrow")
    own = ", ".join(f"{name} {version(name)}" for name in packages)
    print(f"{datetime.now(UTC):%Y-%m-%d}, Python {sys.version.split()[0]}, {own}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parts = ("throughput", "growth", "bank", "real", "landmarks")
    parser.add_argument("--part", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--sets", nargs="+", default=["covtype", "mnist"])
    parser.add_argument("--counts", nargs="+", type=int, default=[250, 500, 1000, 2000, 4000, 8000])
    parser.add_argument("--rule-rows", type=int, default=30_000, help="rows for landmark rules")
    parser.add_argument("--rule-seeds", type=int, default=1, help="draws for landmark rules")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=RULES)
    parser.add_argument("--sources", nargs="+", default=["memmap", "parquet"])
    parser.add_argument("--growth-landmarks", type=int, default=LANDMARKS)
    parser.add_argument("--seeds", type=int, default=5, help="draws of landmarks on real data")
    parser.add_argument("--limit", type=int, default=600, help="CPU seconds of a fit on real data")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(*json.loads(options.task))
        return
    say_where()
    for part in options.part:
        if part == "throughput":
            throughput(options.rows, options.sources)
        elif part == "growth":
            growth(3 * options.rows, options.growth_landmarks)
        elif not os.environ.get("KERNEL_LEARN_DATA"):
            print(f"{part}: left out, KERNEL_LEARN_DATA is not set")
        elif part == "bank":
            bank()
        elif part == "real":
            against_peers(options.sets, options.limit, options.seeds)
        else:
            own = (options.rule_rows, options.counts, options.rule_seeds, options.rules)
            landmark_rules(options.sets, *own)


if __name__ == "__main__":
    main()
