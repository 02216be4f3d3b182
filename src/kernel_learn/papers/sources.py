"""Several sources of the same objects: mfeat, proteinfold, jaffe_kernels."""

import warnings
from collections import defaultdict
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernel_learn.datasets import DataFolder
from kernel_learn.estimators import KernelDiscriminant, MultiKernelSVC
from kernel_learn.kernels import Gaussian
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page
from kernel_learn.papers.settings import frozen

REPEATS = 10
SETS = {"mfeat": 0.8, "proteinfold": 0.5, "jaffe_kernels": 0.8}  # share of test rows
FAMILIES = {"RKDA": "discriminant", "SVM": "machine"}
CHOICES = ("learn", "uniform", "alignment")


def multi_source() -> Protocol:
    """Several sources: weights against the best single source."""
    cells = [
        Cell(f"{name}-{repeat}", {"set": name, "repeat": repeat})
        for repeat in range(REPEATS)
        for name in SETS
    ]
    return Protocol("multi-source", "Several sources", cells, run_cell, render)


def run_cell(data: DataFolder, cell: Cell) -> Record:
    """All choices of weights on one split of one set."""
    name = cell.settings["set"]
    content, y = data.load(name)
    y = np.unique(y, return_inverse=True)[1]
    train, test = train_test_split(
        np.arange(len(y)), test_size=SETS[name], stratify=y, random_state=cell.settings["repeat"]
    )
    stack = np.stack(content, axis=2) if name == "jaffe_kernels" else view_kernels(content, train)
    K, K_new = stack[np.ix_(train, train)], stack[np.ix_(test, train)]
    start = perf_counter()
    errors: dict[str, Any] = {}
    weights: dict[str, list[float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for family, make in (("RKDA", discriminant), ("SVM", machine)):
            errors[f"{family} single"] = [
                error(make("learn"), K[:, :, [i]], K_new[:, :, [i]], y[train], y[test])
                for i in range(K.shape[2])
            ]
            for choice in CHOICES:
                model = make(choice)
                errors[f"{family} {choice}"] = error(model, K, K_new, y[train], y[test])
                weights[f"{family} {choice}"] = [float(w) for w in model.kernel_weights_]
    return {"errors": errors, "weights": weights, "seconds": perf_counter() - start}


def view_kernels(views: list[Any], train: Any) -> Any:
    """One Gaussian per view, columns standardised and the width the median of training rows."""
    layers = []
    for view in views:
        X = StandardScaler().fit(view[train]).transform(view)
        layers.append(Gaussian("median").resolve(X[train])(X))
    return np.stack(layers, axis=2)


def discriminant(weights: str) -> Any:
    """A discriminant on a stack of kernel matrices."""
    return frozen(
        KernelDiscriminant, "precomputed", reg="loo", decision="centroid", weights=weights
    )


def machine(weights: str) -> Any:
    """A support vector machine on a stack of kernel matrices."""
    return frozen(MultiKernelSVC, "precomputed", loss="hinge", C=10.0, weights=weights, tol=1e-4)


def error(model: Any, K: Any, K_new: Any, y: Any, y_new: Any) -> float:
    """Test error in per cent."""
    return 100 * (1 - float(model.fit(K, y).score(K_new, y_new)))


def render(records: Iterable[Record]) -> str:
    """The page of the comparison."""
    runs: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        runs[record["set"]].append(record)
    head = ["| data | partitions | method | best single source | learned | uniform | alignment "]
    lines = [head[0] + "| learned against best single (paired t-test) |", "|---" * 8 + "|"]
    lines += [
        table_row(name, family, runs[name]) for name in SETS for family in FAMILIES if runs[name]
    ]
    shares = ["\n## Learned weights (mean over partitions)\n"]
    for name in SETS:
        for family in FAMILIES if runs[name] else ():
            mean = np.mean([run["weights"][f"{family} learn"] for run in runs[name]], axis=0)
            shares.append(f"- {name}, {family}: " + ", ".join(f"{w:.2f}" for w in mean))
    return fill_page("multi-source", table="\n".join(lines), weights="\n".join(shares))


def table_row(name: str, family: str, runs: list[Record]) -> str:
    """One set: the best single source, each choice, and a paired test."""
    singles = np.array([run["errors"][f"{family} single"] for run in runs])
    best = int(np.argmin(singles.mean(axis=0)))
    columns = [singles[:, best]]
    columns += [
        np.array([run["errors"][f"{family} {choice}"] for run in runs]) for choice in CHOICES
    ]
    cells = [f"{column.mean():.2f} ± {column.std():.2f}" for column in columns]
    cells[0] += f" (source {best})"
    same = len(runs) < 2 or np.allclose(columns[0], columns[1])
    p = 1.0 if same else float(ttest_rel(columns[0], columns[1]).pvalue)
    difference = columns[1].mean() - columns[0].mean()
    verdict = "no difference" if p > 0.05 else "better" if difference < 0 else "worse"
    verdict += f" ({difference:+.2f}, p = {p:.2g})"
    return f"| {name} | {len(runs)} | {family} | " + " | ".join(cells) + f" | {verdict} |"
