"""Which labels are wrong? ``label_issues`` beside cleanlab on sets with labels flipped on purpose.

Half of a set (at most 600 rows, classes of 8 and more) is for training; 10 or 20 % of its labels
are replaced by another class, drawn evenly. Rows are ranked by ``KernelClassifier.label_issues``
and by cleanlab, on five-fold probabilities of the same classifier and of LightGBM; the average
precision says how well flipped rows come first. Then as many rows as were flipped are dropped, and
the test half is predicted.

    KERNEL_LEARN_DATA=folder python benchmarks/label_noise.py --draws 2

cleanlab is under the AGPL and is not imported: benchmarks/peers/cleanlab_ranks.py runs in an
environment of its own under ``--environments``, made once. Each figure is kept in ``--figures``;
what is there is not done again.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
import venv
import warnings
from pathlib import Path

import numpy as np
from compare import load
from coverage import some_rows
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from kernel_learn import KernelClassifier
from kernel_learn.datasets import find_data
from kernel_learn.papers.origin import made_now

SETS = """
    wine iris heart-statlog heart-c heart-h sonar ionosphere breast-w breast-cancer diabetes
    vowel balance-scale spectf soybean segment yeast page-blocks phoneme waveform satimage
"""
SHARES = (0.1, 0.2)
RIVALS = ("same self", "same default", "LightGBM self", "LightGBM default")
ERRORS = ("clean", "noisy", "ours dropped", "same self dropped")
FIELDS = ("set", "share", "draw", "n", "ours", *RIVALS, *ERRORS)
HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results" / "label-noise.md"


def environment(folder):
    """The Python with cleanlab and LightGBM, made if it is not there."""
    python = folder / "cleanlab" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "cleanlab", with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "cleanlab", "lightgbm"]
        subprocess.run(install, check=True)
    return python


def flipped(y, share, rng):
    """Labels of which a share are another class, and which."""
    rows, classes, wrong = rng.permutation(len(y))[: round(share * len(y))], np.unique(y), y.copy()
    for i in rows:
        wrong[i] = rng.choice(classes[classes != y[i]])
    return wrong, np.isin(np.arange(len(y)), rows)


def five_folds(X, y):
    """Probabilities by the classifier without each fold, and the folds."""
    k, folds = y.max() + 1, np.empty(len(y), dtype=int)
    P = np.zeros((len(y), k))
    parts = StratifiedKFold(5, shuffle=True, random_state=0)
    for number, (a, b) in enumerate(parts.split(X, y)):
        model = KernelClassifier(assess=False).fit(X[a], y[a])
        P[np.ix_(b, model.classes_)], folds[b] = model.predict_proba(X[b]), number
    return P, folds


def rivals(python, X, y):
    """A score of every row by each rival."""
    P, folds = five_folds(X, y)
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("problem.npz", "scores.npz")]
        np.savez(files[0], X=X, y=y, P=P, folds=folds)
        script = str(HERE / "peers" / "cleanlab_ranks.py")
        subprocess.run([str(python), script, *files], check=True, capture_output=True)
        with np.load(files[1]) as found:
            return {name: found[name] for name in RIVALS}


def ours(X, y):
    """A score of every row by label_issues."""
    issues = KernelClassifier().fit(X, y).label_issues(len(y))
    scores = np.empty(len(y))
    scores[[issue.row for issue in issues]] = -np.arange(len(y))
    return scores


def halves(name, folder, draw):
    """Rows, labels, and which rows are for training and which for the test."""
    X, y = some_rows(*load(folder, name))
    X, y = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    parts = StratifiedShuffleSplit(1, test_size=0.5, random_state=draw)
    return X, y, *next(parts.split(X, y))


def measure(name, share, draw, folder, python):
    X, y, a, b = halves(name, folder, draw)
    wrong, bad = flipped(y[a], share, np.random.default_rng(draw))
    found = {"ours": ours(X[a], wrong), **rivals(python, X[a], wrong)}

    def error(rows, labels):
        model = KernelClassifier(assess=False).fit(X[a][rows], labels[rows])
        return np.mean(model.predict(X[b]) != y[b])

    def without_doubtful(scores):
        return np.argsort(-scores, kind="stable")[bad.sum() :]

    line = {key: average_precision_score(bad, scores) for key, scores in found.items()}
    everybody = np.arange(len(a))
    line |= {"clean": error(everybody, y[a]), "noisy": error(everybody, wrong)}
    line["ours dropped"] = error(without_doubtful(found["ours"]), wrong)
    line["same self dropped"] = error(without_doubtful(found["same self"]), wrong)
    return {"set": name, "share": share, "draw": draw, "n": len(a), **line}


def read_figures(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def summary(table):
    """How often ours is ahead, on how many sets and on average."""
    words = []
    for rival in RIVALS:
        parts = []
        for share in SHARES:
            own = [line for line in table if line["share"] == share]
            ahead = sum(line["ours"] > line[rival] for line in own)
            mean = np.mean([line[rival] for line in own])
            parts.append(
                f"{100 * share:.0f} %: ahead on {ahead} of {len(own)}, its mean {mean:.3f}"
            )
        words.append(
            f"- cleanlab, {rival.replace('same', 'the same classifier,')}: {'; '.join(parts)}"
        )
    for share in SHARES:
        own = [line for line in table if line["share"] == share]
        mean = {key: np.mean([line[key] for line in own]) for key in ("ours", *ERRORS)}
        words.append(
            f"- {100 * share:.0f} % flipped: `label_issues` {mean['ours']:.3f}. Test error with "
            f"clean labels {100 * mean['clean']:.2f} %, with flipped ones "
            f"{100 * mean['noisy']:.2f}, after dropping as many rows as were flipped "
            f"{100 * mean['ours dropped']:.2f} by "
            f"`label_issues`, {100 * mean['same self dropped']:.2f} by cleanlab's self-confidence."
        )
    return "\n".join(words)


def write_page(figures, path, command):
    names = list(dict.fromkeys(line["set"] for line in figures))
    table = []
    for name in names:
        for share in SHARES:
            own = [x for x in figures if x["set"] == name and float(x["share"]) == share]
            if own:
                mean = {key: np.mean([float(x[key]) for x in own]) for key in FIELDS[4:]}
                table.append({"set": name, "share": share, "n": own[0]["n"], **mean})
    head = ["set", "rows", "flipped", "`label_issues`", *RIVALS, *(f"error, {e}" for e in ERRORS)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for line in table:
        cells = [line["set"], line["n"], f"{100 * line['share']:.0f} %"]
        cells += [f"{line[key]:.3f}" for key in ("ours", *RIVALS)]
        cells += [f"{100 * line[key]:.1f}" for key in ERRORS]
        lines.append("| " + " | ".join(cells) + " |")
    draws = len({line["draw"] for line in figures})
    spent = sum(os.times()[:4])  # peers in environments of their own included
    origin = "; ".join(made_now().values()) + f"; {spent:.0f} s of processor time"
    text = TITLE.format(draws=draws, n_sets=len(names), command=command, origin=origin)
    path.write_text(f"{text}\n{summary(table)}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


TITLE = """# Which labels are wrong?

Labels of training halves of {n_sets} shared sets (at most 300 rows) flipped on purpose, {draws}
draw(s) of halves and flips: the average precision with which flipped rows come first, by
`KernelClassifier().label_issues` and by cleanlab, on five-fold probabilities of the same classifier
("same") and of LightGBM with its defaults; "self" ranks by self-confidence, "default" by the order
of `find_label_issues`. Errors are those of the test halves in %. The ranking of `label_issues` was
chosen on 23 other tables (six mixed ones, five other shared sets, twelve of the regression
tables cut at their median or terciles).

```
{command}
```

Origin: {origin}.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=SETS.split())
    parser.add_argument("--environments", type=Path, default=Path("out/peers"))
    parser.add_argument("--figures", type=Path, default=Path("out/label_noise.csv"))
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder, python = find_data(), environment(asked.environments)
    asked.figures.parent.mkdir(parents=True, exist_ok=True)
    done = {(x["set"], float(x["share"]), int(x["draw"])) for x in read_figures(asked.figures)}
    for draw in range(asked.draws):
        for name in asked.sets:
            for share in SHARES:
                if (name, share, draw) in done:
                    continue
                start = time.process_time()
                line = measure(name, share, draw, folder, python)
                is_new = not asked.figures.exists()
                with asked.figures.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    if is_new:
                        writer.writeheader()
                    writer.writerow(line)
                told = " ".join(f"{line[key]:.3f}" for key in FIELDS[4:])
                print(
                    f"{name} {share} {draw}: {told} {time.process_time() - start:.0f} s", flush=True
                )
    command = f"python benchmarks/label_noise.py --draws {asked.draws}"
    write_page(read_figures(asked.figures), asked.output, command)


if __name__ == "__main__":
    main()
