"""Wu & Farquhar (2007), Tables 2 and 3: kernel feature extraction before 1-NN.

Seven gene-expression sets (Gaussian kernel, 5-fold cross-validation, 20
repeats) and seven text sets (linear kernel, half of each class for training,
20 repeats).
"""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from kernel_learn.datasets import DataFolder
from kernel_learn.estimators import (
    AlignmentSubspace,
    KernelDiscriminant,
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
)
from kernel_learn.kernels import Gaussian, Linear
from kernel_learn.papers.protocol import Cell, Protocol, Record, fill_page
from kernel_learn.papers.settings import frozen

GENES = [
    "Brain_Tumor1",
    "Brain_Tumor2",
    "Leukemia1",
    "Leukemia2",
    "Prostate_Tumor",
    "DLBCL",
    "11_Tumors",
]
TEXTS = ["tr11", "tr23", "tr41", "tr45", "la1", "la2", "hitech"]
REPEATS = 20
WIDTHS = 2.0 ** np.arange(-4, 5, 2)  # gamma in units of 1 / median squared distance
METHODS = {
    "1-NN": "plain",
    "KPLS": "kpls",
    "KOC": "koc",
    "AKDA/QR": "akda",
    "SKFE (paper)": "skfe_paper",
    "SKFE (regularised)": "skfe",
    "RKDA (leave-one-out)": "rkda",
}


def table() -> Protocol:
    """The protocol of both tables."""
    cells = [
        Cell(f"{name}-{repeat}", {"set": name, "repeat": repeat})
        for repeat in range(REPEATS)
        for name in [*GENES, *TEXTS]
    ]
    return Protocol(
        "wu2007-tables", "Wu & Farquhar (2007), Tables 2 and 3", cells, run_cell, render
    )


def run_cell(data: DataFolder, cell: Cell) -> Record:
    """All methods on one set."""
    X, y = data.load(cell.settings["set"])
    y = np.unique(y, return_inverse=True)[1]
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small folds: early stops and missing ranks are expected
        if cell.settings["set"] in GENES:
            errors = gene_errors(X, y, cell.settings["repeat"])
        else:
            errors = text_errors(X, y, cell.settings["repeat"])
    return {"errors": errors, "seconds": perf_counter() - start}


def gene_errors(X: Any, y: Any, repeat: int) -> dict[str, float]:
    """Best cross-validated error over the widths (and over KPLS's dimensions), in per cent."""
    wrong: dict[tuple[str, float], int] = defaultdict(int)
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer than five members
        splits = list(folds.split(X, y))
    for train, test in splits:
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        D, D_new = euclidean_distances(A, squared=True), euclidean_distances(B, A, squared=True)
        wrong["plain", 0.0] += count_wrong(A, y[train], B, y[test])
        for width in WIDTHS:
            gamma = width / np.median(D)
            for name, F, F_new in features(
                np.exp(-gamma * D), np.exp(-gamma * D_new), A, B, y[train], Gaussian(gamma)
            ):
                wrong[name, width] += count_wrong(F, y[train], F_new, y[test])
    best: dict[str, float] = {}
    for (name, _), count in wrong.items():
        method = name.split("-")[0]
        best[method] = min(best.get(method, np.inf), 100 * count / len(y))
    return best


def text_errors(X: Any, y: Any, repeat: int) -> dict[str, float]:
    """Test error on the other half of each class, in per cent."""
    train, test = halves(y, np.random.default_rng(repeat))
    weighting = TfidfTransformer().fit(X[train])
    A, B = weighting.transform(X[train]), weighting.transform(X[test])
    K, K_new = (A @ A.T).toarray(), (B @ A.T).toarray()
    best = {"plain": 100 * count_wrong(A, y[train], B, y[test]) / len(test)}
    for name, F, F_new in features(K, K_new, A, B, y[train], Linear()):
        method = name.split("-")[0]
        error = 100 * count_wrong(F, y[train], F_new, y[test]) / len(test)
        best[method] = min(best.get(method, np.inf), error)
    return best


def features(
    K: Any, K_new: Any, A: Any, B: Any, y: Any, kernel: Any
) -> Iterator[tuple[str, Any, Any]]:
    """(method, training features, new features); KPLS once per number of features."""
    k = len(np.unique(y))
    models = {
        "koc": frozen(KernelOrthogonalCentroid, "precomputed"),
        "skfe_paper": frozen(AlignmentSubspace, "precomputed", reg=0.0, max_iter=300),
        "skfe": frozen(AlignmentSubspace, "precomputed", max_iter=300),
        "rkda": frozen(KernelDiscriminant, "precomputed", decision="centroid"),
    }
    for n_features in sorted({max(1, round(k / 4)), max(1, round(k / 2)), k}):
        models[f"kpls-{n_features}"] = frozen(KernelPLS, "precomputed", n_components=n_features)
    for name, model in models.items():
        model.fit(K, y)
        yield name, model.transform(K), model.transform(K_new)
    akda = frozen(KernelDiscriminantQR, kernel).fit(A, y)
    yield "akda", akda.transform(A), akda.transform(B)


def count_wrong(F: Any, y: Any, F_new: Any, y_new: Any) -> int:
    """Errors of the nearest neighbour on the features."""
    return int(np.sum(KNeighborsClassifier(1).fit(F, y).predict(F_new) != y_new))


def halves(y: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Indices of a random half of each class (rounded up) and of the rest."""
    train = np.concatenate(
        [
            rng.permutation(np.flatnonzero(y == label))[: (np.sum(y == label) + 1) // 2]
            for label in np.unique(y)
        ]
    )
    return np.sort(train), np.setdiff1d(np.arange(len(y)), train)


def render(records: Iterable[Record]) -> str:
    """The page: mean error and standard deviation over the repeats, and the paper's claims."""
    errors: dict[str, list[dict[str, float]]] = defaultdict(list)
    for record in records:
        errors[record["set"]].append(record["errors"])
    parts: list[str] = []
    for title, names in (("Gene expression (Table 2)", GENES), ("Text (Table 3)", TEXTS)):
        done = [name for name in names if errors[name]]
        parts += [f"## {title}\n", "| data | repeats | " + " | ".join(METHODS) + " |"]
        parts.append("|---" * (len(METHODS) + 2) + "|")
        parts += [_row(name, errors[name]) for name in done]
        parts += ["", _claims(done, errors), ""]
    return fill_page("wu2007-tables", tables="\n".join(parts))


def _row(name: str, runs: list[dict[str, float]]) -> str:
    cells = []
    means = {key: np.mean([run[key] for run in runs]) for key in METHODS.values()}
    for key in METHODS.values():
        text = f"{means[key]:.1f} ± {np.std([run[key] for run in runs]):.1f}"
        cells.append(f"**{text}**" if means[key] <= min(means.values()) + 1e-9 else text)
    return f"| {name} | {len(runs)} | " + " | ".join(cells) + " |"


def _claims(done: list[str], errors: dict[str, list[dict[str, float]]]) -> str:
    """How often SKFE is better or worse than each method by a paired t-test at 5 %."""
    lines = []
    for key, title in (("skfe_paper", "SKFE (paper)"), ("skfe", "SKFE (regularised)")):
        for other in ("plain", "kpls", "koc", "akda", "rkda"):
            better = worse = 0
            for name in done:
                a = np.array([run[key] for run in errors[name]])
                b = np.array([run[other] for run in errors[name]])
                if len(a) > 1 and np.any(a != b) and ttest_rel(a, b).pvalue < 0.05:
                    better, worse = better + (a.mean() < b.mean()), worse + (a.mean() > b.mean())
            label = next(title for title, name in METHODS.items() if name == other)
            same = len(done) - better - worse
            lines.append(f"| {title} against {label} | {better} | {same} | {worse} |")
    return "\n".join(
        [
            "| paired t-test at 5 % | sets better | no difference | sets worse |",
            "|---|---|---|---|",
            *lines,
        ]
    )
