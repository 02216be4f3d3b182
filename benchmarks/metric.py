"""Metric learners: growth with the rows, memory, and seconds at 2000 rows.

Rows of satimage if KERNEL_LEARN_DATA names the folder, else made ones. metric-learn needs an
older scikit-learn than this package, so its figures are those of a run of its own.
"""

import os
import tracemalloc
import warnings

import numpy as np
from timing import best_times, report, report_ratio

import kernel_learn as kl
from kernel_learn.criteria.neighbours import NeighbourhoodComponents, discriminant_start
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
    what = "KernelLMNN, linear, n=2000: seconds / metric-learn's 12.0, of another run"
    report_ratio(what, times[2000]["fit"] / seconds, 1.0)
    X, y = rows(2000)
    tracemalloc.start()
    kl.KernelLMNN("linear").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    report_ratio(
        "KernelLMNN, linear, n=2000: bytes / metric-learn's 28 MB, of another run", peak / size, 1.0
    )


def seconds():
    X, y = rows(2000)
    for name, limit in SECONDS.items():
        model = getattr(kl, name)(random_state=0)
        times = best_times({"fit": lambda model=model: model.fit(X, y)}, 2)
        report_ratio(f"{name}, Gaussian, n=2000: seconds", times["fit"], limit)


def former_gradient(criterion, L):
    """The gradient of NCA through the Laplacian V of the weights, n x n, and Z'VZ, M x M."""
    Z, labels = criterion.Z, criterion.labels
    F = Z @ L.T
    s = np.einsum("ij,ij->i", F, F)
    D = s[:, None] + s - 2 * F @ F.T
    np.fill_diagonal(D, np.inf)
    P = np.exp(D.min(axis=1, keepdims=True) - D)
    P /= P.sum(axis=1, keepdims=True)
    own = np.where(labels[:, None] == labels, P, 0.0)
    W = own.sum(axis=1)[:, None] * P - own
    V = np.diag(W.sum(axis=0) + W.sum(axis=1)) - W - W.T
    return 2 * L @ (Z.T @ V @ Z) / len(Z) - 2 * criterion.reg * L


def gradient_of_neighbours(n=1000, columns=300):
    """KernelNCA: V (Z L') where Z'VZ was formed; the same gradient."""
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(n, columns)) / np.sqrt(columns), rng.integers(0, 3, n)
    criterion = NeighbourhoodComponents(Z, labels, 1e-4)
    L = discriminant_start(Z, labels, 2)
    own, former = criterion.value_and_gradient(L)[1], former_gradient(criterion, L)
    print(f"  KernelNCA's gradients are {np.abs(own - former).max() / np.abs(own).max():.0e} apart")
    times = best_times(
        {
            "V (Z L')": lambda: criterion.value_and_gradient(L),
            "Z'VZ": lambda: former_gradient(criterion, L),
        },
        5,
    )
    report(f"KernelNCA's gradient, n={n}, {columns} features", "V (Z L')", "Z'VZ", 1 / 1.2, times)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        growth()
        seconds()
        gradient_of_neighbours()
