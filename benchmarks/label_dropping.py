"""What does dropping doubted rows give, and what could it give at best?

The halves and flipped labels of benchmarks/label_noise.py, or with ``--others`` training rows of
tables that are not on its page. As many rows as were flipped are dropped: those that were flipped,
which nobody knows ("at best"); the first of ``label_issues`` ("at once"); a half of them, and the
other half by ``label_issues`` of the model of the rest ("twice"). Of the first of ``label_issues``
alone: the first half ("a half"), those that were flipped ("the flipped ones") and those that were
not ("the right ones"), which nobody can tell apart. "forget" drops all of them at once with the
choices of the model that doubts them; it is missing where a class would be empty.

    KERNEL_LEARN_DATA=folder python benchmarks/label_dropping.py --draws 2
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from label_noise import SETS, SHARES, flipped, halves

from kernel_learn import KernelClassifier
from kernel_learn.datasets import find_data

WAYS = (
    "clean", "flipped", "at best", "at once", "twice", "a half", "the flipped ones",
    "the right ones", "forget",
)  # fmt: skip
MIXED = ["autos", "car", "colic", "credit-a", "titanic", "vote"]
SHARED = ["usps", "covtype", "mnist", "mfeat", "proteinfold"]
NUMBERS = [
    "2dplanes",
    "cpu.act",
    "diabetes-sk",
    "diamonds",
    "fried",
    "house8L",
    "kin8nm",
    "mv",
    "no2",
    "space_ga",
    "wind",
    "wisconsin",
]
TRAINING_ROWS, TEST_ROWS = 200, 600  # of the other tables
LEAST_ROWS = 4  # of a class among the training rows


def other_table(name, folder):
    """Rows and classes; numbers are cut at their median or terciles, by turns."""
    if name in SHARED:
        X, y = folder.load(name)
        X = np.hstack(X) if isinstance(X, list) else np.asarray(X, dtype=float)
        X = pd.DataFrame(np.nan_to_num(X))
    else:
        kind = "mixed" if name in MIXED else "regression"
        frame = pd.read_csv(folder.path / kind / f"{name}.csv")
        X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
        if kind == "regression":
            at = [0.5] if NUMBERS.index(name) % 2 else [1 / 3, 2 / 3]
            y = np.digitize(y, np.quantile(y, at))
    y = np.unique(np.asarray(y).astype(str), return_inverse=True)[1]
    large = np.isin(y, np.flatnonzero(np.bincount(y) >= 4 * LEAST_ROWS))
    return X[large].reset_index(drop=True), np.unique(y[large], return_inverse=True)[1]


def other_halves(name, folder, draw):
    """Rows, labels, and which rows are for training and which for the test."""
    X, y = other_table(name, folder)
    rows = np.random.default_rng(100 + draw).permutation(len(y))
    count = min(TRAINING_ROWS, len(y) // 2)
    a, b = rows[:count], rows[count : count + TEST_ROWS]
    known = np.bincount(y[a], minlength=y.max() + 1) >= LEAST_ROWS
    return X, y, a[known[y[a]]], b[known[y[b]]]


def rows_of(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def doubted(X, y, rows, count):
    """A model of some rows, and the first of them by its label_issues."""
    model = KernelClassifier().fit(rows_of(X, rows), y[rows])
    return model, rows[[issue.row for issue in model.label_issues(count)]]


def measure(name, share, draw, folder, split, ways):
    """Test errors by some ways, and the share of flipped rows among those dropped at once."""
    X, y, a, b = split(name, folder, draw)
    wrong, bad = flipped(y[a], share, np.random.default_rng(draw))
    every, count, known = np.arange(len(a)), int(bad.sum()), rows_of(X, a)

    def error(gone, labels=wrong):
        rows = np.setdiff1d(every, gone)
        return error_of(KernelClassifier(assess=False).fit(rows_of(known, rows), labels[rows]))

    def error_of(model):
        return np.mean(model.predict(rows_of(X, b)) != y[b])

    def twice():
        _, more = doubted(known, wrong, np.setdiff1d(every, half), count - len(half))
        return error([*half, *more])

    def forgotten():
        try:
            return error_of(model.forget(once))
        except ValueError:  # nothing of a class would be left
            return np.nan

    model, once = doubted(known, wrong, every, count)
    half, right, nobody = once[: count // 2], ~bad[once], every[:0]
    fits = {
        "clean": lambda: error(nobody, y[a]),
        "flipped": lambda: error(nobody),
        "at best": lambda: error(every[bad]),
        "at once": lambda: error(once),
        "twice": twice,
        "a half": lambda: error(half),
        "the flipped ones": lambda: error(once[~right]),
        "the right ones": lambda: error(once[right]),
        "forget": forgotten,
    }
    return [*(fits[way]() for way in ways), bad[once].mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--ways", nargs="*", default=WAYS[2:], choices=WAYS[2:])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = find_data()
    found = {share: [] for share in SHARES}
    names = [*MIXED, *SHARED, *NUMBERS] if asked.others else SETS.split()
    split = other_halves if asked.others else halves
    ways = [*WAYS[:2], *asked.ways]
    for name in asked.sets or names:
        for share in SHARES:
            each = range(asked.draws)
            draws = [measure(name, share, draw, folder, split, ways) for draw in each]
            found[share].append(np.mean(draws, axis=0))
            print(name, share, *(f"{100 * x:.1f}" for x in found[share][-1]), flush=True)
    head = ["flipped rows", *ways, "flipped among those dropped"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for share, lines in found.items():
        *errors, hits = 100 * np.nanmean(lines, axis=0)
        cells = [*(f"{x:.2f}" for x in errors), f"{hits:.0f} %"]
        print(f"| {100 * share:.0f} % | " + " | ".join(cells) + " |")
    for share, lines in found.items():
        gains = 100 * (np.array(lines)[:, [1]] - np.array(lines)[:, 2:-1])
        error = np.nanstd(gains, axis=0, ddof=1) / np.sqrt(np.isfinite(gains).sum(axis=0))
        told = zip(asked.ways, np.nanmean(gains, axis=0), error, strict=True)
        words = ", ".join(f"{way} {gain:.2f} +- {off:.2f}" for way, gain, off in told)
        print(f"points gained at {100 * share:.0f} %: {words}")


if __name__ == "__main__":
    main()
