"""Do sets of classes hold the true one as often as asked? Halves of the shared sets and tables.

For each set, five splits into halves: the share of test rows whose set holds their class, for 80,
90 and 95 % asked, by ``predict_set`` ("loo" and "cv+"), within classes of 20 test rows and more
(``by_class``), and by split conformal prediction with the same learner, which gives half of the
training rows away; and the mean size of the sets.

    KERNEL_LEARN_DATA=folder python benchmarks/coverage.py --splits 5
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from compare import load
from scipy.stats import binom
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from kernel_learn import KernelClassifier, KernelDiscriminant
from kernel_learn.datasets import find_data
from kernel_learn.papers.origin import made_now

COVERAGES = (0.8, 0.9, 0.95)
MOST_ROWS = 600  # of a set; of more, so many are drawn
FEWEST = 8  # rows of a class that stays in
SETS = """
    wine iris heart-statlog heart-c heart-h sonar ionosphere breast-w breast-cancer diabetes
    vowel balance-scale spectf soybean segment yeast page-blocks phoneme waveform satimage
    DLBCL Leukemia1 Prostate_Tumor mixed/autos mixed/car mixed/colic mixed/credit-a
    mixed/titanic mixed/vote
"""
PAGE = Path(__file__).parents[1] / "docs" / "results" / "coverage.md"


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def some_rows(X, y):
    """At most MOST_ROWS, of the classes that are large enough."""
    y = np.asarray(y).astype(str)
    labels, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, labels[counts >= FEWEST]))
    rows = np.random.default_rng(0).permutation(rows)[:MOST_ROWS]
    labels, counts = np.unique(y[rows], return_counts=True)
    rows = np.sort(rows[np.isin(y[rows], labels[counts >= FEWEST])])
    return take(X, rows), y[rows]


def split_conformal(make, X, y, T):
    """Half of the rows fit, the other half says how large a score may be: coverage -> sets."""
    a, b = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
    model = make().fit(take(X, a), y[a])
    P, Q = model.predict_proba(take(X, b)), model.predict_proba(T)
    scores = np.sort(1 - P[np.arange(len(b)), np.searchsorted(model.classes_, y[b])])

    def sets(coverage):
        k = int(np.ceil(round(coverage * (len(b) + 1), 9)))
        found = 1 - (scores[k - 1] if k <= len(b) else np.inf) <= Q
        found[np.arange(len(Q)), Q.argmax(axis=1)] = True
        return found

    return sets, model.classes_


def inside(sets, classes, y):
    return sets[np.arange(len(y)), np.searchsorted(classes, y)]


def measure(name, folder, split, make):
    """{method: (coverages, sizes)} of one split, and the worst class by class."""
    X, y = some_rows(*load(folder, name))
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=split)
    a, b = next(halves.split(np.zeros((len(y), 1)), y))
    model, T = make().fit(take(X, a), y[a]), take(X, b)
    methods = ["loo", "cv+"] if isinstance(model, KernelClassifier) else ["loo"]
    found = {}
    split_sets, split_classes = split_conformal(make, take(X, a), y[a], T)
    for coverage in COVERAGES:
        own = {m: (model.predict_set(T, coverage, method=m), model.classes_) for m in methods}
        own["by class"] = (model.predict_set(T, coverage, by_class=True), model.classes_)
        own["split"] = (split_sets(coverage), split_classes)
        for method, (sets, classes) in own.items():
            hit = inside(sets, classes, y[b])
            if method == "by class":
                large = [c for c in classes if np.sum(y[b] == c) >= 20]
                hit = np.array([hit[y[b] == c].mean() for c in large] or [np.nan])
            found[method, coverage] = (hit.mean(), sets.sum(axis=1).mean())
    return found, len(b)


def line_of(name, n, found):
    cells = [name, str(n)]
    for method in ("loo", "cv+", "by class", "split"):
        for coverage in COVERAGES:
            pair = found.get((method, coverage))
            cells.append("" if pair is None else f"{pair[0]:.3f}")
        pair = found.get((method, 0.9))
        cells.append("" if pair is None else f"{pair[1]:.2f}")
    return "| " + " | ".join(cells) + " |"


TITLE = """# Do sets hold the true class as often as asked?

Halves of shared sets and tables (at most 600 rows of each), {splits} splits: the share of test rows
whose set holds their class where 80, 90 and 95 % were asked for, and the mean size of sets at 90 %.
"loo" and "cv+": `predict_set` of `KernelClassifier(quality="fast")`; "by class": the mean over
classes of 20 test rows and more, with `by_class=True`; "split": split conformal prediction with the
same learner, half of the training rows given away. Where a model is right more often than asked,
sets of one class cover more than asked: they are never empty.
"""
COLUMNS = "| 90 | 95 | size "
HEAD = "| set | test rows " + "".join(
    f"| {method} 80 {COLUMNS}" for method in ("loo", "cv+", "by class", "split")
)
HEAD += f"|\n|{'---|' * 18}"


def summary(lines):
    """Mean coverages, and how many sets are below what was asked by more than .04."""
    words = []
    for method in ("loo", "cv+", "by class", "split"):
        parts = []
        for coverage in COVERAGES:
            shares = [(f[method, coverage][0], n) for f, n in lines if (method, coverage) in f]
            shares = [(s, n) for s, n in shares if not np.isnan(s)]
            low = sum(s < coverage - 0.04 for s, _ in shares)
            bounds = [(np.ceil((coverage - 0.04) * n) - 1, n) for _, n in shares]
            chance = sum(binom.cdf(bound, n, coverage) for bound, n in bounds)
            mean = np.mean([s for s, _ in shares])
            below = f"{low} of {len(shares)} below by .04, by chance {chance:.1f}"
            parts.append(f"{coverage:.2f}: {mean:.3f} ({below})")
        words.append(f"- {method}: " + "; ".join(parts))
    return "\n".join(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=SETS.split())
    parser.add_argument("--learner", choices=["classifier", "discriminant"], default="classifier")
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    make = KernelDiscriminant if asked.learner == "discriminant" else fast
    folder, table, lines = find_data(), [HEAD], []
    for name in asked.sets:
        parts = [measure(name, folder, split, make) for split in range(asked.splits)]
        n = sum(size for _, size in parts)
        keys = parts[0][0]
        found = {key: tuple(np.nanmean([p[key] for p, _ in parts], axis=0)) for key in keys}
        lines.append((found, n))
        table.append(line_of(name, n, found))
        print(table[-1], flush=True)
    text = (
        f"{TITLE.format(splits=asked.splits)}\n```\npython benchmarks/coverage.py --splits "
        f"{asked.splits}\n```\n\nOrigin: {'; '.join(made_now().values())}; "
        f"{time.process_time():.0f} s of processor time.\n\n{summary(lines)}\n\n"
    )
    old = asked.output.read_text("utf-8") if asked.output.exists() else ""
    numbers = "".join(old.partition("\n## ")[1:])  # written by regression/intervals.py
    asked.output.write_text(text + "\n".join(table) + f"\n{numbers}", encoding="utf-8")


def fast():
    return KernelClassifier(quality="fast")


if __name__ == "__main__":
    main()
