"""KernelClassifier beside the search that people run instead."""

from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from time import perf_counter, process_time, thread_time
from unittest.mock import patch

import numpy as np
from compare import measure_alone, warm
from rivals import tuned_svc
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from threadpoolctl import threadpool_limits
from timing import best_times, report_ratio

from kernel_learn import InductiveKernel, KernelClassifier, SubspaceSVC
from kernel_learn.datasets import find_data
from kernel_learn.ensemble import cross_validation

SETS = {"wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}


def against_the_search(names=tuple(SETS)):
    """CPU of a fit over that of 125 fits of an SVC; geometric mean over sets, and the largest.

    Without the nested assessment, which the search has none of either.
    """
    ratios = []
    for name in names:
        X, y = SETS[name](return_X_y=True)
        X, y = X[::2], y[::2]
        times = best_times(
            {
                "balanced": lambda X=X, y=y: KernelClassifier(assess="loo").fit(X, y),
                "fast": lambda X=X, y=y: KernelClassifier(quality="fast", assess="loo").fit(X, y),
                "search": lambda X=X, y=y: tuned_svc(X, y).fit(X, y),
            },
            1,
        )
        ratios.append([times[q] / times["search"] for q in ("balanced", "fast")])
    mean, most = np.exp(np.mean(np.log(ratios), axis=0)), np.max(ratios, axis=0)
    where = f"({', '.join(names)})"
    report_ratio(f"KernelClassifier / SVC search, mean {where}", mean[0], 1.2)
    report_ratio(f"KernelClassifier / SVC search, largest {where}", most[0], 3.0)
    report_ratio(f'KernelClassifier(quality="fast") / SVC search, mean {where}', mean[1], 0.4)


def fading_times(model, n):
    """CPU of predict_proba, of that without the comparison with training rows, and of sets."""
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((n, 20)), rng.standard_normal((2000, 20))
    model.fit(X, (X[:, 0] + X[:, 1] ** 2 > 1).astype(int))
    plain = copy(model)
    plain._calibration = replace(model._calibration, reference=None)
    asked = {
        "proba": lambda: model.predict_proba(T),
        "plain": lambda: plain.predict_proba(T),
        "set": lambda: model.predict_set(T),
    }
    return best_times(asked | novelty_calls(model, T), 7)


def novelty_calls(model, T):
    """Novelty, and the kernel values and products that it needs."""
    known, rows = model._reference(), model._reference_rows(T)

    def products():
        K, _ = known.compare(known.place(rows), known.placed)
        return K @ known.variance.solved[0]

    return {"novelty": lambda: model.novelty(T), "compared": products}


def interval_times(model, n):
    """CPU of predict_interval and of the kernel values and products that it needs."""
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((n, 20)), rng.standard_normal((2000, 20))
    model.fit(X, X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n))
    fitted, table = model._fitted, model._table(T)
    model.predict_interval(T)  # makes Q

    def products():
        for leaf, member, K in fitted.ensemble.kernel_blocks(table):
            for own in fitted.jackknife._in_leaf(member, leaf).models:
                K @ own.coef

    asked = {"interval": lambda: model.predict_interval(T), "products": products}
    return best_times(asked | novelty_calls(model, T), 7)


def fading(n=800):
    """What fading and sets cost beside predict_proba."""
    for model in (KernelClassifier(quality="fast", assess="loo"), SubspaceSVC()):
        times, name = fading_times(model, n), f"{type(model).__name__}, n={n}"
        report_ratio(
            f"{name}: predict_proba / without fading", times["proba"] / times["plain"], 1.1
        )
        report_ratio(f"{name}: predict_set / predict_proba", times["set"] / times["proba"], 1.1)


def threads():
    """A small fit with two BLAS threads beside one: wall time, since the wait is not CPU time."""
    X, y = load_wine(return_X_y=True)
    model = InductiveKernel(random_state=0)
    seconds = {}
    for n in (1, 2):
        with threadpool_limits(n):
            model.fit(X, y)
            start = perf_counter()
            model.fit(X, y)
            seconds[n] = perf_counter() - start
    report_ratio("InductiveKernel on wine, wall: 2 threads / 1", seconds[2] / seconds[1], 3.0)


def time_budget(seconds=2.0):
    """Wall seconds of a fit over its budget, on rows that would take several times as long."""
    X, y = load_digits(return_X_y=True)
    KernelClassifier(time_budget=seconds).fit(X[::4], y[::4])
    start = perf_counter()
    KernelClassifier(time_budget=seconds).fit(X, y)
    used = perf_counter() - start
    report_ratio(f"KernelClassifier, digits, time_budget={seconds:g}: used", used / seconds, 1.2)


def blobs(n):
    """Rows around four centres, of two classes, which 8 of 20 columns tell apart."""
    return make_classification(n, 20, n_informative=8, random_state=0)


def sines(n):
    """A rough function of 6 of 20 columns: one row in ten has the other label."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 20))
    z = 2 * np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 - 1 + X[:, 3] - 0.7 * X[:, 4] * X[:, 5]
    return X, (rng.random(n) < 1 / (1 + np.exp(-2.5 * z))).astype(int)


SIZES = (200, 500, 1000, 2000, 3000, 5000, 6000, 10_000, 20_000, 50_000, 100_000)


def aims(sizes=SIZES, tables=(blobs, sines), draws=4):
    """Seconds of fits with assess="loo", their growth, and the memory of the largest exact one.

    Means over some draws of rows: how many kernels pass the screening differs from draw to draw.
    One draw of more than 20,000 rows.
    """
    rows = {table.__name__: table(max(sizes) + 100) for table in tables}
    warm(["loo"])
    seconds = {name: [] for name in rows}
    for n in sizes:
        for name, (X, y) in rows.items():
            found = [fit_of_draw(X, y, n, draw) for draw in range(draws if n <= 20_000 else 1)]
            mean, most = np.mean([own[0] for own in found]), max(own[1] for own in found)
            seconds[name].append(mean)
            if n in AIMS:
                what = f'KernelClassifier(assess="loo"), {name}, n={n}: seconds'
                report_ratio(what, mean, AIMS[n])
            if n == min(5000, sizes[-1]):
                report_ratio(f"the same, n={n}: MB", most, 500.0)
            each = " ".join(f"{own[0]:.2f}" for own in found)
            print(f"  {name}, n={n}: {mean:.2f} s ({each}), {most:.0f} MB", flush=True)
    for name, own in seconds.items():
        exponents = np.diff(np.log(own)) / np.diff(np.log(sizes))
        worst = int(exponents.argmax())
        between = f"{sizes[worst]} to {sizes[worst + 1]} rows"
        what = f"KernelClassifier, {name}: largest exponent of n, {between}"
        report_ratio(what, exponents[worst], 2.0)


AIMS = {1000: 2.0, 5000: 30.0}


def fit_of_draw(X, y, n, draw):
    """Seconds and MB of a fit of so many rows, drawn anew."""
    rows = np.random.default_rng(draw).permutation(len(y))
    a, b = rows[:n], rows[-100:]
    return measure_alone("loo", X[a], y[a], X[b], y[b])[2:4]


def new_rows(n=1000):
    """Seconds for 10,000 new rows; 2.1 before members of little weight were dropped."""
    X, y = make_classification(n + 10_000, 20, n_informative=8, random_state=0)
    model = KernelClassifier(assess="loo").fit(X[:n], y[:n])
    times = best_times({"proba": lambda: model.predict_proba(X[n:])}, 3)
    report_ratio(f"KernelClassifier, n={n}, 10,000 new rows: seconds", times["proba"], 0.7)


def classes(counts=(100, 400), n=4000):
    """Many classes: the exponent of their number."""
    seconds = []
    for k in counts:
        rng = np.random.default_rng(k)
        y = np.arange(n) % k
        X = 1.2 * rng.normal(size=(k, 20))[y] + rng.normal(size=(n, 20))
        model = KernelClassifier(assess="loo")
        seconds.append(best_times({"fit": lambda m=model, X=X, y=y: m.fit(X, y)}, 1)["fit"])
    exponent = np.log(seconds[1] / seconds[0]) / np.log(counts[1] / counts[0])
    report_ratio(f"KernelClassifier, n={n}, {counts[1]} classes: seconds", seconds[1], 30.0)
    report_ratio("the same: exponent of the number of classes", exponent, 1.0)


def jobs(sizes=(1000, 2500)):
    """A fit with two threads beside one, as it would be if both had a core to themselves."""
    for n in sizes:
        X, y = make_classification(n, 20, n_informative=8, random_state=0)
        seconds = {k: min(unhindered_seconds(k, X, y) for _ in range(2)) for k in (1, 2)}
        what = f"KernelClassifier, n={n}, wall on free cores: n_jobs=2 / 1"
        report_ratio(what, seconds[2] / seconds[1], 0.6)


def unhindered_seconds(n_jobs, X, y):
    """Seconds of a fit without those that its threads waited for a core that others had.

    What a thread ran or was blocked by another of ours (Python's lock) counts: the views of each
    stage in their order, each to the thread that is free first, and what is outside of them. Wall
    time on a busy machine would be that of the others' work.
    """
    stages, tried = {}, cross_validation.cross_validate_space

    def timed(sample, *arguments, **named):
        start, waited, ran = perf_counter(), waited_for_a_core(), thread_time()
        found = tried(sample, *arguments, **named)
        waited, ran = waited_for_a_core() - waited, thread_time() - ran
        own = ran if get_ident() == here else 0.0
        stages.setdefault(id(sample), []).append((perf_counter() - start - waited, own))
        return found

    here, start = get_ident(), thread_time()
    with threadpool_limits(1), patch.object(cross_validation, "cross_validate_space", timed):
        KernelClassifier(assess="loo", n_jobs=n_jobs).fit(X, y)
    outside = thread_time() - start - sum(own for tasks in stages.values() for _, own in tasks)
    for tasks in stages.values():
        free_at = [0.0] * n_jobs
        for seconds, _ in tasks:
            free_at[int(np.argmin(free_at))] += seconds
        outside += max(free_at)
    return outside


def waited_for_a_core():
    """Seconds that this thread was ready to run and did not (Linux)."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


def many_rows():
    """covtype: seconds of processor time for 20,000 and 50,000 rows."""
    X, y = find_data().load("covtype")
    rows = np.random.default_rng(0).permutation(len(y))
    for n, limit in ((20_000, 45.0), (50_000, 180.0)):
        with threadpool_limits(1):
            start = process_time()
            KernelClassifier(assess="loo").fit(X[rows[:n]], y[rows[:n]])
            seconds = process_time() - start
        report_ratio(f"KernelClassifier, covtype, n={n}: seconds", seconds, limit)
