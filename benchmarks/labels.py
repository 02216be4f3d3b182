"""Several labels per row: KernelClassifier beside OneVsRest(SVC), ClassifierChain and a forest.

Three simulated sets, halves of 600 rows, several draws: Hamming loss (share of wrong cells), macro
F1 (the mean over labels), ranking loss (share of pairs of a label that a row has and one that it
has not, in the wrong order).

    python benchmarks/labels.py --splits 5
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score, hamming_loss, label_ranking_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernel_learn import KernelClassifier
from kernel_learn.papers.origin import made_now

PAGE = Path(__file__).parents[1] / "docs" / "results" / "labels.md"
N, L = 600, 6
MEASURES = {"Hamming loss": "less", "macro F1": "more", "ranking loss": "less"}


def topics(seed):
    """Counts of 20 words under mixtures of topics (scikit-learn's generator)."""
    return make_multilabel_classification(N, 20, n_classes=L, n_labels=2, random_state=seed)


def regions(seed):
    """A label for each of six discs in the plane, which overlap; ten columns of noise beside."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).uniform(-1, 1, size=(L, 2))
    X = rng.uniform(-1.5, 1.5, size=(N, 2))
    near = np.linalg.norm(X[:, None] - centres, axis=2) < 0.8 + 0.1 * rng.normal(size=(N, 1))
    return np.hstack([X + 0.05 * rng.normal(size=X.shape), rng.normal(size=(N, 10))]), near + 0


def chain(seed):
    """Every label follows a column and, four times in five, the label before it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 8))
    Y = np.zeros((N, L), dtype=int)
    Y[:, 0] = X[:, 0] > 0
    for j in range(1, L):
        own = X[:, j] + 0.5 * rng.normal(size=N) > 0
        Y[:, j] = np.where(rng.random(N) < 0.8, Y[:, j - 1] ^ (X[:, 7] > 1), own)
    return X, Y


SETS = {"topics": topics, "regions": regions, "chain": chain}


def tuned_svc():
    """C and gamma by three folds."""
    grid = {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": [0.01, 0.1, 1.0]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3)


METHODS = {
    "KernelClassifier": lambda: KernelClassifier(assess=False),
    "OneVsRest(SVC)": lambda: OneVsRestClassifier(tuned_svc()),
    "ClassifierChain(SVC)": lambda: ClassifierChain(tuned_svc(), cv=3, random_state=0),
    "random forest": lambda: RandomForestClassifier(300, random_state=0),
}


def scores_of(model, X):
    """What ranks the labels of each row, (n, L)."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    found = model.predict_proba(X)
    return np.column_stack([p[:, 1] for p in found]) if isinstance(found, list) else found


def measure(name, split):
    """(Hamming loss, macro F1, ranking loss, CPU seconds) of every method."""
    X, Y = SETS[name](split)
    train, test = slice(0, N // 2), slice(N // 2, N)
    found = {}
    for method, make in METHODS.items():
        start = time.process_time()
        model = make().fit(X[train], Y[train])
        said, ranks = model.predict(X[test]), scores_of(model, X[test])
        found[method] = (
            hamming_loss(Y[test], said),
            f1_score(Y[test], said, average="macro", zero_division=0),
            label_ranking_loss(Y[test], ranks),
            time.process_time() - start,
        )
    return found


TITLE = """# Several labels per row

`KernelClassifier().fit(X, Y)` with Y (n, L) of zeros and ones, compared with scikit-learn's
`OneVsRestClassifier` and `ClassifierChain` around an SVC with C and gamma by cross-validation,
and a random forest, on three simulated sets of 600 rows and six labels: half of the rows train,
half test, {splits} draws. Topics are counts of words (scikit-learn's generator), regions are six
overlapping discs in two of twelve columns, and in "chain" each label depends on the one before
it, as a `ClassifierChain` assumes. Means over the draws, and in brackets the standard deviation
of the difference to `KernelClassifier`; s: seconds of processor time of a fit and its
predictions. The method was not developed on these sets.
"""


def line_of(name, method, parts):
    """One line of the table: mean and spread of the difference to ours."""
    values = np.array([part[method] for part in parts])
    ours = np.array([part["KernelClassifier"] for part in parts])
    cells = []
    for i in range(3):
        spread = np.std(values[:, i] - ours[:, i], ddof=1) if len(parts) > 1 else 0.0
        own = method == "KernelClassifier"
        cells.append(f"{values[:, i].mean():.3f}" + ("" if own else f" ({spread:.3f})"))
    return f"| {name} | {method} | {' | '.join(cells)} | {values[:, 3].mean():.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    table = [f"| set | method | {' | '.join(MEASURES)} | s |", f"|{'---|' * 6}"]
    for name in SETS:
        parts = [measure(name, split) for split in range(asked.splits)]
        table += [line_of(name, method, parts) for method in METHODS]
        print("\n".join(table[-len(METHODS) :]), flush=True)
    text = (
        f"{TITLE.format(splits=asked.splits)}\n```\npython benchmarks/labels.py --splits "
        f"{asked.splits}\n```\n\nOrigin: {'; '.join(made_now().values())}; "
        f"{time.process_time():.0f} s of processor time.\n\n"
    )
    asked.output.write_text(text + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
