"""Does ``error_`` hold? Tables without signal and with known signals, drawn again and again.

For each kind of table: the expected error of the procedure at this number of rows (the mean over
draws of the error on new rows), the mean of ``error_`` and ``loo_error_``, how often
``error_interval_`` contains the expected error, its mean width, and without signal the share of
p-values below .05 and of fits with a column in ``relevant_features_``.

    python benchmarks/assessment.py --draws 40 --quality fast [--large]
    python benchmarks/assessment.py --draws 20 --quality balanced [--tables "one of 50 columns"]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from kernel_learn import KernelClassifier
from kernel_learn.papers.origin import made_now

NEW_ROWS = 2000
PERMUTATIONS = 99
PAGE = Path(__file__).parents[1] / "docs" / "results" / "assessment.md"


def logistic(z):
    return 1 / (1 + np.exp(-z))


def drawn(n, columns, probability, classes=2):
    """A table: rows by ``columns``, each class by its probability given the row."""

    def draw(rng, size=None):
        X = columns(rng, size or n)
        P = np.asarray(probability(X), dtype=float)
        P = np.column_stack([1 - P, P]) if P.ndim == 1 else P
        labels = (rng.random(len(X))[:, None] > P.cumsum(axis=1)).sum(axis=1)
        return X, np.minimum(labels, classes - 1), None

    return draw


def gaussian(d):
    return lambda rng, n: rng.normal(size=(n, d))


def constant(p):
    return lambda X: np.full(len(X), p)


def age_and_sex(rng, n):
    return np.column_stack([rng.integers(20, 80, n), rng.integers(0, 2, n)]).astype(float)


def levels(count):
    return lambda rng, n: np.array([f"l{i}" for i in rng.integers(0, count, n)], object)[:, None]


def heavy_tails(rng, n):
    return rng.standard_t(1.5, size=(n, 8))


def mixed(rng, n):
    X = rng.normal(size=(n, 5)).astype(object)
    X[rng.random((n, 5)) < 0.1] = np.nan
    return np.column_stack([X, levels(6)(rng, n)])


def level_shift(X):
    numbers = np.array([int(cell[1:]) for cell in X[:, -1]])
    return np.where(numbers % 2 == 0, 0.8, 0.2)


def grouped(n_groups, each, strength):
    """Rows of one group are alike and have one label."""

    def draw(rng, size=None):
        count = n_groups if size is None else size // each
        labels = rng.integers(0, 2, count)
        centres = rng.normal(size=(count, 6))
        centres[:, 0] += strength * labels
        group = np.repeat(np.arange(count), each)
        return centres[group] + 0.3 * rng.normal(size=(len(group), 6)), labels[group], group

    return draw


def three_blobs(strength):
    def probability(X):
        logits = np.column_stack([strength * X[:, 0], strength * X[:, 1], np.zeros(len(X))])
        E = np.exp(logits - logits.max(axis=1, keepdims=True))
        return E / E.sum(axis=1, keepdims=True)

    return probability


NOISE = {
    "normal, 20 rows": drawn(20, gaussian(10), constant(0.5)),
    "normal, 60 rows": drawn(60, gaussian(10), constant(0.5)),
    "normal, 200 rows": drawn(200, gaussian(20), constant(0.5)),
    "age and sex, 200 rows": drawn(200, age_and_sex, constant(0.5)),
    "one category of 20 levels, 200 rows": drawn(200, levels(20), constant(0.5)),
    "one category of 130 levels, 200 rows": drawn(200, levels(130), constant(0.5)),
    "30 groups of 4": grouped(30, 4, 0.0),
    "one in five, 100 rows": drawn(100, gaussian(10), constant(0.2)),
    "6000 columns, 40 rows": drawn(40, gaussian(6000), constant(0.5)),
    "heavy tails, 100 rows": drawn(100, heavy_tails, constant(0.5)),
    "three classes, 90 rows": drawn(90, gaussian(8), three_blobs(0.0), 3),
    "numbers, holes, a category, 120 rows": drawn(120, mixed, constant(0.5)),
}
SIGNALS = {
    "linear, 40 rows": drawn(40, gaussian(10), lambda X: logistic(2 * X[:, 0] + X[:, 1])),
    "linear, 100 rows": drawn(100, gaussian(20), lambda X: logistic(2 * X[:, 0] + X[:, 1])),
    "strong, 60 rows": drawn(60, gaussian(10), lambda X: logistic(6 * X[:, 0])),
    "products, 150 rows": drawn(
        150, gaussian(10), lambda X: np.where(X[:, 0] * X[:, 1] > 0, 0.95, 0.05)
    ),
    "a shell, 100 rows": drawn(
        100, gaussian(10), lambda X: np.where((X[:, :3] ** 2).sum(axis=1) > 2.4, 0.9, 0.1)
    ),
    "one of 50 columns, 80 rows": drawn(80, gaussian(50), lambda X: logistic(3 * X[:, 0])),
    "a category among numbers, 120 rows": drawn(120, mixed, level_shift),
    "three classes, 90 rows": drawn(90, gaussian(8), three_blobs(2.0), 3),
    "one in five, 100 rows": drawn(100, gaussian(10), lambda X: logistic(2 * X[:, 0] - 2)),
    "30 groups of 4": grouped(30, 4, 1.5),
}


def many_classes(n, k, strength=1.2):
    """k classes around centres of their own, equally many rows of each."""
    centres = strength * np.random.default_rng(k).normal(size=(k, 20))

    def draw(rng, size=None):
        y = np.arange(size or n) % k
        return centres[y] + rng.normal(size=(len(y), 20)), y, None

    return draw


# Rows that chose no kernel judge these.
LARGE = {
    "two classes, 1100 rows": drawn(1100, gaussian(20), lambda X: logistic(2 * X[:, 0] + X[:, 1])),
    "100 classes, 1100 rows": many_classes(1100, 100),
    "two classes, 6000 rows": drawn(6000, gaussian(20), lambda X: logistic(2 * X[:, 0] + X[:, 1])),
    "300 groups of 4": grouped(300, 4, 1.5),
    "60 groups of 20": grouped(60, 20, 1.5),
}
LARGE_NOISE = {
    "two classes, 1100 rows": drawn(1100, gaussian(20), constant(0.5)),
    "20 classes, 1100 rows": many_classes(1100, 20, strength=0.0),
    "100 classes, 1100 rows": many_classes(1100, 100, strength=0.0),
    "60 groups of 20": grouped(60, 20, 0.0),
}


def draw_classes(draw, rng):
    """Drawn until each class has two rows."""
    while True:
        X, y, groups = draw(rng)
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) > 1 and counts.min() >= 2:
            return X, y, groups


def assess_once(draw, rng, quality, *, is_noise):
    """One draw: error on new rows, error_, loo_error_, interval, p-value, a relevant column?"""
    X, y, groups = draw_classes(draw, rng)
    model = KernelClassifier(quality=quality).fit(X, y, groups=groups)
    X_new, y_new, _ = draw(rng, NEW_ROWS)
    true = float(np.mean(model.predict(X_new) != y_new))
    p = model.permutation_p_value(PERMUTATIONS) if is_noise else np.nan
    relevant = float(model.relevant_features_.any()) if is_noise else np.nan
    return [true, model.error_, model.loo_error_, *model.error_interval_, p, relevant]


def figures(draw, n_draws, seed, quality, *, is_noise):
    """Means over draws; see above."""
    rngs = [np.random.default_rng([seed, i]) for i in range(n_draws)]
    found = np.array([assess_once(draw, rng, quality, is_noise=is_noise) for rng in rngs])
    true, error, loo, low, high, p, relevant = found.T
    expected = true.mean()
    return {
        "draws": n_draws,
        "expected": expected,
        "error_": error.mean(),
        "loo_error_": loo.mean(),
        "contains": np.mean((low <= expected) & (expected <= high)),
        "width": np.mean(high - low),
        "p < .05": np.mean(p < 0.05) if is_noise else np.nan,
        "relevant": relevant.mean(),
    }


def as_line(name, found):
    cells = [f"{found['draws']}"]
    cells += [f"{100 * found[key]:.1f}" for key in ("expected", "error_", "loo_error_")]
    cells += ["" if np.isnan(found[k]) else f"{found[k]:.2f}" for k in list(found)[4:]]
    return f"| {name} | {' | '.join(cells)} |"


TITLE = """# Is `error_` right?

Simulated tables without signal and with known signals, drawn many times. `error_` is the error by
nested cross-validation in five folds, `loo_error_` that of leave-one-out, which chose the members.
"Contains it" is how often the 95 % interval `error_interval_` contains the expected error of the
procedure at this number of rows: the mean over draws of the error on 2000 new rows. Without signal,
the last columns are how often `permutation_p_value` is below .05, and how often any column is in
`relevant_features_`.

With forty draws of a table, a share has a standard error of up to 4 %; at least 93 % was required.
Without signal and with equally likely classes, `error_` is a little below one half: the class that
is larger among the rows drawn is the better guess for these rows, but not for new ones.
"""
COLUMNS = "table|draws|expected error, %|`error_`|`loo_error_`|contains it|width|p < .05|relevant"
HEAD = f"| {COLUMNS.replace('|', ' | ')} |\n|{'---|' * 9}"


LARGE_ROWS = """## More than 1000 rows

Here the error is measured on rows by which no kernel was chosen; an eighth of the draws.
"""
DEFAULT = """## With the default quality

Three times the kernels, some of them on scaled columns.
"""


def as_table(groups, asked):
    """Lines of a table, and how often intervals held, for each group of tables."""
    lines, held = [HEAD], []
    for title, tables in groups.items():
        chosen = [name for name in tables if any(part in name for part in asked.tables)]
        if not chosen:
            continue
        lines.append(f"| **{title}** |{' |' * 8}")
        shares = []
        for name in chosen:
            n_draws = max(1, asked.draws // 8) if asked.large else asked.draws
            is_noise, seed = tables in (NOISE, LARGE_NOISE), list(tables).index(name)
            found = figures(tables[name], n_draws, seed, asked.quality, is_noise=is_noise)
            shares.append(found["contains"])
            lines.append(as_line(name, found))
            print(lines[-1], flush=True)
        held.append(f"{100 * np.mean(shares):.0f} % ({title})")
    words = f"The interval contains the expected error in {' and '.join(held)} of the draws.\n"
    return words + "\n" + "\n".join(lines) + "\n"


def origin(asked):
    more = " --large" * asked.large
    if asked.tables != [""]:
        more += " --tables " + " ".join(f'"{part}"' for part in asked.tables)
    return (
        f"```\npython benchmarks/assessment.py --draws {asked.draws} "
        f"--quality {asked.quality}{more}\n```\n\n"
        f"Origin: {'; '.join(made_now().values())}; "
        f"{time.process_time():.0f} s of processor time.\n"
    )


def with_section(page, title, text):
    """The page with this section in the place of what it had, or at its end."""
    before, _, rest = page.partition(title)
    after = "## " + rest.partition("\n## ")[2] if "\n## " in rest else ""
    return (
        "\n".join(
            [*([before.rstrip("\n"), ""] if before else []), f"{title}\n{text}", after]
        ).rstrip()
        + "\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--quality", default="fast")
    parser.add_argument("--large", action="store_true", help="the section of more than 1000 rows")
    parser.add_argument("--tables", nargs="*", default=[""], help="those whose names contain these")
    parser.add_argument("--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    small = {"labels by chance": NOISE, "signals": SIGNALS}
    section = LARGE_ROWS if asked.large else TITLE if asked.quality == "fast" else DEFAULT
    large = {"labels by chance": LARGE_NOISE, "signals": LARGE}
    table = as_table(large if asked.large else small, asked)
    page = asked.output.read_text(encoding="utf-8") if asked.output.exists() else ""
    text = with_section(page, section, f"{origin(asked)}\n{table}")
    asked.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
