"""Chen et al. (2008), Table 3: four Gaussian kernels, each alone and combined.

Rows, partitions, folds and the grid of reg and C are those of Table 2.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from kernel_learn.arrays import Array
from kernel_learn.datasets import DataSets
from kernel_learn.estimators.hsic import HSICSubspace
from kernel_learn.estimators.subspace_svc import SubspaceSVC
from kernel_learn.kernels.stationary import Gaussian
from kernel_learn.papers.chen2008 import (
    CS,
    FOLDS,
    best_cell,
    count_svm_errors,
    load_half,
    make_folds,
    scaled_features,
)
from kernel_learn.papers.chen2008 import REGS as REGS_OF_TABLE_2
from kernel_learn.papers.difference import tell_counts, verdict, verdict_words
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

Bank = Gaussian | list[Gaussian]
REPEATS = 20
SIGMAS = [1e-3, 1e-2, 5e-1, 1e-1]
KERNELS = [Gaussian(1 / sigma) for sigma in SIGMAS]
REGS = REGS_OF_TABLE_2[True]
SETS = {
    "Wine": "wine",
    "B. Tumor1": "Brain_Tumor1",
    "B. Tumor2": "Brain_Tumor2",
    "Waveform": "waveform",
    "Satimage": "satimage",
    "Segment": "segment",
    "USPS": "usps",
}
SMALL = ("Wine", "B. Tumor1", "B. Tumor2")
LARGE = ("Satimage", "Segment", "USPS")  # one fold in place of three: a bank is fitted 24 times
COLUMNS = [f"HSIC_ker{i}" for i in (1, 2, 3, 4)] + ["HSIC_mkl"]
COLUMNS += [f"SVM_ker{i}" for i in (1, 2, 3, 4)] + ["SVM_mkl"]
# Error rates in per cent, as printed.
TABLE_3 = {
    "Satimage": [5.831, 8.527, 7.082, 4.416, 4.063, 5.927, 7.782, 6.981, 6.845, 3.456],
    "Waveform": [19.331, 17.432, 17.579, 18.441, 16.021, 15.681, 14.672, 16.39, 17.781, 11.216],
    "Segment": [5.489, 5.286, 4.878, 5.674, 3.571, 4.796, 5.694, 4.204, 6.265, 3.033],
    "Wine": [7.471, 3.948, 3.776, 3.865, 3.965, 8.511, 3.031, 4.200, 2.822, 2.918],
    "USPS": [5.721, 5.179, 2.222, 2.128, 2.105, 6.345, 5.026, 2.319, 2.622, 2.205],
    "B. Tumor1": [7.112, 6.667, 6.212, 6.140, 5.781, 6.781, 6.216, 6.132, 6.127, 5.139],
    "B. Tumor2": [20.833, 18.750, 17.708, 18.125, 15.625, 20.917, 17.625, 16.625, 16.667, 12.458],
}


def table3() -> Protocol:
    """Table 3: single kernels and their combination."""
    return Protocol(
        "chen2008-table3",
        "Chen et al. (2008), Table 3",
        repeated_cells(SETS, REPEATS),
        run_cell,
        render,
        check="Wine-0",  # of genes ker1 sees nothing, and rounding chooses its reg
        reduced=lambda cell: cell.settings["set"] in SMALL and cell.settings["repeat"] < 5,
        bench=Bench(
            tuple(COLUMNS),
            lambda data, cell: [load_split(data, **cell.settings)],
            lambda record: {name: [error] for name, error in record["errors"].items()},
            lambda name: 1.0,
        ),
    )


def run_cell(data: DataSets, cell: Cell) -> Record:
    """All columns of the table on one split of one set."""
    A, B, y_A, y_B = load_split(data, **cell.settings)
    folds = make_folds(y_A, cell.settings["repeat"])
    folds = folds[:1] if cell.settings["set"] in LARGE else folds
    start = perf_counter()
    errors: dict[str, float] = {}
    weights: dict[str, list[float]] = {}
    chosen: dict[str, tuple[float, float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # widths of 1e-3 make kernels that see nothing
        banks: list[Bank] = [*KERNELS, KERNELS]
        for kernel, suffix in zip(banks, ["ker1", "ker2", "ker3", "ker4", "mkl"], strict=True):
            for family, fit, count in (
                ("HSIC", fit_hsic, count_hsic_errors),
                ("SVM", fit_joint, count_joint_errors),
            ):
                name = f"{family}_{suffix}"
                held = sum(count(kernel, A[t], y_A[t], A[v], y_A[v]) for t, v in folds)
                i, j = best_cell(np.asarray(held))
                reg, C = chosen[name] = REGS[i], CS[j]
                model, predict = fit(kernel, reg, C, A, y_A)
                errors[name] = 100 * float(np.mean(predict(B) != y_B))
                if suffix == "mkl":
                    weights[name] = [float(w) for w in model.kernel_weights_]
    seconds = perf_counter() - start
    return {"errors": errors, "weights": weights, "chosen": chosen, "seconds": seconds}


def load_split(data: DataSets, set: str, repeat: int) -> Split:
    """(X_train, X_test, y_train, y_test) of Table 2, squared distances averaged over columns."""
    A, B, y_A, y_B = load_half(data, SETS[set], repeat)
    return *average(A, B), y_A, y_B


def average(A: Array, B: Array) -> tuple[Array, Array]:
    """Columns over the root of their number; genes rotated to as many columns as rows."""
    A, B = A / np.sqrt(A.shape[1]), B / np.sqrt(A.shape[1])
    if A.shape[1] > len(A) + len(B):  # a rotation keeps every distance
        everyone = np.vstack([A, B])
        U, s, _ = np.linalg.svd(everyone - everyone.mean(axis=0), full_matrices=False)
        A, B = np.split(U * s, [len(A)])
    return A, B


Predict = Callable[[Array], Array]


def fit_hsic(
    kernel: Bank, reg: float, C: float, A: Array, y: Array
) -> tuple[BaseEstimator, Predict]:
    """uHSIC and a linear SVM on its features, which have mean squared length 1."""
    model = frozen(HSICSubspace, kernel, reg=reg, uncorrelated=True).fit(A, y)
    F = model.transform(A)
    machine = SVC(C=C, kernel="linear", max_iter=200_000).fit(scaled_features(F, F)[0], y)
    return model, lambda B: machine.predict(scaled_features(F, model.transform(B))[1])


def count_hsic_errors(kernel: Bank, A: Array, y: Array, V: Array, y_V: Array) -> Array:
    """Errors on the held rows V, (reg, C)."""
    errors = []
    for reg in REGS:
        model = frozen(HSICSubspace, kernel, reg=reg, uncorrelated=True).fit(A, y)
        errors.append(count_svm_errors(model.transform(A), y, model.transform(V), y_V))
    return np.array(errors)


def fit_joint(
    kernel: Bank, reg: float, C: float, A: Array, y: Array
) -> tuple[BaseEstimator, Predict]:
    """uSVM_joint, its weights to 1e-6: J is flat, and 1e-3 would accept any of them."""
    model = frozen(SubspaceSVC, kernel, reg=reg, C=C).fit(A, y)
    return model, model.predict


def count_joint_errors(kernel: Bank, A: Array, y: Array, V: Array, y_V: Array) -> Array:
    """Errors on the held rows V, (reg, C): along a path for one kernel, fit by fit for several."""
    if isinstance(kernel, list):
        fits = [[fit_joint(kernel, reg, C, A, y)[1](V) for C in CS] for reg in REGS]
        return np.array([[np.sum(found != y_V) for found in row] for row in fits])
    path = frozen(SubspaceSVC, "precomputed", tol=1e-3).path(kernel(A), y, CS, REGS)
    scores = kernel(V, A) @ path.coefs + path.intercepts[:, :, None]  # (reg, C, row, class)
    return np.asarray(np.sum(np.unique(y)[scores.argmax(axis=-1)] != y_V, axis=-1))


def render(records: Iterable[Record]) -> str:
    """The page of Table 3."""
    runs = by_set(records)
    rows: list[list[object]] = []
    for name, printed in TABLE_3.items():
        if not runs[name]:
            continue
        means = [np.mean([run["errors"][column] for run in runs[name]]) for column in COLUMNS]
        cells = [
            f"**{mean:.2f}**" if mean <= min(means[s : s + 5]) + 1e-9 else f"{mean:.2f}"
            for s in (0, 5)
            for mean in means[s : s + 5]
        ]
        rows.append([name, len(runs[name]), *cells])
        rows.append(["*paper*", 20, *(f"{value:.2f}" for value in printed)])
    missing = [name for name in TABLE_3 if not runs[name]]
    compared, counts = claims(runs)
    return fill_page(
        "chen2008-table3",
        table=make_table(["data", "partitions", *COLUMNS], rows),
        claims=compared,
        regs=", ".join(f"{reg:g}" for reg in REGS),
        Cs=", ".join(f"{C:g}" for C in CS),
        folds=FOLDS,
        missing=f" Not run on this grid: {', '.join(missing)}." if missing else "",
        summary="; ".join(f"{family}_mkl {tell_counts(found)}" for family, found in counts.items()),
        least=tell_least(runs),
        so=tell_gain(counts),
        fails=tell_fails(runs),
        most_reg=tell_largest_reg(runs["B. Tumor1"]),
    )


def tell_gain(counts: dict[str, Counter[str]]) -> str:
    """Whether any test finds a difference from the best single kernel."""
    if any(found["better"] or found["worse"] for found in counts.values()):
        return "So it matters on some sets whether one kernel is chosen or four are combined."
    return (
        "So no gain of four kernels on the best of them is shown, and where it is undecided none "
        "is ruled out."
    )


def tell_fails(runs: dict[str, list[Record]]) -> str:
    """Where ker1 has more than twice the errors of the best single kernel, in both families."""
    found = []
    for name in (name for name in TABLE_3 if runs[name]):
        mean = {c: np.mean([run["errors"][c] for run in runs[name]]) for c in COLUMNS}
        best = {f: min(mean[f"{f}_ker{i}"] for i in (2, 3, 4)) for f in ("HSIC", "SVM")}
        if all(mean[f"{family}_ker1"] > 2 * least for family, least in best.items()):
            found.append(name)
    return ", ".join(found) or "no set"


def tell_largest_reg(runs: list[Record]) -> str:
    """In how many partitions cross-validation takes the largest reg for HSIC_mkl."""
    largest = sum(run["chosen"]["HSIC_mkl"][0] == max(REGS) for run in runs)
    return f"{largest} of {len(runs)}"


def tell_least(runs: dict[str, list[Record]]) -> str:
    """On how many sets each combination has the least mean error of its family."""
    ours = {name: [run["errors"] for run in found] for name, found in runs.items() if found}
    means = {
        name: [np.mean([errors[column] for errors in found]) for column in COLUMNS]
        for name, found in ours.items()
    }
    told = []
    for family, start in (("HSIC", 0), ("SVM", 5)):
        here, there = (
            sum(figures[start + 4] <= min(figures[start : start + 5]) + 1e-9 for figures in table)
            for table in (means.values(), (TABLE_3[name] for name in means))
        )
        told.append(f"on {here} of {len(means)} sets ({family}_mkl; the paper: {there})")
    return " and ".join(told)


def claims(runs: dict[str, list[Record]]) -> tuple[str, dict[str, Counter[str]]]:
    """The combination against the kernel that is best on average, and how often it is what."""
    rows: list[list[str]] = []
    told: dict[str, list[str]] = {"HSIC": [], "SVM": []}
    for name in TABLE_3:
        if not runs[name]:
            continue
        cells = []
        for family in told:
            errors = {c: np.array([run["errors"][c] for run in runs[name]]) for c in COLUMNS}
            best = min((f"{family}_ker{i}" for i in (1, 2, 3, 4)), key=lambda c: errors[c].mean())
            combined = errors[f"{family}_mkl"]
            difference = combined.mean() - errors[best].mean()
            test = verdict(combined, errors[best], ratio=1.0)
            cells.append(f"{difference:+.2f} on {best[-4:]}: {test}")
            told[family].append(test)
        rows.append([name, *cells])
    families = (f"{family}_mkl against the best {family}_ker" for family in told)
    counts = {family: verdict_words(tests) for family, tests in told.items()}
    return make_table(["data", *families], rows), counts
