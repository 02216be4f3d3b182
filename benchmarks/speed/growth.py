"""CPU time of a fit against the number of rows, for every estimator, as a picture."""

import warnings

import numpy as np
from timing import best_times

import kernel_learn as kl
from kernel_learn.tables.methods import CLASSIFIERS, TRANSFORMERS, make_estimator

SIZES = {False: (125, 250, 500), True: (125, 250, 500, 1000, 2000)}
# Above so many seconds the larger sizes of an estimator are left out.
PATIENCE = {False: 1.5, True: 30.0}
# The methods of tables, and what is none: values, columns, pairs.
VALUES = ("KernelRegressor", "KernelPLSRegressor")
ESTIMATORS = (*CLASSIFIERS, *TRANSFORMERS, *VALUES, "FeatureScales", "PairClassifier")


def rows(n, d=10, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + 1.5 * np.eye(3, d)[y], y


def fit(name, X, y):
    """Fit an estimator as the command line would; pairs: as many as rows."""
    if name != "PairClassifier":
        return make_estimator(name).fit(X, y)
    pairs = np.random.default_rng(1).integers(0, len(y), size=(len(y), 2))
    learner = make_estimator("InductiveKernel")
    return kl.PairClassifier(learner).fit(X, pairs, y[pairs[:, 0]] == y[pairs[:, 1]])


def measure(full=False):
    """{estimator: [(n, seconds)]}, sizes doubling while they take less than the patience."""
    found = {}
    for name in ESTIMATORS:
        found[name] = []
        for n in SIZES[full]:
            X, y = rows(n)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                times = best_times({"fit": lambda X=X, y=y, name=name: fit(name, X, y)}, 2)
            found[name].append((n, times["fit"]))
            if times["fit"] > PATIENCE[full]:
                break
    return found


def exponents(found):
    """The slope of log time over log rows between the last two sizes."""
    slopes = {}
    for name, points in found.items():
        if len(points) > 1:
            (n, a), (m, b) = points[-2:]
            slopes[name] = float(np.log(b / a) / np.log(m / n))
    return slopes


def draw(picture, full=False):
    """Measure, print and paint."""
    found = measure(full)
    for name, points in found.items():
        line = "  ".join(f"{n}: {seconds:.3f} s" for n, seconds in points)
        print(f"{name:26} exponent {exponents(found).get(name, np.nan):5.2f}   {line}", flush=True)
    paint(found, picture)


def paint(found, picture):
    """One panel for each estimator, on the same axes."""
    from matplotlib.figure import Figure

    slopes = exponents(found)
    sizes = sorted({n for points in found.values() for n, _ in points})
    figure = Figure(figsize=(12, 13), layout="constrained")
    panels = figure.subplots(-(-len(found) // 4), 4, sharex=True, sharey=True).ravel()
    for i, panel in enumerate(panels[len(found) :], len(found)):
        panel.remove()
        panels[i - 4].tick_params(labelbottom=True)
    for panel, (name, points) in zip(panels, found.items(), strict=False):
        n, seconds = np.array(points).T
        panel.loglog(n, seconds, marker="o", ms=4)
        for power, style in ((1, ":"), (2, "--"), (3, "-.")):
            guide = seconds[0] * (n / n[0]) ** power
            panel.loglog(n, guide, style, color="0.6", lw=0.8)
        panel.set_title(f"{name}\nexponent {slopes.get(name, np.nan):.2f}", fontsize=9)
        panel.set_xticks(sizes, labels=[str(size) for size in sizes], fontsize=8)
        panel.minorticks_off()
    figure.supxlabel("rows (grey: linear, quadratic, cubic)")
    figure.supylabel("CPU seconds of a fit, one thread")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=100)
