"""What does dropping doubted rows give, and what could it give at best?

The halves and flipped labels of benchmarks/label_noise.py. Of as many rows as were flipped, the
first by ``label_issues``, are dropped: all ("at once"), the first half of them ("a half"), those
that were flipped ("the flipped ones") and the others ("the right ones"), which nobody can tell
apart. "At best" exactly the flipped rows are dropped.

    KERNEL_LEARN_DATA=folder python benchmarks/label_dropping.py --draws 4
"""

import argparse
import warnings

import numpy as np
from label_noise import SETS, SHARES, flipped, halves

from kernel_learn import KernelClassifier
from kernel_learn.datasets import find_data

WAYS = ("clean", "flipped", "at best", "at once", "a half", "the flipped ones", "the right ones")


def measure(name, share, draw, folder):
    """Test errors by the ways, and the share of flipped rows among those dropped."""
    X, y, a, b = halves(name, folder, draw)
    wrong, bad = flipped(y[a], share, np.random.default_rng(draw))
    every, count = np.arange(len(a)), int(bad.sum())

    def error(gone, labels):
        rows = np.setdiff1d(every, gone)
        model = KernelClassifier(assess=False).fit(X[a][rows], labels[rows])
        return np.mean(model.predict(X[b]) != y[b])

    issues = KernelClassifier().fit(X[a], wrong).label_issues(count)
    once = np.array([issue.row for issue in issues])
    gone = (every[:0], every[bad], once, once[: count // 2], once[bad[once]], once[~bad[once]])
    errors = [error(every[:0], y[a]), *(error(some, wrong) for some in gone)]
    return [*errors, bad[once].mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4)
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
    head = ["flipped rows", *WAYS, "flipped among those dropped"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for share, lines in found.items():
        *errors, hits = 100 * np.mean(lines, axis=0)
        cells = [*(f"{x:.2f}" for x in errors), f"{hits:.0f} %"]
        print(f"| {100 * share:.0f} % | " + " | ".join(cells) + " |")
    for share, lines in found.items():
        gains = 100 * (np.array(lines)[:, [1]] - np.array(lines)[:, 2:7])
        error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        told = zip(WAYS[2:], gains.mean(axis=0), error, strict=True)
        words = ", ".join(f"{way} {gain:.2f} +- {off:.2f}" for way, gain, off in told)
        print(f"points gained at {100 * share:.0f} %: {words}")


if __name__ == "__main__":
    main()
