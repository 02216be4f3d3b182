"""KernelClassifier beside the search that people run instead."""

from copy import copy
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np
from rivals import tuned_svc
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from threadpoolctl import threadpool_limits
from timing import best_times, report_ratio

from kernel_learn import InductiveKernel, KernelClassifier, SubspaceSVC
from kernel_learn.datasets import find_data

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


def fading(n=800):
    """predict_proba beside that without the comparison with training rows, and sets beside it."""
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((n, 20)), rng.standard_normal((2000, 20))
    for model in (KernelClassifier(quality="fast", assess="loo"), SubspaceSVC()):
        model.fit(X, (X[:, 0] + X[:, 1] ** 2 > 1).astype(int))
        plain = copy(model)
        plain._calibration = replace(model._calibration, reference=None)
        times = best_times(
            {
                "proba": lambda model=model: model.predict_proba(T),
                "plain": lambda plain=plain: plain.predict_proba(T),
                "set": lambda model=model: model.predict_set(T),
            },
            7,
        )
        name = f"{type(model).__name__}, n={n}"
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


def many_rows():
    """covtype: seconds of processor time for 20,000 and 50,000 rows."""
    X, y = find_data().load("covtype")
    rows = np.random.default_rng(0).permutation(len(y))
    for n, limit in ((20_000, 90.0), (50_000, 180.0)):
        with threadpool_limits(1):
            start = process_time()
            KernelClassifier().fit(X[rows[:n]], y[rows[:n]])
            seconds = process_time() - start
        report_ratio(f"KernelClassifier, covtype, n={n}: seconds", seconds, limit)
