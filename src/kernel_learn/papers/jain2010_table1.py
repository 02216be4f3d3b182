"""Table 1 of Jain, Kulis & Dhillon (2010): 5-NN accuracy and rank on ten UCI data sets."""

from collections.abc import Iterable, Iterator
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernel_learn.arrays import Array
from kernel_learn.datasets import DataSets
from kernel_learn.papers.difference import tell_counts, verdict_words
from kernel_learn.papers.difference import verdict as compare
from kernel_learn.papers.pairs import draw_balanced_pairs
from kernel_learn.papers.protocol import (
    Bench,
    Cell,
    Protocol,
    Record,
    Split,
    fill_page,
    make_table,
)
from kernel_learn.papers.settings import frozen_preset
from kernel_learn.presets import frob_lr, itml, itml_lr_post, itml_lr_pre, pola, trace_ssikdr

NAME = "jain2010-table1"
RUNS = 10
COLUMNS = ("standardised", "raw")
METHODS = ("Gaussian", "Frob", "ITML", "Frob LR", "ITML LR-pre", "ITML LR-post", "Trace-SSIKDR")
# of the paper: accuracies and ranks in the order of METHODS
PRINTED = """\
Iris            0.99  40   0.99  27   0.99  40   0.91   4   0.93   4   0.99   4   0.99   4
Wine            0.80 105   0.94  36   0.99 105   0.72  11   0.85  11   0.46  11   0.94  11
Ionosphere      0.94 337   0.98  64   0.98 337   0.98  19   0.98  19   0.93  19   0.99  19
Soybean         0.89 624   0.96  96   0.96 624   0.44  40   0.87  40   0.35  40   0.96  40
Diabetes        0.75 251   0.74 154   0.76 251   0.67  14   0.62  14   0.73  14   0.74  14
Balance-scale   0.93 156   0.96 106   0.97 156   0.97  10   0.80  10   0.82  10   0.97  10
Breast-cancer   0.72 259   0.73  61   0.78 259   0.69  21   0.68  21   0.68  21   0.75  21
Spectf-heart    0.74 267   0.87  39   0.84 267   0.84  22   0.89  22   0.89  22   0.84  22
Heart-c         0.68 228   0.78  62   0.79 228   0.73  39   0.61  39   0.55  39   0.78  39
Heart-h         0.59 117   0.69  71   0.70 117   0.56  31   0.30  31   0.56  31   0.68  31
"""
PAPER: dict[str, list[tuple[float, int]]] = {
    name: [(float(a), int(r)) for a, r in zip(values[::2], values[1::2], strict=True)]
    for name, *values in map(str.split, PRINTED.splitlines())
}
FILES = {"Spectf-heart": "spectf"}  # of the others the name in lower case


def table1_of_pairs() -> Protocol:
    """Ten data sets x ten runs of two folds x two scalings, runs first: any stop leaves a table."""
    cells = [
        Cell(f"{run}/{name}/{columns}", make_settings(name, run, columns))
        for run in range(RUNS)
        for columns in COLUMNS
        for name in PAPER
    ]
    return Protocol(
        NAME,
        "Jain, Kulis & Dhillon (2010), Table 1",
        cells,
        run_cell,
        render,
        check="0/Iris/standardised",
        reduced=is_small_run,
        bench=Bench(METHODS, draw_folds, fold_errors, lambda name: 1.0),
    )


def make_settings(name: str, run: int, columns: str) -> Record:
    """Of a cell; on raw columns a set is another one to whoever joins the table."""
    settings: Record = {"data": name, "run": run, "columns": columns}
    return settings if columns == COLUMNS[0] else {"set": f"{name} (raw)", **settings}


def fold_errors(record: Record) -> dict[str, list[float]]:
    """Errors in per cent, one for each fold, by method."""
    return {
        name: [100 - 100 * a for a in accuracy]
        for name, accuracy in zip(METHODS, record["accuracy"], strict=True)
    }


def is_small_run(cell: Cell) -> bool:
    """Three runs of the smaller sets."""
    small = ("Iris", "Wine", "Ionosphere", "Spectf-heart", "Heart-h")
    return cell.settings["data"] in small and cell.settings["run"] < 3


def run_cell(data: DataSets, cell: Cell) -> Record:
    """Both folds of one run: accuracy and rank of each method, averaged."""
    start = perf_counter()
    scores = [run_fold(*split, int(cell.settings["run"])) for split in draw_folds(data, cell)]
    return {
        "accuracy": [[float(fold[m][0]) for fold in scores] for m in METHODS],
        "rank": [float(np.mean([fold[m][1] for fold in scores])) for m in METHODS],
        "largest_gap": float(max(fold[m][2] for fold in scores for m in METHODS)),
        "seconds": perf_counter() - start,
    }


def draw_folds(data: DataSets, cell: Cell) -> Iterator[Split]:
    """Both folds of one run; missing entries are means of training rows."""
    name = cell.settings["data"]
    X, y = data.load(FILES.get(name, name.lower()))
    prepare: BaseEstimator = SimpleImputer(keep_empty_features=True)
    if cell.settings["columns"] == "standardised":
        prepare = make_pipeline(prepare, StandardScaler())
    folds = StratifiedKFold(2, shuffle=True, random_state=int(cell.settings["run"]))
    for train, test in folds.split(X, y):
        yield prepare.fit_transform(X[train]), prepare.transform(X[test]), y[train], y[test]


def run_fold(
    X_train: Array, X_test: Array, y_train: Array, y_test: Array, seed: int
) -> dict[str, tuple[float, int, float]]:
    """(accuracy, rank, relative gap) of each method on one fold."""
    pairs = draw_balanced_pairs(y_train, seed)

    def evaluate(model: BaseEstimator) -> tuple[float, int, float]:
        model.fit(X_train, constraints=pairs)
        knn = KNeighborsClassifier(5).fit(model.transform(X_train), y_train)
        accuracy = float(knn.score(model.transform(X_test), y_test))
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
    plain = KNeighborsClassifier(5).fit(X_train, y_train)
    found["Gaussian"] = (float(plain.score(X_test, y_test)), found["ITML"][1], 0.0)
    return found


def render(records: Iterable[Record]) -> str:
    """The page: ours over theirs, and whether the claim of low rank holds."""
    done: dict[str, dict[str, list[Record]]] = {columns: {} for columns in COLUMNS}
    for record in records:
        done[record["columns"]].setdefault(record["data"], []).append(record)
    everything = [r for found in done.values() for runs in found.values() for r in runs]
    counts = {len(runs) for found in done.values() for runs in found.values()} or {0}
    verdicts = [
        rank_verdict(name, done["standardised"][name])
        for name in PAPER
        if name in done["standardised"]
    ]
    held = [name for name, lead, factor, _ in verdicts if lead <= 1.0 and factor >= 4.0]
    return fill_page(
        NAME,
        n_runs=" to ".join(map(str, sorted({min(counts), max(counts)}))),
        table=accuracy_table(done["standardised"]),
        raw=accuracy_table(done["raw"]),
        nearer=nearer_table(done),
        n_held=len(held),
        n_sets=len(verdicts),
        held=", ".join(held) or "none",
        ranks=rank_table(verdicts),
        tests=test_table(done["standardised"]),
        raw_tests=test_table(done["raw"]),
        **told_of_ranks(done),
        scaling=tell_scaling(done),
        gains=tell_gains(done["raw"]),
        behind=behind_points(done["standardised"]),
        gap=f"{max([r['largest_gap'] for r in everything], default=0.0):.1e}",
    )


def accuracy_table(done: dict[str, list[Record]]) -> str:
    """Ours over theirs."""
    rows = []
    for name, theirs in PAPER.items():
        if name not in done:
            continue
        accuracy, rank = means(done[name])
        cells = [
            f"**{a:.3f} ({r:.0f})**<br>{p:.2f} ({q})"
            for a, r, (p, q) in zip(accuracy, rank, theirs, strict=True)
        ]
        rows.append([name, *cells])
    return make_table(["data", *METHODS], rows)


def means(runs: list[Record]) -> tuple[Array, Array]:
    """Accuracy and rank of each method, over folds and runs."""
    accuracy = np.mean([np.mean(run["accuracy"], axis=1) for run in runs], axis=0)
    return accuracy, np.mean([run["rank"] for run in runs], axis=0)


def nearer_table(done: dict[str, dict[str, list[Record]]]) -> str:
    """Plain 5-NN on both scalings beside the paper's Gaussian column."""
    rows = []
    for name, theirs in PAPER.items():
        if any(name not in found for found in done.values()):
            continue
        raw, scaled = (float(means(done[c][name])[0][0]) for c in ("raw", "standardised"))
        paper = theirs[0][0]
        near = "raw" if abs(raw - paper) < abs(scaled - paper) else "standardised"
        rows.append([name, f"{paper:.2f}", f"{raw:.3f}", f"{scaled:.3f}", near])
    return make_table(["data", "paper", "raw", "standardised", "nearer"], rows)


FAR = 10.0  # points by which scaling moves plain 5-NN


def tell_scaling(done: dict[str, dict[str, list[Record]]]) -> str:
    """On how many sets raw columns are nearer to the paper, and where scaling matters."""
    plain = {
        name: [100 * float(means(done[c][name])[0][0]) for c in ("raw", "standardised")]
        for name in PAPER
        if all(name in found for found in done.values())
    }
    if not plain:
        return ""
    paper = {name: 100 * PAPER[name][0][0] for name in plain}
    nearer = [
        n for n, (raw, scaled) in plain.items() if abs(raw - paper[n]) < abs(scaled - paper[n])
    ]
    moved = {n: abs(scaled - raw) for n, (raw, scaled) in plain.items()}
    far = {n: moved[n] for n in nearer if moved[n] > FAR}
    told = f"Raw columns are nearer on {len(nearer)} of {len(plain)} sets"
    if far:
        told += (
            f", and by far on {', '.join(far)}, where scaling moves plain 5-NN by "
            f"{min(far.values()):.0f} to {max(far.values()):.0f} points"
        )
    rest = [moved[n] for n in plain if n not in nearer]
    if rest:
        told += f"; where they are not, the two are within {max(rest):.1f} points of each other"
    return f"{told}."


def tell_gains(done: dict[str, list[Record]]) -> str:
    """The most that Frob or ITML gains on plain 5-NN."""
    gains = {
        name: 100 * float(max(accuracy[METHODS.index(m)] for m in ("Frob", "ITML")) - accuracy[0])
        for name, (accuracy, _) in ((name, means(runs)) for name, runs in done.items())
    }
    if not gains:
        return ""
    most = max(gains, key=lambda name: gains[name])
    wine = f" and {gains['Wine']:.1f} on Wine" if "Wine" in gains and most != "Wine" else ""
    return f", which is {gains[most]:.1f} points on plain 5-NN at the most ({most}){wine}"


def rank_verdict(name: str, runs: list[Record]) -> tuple[str, float, float, str]:
    """(name, ITML's lead over Trace-SSIKDR in points, ranks' quotient, corrected test)."""
    itml, trace = METHODS.index("ITML"), METHODS.index("Trace-SSIKDR")
    accuracy, rank = means(runs)
    lead = 100 * float(accuracy[itml] - accuracy[trace])
    return name, lead, float(rank[itml] / rank[trace]), against_trace(runs)[itml]


def against_trace(runs: list[Record]) -> list[str]:
    """Trace-SSIKDR, the last method, against each of the others over the folds of all runs."""
    *others, trace = -100 * np.concatenate([run["accuracy"] for run in runs], axis=1)
    # two folds: as many test rows as others
    return [compare(trace, errors, ratio=1.0) for errors in others]


def told_of_ranks(done: dict[str, dict[str, list[Record]]]) -> dict[str, str]:
    """How often Trace-SSIKDR is what against ITML and the methods of its own rank."""
    told = {}
    for prefix, columns in (("", "standardised"), ("raw_", "raw")):
        tests = [against_trace(runs) for runs in done[columns].values()]
        for word, method in (("itml", "ITML"), ("frob", "Frob LR"), ("post", "ITML LR-post")):
            own = [test[METHODS.index(method)] for test in tests]
            told[f"{prefix}against_{word}"] = tell_counts(verdict_words(own))
    return told


def behind_points(done: dict[str, list[Record]]) -> str:
    """Where Trace-SSIKDR is behind ITML by more than a point, and what cutting ITML costs there."""
    itml, cut = METHODS.index("ITML"), METHODS.index("ITML LR-post")
    found = []
    for name, runs in done.items():
        accuracy, _ = means(runs)
        if rank_verdict(name, runs)[1] > 1.0:
            found.append(f"{100 * float(accuracy[itml] - accuracy[cut]):+.1f} on {name}")
    if not found:
        return "It is nowhere behind by more than a point."
    return (
        "Where it is behind by more than a point, cutting ITML to the same rank (ITML LR-post) "
        f"costs, in points: {', '.join(found)}."
    )


def test_table(done: dict[str, list[Record]]) -> str:
    """Corrected tests of Trace-SSIKDR against each method, set by set."""
    rows = [[name, *against_trace(done[name])] for name in PAPER if name in done]
    return make_table(["Trace-SSIKDR against", *METHODS[:-1]], rows)


def rank_table(verdicts: list[tuple[str, float, float, str]]) -> str:
    """What low rank costs, set by set."""
    head = [
        "data",
        "ITML minus Trace-SSIKDR (points)",
        "Trace-SSIKDR against ITML (corrected p)",
        "rank of ITML / rank of Trace-SSIKDR",
    ]
    return make_table(
        head, [[name, f"{lead:+.1f}", test, f"{f:.1f}"] for name, lead, f, test in verdicts]
    )
