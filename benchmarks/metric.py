"""Metric learners: growth with the rows, memory, and seconds at 2000 rows.

Rows of satimage if KERNEL_LEARN_DATA names the folder, else made ones. metric-learn needs an
older scikit-learn than this package, so its figures are those of a run of its own.
"""

import os
import tracemalloc
import warnings

import numpy as np
from timing import best_times, report_ratio

import kernel_learn as kl
from kernel_learn.datasets import find_data

SECONDS = {"KernelMCML": 3.0, "KernelMMC": 3.0}
METRIC_LEARN = (12.0, 28e6)  # seconds and bytes of its LMNN, linear, on 2000 such rows


def rows(n):
    if os.environ.get("KERNEL_LEARN_DATA"):
        X, y = find_data().load("satimage")
        chosen = np.random.default_rng(0).permutation(len(y))[:n]
        X, y = X[chosen].astype(float), np.asarray(y)[chosen]
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, n)
    return rng.normal(size=(n, 36)) + rng.normal(size=(6, 36))[y], y


def one_pass(X, y):
    """All pairs once: what no list of impostors can do without."""
    s = np.einsum("ij,ij->i", X, X)
    for start in range(0, len(X), 128):
        D = s[start : start + 128, None] + s - 2 * X[start : start + 128] @ X.T
        np.nonzero((D < 1) & (y[start : start + 128, None] != y))


def growth():
    times = {}
    for n in (500, 2000):
        X, y = rows(n)
        times[n] = best_times(
            {
                "fit": lambda X=X, y=y: kl.KernelLMNN("linear").fit(X, y),
                "pass": lambda X=X, y=y: one_pass(X, y),
            },
            3,
        )
    beyond = [times[n]["fit"] - times[n]["pass"] for n in (500, 2000)]
    exponent = np.log(beyond[1] / beyond[0]) / np.log(4)
    report_ratio("KernelLMNN, linear: exponent of n, 500 to 2000, beyond a pass", exponent, 1.3)
    seconds, size = METRIC_LEARN
    what = "KernelLMNN, linear, n=2000: seconds / metric-learn's"
    report_ratio(what, times[2000]["fit"] / seconds, 1.0)
    X, y = rows(2000)
    tracemalloc.start()
    kl.KernelLMNN("linear").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    report_ratio("KernelLMNN, linear, n=2000: bytes / metric-learn's", peak / size, 1.0)


def seconds():
    X, y = rows(2000)
    for name, limit in SECONDS.items():
        model = getattr(kl, name)(random_state=0)
        times = best_times({"fit": lambda model=model: model.fit(X, y)}, 2)
        report_ratio(f"{name}, Gaussian, n=2000: seconds", times["fit"], limit)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        growth()
        seconds()
