"""Do sets of classes contain the true one as often as asked? Halves of the shared data sets.

For each set, five splits into halves: the share of test rows whose set holds their class, for 80,
90 and 95 % asked, by ``predict_set`` ("loo" and "cv+"), within classes of 20 test rows and more
(``by_class``), and by split conformal prediction with the same learner, which gives half of the
training rows away; and the mean size of the sets. What fading costs these test rows. Then every
such class by itself, persons who were not seen (simulated repeated measures), simulated
exchangeable rows, rows of wine that drift and rows far away, what it costs; and numbers, by
``regression/intervals.py``.

    KERNEL_LEARN_DATA=folder python benchmarks/coverage.py --splits 5

writes the whole page; ``--no-numbers`` leaves the part about numbers as it is, and ``--only groups
simulated far costs`` renews these parts alone; ``--recount`` counts anew from its table.
"""

import argparse
import importlib.util
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from compare import load
from regression.chance import below_by_chance, say_chance
from scipy.special import log_softmax
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from speed.classifier import fading_times, interval_times

from kernel_learn import (
    ExpansionSVC,
    KernelClassifier,
    KernelDiscriminant,
    KernelPLS,
    KernelPLSRegressor,
    KernelRegressor,
    MultiKernelSVC,
    SubspaceSVC,
)
from kernel_learn.datasets import Blocks, find_data
from kernel_learn.kernels import Gaussian, Linear
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
NUMBERS = "\n## Do intervals contain"  # where the part about numbers begins
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


def halves(y, split):
    """Training and test rows."""
    maker = StratifiedShuffleSplit(1, test_size=0.5, random_state=split)
    return next(maker.split(np.zeros((len(y), 1)), y))


def measure(name, folder, split, make):
    """{method: (coverages, sizes)} of one split, the rows tested; hits and rows by class."""
    X, y = some_rows(*load(folder, name))
    a, b = halves(y, split)
    model, T = make().fit(take(X, a), y[a]), take(X, b)
    methods = ["loo", "cv+"] if isinstance(model, KernelClassifier) else ["loo"]
    found, each = {}, {}
    split_sets, split_classes = split_conformal(make, take(X, a), y[a], T)
    for coverage in COVERAGES:
        own = {m: (model.predict_set(T, coverage, method=m), model.classes_) for m in methods}
        own["by class"] = (model.predict_set(T, coverage, by_class=True), model.classes_)
        own["split"] = (split_sets(coverage), split_classes)
        for method, (sets, classes) in own.items():
            hit = inside(sets, classes, y[b])
            if method == "by class":
                large = [c for c in classes if np.sum(y[b] == c) >= 20]
                for c in large:
                    counts = (hit[y[b] == c].sum(), np.sum(y[a] == c), np.sum(y[b] == c))
                    each[coverage, c] = [tuple(map(int, counts))]
                hit = np.array([hit[y[b] == c].mean() for c in large] or [np.nan])
            found[method, coverage] = (hit.mean(), sets.sum(axis=1).mean())
    found["log loss"] = losses(model, T, y[b])
    if isinstance(X, np.ndarray) and not np.isnan(X).any():
        other = KernelDiscriminant().fit(X[a], y[a])
        found["log loss, discriminant"] = losses(other, T, y[b])
    return found, len(b), each


def losses(model, T, y):
    """Log loss and error of the likeliest class: with fading, and of log-odds as they are."""
    F, label = model.decision_function(T), np.searchsorted(model.classes_, y)
    F = np.c_[np.zeros(len(F)), F] if F.ndim == 1 else F
    both = (model.predict_log_proba(T), log_softmax(F, axis=1))
    rows = np.arange(len(y))
    return [cell for P in both for cell in (-P[rows, label].mean(), (P.argmax(1) != label).mean())]


def line_of(name, n, found):
    cells = [name, str(n)]
    for method in ("loo", "cv+", "by class", "split"):
        for coverage in COVERAGES:
            pair = found.get((method, coverage))
            cells.append("" if pair is None else f"{pair[0]:.3f}")
        pair = found.get((method, 0.9))
        cells.append("" if pair is None else f"{pair[1]:.2f}")
    return "| " + " | ".join(cells) + " |"


TITLE = """# Do prediction sets contain the true class as often as asked?

Half of each data set or table (at most 600 rows) is for training, the other half for testing,
{splits} times. The columns are the share of test rows whose set contains their class where 80, 90
and 95 % were asked for, and the mean size of the sets at 90 %.

- "loo" and "cv+": the two methods of `predict_set`, for `KernelClassifier(quality="fast")`;
- "by class": `by_class=True`, the mean over classes with at least 20 test rows;
- "split": split conformal prediction with the same learner, fitted to half of the training rows.

Where a model is right more often than was asked, its sets contain the class more often too, since
sets are never empty. "By chance" is how many data sets would be below if the coverage were exact:
the coverage of one fit varies with its held-out rows, by a beta distribution.
"""
COLUMNS = "| 90 | 95 | size "
HEAD = "| set | test rows " + "".join(
    f"| {method} 80 {COLUMNS}" for method in ("loo", "cv+", "by class", "split")
)
HEAD += f"|\n|{'---|' * 18}"


def summary(lines, splits):
    """Mean coverages, and how many sets are below what was asked by more than .04."""
    words = []
    for method in ("loo", "cv+", "by class", "split"):
        parts = []
        for coverage in COVERAGES:
            shares = [(f[method, coverage][0], n) for f, n in lines if (method, coverage) in f]
            shares = [(s, n) for s, n in shares if not np.isnan(s)]
            mean = np.mean([s for s, _ in shares])
            part = 0.5 if method == "split" else 1.0  # of the half that is learned
            shares = [(s, splits * [(int(part * n / splits), n // splits)]) for s, n in shares]
            parts.append(f"{coverage:.2f}: {mean:.3f} ({below_by_chance(shares, coverage)})")
        words.append(f"- {method}: " + "; ".join(parts))
    return "\n".join(words)


def cost_of_fading(lines):
    """Means over sets of log loss and error, with fading and without."""
    words = []
    for name, key in (
        ("KernelClassifier (fast)", "log loss"),
        ("KernelDiscriminant", "log loss, discriminant"),
    ):
        own = np.array([found[key] for found, _ in lines if key in found])
        loss, error, plain, plain_error = own.mean(axis=0)
        words.append(
            f"- fading, {name}, {len(own)} sets: mean log loss {loss:.4f}, without it {plain:.4f} "
            f"({100 * (loss / plain - 1):+.2f} %; mean over sets of their ratios "
            f"{100 * (np.mean(own[:, 0] / own[:, 2]) - 1):+.2f} %); the most likely class is "
            f"wrong for {error:.4f} of the rows, without it for {plain_error:.4f}"
        )
    words.append(
        "\nHow fading treats heavy tails was decided with the test halves of the first two splits "
        "in view."
    )
    return "\n".join(words)


def every_class(each):
    """One line of all classes by themselves: {(set, coverage, class): [(hits, held, rows)]}."""
    parts = []
    for coverage in COVERAGES:
        own = [
            (np.sum(parts, axis=0)[0] / np.sum(parts, axis=0)[2], [p[1:] for p in parts])
            for (_, c, _), parts in each.items()
            if c == coverage
        ]
        if own:
            parts.append(
                f"{coverage:.2f}: {np.mean([share for share, _ in own]):.3f} "
                f"({below_by_chance(own, coverage)}, the least {min(own)[0]:.3f})"
            )
    return "- every single class with at least 20 test rows, by class: " + "; ".join(parts)


def repeated_measures(seed):
    """60 persons, five rows of each, of which 40 persons are seen."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(60), 5)
    labels = rng.integers(0, 2, 60)[who]
    rows = rng.normal(size=(60, 8))[who] + 0.1 * rng.normal(size=(300, 8))
    return rows, labels, rng.normal(size=60)[who] + 0.1 * rng.normal(size=300), who


def groups_part(draws=60):
    """Coverage of rows of new persons, with their groups named at fit and without."""
    lines = ["| model | rows: 90 | size | groups: 80 | 90 | 95 | size |", f"|{'---|' * 7}"]
    largest = 0.0
    for name, make in GROUPED.items():
        cells = {named: [] for named in (False, True)}
        for named, found in cells.items():
            for seed in range(draws):
                X, y, values, who = repeated_measures(seed)
                seen = who < 40
                targets = values if name in REGRESSORS else y
                model = make().fit(X[seen], targets[seen], groups=who[seen] if named else None)
                found.append([held(model, X[~seen], targets[~seen], c) for c in COVERAGES])
        alone, together = (np.mean(found, axis=0) for found in cells.values())
        largest = max(largest, np.std(cells[True], axis=0)[0, 0] / np.sqrt(draws))
        shares = " | ".join(f"{share:.3f}" for share in together[:, 0])
        lines.append(
            f"| {name} | {alone[1, 0]:.3f} | {alone[1, 1]:.2f} | {shares} | {together[1, 1]:.2f} |"
        )
    text = (
        "## New persons\n\nSimulated repeated measures: 60 persons with five rows each, and a "
        "random label or number for each person. Models are fitted to 40 of them. The table says "
        "how often sets, or intervals, contain the label or number of the other persons' rows, "
        'without groups ("rows") and with `groups=` at fit, and the mean sizes and widths at '
        f"90 %. All models share the {draws} draws; standard errors at 80 % are {largest:.3f} at "
        "the most.\n\n"
    )
    return text + "\n".join(lines)


def held(model, T, y, coverage):
    """How often sets hold the class, or intervals the number, and their mean size."""
    if hasattr(model, "predict_interval"):
        low, high = model.predict_interval(T, coverage).T
        return np.mean((low <= y) & (y <= high)), np.mean(high - low)
    sets = model.predict_set(T, coverage)
    return inside(sets, model.classes_, y).mean(), sets.sum(axis=1).mean()


BANK = [Gaussian(), Linear()]
GROUPED = {
    "KernelClassifier (fast)": lambda: fast(),
    "KernelDiscriminant": KernelDiscriminant,
    "KernelDiscriminant, 30 landmarks": lambda: KernelDiscriminant(landmarks=30, random_state=0),
    "SubspaceSVC": SubspaceSVC,
    "SubspaceSVC, squared hinge, 30 landmarks": lambda: SubspaceSVC(
        loss="squared_hinge", landmarks=30, random_state=0
    ),
    "MultiKernelSVC, two kernels": lambda: MultiKernelSVC(BANK),
    "KernelPLS": KernelPLS,
    "ExpansionSVC": lambda: ExpansionSVC(n_points=8, random_state=0),
    "KernelRegressor (fast)": lambda: KernelRegressor(quality="fast"),
    "KernelPLSRegressor": KernelPLSRegressor,
    "KernelPLSRegressor, 30 landmarks": lambda: KernelPLSRegressor(landmarks=30, random_state=0),
}
REGRESSORS = {name for name in GROUPED if "Regressor" in name}


def exchangeable(seed, n, numbers):
    """Rows of four columns with three classes that overlap, or a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    if numbers:
        return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.3 * rng.normal(size=n)
    means = np.c_[1.5 * np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], 0.7 * X[:, 3]]
    return X, (means + 0.7 * rng.gumbel(size=(n, 3))).argmax(axis=1)


SIMULATED = {
    "KernelDiscriminant": {},
    "SubspaceSVC": {},
    "SubspaceSVC, squared hinge": {"loss": "squared_hinge"},
    "MultiKernelSVC": {"kernel": BANK, "loss": "squared_hinge"},
    "KernelPLS": {"n_components": 6},
    "ExpansionSVC": {"random_state": 0},
    "KernelPLSRegressor": {},
    "KernelPLSRegressor, 5 components": {"n_components": 5},
}


def simulated_part(draws=200, n=150, n_new=60):
    """Exchangeable rows, from arrays, on landmarks and from blocks: every single-kernel model."""
    lines = ["| model | arrays | 30 landmarks | blocks, 30 landmarks |", f"|{'---|' * 4}"]
    for name, options in SIMULATED.items():
        kind, cells = CLASSES[name.partition(",")[0]], []
        for way in ("arrays", "landmarks", "blocks"):
            own = {} if way == "arrays" else {"landmarks": 30, "random_state": 0}
            if kind is ExpansionSVC and way != "arrays":
                cells.append("")
                continue
            found = []
            for seed in range(draws):
                X, y = exchangeable(seed, n + n_new, kind is KernelPLSRegressor)
                rows = (X[:n], y[:n])
                if way == "blocks":
                    parts = [(X[i : i + 50], y[i : i + 50]) for i in range(0, n, 50)]
                    rows = (Blocks(parts),)
                model = kind(**options, **own).fit(*rows)
                found.append(held(model, X[n:], y[n:], 0.8)[0])
            cells.append(f"{np.mean(found):.3f} ± {np.std(found) / np.sqrt(draws):.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    text = (
        f"## Exchangeable rows\n\n{draws} draws of {n} simulated rows and {n_new} new ones: the "
        "share of new labels in sets, and of new numbers in intervals, where 80 % were asked for, "
        "with its standard error.\n\n"
    )
    return text + "\n".join(lines)


CLASSES = {
    kind.__name__: kind
    for kind in (
        KernelDiscriminant,
        SubspaceSVC,
        MultiKernelSVC,
        KernelPLS,
        ExpansionSVC,
        KernelPLSRegressor,
    )
}


FAR_MODELS = {
    "KernelClassifier (fast)": lambda: KernelClassifier(quality="fast", assess="loo"),
    "KernelDiscriminant": KernelDiscriminant,
    "KernelDiscriminant, linear": lambda: KernelDiscriminant(Linear()),
    "SubspaceSVC": SubspaceSVC,
    "MultiKernelSVC, two kernels": lambda: MultiKernelSVC([Gaussian(), Linear()]),
    "KernelPLS": KernelPLS,
    "ExpansionSVC": lambda: ExpansionSVC(random_state=0),
}


def far_part(draws=4):
    """Wine: how sure far rows are made, and how much surer than right rows that drift are."""
    X, y = load_wine(return_X_y=True)
    mean, sd = X.mean(axis=0), X.std(axis=0)
    gaps = []
    lines = [
        "| model | columns | far: top probability | novel | set at 90 | noise | all +2 | signs |",
        f"|{'---|' * 8}",
    ]
    for name, make in FAR_MODELS.items():
        for columns, scale, shift in (("standardised", 1.0, 0.0), ("as they are", sd, mean)):
            cells = []
            for seed in range(draws):
                rng = np.random.default_rng(seed)
                order = rng.permutation(len(y))
                a, b, Z = order[:89], order[89:], (X - mean) / sd
                model = make().fit(Z[a] * scale + shift, y[a])
                far = rng.uniform(-50, 50, (500, 13)) * scale + shift
                novel = np.mean(model.novelty(far) <= max(0.02, model.novelty_floor() + 1e-9))
                own = [model.predict_proba(far).max(axis=1).mean(), novel]
                own.append(model.predict_set(far).sum(axis=1).mean())
                largest = np.bincount(y[a]).max() / len(a)
                signs = rng.choice([-1, 1], 13)
                for move in (rng.standard_normal((89, 13)), np.ones(13), signs):
                    D = (Z[b] + 2 * move) * scale + shift
                    own += drifted(model, D, y[b], largest)
                cells.append(own)
            gaps.append(np.mean(cells, axis=0)[3:].reshape(3, 3))
            means = [f"{value:.2f}" for value in np.mean(cells, axis=0)]
            shown = " | ".join(
                means[:3] + [f"{s} ({m})" for s, m in zip(means[3::3], means[4::3], strict=True)]
            )
            lines.append(f"| {name} | {columns} | {shown} |")
    text = (
        f"## Far away, and drift\n\nModels fitted to {draws} halves of wine. Far away: 500 rows "
        "drawn uniformly within 50 standard deviations; the columns are the mean top "
        "probability, the share of rows with a novelty of at most .02 (or its smallest value), "
        "and the mean size of sets at 90 %. Drift: test rows moved by two standard deviations, "
        "in three ways: by noise, all columns up, and all rows by the same signs. These columns "
        "are the mean confidence minus the accuracy. In brackets is the same difference for the "
        "class shares, the least confident that a model can become: where rows move towards "
        "another class, `predict` is right less often than the largest share.\n\n"
    )
    parts = [text + "\n".join(lines), what_limits(np.concatenate(gaps)), drift_of_training_rows()]
    return "\n\n".join(parts)


def rare_part(draws=10, n=1000, few=2, n_new=1000):
    """A class of very few rows: how sure of it, and of the other, new rows are made."""
    lines = [
        "| model | rare rows: log loss | without fading | other rows: log loss | without fading | "
        "least probability, times n |",
        f"|{'---|' * 6}",
    ]
    for name, make in FAR_MODELS.items():
        cells = []
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            y = (np.arange(n) < few).astype(int)
            y_new = (np.arange(n_new) < n_new // 2).astype(int)
            shift = np.array([6.0, 0, 0, 0, 0])
            X, T = (rng.normal(size=(len(own), 5)) + np.outer(own, shift) for own in (y, y_new))
            model = make().fit(X, y)
            between = np.linspace(-3, 12, 100)[:, None] * (shift > 0)
            least = min(model.predict_proba(rows).min() for rows in (T, between))
            parts = (losses(model, T[y_new == c], y_new[y_new == c]) for c in (1, 0))
            cells.append([value for own in parts for value in own[::2]] + [n * least])
        *loss, least = np.mean(cells, axis=0)
        with_odds = hasattr(model, "explain")  # whose decision_function is log-odds
        shown = [f"{v:.4f}" if with_odds or i % 2 == 0 else "" for i, v in enumerate(loss)]
        lines.append(f"| {name} | {' | '.join(shown)} | {least:.3f} |")
    text = (
        f"## A class of {few} rows\n\nSimulated: {n} rows of five columns, {few} of them of a rare "
        "class that lies six standard deviations away; mean log loss of new rows of either class, "
        f"and the least probability of any class on them and on a line through both classes. "
        f"{draws} draws.\n\n"
    )
    return text + "\n".join(lines)


def drifted(model, D, y, largest):
    """How far above the accuracy: the top probability, the largest share, that of predict."""
    named, P = model.predict(D), model.predict_proba(D)
    own = P[np.arange(len(P)), np.searchsorted(model.classes_, named)]
    return [value - np.mean(named == y) for value in (P.max(axis=1).mean(), largest, own.mean())]


def what_limits(gaps):
    """One sentence of (top probability, largest share, predicted class) above the accuracy."""
    above = gaps[gaps[:, 0] > 0.15]
    rest = above[above[:, 1] <= 0.15]
    return (
        f"Of these {len(gaps)} figures {len(above)} are above .15. In {len(above) - len(rest)} of "
        f"them the class shares alone are, too; the other {len(rest)} exceed theirs by at most "
        f"{np.max(rest[:, 0] - rest[:, 1], initial=0):.2f}. `predict` does not fade with the "
        "probabilities, so its class need not be the most likely one there: the probability of the "
        f"predicted class exceeds the accuracy by at most {gaps[:, 2].max():.2f} "
        f"({np.sum(gaps[:, 2] > 0.15)} figures above .15)."
    )


def costs_part():
    """CPU ratios, of 2000 new rows of 20 columns."""
    lines = [
        "| model | training rows | predict_proba / without fading | predict_set / predict_proba "
        "| novelty / its products | predict_interval / its products |",
        f"|{'---|' * 6}",
    ]
    makers = {
        "KernelClassifier (fast)": lambda: KernelClassifier(quality="fast", assess="loo"),
        "KernelDiscriminant": KernelDiscriminant,
        "SubspaceSVC": SubspaceSVC,
        "KernelPLS": KernelPLS,
        "KernelRegressor (fast)": lambda: KernelRegressor(quality="fast", assess=False),
    }
    for name, make in makers.items():
        for n in (200, 800, 2000):
            found = interval_times(make(), n) if name in REGRESSORS else fading_times(make(), n)
            pairs = [("proba", "plain"), ("set", "proba"), ("novelty", "compared")]
            pairs.append(("interval", "products"))
            cells = [f"{found[a] / found[b]:.2f}" if a in found else "" for a, b in pairs]
            lines.append(f"| {name} | {n} | {' | '.join(cells)} |")
    text = (
        "## What it costs\n\nRatios of processor time for 2000 new rows of 20 columns. The "
        "products of `novelty` are the kernel values with the rows that new ones are compared "
        "with, and K Q; those of `predict_interval` are the kernel values of the members, and K "
        "Q. The limits set beforehand were 1.1, 1.1, 1.3 and 1.3. Fading needs kernel values of "
        "its own, since novelty is measured in standard deviations of the columns with shortened "
        "tails, whatever the model's kernel is. New rows are compared with a fifth of the (at "
        "most 250) rows first, and only those that this does not settle with half and with all, "
        "in single precision. With 200 training rows `predict_proba` takes 0.6 microseconds a "
        "row without fading; 5 % of that are these units, 15 % the first fifth and 19 % what "
        "comes after it; function calls and colder caches are the rest. For intervals of 200 "
        "training rows, beside 8 ms of products: 2.5 ms for the kernel values of the local "
        "scale, 2 for two partial sorts, 1.5 for transforming predictions back and adding up the "
        "members, and 3 because the kernel values are kept.\n\n"
    )
    return text + "\n".join(lines)


def drift_of_training_rows(draws=6):
    """Wine, standardised, all rows fitted and the same rows moved: accuracy and confidences."""
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model, rng, words = KernelDiscriminant().fit(Z, y), np.random.default_rng(0), []
    for name, up in (("by noise", None), ("all columns up", 1), ("all down", -1)):
        cells = []
        for _ in range(draws):
            D = Z + 2 * (rng.standard_normal(Z.shape) if up is None else up)
            plain = np.exp(log_softmax(model.decision_function(D), axis=1))
            P = model.predict_proba(D)
            cells.append([np.mean(model.predict(D) == y), P.max(1).mean(), plain.max(1).mean()])
        right, sure, unfaded = np.mean(cells, axis=0)
        words.append(f"{name} {right:.3f}, {sure:.3f} ({unfaded:.3f})")
    return (
        "`KernelDiscriminant` fitted to all 178 standardised rows and applied to the same rows, "
        "moved by two standard deviations: accuracy, mean confidence, and in brackets the "
        f"confidence without fading: {'; '.join(words)}."
    )


def recount(page):
    """The counts of a page anew, from its table and the labels of its splits: no fits."""
    text = page.read_text("utf-8")
    head, _, rest = text.partition("\n## ")
    splits = int(re.search(r"--splits (\d+)", head)[1])
    lines, classes = [], {}
    for line in head.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 18 or not cells[1].isdigit():
            continue
        n, found = int(cells[1]), {}
        for i, method in enumerate(("loo", "cv+", "by class", "split")):
            for coverage, share in zip(COVERAGES, cells[2 + 4 * i : 5 + 4 * i], strict=True):
                found[method, coverage] = (float(share),)
        lines.append((found, n))
        y = some_rows(*load(find_data(), cells[0]))[1]
        for split in range(splits):
            a, b = halves(y, split)
            for c in np.unique(y[b]):
                if np.sum(y[b] == c) >= 20:
                    own = (int(np.sum(y[a] == c)), int(np.sum(y[b] == c)))
                    classes.setdefault((cells[0], c), []).append(own)
    start, end = head.index("\n- loo:"), head.index("\n- every single class")
    told, fading = head[end:].split("\n- fading", 1)
    for coverage in COVERAGES:
        low = int(re.search(rf"{coverage:.2f}: [\d.]+ \((\d+) of", told)[1])
        words = say_chance(low, list(classes.values()), coverage)
        told = re.sub(rf"({coverage:.2f}: [\d.]+ )\(.*?(, the least)", rf"\1({words}\2", told)
    head = f"{head[:start]}\n{summary(lines, splits)}{told}\n- fading{fading}"
    head = TITLE.format(splits=splits) + head[head.index("\n```") :]
    page.write_text(f"{head}\n## {rest}", encoding="utf-8")


PARTS = {
    "groups": groups_part,
    "simulated": simulated_part,
    "far": far_part,
    "rare": rare_part,
    "costs": costs_part,
}


def make_part(name):
    """The text of a part, with its origin."""
    start = time.process_time()
    text = PARTS[name]()
    seconds = time.process_time() - start
    return f"{text}\n\nOrigin: {'; '.join(made_now().values())}; {seconds:.0f} s."


def renew(page, part):
    """Put a part where one of its heading is, or before the part about numbers."""
    heading = part.partition("\n")[0]
    sections = ("\n" + page.read_text("utf-8")).split("\n## ")
    own, names = heading.removeprefix("## "), [s.partition("\n")[0] for s in sections]
    at = names.index(own) if own in names else len(sections) - 1
    text = part.removeprefix("## ") + "\n"
    sections[at : at + (own in names)] = [text]
    page.write_text("\n## ".join(sections).removeprefix("\n"), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=SETS.split())
    parser.add_argument("--learner", choices=["classifier", "discriminant"], default="classifier")
    parser.add_argument("--output", type=Path, default=PAGE)
    parser.add_argument("--no-numbers", action="store_true", help="leave their part as it is")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="renew these parts alone")
    parser.add_argument("--recount", action="store_true", help="of the page's table, no fits")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.recount:
        recount(asked.output)
        return
    if asked.only:
        for name in asked.only:
            renew(asked.output, make_part(name))
        return
    make = KernelDiscriminant if asked.learner == "discriminant" else fast
    folder, table, lines, each = find_data(), [HEAD], [], {}
    for name in asked.sets:
        parts = [measure(name, folder, split, make) for split in range(asked.splits)]
        n = sum(size for _, size, _ in parts)
        keys = parts[0][0]
        found = {key: tuple(np.nanmean([p[key] for p, _, _ in parts], axis=0)) for key in keys}
        for _, _, classes in parts:
            for (coverage, c), counts in classes.items():
                each.setdefault((name, coverage, c), []).extend(counts)
        lines.append((found, n))
        table.append(line_of(name, n, found))
        print(table[-1], flush=True)
    others = [make_part(name) for name in PARTS]
    text = (
        f"{TITLE.format(splits=asked.splits)}\n```\npython benchmarks/coverage.py --splits "
        f"{asked.splits}\n```\n\nOrigin: {'; '.join(made_now().values())}; "
        f"{time.process_time():.0f} s of processor time.\n\n{summary(lines, asked.splits)}\n"
        f"{every_class(each)}\n{cost_of_fading(lines)}\n\n"
    )
    old = asked.output.read_text("utf-8") if asked.output.exists() else ""
    numbers = "".join(old.partition(NUMBERS)[1:])  # written by regression/intervals.py
    page = [text + "\n".join(table), *others, numbers.strip()]
    asked.output.write_text("\n\n".join(filter(None, page)) + "\n", encoding="utf-8")
    if not asked.no_numbers:
        command = [sys.executable, str(Path(__file__).parent / "regression" / "intervals.py")]
        command += ["--splits", str(asked.splits), "--output", str(asked.output)]
        command += ["--catboost"] * (importlib.util.find_spec("catboost") is not None)
        subprocess.run(command, check=True)


def fast():
    return KernelClassifier(quality="fast")


if __name__ == "__main__":
    main()
