"""Several sources of the same objects: mfeat, proteinfold, jaffe_kernels."""

import warnings
from collections.abc import Iterable
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernel_learn.arrays import Array, Rows
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.papers.difference import verdict
from kernel_learn.papers.protocol import (
    Cell,
    Protocol,
    Record,
    by_set,
    fill_page,
    make_table,
    repeated_cells,
)
from kernel_learn.papers.settings import frozen

REPEATS = 10
SETS = {"mfeat": 0.8, "proteinfold": 0.5, "jaffe_kernels": 0.8}  # share of test rows
DISCRIMINANTS = ("ridge", "centroid", "nearest_neighbor")
DECISIONS = (*DISCRIMINANTS, "SVM")
# "learn" is the criterion of the decision's own family: Ye's for discriminants, the dual for SVM
WEIGHTINGS = ("learn", "uniform", "alignment", "loo")


def multi_source() -> Protocol:
    """Several sources: every weighting under every decision."""
    return Protocol(
        "multi-source",
        "Several sources",
        repeated_cells(SETS, REPEATS),
        run_cell,
        render,
        check="jaffe_kernels-0",
        reduced=lambda cell: cell.settings["repeat"] < 5,
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """All choices of weights and each source alone, under all decisions, on one split of a set."""
    name = cell.settings["set"]
    content, y = data.load(name)
    y = np.unique(y, return_inverse=True)[1]
    train, test = train_test_split(
        np.arange(len(y)), test_size=SETS[name], stratify=y, random_state=cell.settings["repeat"]
    )
    stack = np.stack(content, axis=2) if name == "jaffe_kernels" else view_kernels(content, train)
    K, K_new = stack[np.ix_(train, train)], stack[np.ix_(test, train)]
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = {
            choice: discriminant("centroid", choice).fit(K, y[train]).kernel_weights_
            for choice in WEIGHTINGS
        }
        machine_weights = stack_machine("learn").fit(K, y[train]).kernel_weights_
        errors = {
            decision: decide(decision, weights, machine_weights, K, K_new, y[train], y[test])
            for decision in DECISIONS
        }
    shares = {**weights, "learn (SVM)": machine_weights}
    return {
        "errors": errors,
        "weights": {choice: [float(w) for w in found] for choice, found in shares.items()},
        "seconds": perf_counter() - start,
    }


def decide(
    decision: str,
    weights: dict[str, str | Array],
    machine_weights: Array,  # (p,) of the machine's own criterion
    K: Array,
    K_new: Array,
    y: Array,
    y_new: Array,
) -> Record:
    """Test errors of one decision at every weighting, and on every source alone."""
    if decision == "SVM":
        weights = {**weights, "learn": machine_weights}

    def model(given: str | Array) -> BaseEstimator:
        return stack_machine(given) if decision == "SVM" else discriminant(decision, given)

    found: Record = {
        choice: error(model(np.asarray(theta)), K, K_new, y, y_new)
        for choice, theta in weights.items()
    }
    found["single"] = [
        error(model("uniform"), K[:, :, [i]], K_new[:, :, [i]], y, y_new) for i in range(K.shape[2])
    ]
    return found


def view_kernels(views: list[Rows], train: Array) -> Array:
    """One Gaussian per view, columns standardised and the width the median of training rows."""
    layers = []
    for view in views:
        X = StandardScaler().fit(view[train]).transform(view)
        layers.append(Gaussian("median").resolve(X[train])(X))
    return np.stack(layers, axis=2)


def discriminant(decision: str, weights: str | Array) -> BaseEstimator:
    """A discriminant on a stack of kernel matrices."""
    return frozen(KernelDiscriminant, "precomputed", reg="loo", decision=decision, weights=weights)


def stack_machine(weights: str | Array) -> BaseEstimator:
    """A support vector machine on a stack of kernel matrices."""
    return frozen(MultiKernelSVC, "precomputed", loss="hinge", C=10.0, weights=weights, tol=1e-4)


def error(model: BaseEstimator, K: Array, K_new: Array, y: Array, y_new: Array) -> float:
    """Test error in per cent."""
    return 100 * (1 - float(model.fit(K, y).score(K_new, y_new)))


def render(records: Iterable[Record]) -> str:
    """The page of the comparison."""
    runs = by_set(records)
    done = [name for name in SETS if runs[name]]
    head = ["data", "partitions", "decision", "best single source", *WEIGHTINGS]
    rows = [table_row(name, decision, runs[name]) for name in done for decision in DECISIONS]
    table = make_table(head, rows)
    against = [
        ("loo", "uniform"),
        ("loo", "learn"),
        ("learn", "uniform"),
        ("loo", "single"),
        ("learn", "single"),
    ]
    tests = []
    for name in done:
        ratio = SETS[name] / (1 - SETS[name])
        for decision in DECISIONS:
            column = columns(decision, runs[name])
            cells = [verdict(column[a], column[b], ratio) for a, b in against]
            tests.append([name, decision, *cells])
    shares = []
    for name in done:
        for choice in (*WEIGHTINGS, "learn (SVM)"):
            mean = np.mean([run["weights"][choice] for run in runs[name]], axis=0)
            text = ", ".join(f"{w:.2f}" for w in mean / mean.sum())
            shares.append(f"- {name}, {choice}: {text}")
    return fill_page(
        "multi-source",
        table=table,
        tests=make_table(["data", "decision", *(f"{a} against {b}" for a, b in against)], tests),
        weights="\n".join(shares),
    )


def columns(decision: str, runs: list[Record]) -> Record:
    """Errors over partitions of each weighting, and of the single source best on average."""
    singles = np.array([run["errors"][decision]["single"] for run in runs])
    best = int(np.argmin(singles.mean(axis=0)))
    found = {c: np.array([run["errors"][decision][c] for run in runs]) for c in WEIGHTINGS}
    return {**found, "single": singles[:, best], "best": best}


def table_row(name: str, decision: str, runs: list[Record]) -> list[object]:
    """One set and decision: the best single source and each weighting; the least in bold."""
    found = columns(decision, runs)
    least = min(found[choice].mean() for choice in WEIGHTINGS)
    cells = [f"{found['single'].mean():.2f} ± {found['single'].std():.2f} ({found['best']})"]
    for choice in WEIGHTINGS:
        text = f"{found[choice].mean():.2f} ± {found[choice].std():.2f}"
        cells.append(f"**{text}**" if found[choice].mean() <= least + 1e-9 else text)
    return [name, len(runs), decision, *cells]
