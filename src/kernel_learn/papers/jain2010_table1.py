"""Table 1 of Jain, Kulis & Dhillon (2010): 5-NN accuracy and rank on ten UCI data sets."""

from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernel_learn.datasets import DataFolder
from kernel_learn.estimators.validation import Array
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page
from kernel_learn.papers.settings import frozen_preset
from kernel_learn.presets import frob_lr, itml, itml_lr_post, itml_lr_pre, pola, trace_ssikdr

NAME = "jain2010-table1"
RUNS = 10
METHODS = (
    "Gaussian",
    "Frob",
    "ITML",
    "Frob LR",
    "ITML LR-pre",
    "ITML LR-post",
    "Trace-SSIKDR",
)
# name in the paper -> file, and the paper's accuracies (ranks) in the order of METHODS
PAPER: dict[str, tuple[str, list[tuple[float, int]]]] = {
    "Iris": (
        "iris",
        [(0.99, 40), (0.99, 27), (0.99, 40), (0.91, 4), (0.93, 4), (0.99, 4), (0.99, 4)],
    ),
    "Wine": (
        "wine",
        [(0.80, 105), (0.94, 36), (0.99, 105), (0.72, 11), (0.85, 11), (0.46, 11), (0.94, 11)],
    ),
    "Ionosphere": (
        "ionosphere",
        [(0.94, 337), (0.98, 64), (0.98, 337), (0.98, 19), (0.98, 19), (0.93, 19), (0.99, 19)],
    ),
    "Soybean": (
        "soybean",
        [(0.89, 624), (0.96, 96), (0.96, 624), (0.44, 40), (0.87, 40), (0.35, 40), (0.96, 40)],
    ),
    "Diabetes": (
        "diabetes",
        [(0.75, 251), (0.74, 154), (0.76, 251), (0.67, 14), (0.62, 14), (0.73, 14), (0.74, 14)],
    ),
    "Balance-scale": (
        "balance-scale",
        [(0.93, 156), (0.96, 106), (0.97, 156), (0.97, 10), (0.80, 10), (0.82, 10), (0.97, 10)],
    ),
    "Breast-cancer": (
        "breast-cancer",
        [(0.72, 259), (0.73, 61), (0.78, 259), (0.69, 21), (0.68, 21), (0.68, 21), (0.75, 21)],
    ),
    "Spectf-heart": (
        "spectf",
        [(0.74, 267), (0.87, 39), (0.84, 267), (0.84, 22), (0.89, 22), (0.89, 22), (0.84, 22)],
    ),
    "Heart-c": (
        "heart-c",
        [(0.68, 228), (0.78, 62), (0.79, 228), (0.73, 39), (0.61, 39), (0.55, 39), (0.78, 39)],
    ),
    "Heart-h": (
        "heart-h",
        [(0.59, 117), (0.69, 71), (0.70, 117), (0.56, 31), (0.30, 31), (0.56, 31), (0.68, 31)],
    ),
}


def build() -> Protocol:
    """Ten data sets x ten runs of two folds, runs first: any stop leaves a table."""
    cells = [
        Cell(f"{run}/{name}", {"data": name, "run": run}) for run in range(RUNS) for name in PAPER
    ]
    title = "Jain, Kulis & Dhillon (2010), Table 1"
    return Protocol(NAME, title, cells, run_cell, render)


def run_cell(data: DataFolder, cell: Cell) -> Record:
    """Both folds of one run: accuracy and rank of each method, averaged."""
    X, y = data.load(PAPER[cell.settings["data"]][0])
    run = int(cell.settings["run"])
    start = perf_counter()
    folds = StratifiedKFold(2, shuffle=True, random_state=run).split(X, y)
    scores = [run_fold(X, y, train, test, run) for train, test in folds]
    return {
        "accuracy": [float(np.mean([fold[m][0] for fold in scores])) for m in METHODS],
        "rank": [float(np.mean([fold[m][1] for fold in scores])) for m in METHODS],
        "largest_gap": float(max(fold[m][2] for fold in scores for m in METHODS)),
        "seconds": perf_counter() - start,
    }


def run_fold(
    X: Array, y: Array, train: Array, test: Array, seed: int
) -> dict[str, tuple[float, int, float]]:
    """(accuracy, rank, relative gap) of each method on one fold."""
    prepare = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    X_train = prepare.fit_transform(X[train])
    X_test = prepare.transform(X[test])

    def evaluate(model: Any) -> tuple[float, int, float]:
        model.fit(X_train, y[train])
        knn = KNeighborsClassifier(5).fit(model.transform(X_train), y[train])
        accuracy = float(knn.score(model.transform(X_test), y[test]))
        return accuracy, int(model.rank_), float(model.gap_ / model.objective_)

    options = frozen_preset(random_state=seed)
    found = {
        "Frob": evaluate(pola(**options)),
        "ITML": evaluate(itml(**options)),
        "Trace-SSIKDR": evaluate(trace_ssikdr(**options)),
    }
    rank = found["Trace-SSIKDR"][1]
    found["Frob LR"] = evaluate(frob_lr(min(rank, found["Frob"][1]), **options))
    found["ITML LR-pre"] = evaluate(itml_lr_pre(rank, **options))
    found["ITML LR-post"] = evaluate(itml_lr_post(rank, **options))
    # a Gaussian kernel's distance grows with the Euclidean one: the same neighbours
    plain = KNeighborsClassifier(5).fit(X_train, y[train])
    found["Gaussian"] = (float(plain.score(X_test, y[test])), found["ITML"][1], 0.0)
    return found


def render(records: Iterable[Record]) -> str:
    """The page: ours over theirs, and whether the claim of low rank holds."""
    done: dict[str, list[Record]] = {}
    for record in records:
        done.setdefault(record["data"], []).append(record)
    n_runs = {len(found) for found in done.values()} or {0}
    lines = ["| data | " + " | ".join(METHODS) + " |", "|---|" + "---|" * len(METHODS)]
    verdicts, seconds, gap = [], 0.0, 0.0
    for name, (_, theirs) in PAPER.items():
        if name not in done:
            continue
        accuracy = np.mean([r["accuracy"] for r in done[name]], axis=0)
        rank = np.mean([r["rank"] for r in done[name]], axis=0)
        seconds += sum(r["seconds"] for r in done[name])
        gap = max([gap, *(r["largest_gap"] for r in done[name])])
        cells = [
            f"**{a:.3f} ({r:.0f})**<br>{p:.2f} ({q})"
            for a, r, (p, q) in zip(accuracy, rank, theirs, strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        verdicts.append(verdict(name, accuracy, rank))
    held = [name for name, lead, factor in verdicts if lead <= 1.0 and factor >= 4.0]
    return fill_page(
        NAME,
        n_runs=" or ".join(map(str, sorted(n_runs))),
        table="\n".join(lines),
        n_held=len(held),
        n_sets=len(verdicts),
        held=", ".join(held) or "none",
        ranks=rank_table(verdicts),
        # what the run of all cells showed; written by hand beside its table
        findings=fill_page(f"{NAME}-findings") if len(verdicts) == len(PAPER) else "",
        gap=f"{gap:.1e}",
        seconds=f"{seconds:.0f}",
    )


def verdict(name: str, accuracy: Array, rank: Array) -> tuple[str, float, float]:
    """(name, ITML's lead over Trace-SSIKDR in points, how many times smaller the rank is)."""
    itml, trace = METHODS.index("ITML"), METHODS.index("Trace-SSIKDR")
    lead = 100 * float(accuracy[itml] - accuracy[trace])
    return name, lead, float(rank[itml] / rank[trace])


def rank_table(verdicts: list[tuple[str, float, float]]) -> str:
    """What low rank costs, set by set."""
    lines = [
        "| data | ITML minus Trace-SSIKDR (points) | rank of ITML / rank of Trace-SSIKDR |",
        "|---|---|---|",
    ]
    return "\n".join(lines + [f"| {name} | {lead:+.1f} | {f:.1f} |" for name, lead, f in verdicts])
