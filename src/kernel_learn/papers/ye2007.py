"""Ye et al. (2007), Tables 1 and 2 and Figure 1: discriminant kernels from ten Gaussians."""

import warnings
from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernel_learn.arrays import Array, Rows
from kernel_learn.criteria.kernel_weights import Coupling, KimDiscriminant, LabelResolvent
from kernel_learn.criteria.labels import label_factor
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.discriminant import KernelDiscriminant
from kernel_learn.estimators.multi_kernel_svc import MultiKernelSVC
from kernel_learn.kernels.bank import Combination, gaussian_bank
from kernel_learn.kernels.base import KernelsLike
from kernel_learn.papers.difference import verdict
from kernel_learn.papers.protocol import (
    Bench,
    Cell,
    Protocol,
    Record,
    Split,
    by_set,
    fill_page,
    make_table,
    repeated_cells,
)
from kernel_learn.papers.settings import frozen
from kernel_learn.representations.gram import GramForm
from kernel_learn.representations.sources import one_hot
from kernel_learn.solvers.choice import solve_simplex

REPEATS = 30
# exp(-|x - y|^2 / sigma_i^2), sigma_i log-spaced in [1e-1, 1e2] (section 5): squares of widths
BANK = list(gaussian_bank(10, 0.1**2, 100.0**2).values())
CS = [1.0, 10.0, 100.0]
BINARY = {"Sonar": "sonar", "Heart": "heart-statlog", "Cancer": "breast-w"}
BINARY["Ionosphere"] = "ionosphere"
MULTI = {
    "Wine (3)": ("wine", 3),
    "USPS (3)": ("usps", 3),
    "USPS (6)": ("usps", 6),
    "USPS (8)": ("usps", 8),
    "Waveform (3)": ("waveform", 3),
}
# Accuracies in per cent, as printed.
TABLE_1 = {
    "Sonar": [85.60, 90.16, 88.46, 89.75, 89.59, 89.84, 88.86, 89.27],
    "Heart": [76.85, 81.54, 81.98, 82.59, 82.71, 82.53, 76.54, 82.22],
    "Cancer": [96.05, 96.00, np.nan, 97.08, 97.15, 97.01, 95.30, 96.62],
    "Ionosphere": [89.90, 95.10, 89.14, 95.28, 94.81, 95.19, 93.62, 93.52],
}
TABLE_2 = {
    "Wine (3)": [96.97, 98.66, 97.69, 98.30],
    "USPS (3)": [94.41, 99.41, 99.13, 99.33],
    "USPS (6)": [87.14, 97.93, 98.08, 97.62],
    "USPS (8)": [78.35, 96.93, 96.03, 95.96],
    "Waveform (3)": [81.95, 83.08, 83.05, 83.41],
}
COLUMNS_1 = ["SDP_theta", "SDP_theta,lambda", "SDP_Kim", "SM1", "SM2", "SM2_C"]
COLUMNS_1 += ["RKDA_CV", "SVM_CV"]
COLUMNS_2 = ["SDP_theta", "SDP_theta,lambda", "RKDA_CV", "SVM_CV"]
FIGURE_1 = ["SDP_theta exact", "SDP_theta", "SDP_theta,lambda exact", "SDP_theta,lambda"]


def table1() -> Protocol:
    """Table 1: two classes."""
    bench = make_bench(COLUMNS_1, split_binary, 0.25)
    return make_protocol("Table 1", BINARY, run_binary, render_1, check="Sonar-0", bench=bench)


def table2() -> Protocol:
    """Table 2: several classes."""
    bench = make_bench(COLUMNS_2, split_multi, 2 / 3)
    return make_protocol("Table 2", MULTI, run_multi, render_2, check="Wine (3)-0", bench=bench)


def make_bench(columns: list[str], split: Callable[[DataSets, Cell], Split], ratio: float) -> Bench:
    """How others join a table: one partition for each cell."""
    return Bench(
        tuple(columns),
        lambda data, cell: [split(data, cell)],
        lambda record: {name: [100 - record["accuracies"][name]] for name in columns},
        lambda name: ratio,
    )


def make_protocol(
    table: str,
    sets: Iterable[str],
    run_cell: Callable[[DataSets, Cell], Record],
    render: Callable[[Iterable[Record]], str],
    *,
    check: str,
    bench: Bench,
) -> Protocol:
    """A table of thirty partitions of each set, five in the reduced version."""
    return Protocol(
        f"ye2007-{table.lower().replace(' ', '')}",
        f"Ye et al. (2007), {table}",
        repeated_cells(sets, REPEATS),
        run_cell,
        render,
        check=check,
        reduced=lambda cell: cell.settings["repeat"] < 5,
        bench=bench,
    )


def split_binary(data: DataSets, cell: Cell) -> Split:
    """One partition of Table 1, complete rows, columns standardised."""
    X, y = data.load(BINARY[cell.settings["set"]])
    complete = ~np.isnan(X).any(axis=1)
    X, y = X[complete], np.unique(y[complete], return_inverse=True)[1]
    return partition(X, y, 0.2, cell.settings["repeat"])


def run_binary(data: DataSets, cell: Cell) -> Record:
    """All methods of Table 1 on one split."""
    split = split_binary(data, cell)
    n = len(split[2])
    methods: dict[str, Callable[..., float]] = {
        "SDP_theta": lambda *s: fixed(*s, reg=1e-8 * n),
        "SDP_theta,lambda": learned,
        "SDP_Kim": kim,
        "SM1": lambda *s: bank_machine(*s, loss="hinge", C=1.0),
        "SM2": lambda *s: bank_machine(*s, loss="squared_hinge", C=1.0),
        "SM2_C": lambda *s: bank_machine(*s, loss="squared_hinge", C="learn"),
        "RKDA_CV": rkda_cv,
        "SVM_CV": svm_cv,
    }
    return measure_methods(methods, split)


def split_multi(data: DataSets, cell: Cell) -> Split:
    """One partition of Table 2, a hundred rows of each class."""
    name, k = MULTI[cell.settings["set"]]
    X, y = data.load(name)
    classes = np.unique(y)[:k]
    rng = np.random.default_rng(cell.settings["repeat"])
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:100] for label in classes])
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    return partition(X, y, 0.4, cell.settings["repeat"], standardize=name != "usps")


def run_multi(data: DataSets, cell: Cell) -> Record:
    """All methods of Table 2 on one split."""
    split = split_multi(data, cell)
    n = len(split[2])
    methods: dict[str, Callable[..., float]] = {
        "SDP_theta": lambda *s: fixed(*s, reg=1e-5 * n, coupling="approximate"),
        "SDP_theta,lambda": lambda *s: learned(*s, coupling="approximate"),
        "SDP_theta exact": lambda *s: fixed(*s, reg=1e-5 * n),
        "SDP_theta,lambda exact": learned,
        "RKDA_CV": rkda_cv,
        "SVM_CV": svm_cv,
    }
    return measure_methods(methods, split)


def measure_methods(methods: dict[str, Callable[..., float]], split: tuple[Rows, ...]) -> Record:
    """Accuracy and seconds of each method."""
    accuracies, seconds = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lambda of 1e-8: machines at their limits are expected
        for name, method in methods.items():
            start = perf_counter()
            accuracies[name] = 100 * method(*split)
            seconds[name] = perf_counter() - start
    return {"accuracies": accuracies, "seconds": seconds}


def partition(
    X: Rows, y: Array, share: float, repeat: int, *, standardize: bool = True
) -> tuple[Rows, Rows, Array, Array]:
    """(A, B, y_A, y_B): a stratified partition, columns standardised by the training rows."""
    A, B, y_A, y_B = train_test_split(X, y, test_size=share, stratify=y, random_state=repeat)
    if standardize:
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
    return A.astype(np.float64), B.astype(np.float64), y_A, y_B


def label_bank(A: Rows, y: Array, *, scale: bool = True) -> GramForm:
    """The bank on rows A with the normalised label factor."""
    classes = np.unique(y)
    _, mixing = label_factor("normalized", y, classes)
    return GramForm(BANK, A, one_hot(y, len(classes)), mixing=mixing, scale=scale)


def fixed(
    A: Rows, B: Rows, y: Array, y_B: Array, *, reg: float, coupling: Coupling = "exact"
) -> float:
    """SDP_theta: weights for a given lambda (reg = n lambda: the paper's kernels have trace 1)."""
    bank = label_bank(A, y)
    result = solve_simplex(LabelResolvent(bank, reg=reg, coupling=coupling))
    kernel = Combination(BANK, bank.theta_at(result.point))
    return float(centroids(kernel, reg).fit(A, y).score(B, y_B))


def learned(A: Rows, B: Rows, y: Array, y_B: Array, *, coupling: Coupling = "exact") -> float:
    """SDP_theta,lambda: lambda learned with the weights."""
    bank = label_bank(A, y)
    criterion = LabelResolvent(bank, reg="learn", coupling=coupling)
    result = solve_simplex(criterion)
    kernel = Combination(BANK, bank.theta_at(criterion.shares(result.point)))
    reg = criterion.learned_reg(result.point)
    return float(centroids(kernel, reg).fit(A, y).score(B, y_B))


def kim(A: Rows, B: Rows, y: Array, y_B: Array) -> float:
    """SDP_Kim: sum theta = 1, lambda on the within-class covariance, hence n lambda on scatters."""
    lam = 1e-8
    bank = label_bank(A, y, scale=False)
    result = solve_simplex(
        KimDiscriminant(bank, np.eye(2)[np.unique(y, return_inverse=True)[1]], reg=lam)
    )
    traces = np.array([float(np.trace(bank.gram(i))) for i in range(bank.p)])
    reg = len(y) * lam * len(y) / float(traces @ result.point)
    kernel = Combination(BANK, result.point)
    return float(centroids(kernel, reg).fit(A, y).score(B, y_B))


def centroids(kernel: KernelsLike, reg: float | str) -> BaseEstimator:
    """A discriminant that classifies by centroids in the within-class metric."""
    return frozen(KernelDiscriminant, kernel, reg=reg, decision="centroid")


def bank_machine(A: Rows, B: Rows, y: Array, y_B: Array, **options: object) -> float:
    """Accuracy of a machine on the bank."""
    return float(frozen(MultiKernelSVC, BANK, **options).fit(A, y).score(B, y_B))


def rkda_cv(A: Rows, B: Rows, y: Array, y_B: Array) -> float:
    """One kernel and reg by exact leave-one-out cross-validation."""
    models = [centroids(kernel, "loo").fit(A, y) for kernel in BANK]
    best = min(models, key=lambda model: float(min(model.loo_errors_)))
    return float(best.score(B, y_B))


def svm_cv(A: Rows, B: Rows, y: Array, y_B: Array) -> float:
    """One kernel and C by 3-fold cross-validation."""
    D, D_new = euclidean_distances(A, squared=True), euclidean_distances(B, A, squared=True)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(A, y))
    gammas = [float(kernel.gamma) for kernel in BANK]
    scores = np.zeros((len(gammas), len(CS)))
    for i, gamma in enumerate(gammas):
        K = np.exp(-gamma * D)
        for train, test in folds:
            for j, C in enumerate(CS):
                model = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
                scores[i, j] += model.score(K[np.ix_(test, train)], y[test])
    best, column = divmod(int(np.argmax(scores)), len(CS))
    model = SVC(C=CS[column], kernel="precomputed").fit(np.exp(-gammas[best] * D), y)
    return float(model.score(np.exp(-gammas[best] * D_new), y_B))


def render_1(records: Iterable[Record]) -> str:
    """The page of Table 1."""
    records = list(records)
    tests = verdicts(records, "SDP_theta,lambda", COLUMNS_1, TABLE_1, ratio=0.25)
    return fill_page("ye2007-table1", table=comparison(records, COLUMNS_1, TABLE_1), verdicts=tests)


def render_2(records: Iterable[Record]) -> str:
    """The page of Table 2."""
    records = list(records)
    figure = []
    for name, runs in by_set(records).items():
        cells = [
            f"{np.mean([run['accuracies'][column] for run in runs]):.2f} "
            f"({1000 * np.median([run['seconds'][column] for run in runs]):.0f} ms)"
            for column in FIGURE_1
        ]
        figure.append([name, *cells])
    title = "\n## Figure 1: exact and approximate, accuracy in % and time in ms\n\n"
    exact = title + make_table(["data", *FIGURE_1], figure)
    table = comparison(records, COLUMNS_2, TABLE_2)
    tests = verdicts(records, "SDP_theta,lambda", COLUMNS_2, TABLE_2, ratio=2 / 3)
    return fill_page("ye2007-table2", table=table, figure=exact, verdicts=tests)


def comparison(records: list[Record], columns: list[str], paper: dict[str, list[float]]) -> str:
    """Ours, mean and standard deviation, and the paper's figure under it."""
    rows: list[list[object]] = []
    found = by_set(records)
    for name in (name for name in paper if name in found):
        runs = found[name]
        cells = []
        for column in columns:
            values = [run["accuracies"][column] for run in runs]
            cells.append(f"{np.mean(values):.2f} ± {np.std(values):.2f}")
        rows.append([name, len(runs), *cells])
        printed = ["-" if np.isnan(value) else f"{value:.2f}" for value in paper[name]]
        rows.append(["*paper*", 30, *printed])
    return make_table(["data", "partitions", *columns], rows) + "\n"


def verdicts(
    records: list[Record], ours: str, columns: list[str], sets: Iterable[str], *, ratio: float
) -> str:
    """One method against each other, set by set: the corrected test of the errors."""
    others = [column for column in columns if column != ours]
    rows = []
    found = by_set(records)
    for name in (name for name in sets if name in found):
        errors = {c: [100 - run["accuracies"][c] for run in found[name]] for c in columns}
        rows.append([name, *(verdict(errors[ours], errors[other], ratio) for other in others)])
    return make_table([f"{ours} against", *others], rows)
