"""What does dropping doubted rows give, and what could it give at best?

The halves and flipped labels of benchmarks/label_noise.py. As many rows as were flipped are
dropped: those that were flipped, which nobody knows ("at best"); the first of ``label_issues``
("at once"); a half of them, and the other half by ``label_issues`` of the model of the rest
("twice").

    KERNEL_LEARN_DATA=folder python benchmarks/label_dropping.py --draws 2
"""

import argparse
import warnings

import numpy as np
from label_noise import SETS, SHARES, flipped, halves

from kernel_learn import KernelClassifier
from kernel_learn.datasets import find_data

WAYS = ("clean", "flipped", "at best", "at once", "twice")


def doubted(X, y, rows, count):
    """The first of some rows by label_issues of a model of all of them."""
    issues = KernelClassifier().fit(X[rows], y[rows]).label_issues(count)
    return rows[[issue.row for issue in issues]]


def measure(name, share, draw, folder):
    """Test errors by the ways, and the share of flipped rows among those dropped."""
    X, y, a, b = halves(name, folder, draw)
    wrong, bad = flipped(y[a], share, np.random.default_rng(draw))
    every, count = np.arange(len(a)), int(bad.sum())

    def error(rows, labels):
        model = KernelClassifier(assess=False).fit(X[a][rows], labels[rows])
        return np.mean(model.predict(X[b]) != y[b])

    once = doubted(X[a], wrong, every, count)
    first = once[: count // 2]
    more = doubted(X[a], wrong, np.setdiff1d(every, first), count - len(first))
    twice = np.concatenate([first, more])
    gone = (every[:0], every[bad], once, twice)
    errors = [error(every, y[a]), *(error(np.setdiff1d(every, some), wrong) for some in gone)]
    return [*errors, bad[once].mean(), bad[twice].mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=SETS.split())
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = find_data()
    found = {share: [] for share in SHARES}
    for name in asked.sets:
        for share in SHARES:
            draws = [measure(name, share, draw, folder) for draw in range(asked.draws)]
            found[share].append(np.mean(draws, axis=0))
            print(name, share, *(f"{100 * x:.1f}" for x in found[share][-1]), flush=True)
    head = ["flipped rows", *WAYS, "flipped among those dropped at once", "twice"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for share, lines in found.items():
        mean = 100 * np.mean(lines, axis=0)
        cells = [f"{x:.2f}" for x in mean[: len(WAYS)]] + [f"{x:.0f} %" for x in mean[len(WAYS) :]]
        print(f"| {100 * share:.0f} % | " + " | ".join(cells) + " |")
        gain = np.array(lines)[:, 1] - np.array(lines)[:, 4]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        print(f"twice {share}: {100 * gain.mean():.2f} +- {100 * error:.2f} points over the sets")


if __name__ == "__main__":
    main()
