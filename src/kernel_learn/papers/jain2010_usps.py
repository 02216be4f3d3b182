"""Figure 1 (c, d) of Jain, Kulis & Dhillon (2010): USPS digits in two dimensions.

100 labelled digits, a data-dependent base kernel, and 2000 digits that were not
seen, embedded by Trace-SSIKDR and by kernel PCA of the same base kernel.

    python -m kernel_learn.papers.jain2010_usps results/jain2010-usps.jsonl PICTURE

draws the picture of a run.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from kernel_learn.datasets import DataSets
from kernel_learn.kernels.deformed import GraphDeformed
from kernel_learn.kernels.low_rank import LowRank
from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.papers.difference import verdict
from kernel_learn.papers.pairs import draw_balanced_pairs
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page, read_records
from kernel_learn.papers.settings import frozen_preset
from kernel_learn.presets import trace_ssikdr

NAME = "jain2010-usps"
N_LABELLED, N_GRAPH, N_TEST, N_PAIRS = 100, 1500, 2000, 4000
SEEDS = range(5)
TRACE, PCA = "Trace-SSIKDR", "kernel PCA"
ALL_TRACE, ALL_PCA = "Trace-SSIKDR, its own rank", "kernel PCA, the same rank"
RAW = "raw pixels"
AGAINST = ((TRACE, PCA), (ALL_TRACE, ALL_PCA), (ALL_TRACE, RAW), (ALL_PCA, RAW))


def figure1() -> Protocol:
    """Figure 1: draws of labelled digits."""
    cells = [Cell(f"seed {seed}", {"seed": seed}) for seed in SEEDS]
    return Protocol(
        NAME,
        "Jain, Kulis & Dhillon (2010), Figure 1",
        cells,
        run_cell,
        render,
        check="seed 1",
        reduced=lambda cell: cell.settings["seed"] < 2,
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """Embeddings of the unseen digits (seed 0 keeps them) and 5-NN accuracy in two dimensions."""
    X, y = data.load("usps")
    rows = np.random.RandomState(cell.settings["seed"]).permutation(len(y))
    labelled, graph = rows[:N_LABELLED], rows[:N_GRAPH]
    test = rows[N_GRAPH : N_GRAPH + N_TEST]
    pairs = draw_balanced_pairs(y[labelled], seed=0, n_pairs=N_PAIRS)
    start = perf_counter()
    base = GraphDeformed(Gaussian(), X[graph], strength=10.0).resolve(X[graph])
    options = frozen_preset(tau=0.1, random_state=0)
    full = trace_ssikdr(base, **options).fit(X[graph], constraints=pairs)
    trace = trace_ssikdr(base, n_components=2, **options).fit(X[graph], constraints=pairs)
    seconds = perf_counter() - start
    pca = LowRank(base, 2).resolve(X[graph])
    embed = {TRACE: trace.transform, PCA: pca.transform}
    record: Record = {"seconds": seconds, "rank": full.rank_, "gap": full.gap_ / full.objective_}
    same_rank = LowRank(base, full.rank_).resolve(X[graph])
    all_directions = {ALL_TRACE: full.transform, ALL_PCA: same_rank.transform}
    for method, transform in {**embed, **all_directions}.items():
        knn = KNeighborsClassifier(5).fit(transform(X[labelled]), y[labelled])
        record[method] = float(knn.score(transform(X[test]), y[test]))
    raw = KNeighborsClassifier(5).fit(X[labelled], y[labelled])
    record[RAW] = float(raw.score(X[test], y[test]))
    if cell.settings["seed"] == 0:
        record["labels"] = [int(label) for label in y[test]]
        for method, transform in embed.items():
            record[f"{method} embedding"] = np.round(transform(X[test]), 5).tolist()
    return record


def render(records: Iterable[Record]) -> str:
    """The page of the figure."""
    found = list(records)
    columns = (RAW, PCA, TRACE, ALL_PCA, ALL_TRACE)
    means = {name: [r[name] for r in found] for name in columns}
    errors = {name: 100 - 100 * np.array(values) for name, values in means.items()}
    tests = {
        n: [verdict(errors[a], errors[b], ratio=N_TEST / n) for a, b in AGAINST]
        for n in (N_GRAPH, N_LABELLED)
    }
    return fill_page(
        NAME,
        n_labelled=N_LABELLED,
        n_test=N_TEST,
        n_graph=N_GRAPH,
        n_draws=len(found),
        accuracies="| " + " | ".join(f"{np.mean(means[name]):.3f}" for name in columns) + " |",
        tests="\n".join(f"| {n} | " + " | ".join(cells) + " |" for n, cells in tests.items()),
        rank=f"{np.mean([r['rank'] for r in found]):.1f}",
        gap=f"{max([r['gap'] for r in found], default=0):.1e}",
        seconds=f"{np.mean([r['seconds'] for r in found]):.0f}",
    )


def draw_embeddings(records: Iterable[Record], file: Path) -> None:
    """The two embeddings side by side, coloured by digit."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    record = next(r for r in records if "labels" in r)
    labels = np.array(record["labels"])
    figure = Figure(figsize=(11, 5), layout="constrained")
    for panel, method in zip(figure.subplots(1, 2), (TRACE, PCA), strict=True):
        Z = np.array(record[f"{method} embedding"])
        for digit in range(10):
            rows = labels == digit
            color = colormaps["tab10"](digit)
            panel.scatter(Z[rows, 0], Z[rows, 1], s=8, color=color, label=str(digit))
        title = f"{method}: 5-NN accuracy {record[method]:.2f} in these two dimensions"
        panel.set(title=title, xticks=[], yticks=[])
    figure.legend(*panel.get_legend_handles_labels(), loc="outside right center", frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    draw_embeddings(read_records(Path(sys.argv[1])), Path(sys.argv[2]))
